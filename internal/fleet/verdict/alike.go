package verdict

import (
	"context"
	"errors"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
)

// alike adds to losses what may stand in the place of pages, of which nothing else is known to be wrong: one page that many URLs of a site have shown, or have
// led to; and a seed's page that names nothing and has brought a cookie, where nothing else is known of its site. What was told as the trouble of a site is left out.
func (g *Judge) alike(ctx context.Context, j *frontier.Job, troubles []Trouble, losses []Loss) ([]Loss, error) {
	if j.Identity.Collect != nil {
		return losses, nil
	}
	told, had := map[string]bool{}, map[string]int64{}
	for _, t := range troubles {
		told[t.Site] = true
	}
	alone, lone, known := map[uint32]bool{}, Loss{Why: ledger.LossAlone}, int64(0)
	g.Frontier.Tasks(func(t *frontier.Task) {
		if t.Job != j.ID {
			return
		}
		had[t.Site] += t.Fetched
		known += t.Discovered
		if t.Seed && t.Discovered == 1 && t.Pages == 1 && len(t.Reasons) == 0 && len(t.Cookies) > 0 && j.Limits.MaxDepth != 0 && !told[t.Site] {
			alone[t.ID] = true
		}
	})
	by, most := map[string]*Loss{}, map[string]int64{}
	err := g.Ledger.Alikes(ctx, j.ID, func(site string) int64 { return had[site] }, func(v ledger.Alike) {
		if told[v.Site] {
			return
		}
		l := by[v.Why]
		if l == nil {
			l = &Loss{Why: v.Why, Detail: v.To}
			by[v.Why] = l
		}
		if l.URLs, l.Sites = l.URLs+v.URLs, l.Sites+1; v.URLs > most[v.Why] || v.URLs == most[v.Why] && v.Example < l.Example {
			most[v.Why], l.Example, l.Detail = v.URLs, v.Example, v.To
		}
	})
	for _, l := range by {
		losses = append(losses, *l)
	}
	if err != nil || len(alone) == 0 || known == 1 { // of a single page more is said
		return losses, err
	}
	lone.URLs, lone.Sites = int64(len(alone)), int64(len(alone))
	enough := errors.New("enough")
	err = g.Frontier.URLs(j.ID, func(v frontier.URL) error {
		if alone[v.Task] && v.State == crawl.Fetched {
			lone.Example = v.URL
			return enough
		}
		return nil
	})
	if err != nil && !errors.Is(err, enough) {
		return nil, err
	}
	return append(losses, lone), nil
}

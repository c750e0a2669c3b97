package verdict

import (
	"errors"
	"slices"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/page/scope"
)

// outside returns what the scope has kept out where a seed's site brought one page at most: the host with www. before
// it, say. It is nil if there is no such site. What was told as the trouble of a site, or held back by a limit, is left out.
func (g *Judge) outside(j *frontier.Job, troubles []Trouble) (*Loss, error) {
	if j.Identity.Collect != nil || j.Limits.MaxDepth == 0 {
		return nil, nil
	}
	left, of := int64(0), map[uint32]crawl.URL{} // the refusals that there are to be found, and the sites, by task
	g.Frontier.Tasks(func(t *frontier.Task) {
		n := t.Reasons[string(crawl.ReasonScope)]
		limited := t.Pending() + t.Reasons[string(crawl.ReasonDepth)] + t.Reasons[string(crawl.ReasonSiteBudget)]
		told := slices.ContainsFunc(troubles, func(v Trouble) bool { return v.Site == t.Site })
		if t.Job != j.ID || !t.Seed || t.Pages > 1 || t.Fetched == 0 || limited > 0 || n == 0 || told {
			return
		}
		if own, err := crawl.Parse("http://" + t.Site + "/"); err == nil {
			of[t.ID], left = own, left+n
		}
	})
	if len(of) == 0 {
		return nil, nil
	}
	wider := []crawl.Scope{crawl.ScopeSite, crawl.ScopeHost, crawl.ScopeDomain, crawl.ScopeAny}
	by, found, sites := map[crawl.Scope]*Loss{}, int64(0), map[uint32]bool{}
	enough := errors.New("enough")
	err := g.Frontier.URLs(j.ID, func(v frontier.URL) error {
		own, ours := of[v.Task]
		if !ours || v.State != crawl.Excluded || v.Reason != crawl.ReasonScope {
			return nil
		}
		if u, err := crawl.Parse(v.URL); err == nil {
			w := scope.Between(own, u)
			if by[w] == nil {
				by[w] = &Loss{Why: string(crawl.ReasonScope), Example: v.URL, Flag: "--scope " + string(w)}
			}
			by[w].Admits++
			sites[v.Task] = true
		}
		if found++; found == left {
			return enough
		}
		return nil
	})
	if err != nil && !errors.Is(err, enough) {
		return nil, err
	}
	for _, w := range wider {
		if l := by[w]; l != nil {
			l.URLs, l.Sites = found, int64(len(sites))
			return l, nil
		}
	}
	return nil, nil
}

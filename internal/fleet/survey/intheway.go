package survey

import (
	"cmp"
	"context"
	"slices"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
)

// inTheWay gathers what may stand in the place of pages: of each site the page that many of its URLs show, or lead to, and what is known to be a wall.
func (g *gatherer) inTheWay(ctx context.Context, l *ledger.Ledger, job uint32) error {
	had := func(site string) int64 {
		if s := g.sites[site]; s != nil {
			return s.Fetched
		}
		return 0
	}
	if err := l.Alikes(ctx, job, had, func(v ledger.Alike) { g.r.InTheWay = append(g.r.InTheWay, v) }); err != nil {
		return err
	}
	err := l.Losses(ctx, job, func(v ledger.Loss) {
		if v.Why == string(crawl.KindWall) {
			g.r.InTheWay = append(g.r.InTheWay, ledger.Alike{Site: v.Site, Why: v.Why, URLs: v.URLs, Example: v.Example})
		}
	})
	slices.SortFunc(g.r.InTheWay, func(a, b ledger.Alike) int {
		return cmp.Or(cmp.Compare(b.URLs, a.URLs), cmp.Compare(a.Site, b.Site), cmp.Compare(a.Why, b.Why), cmp.Compare(a.To, b.To))
	})
	return err
}

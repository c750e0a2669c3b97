package coordinator

import (
	"context"
	"slices"
	"time"

	"argosy/internal/crawl"
)

// Answered returns the pages of a job that were answered with one of some statuses, of the sites named, or of all. Those of tasks that were
// dropped are given up. The ledger is read beside the coordinator, which goes on meanwhile: it has no index for this.
func (c *Coordinator) Answered(ctx context.Context, job uint32, sites []string, statuses []int) (out []crawl.Page, err error) {
	err = c.do(ctx, func() error {
		if _, _, err := c.named(crawl.EntryRetry, job, sites, nil); err != nil {
			return err
		}
		return c.sinks.sync(ctx, time.Now())
	})
	if err != nil {
		return nil, err
	}
	all, err := c.sinks.ledger.Answered(ctx, job, statuses)
	if err != nil {
		return nil, err
	}
	for piece := range slices.Chunk(all, mendPages) {
		err := c.do(ctx, func() error {
			names := c.f.Names(job)
			defer names.Close()
			for _, p := range piece {
				t, err := names.Had(p)
				if err != nil {
					return err
				}
				if t != nil && (len(sites) == 0 || slices.Contains(sites, t.Site)) {
					out = append(out, p)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// inPieces cuts what a person asks for so that each piece fits an entry: those after the first release nothing but the pages that they name.
func inPieces(r crawl.Release) (out []crawl.Release) {
	for pages := r.Lost; ; {
		n := min(len(pages), mendPages)
		r.Lost, pages = pages[:n], pages[n:]
		out = append(out, r)
		if len(pages) == 0 {
			return out
		}
		r.Tasks, r.Mend = nil, true
	}
}

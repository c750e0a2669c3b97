package coordinator

import (
	"context"
	"slices"
	"time"

	"argosy/internal/crawl"
)

// Answered returns the pages of a job that were answered with a status that of takes, of the sites named, or of all. Those of tasks that
// were dropped are given up.
func (c *Coordinator) Answered(ctx context.Context, job uint32, sites []string, of func(status int) bool) (out []crawl.Page, err error) {
	err = c.do(ctx, func() error {
		if _, _, err := c.named(crawl.EntryRetry, job, sites, nil); err != nil {
			return err
		}
		if err := c.sinks.sync(ctx, time.Now()); err != nil {
			return err
		}
		var all []crawl.Page
		err := c.sinks.persist(ctx, func(ctx context.Context) error {
			all = all[:0]
			return c.sinks.ledger.Answered(ctx, job, func(p crawl.Page, status int) {
				if of(status) {
					all = append(all, p)
				}
			})
		})
		if err != nil {
			return err
		}
		names := c.f.Names(job)
		defer names.Close()
		for _, p := range all {
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
	return out, err
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

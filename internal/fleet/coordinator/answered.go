package coordinator

import (
	"context"
	"maps"
	"slices"
	"time"

	"argosy/internal/crawl"
)

// Answered returns the pages of a job that were answered with one of some statuses, of the sites named, or of all. Those of tasks that were
// dropped are given up. The ledger is read beside the coordinator, which goes on meanwhile: it has no index for this.
func (c *Coordinator) Answered(ctx context.Context, job uint32, sites []string, statuses []int) (out []crawl.Page, err error) {
	err = c.desk.do(ctx, func(now time.Time) error {
		if _, _, err := c.named(crawl.EntryRetry, job, sites, nil); err != nil {
			return err
		}
		return c.sinks.sync(ctx, now)
	})
	if err != nil {
		return nil, err
	}
	all, err := c.sinks.ledger.Answered(ctx, job, statuses)
	if err != nil {
		return nil, err
	}
	for piece := range slices.Chunk(all, mendPages) {
		err := c.desk.do(ctx, func(time.Time) error {
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

// noPage is the key of no URL. It stands where an entry is about no page, but about records: without a page coordinators that do not know such
// entries, of an older build beside this one, would forget all that failed.
var noPage = []crawl.Page{{}}

// inPieces cuts what a person asks for so that each piece fits an entry: those after the first release nothing but the pages that they name.
// Records that are gone come last, when what is left of their pages counts beside these.
func inPieces(r crawl.Release) (out []crawl.Release) {
	pages, gone := r.Lost, r.Gone
	r.Gone = nil
	for len(pages) > 0 || len(out) == 0 && len(gone) == 0 {
		n := min(len(pages), mendPages)
		r.Lost, pages = pages[:n], pages[n:]
		out = append(out, r)
		r.Tasks, r.Mend = nil, true
	}
	r.Tasks, r.Lost, r.Mend = nil, noPage, true
	room := 0
	for _, file := range slices.Sorted(maps.Keys(gone)) {
		for _, at := range gone[file] {
			if room == 0 {
				r.Gone, room = map[string][]int64{}, mendPages
				out = append(out, r)
			}
			r.Gone[file] = append(r.Gone[file], at)
			room--
		}
	}
	return out
}

package coordinator

import (
	"fmt"
	"slices"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
)

// maxNumbers bounds how many tasks an entry names: each takes five bytes at most, and an entry 1 MiB (bus.MaxPart).
const maxNumbers = 100_000

// Ordered says what an order about tasks was.
type Ordered struct {
	Tasks int      // tasks that it was about
	Left  []string // of those that were named, the ones that stay as they are, each with the reason
}

// ordered returns what the entries say by which a person's order is done, and which tasks it is about.
func (c *Coordinator) ordered(kind crawl.EntryKind, sites []string, r crawl.Release) (out []crawl.Release, of Ordered, err error) {
	if r.Tasks, of, err = c.named(kind, r.Job, sites, r.Tasks); err != nil {
		return nil, of, err
	}
	if len(r.Tasks)+len(r.Lost)+len(r.Gone) == 0 {
		r.Dropped = c.dropped(r.Job)
	}
	if err := countable(&r); err != nil {
		return nil, of, err
	}
	if kind != crawl.EntryDrop || len(sites) == 0 {
		return inPieces(r), of, nil
	}
	whole, rest := r, r // sites are given up for every search, tasks for their own
	whole.Sites, whole.Tasks, rest.Tasks = true, nil, nil
	for _, id := range r.Tasks {
		if slices.Contains(sites, c.f.Task(id).Site) {
			whole.Tasks = append(whole.Tasks, id)
		} else {
			rest.Tasks = append(rest.Tasks, id)
		}
	}
	out = inPieces(whole)
	if len(rest.Tasks) > 0 {
		out = append(out, inPieces(rest)...)
	}
	return out, of, nil
}

// countable fails where an order names more tasks than fit an entry.
func countable(r *crawl.Release) error {
	switch {
	case len(r.Tasks) > maxNumbers:
		return fmt.Errorf("%w: it names %d tasks, and %d may be named at once", ErrState, len(r.Tasks), maxNumbers)
	case len(r.Dropped) > maxNumbers:
		return fmt.Errorf("%w: %d of its tasks were given up with pages that failed, too many to leave out at once: name the sites or tasks to retry", ErrState, len(r.Dropped))
	}
	return nil
}

// dropped returns the numbers of a job's tasks that are given up and have pages that a retry would ask for, in order.
func (c *Coordinator) dropped(job uint32) (ids []uint32) {
	c.f.Tasks(func(t *frontier.Task) {
		if t.Job == job && t.State == crawl.TaskDropped && t.Failed+t.Reasons[string(crawl.ReasonRobotsDown)] > 0 {
			ids = append(ids, t.ID)
		}
	})
	slices.Sort(ids)
	return ids
}

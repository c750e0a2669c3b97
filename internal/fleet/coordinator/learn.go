package coordinator

import (
	"slices"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
)

// reader is how one strategy reads what the fleet has learned: through a book of its own configuration.
type reader struct {
	strategy schedule.Strategy
	book     *predict.Book

	modify *schedule.ModifyConfig
	did    map[uint32]schedule.Subtask // what the last lease of each task did

	marks  schedule.Landmarks
	marked []int // as the book has them
	few    int
}

// reader returns a strategy's reader; the first call makes it.
func (c *Coordinator) reader(spec string) (*reader, error) {
	if r := c.readers[spec]; r != nil {
		return r, nil
	}
	st, err := c.cfg.Strategies(spec)
	if err != nil {
		return nil, err
	}
	cfg, few, marks := predict.Config{}, 3, schedule.Landmarks{}
	if m, ok := st.(schedule.Measurer); ok {
		want := m.Measures()
		cfg, few, marks = want.Book, max(1, want.Few), want.Landmark
	}
	r := &reader{strategy: st, book: c.learned.Record().Book(cfg), few: few, marks: marks}
	if m, ok := st.(schedule.Modifier); ok {
		if cfg, yes := m.Modifies(); yes {
			r.modify, r.did = &cfg, map[uint32]schedule.Subtask{}
		}
	}
	c.readers[spec] = r
	return r, nil
}

// landmarks says which nodes measure for all others: those that the job names, else those that the strategy chooses by
// name or label. Where neither does, the choice is the model's.
func (r *reader) landmarks(given []string, nodes []schedule.Node) {
	of := r.marks
	if len(given) > 0 {
		of = schedule.Landmarks{Given: given}
	}
	chosen := of.Choose(len(nodes), func(i int) (string, map[string]string, bool) { return nodes[i].ID, nodes[i].Labels, true })
	marks := make([]int, len(chosen))
	for i, n := range chosen {
		marks[i] = nodes[n].Book
	}
	if len(marks) > 0 && !slices.Equal(marks, r.marked) {
		r.marked = marks
		r.book.SetLandmarks(marks)
	}
}

// ended keeps what the last lease of a task did, for strategies that modify the next.
func (r *reader) ended(lease *frontier.Lease, at int64) {
	if r.modify == nil || lease.Resolve || lease.Given == 0 {
		return
	}
	r.did[lease.Task] = schedule.Subtask{
		Quota: int(lease.Quota), Budget: time.Duration(lease.BudgetMS) * time.Millisecond, Exist: int(lease.Given),
		Collected: int(lease.Collected), Took: time.Duration(at-lease.StartMS) * time.Millisecond,
	}
}

// shape changes a lease's quota and budget by what the last one of its task did.
func (r *reader) shape(lease *crawl.Lease) {
	if s, ok := r.did[lease.Task]; ok && r.modify != nil {
		var budget time.Duration
		lease.Quota, budget = schedule.Modify(*r.modify, s)
		lease.BudgetMS = budget.Milliseconds()
	}
}

// pair is a node and a site.
type pair struct{ node, site string }

// isProbed reports whether the bandwidth of a pair was probed, or is being probed.
func (c *Coordinator) isProbed(site, node string) bool {
	record := c.learned.Record()
	return c.probing[pair{node, site}] || record.Probed(record.Node(node), record.Site(site))
}

// learnEvery is after how many facts what was learned is written down, so that a restart reads back at most as many.
const learnEvery = 20_000

// take takes in what an entry has measured.
func (c *Coordinator) take(fx *frontier.Effects, at int64) {
	for _, fact := range fx.Facts {
		c.learned.Take(fact)
	}
	c.facts += len(fx.Facts)
	for _, e := range fx.Ended {
		for _, r := range c.readers {
			r.ended(e.Lease, at)
		}
	}
}

// keepLearned writes down what was learned when enough has come since it was written last.
func (c *Coordinator) keepLearned() error {
	if c.facts < learnEvery {
		return nil
	}
	c.facts = 0
	return c.f.KeepLearned(c.learned)
}

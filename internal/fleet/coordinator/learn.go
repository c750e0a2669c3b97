package coordinator

import (
	"context"
	"slices"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
)

// learner gives the book what reports tell: how fast a node gets the pages of a site, how soon the site answers it, and
// how many requests give a page. It costs no request of its own.
type learner struct {
	strategy schedule.Strategy
	book     *predict.Book
	last     map[uint32]string // node that had a task last

	modify *schedule.ModifyConfig
	now    map[uint64]int              // pages that running leases have collected
	did    map[uint32]schedule.Subtask // what the last lease of each task did

	marks  schedule.Landmarks
	marked []int // as the book has them
	few    int
	probed map[string]map[string]bool // sites and the nodes that were sent to probe them
}

// learner returns what a strategy has learned, beginning it, with what the ledger remembers, if need be.
func (c *Coordinator) learner(spec string) (*learner, error) {
	if l := c.learners[spec]; l != nil {
		return l, nil
	}
	st, err := c.cfg.Strategies(spec)
	if err != nil {
		return nil, err
	}
	l := newLearner(st)
	for i := range c.past {
		l.remember(&c.past[i])
	}
	c.learners[spec] = l
	return l, nil
}

// pastSamples bounds what is read back from the ledger.
const pastSamples = 20_000

// recall reads back from the ledger what was measured before, so that a coordinator that starts again knows its fleet.
func (c *Coordinator) recall(ctx context.Context) (err error) {
	if c.cfg.Idle {
		return nil
	}
	c.past, err = c.ledger.Past(ctx, pastSamples)
	return err
}

// remember takes in a measurement of the past.
func (l *learner) remember(p *ledger.Past) {
	n := l.book.Node(p.Node)
	switch p.Kind {
	case crawl.MeasureBC:
		l.book.Crawled(n, l.book.Site(p.Site), p.Value, 1, false, p.At)
		l.probes(p.Site, p.Node)
	case crawl.MeasureBS:
		l.book.Stored(n, p.Value, 1)
	case crawl.MeasurePing:
		if p.To != "" {
			l.book.NodeDelay(n, l.book.Node(p.To), p.Value)
		} else {
			l.book.Delay(n, l.book.Site(p.Site), p.Value)
		}
	case ledger.PastReport:
		l.book.Reported(n, l.book.Site(p.Site), predict.Report{Bits: p.Bits, Seconds: p.Value, All: p.All, Good: p.Good}, p.At)
	}
}

// teach gives every learner what an entry says.
func (c *Coordinator) teach(e *crawl.Entry, at int64) {
	for i := range e.Parts {
		p := &e.Parts[i]
		l := c.f.Lease(p.Lease)
		if l == nil || crawl.Believe(e, p, l.Facts()) != "" {
			continue
		}
		for _, k := range c.learners {
			k.part(l, p, at)
		}
	}
	for i := range e.Measures {
		m := &e.Measures[i]
		for _, k := range c.learners {
			k.measured(e.Node, m)
		}
	}
}

// measured takes in what a node measured by itself: its store, or the delay to another node.
func (l *learner) measured(node string, m *crawl.Measure) {
	n := l.book.Node(node)
	switch m.Kind {
	case crawl.MeasureBS:
		l.book.Stored(n, float64(m.Bits), m.Seconds)
	case crawl.MeasurePing:
		for _, ms := range m.MS {
			if m.Node != "" && m.Node != node {
				l.book.NodeDelay(n, l.book.Node(m.Node), ms)
			}
		}
	}
}

// landmarks says which nodes measure for all others: those that the job names, else those that the strategy chooses by
// name or label. Where neither does, the choice is the model's.
func (l *learner) landmarks(given []string, nodes []schedule.Node) {
	of := l.marks
	if len(given) > 0 {
		of = schedule.Landmarks{Given: given}
	}
	chosen := of.Choose(len(nodes), func(i int) (string, map[string]string, bool) { return nodes[i].ID, nodes[i].Labels, true })
	marks := make([]int, len(chosen))
	for i, n := range chosen {
		marks[i] = nodes[n].Book
	}
	if len(marks) > 0 && !slices.Equal(marks, l.marked) {
		l.marked = marks
		l.book.SetLandmarks(marks)
	}
}

func newLearner(st schedule.Strategy) *learner {
	cfg, few, marks := predict.Config{}, 3, schedule.Landmarks{}
	if m, ok := st.(schedule.Measurer); ok {
		want := m.Measures()
		cfg, few, marks = want.Book, max(1, want.Few), want.Landmark
	}
	l := &learner{strategy: st, book: predict.New(cfg), last: map[uint32]string{}, few: few, marks: marks, probed: map[string]map[string]bool{}}
	if m, ok := st.(schedule.Modifier); ok {
		if cfg, yes := m.Modifies(); yes {
			l.modify, l.now, l.did = &cfg, map[uint64]int{}, map[uint32]schedule.Subtask{}
		}
	}
	return l
}

// node returns a node's number in the book, and says which others it is like.
func (l *learner) node(id string, labels map[string]string) int {
	n := l.book.Node(id)
	if labels["city"] != "" || labels["provider"] != "" {
		l.book.SetGroup(n, labels["city"]+"/"+labels["provider"])
	}
	return n
}

// part takes in what a part says. at is the time at which the log stored it, Unix ms.
func (l *learner) part(lease *frontier.Lease, p *crawl.Part, at int64) {
	l.subtask(lease, p, at)
	if len(p.Outcomes)+len(p.Measures) == 0 {
		return
	}
	n, site := l.book.Node(lease.Node), l.book.Site(lease.Site)
	for i := range p.Measures {
		m := &p.Measures[i]
		switch m.Kind {
		case crawl.MeasureBC:
			l.book.Crawled(n, site, float64(m.Bits), m.Seconds, false, at)
		case crawl.MeasureBS:
			l.book.Stored(n, float64(m.Bits), m.Seconds)
		case crawl.MeasurePing:
			for _, ms := range m.MS {
				l.book.Delay(n, site, ms)
			}
		}
	}
	var r predict.Report
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		switch o.State {
		case crawl.Fetched:
			r.All++
			if o.Status < 400 {
				r.Good++
			}
			spent := 0.0
			for _, us := range o.Timing[1:] {
				spent += float64(us) / 1e6
			}
			r.Bits += 8 * float64(o.Bytes)
			r.Seconds += spent
			if ms := float64(o.Timing[1]+o.Timing[4]) / 1000; ms > 0 {
				l.book.Delay(n, site, ms)
			}
		case crawl.Failed:
			r.All++
		}
	}
	if r.All == 0 {
		return
	}
	l.book.Reported(n, site, r, at)
	l.book.Took(predict.Kind{Site: site, Node: n}, r.Seconds, r.Good, [3]float64{0, 0, r.Bits / max(r.Seconds, 1e-3)})
}

// subtask keeps what the last lease of a task did, for strategies that modify the next.
func (l *learner) subtask(lease *frontier.Lease, p *crawl.Part, at int64) {
	if l.modify == nil || lease.Resolve {
		return
	}
	for i := range p.Outcomes {
		if o := &p.Outcomes[i]; o.State == crawl.Fetched && o.Status < 400 {
			l.now[lease.ID]++
		}
	}
	if !p.Final {
		return
	}
	if lease.Given > 0 {
		l.did[lease.Task] = schedule.Subtask{
			Quota: int(lease.Quota), Budget: time.Duration(lease.BudgetMS) * time.Millisecond, Exist: int(lease.Given),
			Collected: l.now[lease.ID], Took: time.Duration(at-lease.StartMS) * time.Millisecond,
		}
	}
	delete(l.now, lease.ID)
}

// shape changes a lease's quota and budget by what the last one of its task did.
func (l *learner) shape(lease *crawl.Lease) {
	if s, ok := l.did[lease.Task]; ok && l.modify != nil {
		var budget time.Duration
		lease.Quota, budget = schedule.Modify(*l.modify, s)
		lease.BudgetMS = budget.Milliseconds()
	}
}

// isProbed tells whether a node was sent to probe a site.
func (l *learner) isProbed(site, node string) bool { return l.probed[site][node] }

func (l *learner) probes(site, node string) {
	if l.probed[site] == nil {
		l.probed[site] = map[string]bool{}
	}
	l.probed[site][node] = true
}

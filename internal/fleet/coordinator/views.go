package coordinator

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
	"argosy/internal/plan/price"
	"argosy/internal/plan/schedule"
)

// JobView is a job as people see it.
type JobView struct {
	crawl.Job
	State    string          `json:"state"`
	Sown     int64           `json:"seeds_in,omitempty"` // of its list of seeds
	Started  int64           `json:"started"`            // Unix ms
	RanMS    int64           `json:"ran_ms"`
	Counts   crawl.JobCounts `json:"counts"`
	Strategy string          `json:"strategy"`
	Limited  string          `json:"limited,omitempty"` // the limit that ends or has ended it: crawl.LimitPages and so on
	Lacks    []string        `json:"lacks,omitempty"`   // types of nodes that it asks for, and that no node is of: argosy agent --label type=…
	Unmet    string          `json:"unmet,omitempty"`   // what it asks of a node, and no node has: in words

	Given []crawl.Engine `json:"given_engines,omitempty"` // to searches by people, besides those of the job

	Shadow *schedule.Difference `json:"shadow,omitempty"`    // the last one that the job had
	Aside  int64                `json:"set_aside,omitempty"` // URLs that were pending again because the ledger could not take an entry
	Retry  *Progress            `json:"retry,omitempty"`     // of a retry that is under way
}

// Progress is how far something has come that takes long.
type Progress struct {
	Done int64 `json:"done"`
	Of   int64 `json:"of"` // about
}

// Jobs returns all jobs, in the order of their numbers, as they were a moment ago. What whoever asks has ordered is in it.
func (w *window) Jobs(ctx context.Context) (out []JobView, err error) {
	err = w.board.look(ctx, func() error {
		for _, s := range w.board.jobs {
			v := s.view
			v.Counts = s.sums
			v.Counts.Reasons = maps.Clone(s.sums.Reasons)
			out = append(out, v)
		}
		return nil
	})
	slices.SortFunc(out, func(a, b JobView) int { return cmp.Compare(a.ID, b.ID) })
	return out, err
}

// TasksQuery says which tasks of a job are asked for.
type TasksQuery struct {
	Job   uint32
	State string // empty: in any
	After uint32 // only those with a larger number
	Limit int    // at most so many; 0: all

	Find string // for FindTasks: stands in the site's name, or in a search's words, product or site, in any case
	Sort string // found, site, pending, fetched, failed or bytes, the largest first; empty: found
	Skip int    // not the first so many

	Searches bool // for FindTasks: only those that ask for the result pages of a search
}

// Tasks returns tasks of a job in the order in which they were found, as they were a moment ago.
func (w *window) Tasks(ctx context.Context, q TasksQuery) (rows []ledger.Task, err error) {
	rows = []ledger.Task{}
	err = w.board.look(ctx, func() error {
		s := w.board.jobs[q.Job]
		if s == nil {
			return fmt.Errorf("%w: %d", ErrNoJob, q.Job)
		}
		from, ok := s.find(q.After)
		if ok {
			from++
		}
		for _, row := range s.rows[from:] {
			if q.Limit > 0 && len(rows) == q.Limit {
				break
			}
			if q.State == "" || row.State == q.State {
				rows = append(rows, s.shown(w.board.rests, row))
			}
		}
		return nil
	})
	return rows, err
}

// NodeView is a node as people see it: what it offers, what it costs and what it has earned.
type NodeView struct {
	crawl.NodeInfo
	State     string  `json:"state"`
	Held      int     `json:"leases"`
	SeenMS    int64   `json:"seen_ms_ago"` // negative: nobody knows
	Landmark  bool    `json:"landmark"`    // others can measure it
	Fetched   int64   `json:"fetched"`     // URLs
	Bytes     int64   `json:"bytes"`
	Cost      float64 `json:"cost"`
	PresentMS int64   `json:"present_ms"`
	WorkingMS int64   `json:"working_ms"`
	Refused   Refused `json:"refused"`

	Quarantine ledger.Quarantine `json:"quarantine"`

	Measured schedule.Measured `json:"measured"` // besides what its leases tell
	Requests Requests          `json:"requests"`
}

// Requests counts the requests of a node that were answered or given up.
type Requests struct {
	All  int64 `json:"all"`
	Good int64 `json:"good"` // with a status below 400
}

// earn adds what the ledger knows of a node, and what is not written yet.
func (v *NodeView) earn(e ledger.Earned, b ledger.Bill) {
	v.Requests = Requests{e.Asked, e.Good}
	v.Fetched, v.Bytes, v.Cost = e.Pages, e.Bytes, e.Cost+b.Cost
	v.PresentMS, v.WorkingMS = e.PresentMS+b.PresentMS, e.WorkingMS+b.WorkingMS
}

// Nodes returns the nodes that are there, those that have earned something and are gone, and those of which something was refused.
// What they have earned is that of a moment ago, or of when the ledger's database answered last.
func (w *window) Nodes(ctx context.Context) (out []NodeView, err error) {
	var paid bills
	var measured map[string]schedule.Measured
	now := time.Now()
	read := func() error {
		out = make([]NodeView, len(w.board.nodes))
		for i := range w.board.nodes {
			n := &w.board.nodes[i]
			if out[i] = n.NodeView; !n.seen.IsZero() {
				out[i].SeenMS = max(0, now.Sub(n.seen).Milliseconds())
			}
		}
		paid, measured = w.board.bills, w.board.gauge
		return nil
	}
	if err := w.board.look(ctx, read); err != nil {
		return nil, err
	}
	kept, err := w.known.get(ctx, paid.charges, w.ledger)
	if err != nil {
		return nil, err
	}
	told := map[string]bool{}
	for i := range out {
		v := &out[i]
		told[v.Node] = true
		v.earn(kept.earned[v.Node], paid.of[v.Node])
		if e, ok := kept.earned[v.Node]; ok && v.State == nodeRefused {
			v.State, v.Store, v.SeenMS = nodeGone, e.Store, ago(now, e.Seen)
		}
		v.Quarantine = kept.aside[v.Node]
	}
	for id, e := range kept.earned {
		if !told[id] {
			v := NodeView{NodeInfo: crawl.NodeInfo{Node: id, Store: e.Store}, State: nodeGone, SeenMS: ago(now, e.Seen), Quarantine: kept.aside[id]}
			v.earn(e, paid.of[id])
			out = append(out, v)
		}
	}
	for i := range out {
		out[i].Measured = measured[out[i].Node]
	}
	slices.SortFunc(out, func(a, b NodeView) int { return cmp.Compare(a.Node, b.Node) })
	return out, nil
}

// ago is how long ago something was, in ms; negative of what nobody knows.
func ago(now time.Time, at int64) int64 {
	if at == 0 {
		return -1
	}
	return max(0, now.UnixMilli()-at)
}

// known is what the ledger knows of nodes.
type known struct {
	since   stopwatch // it was read
	charges int       // how often costs had been written
	earned  map[string]ledger.Earned
	aside   map[string]ledger.Quarantine
	demand  map[int]int64
}

const (
	knownFor  = time.Second            // what was read of the ledger is good for so long
	knownWait = 100 * time.Millisecond // who asks waits so long for the ledger, if there is something older
	knownMost = 2 * time.Second        // likewise, if there is not: what the ledger knows is left out then
)

// reading reads the ledger for those who ask, one at a time, beside the loop.
type reading struct {
	mu   sync.Mutex
	last *known
	busy chan struct{} // closed when the reading that is under way has ended; nil: none is
	err  error         // of the last one
}

// get returns what the ledger knows: what was read a moment ago, or is read now. A ledger that does not answer is not waited for where
// something older is at hand. charges is how often costs have been written: what was read before the last time lacks some.
func (r *reading) get(ctx context.Context, charges int, l *ledger.Ledger) (*known, error) {
	r.mu.Lock()
	last := r.last
	if last != nil && last.charges == charges && last.since.took() < knownFor {
		r.mu.Unlock()
		return last, nil
	}
	if r.busy == nil {
		r.busy = make(chan struct{})
		go r.read(context.WithoutCancel(ctx), charges, l, r.busy)
	}
	busy := r.busy
	r.mu.Unlock()
	patience := time.After(knownWait)
	if last == nil {
		last, patience = &known{}, time.After(knownMost)
	}
	select {
	case <-busy:
	case <-patience:
		return last, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		return nil, r.err
	}
	return r.last, nil
}

func (r *reading) read(ctx context.Context, charges int, l *ledger.Ledger, done chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, ledgerTry)
	defer cancel()
	k := &known{charges: charges}
	var err error
	if k.earned, err = l.Earned(ctx); err == nil {
		k.aside, err = l.Quarantined(ctx)
	}
	if err == nil {
		k.demand, err = l.Demand(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err = err; err == nil {
		k.since = start()
		r.last = k
	}
	r.busy = nil
	close(done)
}

// Reservation compares what the fleet's reservation costs with the cheapest one for what was needed so far.
type Reservation struct {
	Known    bool        `json:"known"`  // false: no node has prices, or nothing was observed
	Hours    float64     `json:"hours"`  // that were observed
	Nodes    int         `json:"nodes"`  // that are there and have prices
	Needed   float64     `json:"needed"` // on average
	Most     int         `json:"most"`   // at once
	Rates    price.Rates `json:"rates"`  // mean of the nodes'
	Reserved price.Point `json:"reserved"`
	Best     price.Point `json:"best"`
}

// Reserve tells how many nodes to reserve: the newsvendor's answer to how many were at work at once, and for how long, as
// far back as the ledger goes.
func (w *window) Reserve(ctx context.Context) (r Reservation, err error) {
	reserved := 0
	var paid bills
	err = w.board.look(ctx, func() error {
		paid = w.board.bills
		for i := range w.board.nodes {
			n := &w.board.nodes[i]
			p := ratesOf(&n.NodeInfo)
			if n.left || p.Validate() != nil {
				continue
			}
			r.Nodes++
			if !n.OnDemand {
				reserved++
			}
			r.Rates.Reserve += p.Reserve
			r.Rates.Use += p.Use
			r.Rates.Surcharge += p.Surcharge
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	kept, err := w.known.get(ctx, paid.charges, w.ledger)
	if err != nil {
		return r, err
	}
	weights := map[int]float64{}
	for _, atWork := range []map[int]int64{kept.demand, paid.atWork} {
		for n, ms := range atWork {
			weights[n] += float64(ms)
			r.Hours += float64(ms) / float64(time.Hour.Milliseconds())
		}
	}
	d, err := price.Weighted(weights)
	if r.Nodes == 0 || err != nil {
		return r, nil // nothing to compare
	}
	k := float64(r.Nodes)
	r.Rates = price.Rates{Reserve: r.Rates.Reserve / k, Use: r.Rates.Use / k, Surcharge: r.Rates.Surcharge / k}
	r.Needed, r.Most, r.Known = d.Mean(), len(d.P)-1, true
	r.Reserved, r.Best = r.Rates.Expect(reserved, d), r.Rates.Expect(r.Rates.Best(max(r.Nodes, r.Most), d), d)
	return r, nil
}

// Lag is how far what is made of the log is behind it.
type Lag struct {
	Age              time.Duration // of the oldest entry that the log keeps; 0: it keeps none
	Frontier, Ledger uint64        // entries that they lack, as of a moment ago
}

// spanner is a log that tells what it has: its first and last sequence, and when it stored the first (Unix ms; 0: it is empty).
type spanner interface {
	Span(ctx context.Context) (first, last uint64, since int64, err error)
}

// Lag asks the log how far the sinks are behind it; false: it does not tell. It does not wait for the loop.
func (w *window) Lag(ctx context.Context) (lag Lag, ok bool) {
	log, tells := w.log.(spanner)
	s := w.status.Load()
	if !tells || s.Applied == 0 {
		return lag, false
	}
	_, last, since, err := log.Span(ctx)
	if err != nil {
		return lag, false
	}
	if since > 0 {
		lag.Age = max(0, time.Since(time.UnixMilli(since)))
	}
	lag.Frontier, lag.Ledger = last-min(last, s.Applied), last-min(last, s.Written)
	return lag, true
}

// Package recorded reads a crawl or a fleet from its ledger for the simulator: what its nodes were, what its leases did, and
// what was learned of them.
package recorded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"argosy/internal/fleet/ledger"
	"argosy/internal/page/scope"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/price"
	"argosy/internal/plan/sim"
)

// MaxFacts bounds what is kept of a recording, about 150 bytes each.
const MaxFacts = 4_000_000

// ErrTooLong says that a recording holds more facts than are wanted.
var ErrTooLong = errors.New("more facts than can be replayed")

// ErrOlder says that a version which did not record what a replay needs has written a ledger.
var ErrOlder = errors.New("it was recorded by a version that did not keep what a replay needs")

// delays are how many of each pair's delays are kept of a second.
type delays map[[2]string]struct {
	second int64
	n      int
}

// keep reports whether a fact is one that is kept; they come in the order of time.
func (d delays) keep(f *learn.Fact) bool {
	if f.Kind != learn.Delay {
		return true
	}
	pair := [2]string{f.Node, f.Site}
	of := d[pair]
	if second := f.At / 1000; of.second != second {
		of.second, of.n = second, 0
	}
	of.n++
	d[pair] = of
	return of.n <= sim.DelaysASecond
}

// Read returns what a ledger has recorded of a job, if that is at most so many facts. Of a pair's delays in a second as many are kept as an httpping has tries.
func Read(ctx context.Context, l *ledger.Ledger, job uint32, most int) (r sim.Recording, err error) {
	j, err := l.Job(ctx, job)
	if err != nil {
		return r, fmt.Errorf("job %d: %w", job, err)
	}
	r.Strategy, r.Left, r.Widths = j.Strategy, map[string]float64{}, j.Limits.SiteConnections
	r.Placing = sim.JobPlacing{Type: j.Placing.Type, Product: j.Placing.Product, Need: j.Placing.Need, Landmarks: j.Placing.Landmarks}
	r.Began, r.Uncounted = j.Created, !j.Counted
	r.Delay, r.PerIP, r.PerDom = j.Limits.Delay.Seconds(), j.Limits.PerIP, j.Limits.PerDomain
	r.Lease = sim.LeaseShape{Bits: float64(j.Limits.LeasePages), Seconds: j.Limits.LeaseTime.Seconds()}
	fleet, err := l.Fleet(ctx)
	if err != nil {
		return r, err
	}
	held, err := l.Died(ctx, job)
	if err != nil {
		return r, err
	}
	r.Held = longest(held)
	if r.Sites, err = sites(ctx, l, &j); err != nil {
		return r, err
	}
	if err = pages(ctx, l, job, &r); err != nil {
		return r, err
	}
	away, err := leases(ctx, l, job, fleet, &r)
	if err != nil {
		return r, err
	}
	err = l.Looks(ctx, job, func(x *ledger.Looked) error {
		r.Looks = append(r.Looks, sim.RecordedLook{Node: x.Node, Site: x.Site, Resolves: x.Resolves, Started: x.Started, Ended: x.Ended})
		return nil
	})
	if err != nil {
		return r, err
	}
	back, err := l.SetBack(ctx)
	if err != nil {
		return r, err
	}
	for i := range fleet {
		n := &fleet[i]
		steady(n, back, r.Leases)
		if j.Placing.Store != "" && j.Placing.Store != n.Info.Store { // the job's tasks may not go there
			continue
		}
		r.Nodes = append(r.Nodes, sim.RecordedNode{
			ID: n.Info.Node, Labels: n.Info.Labels, Leases: n.Info.Leases, Requests: n.Info.Concurrency,
			CPU: n.Info.Offer[0], Memory: n.Info.Offer[1], Bandwidth: n.Info.Offer[2], Prices: price.Rates{Reserve: n.Info.Prices[0], Use: n.Info.Prices[1], Surcharge: n.Info.Prices[2]}, OnDemand: n.Info.OnDemand,
			Came: n.Came, Gone: n.Gone, Died: told(held[n.Info.Node], math.MaxInt64), Away: absent(n, held[n.Info.Node]),
		})
	}
	switch {
	case len(r.Leases) > 0:
	case len(fleet) > 0:
		return r, sim.ErrNothingRecorded
	default:
		return r, ErrOlder
	}
	told := delays{}
	err = l.Facts(ctx, job, func(f learn.Fact) error {
		if !told.keep(&f) {
			return nil
		}
		if len(r.Facts) == most {
			return fmt.Errorf("%w (%d)", ErrTooLong, most)
		}
		r.Facts = append(r.Facts, f)
		return nil
	})
	if err != nil {
		return r, err
	}
	r.Before, err = before(ctx, l, job, &r, most-len(r.Facts))
	if err != nil {
		return r, err
	}
	away.leaveOut(&r)
	return r, r.Sound()
}

// Count says what sites have left by rows of their tasks, of a job that runs: its ledger is told when it ends.
func Count(r *sim.Recording, rows []ledger.Task) {
	left := map[string]float64{}
	for i := range rows {
		left[rows[i].Site] += float64(rows[i].Pending)
	}
	for site := range r.Left {
		r.Left[site] = left[site]
	}
	r.Uncounted = false
}

// steady has a node be gone by the clock that is never set back, by which its leases are told: as early as they let it.
func steady(n *ledger.FleetNode, back []int64, leases []sim.RecordedLease) {
	works := func(from, to int64) bool {
		return slices.ContainsFunc(leases, func(l sim.RecordedLease) bool { return l.Node == n.Info.Node && l.Started < to && l.Ended > from })
	}
	for _, by := range back {
		if n.Gone > 0 && works(n.Gone, math.MaxInt64) {
			n.Gone += by
		}
		for i := range n.Away {
			if a := &n.Away[i]; works(a[0], a[1]) {
				a[0], a[1] = a[0]+by, a[1]+by
			}
		}
	}
}

// longest is how long a lease of a node stood still at most of which nothing was heard any more, ms.
func longest(held map[string][]ledger.LeaseHeld) (ms int64) {
	for _, of := range held {
		for _, h := range of {
			if h.Dead {
				ms = max(ms, h.Ended-max(h.Started, h.Told))
			}
		}
	}
	return ms
}

// told is when leases of a node reported last until then; 0: they did not.
func told(of []ledger.LeaseHeld, until int64) (at int64) {
	for _, h := range of {
		if h.Told <= until {
			at = max(at, h.Told)
		}
	}
	return at
}

// absent is when a node was gone that came back. Where leases were taken from it meanwhile, it was heard of last before that.
func absent(n *ledger.FleetNode, of []ledger.LeaseHeld) (out []sim.Absence) {
	for _, away := range n.Away {
		a := sim.Absence{Gone: away[0], Came: away[1]}
		if slices.ContainsFunc(of, func(h ledger.LeaseHeld) bool {
			return h.Dead && h.Started <= a.Gone && a.Gone <= h.Ended
		}) {
			a.Died = told(of, a.Gone)
		}
		out = append(out, a)
	}
	return out
}

// leases tells what the leases of a job did, and when the job did not run.
func leases(ctx context.Context, l *ledger.Ledger, job uint32, fleet []ledger.FleetNode, r *sim.Recording) (away away, err error) {
	known := map[string]bool{}
	for i := range fleet {
		known[fleet[i].Info.Node] = true
	}
	if away.goneOn, err = l.GoneOn(ctx, job); err != nil {
		return away, err
	}
	err = l.Spans(ctx, job, func(s *ledger.Span) error {
		if !known[s.Node] {
			return ErrOlder
		}
		away.see(s)
		if r.Left[s.Site] = 0; !r.Uncounted {
			r.Left[s.Site] = float64(s.Pending)
		}
		r.Leases = append(r.Leases, sim.RecordedLease{
			Task: s.Task, Node: s.Node, Site: s.Site, Started: s.Started, Ended: s.Ended, Worked: float64(s.WorkedUS) / 1e6,
			Given: float64(s.Given), Asked: float64(s.Asked), Good: float64(s.Good), Bits: float64(s.Bits),
		})
		return nil
	})
	return away, err
}

// errRoom says that there is no room for a job's facts.
var errRoom = errors.New("no room")

// before is what other jobs had told the fleet of a recording's sites when it began, in the order of time. Where that is more than there is
// room for, the oldest jobs are left out.
func before(ctx context.Context, l *ledger.Ledger, job uint32, r *sim.Recording, room int) (out []learn.Fact, err error) {
	began, sites := r.Leases[0].Started, map[string]bool{}
	for i := range r.Leases {
		sites[r.Leases[i].Site] = true
	}
	for i := range r.Facts {
		if f := &r.Facts[i]; sites[f.Site] {
			began = min(began, f.At)
		}
	}
	jobs, err := l.Sharing(ctx, job, began)
	if err != nil {
		return nil, err
	}
	for _, id := range jobs {
		had, told := len(out), delays{}
		err := l.Facts(ctx, id, func(f learn.Fact) error {
			switch {
			case !sites[f.Site] || f.At >= began || !told.keep(&f):
				return nil
			case len(out) == room:
				return errRoom
			}
			out = append(out, f)
			return nil
		})
		if errors.Is(err, errRoom) {
			out = out[:had]
			break
		} else if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out, func(a, b learn.Fact) int { return cmp.Compare(a.At, b.At) })
	return out, nil
}

// pages says what the pages tell: how their times vary, what of an httpping an answer takes, and how large root pages are.
func pages(ctx context.Context, l *ledger.Ledger, job uint32, r *sim.Recording) (err error) {
	if r.Varies, r.Answers, err = times(ctx, l, job); err != nil {
		return err
	}
	r.Root, err = l.Root(ctx, job)
	return err
}

// away finds the times in which nobody led a crawl, or somebody had it wait: nothing of that is to be replayed.
type away struct {
	epoch   uint64
	last    int64      // when a lease was given out last
	windows [][2]int64 // from the last lease of a leader to the first of the next one
	goneOn  []int64    // when somebody had the job go on
}

const (
	notAway = 1000 // ms in which nothing happens although somebody leads,
	tenfold = 10   // or so many times as long as what passes between two things that happen in nineteen of twenty cases
)

// see takes in a lease; they come in the order of their beginning.
func (a *away) see(s *ledger.Span) {
	if s.Epoch != a.epoch && a.last > 0 {
		a.windows = append(a.windows, [2]int64{a.last, s.Started})
	}
	a.epoch, a.last = s.Epoch, s.Started
}

// over reports whether the crawl did not run at some time between two.
func (a *away) over(from, to int64) bool {
	return slices.ContainsFunc(a.windows, func(w [2]int64) bool { return w[0] <= from && to <= w[1] }) ||
		slices.ContainsFunc(a.goneOn, func(at int64) bool { return from <= at && at <= to })
}

// leaveOut leaves out of a recording when nothing of the job happened between the last lease of a leader and the first of the next one, or until
// somebody had it go on, or while everybody stood still. What nodes measure of each other goes on meanwhile.
func (a *away) leaveOut(r *sim.Recording) {
	if len(r.Facts)+len(r.Leases) < 2 {
		return
	}
	at := make([]int64, 0, len(r.Facts)+len(r.Leases))
	for i := range r.Facts {
		if r.Facts[i].Site != "" {
			at = append(at, r.Facts[i].At)
		}
	}
	for i := range r.Leases {
		at = append(at, r.Leases[i].Started)
	}
	slices.Sort(at)
	apart := make([]int64, len(at)-1)
	for i := range apart {
		apart[i] = at[i+1] - at[i]
	}
	slices.Sort(apart)
	least := max(notAway, tenfold*apart[len(apart)*19/20])
	for i := len(at) - 1; i > 0; i-- { // the last one first: times before it stay
		from, to := at[i-1], at[i]
		switch {
		case to-from <= least:
		case a.over(from, to):
			r.LeaveOut(from, to)
		default:
			r.LeaveOut(from, from+stood(r, from, to))
		}
	}
}

// stillMost is how long a lease may be silent at most, ms, besides its work: it waits for its site's turn for no longer (polite.MaxWait), and tells what it
// has done every second or so.
const stillMost = 35_000

// stood is how long everybody stood still between two times at which something happened, with leases that went on after it, ms: their machine slept, or the
// clock of the log was set on, for nothing else has a lease be silent for longer than it works and may wait. 0: they did not.
func stood(r *sim.Recording, from, to int64) int64 {
	if to-from <= stillMost {
		return 0
	}
	least, late := int64(math.MaxInt64), sort.Search(len(r.Facts), func(k int) bool { return r.Facts[k].At >= to })
	for i := range r.Leases {
		l := &r.Leases[i]
		if l.Started > from || l.Ended < to {
			continue
		}
		next := slices.IndexFunc(r.Facts[late:], func(f learn.Fact) bool { return reports(&f, l) })
		if next < 0 {
			continue
		}
		before, after := l.Started, &r.Facts[late+next]
		for k := late - 1; k >= 0 && r.Facts[k].At > before; k-- {
			if reports(&r.Facts[k], l) {
				before = r.Facts[k].At
			}
		}
		least = min(least, after.At-before-int64(1000*after.Seconds))
	}
	if least == math.MaxInt64 || least <= stillMost {
		return 0
	}
	return min(least, to-from)
}

// reports reports whether a fact is one that a lease has reported.
func reports(f *learn.Fact, l *sim.RecordedLease) bool {
	return f.Kind == learn.Report && f.Node == l.Node && f.Site == l.Site
}

// times tells how far the times of sites' requests lie apart, and which share of an httpping their answers take, where that is known.
func times(ctx context.Context, l *ledger.Ledger, job uint32) (varies, answers map[string]float64, err error) {
	all, err := l.Times(ctx, job)
	if err != nil {
		return nil, nil, err
	}
	varies, answers = map[string]float64{}, map[string]float64{}
	for site, t := range all {
		if t.Varies >= 0 {
			varies[site] = t.Varies
		}
		if t.Answers > 0 {
			answers[site] = t.Answers
		}
	}
	return varies, answers, nil
}

// sites tells where the sites of a job are, as far as its job says that, or its leases are limited by it.
func sites(ctx context.Context, l *ledger.Ledger, j *ledger.Job) (map[string]sim.RecordedSite, error) {
	if j.Limits.PerIP <= 0 && j.Limits.PerDomain <= 0 && len(j.Placing.Places) == 0 {
		return nil, nil
	}
	addrs, err := l.Addresses(ctx, j.ID)
	if err != nil {
		return nil, err
	}
	out := make(map[string]sim.RecordedSite, len(addrs))
	for name, of := range addrs {
		s := sim.RecordedSite{Addrs: of}
		if j.Limits.PerDomain > 0 {
			s.Domain = scope.SiteDomain(name)
		}
		if p, ok := j.Placing.Place(name); ok {
			s.Place = p
		}
		out[name] = s
	}
	return out, nil
}

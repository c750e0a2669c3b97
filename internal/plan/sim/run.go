package sim

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"time"

	"argosy/internal/plan/learn"
	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
)

// Result is what a strategy made of a world.
type Result struct {
	Strategy  string
	Bits      float64   // collected, useful ones
	Bound     float64   // of the same; pages where tasks arrive
	Completed float64   // pages had, of Asked, where tasks arrive
	Asked     float64   // of the tasks that came
	Mean, P95 float64   // latency of tasks from coming to end, seconds; unfinished ones count as they stand
	Leases    int       // that ended
	Moves     int       // leases of a site on another node than its last
	Probes    int       // bandwidth probes
	Pings     int       // delays of sites that were measured
	ProbeBits float64   // that they cost
	Minutes   []float64 // useful bits that were told of in each minute
	Pairs     [][]Pair  // of each node and site, in worlds of at most 100 pairs
	In, Out   []int     // leases that each node took over from another, or lost to one
	Recycled  int       // leases that were recalled
	Manual    int       // tasks that were recalled too often
	Reached   int64     // when the world's target was reached, ms; 0: it was not
}

// Pair is what became of a node's pages of a site in the first and in the last fifth of the time.
type Pair struct {
	Good, All, Seconds [2]float64
}

// Rate is the completion rate of a fifth (0 the first, 1 the last), NaN where nothing was asked.
func (p Pair) Rate(k int) float64 {
	if p.All[k] == 0 {
		return math.NaN()
	}
	return p.Good[k] / p.All[k]
}

// maxPairs is up to how many pairs a result tells them apart.
const maxPairs = 100

// Share is the result as a share of the bound.
func (r Result) Share() float64 {
	if r.Bound == 0 {
		return math.NaN()
	}
	if r.Asked > 0 {
		return r.Completed / r.Bound
	}
	return r.Bits / r.Bound
}

// task is the work of a site, or one that arrived.
type task struct {
	id      uint32
	site    int
	since   int64
	came    int64
	last    int     // node that worked for it last, -1
	turn    uint32  // leases that it has had
	had     int     // node that had a lease of it last, and be it to measure: so a fleet knows it, -1
	left    float64 // bits
	waiting bool
	did     schedule.Subtask // what its last lease did

	recycled int      // times that it was recalled
	avoid    []string // nodes that it was recalled from, last first
}

// lease is a running lease, or a bandwidth probe.
type lease struct {
	id      int
	t       *task
	site    int
	node    int
	probe   bool      // it measures
	pings   []float64 // delays that it measures, ms; nil: bandwidth
	resolve bool      // it looks up addresses
	asks    bool      // it asks for robots.txt, and measures bandwidth then
	speed   float64   // of its path today, pauses included
	pace    float64   // of its path while a page is fetched
	worked  float64   // seconds in which the node worked for it, pauses left out
	rate    float64   // that it has
	left    float64   // bits
	done    float64
	start   int64
	until   int64
	limited float64 // seconds in which the node was at its own limit

	bits                   float64          // useful ones that it has told of
	used                   float64          // part of its site's size that its requests were, where Site.Had is known
	refused                int              // tries of a probe that its site refuses
	roots, good            float64          // bits of root pages that a probe fetches; pages that were had, of those that it has told of
	toldDone, toldWorked   float64          // bits and seconds that it has told of
	given                  schedule.Subtask // pages that it may fetch at most, and in what time; the rest is empty
	stuck, moved, modified bool             // it makes no progress; see End
	ended                  bool
}

// engine runs a world.
type engine struct {
	w        *World
	st       schedule.Strategy
	want     schedule.Measures
	modify   *schedule.ModifyConfig
	now      int64
	queue    events
	seq      int
	seqLease int
	rng      *rand.Rand
	coming   *rand.Rand // of arrivals, which are the same for every strategy
	sticking *rand.Rand // of leases that get stuck
	learned  *learn.Learner
	book     *predict.Book // over what was learned, as the strategy reads it
	memory   *schedule.Memory
	view     learn.View        // of the last cycle; its room is used again
	last     schedule.Snapshot // likewise
	worked   []bool            // nodes that have held a lease
	dying    bool              // a node dies now: its tasks stand still,
	stands   []*task           // until they are given back, in their order
	tasks    []*task
	waiting  []*task    // in the order in which they began to
	leases   [][]*lease // of each node, but those that measure delays
	pinging  []pinging  // those, of each node
	first    []int64    // when the first lease of each node ends, as it was last known
	fair     [][]*lease // the same, the slowest path first
	running  []*lease   // all, in the order in which they began; some have ended
	ver      []int
	touched  []int64 // when a node's leases were last moved on
	left     []float64
	tried    [2]pairs // that were sent to be measured, by kindOf
	spent    schedule.Allowance
	pages    []float64       // of each site, that were told of
	latency  []time.Duration // of each site's answers, as a moving average
	due      int64           // when the next cycle is; never, if none is planned
	rests    int64           // until when none is, since tasks were left waiting
	res      Result
	taken    []float64 // latencies, s
	marks    []int
	told     float64   // useful bits that leases have told of
	rules    []bool    // sites whose robots.txt is known
	used     []float64 // of each site whose Had is known: which part of its size its requests were
}

// Run runs a strategy in a world, which it leaves as it was.
func Run(w World, st schedule.Strategy) (Result, error) { return RunBound(w, st, w.Bound(), false) }

// RunBound is Run where the bound of the world is known. Knowing tells the strategy what the world is like, as it changes,
// and lets it measure nothing: what is then missing from the bound is not for want of knowledge.
func RunBound(w World, st schedule.Strategy, bound float64, knowing bool) (Result, error) {
	e := newEngine(w, st, bound, knowing)
	if err := e.run(knowing); err != nil {
		return Result{}, err
	}
	return e.res, nil
}

// run has time pass until the horizon, or until what is wanted was had.
func (e *engine) run(knowing bool) error {
	e.start()
	if knowing {
		e.book.Tell(e.truth)
		e.tellStores()
	}
	for len(e.queue) > 0 {
		ev := heap.Pop(&e.queue).(event)
		if ev.at > e.w.Horizon {
			break
		}
		e.now = ev.at
		if err := e.handle(ev); err != nil {
			return fmt.Errorf("at %d ms: %w", e.now, err)
		}
		if e.w.Target > 0 && e.told >= e.w.Target {
			e.res.Reached = e.now
			break
		}
	}
	e.finish()
	return nil
}

func newEngine(w World, st schedule.Strategy, bound float64, knowing bool) *engine {
	w.copied()
	e := &engine{
		w: &w, st: st, rng: rand.New(rand.NewPCG(w.Seed, 0x73696d)), coming: rand.New(rand.NewPCG(w.Seed, 0x636f6d65)),
		sticking: rand.New(rand.NewPCG(w.Seed, 0x737475636b)), leases: make([][]*lease, len(w.Nodes)), fair: make([][]*lease, len(w.Nodes)),
		pinging: make([]pinging, len(w.Nodes)), first: slices.Repeat([]int64{math.MaxInt64}, len(w.Nodes)),
		due: never, ver: make([]int, len(w.Nodes)), worked: make([]bool, len(w.Nodes)), touched: make([]int64, len(w.Nodes)),
		left: make([]float64, len(w.Sites)), rules: make([]bool, len(w.Sites)), used: make([]float64, len(w.Sites)), pages: make([]float64, len(w.Sites)), latency: make([]time.Duration, len(w.Sites)), tried: [2]pairs{make(pairs, len(w.Sites)), make(pairs, len(w.Sites))},
	}
	e.res = Result{Strategy: st.Name(), Bound: bound, Minutes: make([]float64, w.Horizon/60_000+1)}
	if m, ok := st.(schedule.Measurer); ok {
		e.want = m.Measures()
	}
	if knowing {
		e.want = schedule.Measures{Book: e.want.Book}
	}
	e.res.In, e.res.Out = make([]int, len(w.Nodes)), make([]int, len(w.Nodes))
	if len(w.Nodes)*len(w.Sites) <= maxPairs {
		for range w.Nodes {
			e.res.Pairs = append(e.res.Pairs, make([]Pair, len(w.Sites)))
		}
	}
	if m, ok := st.(schedule.Modifier); ok {
		if cfg, yes := m.Modifies(); yes {
			if w.Tasks != nil { // tasks that arrive are searches
				cfg = cfg.Searches()
			}
			e.modify = &cfg
		}
	}
	return e
}

func (e *engine) push(at int64, kind eventKind, id, ver int) {
	e.seq++
	heap.Push(&e.queue, event{at, e.seq, kind, id, ver})
}

func (e *engine) start() {
	e.learned = learn.New()
	e.book = e.learned.Record().Book(e.want.Book)
	for i := range e.w.Nodes { // numbers of nodes and sites are the world's
		n := &e.w.Nodes[i]
		e.book.Node(n.ID)
		if n.Join > 0 {
			e.push(n.Join, evJoin, i, 0)
		}
		if n.Leave > 0 {
			e.push(n.Leave, evLeave, i, 0)
		}
		if n.Dies > 0 {
			e.push(n.Dies, evDie, i, 0)
		}
		for _, a := range n.Away {
			if a.Died > 0 {
				e.push(a.Died, evDie, i, 0)
			}
			e.push(a.Gone, evLeave, i, 0)
			e.push(a.Came, evJoin, i, 0)
		}
	}
	for k := range e.w.Changes {
		e.push(e.w.Changes[k].At, evChange, k, 0)
	}
	for j := range e.w.Sites {
		e.book.Site(e.w.Sites[j].Name)
		e.left[j] = math.Inf(1)
		if s := e.w.Sites[j].Size; s > 0 {
			e.left[j] = s
		}
	}
	e.remember()
	e.measureFleet()
	for j := range e.w.Sites {
		if e.w.Order != nil {
			j = e.w.Order[j]
		}
		s := &e.w.Sites[j]
		if s.Resolver != "" {
			e.push(s.Looked, evResolve, j, 0)
		}
		e.push(s.Come, evReady, j, 0)
	}
	if e.w.Tasks != nil {
		e.arriveLater()
	}
	if e.w.Part > 0 {
		e.push(e.w.Part, evPart, 0, 0)
	}
}

func (e *engine) handle(ev event) error {
	switch ev.kind {
	case evCycle:
		if ev.at != e.due { // another came before it
			return nil
		}
		e.due = never
		return e.cycle()
	case evNode:
		if ev.ver == e.ver[ev.id] {
			e.progress(ev.id)
			e.endLeases(ev.id)
			e.share(ev.id)
		}
	case evResolve:
		e.resolve(ev.id)
	case evReady:
		e.siteReady(ev.id)
	case evArrive:
		e.arrive(ev.id)
		e.arriveLater()
	case evChange:
		for i := range e.w.Nodes {
			e.progress(i)
		}
		e.w.Changes[ev.id].Apply(e.w)
		e.view.Leases = nil
		e.book.Changed()
		for i := range e.w.Nodes {
			for _, l := range e.leases[i] {
				e.redraw(l)
			}
			slices.SortStableFunc(e.fair[i], bySpeed)
			e.share(i)
		}
	case evPart:
		e.parts()
		e.push(e.now+e.w.Part, evPart, 0, 0)
	case evJoin:
		e.welcome(ev.id)
		e.plan()
	case evDie:
		e.die(ev.id)
	case evHeld:
		e.wait(e.stands[0])
		e.stands = e.stands[1:]
	case evLeave:
		if e.w.Nodes[ev.id].dead(e.now) { // what it was given since is recalled in its time
			e.landmarks()
			e.plan()
			return nil
		}
		e.progress(ev.id)
		for _, l := range slices.Concat(e.leases[ev.id], []*lease(e.pinging[ev.id])) { // what they had collected counts, the rest goes back
			e.settle(l)
		}
		e.leases[ev.id], e.fair[ev.id], e.pinging[ev.id] = nil, nil, nil
		e.ends(ev.id, never)
		e.landmarks()
		e.plan()
	}
	return nil
}

// truth is what a planner that knows the world is told of a pair.
func (e *engine) truth(node, site int) (rate, success, delay float64) {
	if e.w.Delay != nil {
		delay = e.w.Delay[node][site]
	}
	return e.w.path(node, site), e.w.success(node, site), delay
}

// never is a time that does not come.
const never = math.MaxInt64

// plan asks for a cycle as soon as one may begin.
func (e *engine) plan() { e.planAt(max(e.now+1, e.rests)) }

// planAt asks for a cycle at a time, if none is due before it.
func (e *engine) planAt(at int64) {
	if at < e.due {
		e.due = at
		e.push(at, evCycle, 0, 0)
	}
}

// siteReady lets a site be crawled: what is measured of it before is measured.
func (e *engine) siteReady(j int) {
	if e.w.Tasks != nil || e.left[j] <= 0 {
		return
	}
	s := &e.w.Sites[j]
	t := &task{id: cmp.Or(s.Task, uint32(j+1)), turn: s.Turn, site: j, last: -1, had: e.w.resolver(j), left: e.left[j]}
	e.tasks = append(e.tasks, t)
	e.wait(t)
}

func (e *engine) wait(t *task) {
	if e.dying {
		e.stands = append(e.stands, t)
		e.push(e.now+e.w.Held, evHeld, 0, 0)
		return
	}
	t.waiting, t.since = true, e.now
	e.waiting = append(e.waiting, t)
	e.plan()
}

func (e *engine) arriveLater() {
	if given := e.w.Tasks.Given; given != nil {
		if k := len(e.tasks); k < len(given) {
			e.push(max(e.now, given[k].At), evArrive, k, 0)
		}
		return
	}
	e.push(e.now+int64(1+1000*e.coming.ExpFloat64()/e.w.Tasks.PerSecond), evArrive, 0, 0)
}

// arrive has a task come: of those that are given the one of this number.
func (e *engine) arrive(k int) {
	t := &task{id: uint32(len(e.tasks) + 1), last: -1, had: -1, came: e.now}
	pages := 0.0
	if given := e.w.Tasks.Given; given != nil {
		t.site, pages = given[k].Site, given[k].Pages
	} else {
		t.site = e.coming.IntN(len(e.w.Sites))
		pages = e.w.Tasks.draw(e.coming)
	}
	t.left = e.w.page(t.site) * pages
	e.res.Asked += pages
	e.tasks = append(e.tasks, t)
	e.wait(t)
}

// cycle takes a snapshot, plans, and starts leases.
func (e *engine) cycle() error {
	if len(e.waiting) == 0 || !e.free() {
		return nil
	}
	e.book.Fit()
	s, at := e.snapshot()
	if len(s.Nodes) == 0 {
		return nil
	}
	begun := e.seqLease
	unmeasured, err := e.measure(s, at)
	if err != nil {
		return err
	}
	offered := e.offered()
	waiting := make(map[uint32]*task, len(offered))
	for _, t := range offered {
		waiting[t.id] = t
	}
	looked := len(s.Tasks)
	s = unmeasured
	p, err := schedule.Cycle(s, e.st)
	if err != nil {
		return err
	}
	e.memory = p.Memory
	for _, a := range p.Assignments {
		e.begin(waiting[s.Tasks[a.Task].ID], at[a.Node])
	}
	all := e.keep(offered)
	e.rest(looked, len(s.Nodes), e.seqLease > begun, all)
	return nil
}

// keep leaves the tasks waiting that a cycle has given to nobody; those that it has not looked at come first the next time. all: it has looked at all.
func (e *engine) keep(offered []*task) (all bool) {
	rest := e.waiting[len(offered):]
	all = len(rest) == 0
	kept := make([]*task, 0, len(e.waiting))
	kept = append(kept, rest...)
	for _, t := range offered {
		if t.waiting {
			kept = append(kept, t)
		}
	}
	e.waiting = kept
	return all
}

// rest has no cycle begin for as long as in a coordinator, after one that looked at so many tasks and nodes and gave something out or nothing. Where
// tasks are left waiting one begins then, and if there is nothing new in them later.
func (e *engine) rest(tasks, nodes int, gave, all bool) {
	took := schedule.Takes(tasks, nodes)
	rest := (took + schedule.Rest(took, nodes, gave)).Milliseconds()
	if e.w.Cycle > 0 { // it looks at more than a coordinator would at once
		rest = e.w.Cycle
	}
	e.rests = e.now + rest
	if !gave && all {
		rest = max(schedule.RestMost.Milliseconds(), e.w.Cycle)
	}
	if len(e.waiting) > 0 {
		e.planAt(e.now + max(1, rest))
	}
}

// offered are the tasks that a cycle plans: as many as in a coordinator, where cycles are as there.
func (e *engine) offered() []*task {
	most := schedule.AtOnce(len(e.w.Nodes))
	if e.w.Cycle > 0 {
		most = cmp.Or(e.w.Window, len(e.waiting))
	}
	return e.waiting[:min(most, len(e.waiting))]
}

// free reports whether any node has a place: as in a coordinator, nothing is planned else, and the next lease to end asks for a cycle.
func (e *engine) free() bool {
	for i := range e.w.Nodes {
		if e.w.Nodes[i].there(e.now) && e.held(i) < e.w.Nodes[i].Slots {
			return true
		}
	}
	return false
}

// count keeps what a lease did with those of its pair in the first and the last fifth.
func (e *engine) count(l *lease, good, pages, seconds float64) {
	if e.res.Pairs == nil {
		return
	}
	k := 0
	switch fifth := 5 * e.now / max(1, e.w.Horizon); {
	case fifth >= 4:
		k = 1
	case fifth > 0:
		return
	}
	p := &e.res.Pairs[l.node][l.site]
	p.Good[k] += good
	p.All[k] += pages
	p.Seconds[k] += seconds
}

// good is how many of a lease's pages were had.
func (e *engine) good(l *lease, pages float64) float64 {
	p := e.w.success(l.node, l.site)
	if p >= 1 {
		return pages
	}
	if pages < fewPages { // of so few, what is cut off at none and all would be missing
		had, rest := 0.0, pages
		for ; rest > 0; rest-- {
			if e.rng.Float64() < p {
				had += min(rest, 1)
			}
		}
		return had
	}
	sd := math.Sqrt(pages * p * (1 - p))
	return min(pages, max(0, pages*p+sd*e.rng.NormFloat64()))
}

// fewPages is up to how many pages are had or not one by one.
const fewPages = 30

func (e *engine) finish() {
	if e.res.Reached == 0 {
		e.now = e.w.Horizon
	}
	for i := range e.leases {
		e.progress(i)
		for _, l := range e.leases[i] {
			if !l.probe && e.w.Tasks == nil {
				good := l.done * e.w.success(l.node, l.site)
				e.res.Bits += good
				e.counts((l.done - l.toldDone) * e.w.success(l.node, l.site))
			}
		}
	}
	if e.w.Tasks == nil {
		return
	}
	// The bound is for as many as were expected; more or fewer have come.
	e.res.Bound *= e.res.Asked / (e.w.Tasks.PerSecond * float64(e.w.Tasks.Pages) * float64(e.w.Horizon) / 1000)
	for _, t := range e.tasks { // those that are not done count with the time they have taken so far
		if t.left > 1e-6*e.w.Page {
			e.taken = append(e.taken, float64(e.now-t.came)/1000)
		}
	}
	sort.Float64s(e.taken)
	for _, x := range e.taken {
		e.res.Mean += x / float64(len(e.taken))
	}
	if n := len(e.taken); n > 0 {
		e.res.P95 = e.taken[min(n-1, n*95/100)]
	}
}

func name(prefix string, n int) string {
	s := strconv.Itoa(n)
	for len(s) < 3 {
		s = "0" + s
	}
	return prefix + s
}

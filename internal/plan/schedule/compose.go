package schedule

import (
	"math"
	"slices"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/plan/predict"
)

// Filter says whether a node may get a task at all.
type Filter struct {
	Name  string
	Check func(c *Context, task, node int) crawl.Verdict
}

// Cost says what it costs to give a task to a node that holds load leases, those of this plan included. Infinity
// forbids the pair. Of says by Context.Note what the cost is made of.
type Cost struct {
	Name string
	Unit string
	Of   func(c *Context, task, node, load int) float64
}

// Solver places tasks on nodes. It asks the context for candidates, costs and room, and returns the node of each task,
// or -1.
type Solver struct {
	Name  string
	Solve func(c *Context) []int
}

// Composition is a strategy made of its parts, which is all that a strategy may be.
type Composition struct {
	Preset  string
	Source  string // where its rule was published
	Options string // that it was built with
	Label   string // of nodes, by which they are grouped; empty: they are not
	Filters []Filter
	Cost    Cost
	Solver  Solver
	Wants   Measures
	Modify  *ModifyConfig // nil: leases are as the job has them
}

// Name returns the preset's name.
func (c Composition) Name() string { return c.Preset }

// spec is what names it, with its options.
func (c Composition) spec() string {
	if c.Options == "" {
		return c.Preset
	}
	return c.Preset + "," + c.Options
}

// Measures implements Measurer.
func (c Composition) Measures() Measures { return c.Wants }

// Modifies implements Modifier.
func (c Composition) Modifies() (ModifyConfig, bool) {
	if c.Modify == nil {
		return ModifyConfig{}, false
	}
	return *c.Modify, true
}

// Plan filters, solves and says why the rest waits.
func (c Composition) Plan(s *Snapshot, record bool) Plan {
	x := newContext(s, &c, record)
	var p Plan
	for t, n := range c.Solver.Solve(x) {
		switch {
		case n >= 0:
			p.Assignments = append(p.Assignments, Assignment{Task: t, Node: n})
		case x.why[t].Reason == ReasonTooBig:
			p.Refused = append(p.Refused, Waiting{t, x.why[t]})
		case !x.why[t].OK():
			p.Waiting = append(p.Waiting, Waiting{t, x.why[t]})
		case !record && x.Full() && !tooBig(s, t): // why else it waits nobody reads, and to find out costs more than the plan
			p.Waiting = append(p.Waiting, Waiting{t, crawl.Verdict{Reason: ReasonCapacity}})
		case len(x.Candidates(t)) == 0 && tooBig(s, t):
			p.Refused = append(p.Refused, Waiting{t, crawl.Verdict{Reason: ReasonTooBig}})
		case len(x.Candidates(t)) == 0:
			p.Waiting = append(p.Waiting, Waiting{t, crawl.Verdict{Reason: ReasonFiltered}})
		default:
			p.Waiting = append(p.Waiting, Waiting{t, crawl.Verdict{Reason: ReasonCapacity}})
		}
	}
	p.Memory = x.memory
	if record {
		p.Decisions = x.decisions(p)
	}
	return p
}

// Context is one cycle as filters, costs and solvers see it.
type Context struct {
	S    *Snapshot
	Load []int    // leases of each node, those of this plan included
	Left []Vector // of each node's offer

	comp   *Composition
	cands  [][]int
	all    []int           // every node: the candidates of all tasks that no filter keeps from any
	some   []int           // scratch of widen
	why    []crawl.Verdict // set by a solver that knows better why a task waits
	memory *Memory
	book   *predict.Book
	rec    *recorder

	row     row // figures of one task
	figures *figures
	paid    []float64 // prices of the last cycle: of bandwidth,
	places  []float64 // and of places; nil: nobody has asked
	stores  []predict.Figure
	carry   []float64 // of each node, see carries
	cache   map[string]any
	named   []uint64 // nodes' names, as numbers; nil: nobody has asked
	narrow  []bool   // tasks of which only the nodes that the last cycles kept are looked at
	through bool     // no task is looked at narrowly
	past    past     // what the last cycle kept
	notes   notes
	always  bool // no filters but Always
	above   float64
	full    int // so many nodes, the first ones, can take no more
}

// tooBig tells whether no node could take a task even if it were empty.
func tooBig(s *Snapshot, task int) bool {
	for i := range s.Nodes {
		if short(s.Tasks[task].Need, s.Nodes[i].Offer, s.Nodes[i].Offer) < 0 {
			return false
		}
	}
	return len(s.Nodes) > 0
}

func newContext(s *Snapshot, comp *Composition, record bool) *Context {
	c := &Context{
		S: s, Load: make([]int, len(s.Nodes)), Left: remaining(s),
		comp: comp, cands: make([][]int, len(s.Tasks)), why: make([]crawl.Verdict, len(s.Tasks)), book: s.Book,
		narrow: make([]bool, len(s.Tasks)),
	}
	c.row.task = -1
	if s.figures != nil && s.figures.book == s.Book {
		c.figures = s.figures
		c.notes = s.figures.of(s.Tasks)
		c.always = slices.EqualFunc(comp.Filters, Always, func(a, b Filter) bool { return a.Name == b.Name })
	}
	c.through = s.Memory == nil || !s.Memory.of(s.Nodes)
	if f := c.figures; !c.through && f != nil && f.past != nil && f.memory == s.Memory && f.leases == len(s.Running) {
		c.past, f.past = *f.past, nil // the solver fills it in
	} else if s.Memory != nil {
		c.past = s.Memory.recall(s.Nodes, s.Running)
	}
	if c.book == nil {
		c.book = predict.New(predict.Config{})
	}
	for i, n := range s.Nodes {
		c.Load[i] = n.Running
	}
	if record {
		c.rec = newRecorder(s)
	}
	return c
}

// Candidates returns the nodes that pass all filters, in order, which the caller must leave as they are: of all nodes, or of those that earlier cycles kept of the
// task, where a look at them is enough (kept.enough).
func (c *Context) Candidates(task int) []int {
	if c.cands[task] != nil {
		return c.cands[task]
	}
	n := c.notes.of(task)
	if n != nil && n.open != nil && c.likeProbes(task) {
		c.cands[task], c.narrow[task] = n.open, n.narrow
		return n.open
	}
	out := c.open(task)
	if n != nil {
		n.open, n.narrow = out, c.narrow[task]
	}
	return out
}

// open is Candidates where nobody has asked for them before.
func (c *Context) open(task int) []int {
	if !c.through && len(c.S.Tasks[task].Avoid) == 0 {
		if k := c.recalled(task); k.enough(len(c.S.Nodes)) {
			out := make([]int, 0, len(k.node))
			for _, n := range k.node {
				if c.passes(task, int(n)) {
					out = append(out, int(n))
				}
			}
			if len(out) > 0 {
				c.cands[task], c.narrow[task] = out, true
				return out
			}
		}
	}
	return c.widen(task)
}

// likeProbes reports whether a task's candidates are those that it had when probes were planned: where the filters are those, and it does not count
// what nodes have left.
func (c *Context) likeProbes(task int) bool {
	return c.rec == nil && c.always && c.figures.through == c.through && c.S.Tasks[task].Need == Vector{}
}

// widen makes all nodes that pass the filters a task's candidates.
func (c *Context) widen(task int) []int {
	out := c.some[:0]
	for n := range c.S.Nodes {
		if c.passes(task, n) {
			out = append(out, n)
		}
	}
	c.some = out
	if len(out) == len(c.S.Nodes) {
		if c.all == nil {
			c.all = slices.Clone(out)
		}
		out = c.all
	} else {
		out = append(make([]int, 0, len(out)), out...) // not nil, which is not looked up yet
	}
	c.cands[task], c.narrow[task] = out, false
	c.row.task = -1
	return out
}

// passes reports whether a node passes all filters.
func (c *Context) passes(task, node int) bool {
	for _, f := range c.comp.Filters {
		if v := f.Check(c, task, node); !v.OK() {
			if c.rec != nil {
				c.rec.filtered(task, node, f.Name, v)
			}
			return false
		}
	}
	return true
}

// Room tells whether a node can take one more lease.
func (c *Context) Room(node int) bool { return c.Load[node] < c.S.Nodes[node].Capacity }

// Full reports whether no node can take one more lease.
func (c *Context) Full() bool {
	for c.full < len(c.S.Nodes) && !c.Room(c.full) {
		c.full++
	}
	return c.full == len(c.S.Nodes)
}

// Price returns the cost of a pair as things stand.
func (c *Context) Price(task, node int) float64 {
	if c.rec != nil {
		c.rec.begin(task, node)
	}
	x := c.comp.Cost.Of(c, task, node, c.Load[node])
	if x != x {
		x = math.Inf(1)
	}
	if c.rec != nil {
		c.rec.end(x)
	}
	return x
}

// Take gives a task to a node, as far as later costs are concerned.
func (c *Context) Take(task, node int) {
	c.Load[node]++
	c.Left[node].take(c.S.Tasks[task].Need)
}

// Wait says why a task gets no node, where it is neither the filters nor the capacity.
func (c *Context) Wait(task int, v crawl.Verdict) { c.why[task] = v }

// Note says what a cost is made of.
func (c *Context) Note(name, unit string, f predict.Figure) {
	if c.rec != nil {
		c.rec.note(name, unit, f)
	}
}

// Know is Note of something that is not in doubt.
func (c *Context) Know(name, unit string, x float64) {
	if c.rec != nil {
		c.rec.note(name, unit, predict.Figure{Value: x, Source: predict.Stated})
	}
}

// Book returns what was measured.
func (c *Context) Book() *predict.Book { return c.book }

// known tells whether the book knows both numbers of a pair.
func (c *Context) known() bool { return c.S.Book != nil }

// Rate is the speed to expect of a pair, bits/s.
func (c *Context) Rate(task, node int) predict.Figure {
	if !c.known() {
		return predict.Figure{Value: defaultRate, Sigma: 1.5}
	}
	if c.look(task); c.row.has(node) {
		return c.row.rate[c.row.place[node].at]
	}
	return c.book.Rate(c.S.Nodes[node].Book, c.S.Tasks[task].Book, c.S.Now)
}

// mean is by how much the mean of a pair's leases is above their median, which is what the book tells of a speed.
func (c *Context) mean(f predict.Figure) float64 {
	if !c.known() || f.Source == predict.Stated {
		return 1
	}
	if c.above == 0 {
		c.above = math.Exp(c.book.Noise() / 2)
	}
	return c.above
}

// Useful is Rate, as leases have it on average, within what the pauses that the task's site asks for allow.
func (c *Context) Useful(task, node int) predict.Figure { return c.useful(task, c.Rate(task, node)) }

// useful is Useful of a pair whose Rate is at hand.
func (c *Context) useful(task int, f predict.Figure) predict.Figure {
	f.Value *= c.mean(f)
	if g := c.S.Tasks[task].Gap; g > 0 && c.known() {
		f.Value = min(f.Value, c.book.PageBits(c.S.Tasks[task].Book)/g)
	}
	return f
}

// Speed writes down Useful of a pair for whoever asks why: the speed that is expected of it, and what the site's pauses allow where
// that is less.
func (c *Context) Speed(task, node int, useful predict.Figure) {
	if c.rec == nil {
		return
	}
	rate := c.Rate(task, node)
	rate.Value *= c.mean(rate)
	less := useful.Value < rate.Value
	rate.Value /= mbit
	c.Note("speed", "Mbit/s", rate)
	if less {
		c.Know("the site's pauses allow", "Mbit/s", useful.Value/mbit)
	}
}

// defaultRate is what is expected of a pair where there is no book at all.
const defaultRate = 8e6

// Crawl is BC of a pair, bits/s.
func (c *Context) Crawl(task, node int) predict.Figure {
	if !c.known() {
		return predict.Figure{Value: defaultRate, Sigma: 1.5}
	}
	return c.book.Crawl(c.S.Nodes[node].Book, c.S.Tasks[task].Book, c.S.Now)
}

// Store is BS of a node, bits/s.
func (c *Context) Store(node int) predict.Figure {
	if !c.known() {
		return predict.Figure{Value: 10 * defaultRate, Sigma: 1.5}
	}
	if c.stores == nil {
		c.stores = make([]predict.Figure, len(c.S.Nodes))
		for i := range c.S.Nodes {
			c.stores[i] = c.book.Store(c.S.Nodes[i].Book)
		}
	}
	return c.stores[node]
}

// carries is what a node can take in, bits/s: its bandwidth, or that to its storage where that was measured and is less
// beyond doubt; 0 is not known.
func (c *Context) carries(node int) float64 {
	if c.carry == nil {
		c.carry = make([]float64, len(c.S.Nodes))
		for i := range c.S.Nodes {
			b := c.S.Nodes[i].Offer[Bandwidth]
			if s := c.Store(i); c.known() && s.Source == predict.Measured && (b <= 0 || s.Value*math.Exp(s.Sigma) < b) {
				b = s.Value
			}
			c.carry[i] = b
		}
	}
	return c.carry[node]
}

// Latency is the delay of a pair, ms.
func (c *Context) Latency(task, node int) predict.Figure {
	if !c.known() {
		return predict.Figure{Value: 100, Sigma: 1.5}
	}
	return c.book.Latency(c.S.Nodes[node].Book, c.S.Tasks[task].Book)
}

// priceOf is the price of a node's bandwidth in the last cycle, useful Mbit for one that it carries.
func (c *Context) priceOf(node int) float64 {
	if c.paid == nil {
		c.paid = c.before(func(m *Memory) map[string]float64 { return m.Bandwidth })
	}
	return c.paid[node]
}

// placeOf is the price of a place of a node in the last cycle, useful Mbit/s.
func (c *Context) placeOf(node int) float64 {
	if c.places == nil {
		c.places = c.before(func(m *Memory) map[string]float64 { return m.Slots })
	}
	return c.places[node]
}

// before returns the prices of the last cycle, in the order of the nodes: zeros if it has left none.
func (c *Context) before(of func(*Memory) map[string]float64) []float64 {
	out := make([]float64, len(c.S.Nodes))
	if c.S.Memory != nil {
		for i := range out {
			out[i] = of(c.S.Memory)[c.S.Nodes[i].ID]
		}
	}
	return out
}

// Success is the share of requests of a pair that give a page.
func (c *Context) Success(task, node int) predict.Figure {
	if !c.known() {
		return predict.Figure{Value: 0.8, Sigma: 0.2}
	}
	if c.look(task); c.row.has(node) {
		return c.row.served[c.row.place[node].at]
	}
	return c.book.Success(c.S.Nodes[node].Book, c.S.Tasks[task].Book, c.S.Now)
}

// BestSuccess is the largest share of requests that gives a page among a task's candidates.
func (c *Context) BestSuccess(task int) predict.Figure {
	if !c.known() {
		return predict.Figure{Value: 0.8, Sigma: 0.2}
	}
	c.look(task)
	return c.row.best
}

// numbers are the places of nodes in the snapshot.
func (c *Context) numbers() map[string]int {
	at := make(map[string]int, len(c.S.Nodes))
	for n := range c.S.Nodes {
		at[c.S.Nodes[n].ID] = n
	}
	return at
}

// Once returns a value that is made once a cycle.
func Once[T any](c *Context, key string, make func() T) T {
	if v, ok := c.cache[key]; ok {
		return v.(T)
	}
	v := make()
	if c.cache == nil {
		c.cache = map[string]any{}
	}
	c.cache[key] = v
	return v
}

// NotDraining filters out nodes that take no more.
var NotDraining = Filter{"draining", func(c *Context, _, node int) crawl.Verdict {
	if c.S.Nodes[node].Draining {
		return crawl.Verdict{Reason: ReasonDraining}
	}
	return crawl.Verdict{}
}}

// NotRecalled filters out the nodes that a task was recalled from, and those that are like the last of them, as long as
// there are others: a site that shuts out a region, or is far from it, does so for all its nodes. Of nodes that it was
// recalled from the one that was longest ago may try again first.
var NotRecalled = Filter{"recalled", func(c *Context, task, node int) crawl.Verdict {
	t := &c.S.Tasks[task]
	if len(t.Avoid) == 0 {
		return crawl.Verdict{}
	}
	mine := c.shunned(t, node)
	if mine == 0 {
		return crawl.Verdict{}
	}
	for i := range c.S.Nodes {
		if o := &c.S.Nodes[i]; !o.Draining && IsOfType(o.Labels, t.Type) && c.shunned(t, i) < mine {
			return crawl.Verdict{Reason: ReasonRecalled}
		}
	}
	return crawl.Verdict{}
}}

// shunned is how much a task would rather not go to a node: 0 not at all, 1 it is like the last that failed, more the
// more recently it failed itself.
func (c *Context) shunned(t *Task, node int) int {
	n := &c.S.Nodes[node]
	if i := slices.Index(t.Avoid, n.ID); i >= 0 {
		return 100 - i
	}
	for i := range c.S.Nodes {
		if o := &c.S.Nodes[i]; o.ID == t.Avoid[0] {
			if alike(o.Labels, n.Labels) {
				return 1
			}
			break
		}
	}
	return 0
}

// alike tells whether two nodes look alike from outside: the same region, or the same city and provider.
func alike(a, b map[string]string) bool {
	same := func(k string) bool { return a[k] != "" && a[k] == b[k] }
	return same("region") || same("city") && same("provider")
}

// TypeLabel is the label of a node that says of which type it is: of several with typesApart between them.
const (
	TypeLabel  = "type"
	typesApart = "+"
)

// IsOfType reports whether a node with such labels may have what is for nodes of a type; empty: for any.
func IsOfType(labels map[string]string, kind string) bool {
	if kind == "" {
		return true
	}
	is := labels[TypeLabel]
	return is == kind || strings.Contains(is, typesApart) && slices.Contains(strings.Split(is, typesApart), kind)
}

// DealTypes deals types out among nodes, so that each type has a node as far as one is without a label: it returns their labels, empty where
// there are no types. A label that a node has stays, and types that have a node by that come last.
func DealTypes(types []string, labels []string) []string {
	out := slices.Clone(labels)
	var free []int
	for i, label := range labels {
		if label == "" {
			free = append(free, i)
		}
	}
	missing := func(kind string) bool {
		return !slices.ContainsFunc(labels, func(label string) bool { return IsOfType(map[string]string{TypeLabel: label}, kind) })
	}
	order := slices.DeleteFunc(slices.Clone(types), func(kind string) bool { return !missing(kind) })
	least := len(order)
	order = append(order, slices.DeleteFunc(slices.Clone(types), missing)...)
	if len(free) == 0 || len(order) == 0 {
		return out
	}
	for i := range max(len(free), least) {
		own := &out[free[i%len(free)]]
		*own = strings.TrimPrefix(*own+typesApart+order[i%len(order)], typesApart)
	}
	return out
}

// RightType filters out nodes of another type than the task asks for.
var RightType = Filter{"type", func(c *Context, task, node int) crawl.Verdict {
	if t := c.S.Tasks[task].Type; !IsOfType(c.S.Nodes[node].Labels, t) {
		return crawl.Verdict{Reason: ReasonType, Detail: t}
	}
	return crawl.Verdict{}
}}

// AddressRests filters out nodes from whose address a task's site must not be asked now.
var AddressRests = Filter{"address", func(c *Context, task, node int) crawl.Verdict {
	if slices.Contains(c.S.Tasks[task].Shut, c.S.Nodes[node].ID) {
		return crawl.Verdict{Reason: ReasonPerSite, Detail: c.S.Tasks[task].Site}
	}
	return crawl.Verdict{}
}}

// Fits filters out nodes that have not enough left of what a task's job says it needs.
var Fits = Filter{"need", func(c *Context, task, node int) crawl.Verdict {
	if d := short(c.S.Tasks[task].Need, c.Left[node], c.S.Nodes[node].Offer); d >= 0 {
		return crawl.Verdict{Reason: ReasonNeed, Detail: dimensions[d]}
	}
	return crawl.Verdict{}
}}

// May reports whether a node may have a task, be there room or not.
func May(c *Context, task, node int) bool {
	for _, f := range []Filter{NotDraining, NotRecalled, RightType} {
		if !f.Check(c, task, node).OK() {
			return false
		}
	}
	return true
}

// Always are the filters that every strategy has, because Verify asks for them.
var Always = []Filter{NotDraining, NotRecalled, RightType, AddressRests, Fits}

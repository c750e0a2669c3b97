package schedule

import (
	"math"

	"argosy/internal/crawl"
	"argosy/internal/plan/solve"
)

// FlowConfig are the constants of the flow solver.
type FlowConfig struct {
	Candidates int     // nodes kept of each task, those where it gains most; 0 keeps all
	Fair       float64 // seconds of waiting after which a task counts double
	Width      float64 // of the logit by which tasks divide their time when nodes are priced, as a share of their best value
	Refresh    int64   // ms after which the costs of a waiting task are looked at again
	Learn      bool    // leases count what is learned by them, too
}

// Flow assigns all waiting tasks at once. Its objective is the useful megabits of all tasks, those that run and those that
// wait, in each second:
//
//	maximise Σ w·v·y over the shares y of their time that tasks spend with nodes, where
//	Σ y ≤ 1 for each task, Σ y ≤ its places for each node, and Σ u·y ≤ its bandwidth for each node.
//
// A pair's v is one over its cost, the seconds that a useful megabit takes there, all told: lost pages and moving are
// in it, and so is what the site itself allows. Its u is what it takes of the node's bandwidth, or of that to its storage
// where that is less, and of its requests at once: the greater share counts (where no bandwidth is known, the requests alone). The weight w of a task grows while it waits, so that nobody waits for ever. The
// program's dual is kept from cycle to cycle and brought up to date by Newton's method (solve.PriceShares); it prices
// each node's bandwidth and places. Tasks that wait then get the places that are free now by exact capacitated
// assignment of what they gain at these prices, what a lease teaches included (Learn); of a node whose bandwidth is given away more than what is left of it
// is not counted. A task waits only where it is worth less than the place it would take.
func Flow(cfg FlowConfig) Solver {
	return Solver{"priced flow", func(c *Context) []int {
		f := &flow{c: c, cfg: cfg, old: c.S.Memory}
		f.gather()
		f.price()
		out := f.assign()
		f.remember()
		return out
	}}
}

// flow is the state of one solution.
type flow struct {
	c      *Context
	cfg    FlowConfig
	old    *Memory
	tasks  []*kept
	weight []float64
	runs   int       // leases whose tasks are remembered
	fresh  int       // tasks whose costs were looked at
	same   bool      // the nodes are those of the last cycle
	blind  bool      // the first figures of all are under way
	cap    []float64 // what each node has of what is scarce: bandwidth, Mbit/s, or requests at once; 0 where neither is stated
	wide   []bool    // it is requests
	free   []float64
	paid   []float64 // price of what is scarce, for each node
	place  []float64 // price of a place

	scratch []float64
}

func (f *flow) gather() {
	c := f.c
	names := make([]string, len(c.S.Nodes))
	f.cap, f.wide = make([]float64, len(names)), make([]bool, len(names))
	for i, n := range c.S.Nodes {
		names[i] = n.ID
		if f.cap[i] = c.carries(i) / mbit; f.cap[i] <= 0 {
			f.cap[i], f.wide[i] = n.Requests, n.Requests > 0
		}
	}
	f.same = f.old != nil && f.old.of(c.S.Nodes)
	f.startPrices()
	f.blind = f.waits()
	blind := int64(0)
	if f.old != nil {
		blind = f.old.blind
	}
	if f.blind && blind == 0 {
		blind = c.S.Now
	}
	c.memory = &Memory{
		Slots: make(map[string]float64, len(names)), Bandwidth: make(map[string]float64, len(names)),
		kept: make(map[uint32]*kept, len(c.S.Tasks)), nodes: names, blind: blind,
	}
	f.tasks, f.weight = make([]*kept, len(c.S.Tasks)), make([]float64, len(c.S.Tasks))
	for t := range f.tasks {
		f.tasks[t] = f.cut(f.candidates(t), f.width(), int(c.S.Tasks[t].ID))
		f.weight[t] = 1
		if f.cfg.Fair > 0 {
			waited := math.Floor(float64(c.S.Now-c.S.Tasks[t].Since) / 1000 / waitSteps) // in steps, so that what has not changed is priced as it was
			f.weight[t] += max(0, waited) * waitSteps / f.cfg.Fair
		}
	}
	f.follow()
}

// follow says what each running lease takes of its node: what its task was thought to take there when it was given, or,
// where nothing was kept of that, what the book says, and says again when its model was fitted anew.
func (f *flow) follow() {
	c := f.c
	runs := c.past.runs
	if runs == nil { // of other nodes
		runs = make([]held, len(c.S.Running))
	}
	c.memory.runs = runs
	if c.known() {
		c.memory.fitted = c.book.Fitted()
	}
	again := f.old == nil || f.old.fitted != c.memory.fitted
	var at map[string]int
	for i := range runs {
		h, r := &runs[i], &c.S.Running[i]
		if h.lease == 0 {
			if at == nil {
				at = c.numbers()
			}
			*h = held{lease: r.Lease, task: r.Task, node: -1}
			if n, ok := at[r.Node]; ok {
				h.node, h.kept = int32(n), c.past.of(r.Task)
				f.takes(h, r)
			}
		} else if again && h.loose && h.node >= 0 {
			f.takes(h, r)
		}
		if h.kept != nil {
			f.runs++
		}
	}
	f.again()
}

// takes says what a lease takes of its node.
func (f *flow) takes(h *held, r *Running) {
	c, n := f.c, int(h.node)
	if r.Ping {
		return
	}
	if f.wide[n] {
		h.use = r.Width
		return
	}
	if h.kept != nil {
		if e := h.kept.index(h.node); e >= 0 {
			h.use = h.kept.use[e]
			return
		}
	}
	h.loose = true
	if f.cap[n] > 0 && c.known() {
		h.use = min(c.book.Rate(c.S.Nodes[n].Book, r.Book, c.S.Now).Value/mbit, f.cap[n])
	}
}

// least is what a lease takes of a node's bandwidth, and not less of that than it takes of the requests that the node makes at once: of
// a node whose bandwidth is known these are used up first where pages are small, or sites answer late.
func (f *flow) least(n int, width, use float64) float64 {
	if requests := f.c.S.Nodes[n].Requests; requests > 0 && f.cap[n] > 0 {
		use = max(use, f.cap[n]*min(1, width/requests))
	}
	return use
}

// waitSteps is in what steps waiting is counted, s.
const waitSteps = 15

// startPrices takes the prices of the last cycle, or none.
func (f *flow) startPrices() {
	n := len(f.c.S.Nodes)
	f.paid, f.place = make([]float64, n), make([]float64, n)
	if f.same {
		for i := range f.c.S.Nodes {
			f.paid[i], f.place[i] = f.old.Bandwidth[f.c.S.Nodes[i].ID], f.old.Slots[f.c.S.Nodes[i].ID]
		}
	}
}

// candidates returns a task's nodes, those of the last cycle if nothing has changed since. Where it is enough to look at
// those that were kept, it is so only as long as the best of them is better than what was left out.
func (f *flow) candidates(t int) *kept {
	c, task := f.c, &f.c.S.Tasks[t]
	version := uint32(0)
	if c.known() {
		version = c.book.Version(task.Book)
	}
	if f.same && c.rec == nil {
		if k := c.recalled(t); k != nil && c.S.Now-k.at < f.cfg.Refresh && k.version == version && len(task.Avoid) == 0 {
			return k
		}
	}
	if k := c.rests(t); k != nil {
		next := *k
		next.rested, next.at, next.version = k.rested+1, c.S.Now, version
		return &next
	}
	f.fresh++
	open := c.Candidates(t)
	k, old := f.weigh(t, open), c.recalled(t)
	if c.narrow[t] {
		k.looks, k.every, k.next = old.looks+1, old.every, old.next
		if best := f.best(k); best >= 0 && f.net(k, best) < k.next {
			k = f.weigh(t, c.widen(t))
		}
	} else if old != nil && c.rec == nil {
		if best := f.best(k); best >= 0 && old.index(k.node[best]) >= 0 {
			k.every = min(2*max(1, old.every), mostSparing)
		}
	}
	k.at, k.version = c.S.Now, version
	if best := f.best(k); best >= 0 && old != nil && c.S.Nodes[k.node[best]].ID == task.Last {
		k.same = old.same + 1
	}
	return k
}

// best returns the place of the node that brings a task most at the prices, -1 of none.
func (f *flow) best(k *kept) int {
	at := -1
	for i := range k.node {
		if at < 0 || f.net(k, i) > f.net(k, at) {
			at = i
		}
	}
	return at
}

// net is what a node of a task brings at the prices, what is learned there included.
func (f *flow) net(k *kept, i int) float64 {
	n := k.node[i]
	return k.value[i] + k.teaches(i) - f.paid[n]*k.use[i] - f.place[n]
}

// weigh says what a task is worth to nodes and takes of them.
func (f *flow) weigh(t int, open []int) *kept {
	c, task := f.c, &f.c.S.Tasks[t]
	k := newKept(len(open))
	for _, n := range open {
		x := c.Price(t, n)
		if math.IsInf(x, 1) {
			continue
		}
		v, use := 1/max(x, 1e-9), task.Width
		if !f.wide[n] {
			use = c.Useful(t, n).Value / mbit
			if f.cap[n] > 0 && use > f.cap[n] { // it is the node that limits
				v, use = v*f.cap[n]/use, f.cap[n]
			}
			use = f.least(n, task.Width, use)
		}
		k.node, k.value, k.use = append(k.node, int32(n)), append(k.value, v), append(k.use, use)
		k.best = max(k.best, v)
	}
	if f.learns() {
		f.teach(t, k)
	}
	return k
}

// mbit is the unit of speeds here, bits.
const mbit = 1e6

// sampled is how many tasks prices are made of at most, which then stand for all. Prices hold until a tenth of the tasks was
// looked at anew, or for FlowConfig.Refresh.
const sampled = 2500

// exactness of prices: no node is asked for more or less than it has by more than this share. steps bounds what a new
// fleet's prices may take, warmSteps what is spent where the last prices are nearly right.
const (
	exactness = 0.02
	steps     = 60
	warmSteps = 3
)

// price finds what nodes' bandwidth and places are worth, starting from the prices of the last cycle.
func (f *flow) price() {
	c := f.c
	f.free = append([]float64(nil), f.cap...)
	at := solve.Prices{Cap: f.paid, Places: f.place}
	all := f.runs + len(f.tasks)
	c.memory.priced, c.memory.fresh = c.S.Now, 0
	switch {
	case !f.same:
		at, _ = solve.PriceShares(f.program(), f.cfg.Width, exactness, solve.Prices{}, steps)
	case (f.fresh+f.old.fresh)*10 > all, c.S.Now-f.old.priced >= f.cfg.Refresh:
		at, _ = solve.PriceShares(f.program(), f.cfg.Width, exactness, at, warmSteps)
	default:
		c.memory.priced, c.memory.fresh = f.old.priced, f.old.fresh+f.fresh
	}
	f.paid, f.place = at.Cap, at.Places
	for i := range c.S.Nodes {
		c.memory.Bandwidth[c.S.Nodes[i].ID], c.memory.Slots[c.S.Nodes[i].ID] = f.paid[i], f.place[i]
	}
	f.deduct()
}

// program is the program of time shares of the tasks that run and wait. Of very many a sample stands for all.
func (f *flow) program() *solve.Shares {
	c := f.c
	all := f.runs + len(f.tasks)
	stride := max(1, all/sampled)
	p := &solve.Shares{Start: []int32{0}, Cap: make([]float64, len(f.cap)), Places: make([]float64, len(f.cap))}
	for i, x := range f.cap {
		p.Cap[i], p.Places[i] = math.Inf(1), math.Inf(1)
		if x > 0 {
			p.Cap[i] = x / float64(stride)
		}
		if places := c.S.Nodes[i].Capacity; places < all { // else there are enough
			p.Places[i] = float64(places) / float64(stride)
		}
	}
	of := f.sample(int(c.S.Now/1000)%stride, stride)
	pairs := 0
	for i := range of {
		pairs += len(of[i].node)
	}
	p.Bin, p.Value, p.Use = make([]int32, 0, pairs), make([]float64, 0, pairs), make([]float64, 0, pairs)
	for i := range of {
		p.Bin, p.Use = append(p.Bin, of[i].node...), append(p.Use, of[i].use...)
		for _, v := range of[i].value {
			p.Value = append(p.Value, of[i].weight*v)
		}
		p.Start = append(p.Start, int32(len(p.Bin)))
	}
	return p
}

// weighed is a task with its weight.
type weighed struct {
	*kept
	weight float64
}

// sample is each so many-th of all tasks, from the first on: of those that run at each node, as many as there are stand for
// all, and of those that wait.
func (f *flow) sample(first, stride int) []weighed {
	var out []weighed
	turn := make([]int, len(f.cap)+1)
	for n := range turn {
		turn[n] = (first + n) % stride
	}
	add := func(n int, k *kept, weight float64) {
		if turn[n] == 0 {
			out = append(out, weighed{k, weight})
			turn[n] = stride
		}
		turn[n]--
	}
	for i := range f.c.memory.runs {
		if h := &f.c.memory.runs[i]; h.kept != nil {
			add(int(h.node), h.kept, 1)
		}
	}
	for i, k := range f.tasks {
		add(len(f.cap), k, f.weight[i])
	}
	return out
}

// deduct takes what running leases use off the nodes' bandwidth. How late a site answers is known better than when its lease was given.
func (f *flow) deduct() {
	for i := range f.c.memory.runs {
		h, r := &f.c.memory.runs[i], &f.c.S.Running[i]
		if h.node >= 0 && f.cap[h.node] > 0 && !r.Ping {
			f.free[h.node] -= f.least(int(h.node), r.Width, h.use)
		}
	}
}

// crowded is how much less a full node is worth than an empty one where its bandwidth is not known: nodes that seem alike
// share the work, one that is better by more takes it until it is full.
const crowded = 0.2

// gain is what the i-th of its nodes brings a task beyond what it pays there. Bandwidth that is free is worth taking even
// where all of it is sold at its full value; the logit's width is how far the price may be above that. Of a node that has less left than the task
// would take, the rest would only be taken from the leases that run there; where nothing is left anywhere the least
// crowded is a little better than the others.
func (f *flow) gain(t, i int) float64 {
	k := f.tasks[t]
	n := k.node[i]
	v := f.weight[t] * (k.value[i] + k.teaches(i))
	if f.cap[n] <= 0 {
		return v - f.place[n]
	}
	if f.wide[n] {
		v *= 1 - crowded*(1-min(1, max(0, f.free[n]/f.cap[n])))
	}
	g := max(v-f.paid[n]*k.use[i], f.cfg.Width*v)
	if f.free[n] < k.use[i] {
		g *= max(0, f.free[n]) / k.use[i]
	}
	return g - f.place[n] + evenly*v*f.room(int(n), k.use[i])
}

// evenly is how much of its value a task gives up, at most, for a node with more room: only where nodes are worth the same.
const evenly = 1e-4

// room is how little crowded a node would be with a task that takes use of it: 2 if it is empty, 1 if that makes it full, and the share
// that is had of what is wanted where more is.
func (f *flow) room(n int, use float64) float64 {
	has := f.cap[n]
	wanted := has - min(f.free[n], has) + use
	return min(1, has/wanted) + max(0, 1-wanted/has)
}

// scarce is how much more than its value a place must cost for a task rather to wait: so far may the logit's prices be
// above those of the program (solve.PriceShares), and exactness comes on top.
func (f *flow) scarce() float64 { return (1 + 8*f.cfg.Width) * (1 + exactness) }

// assign gives the places that are free now to tasks.
func (f *flow) assign() []int {
	c := f.c
	p := solve.Capacitated{Cap: make([]int, len(c.S.Nodes)), Start: make([]int32, 1, len(f.tasks)+1)}
	enough := true // every node has room for all
	for i, n := range c.S.Nodes {
		p.Cap[i] = max(0, n.Capacity-n.Running)
		enough = enough && p.Cap[i] >= len(f.tasks)
	}
	pairs := 0
	for _, k := range f.tasks {
		pairs += len(k.node)
	}
	p.Bin, p.Cost = make([]int32, 0, pairs), make([]float64, 0, pairs)
	scarce := f.scarce()
	for t := range f.tasks {
		k := f.tasks[t]
		for i, n := range k.node {
			if f.weight[t]*k.value[i]*scarce >= f.place[n] {
				p.Bin, p.Cost = append(p.Bin, n), append(p.Cost, -f.gain(t, i))
			}
		}
		p.Start = append(p.Start, int32(len(p.Bin)))
	}
	out := make([]int, len(f.tasks))
	for t := range out {
		out[t] = -1
	}
	chosen := make([]int32, len(f.tasks))
	for t := range chosen {
		chosen[t] = -1
	}
	if !enough {
		a, err := solve.AssignCapacitated(p)
		if err != nil {
			return out
		}
		chosen = a.Bin
	}
	if f.blind {
		for t := range out {
			c.Wait(t, crawl.Verdict{Reason: ReasonBlind})
		}
		return out
	}
	welcomed := f.welcome()
	for t := range out {
		if w, ok := welcomed[t]; ok {
			out[t] = w
		} else if chosen[t] >= 0 || enough {
			out[t] = f.settle(t, int(chosen[t]), &p)
		}
	}
	for t := range out { // places that were left free by tasks that did not fit
		if out[t] < 0 && chosen[t] >= 0 {
			out[t] = f.settle(t, -1, &p)
		}
	}
	for t := range out {
		if out[t] < 0 && !enough {
			out[t] = f.fill(t)
		}
	}
	return out
}

// fill gives a task that waits a place that nobody has taken at its price, where nothing that the task could wait for is worth more:
// in the program only a place that is full has a price, and the logit's prices of nodes that are slow by orders of magnitude
// are made by the width of tasks that are fast elsewhere. It returns -1 if the task waits.
func (f *flow) fill(t int) int {
	k := f.tasks[t]
	at, best, wait := -1, 0.0, 0.0
	for i, n := range k.node {
		v := f.weight[t] * k.value[i]
		wait = max(wait, v-f.paid[n]*k.use[i]-f.place[n])
		if v > best && fitsNow(f.c, t, int(n)) && (f.cap[n] <= 0 || f.free[n] >= k.use[i]) {
			at, best = i, v
		}
	}
	if at < 0 || best < wait {
		return -1
	}
	n := int(k.node[at])
	f.free[n] -= k.use[at]
	f.c.Take(t, n)
	return n
}

// settle takes the node that the assignment chose, or another with room where what is left of bandwidth makes it better.
func (f *flow) settle(t, chosen int, p *solve.Capacitated) int {
	k := f.tasks[t]
	at, best := -1, math.Inf(-1)
	if chosen >= 0 && fitsNow(f.c, t, chosen) {
		at = k.index(int32(chosen))
		best = f.gain(t, at)
	}
	if at < 0 || f.cap[k.node[at]] > 0 {
		j, end := p.Start[t], p.Start[t+1]
		for i, n := range k.node {
			if j == end || p.Bin[j] != n {
				continue
			}
			listed := -p.Cost[j] // it brings no more by now: what was free is taken
			if j++; listed <= best {
				continue
			}
			if g := f.gain(t, i); g > best && fitsNow(f.c, t, int(n)) {
				at, best = i, g
			}
		}
	}
	if at < 0 {
		return -1
	}
	n := int(k.node[at])
	f.free[n] -= k.use[at]
	f.c.Take(t, n)
	return n
}

func (f *flow) remember() {
	for t := range f.tasks {
		f.c.memory.kept[f.c.S.Tasks[t].ID] = f.cut(f.tasks[t], f.cfg.Candidates, int(f.c.S.Tasks[t].ID))
	}
}

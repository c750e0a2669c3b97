package schedule

import (
	"math"
	"slices"
	"sort"

	"argosy/internal/plan/solve"
)

// FlowConfig are the constants of the flow solver.
type FlowConfig struct {
	Candidates int     // cheapest nodes kept of each task; 0 keeps all
	Floor      float64 // share of its best node's speed that a task waits for when it is fresh
	Patience   float64 // seconds in which that share falls to a third
	Refresh    int64   // ms after which the costs of a waiting task are looked at again
}

// Flow assigns all waiting tasks at once: a min-cost flow from tasks to places at nodes, by exact capacitated
// assignment, with prices for the nodes' bandwidth beside it. The cost of a pair is in seconds for each megabit of
// pages, so its inverse is a speed; what counts is the speed a task gets as a share of the best it could get, more the
// longer it has waited. A task rather waits a little than goes to a node that is much worse than its best.
func Flow(cfg FlowConfig) Solver {
	return Solver{"min-cost flow", func(c *Context) []int {
		f := &flow{c: c, cfg: cfg, old: c.S.Memory}
		f.gather()
		f.priceBandwidth()
		out := f.assign()
		f.remember(out)
		return out
	}}
}

// kept are a task's cheapest nodes.
type kept struct {
	node    []int32
	cost    []float64 // seconds a useful megabit
	speed   []float64 // Mbit/s that it would take of the node's bandwidth
	best    float64
	at      int64
	version uint32 // of what is known of the site
}

// flow is the state of one solution.
type flow struct {
	c     *Context
	cfg   FlowConfig
	old   *Memory
	tasks []kept
	runs  []kept    // of running leases, where they are remembered
	fresh int       // tasks whose costs were looked at
	same  bool      // the nodes are those of the last cycle
	cap   []float64 // what each node has of what is scarce: bandwidth, Mbit/s, or requests at once; 0 where neither is stated
	wide  []bool    // it is requests
	free  []float64
	price []float64 // of what is scarce, for each node
}

func (f *flow) gather() {
	c := f.c
	names := make([]string, len(c.S.Nodes))
	f.cap, f.wide = make([]float64, len(names)), make([]bool, len(names))
	for i, n := range c.S.Nodes {
		names[i] = n.ID
		if f.cap[i] = n.Offer[Bandwidth] / mbit; f.cap[i] <= 0 {
			f.cap[i], f.wide[i] = n.Requests, n.Requests > 0
		}
	}
	f.same = f.old != nil && slices.Equal(f.old.nodes, names)
	c.memory = &Memory{
		Slots: make(map[string]float64, len(names)), Bandwidth: make(map[string]float64, len(names)),
		kept: make(map[uint32]kept, len(c.S.Tasks)+len(c.S.Running)), nodes: names,
	}
	f.tasks = make([]kept, len(c.S.Tasks))
	for t := range f.tasks {
		f.tasks[t] = f.candidates(t)
	}
	if f.same {
		for i := range c.S.Running {
			if k, ok := f.old.kept[c.S.Running[i].Task]; ok {
				f.runs = append(f.runs, k)
				c.memory.kept[c.S.Running[i].Task] = k
			}
		}
	}
}

// candidates returns a task's cheapest nodes, those of the last cycle if nothing has changed since.
func (f *flow) candidates(t int) kept {
	c, task := f.c, &f.c.S.Tasks[t]
	version := uint32(0)
	if c.known() {
		version = c.book.Version(task.Book)
	}
	if f.same && c.rec == nil {
		if k, ok := f.old.kept[task.ID]; ok && c.S.Now-k.at < f.cfg.Refresh && k.version == version && len(task.Avoid) == 0 {
			return k
		}
	}
	f.fresh++
	k := kept{best: math.Inf(1), at: c.S.Now, version: version}
	for _, n := range c.Candidates(t) {
		x := c.Price(t, n)
		if math.IsInf(x, 1) {
			continue
		}
		speed := task.Width
		if !f.wide[n] {
			speed = c.Rate(t, n).Value / mbit
			if f.cap[n] > 0 {
				speed = min(speed, f.cap[n])
			}
		}
		k.node, k.cost, k.speed = append(k.node, int32(n)), append(k.cost, max(x, 1e-9)), append(k.speed, speed)
		k.best = min(k.best, max(x, 1e-9))
	}
	if f.cfg.Candidates > 0 && len(k.node) > f.cfg.Candidates {
		k.cut(f.cfg.Candidates)
	}
	return k
}

// cut keeps the n cheapest, in the order of nodes.
func (k *kept) cut(n int) {
	sorted := append([]float64(nil), k.cost...)
	sort.Float64s(sorted)
	limit, at := sorted[n-1], 0
	for i, x := range k.cost {
		if x <= limit && at < n {
			k.node[at], k.cost[at], k.speed[at] = k.node[i], x, k.speed[i]
			at++
		}
	}
	k.node, k.cost, k.speed = k.node[:at:at], k.cost[:at:at], k.speed[:at:at]
}

// mbit is the unit of speeds here, bits.
const mbit = 1e6

// priceBandwidth finds what a node's bandwidth is worth: the prices at which the tasks that run and wait, each where it
// gains most, ask of no node more than it has. It starts from the prices of the last cycle and follows the
// subgradient of the linear program's dual.
func (f *flow) priceBandwidth() {
	c := f.c
	n := len(c.S.Nodes)
	f.price, f.free = make([]float64, n), make([]float64, n)
	limited := false
	for i := range c.S.Nodes {
		node := &c.S.Nodes[i]
		f.free[i] = f.cap[i]
		limited = limited || f.free[i] > 0
		if f.old != nil {
			f.price[i] = f.old.Bandwidth[node.ID]
		}
	}
	if !limited {
		if f.old != nil {
			c.memory.priced = f.old.priced
		}
		return
	}
	all := append(append([]kept(nil), f.runs...), f.tasks...)
	c.memory.priced = c.S.Now
	switch {
	case !f.same:
		f.descend(all, 60, 0.3, true)
	case c.S.Now-f.old.priced >= repriceMS || f.fresh*20 > len(all):
		f.descend(all, 1+15*f.fresh/max(1, len(all)), 0.05, false)
	default:
		c.memory.priced = f.old.priced
	}
	for i, x := range f.price {
		c.memory.Bandwidth[c.S.Nodes[i].ID] = x
	}
	f.deduct()
}

// repriceMS is how long the prices of bandwidth hold where little has changed; sampled is how many tasks are asked for
// them at most.
const (
	repriceMS = 1000
	sampled   = 2500
)

// descend follows the subgradient for some rounds: a node that is asked for more than it has gets dearer. Of very many
// tasks a sample stands for all.
func (f *flow) descend(all []kept, rounds int, step float64, cool bool) {
	use := make([]float64, len(f.price))
	stride := max(1, len(all)/sampled)
	for k := range rounds {
		clear(use)
		for i := k % stride; i < len(all); i += stride {
			if at, speed := f.pick(&all[i]); at >= 0 {
				use[at] += speed * float64(stride)
			}
		}
		by := step
		if cool {
			by /= math.Sqrt(float64(k + 1))
		}
		for i, c := range f.free {
			if c > 0 {
				f.price[i] = min(0.98, max(0, f.price[i]+by*min(2, use[i]/c-1)))
			}
		}
	}
}

// deduct takes what running leases use off the nodes' bandwidth.
func (f *flow) deduct() {
	at := make(map[string]int, len(f.c.S.Nodes))
	for i := range f.c.S.Nodes {
		at[f.c.S.Nodes[i].ID] = i
	}
	for i := range f.c.S.Running {
		r := &f.c.S.Running[i]
		n, ok := at[r.Node]
		if !ok || f.cap[n] <= 0 {
			continue
		}
		if f.wide[n] {
			f.free[n] -= r.Width
			continue
		}
		if k, ok := f.c.memory.kept[r.Task]; ok {
			if e := k.index(int32(n)); e >= 0 {
				f.free[n] -= k.speed[e]
				continue
			}
		}
		if f.c.known() {
			f.free[n] -= min(f.c.book.Rate(f.c.S.Nodes[n].Book, r.Book, f.c.S.Now).Value, f.c.S.Nodes[n].Offer[Bandwidth]) / mbit
		}
	}
}

func (k *kept) index(node int32) int {
	for i, n := range k.node {
		if n == node {
			return i
		}
	}
	return -1
}

// pick returns where a task gains most at the present prices, and what it takes of that node's bandwidth.
func (f *flow) pick(k *kept) (at int, speed float64) {
	best := 0.0
	at = -1
	for i, n := range k.node {
		if g := (1 - f.price[n]) / k.cost[i]; g > best {
			best, at, speed = g, int(n), k.speed[i]
		}
	}
	return at, speed
}

// gain is the useful speed that giving a task to the i-th of its nodes adds, less what the node's bandwidth is worth
// elsewhere. Where less is free than the task would take, the rest would only be taken from the leases that run there.
func (f *flow) gain(k *kept, i int) float64 {
	n := k.node[i]
	g := (1 - f.price[n]) / k.cost[i]
	if f.cap[n] > 0 && f.free[n] < k.speed[i] {
		g *= max(f.free[n]/k.speed[i], 0.02)
	}
	if f.wide[n] {
		g *= 1 - crowded*(1-min(1, max(0, f.free[n]/f.cap[n])))
	}
	return g
}

// crowded is how much less a full node is worth than an empty one where its bandwidth is not known: nodes that seem alike
// share the work, one that is better by more takes it until it is full.
const crowded = 0.2

// assign gives places to tasks, then looks once more at bandwidth, which the places know nothing of.
func (f *flow) assign() []int {
	c := f.c
	p := solve.Capacitated{Cap: make([]int, len(c.S.Nodes)), Start: make([]int32, 1, len(f.tasks)+1), Alone: make([]float64, len(f.tasks))}
	for i, n := range c.S.Nodes {
		p.Cap[i] = max(0, n.Capacity-n.Running)
		if f.same && c.memory.priced == f.old.priced { // after a new pricing the old ones mislead
			p.Prices = append(p.Prices, f.old.Slots[n.ID])
		}
	}
	for t := range f.tasks {
		k := &f.tasks[t]
		age := max(0, float64(c.S.Now-c.S.Tasks[t].Since)/1000)
		weight := 1 + math.Floor(age/30)/2 // in steps, so that what has not changed costs what it did
		floor := f.cfg.Floor * math.Exp(-age/f.cfg.Patience)
		for i, n := range k.node {
			share := f.gain(k, i) * k.best
			if k.best/k.cost[i] >= floor {
				p.Bin, p.Cost = append(p.Bin, n), append(p.Cost, -weight*(share+1e-6))
			}
		}
		p.Start = append(p.Start, int32(len(p.Bin)))
	}
	out := make([]int, len(f.tasks))
	a, err := solve.AssignCapacitated(p)
	if err != nil {
		for t := range out {
			out[t] = -1
		}
		return out
	}
	for i, x := range a.Prices {
		c.memory.Slots[c.S.Nodes[i].ID] = x
	}
	welcomed := f.welcome()
	for t, n := range a.Bin {
		out[t] = -1
		if w, ok := welcomed[t]; ok {
			out[t] = w
		} else if n >= 0 {
			out[t] = f.settle(t, int(n), &p)
		}
	}
	for t := range out { // places that were left free by tasks that did not fit
		if out[t] < 0 && a.Bin[t] >= 0 {
			out[t] = f.settle(t, -1, &p)
		}
	}
	return out
}

// welcome gives each node that was never tried one task, that which loses least by it: nothing else tells what the node
// is worth, and one task is a small price.
func (f *flow) welcome() map[int]int {
	c := f.c
	given := map[int]int{}
	for n := range c.S.Nodes {
		if !c.S.Nodes[n].Untried || c.Load[n] > 0 {
			continue
		}
		task, at, best := -1, 0, 0.0
		for t := range f.tasks {
			k := &f.tasks[t]
			i := k.index(int32(n))
			if _, taken := given[t]; taken || i < 0 || !fitsNow(c, t, n) {
				continue
			}
			if share := k.best / k.cost[i]; share > best {
				task, at, best = t, i, share
			}
		}
		if task >= 0 {
			given[task] = n
			f.free[n] -= f.tasks[task].speed[at]
			c.Take(task, n)
		}
	}
	return given
}

// settle takes the node that the flow chose, or another with room where what is left of bandwidth makes it better.
func (f *flow) settle(t, chosen int, p *solve.Capacitated) int {
	k := &f.tasks[t]
	at, best := -1, 0.0
	if chosen >= 0 && fitsNow(f.c, t, chosen) {
		at = k.index(int32(chosen))
		best = f.gain(k, at) * 1.02 // to change for less is not worth it
	}
	if at < 0 || f.cap[k.node[at]] > 0 {
		allowed := p.Bin[p.Start[t]:p.Start[t+1]]
		for i, n := range k.node {
			if g := f.gain(k, i); g > best && fitsNow(f.c, t, int(n)) && slices.Contains(allowed, n) {
				at, best = i, g
			}
		}
	}
	if at < 0 {
		return -1
	}
	n := int(k.node[at])
	f.free[n] -= k.speed[at]
	f.c.Take(t, n)
	return n
}

func (f *flow) remember(out []int) {
	for t := range out {
		f.c.memory.kept[f.c.S.Tasks[t].ID] = f.tasks[t]
	}
}

package schedule

import (
	"math"
)

// remembered is for how long what is learned of a pair is thought to be of use at most, s, where a task has no end: how long a crawl goes on
// nobody knows. Of 600 and 1,800 it does better in most kinds of worlds (those that constants are chosen on).
const remembered = 600

// usedFor is for how long what is learned of a task's pairs is of use, s, where it collects so many bits a second at best: as long as
// the measurement speaks for its pair, and there is something left. Of a site that nobody has seen its first lease tells how much there is.
func (c *Context) usedFor(t int, best float64) float64 {
	holds := min(remembered, c.book.Holds())
	switch x := c.S.Tasks[t].Bits; {
	case x > 0:
		holds = min(holds, x/best)
	case c.S.LeaseSeconds > 0:
		holds = min(holds, c.S.LeaseSeconds)
	}
	return holds
}

// learns reports whether leases count what they teach: where they end before that is of no more use.
func (f *flow) learns() bool {
	c := f.c
	return f.cfg.Learn && c.known() && c.S.LeaseSeconds > 0 && c.S.LeaseSeconds < remembered
}

// teach says what it is worth to learn, by a lease, what each of a task's nodes is like, at the prices of the last cycle.
//
// A node of value v is unsure by σ. Once it is known better the task has the better of it and of the best of the others: on average
// the expected improvement over that, or, of the node that is the best, over the second. That is had for as long as what is learned is of use,
// after the lease, and is counted as if it were collected during the lease (knowledge gradient: Frazier, Powell and Dayanik, 2008). A node whose own line
// is the limit teaches nothing that could be of use beyond that.
func (f *flow) teach(t int, k *kept) {
	c := f.c
	if k.best <= 0 {
		return
	}
	first, second, best := 0.0, 0.0, -1 // waiting is worth 0
	for i := range k.node {
		if x := f.net(k, i); x > first {
			first, second, best = x, first, i
		} else {
			second = max(second, x)
		}
	}
	times := c.usedFor(t, k.best*mbit)/c.S.LeaseSeconds - 1
	if times <= 0 {
		return
	}
	noise := c.book.Noise()
	c.look(t)
	k.more = append(k.more[:0], make([]float64, len(k.node))...)
	for i, n := range k.node {
		at := c.row.place[n].at
		rate, ok := &c.row.rate[at], &c.row.served[at]
		square := rate.Sigma*rate.Sigma + ok.Sigma*ok.Sigma/max(1e-9, ok.Value*ok.Value)
		mean := k.value[i] - f.paid[n]*k.use[i]
		if square <= 0 || mean <= 0 {
			continue
		}
		sigma := square / math.Sqrt(square+noise) // how far one lease moves the figure
		over, gain, most := first+f.place[n], 0.0, math.Inf(1)
		if full := f.cap[n]; full > 0 && !f.wide[n] { // the node brings no more than it carries, however fast the pair turns out to be
			most = mean * max(1, full/k.use[i])
			mean *= max(1, c.useful(t, *rate).Value/mbit/full)
		}
		switch {
		case i == best:
			over = second + f.place[n]
			gain = over - mean
		case most <= over:
			continue
		case !math.IsInf(most, 1):
			gain = -improvementOfMean(mean, sigma, most)
		}
		gain += improvementOfMean(mean, sigma, over)
		k.more[i] = max(0, gain) * times
		if c.rec != nil && k.more[i] > evenly*k.value[i] { // else it decides nothing
			c.rec.add(t, int(n), "learning", "Mbit/s", k.more[i])
		}
	}
}

// welcomes is which share of what all tasks bring may be lost, in one cycle, to see what nodes are worth that were never tried.
const welcomes = 0.05

// welcome gives each node that was never tried one task, that which loses least by it: nothing else tells what the node
// is worth, one task of many is a small price, and who starts a node expects it to work. Of few tasks one is not: they go to new
// nodes that promise as much as the others.
func (f *flow) welcome() map[int]int {
	c := f.c
	given := map[int]int{}
	may := welcomes * f.all()
	for n := range c.S.Nodes {
		if !c.S.Nodes[n].Untried || c.Load[n] > 0 {
			continue
		}
		task, at, best := -1, 0, 0.0
		for t := range f.tasks {
			k := f.tasks[t]
			i := k.index(int32(n))
			if _, taken := given[t]; taken || i < 0 || !fitsNow(c, t, n) {
				continue
			}
			if share := k.value[i] / k.best; share > best {
				task, at, best = t, i, share
			}
		}
		if task < 0 {
			continue
		}
		k := f.tasks[task]
		if lost := k.best - k.value[at]; lost <= may {
			may -= lost
			given[task] = n
			f.free[n] -= k.use[at]
			c.Take(task, n)
		}
	}
	return given
}

// all is what the tasks that run and wait would bring, each where it brings most, useful Mbit/s.
func (f *flow) all() (sum float64) {
	for _, k := range f.tasks {
		sum += k.best
	}
	for i := range f.c.memory.runs {
		if k := f.c.memory.runs[i].kept; k != nil {
			sum += k.best
		}
	}
	return sum
}

// blindMost is for which share of a lease's time tasks wait for the first figures of all at most, blindSeconds for how long.
const (
	blindMost    = 1.0 / 6
	blindSeconds = 5
)

// waits reports whether tasks had better wait for the first figures of all, which are under way: before there are any nodes seem alike, how much
// a site takes of a node is a guess, and a lease lasts many times as long as the first probes.
func (f *flow) waits() bool {
	c := f.c
	if !f.learns() || len(c.S.Nodes) < 2 || !c.book.Blind() {
		return false
	}
	if f.old != nil && f.old.blind > 0 && float64(c.S.Now-f.old.blind)/1000 >= min(blindSeconds, blindMost*c.S.LeaseSeconds) {
		return false
	}
	for i := range c.S.Running {
		if !c.S.Running[i].Ping {
			return true
		}
	}
	return false
}

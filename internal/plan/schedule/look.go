package schedule

import (
	"math"

	"argosy/internal/plan/predict"
)

// row holds what the book says of one task and its candidates, by their numbers among the snapshot's nodes.
type row struct {
	task   int
	turn   int
	turns  []int // in which turn a node's figures were filled in
	rate   []predict.Figure
	served []predict.Figure
	best   predict.Figure // largest share of requests that give a page
}

func (r *row) has(node int) bool { return r.turns[node] == r.turn }

// look makes row that of a task.
func (c *Context) look(task int) {
	r := &c.row
	if r.task == task {
		return
	}
	if r.turns == nil {
		n := len(c.S.Nodes)
		r.turns, r.rate, r.served = make([]int, n), make([]predict.Figure, n), make([]predict.Figure, n)
	}
	open := c.Candidates(task) // which may leave no task's row
	r.task, r.best = task, predict.Figure{}
	r.turn++
	t := &c.S.Tasks[task]
	f := c.figures.of(t.ID, open)
	if f == nil {
		f = c.figures.add(t.ID, open)
		for k, n := range open {
			f.book[k] = int32(c.S.Nodes[n].Book)
		}
		c.book.Rates(t.Book, c.S.Now, f.book, f.rate)
		c.book.Successes(t.Book, c.S.Now, f.book, f.served)
	}
	for k, n := range open {
		r.turns[n], r.rate[n], r.served[n] = r.turn, f.rate[k], f.served[k]
		if f.served[k].Value > r.best.Value {
			r.best = f.served[k]
		}
	}
}

// figures are what the book says of tasks and their candidates. A snapshot carries them from the planning of its probes to
// that of its leases: nothing is learned in between.
type figures struct {
	book  *predict.Book
	tasks map[uint32]*seen
	pairs int
	spare seen // of what is not kept

	numbers []int32 // what is left of the last slab
	values  []predict.Figure

	memory  *Memory // what the last cycle left, which the next two are of
	past    *past   // of so many leases; nil: it was handed on
	leases  int
	resting map[uint32]*kept // tasks that need no look
}

// seen are a task's figures, in the order of its candidates.
type seen struct {
	open   []int
	book   []int32
	rate   []predict.Figure
	served []predict.Figure
}

// keptPairs is of how many pairs a snapshot keeps figures, 52 bytes each.
const keptPairs = 200_000

// of returns the figures of a task and its candidates, nil if they are not there.
func (f *figures) of(task uint32, open []int) *seen {
	if f == nil {
		return nil
	}
	s := f.tasks[task]
	if s == nil || len(s.open) != len(open) {
		return nil
	}
	for k, n := range open {
		if s.open[k] != n {
			return nil
		}
	}
	return s
}

// add makes room for a task's figures; where no more are kept it is the same room each time.
func (f *figures) add(task uint32, open []int) *seen {
	n := len(open)
	if f != nil && f.pairs+n <= keptPairs {
		f.pairs += n
		s := f.room(n)
		s.open = open
		f.tasks[task] = s
		return s
	}
	s := &seen{}
	if f != nil {
		s = &f.spare
	}
	if cap(s.book) < n {
		s.book, s.rate, s.served = make([]int32, n), make([]predict.Figure, n), make([]predict.Figure, n)
	}
	s.book, s.rate, s.served = s.book[:n], s.rate[:n], s.served[:n]
	return s
}

// slab is for how many pairs room is made at a time.
const slab = 4096

// room is that of a task with so many candidates, of which many share one piece of memory.
func (f *figures) room(n int) *seen {
	if len(f.numbers) < n {
		f.numbers, f.values = make([]int32, max(slab, n)), make([]predict.Figure, 2*max(slab, n))
	}
	s := &seen{book: f.numbers[:n:n], rate: f.values[:n:n], served: f.values[n : 2*n : 2*n]}
	f.numbers, f.values = f.numbers[n:], f.values[2*n:]
	return s
}

// of reports whether a memory is of the same nodes.
func (m *Memory) of(nodes []Node) bool {
	if len(m.nodes) != len(nodes) {
		return false
	}
	for i := range nodes {
		if m.nodes[i] != nodes[i].ID {
			return false
		}
	}
	return true
}

// held is what a running lease takes of its node, and what was kept of its task.
type held struct {
	lease uint64
	kept  *kept // nil: nothing was
	use   float64
	task  uint32
	node  int32 // among the snapshot's; -1: it is not there
	loose bool  // use is not from what was kept
}

// past is what the last cycle kept, as it concerns the tasks and leases of this one.
type past struct {
	kept  map[uint32]*kept // of tasks that waited
	ended map[uint32]*kept // of tasks whose leases have ended since
	runs  []held           // of the leases that run, in their order; those whose lease is 0 are new
}

// recall tells which leases of the last cycle still run, of a memory of the same nodes.
func (m *Memory) recall(running []Running) past {
	p := past{kept: m.kept, ended: make(map[uint32]*kept, max(0, len(m.runs)-len(running))), runs: make([]held, len(running))}
	i := 0
	for at := range running {
		id := running[at].Lease
		for ; i < len(m.runs) && m.runs[i].lease < id; i++ {
			p.ended[m.runs[i].task] = m.runs[i].kept
		}
		if id != 0 && i < len(m.runs) && m.runs[i].lease == id {
			p.runs[at] = m.runs[i]
			i++
		}
	}
	for ; i < len(m.runs); i++ {
		p.ended[m.runs[i].task] = m.runs[i].kept
	}
	return p
}

// of returns what was kept of a task, nil for nothing.
func (p *past) of(task uint32) *kept {
	if k := p.kept[task]; k != nil {
		return k
	}
	return p.ended[task]
}

// enough reports whether the nodes that were kept of a task are enough to look at: where they are less than half of all,
// until looking at them has taken as long as a look at all. Among equal nodes half of the time goes into each, and what was
// learned meanwhile of the others is seen after a few leases. Each time that a look at all finds the best among those that
// were kept, the next may come half as often.
func (k *kept) enough(nodes int) bool {
	return k != nil && len(k.node) > 0 && 2*len(k.node) <= nodes && (k.looks+1)*len(k.node) <= nodes*max(1, k.every)
}

// mostSparing is how many times rarer than at first all nodes of a task, and those that were kept, are looked at, at most.
const mostSparing = 8

// rests returns what was kept of a task where that is enough, without a look: of very many tasks, where half of the nodes or less are
// kept, of a task that has just been where the last looks found it best, as many leases as looks have found so, and if what it had there is
// what was expected within two standard deviations of a lease. nil: it is to be looked at.
func (c *Context) rests(task int) *kept {
	t := &c.S.Tasks[task]
	if c.through || c.rec != nil || !c.known() || len(t.Avoid) > 0 || len(c.S.Tasks)+len(c.S.Running) < sampled {
		return nil
	}
	known := c.figures != nil && c.figures.memory == c.S.Memory
	if known && c.figures.resting[t.ID] != nil {
		return c.figures.resting[t.ID]
	}
	k := c.past.of(t.ID)
	if k == nil || k.rested >= min(k.same, mostSparing-1) || 2*len(k.node) > len(c.S.Nodes) {
		return nil
	}
	for i, n := range k.node {
		if node := &c.S.Nodes[n]; node.ID == t.Last {
			had, ok := c.book.Own(node.Book, t.Book)
			if !ok || math.Abs(math.Log(k.value[i]*mbit/had)) > 2*math.Sqrt(c.book.Noise()) {
				return nil
			}
			if known {
				c.figures.resting[t.ID] = k
			}
			return k
		}
	}
	return nil
}

package schedule

import (
	"math"
	"slices"

	"argosy/internal/plan/predict"
)

// row is what the book says of one task and its candidates.
type row struct {
	*seen

	task  int
	turn  int32
	place []placed       // of the snapshot's nodes
	best  predict.Figure // largest share of requests that give a page
}

// placed is where a node's figures are in a row, and in which turn it was said.
type placed struct{ turn, at int32 }

func (r *row) has(node int) bool { return r.place[node].turn == r.turn }

// look makes row that of a task.
func (c *Context) look(task int) {
	r := &c.row
	if r.task == task {
		return
	}
	if r.place == nil {
		r.place = make([]placed, len(c.S.Nodes))
	}
	open := c.Candidates(task) // which may leave no task's row
	r.task, r.best = task, predict.Figure{}
	r.turn++
	t := &c.S.Tasks[task]
	f := c.notes.figures(task, open)
	if f == nil {
		f = c.figures.add(c.notes.of(task), open)
		for k, n := range open {
			f.book[k] = int32(c.S.Nodes[n].Book)
		}
		c.book.Rates(t.Book, c.S.Now, f.book, f.rate)
		c.book.Successes(t.Book, c.S.Now, f.book, f.served)
	}
	r.seen = f
	for k, n := range open {
		r.place[n] = placed{r.turn, int32(k)}
		if f.served[k].Value > r.best.Value {
			r.best = f.served[k]
		}
	}
}

// figures are what the book says of tasks and their candidates. A snapshot carries them from the planning of its probes to
// that of its leases: nothing is learned in between.
type figures struct {
	book    *predict.Book
	noted   []note // of each task
	through bool   // no task was looked at narrowly
	pairs   int
	spare   seen // of what is not kept

	numbers []int32 // what is left of the last slab
	values  []predict.Figure

	memory *Memory // what the last cycle left, which the next two are of
	past   *past   // of so many leases; nil: it was handed on
	leases int
}

func newFigures(s *Snapshot) *figures {
	f := &figures{book: s.Book, noted: make([]note, len(s.Tasks))}
	for t := range s.Tasks {
		f.noted[t].task = s.Tasks[t].ID
	}
	return f
}

// note is what was found of a task.
type note struct {
	task   uint32
	known  bool // kept is what the last cycle kept of it
	asked  bool // rests is known
	narrow bool
	kept   *kept
	rests  *kept // where it needs no look
	open   []int // its candidates, which may be narrow; nil: nobody has asked for them
	seen   *seen // nil: likewise
}

// notes are those of a context's tasks; nil of all, or of a task: there are none.
type notes []*note

func (n notes) of(task int) *note {
	if n == nil {
		return nil
	}
	return n[task]
}

// of returns the notes of tasks that are some of those of the snapshot, in their order.
func (f *figures) of(tasks []Task) notes {
	out, rest := make(notes, len(tasks)), f.noted
	for t := range tasks {
		for len(rest) > 0 && rest[0].task != tasks[t].ID {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			break
		}
		out[t], rest = &rest[0], rest[1:]
	}
	return out
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

// figures returns those of a task and its candidates, nil if they are not there.
func (n notes) figures(task int, open []int) *seen {
	of := n.of(task)
	if of == nil || of.seen == nil || !slices.Equal(of.seen.open, open) {
		return nil
	}
	return of.seen
}

// add makes room for a task's figures; where no more are kept it is the same room each time.
func (f *figures) add(of *note, open []int) *seen {
	n := len(open)
	if of != nil && f.pairs+n <= keptPairs {
		f.pairs += n
		of.seen = f.room(n)
		of.seen.open = open
		return of.seen
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

// slab is for how many pairs room is made at a time, at most.
const slab = 4096

// room is that of a task with so many candidates, of which many share one piece of memory: for as many as there are, if all have so many.
func (f *figures) room(n int) *seen {
	if len(f.numbers) < n {
		size := max(n, min(slab, n*len(f.noted)))
		f.numbers, f.values = make([]int32, size), make([]predict.Figure, 2*size)
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

// recall tells which leases of the last cycle still run.
func (m *Memory) recall(nodes []Node, running []Running) past {
	if !m.of(nodes) {
		m = m.moved(nodes, running)
	}
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

// moved is what the last cycle left of leases, and of tasks that have leases now, with the numbers that nodes have now; leases of nodes that are not there
// are left out. Of nodes that have come since nothing is in it: that matters when those tasks wait again, and then they are looked at anew.
func (m *Memory) moved(nodes []Node, running []Running) *Memory {
	now, to := make(map[string]int32, len(nodes)), make([]int32, len(m.nodes))
	for i := range nodes {
		now[nodes[i].ID] = int32(i)
	}
	for i, id := range m.nodes {
		to[i] = -1
		if n, ok := now[id]; ok {
			to[i] = n
		}
	}
	out := &Memory{runs: make([]held, 0, len(m.runs)), kept: map[uint32]*kept{}}
	for _, h := range m.runs {
		if h.node < 0 || to[h.node] < 0 {
			continue
		}
		if h.node = to[h.node]; h.kept != nil {
			h.kept = h.kept.moved(to)
		}
		out.runs = append(out.runs, h)
	}
	for i := range running {
		if k := m.kept[running[i].Task]; k != nil {
			out.kept[running[i].Task] = k.moved(to)
		}
	}
	return out
}

// of returns what was kept of a task, nil for nothing.
func (p *past) of(task uint32) *kept {
	if k := p.kept[task]; k != nil {
		return k
	}
	return p.ended[task]
}

// recalled returns what was kept of a task, nil for nothing.
func (c *Context) recalled(task int) *kept {
	n := c.notes.of(task)
	if n != nil && n.known {
		return n.kept
	}
	k := c.past.of(c.S.Tasks[task].ID)
	if n != nil && c.figures.memory == c.S.Memory {
		n.kept, n.known = k, true
	}
	return k
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
// what was expected within two standard deviations of a lease, or tells of the node's limit alone. nil: it is to be looked at.
func (c *Context) rests(task int) *kept {
	t := &c.S.Tasks[task]
	if c.through || c.rec != nil || !c.known() || len(t.Avoid) > 0 || len(c.S.Tasks)+len(c.S.Running) < sampled {
		return nil
	}
	n := c.notes.of(task)
	if n == nil || c.figures.memory != c.S.Memory {
		return c.mayRest(task)
	}
	if !n.asked {
		n.rests, n.asked = c.mayRest(task), true
	}
	return n.rests
}

// mayRest is rests of a task that no other says is to be looked at.
func (c *Context) mayRest(task int) *kept {
	t, k := &c.S.Tasks[task], c.recalled(task)
	if k == nil || k.rested >= min(k.same, mostSparing-1) || 2*len(k.node) > len(c.S.Nodes) {
		return nil
	}
	for i, at := range k.node {
		if node := &c.S.Nodes[at]; node.ID == t.Last {
			had, ok := c.book.Own(node.Book, t.Book)
			if !ok || had > 0 && math.Abs(math.Log(k.value[i]*mbit/had)) > 2*math.Sqrt(c.book.Noise()) {
				return nil
			}
			return k
		}
	}
	return nil
}

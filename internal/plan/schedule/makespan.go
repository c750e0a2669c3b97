package schedule

import (
	"math"

	"argosy/internal/plan/solve"
)

// Shortest schedules the waiting tasks in batches of so many at most so that the node that is done last is done soonest
// (solve.Makespan). Costs are times; a lease that runs is as much work as a task of its site. Nodes without room take no
// part.
func Shortest(batch int) Solver {
	return Solver{"makespan", func(c *Context) []int {
		out := make([]int, len(c.S.Tasks))
		for t := range out {
			out[t] = -1
		}
		load := c.work()
		for first := 0; first < len(out); first += batch {
			c.shortest(first, min(first+batch, len(out)), load, out)
		}
		return out
	}}
}

// boundRounds is how long prices are sought for a batch: one of three starts needs them, roughly.
const boundRounds = 50

// work is what each node's leases have to do, s for a useful megabit of each.
func (c *Context) work() []float64 {
	out := make([]float64, len(c.S.Nodes))
	at := c.numbers()
	for i := range c.S.Running {
		r := &c.S.Running[i]
		n, ok := at[r.Node]
		if !ok || r.Ping || !c.known() {
			continue
		}
		node := &c.S.Nodes[n]
		rate := c.book.Rate(node.Book, r.Book, c.S.Now).Value
		if b := node.Offer[Bandwidth]; b > 0 {
			rate = min(rate, b)
		}
		out[n] += 1e6 / (rate * c.book.Success(node.Book, r.Book, c.S.Now).Value)
	}
	return out
}

// shortest schedules the tasks from first to last.
func (c *Context) shortest(first, last int, load []float64, out []int) {
	var tasks []int
	for t := first; t < last; t++ {
		for _, n := range c.Candidates(t) {
			if c.Room(n) {
				tasks = append(tasks, t)
				break
			}
		}
	}
	if len(tasks) == 0 {
		return
	}
	m := solve.NewMatrix(len(c.S.Nodes), len(tasks))
	for i := range m.Data {
		m.Data[i] = math.Inf(1)
	}
	for j, t := range tasks {
		for _, n := range c.Candidates(t) {
			if c.Room(n) {
				m.Data[n*m.Cols+j] = min(c.Price(t, n), 1e9)
			}
		}
	}
	s, err := solve.MakespanWithin(m, load, boundRounds)
	if err != nil {
		return // a task that no node may take: it waits
	}
	for j, t := range tasks {
		n := s.Machine[j]
		if !fitsNow(c, t, n) { // others have taken its last place
			n = -1
			for _, k := range c.Candidates(t) {
				if x := m.At(k, j); fitsNow(c, t, k) && x < 1e9 && (n < 0 || load[k]+x < load[n]+m.At(n, j)) {
					n = k
				}
			}
		}
		if n >= 0 {
			out[t] = n
			load[n] += m.At(n, j)
			c.Take(t, n)
		}
	}
}

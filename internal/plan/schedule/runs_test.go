package schedule

import (
	"math"
	"math/rand/v2"
	"testing"

	"argosy/internal/plan/predict"
	"argosy/internal/testkit/seeds"
)

// busyFleet is a fleet whose nodes want more than they carry: each site has its own speed from each node, a third of the leases ends in each cycle, and
// the tasks wait again. step goes on by one cycle and returns the plan, and the snapshot that it is of.
func busyFleet(seed uint64, nodes, sites int) (step func() (Plan, *Snapshot), comp Composition) {
	r := rand.New(rand.NewPCG(seed, 9))
	s := fleet(nodes, sites)
	tasks := s.Tasks
	for n := range s.Nodes {
		s.Nodes[n].Capacity, s.Nodes[n].Offer[Bandwidth] = sites/nodes+1, 1e6*(5+40*r.Float64())
		if n%2 == 0 {
			s.Nodes[n].Capacity = sites / (2 * nodes)
		}
		for t := range tasks {
			bits := 2e6 * math.Exp(r.NormFloat64())
			for range 5 {
				s.Book.Reported(s.Nodes[n].Book, tasks[t].Book, predict.Report{Bits: 10 * bits, Seconds: 10, Good: 100, All: 100}, 900)
			}
		}
	}
	for t := range tasks {
		tasks[t].Gap = float64(t%3) * 0.05
	}
	s.Book.Fit()
	comp = Composition{
		Filters: Always, Solver: Flow(FlowConfig{Candidates: 16, Fair: 300, Width: 0.02, Refresh: 10_000}),
		Cost: Cost{Of: func(c *Context, task, node, _ int) float64 {
			x := 1e6 / c.Useful(task, node).Value
			if last := c.S.Tasks[task].Last; last != "" && last != c.S.Nodes[node].ID {
				x *= 1.1
			}
			return x
		}},
	}
	var memory *Memory
	var running []Running
	lease := uint64(0)
	last := map[uint32]string{}
	return func() (Plan, *Snapshot) {
		kept := running[:0:0]
		for _, l := range running {
			if r.IntN(3) > 0 {
				kept = append(kept, l)
			} else {
				last[l.Task] = l.Node
			}
		}
		now := *s
		now.Now, now.Memory, now.Nodes, now.Tasks, now.Running = s.Now+4000, memory, append([]Node(nil), s.Nodes...), nil, kept
		s.Now = now.Now
		runs := map[uint32]bool{}
		for _, l := range kept {
			runs[l.Task] = true
			for n := range now.Nodes {
				if now.Nodes[n].ID == l.Node {
					now.Nodes[n].Running++
				}
			}
		}
		for _, t := range tasks {
			if t.Last = last[t.ID]; !runs[t.ID] {
				t.Since = now.Now - 1000
				now.Tasks = append(now.Tasks, t)
			}
		}
		p, err := Cycle(&now, comp)
		if err != nil {
			panic(err)
		}
		memory, running = p.Memory, kept
		for _, a := range p.Assignments {
			t, node := now.Tasks[a.Task], now.Nodes[a.Node].ID
			lease++
			running = append(running, Running{Lease: lease, Task: t.ID, Site: t.Site, Node: node, Book: t.Book, Gap: t.Gap})
		}
		return p, &now
	}, comp
}

// carried is what the nodes of a snapshot carry, Mbit/s, once a plan is carried out.
func carried(s *Snapshot, p Plan) (sum float64) {
	next := s.Without(p, nil)
	next.Tasks = nil
	for i := range next.Running {
		next.Tasks = append(next.Tasks, next.Running[i].waited())
	}
	c, at := newContext(next, &Composition{Filters: Always}, false), map[string]int{}
	for n := range s.Nodes {
		at[s.Nodes[n].ID] = n
	}
	load := make([]float64, len(s.Nodes))
	for t := range next.Tasks {
		n := at[next.Running[t].Node]
		load[n] += c.Useful(t, n).Value / mbit
	}
	for n := range load {
		sum += min(load[n], s.Nodes[n].Offer[Bandwidth]/mbit)
	}
	return sum
}

// ofOthers is a memory as if it were of a fleet in which other nodes were, before and between those that are there.
func (m *Memory) ofOthers() *Memory {
	out, to := *m, make([]int32, len(m.nodes))
	out.nodes, out.runs, out.kept = []string{"a"}, append([]held(nil), m.runs...), map[uint32]*kept{}
	for i, id := range m.nodes {
		to[i] = int32(len(out.nodes))
		out.nodes = append(out.nodes, id, id+"x")
	}
	for id, k := range m.kept {
		out.kept[id] = k.moved(to)
	}
	for i := range out.runs {
		if h := &out.runs[i]; h.node >= 0 {
			h.node = to[h.node]
			if h.kept != nil {
				h.kept = h.kept.moved(to)
			}
		}
	}
	return &out
}

// What flow decides does not hang on what the last cycle left: without it, as after a restart, and where nodes have come or gone since, prices are nearly
// the same, and nodes carry as much as they would have.
func TestFlowDecidesTheSameWithoutMemory(t *testing.T) {
	for seed := range seeds.Of(4, 200) {
		step, comp := busyFleet(seed, 8, 120)
		for range 12 {
			step()
		}
		for i, name := range []string{"after a restart", "of other nodes"} {
			left := []func(*Memory) *Memory{func(*Memory) *Memory { return nil }, (*Memory).ofOthers}[i]
			had, have, off, given := 0.0, 0.0, 0.0, 0
			for range 10 {
				p, s := step()
				own := *s
				own.Memory = left(s.Memory)
				q, err := Cycle(&own, comp)
				if err != nil {
					t.Fatal(name, err)
				}
				had, have, given = had+carried(s, p), have+carried(s, q), given+len(p.Assignments)
				for id, price := range p.Memory.Bandwidth {
					off = max(off, math.Abs(price-q.Memory.Bandwidth[id]))
				}
			}
			if given < 100 || have < 0.99*had || off > 0.1 {
				t.Errorf("seed %d %s: %.4f of what would have been carried, prices are off by %.3f at most, %d assignments", seed, name, have/had, off, given)
			}
		}
	}
}

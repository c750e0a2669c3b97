package schedule

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"argosy/internal/plan/predict"
)

// Tasks wait for the first figures of all while somebody measures, but not for long.
func TestFirstFiguresAreWaitedFor(t *testing.T) {
	flow := Flow(FlowConfig{Learn: true, Width: 0.02, Refresh: 10_000})
	cost := Cost{Of: func(c *Context, task, node, _ int) float64 { return 1e6 / c.Useful(task, node).Value }}
	comp := Composition{Filters: Always, Cost: cost, Solver: flow}
	cycle := func(s *Snapshot) Plan {
		t.Helper()
		p, err := Cycle(s, comp)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	s := fleet(2, 3)
	s.LeaseSeconds = 30
	if p := cycle(s); len(p.Assignments) != 3 {
		t.Errorf("%v where nobody measures", p.Assignments)
	}
	s.Running = []Running{{Lease: 1, Site: "x", Node: s.Nodes[0].ID, Book: s.Book.Site("x")}}
	p := cycle(s)
	if len(p.Assignments) != 0 || p.Waiting[0].Verdict.Reason != ReasonBlind {
		t.Errorf("%v, %v while the first site is measured", p.Assignments, p.Waiting)
	}
	s.Memory, s.Now = p.Memory, s.Now+blindSeconds*1000
	p = cycle(s)
	if len(p.Assignments) != 3 {
		t.Errorf("%v after %d s", p.Assignments, blindSeconds)
	}
	s.Memory, s.Now = p.Memory, s.Now+100
	if p := cycle(s); len(p.Assignments) != 3 {
		t.Errorf("%v a second time", p.Assignments)
	}
}

// A node of which little is known is tried where that may pay: not where little is left, and not once it is known.
func TestLeasesCountWhatTheyTeach(t *testing.T) {
	s := fleet(2, 1)
	s.LeaseSeconds = 10
	for range 6 {
		s.Book.Reported(0, 0, predict.Report{Bits: 1e8, Seconds: 10, Good: 100, All: 100}, 900)
	}
	s.Book.Fit()
	at := func(bits float64) string {
		t.Helper()
		s.Tasks[0].Bits = bits
		cost := Cost{Of: func(c *Context, task, node, _ int) float64 {
			return 1e6 / c.Useful(task, node).Value * (1 + 0.3*float64(node)) // the second is thought to be slower
		}}
		p, err := Cycle(s, Composition{Filters: Always, Cost: cost, Solver: Flow(FlowConfig{Learn: true, Width: 0.02, Refresh: 10_000})})
		if err != nil || len(p.Assignments) != 1 {
			t.Fatal(p, err)
		}
		return s.Nodes[p.Assignments[0].Node].ID
	}
	first, second := s.Nodes[0].ID, s.Nodes[1].ID
	if n := at(1e8); n != first {
		t.Errorf("%s, where one lease is left", n)
	}
	if n := at(1e11); n != second {
		t.Errorf("%s, where much is left", n)
	}
	for range 9 {
		s.Book.Reported(1, 0, predict.Report{Bits: 9e7, Seconds: 10, Good: 90, All: 90}, 900)
	}
	s.Book.Fit()
	if n := at(1e11); n != first {
		t.Errorf("%s, though the other is known to be slower", n)
	}
}

// What a lease teaches is worth by how much the better of all nodes, and of waiting, is better on average once its node is known: where
// a task is worth less to all nodes than their places cost, what it may come to be worth beyond that. What a node carries is the most that it may
// turn out to bring.
func TestWhatALeaseTeaches(t *testing.T) {
	s := fleet(3, 1)
	s.LeaseSeconds = 10
	s.Tasks[0].Bits = 1e12
	for range 6 {
		s.Book.Reported(0, 0, predict.Report{Bits: 1e8, Seconds: 10, Good: 100, All: 100}, 900)
	}
	s.Book.Fit()
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 200 {
		c := newContext(s, &Composition{Filters: Always}, false)
		f := &flow{c: c, cfg: FlowConfig{Learn: true}, paid: make([]float64, 3), place: make([]float64, 3), cap: make([]float64, 3), wide: make([]bool, 3)}
		k, mean, most := &kept{}, make([]float64, 3), make([]float64, 3)
		for i := range 3 {
			speed := c.Useful(0, i).Value / mbit
			mean[i], most[i] = 5*math.Exp(r.NormFloat64()), math.Inf(1)
			v, use := mean[i], speed
			if x := []float64{0, 0.4, 0.9, 1.5, 4}[r.IntN(5)]; x > 0 { // the node carries so many times what the pair is thought to have
				f.cap[i], most[i] = x*speed, x*v
				v, use = min(v, x*v), min(use, x*speed)
			}
			k.node, k.value, k.use, k.best = append(k.node, int32(i)), append(k.value, v), append(k.use, use), max(k.best, v)
			f.place[i] = float64(trial%4) * 10 * r.Float64()
		}
		f.teach(0, k)
		now, best := 0.0, -1
		for i := range k.node {
			if x := k.value[i] - f.place[i]; x > now {
				now, best = x, i
			}
		}
		for i := range k.node {
			rate, ok := c.Rate(0, i), c.Success(0, i)
			square := rate.Sigma*rate.Sigma + ok.Sigma*ok.Sigma/(ok.Value*ok.Value)
			sigma := square / math.Sqrt(square+s.Book.Noise())
			others, better := 0.0, 0.0
			for o := range k.node {
				if o != i {
					others = max(others, k.value[o]-f.place[o])
				}
			}
			const draws = 20_000
			for d := range draws {
				z := math.Sqrt2 * math.Erfinv((2*float64(d)+1)/draws-1)
				if then := min(most[i], mean[i]*math.Exp(sigma*z-sigma*sigma/2)) - f.place[i]; i == best {
					better += max(0, others-then) / draws
				} else {
					better += max(0, then-now) / draws
				}
			}
			want := better * (c.usedFor(0, k.best*mbit)/s.LeaseSeconds - 1)
			if got := k.teaches(i); math.Abs(got-want) > 0.01*want+0.5 {
				t.Errorf("places at %.2f, values %.2f: to know node %d is worth %.3f, want %.3f", f.place, k.value, i, got, want)
			}
		}
	}
}

// Of nodes that are alike tasks keep different ones, so that no node is left out of all.
func TestTasksKeepDifferentNodes(t *testing.T) {
	const nodes, tasks, n = 50, 20, 5
	f := &flow{paid: make([]float64, nodes), place: make([]float64, nodes)}
	k := &kept{}
	for i := range nodes {
		k.node, k.value, k.use = append(k.node, int32(i)), append(k.value, 1), append(k.use, 1)
	}
	k.value[7] = 2
	seen := map[int32]int{}
	for id := range tasks {
		out := f.cut(k, n, id)
		if len(out.node) != n || out.index(7) < 0 || !slices.IsSorted(out.node) {
			t.Fatalf("%v", out.node)
		}
		for _, x := range out.node {
			seen[x]++
		}
	}
	if len(seen) < nodes-1 {
		t.Errorf("%d of %d nodes are kept by any", len(seen), nodes)
	}
}

// What is learned is of use as long as something is left; of a site that nobody has seen, for one lease.
func TestHowLongLearningIsOfUse(t *testing.T) {
	s := fleet(2, 1)
	s.LeaseSeconds = 20
	for bits, want := range map[float64]float64{0: 20, 5e7: 50, 1e12: remembered, math.Inf(1): remembered} {
		s.Tasks[0].Bits = bits
		c := newContext(s, &Composition{Filters: Always}, false)
		if x := c.usedFor(0, 1e6); x != want {
			t.Errorf("%g bits left: %g s, want %g", bits, x, want)
		}
	}
}

// What a lease teaches stands among the parts of its cost as what it is, a prediction, where it decides something, and not where it is as good as nothing.
func TestLearningIsToldWhereItCounts(t *testing.T) {
	s := fleet(3, 1)
	s.LeaseSeconds = 10
	for n, requests := range []int{60, 60, 1} { // the third is hardly known
		for range requests {
			s.Book.Reported(n, 0, predict.Report{Bits: 1e8 / float64(1+9*(n%2)), Seconds: 10, Good: 100, All: 100}, 900)
		}
	}
	s.Book.Fit()
	s.Tasks[0].Bits = 1e12
	cost := Cost{Of: func(c *Context, task, node, _ int) float64 { return 1e6 / c.Useful(task, node).Value }}
	p, err := Explained(s, Composition{Filters: Always, Cost: cost, Solver: Flow(FlowConfig{Learn: true, Width: 0.02, Refresh: 10_000})})
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]Part{}
	for _, c := range p.Decisions[0].Candidates {
		for _, part := range c.Parts {
			if part.Name == "learning" {
				told[c.Node] = part
			}
		}
	}
	if len(told) == 0 {
		t.Fatal("nothing is told of what leases teach")
	}
	for node, part := range told {
		if part.Source != predict.Predicted.String() || part.Value < 1e-6 {
			t.Errorf("%s: %+v", node, part)
		}
	}
	if _, slow := told[s.Nodes[1].ID]; slow {
		t.Errorf("%s is known to be slow: it teaches %+v", s.Nodes[1].ID, told[s.Nodes[1].ID])
	}
}

package schedule

import (
	"math"

	"argosy/internal/plan/solve"
)

// believedGap is how far a bound may be above the optimum, as a share of it.
const believedGap = 0.01

// Believed makes the program of time shares of a snapshot as if all that is expected of its pairs were true, and returns what solves it:
// value is what a solution brings, in useful Mbit/s, and no assignment brings more than bound. Only the pairs that may takes (nil: all) are
// in it. To make it reads the book; to solve it reads nothing of the snapshot any more.
func Believed(s *Snapshot, may func(task, node int) bool) (solution func() (value, bound float64, err error)) {
	p := believed(s, may)
	return func() (float64, float64, error) {
		best, err := solve.MaxShares(p, believedGap, nil)
		return best.Value, best.Bound, err
	}
}

func believed(s *Snapshot, may func(task, node int) bool) solve.Shares {
	c := newContext(s, &Composition{Filters: Always}, false)
	p := solve.Shares{Start: make([]int32, 1, len(s.Tasks)+1), Cap: make([]float64, len(s.Nodes)), Places: make([]float64, len(s.Nodes))}
	for n := range s.Nodes {
		p.Places[n] = float64(max(0, s.Nodes[n].Capacity-s.Nodes[n].Running))
		if p.Cap[n] = c.carries(n) / mbit; p.Cap[n] <= 0 {
			p.Cap[n] = math.Inf(1)
		}
	}
	for t := range s.Tasks {
		for n := range s.Nodes {
			if !IsOfType(s.Nodes[n].Labels, s.Tasks[t].Type) || may != nil && !may(t, n) {
				continue
			}
			use := min(c.Useful(t, n).Value/mbit, p.Cap[n])
			value := use
			if c.known() {
				value *= c.book.Success(s.Nodes[n].Book, s.Tasks[t].Book, s.Now).Value
			}
			p.Bin, p.Value, p.Use = append(p.Bin, int32(n)), append(p.Value, value), append(p.Use, use)
		}
		p.Start = append(p.Start, int32(len(p.Bin)))
	}
	return p
}

package sim

import "math"

// Indicators are the four ways in which a policy changes the next lease of a task, as the feedback paper's second figure has them.
var Indicators = [...]string{"moved out", "moved in", "modified", "recycled"}

// Gains are what a node's leases gained in efficiency (useful pages for a second), in percent: of the tasks concerned, the lease after
// against the lease before. NaN: there is nothing to compare. Tasks are chosen by what happened to them: it is a biased measure.
type Gains struct {
	Gain  [len(Indicators)]float64
	Count [len(Indicators)]int // leases concerned
}

// Attribute compares leases of so many nodes, in the order in which they ended. What moved a task counts for both nodes.
func Attribute(ends []End, nodes int) []Gains {
	type sum struct{ before, after [2]float64 } // seconds, pages
	sums := make([][len(Indicators)]sum, nodes)
	out := make([]Gains, nodes)
	last, good := map[uint32]End{}, map[uint32]End{} // of each task: its last lease, and its last that was not recalled
	add := func(node, which int, before, after End) {
		s := &sums[node][which]
		s.before[0], s.before[1] = s.before[0]+before.Seconds, s.before[1]+before.Good
		s.after[0], s.after[1] = s.after[0]+after.Seconds, s.after[1]+after.Good
		out[node].Count[which]++
	}
	for _, e := range ends {
		before, known := last[e.Task]
		if e.Recycled {
			last[e.Task] = e
			continue
		}
		switch {
		case known && before.Recycled: // what the stuck lease took counts as before
			if b, ok := good[e.Task]; ok {
				before.Good, before.Seconds = b.Good, before.Seconds+b.Seconds
			}
			add(before.Node, 3, before, e)
		case known && e.Moved:
			add(before.Node, 0, before, e)
			add(e.Node, 1, before, e)
		case known && e.Modified:
			add(e.Node, 2, before, e)
		}
		last[e.Task], good[e.Task] = e, e
	}
	for n := range sums {
		for k, s := range sums[n] {
			out[n].Gain[k] = math.NaN()
			if s.before[0] > 0 && s.before[1] > 0 && s.after[0] > 0 {
				out[n].Gain[k] = 100 * (s.after[1]/s.after[0]/(s.before[1]/s.before[0]) - 1)
			}
		}
	}
	return out
}

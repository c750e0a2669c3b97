package schedule

import (
	"math"
	"slices"
)

// kept are a task's nodes.
type kept struct {
	node    []int32
	value   []float64 // useful Mbit/s
	use     []float64 // of what is scarce at the node: Mbit/s, or requests at once
	more    []float64 // that a lease there teaches, as if it were so many useful Mbit/s of it; empty is nothing
	best    float64   // largest value
	at      int64
	version uint32  // of what is known of the site
	looks   int     // at these nodes alone, since all were looked at
	every   int     // how many times as long as a look at all they may take
	next    float64 // gain of the best that was left out
	same    int     // looks in a row that found the node best that the task had had last
	rested  int     // leases since, for which it was not looked at (rests)
}

// newKept makes room for so many nodes, all of their figures in one piece.
func newKept(n int) *kept {
	figures := make([]float64, 3*n)
	return &kept{node: make([]int32, 0, n), value: figures[:0:n], use: figures[n : n : 2*n], more: figures[2*n : 2*n : 3*n]}
}

// index returns the place of a node, -1 if it was not kept.
func (k *kept) index(node int32) int {
	if i, ok := slices.BinarySearch(k.node, node); ok {
		return i
	}
	return -1
}

// moved are a task's nodes by other numbers; -1 is of one that is gone. The order of nodes is that of their names, and stays.
func (k *kept) moved(to []int32) *kept {
	out := newKept(len(k.node))
	out.best, out.at, out.version, out.looks, out.every, out.same, out.next = k.best, k.at, k.version, k.looks, k.every, k.same, k.next
	for i, n := range k.node {
		if to[n] < 0 {
			continue
		}
		out.node, out.value, out.use = append(out.node, to[n]), append(out.value, k.value[i]), append(out.use, k.use[i])
		if len(k.more) > 0 {
			out.more = append(out.more, k.more[i])
		}
	}
	return out
}

// teaches is what it is worth to learn what the i-th node is like.
func (k *kept) teaches(i int) float64 {
	if len(k.more) == 0 {
		return 0
	}
	return k.more[i]
}

// mostPairs is how many pairs of tasks and nodes are weighed against each other at most, 28 bytes each, where so many are kept of each
// task as widest says, times those that are kept for the next cycle.
const (
	mostPairs = 4_000_000
	widest    = 4
)

// width is how many nodes of each task are weighed; 0 is all.
func (f *flow) width() int {
	if f.cfg.Candidates <= 0 || len(f.tasks)*len(f.cap) <= mostPairs {
		return 0
	}
	return max(widest*f.cfg.Candidates, mostPairs/len(f.tasks))
}

// spreads is a prime, so that the nodes from which on tasks keep those that are alike are spread over all.
const spreads = 7919

// cut keeps the n nodes where a task gains most, in the order of nodes; of those that are alike other tasks keep others.
func (f *flow) cut(k *kept, n, turn int) *kept {
	if n <= 0 || len(k.node) <= n {
		return k
	}
	gains := make([]float64, len(k.node))
	for i := range k.node {
		gains[i] = f.net(k, i)
	}
	halves := f.halves(gains, len(gains)-n-1)
	limit := slices.Min(halves[len(gains)-n:])
	out := newKept(n)
	out.best, out.at, out.version, out.looks, out.every, out.same, out.next = k.best, k.at, k.version, k.looks, k.every, k.same, halves[len(gains)-n-1]
	alike := n
	for _, g := range gains {
		if g > limit {
			alike--
		}
	}
	for j := range gains { // from another node on for each task
		if i := (j + turn*spreads) % len(gains); gains[i] == limit && alike > 0 {
			gains[i], alike = math.Inf(1), alike-1
		}
	}
	for i, g := range gains {
		if g > limit {
			out.node, out.value, out.use = append(out.node, k.node[i]), append(out.value, k.value[i]), append(out.use, k.use[i])
			if len(k.more) > 0 {
				out.more = append(out.more, k.more[i])
			}
		}
	}
	return out
}

// halves returns figures with the k-th smallest in its place, none above it before it, and none below it behind it; until it is called
// again.
func (f *flow) halves(figures []float64, k int) []float64 {
	f.scratch = append(f.scratch[:0], figures...)
	xs, lo, hi := f.scratch, 0, len(figures)-1
	for lo < hi {
		middle, i, j := xs[(lo+hi)/2], lo, hi
		for i <= j {
			for xs[i] < middle {
				i++
			}
			for xs[j] > middle {
				j--
			}
			if i <= j {
				xs[i], xs[j] = xs[j], xs[i]
				i, j = i+1, j-1
			}
		}
		if k <= j {
			hi = j
		} else if k >= i {
			lo = i
		} else {
			break
		}
	}
	return xs
}

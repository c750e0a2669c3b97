package sim

import (
	"math"
	"slices"
)

// What a recording tells of how links move: together, as where all of them change, and each for itself.

const (
	// beside is how long before and after a time pairs are looked at to say what has moved then, ms.
	beside = 4_000
	// alone is for how many pairs that have not moved it counts where it is asked how much moved that most of the time nothing does.
	alone = 2
	// fewMove is how many pairs must be known on both sides of a time for what they have moved by to be what all have, and surely how many times as large as
	// at other times its variance must be: that of so few, by their median, is several times too large by chance at one of some tens of times.
	fewMove = 5
	surely  = 6
)

// moves finds how much pairs have forgotten of what they were until each of n pieces (what is kept from one to another is e to less the difference),
// and by how much all have become faster. told are what they were told to be, above what is expected of them; own is the variance of that. Links often
// change together, so that the pairs that were tried so many pieces before and after a time say how much the others have moved then; and the pairs
// that nobody tried for longer say how much they have moved besides. Most of the time nothing moves: what the median of figures that follow each
// other differs by is noise, or what leases differ by, and so is what one pair alone has moved by: its pages then were larger or smaller ones.
func moves(told [][]figure, n, window int, own float64) (forgets, level []float64) {
	forgets, level = make([]float64, n), make([]float64, n)
	noise := noiseOf(told)
	together(told, forgets, level, window, noise, own)
	apart := slowly(told, forgets, 2*window, noise)
	for k := 1; k < n; k++ {
		forgets[k] = forgets[k-1] - math.Log(keeps(forgets[k], own)*keeps(apart[k], own))
		level[k] += level[k-1]
	}
	return forgets, level
}

// noiseOf is the variance of what figures that follow each other differ by where nothing moves: that of them all, by the median.
func noiseOf(told [][]figure) float64 {
	var far []float64
	for _, of := range told {
		for i := 1; i < len(of); i++ {
			far = append(far, math.Abs(of[i].ln-of[i-1].ln))
		}
	}
	if len(far) == 0 {
		return 0
	}
	slices.Sort(far)
	return normally * normally * far[len(far)/2] * far[len(far)/2]
}

// least is what is kept at least of what a pair was, so that its logarithm is a number.
const least = 1e-3

// keeps is the correlation of what pairs of a variance are before and after they have moved by one: of a stationary process it is one less half of that
// as a share of its own.
func keeps(moved, own float64) float64 { return max(least, 1-moved/(2*own)) }

// together puts into out at which pieces all links have changed, and by what variance: where they have most, and not again beside it; and into level
// by how much they have become faster. What was tried was often tried for being fast: what it loses as it becomes any link again is not what all have lost.
func together(told [][]figure, out, level []float64, window int, noise, own float64) {
	changed, far, faster, was := make([]float64, len(out)), make([][]float64, len(out)), make([]float64, len(out)), make([]float64, len(out))
	for _, of := range told {
		across(of, window, func(k int, before, after float64) {
			if k > 0 && k < len(out) {
				far[k] = append(far[k], (after-before)*(after-before))
				faster[k], was[k] = faster[k]+after-before, was[k]+before
			}
		})
	}
	var usually []float64
	for k := range changed {
		if len(far[k]) >= fewMove {
			changed[k] = spreadIn(far[k], alone)
			usually = append(usually, changed[k])
		}
	}
	slices.Sort(usually)
	for k, x := range changed {
		if changed[k] = max(0, x-noise); x > 0 && x < surely*usually[len(usually)/2] {
			changed[k] = 0
		}
	}
	for {
		k := 0
		for i, x := range changed {
			if x > changed[k] {
				k = i
			}
		}
		if changed[k] == 0 {
			return
		}
		out[k] = max(0, spreadIn(far[k], 0)-noise)
		n := float64(len(far[k]))
		level[k] = surelyNot((faster[k]+(1-keeps(out[k], own))*was[k])/n, (out[k]+noise)/n)
		clear(changed[max(0, k-window):min(len(changed), k+window+1)])
	}
}

// across tells the means of a pair's figures in so many pieces before each and in as many from it on, where there are some on both sides.
func across(of []figure, window int, tell func(k int, before, after float64)) {
	var before, middle, after int // of the figures, which are in the order of pieces
	sum := make([]float64, len(of)+1)
	for i, f := range of {
		sum[i+1] = sum[i] + f.ln
	}
	for k := 0; middle < len(of); k++ {
		if before == after && after < len(of) { // nothing is near
			k = max(k, of[after].piece-window+1)
		}
		for before < len(of) && of[before].piece < k-window {
			before++
		}
		for middle < len(of) && of[middle].piece < k {
			middle++
		}
		for after < len(of) && of[after].piece < k+window {
			after++
		}
		if before < middle && middle < after {
			tell(k, (sum[middle]-sum[before])/float64(middle-before), (sum[after]-sum[middle])/float64(after-middle))
		}
	}
}

// slowly is by what variance pairs that nobody tried for more than so many pieces have moved in each piece, besides what is in at.
func slowly(told [][]figure, at []float64, longer int, noise float64) []float64 {
	grown := make([][]float64, len(at))
	for _, of := range told {
		for i := 1; i < len(of); i++ {
			from, to := of[i-1].piece, of[i].piece
			if to-from <= longer {
				continue
			}
			x := of[i].ln - of[i-1].ln
			known := noise
			for k := from + 1; k <= to; k++ {
				known += at[k]
			}
			for k := from + 1; k <= to; k++ {
				grown[k] = append(grown[k], max(0, x*x-known)/float64(to-from))
			}
		}
	}
	out := make([]float64, len(at))
	for k := range out {
		out[k] = spreadIn(grown[k], alone)
	}
	return out
}

// surelyNot takes from a mean what of it is to be expected by chance, as a mean of this variance (James and Stein): all of it where there is not more.
func surelyNot(mean, chance float64) float64 {
	if mean*mean <= chance {
		return 0
	}
	return mean * (1 - chance/(mean*mean))
}

// spreadIn is the variance of which squares are, by their median, and as many that are nothing.
func spreadIn(squares []float64, nothing int) float64 {
	if len(squares) == 0 {
		return 0
	}
	all := append(slices.Clone(squares), make([]float64, nothing)...)
	slices.Sort(all)
	return normally * normally * all[len(all)/2]
}

// shortest is how much is forgotten at once at least: each move is a change of the world.
const shortest = 0.05

// steps has a figure that grows little by little grow by so much at once at least.
func steps(grown []float64, least float64) []float64 {
	out, last := make([]float64, len(grown)), 0.0
	for k, x := range grown {
		if x > last && x-last >= least {
			last = x
		}
		out[k] = last
	}
	return out
}

// believes is for how many pairs it counts that those of a site are as far apart as those of all sites.
const believes = 1

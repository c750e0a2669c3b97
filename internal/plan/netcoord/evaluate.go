package netcoord

import (
	"fmt"
	"math"
	"slices"
)

// Evaluation says how well a model predicts the delays that it was not fitted to.
type Evaluation struct {
	Landmarks []int
	Coords    []Coord   // of every host, landmarks included
	Errors    []float64 // relative error of every measured pair that was not fitted
	Median    float64
	P90       float64
}

// Evaluate fits a model to a matrix of delays (NaN where they are missing), of which it sees only those to the
// landmarks, and compares its predictions with the rest. landmarks nil chooses n of them by Spread.
func Evaluate(cfg Config, delay [][]float64, landmarks []int, n int) (Evaluation, error) {
	landmarks, err := Landmarks(delay, landmarks, n)
	if err != nil {
		return Evaluation{}, err
	}
	e := Evaluation{Landmarks: landmarks}
	if e.Coords, err = fitAll(cfg, delay, landmarks); err != nil {
		return Evaluation{}, err
	}
	unseen(delay, landmarks, func(h, g int, d float64) {
		if e.Coords[h].Known() && e.Coords[g].Known() {
			e.Errors = append(e.Errors, math.Abs(Distance(e.Coords[h], e.Coords[g])-d)/d)
		}
	})
	e.Median, e.P90 = Quantile(e.Errors, .5), Quantile(e.Errors, .9)
	return e, nil
}

// Landmarks checks landmarks, or, where there are none, chooses n of them by Spread.
func Landmarks(delay [][]float64, landmarks []int, n int) ([]int, error) {
	if landmarks == nil {
		landmarks = Spread(known(delay), n)
		if len(landmarks) < n {
			return nil, fmt.Errorf("%d landmarks wanted, %d hosts can be: a landmark needs delays to half of all others, and to other landmarks", n, len(landmarks))
		}
	}
	seen := map[int]bool{}
	for _, l := range landmarks {
		if l < 0 || l >= len(delay) {
			return nil, fmt.Errorf("landmark %d of %d hosts", l, len(delay))
		}
		if seen[l] {
			return nil, fmt.Errorf("landmark %d is named twice", l)
		}
		seen[l] = true
	}
	return landmarks, nil
}

// known fills in delays that were measured one way only from the other way.
func known(delay [][]float64) [][]float64 {
	out := make([][]float64, len(delay))
	for i, row := range delay {
		out[i] = slices.Clone(row)
		for j, d := range row {
			if i != j && !usable(d) {
				out[i][j] = either(delay, i, j)
			}
		}
	}
	return out
}

// unseen goes through the measured pairs of hosts that are not landmarks.
func unseen(delay [][]float64, landmarks []int, pair func(h, g int, d float64)) {
	for h := range delay {
		if slices.Contains(landmarks, h) {
			continue
		}
		for g := h + 1; g < len(delay); g++ {
			if d := either(delay, h, g); usable(d) && !slices.Contains(landmarks, g) {
				pair(h, g, d)
			}
		}
	}
}

// fitAll gives every host coordinates by the delays to the landmarks alone.
func fitAll(cfg Config, delay [][]float64, landmarks []int) ([]Coord, error) {
	between := make([][]float64, len(landmarks))
	for a, l := range landmarks {
		between[a] = make([]float64, len(landmarks))
		for b, m := range landmarks {
			between[a][b] = either(delay, l, m)
		}
	}
	space, err := Fit(cfg, between)
	if err != nil {
		return nil, err
	}
	var ids []int
	var to [][]float64
	for h := range delay {
		if slices.Contains(landmarks, h) {
			continue
		}
		d := make([]float64, len(landmarks))
		for k, l := range landmarks {
			d[k] = either(delay, h, l)
		}
		ids, to = append(ids, h), append(to, d)
	}
	hosts := space.PlaceAll(to)
	if cfg.Rounds > 0 {
		space.Refine(between, to, hosts)
	}
	out := make([]Coord, len(delay))
	for k, l := range landmarks {
		out[l] = space.Landmarks[k]
	}
	for k, h := range ids {
		out[h] = hosts[k]
	}
	return out, nil
}

// Triangles is the share of triangles of hosts, all of whose delays are known, in which a direct way takes longer
// than that over the third host: what no distances in a space can be. NaN where there are none.
func Triangles(delay [][]float64) float64 {
	n := len(delay)
	both := make([][]float64, n)
	for i := range both {
		both[i] = make([]float64, n)
		for j := range both[i] {
			both[i][j] = either(delay, i, j)
		}
	}
	broken, all := 0, 0
	for i := range n {
		for j := range i {
			for k := range j {
				x, y, z := both[i][j], both[j][k], both[i][k]
				if !usable(x) || !usable(y) || !usable(z) {
					continue
				}
				all++
				if x > y+z || y > x+z || z > x+y {
					broken++
				}
			}
		}
	}
	if all == 0 {
		return math.NaN()
	}
	return float64(broken) / float64(all)
}

// either returns the delay of a pair, measured one way or both.
func either(delay [][]float64, i, j int) float64 {
	a, b := delay[i][j], delay[j][i]
	switch {
	case usable(a) && usable(b):
		return (a + b) / 2
	case usable(a):
		return a
	case usable(b):
		return b
	}
	return math.NaN()
}

// Package netcoord gives hosts coordinates whose distances predict the delays between them, so that a few measured
// delays stand for many: GNP (Ng and Zhang, INFOCOM 2002), in the Euclidean space of the paper or with a height for
// each host's own access link. It is pure; delays are milliseconds, and what was not measured is NaN.
package netcoord

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// Coord is a place in the space of a model.
type Coord struct {
	X      []float64
	Height float64 // ms of the host's own access link; 0 in the Euclidean model
	Error  float64 // root mean square relative error over the delays it was fitted to
	Fitted int     // how many delays those were
}

// Known tells whether the coordinate was fitted at all.
func (c Coord) Known() bool { return c.Fitted > 0 }

// Distance predicts the delay between two hosts, in ms.
func Distance(a, b Coord) float64 {
	s := 0.0
	for d, x := range a.X {
		s += (x - b.X[d]) * (x - b.X[d])
	}
	return math.Sqrt(s) + a.Height + b.Height
}

// Confidence is between 0 and 1: how far a coordinate can be trusted, by what was left of the delays it was fitted to.
func (c Coord) Confidence() float64 {
	if !c.Known() {
		return 0
	}
	return 1 / (1 + c.Error)
}

// Config of a model.
type Config struct {
	Dim     int  // of the Euclidean part
	Heights bool // with a height for each host, fitted to ratios; without, to relative errors, as in the paper
	Seed    uint64
	Starts  int     // of each fit, the best of which counts
	Rounds  int     // of refitting all of them together; the paper has none
	Ridge   float64 // how strongly hosts are held at the middle of the landmarks: errors (squared) for a typical delay's distance
}

// Paper is the paper's model: 8 dimensions, landmarks first, then everybody against the landmarks.
func Paper() Config { return Config{Dim: 8, Starts: 6} }

// WithHeights is the model with heights, five dimensions and all of it fitted together.
func WithHeights() Config { return Config{Dim: 5, Heights: true, Starts: 4, Rounds: 6} }

// Validate refuses configurations that cannot be fitted.
func (c Config) Validate() error {
	if c.Dim < 1 || c.Dim > 16 {
		return fmt.Errorf("dimension %d: want 1 to 16", c.Dim)
	}
	if c.Starts < 1 {
		return fmt.Errorf("starts %d: want at least 1", c.Starts)
	}
	return nil
}

// Space is a fitted model: the landmarks, against which hosts are placed.
type Space struct {
	Config    Config
	Landmarks []Coord
	scale     float64 // a typical delay, ms
}

// Fit places the landmarks by the delays between them. One of which none is known has no place, and is none.
func Fit(cfg Config, delay [][]float64) (*Space, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	n := len(delay)
	if n < 2 {
		return nil, fmt.Errorf("landmarks: %d, want at least 2", n)
	}
	var all []float64
	for i, row := range delay {
		if len(row) != n {
			return nil, fmt.Errorf("delays of landmark %d: %d for %d landmarks", i+1, len(row), n)
		}
		for j, d := range row {
			if i != j && usable(d) {
				all = append(all, possible(d))
			}
		}
	}
	lost := unheard(delay)
	if !slices.Contains(lost, false) {
		return nil, fmt.Errorf("landmarks: no delay between them was measured")
	}
	s := &Space{Config: cfg, scale: Median(all)}
	r := rand.New(rand.NewPCG(cfg.Seed, 0x6c616e64))
	best := math.Inf(1)
	f := newFitter(cfg, s.scale)
	for range cfg.Starts {
		at := make([]Coord, n)
		for i := range at {
			if !lost[i] {
				at[i] = s.random(r)
			}
		}
		last := math.Inf(1)
		for range 60 { // each against the others, until nothing moves
			loss := 0.0
			for i := range at {
				if lost[i] {
					continue
				}
				loss += f.improve(&at[i], at, delay[i], i, 4)
			}
			if loss > last*(1-1e-4) {
				break
			}
			last = loss
		}
		if last < best {
			best, s.Landmarks = last, at
		}
	}
	for i := range s.Landmarks {
		f.finish(&s.Landmarks[i], s.Landmarks, delay[i], i)
	}
	return s, nil
}

// unheard tells which landmarks have no delay to any of the others, those apart that have none themselves.
func unheard(delay [][]float64) []bool {
	lost := make([]bool, len(delay))
	for again := true; again; {
		again = false
		for i, row := range delay {
			hears := false
			for j, d := range row {
				hears = hears || i != j && !lost[j] && usable(d)
			}
			if !hears && !lost[i] {
				lost[i], again = true, true
			}
		}
	}
	return lost
}

func usable(d float64) bool { return d > 0 && d <= math.MaxFloat64 }

// maxDelay is the longest delay that is told from longer ones, ms: squares and shares of those are no numbers any more.
const maxDelay = 1e12

// possible is a usable delay within what coordinates can tell.
func possible(d float64) float64 { return min(max(d, minHeight), maxDelay) }

func (s *Space) random(r *rand.Rand) Coord {
	c := Coord{X: make([]float64, s.Config.Dim)}
	for d := range c.X {
		c.X[d] = r.NormFloat64() * s.scale / math.Sqrt(float64(s.Config.Dim))
	}
	if s.Config.Heights {
		c.Height = s.scale / 20
	}
	return c
}

// Place fits a host by its delays to the landmarks. It hangs on nothing else, so that who has the same delays has the same place.
func (s *Space) Place(delay []float64) Coord { return s.place(newFitter(s.Config, s.scale), delay) }

// PlaceAll fits many hosts.
func (s *Space) PlaceAll(delay [][]float64) []Coord {
	f := newFitter(s.Config, s.scale)
	out := make([]Coord, len(delay))
	for i, d := range delay {
		out[i] = s.place(f, d)
	}
	return out
}

func (s *Space) place(f *fitter, delay []float64) Coord {
	if !f.against(s.Landmarks, delay, -1) {
		return Coord{X: make([]float64, s.Config.Dim)}
	}
	var best Coord
	loss := math.Inf(1)
	try := func(c Coord) {
		if l := f.descend(&c, 30); l < loss*(1-1e-6) {
			best, loss = c, l
		}
	}
	near := s.between(delay)
	try(near.clone())
	r := rand.New(rand.NewPCG(s.Config.Seed, 0x686f7374))
	for k := 1; k < s.Config.Starts; k++ {
		c := s.random(r)
		for d := range c.X {
			c.X[d] = near.X[d] + c.X[d]/2
		}
		try(c)
	}
	if math.IsInf(loss, 1) {
		return Coord{X: make([]float64, s.Config.Dim)}
	}
	f.finish(&best, s.Landmarks, delay, -1)
	return best
}

// between is the mean of the landmarks, the near ones counting more: a first guess.
func (s *Space) between(delay []float64) Coord {
	c := Coord{X: make([]float64, s.Config.Dim)}
	total := 0.0
	for l, d := range delay {
		if !usable(d) || len(s.Landmarks[l].X) == 0 {
			continue
		}
		w := 1 / (possible(d) * possible(d))
		total += w
		for k := range c.X {
			c.X[k] += w * s.Landmarks[l].X[k]
		}
	}
	for k := range c.X {
		if total > 0 {
			c.X[k] /= total
		}
	}
	if s.Config.Heights {
		c.Height = s.scale / 20
	}
	return c
}

func (c Coord) clone() Coord {
	c.X = append([]float64(nil), c.X...)
	return c
}

// Refine fits landmarks and hosts together for the rounds of the configuration: the landmarks against each other and
// all hosts, then the hosts anew. between are the delays between landmarks, delay those from each host to the
// landmarks.
func (s *Space) Refine(between, delay [][]float64, hosts []Coord) {
	f := newFitter(s.Config, s.scale)
	n := len(s.Landmarks)
	for range s.Config.Rounds {
		for l := range s.Landmarks {
			if !s.Landmarks[l].Known() {
				continue
			}
			to := append(append([]Coord(nil), s.Landmarks...), hosts...)
			d := make([]float64, n+len(hosts))
			copy(d, between[l])
			for h := range hosts {
				if d[n+h] = delay[h][l]; !hosts[h].Known() {
					d[n+h] = math.NaN()
				}
			}
			f.improve(&s.Landmarks[l], to, d, l, 3)
		}
		for h := range hosts {
			if hosts[h].Known() {
				f.improve(&hosts[h], s.Landmarks, delay[h], -1, 3)
			}
		}
	}
	for l := range s.Landmarks {
		f.finish(&s.Landmarks[l], s.Landmarks, between[l], l)
	}
	for h := range hosts {
		if hosts[h].Known() {
			f.finish(&hosts[h], s.Landmarks, delay[h], -1)
		}
	}
}

// Spread chooses n landmarks by the greedy k-centre rule: the host that is nearest to all others first, then always
// the one that is farthest from those chosen. Only the better connected third may be chosen (by the delay to their
// nearest twentieth of hosts), for the rule would else collect the hosts with the worst access links; hosts of which
// too little is known are passed over.
func Spread(delay [][]float64, n int) []int {
	total := len(delay)
	able := wellConnected(delay, max(total/3, 3*n))
	first, least := -1, math.Inf(1)
	for _, i := range able {
		sum, known := 0.0, 0
		for j, d := range delay[i] {
			if i != j && usable(d) {
				sum += d
				known++
			}
		}
		if mean := sum / float64(known); mean < least {
			first, least = i, mean
		}
	}
	if first < 0 {
		return nil
	}
	out := []int{first}
	near := make([]float64, total) // delay to the nearest of those chosen
	for i := range near {
		near[i] = math.Inf(1)
	}
	for last := first; len(out) < n; {
		near[last] = -1
		far := -1
		for _, i := range able {
			if d := delay[last][i]; usable(d) {
				near[i] = min(near[i], d)
			}
			if usable(near[i]) && (far < 0 || near[i] > near[far]) {
				far = i
			}
		}
		if far < 0 {
			break
		}
		out = append(out, far)
		last = far
	}
	sort.Ints(out)
	return out
}

// wellConnected returns the hosts with the shortest delays to those around them, in order of number, among those that
// have a delay to half of all others.
func wellConnected(delay [][]float64, n int) (able []int) {
	around := make([]float64, len(delay))
	for i, row := range delay {
		var known []float64
		for j, d := range row {
			if i != j && usable(d) {
				known = append(known, d)
			}
		}
		if len(known) > 0 && 2*len(known) >= len(delay)-1 {
			around[i] = Quantile(known, .05)
			able = append(able, i)
		}
	}
	sort.SliceStable(able, func(a, b int) bool { return around[able[a]] < around[able[b]] })
	able = able[:min(n, len(able))]
	sort.Ints(able)
	return able
}

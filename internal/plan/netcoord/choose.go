package netcoord

import (
	"errors"
	"math"
)

// Model predicts delays by one or several spaces: the geometric mean of what they say.
type Model struct {
	Name      string
	Spaces    []Config
	Triangles bool // beside them what the triangle inequality allows over each landmark: the geometric mean of its bounds
}

// Models are those that Choose chooses from. The blend is for volatile networks, where each space errs by chance in another
// way; its plane holds hosts at the middle of the landmarks unless several delays pull them away.
func Models() []Model {
	held := Config{Dim: 2, Heights: true, Starts: 4, Rounds: 6, Ridge: 1}
	return []Model{
		{Name: "paper", Spaces: []Config{Paper()}},
		{Name: "heights", Spaces: []Config{WithHeights()}},
		{Name: "held", Spaces: []Config{held}},
		{Name: "blend", Spaces: []Config{WithHeights(), held, Paper()}, Triangles: true},
	}
}

// Prediction is a model fitted to the delays to some landmarks.
type Prediction struct {
	Model     Model
	Landmarks []int
	Coords    [][]Coord // by each space, of every host
	to        [][]float64
}

// Predict fits a model to a matrix of delays, of which it sees only those to the landmarks.
func Predict(m Model, delay [][]float64, landmarks []int) (*Prediction, error) {
	p := &Prediction{Model: m, Landmarks: landmarks, to: make([][]float64, len(delay))}
	for _, cfg := range m.Spaces {
		c, err := fitAll(cfg, delay, landmarks)
		if err != nil {
			return nil, err
		}
		p.Coords = append(p.Coords, c)
	}
	for h := range delay {
		for _, l := range landmarks {
			p.to[h] = append(p.to[h], either(delay, h, l))
		}
	}
	return p, nil
}

// least is the shortest delay that is predicted, ms.
const least = 0.1

// Between predicts the delay of two hosts, ms; NaN where nothing is known of one.
func (p *Prediction) Between(h, g int) float64 {
	sum, n := 0.0, 0.0
	for _, c := range p.Coords {
		if c[h].Known() && c[g].Known() {
			sum, n = sum+math.Log(max(least, Distance(c[h], c[g]))), n+1
		}
	}
	if p.Model.Triangles {
		longest, shortest := math.Inf(1), 0.0
		for k, a := range p.to[h] {
			if b := p.to[g][k]; usable(a) && usable(b) {
				longest, shortest = min(longest, a+b), max(shortest, math.Abs(a-b))
			}
		}
		if usable(longest) { // both bounds count once, and their mean once more: none of the three is right alone
			sum += math.Log(max(least, longest)) + (math.Log(max(least, longest))+math.Log(max(1, shortest)))/2
			n += 2
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return math.Exp(sum / n)
}

// Off is how far a prediction is from a delay, as a share of the smaller: too long and too short count alike.
func Off(predicted, delay float64) float64 {
	return math.Abs(predicted-delay) / min(predicted, delay)
}

// Verdict is how well a prediction does on delays that it was not fitted to.
type Verdict struct {
	P90, Median float64 // of Off
	Hits        float64 // share of hosts whose nearest other is the one that is predicted to be
	Pairs       int
}

// Judge compares a prediction with the delays between hosts that are not landmarks, those pairs that of says yes to; nil is
// all of them.
func (p *Prediction) Judge(delay [][]float64, of func(h, g int) bool) Verdict {
	var off []float64
	type nearest struct {
		host int
		ms   float64
	}
	truly, said := make([]nearest, len(delay)), make([]nearest, len(delay))
	for h := range delay {
		truly[h], said[h] = nearest{-1, math.Inf(1)}, nearest{-1, math.Inf(1)}
	}
	unseen(delay, p.Landmarks, func(h, g int, d float64) {
		if of != nil && !of(h, g) {
			return
		}
		x := p.Between(h, g)
		if x != x {
			return
		}
		off = append(off, Off(x, d))
		for _, k := range [][2]int{{h, g}, {g, h}} {
			if d < truly[k[0]].ms {
				truly[k[0]] = nearest{k[1], d}
			}
			if x < said[k[0]].ms {
				said[k[0]] = nearest{k[1], x}
			}
		}
	})
	hit, all := 0.0, 0.0
	for h := range delay {
		if truly[h].host >= 0 {
			all++
			if truly[h].host == said[h].host {
				hit++
			}
		}
	}
	return Verdict{P90: Quantile(off, .9), Median: Quantile(off, .5), Hits: hit / max(1, all), Pairs: len(off)}
}

// ErrNoPairs says that nothing was measured by which models could be chosen.
var ErrNoPairs = errors.New("no measured pair is among those that models are chosen by")

// Choose fits models to the delays to some landmarks and returns the prediction that does best on measurements that are left
// out of judging: pairs of other hosts, for which left says yes. What counts is the 90th percentile of Off. The scores are
// in the order of the models.
func Choose(models []Model, delay [][]float64, landmarks []int, left func(h, g int) bool) (best *Prediction, scores []float64, err error) {
	least := math.Inf(1)
	for _, m := range models {
		p, err := Predict(m, delay, landmarks)
		if err != nil {
			return nil, nil, err
		}
		v := p.Judge(delay, left)
		if scores = append(scores, v.P90); v.P90 < least {
			best, least = p, v.P90
		}
	}
	if best == nil {
		return nil, nil, ErrNoPairs
	}
	return best, scores, nil
}

// Tenth says yes to about a tenth of all pairs, the same ones for a seed, whichever host comes first.
func Tenth(seed uint64) func(h, g int) bool {
	return func(h, g int) bool {
		x := (uint64(min(h, g))<<32 | uint64(max(h, g))) + seed*0x9e3779b97f4a7c15
		x ^= x >> 31 // splitmix64
		x *= 0xbf58476d1ce4e5b9
		x ^= x >> 27
		x *= 0x94d049bb133111eb
		return (x^x>>31)%10 == 0
	}
}

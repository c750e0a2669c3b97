package netcoord

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// world makes hosts in a plane, with access links of their own, and delays with noise.
func world(n int, heights, noise float64, seed uint64) [][]float64 {
	r := rand.New(rand.NewPCG(seed, 7))
	x := make([][3]float64, n)
	for i := range x {
		x[i] = [3]float64{r.Float64() * 200, r.Float64() * 100, r.ExpFloat64() * heights}
	}
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, n)
		for j := range i {
			d := math.Hypot(x[i][0]-x[j][0], x[i][1]-x[j][1]) + x[i][2] + x[j][2] + .1
			d *= math.Exp(noise * r.NormFloat64())
			out[i][j], out[j][i] = d, d
		}
	}
	return out
}

func TestPlaneIsFound(t *testing.T) {
	e, err := Evaluate(Config{Dim: 2, Starts: 8}, world(60, 0, 0, 1), nil, 6)
	if err != nil {
		t.Fatal(err)
	}
	if e.Median > .01 {
		t.Errorf("a plane without noise is predicted with a median error of %.3f", e.Median)
	}
}

func TestHeightsHelpWhereThereAreSome(t *testing.T) {
	d := world(80, 30, .05, 2)
	flat, err := Evaluate(Config{Dim: 2, Starts: 6}, d, nil, 9)
	if err != nil {
		t.Fatal(err)
	}
	high, err := Evaluate(Config{Dim: 2, Heights: true, Starts: 6, Rounds: 6}, d, nil, 9)
	if err != nil {
		t.Fatal(err)
	}
	if high.Median > .8*flat.Median {
		t.Errorf("with heights %.3f, without %.3f", high.Median, flat.Median)
	}
}

func TestSameSeedSameCoordinates(t *testing.T) {
	d := world(40, 10, .1, 3)
	for _, cfg := range []Config{Paper(), WithHeights()} {
		a, err := Evaluate(cfg, d, nil, 9)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := Evaluate(cfg, d, nil, 9)
		if a.Median != b.Median || a.Coords[5].X[0] != b.Coords[5].X[0] {
			t.Error("two fits differ")
		}
	}
}

func TestMissingDelays(t *testing.T) {
	d := world(40, 10, .05, 4)
	r := rand.New(rand.NewPCG(1, 1))
	for k := 0; k < 500; k++ {
		d[r.IntN(40)][r.IntN(40)] = math.NaN()
	}
	for j := range d {
		d[39][j], d[j][39] = math.NaN(), 0
	}
	e, err := Evaluate(WithHeights(), d, nil, 9)
	if err != nil {
		t.Fatal(err)
	}
	if e.Coords[39].Known() || e.Median > .3 {
		t.Errorf("host without delays known: %v; median %.3f", e.Coords[39].Known(), e.Median)
	}
}

// A host whose delays hardly change stays where it is.
func TestPlaceIsSteady(t *testing.T) {
	d := world(30, 0, .02, 5)
	marks := Spread(d, 7)
	sub := make([][]float64, 7)
	for a, l := range marks {
		for _, m := range marks {
			sub[a] = append(sub[a], d[l][m])
		}
	}
	s, err := Fit(Config{Dim: 2, Starts: 8}, sub)
	if err != nil {
		t.Fatal(err)
	}
	to := func(h int) (x []float64) {
		for _, l := range marks {
			x = append(x, d[h][l])
		}
		return x
	}
	free := 0
	for free < 30 && contains(marks, free) {
		free++
	}
	before := s.Place(to(free))
	slow := to(free)
	for k := range slow {
		slow[k] *= 1.01
	}
	if c := s.Place(slow); Distance(Coord{X: c.X}, Coord{X: before.X}) > 10 {
		t.Errorf("delays 1 %% longer move a host by %.1f ms", Distance(c, before))
	}
}

func contains(xs []int, x int) bool {
	for _, y := range xs {
		if x == y {
			return true
		}
	}
	return false
}

func TestStatisticalMean(t *testing.T) {
	s := []float64{51, 52, 53, 55, 58, 61, 62, 63, 64, 72, 75, 240, 3050}
	if got := StatisticalMean(s, 10); math.Abs(got-60.54545454545455) > 1e-12 {
		t.Errorf("%v", got)
	}
	if Median(s) != 62 {
		t.Errorf("median %v", Median(s))
	}
	if !math.IsNaN(StatisticalMean(nil, 10)) || !math.IsNaN(Median(nil)) {
		t.Error("nothing has a mean")
	}
	if m := Modulus([][]float64{s}); m != DefaultModulus {
		t.Errorf("13 samples choose %v", m)
	}
	if m := Modulus([][]float64{s, s, s}); m < 1 || m > 50 {
		t.Errorf("39 samples choose %v", m)
	}
}

func TestAccuracyDropsTheWorst(t *testing.T) {
	if a := Accuracy([]float64{.1, 9, .2, .3, 7, .1, .1, .1, .1, .2}, .2); math.Abs(a-.85) > 1e-9 {
		t.Errorf("%v", a)
	}
}

func TestRefuses(t *testing.T) {
	d := world(5, 0, 0, 1)
	for _, e := range []error{
		second(Evaluate(Config{Dim: 0, Starts: 1}, d, nil, 3)), second(Evaluate(Paper(), d, nil, 9)),
		second(Evaluate(Paper(), d, []int{1, 1}, 0)), second(Evaluate(Paper(), d, []int{9}, 0)), second(Evaluate(Paper(), d, []int{1}, 0)),
	} {
		if e == nil {
			t.Error("accepted")
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestTriangles(t *testing.T) {
	nan := math.NaN()
	// 0–1 takes 10, over 2 only 6; 3 was measured by nobody.
	d := [][]float64{{0, 10, 3, nan}, {10, 0, 3, nan}, {3, nan, 0, nan}, {nan, nan, nan, 0}}
	if x := Triangles(d); x != 1 {
		t.Errorf("%v of the triangles, want the one that there is", x)
	}
	four := [][]float64{{0, 10, 3, 9}, {10, 0, 3, 9}, {3, 3, 0, 9}, {9, 9, 9, 0}} // that of 0, 1 and 2; 3 is as far from all
	if x := Triangles(four); x != 0.25 {
		t.Errorf("%v of the triangles, want one of four", x)
	}
	if x := Triangles(world(20, 0, 0, 1)); x != 0 {
		t.Errorf("%v in a plane", x)
	}
	if x := Triangles(nil); x == x {
		t.Errorf("%v of nothing", x)
	}
}

// In a plane without noise the plane's models are chosen before those that hold hosts back, and predict what was left out;
// with access links of their own, those with heights are.
func TestChooseByWhatIsLeftOut(t *testing.T) {
	models := []Model{{Name: "plane", Spaces: []Config{{Dim: 2, Starts: 6}}}, {Name: "heights", Spaces: []Config{{Dim: 2, Heights: true, Starts: 6, Rounds: 6}}}, {Name: "held", Spaces: []Config{{Dim: 2, Heights: true, Starts: 2, Rounds: 2, Ridge: 100}}}}
	for _, c := range []struct {
		want    string
		heights float64
	}{{"plane", 0}, {"heights", 40}} {
		d := world(50, c.heights, 0.02, 11)
		marks := Spread(d, 7)
		left := Tenth(5)
		best, scores, err := Choose(models, d, marks, left)
		if err != nil || best.Model.Name != c.want || len(scores) != 3 {
			t.Fatalf("%v, %v, want %s", scores, err, c.want)
		}
		v := best.Judge(d, func(h, g int) bool { return !left(h, g) })
		if v.P90 > 0.3 || v.Hits < 0.5 || v.Pairs+best.Judge(d, left).Pairs != 43*42/2 {
			t.Errorf("%s: %+v", best.Model.Name, v)
		}
	}
	if _, _, err := Choose(models, world(50, 0, 0, 1), []int{1, 2, 3}, func(int, int) bool { return false }); err == nil {
		t.Error("chosen by nothing")
	}
	n := 0
	for h := range 200 {
		for g := range h {
			if left := Tenth(7); left(h, g) {
				n++
				if !left(g, h) {
					t.Fatal("a pair depends on who comes first")
				}
			}
		}
	}
	if n < 1800 || n > 2180 {
		t.Errorf("%d of 19900 pairs are a tenth", n)
	}
}

// A blend is between what its spaces and the triangle inequality say, and too long and too short count alike.
func TestBlend(t *testing.T) {
	if a, b := Off(50, 100), Off(200, 100); a != b || a != 1 {
		t.Errorf("half is off by %g, double by %g", a, b)
	}
	d := world(30, 10, 0.1, 3)
	marks := Spread(d, 6)
	blend := Models()[3]
	p, err := Predict(blend, d, marks)
	if err != nil {
		t.Fatal(err)
	}
	for h := range d {
		for g := range h {
			lo, hi := math.Inf(1), 0.0
			for _, c := range p.Coords {
				x := Distance(c[h], c[g])
				lo, hi = min(lo, x), max(hi, x)
			}
			short := 1.0
			for k, a := range p.to[h] {
				lo, hi = min(lo, a+p.to[g][k]), max(hi, a+p.to[g][k])
				short = max(short, math.Abs(a-p.to[g][k]))
			}
			if x := p.Between(h, g); x < min(lo, short)-1e-9 || x > hi+1e-9 {
				t.Fatalf("%d and %d: %g is not between %g and %g", h, g, x, min(lo, short), hi)
			}
		}
	}
}

// A landmark that nobody has measured yet, or that the others cannot reach, is left out: the others and all hosts have the places that they
// have without it.
func TestLandmarkThatNobodyHasMeasured(t *testing.T) {
	const landmarks, lost = 7, 3
	d := world(20, 0, 0, 1)
	between, without := make([][]float64, landmarks), make([][]float64, 0, landmarks-1)
	for i := range between {
		between[i] = slices.Clone(d[i][:landmarks])
		if i != lost {
			without = append(without, slices.Delete(slices.Clone(d[i][:landmarks]), lost, lost+1))
		}
	}
	for k := range landmarks {
		between[lost][k], between[k][lost] = math.NaN(), math.NaN()
	}
	cfg := Config{Dim: 2, Starts: 4}
	space, err := Fit(cfg, between)
	if err != nil {
		t.Fatal(err)
	}
	if space.Landmarks[lost].Known() {
		t.Errorf("the landmark that nobody has measured is at %v", space.Landmarks[lost])
	}
	fewer, err := Fit(cfg, without)
	if err != nil {
		t.Fatal(err)
	}
	for h := landmarks; h < len(d); h++ {
		to := slices.Clone(d[h][:landmarks])
		to[lost] = 1 // it is known to the host alone
		a, b := space.Place(to), fewer.Place(slices.Delete(slices.Clone(to), lost, lost+1))
		for l := range landmarks - 1 {
			at := l
			if l >= lost {
				at++
			}
			x, y := Distance(a, space.Landmarks[at]), Distance(b, fewer.Landmarks[l])
			if math.Abs(x-y) > 0.05*d[h][at]+1 {
				t.Errorf("host %d is %.1f from landmark %d, and %.1f where the other is not there; %.1f were measured", h, x, at, y, d[h][at])
			}
		}
	}
}

// Whoever has measured can say what it likes: the shortest and the longest delays that are numbers leave everybody a place.
func TestImpossibleDelaysHaveAPlace(t *testing.T) {
	for _, odd := range []float64{math.SmallestNonzeroFloat64, 1e-300, 1e-160, 1e-9, 1e12} {
		for _, all := range []bool{false, true} {
			for _, heights := range []bool{false, true} {
				cfg := Paper()
				if heights {
					cfg = WithHeights()
				}
				const n = 5
				delay := make([][]float64, n)
				for i := range delay {
					delay[i] = make([]float64, n)
					for j := range delay[i] {
						if delay[i][j] = float64(20 + 7*(i+j)); all || min(i, j) == 0 && max(i, j) == 1 {
							delay[i][j] = odd
						}
					}
					delay[i][i] = 0
				}
				space, err := Fit(cfg, delay)
				if err != nil {
					t.Fatal(err)
				}
				for _, to := range [][]float64{{odd, odd, odd, odd, odd}, {30, odd, 40, 50, 60}, {30, 30, 40, 50, 60}} {
					c := space.Place(to)
					for _, l := range space.Landmarks {
						if d := Distance(c, l); math.IsNaN(d) || math.IsInf(d, 0) {
							t.Errorf("%g, everywhere %v, heights %v: %v from a landmark with delays %v", odd, all, heights, d, to)
						}
					}
				}
			}
		}
	}
}

// Delays that are given in one direction only choose the landmarks that those of both directions do.
func TestLandmarksOfOneDirection(t *testing.T) {
	both, one := make([][]float64, 12), make([][]float64, 12)
	for i := range both {
		both[i], one[i] = make([]float64, 12), make([]float64, 12)
		for j := range both {
			both[i][j], one[i][j] = math.Abs(float64(i*i-j*j)), math.NaN()
			if j < i {
				one[i][j] = both[i][j]
			}
		}
	}
	want, err := Landmarks(both, nil, 4)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Landmarks(one, nil, 4); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v (%v), want %v", got, err, want)
	}
	if _, err := Landmarks([][]float64{{0}}, nil, 4); err == nil {
		t.Error("one host gives four landmarks")
	}
}

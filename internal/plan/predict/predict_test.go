package predict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/plan/netcoord"
)

// fleet is a made world: nodes and sites in a plane, speeds that fall with distance, good and bad nodes and sites.
type fleet struct {
	x, y   [][2]float64
	a, b   []float64
	jitter [][]float64
}

func newFleet(nodes, sites int, seed uint64) fleet {
	r := rand.New(rand.NewPCG(seed, 1))
	f := fleet{}
	for range nodes {
		f.x, f.a = append(f.x, [2]float64{r.Float64() * 200, r.Float64() * 100}), append(f.a, r.NormFloat64()*.4)
		j := make([]float64, sites)
		for k := range j {
			j[k] = r.NormFloat64() * .2
		}
		f.jitter = append(f.jitter, j)
	}
	for range sites {
		f.y, f.b = append(f.y, [2]float64{r.Float64() * 200, r.Float64() * 100}), append(f.b, r.NormFloat64()*.5)
	}
	return f
}

func dist(a, b [2]float64) float64 { return 3 + math.Hypot(a[0]-b[0], a[1]-b[1]) }

func (f fleet) rate(i, j int) float64 {
	return math.Exp(16 + f.a[i] + f.b[j] - math.Log(dist(f.x[i], f.y[j])) + f.jitter[i][j])
}

// learn gives a book every delay to the landmarks and the speeds of a few pairs a site.
func (f fleet) learn(b *Book, perSite int, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 2))
	for i := range f.x {
		b.Node(string(rune('a' + i)))
	}
	for i := range f.x {
		for j := range f.x {
			if i != j {
				b.NodeDelay(i, j, dist(f.x[i], f.x[j]))
			}
		}
	}
	for s := range f.y {
		b.Site(string(rune('A' + s)))
		for i := range f.x {
			if i%2 == 0 {
				b.Delay(i, s, dist(f.x[i], f.y[s]), 0)
			}
		}
		for _, i := range r.Perm(len(f.x))[:perSite] {
			b.Crawled(i, s, f.rate(i, s)*math.Exp(r.NormFloat64()*.1), 1, false, 1000)
		}
	}
	b.Fit()
}

// Unmeasured pairs are predicted far better than by the mean of all, and as surely as the book says.
func TestUnmeasuredPairsArePredicted(t *testing.T) {
	f := newFleet(16, 80, 1)
	b := New(Config{})
	f.learn(b, 4, 1)
	var errs, naive, inside, n float64
	mean := 0.0
	for i := range f.x {
		for j := range f.y {
			mean += math.Log(f.rate(i, j)) / float64(len(f.x)*len(f.y))
		}
	}
	for i := range f.x {
		for j := range f.y {
			p := b.Rate(i, j, 1000)
			if p.Source == Measured {
				continue
			}
			e := math.Log(p.Value / f.rate(i, j))
			errs += e * e
			naive += math.Pow(math.Log(f.rate(i, j))-mean, 2)
			if math.Abs(e) < 2*p.Sigma {
				inside++
			}
			n++
		}
	}
	if errs > .35*naive {
		t.Errorf("squared error %.3f, of the mean %.3f", errs/n, naive/n)
	}
	if inside < .85*n {
		t.Errorf("%.0f %% within two standard deviations", 100*inside/n)
	}
	t.Logf("squared error %.3f, of the mean %.3f, %.0f %% inside", errs/n, naive/n, 100*inside/n)
}

// The five pairs that the book would probe hold one that is nearly the best.
func TestProbesFindTheBest(t *testing.T) {
	f := newFleet(20, 60, 2)
	b := New(Config{})
	f.learn(b, 2, 2)
	nodes := make([]int32, len(f.x))
	for i := range nodes {
		nodes[i] = int32(i)
	}
	got := 0.0
	for j := range f.y {
		best, found := 0.0, 0.0
		for i := range f.x {
			best = max(best, f.rate(i, j))
			if b.Rate(i, j, 1000).Source == Measured {
				found = max(found, f.rate(i, j))
			}
		}
		for _, i := range b.Probes(j, 1000, nodes, 5) {
			found = max(found, f.rate(int(i), j))
		}
		got += found / best / float64(len(f.y))
	}
	if got < .93 {
		t.Errorf("the best of five probes reaches %.2f of the best", got)
	}
	t.Logf("the best of five probes reaches %.3f of the best", got)
}

// A delay that was measured once, which may be that of a lost packet, says nothing of a pair's speed; as often as nodes ask, it does.
func TestOneDelayTellsNothing(t *testing.T) {
	f := newFleet(20, 60, 4)
	b := New(Config{})
	f.learn(b, 2, 4)
	const node, site = 1, 3 // no landmark
	before := b.Rate(node, site, 1000).Value
	late := 20 * dist(f.x[node], f.y[site])
	b.Delay(node, site, late, 1000)
	if after := b.Rate(node, site, 1000).Value; math.Abs(after-before) > 1e-9*before {
		t.Errorf("one late answer: %.4g, was %.4g", after, before)
	}
	for range crawl.PingTries - 1 {
		b.Delay(node, site, late, 1000)
	}
	if after := b.Rate(node, site, 1000).Value; after > before/2 {
		t.Errorf("late whenever it was asked: %.4g, was %.4g", after, before)
	}
}

func TestMeasuredPairsSpeakForThemselves(t *testing.T) {
	b := New(Config{})
	n, s := b.Node("n"), b.Site("s")
	if f := b.Rate(n, s, 0); f.Source != Default || math.Abs(f.Value-8e6) > 1 {
		t.Errorf("%+v", f)
	}
	for range 3 {
		b.Crawled(n, s, 3e6, 3, false, 1000)
	}
	if f := b.Crawl(n, s, 1000); f.Source != Measured || f.Value != 1e6 {
		t.Errorf("BC %+v", f)
	}
	for k := range 12 {
		b.Reported(n, s, Report{Bits: 2e6, Seconds: 1, Good: 4, All: 8}, int64(2000+k))
	}
	if f := b.Rate(n, s, 3000); f.Source != Measured || f.Value < 2.5e6 || f.Value > 4.2e6 {
		t.Errorf("after reports %+v: half of the requests gave a page, and useful bits are speed times that", f)
	}
	b.Reported(n, s, Report{Bits: 5e4, Seconds: 1, Good: 4, All: 8, Limited: true}, 3000)
	if f := b.Rate(n, s, 3000); f.Value < 2.5e6 {
		t.Errorf("a node at its own limit says nothing against the pair: %+v", f)
	}
	if good, all := b.Served(n, s, 3000); good <= 0 || good/all != .5 {
		t.Errorf("%v of %v requests gave a page", good, all)
	}
	if f := b.Success(n, s, 3000); math.Abs(f.Value-.5) > .1 || f.Source != Measured {
		t.Errorf("success %+v", f)
	}
	b.Stored(n, 8e5, .1)
	if f := b.Store(n); math.Abs(f.Value-8e6) > 1 || f.Source != Measured {
		t.Errorf("BS %+v", f)
	}
	if f := b.Store(b.Node("m")); f.Value < 7.9e6 || f.Source != Predicted {
		t.Errorf("BS of another %+v", f)
	}
}

// The same pages told in parts of any length give the same speed: a part in which no page ends is work all the same.
func TestSpeedDoesNotGoByTheParts(t *testing.T) {
	for _, part := range []float64{0.1, 1, 3, 20} { // seconds
		b := New(Config{})
		n, s := b.Node("n"), b.Site("s")
		const page, bits = 1.7, 2e6 // seconds
		done := 0
		for k := 1; float64(k)*part <= 200; k++ {
			pages := int(float64(k)*part/page) - done
			done += pages
			b.Reported(n, s, Report{Bits: float64(pages) * bits, Seconds: part, Good: float64(pages), All: float64(pages)}, int64(float64(k)*part*1000))
		}
		if f := b.Rate(n, s, 200_000); math.Abs(f.Value*page/bits-1) > 0.12 {
			t.Errorf("in parts of %v s: %.3g bits/s, not %.3g", part, f.Value, bits/page)
		}
	}
}

// A change that lasts is believed within a few reports; a spike is not.
func TestChangeIsNoticed(t *testing.T) {
	b := New(Config{})
	n, s := b.Node("n"), b.Site("s")
	for k := range 20 {
		b.Reported(n, s, Report{Bits: 8e6, Seconds: 1, Good: 8, All: 8}, int64(k*1000))
	}
	b.Reported(n, s, Report{Bits: 8e5, Seconds: 1, Good: 8, All: 8}, 21_000)
	if f := b.Rate(n, s, 21_000); f.Value < 5e6 {
		t.Errorf("one slow lease: %+v", f)
	}
	for k := range 4 {
		b.Reported(n, s, Report{Bits: 8e5, Seconds: 1, Good: 8, All: 8}, int64(22_000+1000*k))
	}
	if f := b.Rate(n, s, 26_000); f.Value > 2e6 {
		t.Errorf("five slow leases: %+v", f)
	}
}

// Noise of measurements and the wandering of what they measure are told apart.
func TestAgingIsLearned(t *testing.T) {
	for _, c := range []struct{ noise, hour float64 }{{0.1, 0}, {0.5, 0}, {0.2, 1}, {0.2, 0.3}} {
		b, r := New(Config{}), rand.New(rand.NewPCG(1, 2))
		const nodes, sites = 10, 40
		mean, seen := [nodes][sites]float64{}, [nodes][sites]int64{}
		for i := range nodes {
			b.Node(fmt.Sprint("n", i))
		}
		for j := range sites {
			b.Site(fmt.Sprint("s", j))
		}
		for k := range int64(6000) { // two hours, in which a pair is looked at now and again
			i, j, at := r.IntN(nodes), r.IntN(sites), k*1200
			mean[i][j] += c.hour * math.Sqrt(float64(at-seen[i][j])/3.6e6) * r.NormFloat64()
			seen[i][j] = at
			b.Crawled(i, j, math.Exp(14+mean[i][j]+c.noise*r.NormFloat64()), 1, false, at)
		}
		noise, drift := b.aging.fit()
		if got := math.Sqrt(noise); math.Abs(got-c.noise) > 0.25*c.noise+0.02 {
			t.Errorf("noise %.2f, drift %.2f: learned noise %.3f", c.noise, c.hour, got)
		}
		if got := math.Sqrt(drift * 3.6e6); math.Abs(got-c.hour) > 0.3*c.hour+0.15 {
			t.Errorf("noise %.2f, drift %.2f: learned drift %.3f an hour", c.noise, c.hour, got)
		}
	}
}

// A lease that tells every few seconds how fast it is says the same again and again: that tells neither that leases agree, nor more of its pair than a
// lease that tells when it ends.
func TestPartsOfOneLeaseAreHardlyApart(t *testing.T) {
	const nodes, sites, noise, each = 10, 20, 0.6, 30_000
	told := func(parts int64) (learned, sigma, weight float64) {
		b, r := New(Config{}), rand.New(rand.NewPCG(1, 2))
		for i := range nodes {
			b.Node(fmt.Sprint("n", i))
		}
		for j := range sites {
			b.Site(fmt.Sprint("s", j))
		}
		for turn := range int64(40) { // each site is with one node after the other, mostly for a lease
			for j := range sites {
				i, bits := (j+int(turn))%nodes, math.Exp(14+noise*r.NormFloat64())
				for k := range parts {
					n := float64(parts)
					b.Reported(i, j, Report{Bits: 30 / n * bits, Seconds: 30 / n, Good: 80 / n, All: 80 / n}, turn*each+(k+1)*each/parts)
				}
			}
		}
		b.Fit()
		learned, _ = b.aging.fit()
		p := b.look(0, 0)
		return math.Sqrt(learned), b.Rate(0, 0, 40*each).Sigma, p.rate.weight
	}
	once, sure, _ := told(1)
	often, surer, weight := told(7)
	if math.Abs(once-noise) > 0.1 || math.Abs(often-noise) > 0.15 {
		t.Errorf("leases differ by %v: %.2f was learned where they tell once, %.2f where they tell in parts", noise, once, often)
	}
	if surer < 0.6*sure {
		t.Errorf("a pair is known within %.2f by leases that tell in parts (they weigh %.1f), within %.2f by those that tell once", surer, weight, sure)
	}
}

// A fleet that gets other landmarks, and more of them, goes on predicting: sites stay where the old ones have seen them until the next
// Fit.
func TestLandmarksChange(t *testing.T) {
	f := newFleet(16, 20, 3)
	b := New(Config{})
	f.learn(b, 3, 3)
	for s := range f.y {
		b.Latency(1, s)
	}
	b.SetLandmarks([]int{0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14})
	for s := range f.y {
		b.Delay(0, s, dist(f.x[0], f.y[s]), 2000)
		b.Delay(2, s, dist(f.x[2], f.y[s]), 2000)
		if p := b.Latency(1, s); p.Source != Predicted {
			t.Fatalf("site %d: %+v", s, p)
		}
	}
	b.Fit()
	off := 0.0
	for s := range f.y {
		off += math.Abs(math.Log(b.Latency(1, s).Value/dist(f.x[1], f.y[s]))) / float64(len(f.y))
	}
	if off > 0.1 {
		t.Errorf("delays are off by %.2f on average", off)
	}
}

// Landmarks that a job names may hold one that has measured no other node yet, or that none can reach: the others go on telling where sites are.
func TestLandmarkWithoutDelays(t *testing.T) {
	f := newFleet(12, 20, 3)
	b := New(Config{})
	f.learn(b, 3, 3)
	lost := b.Node("joined")
	b.SetLandmarks([]int{0, 2, 4, 6, 8, 10, lost})
	for s := range f.y {
		b.Delay(lost, s, 50, 2000)
	}
	b.Fit()
	off := 0.0
	for s := range f.y {
		p := b.Latency(1, s)
		if p.Source != Predicted {
			t.Fatalf("site %d: %+v", s, p)
		}
		off += math.Abs(math.Log(p.Value/dist(f.x[1], f.y[s]))) / float64(len(f.y))
	}
	if off > 0.1 {
		t.Errorf("delays are off by %.2f on average", off)
	}
}

// What a book predicts follows from the record as of its last fit: a restart, which reads the record back and fits once, has the same places of
// sites, speeds and shares as a book that was fitted time and again while measurements came, and that somebody asked in between.
func TestRestartPredictsTheSame(t *testing.T) {
	for seed := range uint64(10) {
		f := newFleet(14, 12, seed)
		live := New(Config{})
		f.learn(live, 3, seed)
		r := rand.New(rand.NewPCG(seed, 9))
		for round := range 6 {
			for s := range f.y {
				for i := range f.x {
					for range round + 1 {
						live.Delay(i, s, dist(f.x[i], f.y[s])*math.Exp(r.NormFloat64()*.2), int64(1000*round))
					}
					if r.IntN(2) == 0 {
						live.Reported(i, s, Report{Bits: f.rate(i, s) * math.Exp(r.NormFloat64()*.2), Seconds: 1, Good: 8, All: float64(8 + r.IntN(3))}, int64(1000*round))
					}
				}
				if r.IntN(3) == 0 {
					live.Latency(1, s)
				}
			}
			live.Fit()
		}
		anew := readBack(t, live)
		anew.Fit()
		for s := range f.y {
			if a, b := live.siteAt(s), anew.siteAt(s); !a.Known() || !slices.Equal(a.X, b.X) || a.Height != b.Height {
				t.Fatalf("seed %d, site %d: %v, after a restart %v", seed, s, a, b)
			}
			for i := range f.x {
				if a, b := live.Rate(i, s, 9000), anew.Rate(i, s, 9000); a != b {
					t.Fatalf("seed %d, node %d, site %d: %+v, after a restart %+v", seed, i, s, a, b)
				}
				if a, b := live.Success(i, s, 9000), anew.Success(i, s, 9000); a != b {
					t.Fatalf("seed %d, node %d, site %d: %+v, after a restart %+v", seed, i, s, a, b)
				}
			}
		}
	}
}

// readBack is a book of what a restart reads of another's record.
func readBack(t *testing.T, b *Book) *Book {
	t.Helper()
	written, err := b.Record.Encode()
	if err != nil {
		t.Fatal(err)
	}
	rec, err := DecodeRecord(written)
	if err != nil {
		t.Fatal(err)
	}
	return rec.Book(Config{})
}

// Where a site lies is made anew only when a tenth of its delays is new: what is predicted after a restart, which places all, is then nearly the same.
func TestRestartPredictsNearlyTheSame(t *testing.T) {
	for seed := range uint64(5) {
		f := newFleet(14, 60, seed)
		live := New(Config{})
		f.learn(live, 3, seed)
		r := rand.New(rand.NewPCG(seed, 9))
		for round := range 12 {
			for s := range f.y {
				for range 1 + round {
					i := r.IntN(len(f.x))
					live.Crawled(i, s, f.rate(i, s)*math.Exp(r.NormFloat64()*.2), 1, false, int64(1000*round))
					live.Delay(i, s, dist(f.x[i], f.y[s])*math.Exp(r.NormFloat64()*.2), int64(1000*round))
				}
			}
			live.Fit()
		}
		anew := readBack(t, live)
		anew.Fit()
		worst, sum := 0.0, 0.0
		for s := range f.y {
			for i := range f.x {
				off := math.Abs(math.Log(live.Rate(i, s, 12_000).Value / anew.Rate(i, s, 12_000).Value))
				worst, sum = max(worst, off), sum+off
			}
		}
		mean := sum / float64(len(f.x)*len(f.y))
		t.Logf("seed %d: speeds differ by %.2f %% on average, %.0f %% at most", seed, 100*mean, 100*worst)
		if mean > 0.001 || worst > 0.05 {
			t.Errorf("seed %d: speeds differ by %.4f on average after a restart, %.3f at most", seed, mean, worst)
		}
	}
}

// A node that says that it is no time away from another costs nobody's book more than its own figures.
func TestImpossibleDelayBetweenNodes(t *testing.T) {
	b := New(Config{Coordinates: netcoord.Paper()})
	var nodes []int
	for _, id := range []string{"a", "b", "c", "d"} {
		nodes = append(nodes, b.Node(id))
	}
	for i := range nodes {
		for k := range nodes {
			b.NodeDelay(i, k, float64(10+5*(i+k)))
		}
	}
	b.NodeDelay(nodes[0], b.Node("e"), 1e-200)
	b.NodeDelay(b.Node("e"), nodes[0], 1e-200)
	site := b.Site("s.test")
	for _, n := range nodes {
		b.Delay(n, site, 1e-200, 1)
	}
	b.SetLandmarks([]int{nodes[0], nodes[1], b.Node("e")})
	b.Fit()
	for _, n := range append(nodes, b.Node("e")) {
		if f := b.Latency(n, b.Site("t.test")); !(f.Value > 0) || math.IsInf(f.Value, 0) {
			t.Errorf("node %d: %+v", n, f)
		}
	}
}

package predict

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// limited has each pair of eight nodes and so many sites tell of one lease, which has no more than its node carries.
func limited(sites int, carries, spread float64) (rec *Record, truth [][]float64) {
	rng := rand.New(rand.NewPCG(11, 12))
	rec = NewRecord()
	truth = make([][]float64, 8)
	for i := range truth {
		rec.Node(fmt.Sprint("n", i))
		truth[i] = make([]float64, sites)
		for j := range sites {
			truth[i][j] = math.Exp(spread * rng.NormFloat64())
			has := truth[i][j] * math.Exp(0.2*rng.NormFloat64())
			rec.Reported(i, rec.Site(fmt.Sprint("s", j)), Report{Bits: 10 * min(has, carries), Seconds: 10, Good: 20, All: 20, Limited: has > carries}, int64(1000*(i+1)))
		}
	}
	return rec, truth
}

// What a node's own limit has cut off says that a pair is faster than that: known by the others alone it would be taken for one of the slower
// ones, which are all that was seen whole.
func TestLimitedLeasesTellWhatPairsHaveAtLeast(t *testing.T) {
	for _, carries := range []float64{0.7, 1, 1.5} {
		rec, truth := limited(60, carries, 0.8)
		b := rec.Book(Config{})
		b.Fit()
		off, others, n := 0.0, 0.0, 0.0
		for i := range truth {
			for j := range truth[i] {
				p := rec.look(i, j)
				if p.rate.weight > 0 {
					continue
				}
				f := b.Rate(i, j, 10_000)
				if f.Value < 0.7*carries || f.Sigma <= 0 {
					t.Fatalf("pair %d %d had %v at least, and is known as %+v", i, j, carries, f)
				}
				off += math.Log(f.Value / truth[i][j])
				others += math.Log(b.Others(i, j).Value / truth[i][j])
				n++
			}
		}
		if off /= n; math.Abs(off) > 0.65*math.Abs(others/n) {
			t.Errorf("nodes that carry %v: %v pairs are off by %.2f on average, and by %.2f as the others say", carries, n, off, others/n)
		}
	}
}

// A speed that was seen whole is what a pair has, whatever it had at least before; a lower limit tells nothing after a higher one, and nothing is lost by
// a restart.
func TestLeastIsKept(t *testing.T) {
	rec := NewRecord()
	n, s := rec.Node("a"), rec.Site("s")
	report := func(bits float64, limited bool, at int64) {
		rec.Reported(n, s, Report{Bits: 10 * bits, Seconds: 10, Good: 20, All: 20, Limited: limited}, at)
	}
	report(4e6, true, 1000)
	report(1e6, true, 2000)
	b := rec.Book(Config{})
	if f := b.Rate(n, s, 3000); f.Value < 4e6 {
		t.Errorf("%+v of a pair that had 4e6", f)
	}
	again, code := restarted(t, rec)
	if x, y := again.Book(Config{}).Rate(n, s, 3000), b.Rate(n, s, 3000); x != y {
		t.Errorf("%+v after a restart, %+v before", x, y)
	}
	if twice, err := again.Encode(); err != nil || !bytes.Equal(code, twice) {
		t.Errorf("another record after a restart (%v)", err)
	}
	for at := range int64(10) {
		report(3e6, false, 4000+1000*at)
	}
	if f := b.Rate(n, s, 20_000); math.Abs(math.Log(f.Value/3e6)) > 0.2 {
		t.Errorf("%+v of a pair that had 3e6 in ten leases", f)
	}
}

// The mean and the spread of what is cut off below are those of drawn numbers, and go on where a tail is too far out to be computed.
func TestCutOffBelow(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	const sd, noise = 0.8, 0.09
	for _, ln := range []float64{-3, -1, 0, 0.5, 1.5} {
		sum, square, n := 0.0, 0.0, 0.0
		for range 400_000 {
			if x := sd * rng.NormFloat64(); x+math.Sqrt(noise)*rng.NormFloat64() >= ln {
				sum, square, n = sum+x, square+x*x, n+1
			}
		}
		want, spread := sum/n, math.Sqrt(square/n-sum/n*sum/n)
		l := least{ln, 1}
		if mean, sigma := l.above(0, sd, noise, 0, 1); math.Abs(mean-want) > 0.02 || math.Abs(sigma-spread) > 0.02 {
			t.Errorf("cut off at %v: mean %.3f, spread %.3f, drawn %.3f and %.3f", ln, mean, sigma, want, spread)
		}
	}
	before := 0.0
	for ln := 0.0; ln < 100; ln += 0.1 {
		l := least{ln, 1}
		mean, sigma := l.above(0, sd, noise, 0, 1)
		if !(mean > before && sigma > 0 && sigma < sd) {
			t.Fatalf("cut off at %v: mean %v after %v, spread %v", ln, mean, before, sigma)
		}
		before = mean
	}
}

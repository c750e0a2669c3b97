package sim

import (
	"fmt"
	"math"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/plan/learn"
)

// In a short crawl a node measures a site and another has its only lease, so that no pair says what probes wait. They wait for the opening of their connection
// and for each answer all the same: what they have measured is not taken for what a lease would have had.
func TestFewProbesWaitForAnswers(t *testing.T) {
	const page, answers = 2e4, 0.5
	r, speed := recorded(false)
	known := tried(&r)
	r.Answers = map[string]float64{}
	for j := range 12 {
		r.Answers[fmt.Sprint("s", j)] = answers
	}
	var probed [][2]int
	for i := range speed {
		for j := range speed[i] {
			if known[[2]int{i, j}] || len(probed) == 3 {
				continue
			}
			probed = append(probed, [2]int{i, j})
			bits := crawl.ProbeTries * page
			delay := bits / speed[i][j] // as long as the bits take: half of the time is waited for opening and answers
			f := learn.Fact{At: 1e12, Kind: learn.Delay, Node: fmt.Sprint("n", i), Site: fmt.Sprint("s", j), Seconds: delay}
			r.Facts = append([]learn.Fact{f}, r.Facts...)
			f.Kind, f.Bits, f.Seconds = learn.Crawl, bits, bits/speed[i][j]+delay*(1-answers+crawl.ProbeTries*answers)
			r.Facts = append([]learn.Fact{f}, r.Facts...)
		}
	}
	w, _, err := r.World(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range probed {
		if got, want := w.Speed[at[0]][at[1]], speed[at[0]][at[1]]; math.Abs(got/want-1) > 0.05 {
			t.Errorf("n%d, s%d: %.3g bits/s, want %.3g", at[0], at[1], got, want)
		}
	}
}

// A probe that is made again in a replay takes as long as it did, whatever probes of other pairs wait: who chooses by it chooses as it did.
func TestReplayedProbesTakeAsLong(t *testing.T) {
	r, speed := recorded(false)
	const bits = 3e5
	took := func(i, j int) float64 { return bits/speed[i][j] + 0.05*float64(1+(i+j)%4) }
	for i := range speed {
		for j := range speed[i] {
			r.Facts = append(r.Facts, learn.Fact{At: 1e12 + second, Kind: learn.Crawl, Node: fmt.Sprint("n", i), Site: fmt.Sprint("s", j), Bits: bits, Seconds: took(i, j)})
		}
	}
	w, _, err := r.World(1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range speed {
		for j := range speed[i] {
			if got, want := bits/w.Speed[i][j]+w.Waits[i][j], took(i, j); math.Abs(got/want-1) > 0.01 {
				t.Errorf("the probe of n%d and s%d takes %.3f s, took %.3f", i, j, got, want)
			}
		}
	}
}

// politely has three nodes ask four sites every half second, 100 times each; each says how many bits a request gives and how long it takes, s.
func politely(each func(k int) (bits, took float64)) (r Recording) {
	r = Recording{Strategy: "roundrobin", Left: map[string]float64{}, Lease: LeaseShape{Bits: 1000, Seconds: 300}, Widths: 1, Delay: 0.5, Varies: map[string]float64{}}
	for i := range 3 {
		r.Nodes = append(r.Nodes, RecordedNode{ID: fmt.Sprint("n", i), Leases: 8})
	}
	for j := range 4 {
		l := RecordedLease{Task: uint32(j + 1), Node: fmt.Sprint("n", j%3), Site: fmt.Sprint("s", j), Started: 1e12, Ended: 1e12 + 50*second, Given: 100}
		for k := range 100 {
			bits, took := each(k)
			f := learn.Fact{At: l.Started + int64(k+1)*second/2, Kind: learn.Report, Node: l.Node, Site: l.Site, Bits: bits, Seconds: took, All: 1}
			if bits > 0 {
				f.Good = 1
			}
			l.Asked, l.Good, l.Bits, l.Worked = l.Asked+1, l.Good+f.Good, l.Bits+bits, l.Worked+took
			r.Facts = append(r.Facts, f)
		}
		r.Leases = append(r.Leases, l)
	}
	return r
}

// As recorded, what sites give when they are asked politely comes when it came: that the pages that are asked for last are missing, or small, has
// nine tenths of it be there earlier; and so that most of the spread of their times is of those that come at once makes no pause longer.
func TestWhatIsHadComesWhenItCame(t *testing.T) {
	for name, c := range map[string]struct {
		varies float64
		each   func(k int) (bits, took float64)
	}{
		"the last are missing": {0.2, func(k int) (float64, float64) {
			if k >= 50 && k%10 != 0 {
				return 0, 0.1
			}
			return 1e5, 0.1
		}},
		"the last are small": {0.2, func(k int) (float64, float64) {
			if k >= 50 {
				return 1e4, 0.1
			}
			return 1e5, 0.1
		}},
		"few come at once": {1.5, func(k int) (float64, float64) {
			if k%5 == 0 {
				return 1e5, 0.01
			}
			return 1e5, 0.48
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := politely(c.each)
			for j := range 4 {
				r.Varies[fmt.Sprint("s", j)] = c.varies
			}
			w, _, err := r.World(1)
			if err != nil {
				t.Fatal(err)
			}
			x, err := Replay(w, r.Again(strategyOf(t, "roundrobin")))
			if err != nil {
				t.Fatal(err)
			}
			if _, want := r.Reached(); math.Abs(x.Seconds-want) > 2 {
				t.Errorf("nine tenths are had after %.1f s, were after %.1f", x.Seconds, want)
			}
		})
	}
}

// Nodes of which nothing but probes tells are drawn as fast as those are that leases tell of, where links are alike: what a probe waits is no
// node's.
func TestNodesThatOnlyProbeAreAsFast(t *testing.T) {
	const bits, link, delay = 6e4, 1e6, 0.1
	r := Recording{Strategy: "flow", Left: map[string]float64{}, Lease: LeaseShape{Bits: 1000, Seconds: 300}, Widths: 8, Answers: map[string]float64{}}
	for i := range 4 {
		r.Nodes = append(r.Nodes, RecordedNode{ID: fmt.Sprint("n", i), Leases: 64})
	}
	for j := range 12 {
		l := RecordedLease{Task: uint32(j + 1), Node: fmt.Sprint("n", j%2), Site: fmt.Sprint("s", j), Started: 1e12 + second, Ended: 1e12 + 21*second, Worked: 20, Given: 1000, Asked: 1000, Good: 1000, Bits: 20 * link}
		r.Leases, r.Answers[l.Site] = append(r.Leases, l), 0.5
		for _, node := range []string{l.Node, fmt.Sprint("n", 2+j%2)} {
			r.Facts = append(r.Facts, learn.Fact{At: 1e12 + second, Kind: learn.Delay, Node: node, Site: l.Site, Seconds: delay})
		}
		r.Facts = append(r.Facts, learn.Fact{At: 1e12 + second, Kind: learn.Crawl, Node: fmt.Sprint("n", 2+j%2), Site: l.Site, Bits: bits, Seconds: bits/link + 2*delay})
		for k := range int64(20) {
			r.Facts = append(r.Facts, learn.Fact{At: 1e12 + (k+2)*second, Kind: learn.Report, Node: l.Node, Site: l.Site, Bits: link, Seconds: 1, Good: 50, All: 50})
		}
	}
	sum, n := 0.0, 0.0
	for seed := range uint64(8) {
		w, _, err := r.World(seed)
		if err != nil {
			t.Fatal(err)
		}
		for i := 2; i < 4; i++ {
			for j := range w.Sites {
				sum, n = sum+math.Log(w.Speed[i][j]/link), n+1
			}
		}
	}
	if math.Abs(sum/n) > 0.1 {
		t.Errorf("they are drawn at %.2f of the speed of others", math.Exp(sum/n))
	}
}

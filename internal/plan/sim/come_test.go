package sim

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/plan/learn"
)

// lookedUp has four nodes measure eight sites before these are crawled, as soon as their addresses are known: some ms after each other, and not in the order in
// which their tasks are numbered. It says which node measured each, and when its addresses were known.
func lookedUp() (r Recording, at [8]int64) {
	at = [8]int64{3, 12, 3, 0, 3, 12, 3, 3}
	r = Recording{Strategy: "flow", Left: map[string]float64{}, Lease: LeaseShape{Bits: 1000, Seconds: 5}, Widths: 1, PerIP: 2}
	for i := range 4 {
		r.Nodes = append(r.Nodes, RecordedNode{ID: fmt.Sprint("n", i), Leases: 64})
	}
	for _, j := range []int{3, 0, 2, 7, 4, 6, 1, 5} {
		node, site := fmt.Sprint("n", j%4), fmt.Sprint("s", j)
		r.Looks = append(r.Looks, RecordedLook{Node: node, Site: site, Resolves: true, Started: 1e12 - 170, Ended: 1e12 + at[j]})
	}
	for _, j := range []int{3, 0, 2, 7, 4, 6, 1, 5} {
		node, site := fmt.Sprint("n", j%4), fmt.Sprint("s", j)
		look := RecordedLook{Node: node, Site: site, Started: 1e12 + at[j], Ended: 1e12 + at[j] + 500 + int64(j)}
		r.Looks = append(r.Looks, look)
		r.Facts = append(r.Facts, learn.Fact{At: look.Ended, Kind: learn.Crawl, Node: node, Site: site, Bits: 3e5, Seconds: 0.4},
			learn.Fact{At: look.Ended, Kind: learn.Delay, Node: node, Site: site, Seconds: 0.07})
	}
	for j := range 8 {
		l := RecordedLease{Task: uint32(j + 1), Node: fmt.Sprint("n", j%4), Site: fmt.Sprint("s", j), Started: 1e12 + second, Ended: 1e12 + 6*second, Worked: 5, Asked: 50, Good: 50, Bits: 5e6}
		r.Leases = append(r.Leases, l)
		for k := range int64(5) {
			r.Facts = append(r.Facts, learn.Fact{At: l.Started + (k+1)*second, Kind: learn.Report, Node: l.Node, Site: l.Site, Bits: 1e6, Seconds: 1, Good: 10, All: 10})
		}
	}
	return r, at
}

// Sites are there when their addresses are known, those of a cycle together and in its order: which node measures which follows from that.
func TestSitesComeWhenTheirAddressesAreKnown(t *testing.T) {
	r, at := lookedUp()
	w, _, err := r.World(1)
	if err != nil {
		t.Fatal(err)
	}
	for j := range w.Sites {
		if w.Sites[j].Come != at[j] || w.Sites[j].Resolver != fmt.Sprint("n", j%4) {
			t.Errorf("s%d: comes at %d ms, looked up by %q; want %d, n%d", j, w.Sites[j].Come, w.Sites[j].Resolver, at[j], j%4)
		}
	}
	if got, want := fmt.Sprint(w.Order), "[3 0 2 7 4 6 1 5]"; got != want {
		t.Errorf("they come in the order %s, want %s", got, want)
	}
	r.Looks[0].Ended -= 5 * second // its cycle had nobody for it
	if w, _, err = r.World(1); err != nil {
		t.Fatal(err)
	}
	if w.Sites[3].Come != 0 || w.Sites[0].Come != 5*second+at[0] {
		t.Errorf("s3 comes at %d ms and s0 at %d, want 0 and %d", w.Sites[3].Come, w.Sites[0].Come, 5*second+at[0])
	}
}

// Whoever looks at a site first asks for its robots.txt before it measures, and its measurement is told as much later; it is told as it was.
func TestFirstLookAsksForRobots(t *testing.T) {
	r, _ := lookedUp()
	w, _, err := r.World(1)
	if err != nil {
		t.Fatal(err)
	}
	for j := range w.Sites {
		pair := [2]int{j % 4, j}
		if got, want := w.Looked.Rules[pair], float64(100+j); math.Abs(got-want) > 1e-6 {
			t.Errorf("s%d: robots.txt takes %.1f ms, want %.1f", j, got, want)
		}
		if got := w.Looked.Pings[pair]; len(got) != 1 || math.Abs(got[0]-70) > 1e-6 {
			t.Errorf("s%d: the delay is measured as %v, want 70 ms", j, got)
		}
	}
	e := newEngine(w, strategyOf(t, "flow"), 1, false)
	e.start()
	e.probe(0, 4)
	first := e.pinging[0][0]
	if !first.asks || first.until != 104 {
		t.Fatalf("the first probe: asks for robots.txt: %v, until %d ms; want true, 104", first.asks, first.until)
	}
	e.now = first.until
	e.endLeases(0)
	if next := e.leases[0]; len(next) != 1 || next[0].asks || next[0].left < crawl.ProbeTries {
		t.Fatalf("then it measures: %+v", next)
	}
	if e.probe(1, 4); len(e.leases[1]) != 1 {
		t.Error("another node asks for the same robots.txt")
	}
}

// Parts of a replayed lease tell as much more and less than there is as those of the recording did, and as often: who plans by what they tell thinks less
// of a pair than of one that always tells the same, for it keeps a mean of logarithms.
func TestPartsAreAsUnevenAsTheyWere(t *testing.T) {
	for name, by := range map[string]float64{"even": 0, "uneven": 0.7} {
		t.Run(name, func(t *testing.T) {
			r, _ := lookedUp()
			r.Facts, r.Widths = nil, 8
			for i := range r.Leases {
				l := &r.Leases[i]
				for k := range int64(10) { // of 10 requests each
					bits := 1e6 * math.Exp(by*float64(1-2*(k%2)))
					r.Facts = append(r.Facts, learn.Fact{At: l.Started + (k+1)*second/2, Kind: learn.Report, Node: l.Node, Site: l.Site, Bits: bits, Seconds: 0.5, Good: 10, All: 10})
				}
				l.Asked, l.Good = 100, 100
			}
			w, _, err := r.World(1)
			if err != nil {
				t.Fatal(err)
			}
			if (w.Uneven > 0.5) != (by > 0) {
				t.Errorf("uneven by %.2f", w.Uneven)
			}
			if w.Part != 500 {
				t.Errorf("parts are told every %d ms, want 500", w.Part)
			}
		})
	}
}

// A look that measures the delay takes the bodies of its answers, too, as they did.
func TestPingsTakeTheirBodies(t *testing.T) {
	r, _ := lookedUp()
	look := RecordedLook{Node: "n3", Site: "s4", Started: 1e12 + 600, Ended: 1e12 + 1000}
	r.Looks = append(r.Looks, look)
	for range crawl.PingTries {
		r.Facts = append(r.Facts, learn.Fact{At: look.Ended, Kind: learn.Delay, Node: "n3", Site: "s4", Seconds: 0.1})
	}
	w, _, err := r.World(1)
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(w, strategyOf(t, "flow"), 1, false)
	e.start()
	e.rules[4] = true
	e.pingSite(3, 4)
	if got := e.pinging[3][0].until; got != 400 {
		t.Errorf("it takes %d ms, took 400", got)
	}
}

// One page that holds next to nothing, and comes as fast as any other, does not make its pair a slow one.
func TestTinyPagesAreNoSlowness(t *testing.T) {
	r, speed := recorded(false)
	known := tried(&r)
	for i := range speed {
		if known[[2]int{i, 0}] {
			continue
		}
		at := int64(1e12 + 61*second)
		node := fmt.Sprint("n", i)
		r.Leases = append(r.Leases, RecordedLease{Node: node, Site: "s0", Started: at, Ended: at + 100, Worked: 0.1, Given: 1, Asked: 1, Good: 1, Bits: 1000})
		r.Facts = append(r.Facts, learn.Fact{At: at + 100, Kind: learn.Report, Node: node, Site: "s0", Bits: 1000, Seconds: 0.1, Good: 1, All: 1})
		w, _, err := r.World(1)
		if err != nil {
			t.Fatal(err)
		}
		if w.Speed[i][0] < 2e5 {
			t.Errorf("%s and s0: %.3g bits/s by one page of 1000 bits in 0.1 s, where others have %.3g", node, w.Speed[i][0], speed[i][0])
		}
		return
	}
}

// Who looks up the addresses of a site holds a place for it until that is there: who goes by what nodes hold gives sites to the nodes that had them.
func TestLookingUpTakesAPlace(t *testing.T) {
	r, _ := lookedUp() // s3 comes first, when n0 and n3 look up two others, n1 and n2 two of theirs, and n3 one
	w, _, err := r.World(1)
	if err != nil {
		t.Fatal(err)
	}
	w.Target, w.Horizon = 0, 20*second
	first := map[string]string{}
	w.Ended = func(e End) {
		if site := w.Sites[e.Site].Name; first[site] == "" {
			first[site] = w.Nodes[e.Node].ID
		}
	}
	if _, err := Replay(w, strategyOf(t, "roundrobin")); err != nil {
		t.Fatal(err)
	}
	if first["s3"] != "n3" {
		t.Errorf("s3 goes to %s, want n3, which holds the fewest", first["s3"])
	}
}

// A replay under the recording's own strategy draws the lots that this drew, in each of its worlds; under another seed they are others.
func TestReplayDrawsTheSameLots(t *testing.T) {
	r, _ := lookedUp()
	r.Began = 1e12 - 300
	to := func(seed uint64, began int64) (out string) {
		w, _, err := r.World(seed)
		if err != nil {
			t.Fatal(err)
		}
		of, seen := r, map[int]bool{}
		of.Began = began
		of.Same(&w)
		w.Target, w.Horizon = 0, 20*second
		w.Ended = func(e End) {
			if !seen[e.Site] {
				seen[e.Site], out = true, out+fmt.Sprintf(" s%d:n%d", e.Site, e.Node)
			}
		}
		if _, err := Replay(w, strategyOf(t, "random")); err != nil {
			t.Fatal(err)
		}
		parts := strings.Fields(out)
		slices.Sort(parts)
		return fmt.Sprint(parts)
	}
	if a, b := to(1, r.Began), to(2, r.Began); a != b {
		t.Errorf("it gives\n%s, and in another world\n%s", a, b)
	}
	if a, b := to(1, r.Began), to(1, r.Began+1); a == b {
		t.Errorf("another crawl draws the same lots: %s", a)
	}
}

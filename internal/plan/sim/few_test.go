package sim

import (
	"math"
	"testing"

	"argosy/internal/plan/learn"
)

// A lease of one page, which may be next to nothing or very large and takes as long as any other, does not make its pair slow or fast in a replay.
func TestSinglePagesTellNoSpeed(t *testing.T) {
	for _, size := range []float64{1. / 500, 1, 30} {
		r, speed := recorded(false)
		for i := range 8 {
			for j := range 12 {
				node, site, at := r.Nodes[i].ID, "s0", int64(1e12+60*second)
				if site = r.Leases[j].Site; !tried(&r)[[2]int{i, j}] {
					continue
				}
				// A page of the site takes a tenth of a second: its leases have ten in one.
				r.Leases = append(r.Leases, RecordedLease{Node: node, Site: site, Started: at, Ended: at + 600, Worked: 0.6, Asked: 1, Good: 1, Bits: size * speed[i][j] / 10})
				r.Facts = append(r.Facts, learn.Fact{At: at + 600, Kind: learn.Report, Node: node, Site: site, Bits: size * speed[i][j] / 10, Seconds: 0.1, Good: 1, All: 1})
			}
		}
		p := r.pieces()
		for pair, x := range p.pairs {
			want := math.Log(speed[pair[0]][pair[1]])
			if last := x.told[len(x.told)-1]; math.Abs(last.ln-want) > math.Log(5) { // here pages of one site are up to so many times as large on one of its ways as on another
				t.Errorf("pages %v times as large: the pair %v is taken for %.2f times as fast as it is", size, pair, math.Exp(last.ln-want))
			}
		}
	}
}

// What is under way to a site with a pause when a lease's time is over is one page, however many connections its job allows where there is none.
func TestLeasesWithPausesEndWithOnePage(t *testing.T) {
	for gap, most := range map[float64]float64{0: 8, 0.5: 1} {
		longest := 0.0
		w := World{
			Horizon: 1000 * second, Page: 1e6, Whole: true, Lease: LeaseShape{Bits: 1e9, Seconds: 10},
			Sites: []Site{{Name: "s0", Gap: gap, Width: 8, Size: 1e12}}, Nodes: []Node{{ID: "n0", Slots: 2}}, Speed: [][]float64{{1e6}},
			Ended: func(x End) { longest = max(longest, x.Seconds-10) },
		}
		if _, err := Run(w, strategyOf(t, "random")); err != nil {
			t.Fatal(err)
		}
		if longest > most+0.1 || longest < most/2 {
			t.Errorf("with a pause of %v s leases last up to %.2f s longer than they may, want nearly the %v that pages under way take", gap, longest, most)
		}
	}
}

// A replayed probe fetches what the root pages are that were had, where none was probed: those of other pages are often larger.
func TestReplayedRootsAreThoseThatWereHad(t *testing.T) {
	r, _ := recorded(false)
	for root, want := range map[float64]float64{0: r.pieces().page, 12_000: 12_000} {
		r.Root = root
		w, _, err := r.World(1)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.root(0, 0); got != want {
			t.Errorf("%v bits a root page, want %v", got, want)
		}
	}
}

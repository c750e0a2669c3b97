package sim

import (
	"math"
	"testing"

	"argosy/internal/plan/learn"
)

// knownBefore is a recording of a fleet that knew all pairs when it began: those that it has not tried are slow, and it knew that.
func knownBefore() (r Recording, tries map[[2]int]bool) {
	const slow = 1. / 50
	r, speed := recorded(false)
	tries = tried(&r)
	for i := range speed {
		for j := range speed[i] {
			bits := speed[i][j]
			if !tries[[2]int{i, j}] {
				bits *= slow
			}
			f := learn.Fact{At: 1e12 - 60*second, Kind: learn.Crawl, Node: r.Nodes[i].ID, Site: r.Leases[j].Site, Bits: bits, Seconds: 1}
			r.Before = append(r.Before, f)
			f.Kind, f.Good, f.All = learn.Report, 40, 40
			r.Before = append(r.Before, f)
		}
	}
	return r, tries
}

// A pair that a recording has not tried, for it was known to be slow, is slow in its replay: it is not drawn from those that were tried for being fast.
func TestPairsKnownBeforeAreAsTheyWere(t *testing.T) {
	r, tries := knownBefore()
	without := r
	without.Before = nil
	_, speed := recorded(false)
	far := func(r *Recording) (worst float64) {
		for seed := range uint64(4) {
			w, _, err := r.World(seed)
			if err != nil {
				t.Fatal(err)
			}
			for i := range w.Nodes {
				for j, s := range w.Speed[i] {
					if !tries[[2]int{i, j}] {
						worst = max(worst, s/speed[i][j]*50)
					}
				}
			}
		}
		return worst
	}
	if got := far(&r); got > 3 {
		t.Errorf("a pair that was known to be slow is %.1f times as fast as it was", got)
	}
	if got := far(&without); got < 10 { // or the test could not fail
		t.Errorf("a pair of which nothing was known is %.1f times as fast as one that was known to be slow", got)
	}
	if w, g, err := r.World(1); err != nil || g.Tried != g.Pairs || w.Learned[0].At != -60*second {
		t.Errorf("%+v, %v", g, err)
	}
}

// What a fleet has measured before it is not sent to measure in a replay, and its planner knows it.
func TestWhatWasMeasuredBeforeIsNotAgain(t *testing.T) {
	r, _ := knownBefore()
	without := r
	without.Before = nil
	for known, of := range map[bool]*Recording{false: &without, true: &r} {
		w, _, err := of.World(1)
		if err != nil {
			t.Fatal(err)
		}
		x, err := RunBound(w, strategyOf(t, "greedy"), 1, false)
		if err != nil {
			t.Fatal(err)
		}
		if known != (x.Probes == 0) {
			t.Errorf("known before: %v, %d probes", known, x.Probes)
		}
	}
	w, _, err := r.World(1)
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(w, strategyOf(t, "greedy"), 1, false)
	e.start()
	e.book.Fit()
	for _, pair := range [][2]int{{0, 0}, {3, 5}} {
		if got := e.book.Rate(pair[0], pair[1], 0); math.Abs(math.Log(got.Value/w.Speed[pair[0]][pair[1]])) > math.Log(3) {
			t.Errorf("the planner takes pair %v for %.2f times as fast as it is", pair, got.Value/w.Speed[pair[0]][pair[1]])
		}
	}
}

// A site comes when it did, whatever was known of it before.
func TestSitesKnownBeforeComeAsTheyDid(t *testing.T) {
	r, _ := knownBefore()
	for i := range r.Leases {
		if l := &r.Leases[i]; l.Site == "s0" {
			l.Started, l.Ended = l.Started+30*second, l.Ended+30*second
		}
	}
	for i := range r.Facts {
		if f := &r.Facts[i]; f.Site == "s0" {
			f.At += 30 * second
		}
	}
	w, _, err := r.World(1)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.Sites[0].Come; math.Abs(float64(got)-30*second) > 2*second {
		t.Errorf("a site that came after 30 s comes after %v ms", got)
	}
}

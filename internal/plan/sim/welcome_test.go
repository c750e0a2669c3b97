package sim

import (
	"testing"

	runs "argosy/internal/testkit/seeds"
)

// Where there are more nodes than sites, nodes that are known to be weak are not tried one after the other: the site would be on each of
// them for the time of a lease.
func TestFewSitesStayWithStrongNodes(t *testing.T) {
	for _, sites := range []int{1, 2} {
		for seed := range uint64(runs.Of(2, 20)) {
			w := Made(Terms{Nodes: 20, Sites: sites, Minutes: 5, Capacity: 2, Strong: 4, Factor: 5, Tells: 0.3, Noise: 0.2}, seed)
			bound := w.Bound()
			if got := runBound(t, w, "flow", bound).Share(); got < 0.9 {
				t.Errorf("%d sites, seed %d: flow has %.3f of the bound", sites, seed, got)
			}
			r, err := RunBound(w, strategyOf(t, "flow"), bound, true)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Share(); got < 0.95 {
				t.Errorf("%d sites, seed %d: with true figures it has %.3f of the bound", sites, seed, got)
			}
		}
	}
}

// Where all paths are faster than what nodes carry, each lease tells only what its pair has at least, and several sites still do not share the line of
// one strong node beside another one that nobody uses.
func TestFewSitesSpreadOverFastNodes(t *testing.T) {
	for _, sites := range []int{8, 16} {
		sum, seeds := 0.0, runs.Of(4, 20)
		for seed := range uint64(seeds) {
			w := Made(Terms{Nodes: 20, Sites: sites, Minutes: 10, Capacity: 2, Strong: 4, Factor: 5, Tells: 0.3, Noise: 0.2}, 100+seed)
			sum += runBound(t, w, "flow", w.Bound()).Share()
		}
		if mean := sum / float64(seeds); mean < 0.82 {
			t.Errorf("%d sites: flow has %.3f of the bound on average", sites, mean)
		}
	}
}

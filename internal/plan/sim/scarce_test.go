package sim

import "testing"

// Where places are few, measuring does not take them from the crawl, however little the figures agree: chance would do better else.
func TestFlowIsAboveChanceWherePlacesAreFew(t *testing.T) {
	for _, kind := range []string{"noisy", "equal"} {
		terms, _ := KindTerms(kind)
		terms.Nodes, terms.Sites, terms.Minutes, terms.Places = 20, 60, 4, 1
		bits := map[string]float64{}
		for seed := range uint64(3) {
			for _, name := range []string{"flow", "random"} {
				r, err := RunBound(Made(terms, 2*seed+1), strategyOf(t, name), 1, false)
				if err != nil {
					t.Fatal(err)
				}
				bits[name] += r.Bits
			}
		}
		t.Logf("%s: %.0f Mbit under flow, %.0f by chance", kind, bits["flow"]/1e6, bits["random"]/1e6)
		if bits["flow"] < 1.2*bits["random"] {
			t.Errorf("%s: %.0f Mbit under flow, %.0f by chance", kind, bits["flow"]/1e6, bits["random"]/1e6)
		}
	}
}

package topic

import "testing"

// A better sign never makes a link promise less, and what the signs are at their ends is as one would say it.
func TestFuzzy(t *testing.T) {
	steps := []float64{0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 1}
	for _, a := range steps {
		for _, p := range steps {
			x := Fuzzy(a, 0, 0, p)
			if x < 0 || x > 1 {
				t.Errorf("%g, %g: %g", a, p, x)
			}
			for _, b := range steps {
				if b > a && Fuzzy(b, 0, 0, p) < x-1e-9 {
					t.Errorf("page %g: anchor %g promises %g, %g promises %g", p, a, x, b, Fuzzy(b, 0, 0, p))
				}
				if b > p && Fuzzy(a, 0, 0, b) < x-1e-9 {
					t.Errorf("anchor %g: page %g promises %g, %g promises %g", a, p, x, b, Fuzzy(a, 0, 0, b))
				}
			}
		}
	}
	if Fuzzy(1, 0, 0, 0) < 0.8 || Fuzzy(0, 0, 0, 0) > 0.05 || Fuzzy(0, 0, 1, 0) < Fuzzy(0, 0, 0.4, 0) {
		t.Error("the ends are not as they should be")
	}
	judge := words(t, "row level security", "en")
	near, far := Evidence{URL: "http://a.test/x", Anchor: "row level security"}, Evidence{URL: "http://a.test/x", Anchor: "imprint"}
	m := NewLinks(judge)
	m.ByFuzzyRules()
	if m.Score(&near, false) < 2*m.Score(&far, false) {
		t.Errorf("%g, %g", m.Score(&near, false), m.Score(&far, false))
	}
}

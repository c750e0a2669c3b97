package crawl

import "testing"

// The log of orders says what was submitted: a virtual task has no seeds, but searches.
func TestSubmissionIsNamed(t *testing.T) {
	for want, i := range map[string]Identity{
		"submit a virtual task of 2 searches":           {Collect: &Collect{Searches: make([]Search, 2)}},
		"submit a job of 1 seed, the first http://a.b/": {Seeds: []string{"http://a.b/"}},
		"submit a job of 7 seeds":                       {List: &SeedList{Count: 7}},
	} {
		if got := i.Submission(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

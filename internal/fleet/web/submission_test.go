package web

import (
	"testing"

	"argosy/internal/crawl"
)

// The log of orders says what was submitted: a virtual task has no seeds, but searches.
func TestSubmissionIsNamed(t *testing.T) {
	for want, i := range map[string]crawl.Identity{
		"submit a virtual task of 2 searches":           {Collect: &crawl.Collect{Searches: make([]crawl.Search, 2)}},
		"submit a job of 1 seed, the first http://a.b/": {Seeds: []string{"http://a.b/"}},
		"submit a job of 7 seeds":                       {List: &crawl.SeedList{Count: 7}},
	} {
		if got := submission(&i); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

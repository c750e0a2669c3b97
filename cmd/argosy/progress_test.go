package main

import (
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
)

// A run that nofollow has kept from going on says so, and names the flag.
func TestSummaryNamesNofollow(t *testing.T) {
	for n, want := range map[int64]string{0: "", 1: "1 URL ", 1200: "1,200 URLs "} {
		var b strings.Builder
		printCounts(&b, assemble.Summary{State: crawl.JobDone, Discovered: 1 + n, Fetched: 1, Excluded: n, Reasons: map[string]int64{"nofollow": n}})
		if strings.Contains(b.String(), "--ignore-nofollow") != (n > 0) || !strings.Contains(b.String(), want) {
			t.Errorf("%d URLs:\n%s", n, b.String())
		}
	}
}

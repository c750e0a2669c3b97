package coordinator

import (
	"fmt"
	"testing"

	"argosy/internal/crawl"
)

// Targets that thousands of redirects have led to are as many as a message takes, as those with long URLs are.
func TestTargetsFitAMessage(t *testing.T) {
	chain := make([]crawl.Key, crawl.MaxAgain)
	for i := range chain {
		chain[i] = crawl.KeyOf("site.test", fmt.Sprint(i))
	}
	ts := make([]crawl.Target, 64)
	for i := range ts {
		ts[i] = crawl.Target{Key: chain[i], URL: fmt.Sprintf("http://site.test/%d", i), Chain: chain}
	}
	for _, budget := range []int{1, 256 << 10, 1 << 20} {
		got := fit(ts, budget)
		b, err := crawl.Marshal(&crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntryGrant, Refills: []crawl.Refill{{Lease: 1, Targets: got}}})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) == 0 || len(got) > 1 && len(b) > budget || sizeOf(got) < len(b)/2 {
			t.Errorf("for %d bytes %d targets of %d bytes, held for %d", budget, len(got), len(b), sizeOf(got))
		}
	}
}

package answer

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"argosy/internal/fleet/ledger"
)

// A label has few values, each once: what has most has its name, also when names are alike as far as a label shows them, or are "other".
func TestLabels(t *testing.T) {
	var all []ledger.Share
	for i := range mostNamed + 3 {
		all = append(all, ledger.Share{Name: fmt.Sprint("t", i), URLs: int64(1 + i)})
	}
	got := Labels(all, func(s *ledger.Share) int64 { return s.URLs })
	if len(got) != mostNamed+1 || got["other"] != 1+2+3 || got["t3"] != 4 || got["t32"] != 33 {
		t.Errorf("%v", got)
	}
	long := strings.Repeat("x", 10_000)
	got = Labels([]ledger.Share{{Name: long + "1", URLs: 1}, {Name: "other", URLs: 2}, {Name: long + "2", URLs: 4}}, func(s *ledger.Share) int64 { return s.URLs })
	if want := map[string]int64{Clip(long + "1"): 5, "other": 2}; !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

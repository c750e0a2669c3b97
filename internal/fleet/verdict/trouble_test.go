package verdict

import (
	"fmt"
	"maps"
	"testing"
)

// Of many sites in trouble the first are named, and all counted, by what is wrong with them.
func TestTroublesAreCounted(t *testing.T) {
	var all []Trouble
	for i := range 9900 {
		all = append(all, Trouble{Site: fmt.Sprint(i), Why: []string{"404", "401", "no-such-host"}[i%3], Login: i%6 == 1})
	}
	first, sites := Tally(all)
	if len(first) != MaxNamed || first[7].Site != "7" {
		t.Errorf("%d are named", len(first))
	}
	if want := map[string]int64{"404": 3300, "401": 1650, RefusedLogin: 1650, "no-such-host": 3300}; !maps.Equal(sites, want) {
		t.Errorf("counted %v, want %v", sites, want)
	}
}

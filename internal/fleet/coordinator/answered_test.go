package coordinator

import (
	"slices"
	"testing"

	"argosy/internal/crawl"
)

// However many pages are asked again, each entry has so many as fit, the first one alone releases tasks, and none is left out.
func TestInPieces(t *testing.T) {
	var pages []crawl.Page
	for i := range 2*mendPages + 1 {
		pages = append(pages, crawl.Page{Key: crawl.Key{byte(i), byte(i >> 8)}})
	}
	for n, want := range map[int]int{0: 1, 1: 1, mendPages: 1, mendPages + 1: 2, len(pages): 3} {
		var all []crawl.Page
		pieces := inPieces(crawl.Release{Job: 3, Tasks: []uint32{7}, Lost: pages[:n], Keep: true, Why: "by a person"})
		for i, p := range pieces {
			if p.Job != 3 || !p.Keep || p.Why == "" || len(p.Lost) > mendPages || p.Mend != (i > 0) || (len(p.Tasks) > 0) != (i == 0) {
				t.Errorf("%d pages, piece %d: %d pages, %+v", n, i, len(p.Lost), p.Tasks)
			}
			all = append(all, p.Lost...)
		}
		if len(pieces) != want || !slices.Equal(all, pages[:n]) {
			t.Errorf("%d pages: %d in %d pieces, want %d", n, len(all), len(pieces), want)
		}
	}
}

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

// An entry that is about records alone is one of no failed page for coordinators that do not know such entries: it names a page, which is none.
func TestPiecesOfRecords(t *testing.T) {
	gone := map[string][]int64{"a": make([]int64, mendPages), "b": {1}}
	n := 0
	for _, r := range inPieces(crawl.Release{Job: 3, Gone: gone, Keep: true}) {
		if len(r.Lost) != 1 || r.Lost[0] != (crawl.Page{}) || !r.Mend || !r.Keep {
			t.Errorf("%d pages, %+v", len(r.Lost), r)
		}
		for _, at := range r.Gone {
			n += len(at)
		}
	}
	if n != mendPages+1 {
		t.Errorf("%d records", n)
	}
}

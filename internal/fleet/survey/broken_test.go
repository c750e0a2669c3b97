package survey

import (
	"fmt"
	"net/http"
	"testing"

	"argosy/internal/fleet/ledger"
)

// Sitemaps that were asked for at a guess, one of each of many sites, take no place of a link that is broken.
func TestGuessesTakeNoPlaces(t *testing.T) {
	g := &gatherer{r: &Report{}, broken: map[string]*Broken{}, to: map[string]string{"http://a.test/moved": "http://a.test/gone"}}
	for i := range maxBroken + 1 {
		g.breaks(&ledger.Page{URL: fmt.Sprintf("http://s%d.test/sitemap.xml", i), Status: http.StatusNotFound}, "404")
	}
	g.breaks(&ledger.Page{URL: "http://a.test/gone", Status: http.StatusNotFound}, "404")
	g.misled()
	if g.broken["http://a.test/gone"] == nil || g.broken["http://a.test/moved"] == nil || g.r.BrokenMore != 0 || len(g.broken) != maxBroken+2 {
		t.Errorf("%d are noted, %d are left out", len(g.broken), g.r.BrokenMore)
	}
	for i := range maxBroken {
		g.breaks(&ledger.Page{URL: fmt.Sprintf("http://a.test/%d", i), Status: http.StatusNotFound}, "404")
	}
	if g.r.BrokenMore != 2 {
		t.Errorf("%d are left out, want 2", g.r.BrokenMore)
	}
}

package web_test

import (
	"log/slog"
	"net/http"
	"path/filepath"
	"testing"

	"argosy/internal/fleet/access"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/serve"
	"argosy/internal/fleet/web"
)

// counted is a house that stands by, with a ledger of its own. It counts how often each is asked for.
type counted struct {
	web.House
	ledger         *ledger.Ledger
	leaders, reads int
}

func (c *counted) Leader() (*coordinator.Coordinator, error) {
	c.leaders++
	return nil, serve.ErrStandby
}

func (c *counted) Ledger() *ledger.Ledger {
	c.reads++
	return c.ledger
}

// What somebody looks for takes one walk, however often a page that is open asks for it.
func TestWhatIsLookedForIsKept(t *testing.T) {
	l, err := ledger.Open(t.Context(), filepath.Join(t.TempDir(), "argosy.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	house := &counted{ledger: l}
	h := web.Handler(house, web.Config{Logger: slog.New(slog.DiscardHandler), Who: func(string) (access.Who, bool) {
		return access.Who{Role: access.Observer, Name: "t"}, true
	}})
	asked := func() (leaders, reads int) {
		house.leaders, house.reads = 0, 0
		ask(h, "GET", "/api/v1/jobs/1/tree?find=word", "x", "")
		ask(h, "GET", "/api/v1/jobs/1/tree?under=http%3A%2F%2Fa.test%2F&skip=200", "x", "")
		if w := ask(h, "GET", "/api/v1/jobs/1/pages?find=word", "x", ""); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		ask(h, "GET", "/api/v1/jobs/1/pages?skip=50", "x", "")
		return house.leaders, house.reads
	}
	leaders, reads := asked()
	for range 2 {
		if l, r := asked(); l != leaders-2 || r != reads-2 {
			t.Errorf("asked for once, two parts of a tree and two of a list took %d and %d; again %d and %d", leaders, reads, l, r)
		}
	}
}

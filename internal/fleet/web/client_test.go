package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"argosy/internal/fleet/web"
)

// A coordinator whose process is stopped takes connections and never answers: the next one is asked, and first from then on. Where there
// is no other one, it is waited for.
func TestSilentCoordinator(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // less than an answer may take
	defer cancel()
	var asked atomic.Int32
	stopped := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		<-r.Context().Done()
	}))
	defer stopped.Close()
	lives := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "[]") }))
	defer lives.Close()
	c, err := web.NewClient(stopped.URL+","+lives.URL, "token", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := c.Jobs(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the one that is stopped was asked %d times", n)
	}
}

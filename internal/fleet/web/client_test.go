package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"argosy/internal/fleet/web"
)

// A coordinator whose process is stopped takes connections and never answers: the next one is asked, and first from then on. Where there
// is no other one, it is waited for.
func TestSilentCoordinator(t *testing.T) {
	t.Parallel()
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

// Of several coordinators the one that says why it does not answer is heard, and not the one that is not there.
func TestReasonBeforeSilence(t *testing.T) {
	waits := httptest.NewServer(web.Waiting("the database does not answer"))
	defer waits.Close()
	for _, places := range []string{waits.URL + ",http://127.0.0.1:1", "http://127.0.0.1:1," + waits.URL} {
		cl, err := web.NewClient(places, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cl.Jobs(t.Context()); err == nil || !strings.Contains(err.Error(), "waits: the database") {
			t.Errorf("%s: %v", places, err)
		}
	}
}

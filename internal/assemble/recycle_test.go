package assemble_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/webs"
)

// A site that swallows requests is recalled and moved from node to node, five times; then it waits for a person with its
// history, and after a retry with another setting it is completed. A page that is not there does not travel.
func TestRecycling(t *testing.T) {
	var stuck atomic.Bool
	stuck.Store(true)
	var mu sync.Mutex
	open := map[chan struct{}]bool{}
	w := webs.New()
	w.Sites["stuck.test"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(rw, r)
			return
		}
		if stuck.Load() {
			c := make(chan struct{})
			mu.Lock()
			open[c] = true
			mu.Unlock()
			select { // not a byte until the asker is gone, or the test is over
			case <-r.Context().Done():
			case <-c:
			}
			return
		}
		rw.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(rw, `<title>at last</title><a href="/missing">x</a>`)
	})
	port, stop, err := w.Serve("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		mu.Lock()
		for c := range open {
			close(c)
		}
		mu.Unlock()
		stop()
	})
	f := newFleet(t, nil)
	for _, n := range []string{"a", "b", "c"} {
		f.join(n, nil)
	}
	j := fleetJob(port, 0)
	j.Identity.Seeds = []string{"http://stuck.test:" + port + "/"}
	j.Limits.RecycleAfter = time.Second
	j.Limits.Fetch.ConnectTimeout = 200 * time.Millisecond
	id := f.submit(j)
	v := f.await(id)
	if v.State != crawl.JobManual || v.Counts.Manual != 1 || v.Counts.Pending != 1 {
		t.Fatalf("%s: %+v", v.State, v.Counts)
	}
	rows, err := f.leader().Tasks(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if rows[0].State != "manual" || rows[0].Recalls != j.Limits.RecycleLimit || len(rows[0].History) != j.Limits.RecycleLimit+1 {
		t.Fatalf("%+v", rows[0])
	}
	last := ""
	nodes := map[string]bool{}
	for _, h := range rows[0].History {
		_, node, _ := strings.Cut(h, " on ")
		node, _, _ = strings.Cut(node, ":")
		if node == last {
			t.Errorf("recalled from %s and given to it again: %q", node, rows[0].History)
		}
		last, nodes[node] = node, true
	}
	if len(nodes) != 3 {
		t.Errorf("tried on %d nodes of 3: %q", len(nodes), rows[0].History)
	}
	stuck.Store(false)
	err = f.leader().SetLimits(t.Context(), id, func(l *crawl.Limits, _ *crawl.Placing) error {
		l.RecycleAfter = 5 * time.Second
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.leader().Release(t.Context(), id, crawl.EntryRetry, []string{"stuck.test:" + port}, nil, "test"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is completed", func() bool { return f.job(id).State == crawl.JobDone })
	if v := f.job(id); v.Counts.Fetched != 2 || v.Counts.Pending != 0 || v.Counts.Manual != 0 {
		t.Errorf("%+v", v.Counts)
	}
	misses := 0
	for _, h := range w.Hits("stuck.test") {
		if h.Path == "/missing" {
			misses++
		}
	}
	if misses != 1 {
		t.Errorf("a page that is not there was asked for %d times", misses)
	}
}

package agent

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"argosy/internal/crawl"
)

// A wait for a site's turn ends when the turn has come, also where the timer fires before the waiter waits.
func TestPauseEnds(t *testing.T) {
	t.Parallel()
	l := &lease{}
	l.more = sync.NewCond(&l.mu)
	for i := range 4_000 {
		d := time.Duration(i%50) * time.Microsecond / 5
		begin := time.Now()
		woken := time.AfterFunc(10*time.Second, l.more.Broadcast) // what else would wake it comes as late as this
		if !l.pause(d) {
			t.Fatal("the lease has not ended")
		}
		if !woken.Stop() {
			t.Fatalf("a pause of %v took %v", d, time.Since(begin))
		}
		if time.Since(begin) < d {
			t.Fatalf("a pause of %v took %v", d, time.Since(begin))
		}
	}
}

// A node that a site refuses does not take a page for refused because others were given pages, as long as there are others. Its own
// answers say that it is the page, and so do those of others where nobody else is left.
func TestRefusalOfANode(t *testing.T) {
	limits := crawl.DefaultLimits()
	for _, c := range []struct {
		alone, had, open bool
		tries            int
		again            bool
	}{
		{false, true, false, limits.Retries, true}, {false, true, true, limits.Retries, false}, {false, false, true, limits.Retries - 1, true},
		{true, true, false, 0, false}, {true, false, true, 0, false}, {true, false, false, limits.Retries, true},
	} {
		l := &lease{job: crawl.Job{Limits: limits}, l: crawl.Lease{Asked: &crawl.Asked{Alone: c.alone, Had: c.had}}, open: c.open}
		if again, _ := l.refusal(&crawl.Target{Tries: uint8(c.tries)}, http.StatusForbidden); again != c.again {
			t.Errorf("%+v: again %v", c, again)
		}
	}
}

package assemble_test

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/usage"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/webs"
)

// A run ends when less is free on its disk than is to stay free, with nothing lost, and goes on when there is room.
func TestRoomThatStaysFree(t *testing.T) {
	w := webs.New()
	w.Sites["s0.test"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		for i := range 10 {
			_, _ = fmt.Fprintf(rw, "<a href=/%d>%s</a>", i, r.URL.Path)
		}
	})
	port := served(t, w)
	c := fleettest.Crawl(t.TempDir(), port, 50*time.Millisecond, 1)
	c.Job.Identity.Seeds = c.Job.Identity.Seeds[:1]
	free, known := usage.Free(c.Dir)
	if !known {
		t.Skip("it is not known here how much is free")
	}
	for _, least := range []int64{free + free/2, math.MaxInt64} { // it drains; it leaves at once
		c.MinFree = least
		cr, err := assemble.Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := cr.Run(t.Context(), nil)
		if !errors.Is(err, assemble.ErrDiskFull) || sum.State != crawl.JobInterrupted {
			t.Errorf("at least %d: %+v, %v", least, sum, err)
		}
		if err := cr.Close(); err != nil {
			t.Fatal(err)
		}
	}
	c.MinFree = free / 2
	if sum := runConfig(t, c); sum.State != crawl.JobDone || sum.Fetched != 11 {
		t.Errorf("with room: %+v", sum)
	}
}

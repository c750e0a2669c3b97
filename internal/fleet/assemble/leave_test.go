package assemble_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/webs"
)

// Who interrupts a crawl does not wait for sites that never answer: what was asked of them is asked again when it goes on.
func TestLeavesSitesThatHang(t *testing.T) {
	t.Parallel()
	w := webs.New()
	port := served(t, w)
	asked, hang := make(chan bool, 100), make(chan bool)
	w.Sites["slow.test"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, "<a href=/1>1</a>")
		case "/1":
			asked <- true
			<-hang
			fmt.Fprint(w, "at last")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	c := fleettest.Crawl(filepath.Join(t.TempDir(), "crawl"), port, 0, 1)
	c.Job.Identity.Seeds = []string{"http://slow.test:" + port + "/"}
	c.Job.Limits.Fetch.HeaderTimeout = 10 * time.Minute // as good as for ever

	cr, err := assemble.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		<-asked
		interrupt()
	}()
	sum, err := cr.Run(ctx, nil)
	if cerr := cr.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	if sum.State != crawl.JobInterrupted || sum.Fetched != 1 || sum.Pending != 1 {
		t.Errorf("%s: %d fetched, %d pending", sum.State, sum.Fetched, sum.Pending)
	}
	sound(t, c.Dir)
	close(hang)
	if sum := runConfig(t, c); sum.State != crawl.JobDone || sum.Fetched != 2 {
		t.Errorf("afterwards: %s, %d fetched", sum.State, sum.Fetched)
	}
}

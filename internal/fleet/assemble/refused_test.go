package assemble_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"argosy/internal/page/fetch"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/webs"
)

// What has been refused is asked again when the crawl goes on: all of it where nothing else was had, and otherwise that of sites which the
// run has a login, headers or cookies for. What was let in is not.
func TestRefusedIsAskedAgain(t *testing.T) {
	t.Parallel()
	asked := [2]atomic.Int64{}
	w := webs.New()
	for i := range asked {
		w.Sites[fmt.Sprintf("s%d.test", i)] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				return
			}
			asked[i].Add(1)
			if name, _, _ := r.BasicAuth(); i == 0 && name != "me" && r.Header.Get("X-Key") != "open" && !strings.Contains(r.Header.Get("Cookie"), "in=1") {
				rw.WriteHeader([]int{401, 403}[asked[i].Load()%2])
				return
			}
			_, _ = fmt.Fprint(rw, "<a href=/2>2</a>")
		})
	}
	port := served(t, w)
	const refused, let = 1, 2 // requests
	for _, way := range []string{"login", "header", "cookie"} {
		for sites := range 2 { // beside the one that refuses
			c := fleettest.Crawl(t.TempDir(), port, 0, 1)
			c.Job.Identity.Seeds = c.Job.Identity.Seeds[:1+sites]
			for run, want := range [][2]int64{{refused, 2}, {refused, 0}, {let, 0}, {0, 0}} {
				if run == 2 {
					switch way {
					case "login":
						c.Logins = map[string]string{"s0.test:" + port: "me:x"}
					case "header":
						c.Headers = []fetch.Field{{Name: "X-Key", Value: "open"}}
					case "cookie":
						c.Cookies = "in=1"
					}
				}
				if run == 1 && sites == 1 {
					want[0] = 0 // what was had of the other says that the crawl as such was right
				}
				asked[0].Store(0)
				asked[1].Store(0)
				runConfig(t, c)
				if got := [2]int64{asked[0].Load(), asked[1].Load()}; got[0] != want[0] || got[1] != want[1]*int64(sites) {
					t.Errorf("%s, %d sites beside, run %d: asked %v times, want %v", way, sites, run, got, want)
				}
			}
		}
	}
}

package assemble_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/page/topic"
	"argosy/internal/webs"
)

// best is a crawl for a topic of a web whose sites share an address, with users' limits, in simulated time. It returns how many pages were asked
// for until the job had ended or so much time was over, and how many of them are on the topic, of how many.
func best(t *testing.T, hang int, pages int64, most time.Duration) (asked, found, all int) {
	web := webs.NewTopical(webs.TopicalConfig{Seed: 7, Sites: 100, Pages: 15, Share: 0.04, Near: 0.6, Told: 0.5})
	on := web.OnTopic("80")
	var n, truly atomic.Int64
	for host, h := range web.Sites {
		web.Sites[host] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/robots.txt" {
				n.Add(1)
			}
			if on["http://"+host+":80"+r.URL.Path] {
				truly.Add(1)
			}
			h.ServeHTTP(rw, r)
		})
	}
	j := fleetJob("80", 0)
	j.Identity.Seeds, j.Identity.Scope, j.Identity.Order = []string{"http://t0.test/"}, crawl.ScopeAny, crawl.OrderBest
	j.Limits.PerIP, j.Limits.MaxPages = crawl.DefaultLimits().PerIP, pages
	about, err := topic.Words(webs.TopicalWords, "en")
	if err != nil {
		t.Fatal(err)
	}
	j.Identity.Topic, j.Identity.Tunnel = about, 2
	at := map[string]netip.Addr{"*.test": netip.MustParseAddr("127.0.0.1")}
	for i := range hang {
		name := fmt.Sprintf("hang%d.test", i)
		at[name] = netip.MustParseAddr("127.0.0.2")
		web.Sites[name] = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		j.Identity.Seeds = append(j.Identity.Seeds, "http://"+name+"/")
	}
	s := newWorld(t, t.TempDir(), web.Web)
	s.change = func(c *assemble.AgentConfig) { c.Node.Fetch.Resolve, c.Node.Info.Concurrency = at, 256 }
	s.enter("a")
	id := s.submit(j)
	for end := time.Now().Add(most); s.job(id).State == crawl.JobRunning && time.Now().Before(end); {
		time.Sleep(time.Second)
	}
	return int(n.Load()), int(truly.Load()), len(on)
}

// What promises most comes first also where many sites share an address, and only so many of them may be asked at once.
func TestSimulatedBestOfAnAddress(t *testing.T) {
	simulated(t, func(t *testing.T) {
		asked, found, all := best(t, 0, 400, 10*time.Minute)
		t.Logf("%d of %d pages on the topic in %d", found, all, asked)
		if found < all*6/10 {
			t.Errorf("%d of %d pages on the topic in %d", found, all, asked)
		}
	})
}

// Nobody waits for promising sites that others keep from their address since those hang.
func TestSimulatedBestBesideHanging(t *testing.T) {
	simulated(t, func(t *testing.T) {
		asked, found, all := best(t, 60, 400, 10*time.Second)
		t.Logf("%d of %d pages on the topic in %d", found, all, asked)
		if asked < 380 || found < all*6/10 {
			t.Errorf("in ten seconds %d of %d pages on the topic in %d", found, all, asked)
		}
	})
}

package simulated_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/plan/sim"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/webs"
)

// cityWeb is a web of sites in cities around the world, crawled by nodes in others: links are as slow as such ways are, each connection loses packets, and
// what connections of a node, or of a site, have together is limited.
type cityWeb struct {
	nodes, sites, pages int
	size                int // of pages, bytes
	delay               time.Duration
	seed                uint64
}

// crawl has a fleet crawl the web in simulated time, and returns its coordinator's directory.
func (w cityWeb) crawl(t *testing.T, spec string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	simulated(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(w.seed, 1))
		all := webs.NewWorld(w.seed)
		web := webs.Random(webs.RandomConfig{Sites: w.sites, Pages: w.pages, Links: 6, Seed: 31, Text: w.size})
		s := newWorld(t, dir, web)
		s.Config.Strategy, s.Config.Probe = spec, ""
		s.Halt()
		s.Start()
		links := webs.NewLinks(w.seed)
		links.Loss, links.Jitter = 0.002, 0.1
		links.Open = func(ctx context.Context) (net.Conn, error) { return s.sites.dial(ctx, "", "") }
		places, addrs := map[string]crawl.Place{}, map[string]netip.Addr{}
		j := fleettest.Job("80", w.delay)
		j.Identity.Seeds = nil
		cities := all.Sites[:24]
		rng.Shuffle(len(cities), func(a, b int) { cities[a], cities[b] = cities[b], cities[a] })
		for i := range w.sites {
			e := cities[i%len(cities)]
			e.Name = fmt.Sprintf("s%d.test", i)
			addrs[e.Name] = links.Add(e)
			places[e.Name] = crawl.Place{Lat: e.Lat, Lon: e.Lon}
			j.Identity.Seeds = append(j.Identity.Seeds, "http://"+e.Name+"/")
		}
		rng.Shuffle(len(all.Nodes), func(a, b int) { all.Nodes[a], all.Nodes[b] = all.Nodes[b], all.Nodes[a] })
		at := map[string]webs.End{}
		for _, e := range all.Nodes[:w.nodes] {
			at[e.Name] = e
			links.Add(e)
		}
		s.change = func(c *assemble.AgentConfig) {
			node := c.Node.Info.Node
			c.Node.Info.Labels = map[string]string{"city": node, "lat": fmt.Sprint(at[node].Lat), "lon": fmt.Sprint(at[node].Lon)}
			c.Node.Fetch.Dial, c.Node.Fetch.Resolve = links.Dial(node), addrs
		}
		for _, e := range all.Nodes[:w.nodes] {
			s.enter(e.Name)
		}
		time.Sleep(time.Second)
		j.Placing.Places = places
		j.Limits.LeaseTime = 10 * time.Second
		id := s.Submit(j)
		s.until("the job ends", 2*time.Hour, func() bool { return s.Job(id).State == crawl.JobDone && s.Server.Indexed(id) })
	})
	return dir
}

// record returns what the ledger of such a crawl has recorded.
func (w cityWeb) record(t *testing.T, spec string) sim.Recording {
	t.Helper()
	return recordingIn(t, w.crawl(t, spec), 1)
}

var cities = flag.String("sim.cities", "", "strategies, separated by spaces, under which webs of cities around the world are crawled, and replayed under each")

// Crawls of webs around the world, where a way is as slow as it is long, are replayed under their own strategy and under others as fast as those are there:
// what a recording knows of near nodes alone is not taken for what far ones have, nor what a probe waits for their slowness. Within a fifth of the rate on
// average of such pairs; by day of one web.
func TestLongReplayOfCities(t *testing.T) {
	specs, seeds := []string{"random", "flow", "nearest"}, 1
	if night() {
		seeds = 4
	}
	if *cities != "" {
		specs, seeds = strings.Fields(*cities), 4
	}
	sum, pairs, within := 0.0, 0, 0
	for seed := range uint64(seeds) {
		was, recordings := map[string]float64{}, map[string]sim.Recording{}
		for _, spec := range specs {
			r := cityWeb{nodes: 8, sites: 24, pages: 120, size: 30_000, delay: 100 * time.Millisecond, seed: 10 + seed}.record(t, spec)
			bits, seconds := r.Reached()
			was[spec], recordings[spec] = bits/seconds, r
			t.Logf("web %d: %-10s %.2f Mbit/s over %.0f s, replayed as recorded at %.2f of it", seed, spec, bits/seconds/1e6, seconds, replayed(t, r, sim.AsRecorded)/was[spec])
		}
		for _, spec := range specs {
			for _, other := range specs {
				ratio := replayed(t, recordings[spec], other) / was[other]
				t.Logf("web %d: recorded under %-10s replayed under %-10s at %.2f", seed, spec, other, ratio)
				if sum, pairs = sum+math.Abs(math.Log(ratio)), pairs+1; math.Abs(ratio-1) <= 0.2 {
					within++
				}
			}
		}
	}
	t.Logf("%d of %d are within a fifth", within, pairs)
	if off := math.Exp(sum / float64(pairs)); off > 1.2 {
		t.Errorf("replayed off by a factor of %.2f on average", off)
	}
}

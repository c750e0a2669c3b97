package simulated_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/plan/schedule"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/webs"
)

// networks writes a file of MaxMind's format that knows the network of every address of a machine itself.
func networks(t *testing.T) string {
	t.Helper()
	w, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "ASN", RecordSize: 24, IncludeReservedNetworks: true})
	if err != nil {
		t.Fatal(err)
	}
	_, n, _ := net.ParseCIDR("127.0.0.0/8")
	if err := w.Insert(n, mmdbtype.Map{"autonomous_system_number": mmdbtype.Uint32(64496)}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ASN")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = w.WriteTo(f); err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Fleets that do what fleets do (nodes come, get nowhere, are drained and cost something; jobs say where sites are and what their tasks need;
// delays are pinged) give strategies something in every field of their snapshots: none is read that nobody fills.
func TestLongFleetsFillEverySnapshot(t *testing.T) {
	t.Parallel()
	l := fleettest.NewLooks()
	dir, where := t.TempDir(), networks(t)
	simulated(t, func(t *testing.T) {
		begin := time.Now()
		s := newWorld(t, dir, webs.Random(webs.RandomConfig{Sites: fleettest.Sites, Pages: 80, Links: 6, Seed: 41, Latency: 200 * time.Millisecond}))
		s.Halt()
		s.Config.Strategies, s.Config.Strategy, s.Config.Probe, s.Config.Seed, s.Config.GeoIP = l.Strategies, "nearest", "", 7, []string{where}
		s.Start()
		s.change = func(c *assemble.AgentConfig) {
			i := &c.Node.Info
			i.Labels, i.Offer, i.Prices = map[string]string{"type": "web", "city": i.Node}, [3]float64{4, 8e9, 1e8}, [3]float64{1, 2, 4}
			if i.Node == "c" { // for a minute it gets nowhere
				i.OnDemand = true
				c.Node.Fetch.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
					if time.Since(begin) < time.Minute {
						return nil, net.ErrClosed
					}
					return s.sites.dial(ctx, network, addr)
				}
			}
		}
		for _, n := range []string{"a", "b", "c"} {
			s.enter(n)
		}
		time.Sleep(time.Second)
		j := fleettest.Job("80", 500*time.Millisecond)
		j.Limits.PerIP, j.Limits.PerDomain, j.Limits.LeaseTime = 8, 8, 5*time.Second
		j.Placing = crawl.Placing{Type: "web", Product: "milk", Need: [3]float64{0.1, 1e6, 1e5}, Landmarks: []string{"a", "b"}, Places: map[string]crawl.Place{}}
		for i := range fleettest.Sites {
			j.Placing.Places[fmt.Sprintf("s%d.test", i)] = crawl.Place{Lat: 47, Lon: 8, Region: "eu"}
		}
		done := func(id uint32) func() bool {
			return func() bool { return s.Job(id).State == crawl.JobDone && s.Server.Indexed(id) }
		}
		for _, st := range []string{"nearest", "flow"} {
			j.Placing.Strategy = st
			id := s.Submit(j)
			s.until("the crawl gets on", time.Hour, func() bool { return s.Job(id).Counts.Fetched > 60 })
			if st == "flow" {
				s.order("b", false, func() {})
			}
			s.until("the job ends", time.Hour, done(id))
		}
	})
	for _, name := range l.Missing(reflect.TypeFor[schedule.Snapshot](), "Snapshot") {
		if !slices.Contains(ofSearches, name) {
			t.Errorf("%s: no fleet has filled it", name)
		}
	}
}

// ofSearches are the fields that jobs with searches fill: TestVirtualInAFleet sees the first, and that tasks go where they are bound to,
// which strategies are not asked about (schedule.WithBound); TestLongSimulatedClocksOfAddresses sees what the last two do.
var ofSearches = []string{"Snapshot.Tasks.About", "Snapshot.Tasks.Bound", "Snapshot.Tasks.ByAddress", "Snapshot.Tasks.Shut"}

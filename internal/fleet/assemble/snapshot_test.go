package assemble_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/plan/schedule"
	"argosy/internal/plan/strategy"
	"argosy/internal/webs"
)

// looks notes which fields of snapshots said something when strategies were asked.
type looks struct {
	mu   sync.Mutex
	said map[string]bool
}

// looked is a strategy whose snapshots are looked at.
type looked struct {
	schedule.Strategy
	by *looks
}

// strategies makes strategies as the product does, and looks at what they are given.
func (l *looks) strategies(spec string) (schedule.Strategy, error) {
	st, err := strategy.New(spec)
	return looked{st, l}, err
}

// Plan implements schedule.Strategy.
func (s looked) Plan(snap *schedule.Snapshot, record bool) schedule.Plan {
	s.by.mu.Lock()
	s.by.look(reflect.ValueOf(*snap), "Snapshot")
	s.by.mu.Unlock()
	return s.Strategy.Plan(snap, record)
}

// Measures implements schedule.Measurer.
func (s looked) Measures() (m schedule.Measures) {
	if of, ok := s.Strategy.(schedule.Measurer); ok {
		m = of.Measures()
	}
	return m
}

// Modifies implements schedule.Modifier.
func (s looked) Modifies() (cfg schedule.ModifyConfig, yes bool) {
	if of, ok := s.Strategy.(schedule.Modifier); ok {
		cfg, yes = of.Modifies()
	}
	return cfg, yes
}

// look notes the fields of a struct, and of those in it, that say something.
func (l *looks) look(v reflect.Value, at string) {
	for i := range v.NumField() {
		f, name := v.Field(i), at+"."+v.Type().Field(i).Name
		if !v.Type().Field(i).IsExported() || f.IsZero() {
			continue
		}
		l.said[name] = true
		switch {
		case f.Kind() == reflect.Struct:
			l.look(f, name)
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct:
			for k := range f.Len() {
				l.look(f.Index(k), name)
			}
		}
	}
}

func (l *looks) has(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.said[name]
}

// missing returns the fields of a type, and of those in it, that never said anything.
func (l *looks) missing(t reflect.Type, at string) (out []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, of := at+"."+f.Name, f.Type
		if !f.IsExported() {
			continue
		}
		if !l.has(name) {
			out = append(out, name)
			continue
		}
		if of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() == reflect.Struct {
			out = append(out, l.missing(of, name)...)
		}
	}
	return out
}

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
func TestFleetsFillEverySnapshot(t *testing.T) {
	t.Parallel()
	l := &looks{said: map[string]bool{}}
	dir, where := t.TempDir(), networks(t)
	simulated(t, func(t *testing.T) {
		begin := time.Now()
		s := newWorld(t, dir, webs.Random(webs.RandomConfig{Sites: sites, Pages: 80, Links: 6, Seed: 41, Latency: 200 * time.Millisecond}))
		s.halt()
		s.cfg.Strategies, s.cfg.Strategy, s.cfg.Probe, s.cfg.Seed, s.cfg.GeoIP = l.strategies, "nearest", "", 7, []string{where}
		s.start()
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
		j := fleetJob("80", 500*time.Millisecond)
		j.Limits.PerIP, j.Limits.PerDomain, j.Limits.LeaseTime = 8, 8, 5*time.Second
		j.Placing = crawl.Placing{Type: "web", Product: "milk", Need: [3]float64{0.1, 1e6, 1e5}, Landmarks: []string{"a", "b"}, Places: map[string]crawl.Place{}}
		for i := range sites {
			j.Placing.Places[fmt.Sprintf("s%d.test", i)] = crawl.Place{Lat: 47, Lon: 8, Region: "eu"}
		}
		done := func(id uint32) func() bool {
			return func() bool { return s.job(id).State == crawl.JobDone && s.server.Indexed(id) }
		}
		for _, st := range []string{"nearest", "flow"} {
			j.Placing.Strategy = st
			id := s.submit(j)
			s.until("the crawl gets on", time.Hour, func() bool { return s.job(id).Counts.Fetched > 60 })
			if st == "flow" {
				s.order("b", false, func() {})
			}
			s.until("the job ends", time.Hour, done(id))
		}
	})
	for _, name := range l.missing(reflect.TypeFor[schedule.Snapshot](), "Snapshot") {
		if !slices.Contains(ofSearches, name) {
			t.Errorf("%s: no fleet has filled it", name)
		}
	}
}

// ofSearches are the fields that jobs with searches fill: TestVirtualInAFleet sees the first, and that tasks go where they are bound to,
// which strategies are not asked about (schedule.WithBound); TestSimulatedClocksOfAddresses sees what the last two do.
var ofSearches = []string{"Snapshot.Tasks.About", "Snapshot.Tasks.Bound", "Snapshot.Tasks.ByAddress", "Snapshot.Tasks.Shut"}

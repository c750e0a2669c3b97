package learn

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"argosy/internal/plan/predict"
	"argosy/internal/plan/price"
	"argosy/internal/plan/schedule"
)

// filled is a view in which everything is said.
func filled() View {
	l := New()
	for _, f := range []Fact{
		{At: 1, Kind: Report, Node: "z", Site: "other", Bits: 8e6, Seconds: 1, Good: 10, All: 10},
		{At: 1, Kind: Report, Node: "n", Site: "s", Bits: 4e6, Seconds: 1, Good: 8, All: 10},
	} {
		l.Take(f)
	}
	site := Site{Name: "s", Domain: "s.test", Addrs: []string{"192.0.2.1"}, Pause: 2, Latency: 0.5, Connections: 3, Silent: true, Failed: true}
	need := schedule.Vector{1, 2, 3}
	return View{
		Now: 1000, Seed: 7, PerIP: 1, PerSite: 2, PerDomain: 3, LeaseSeconds: 60, Ran: 90, Book: l.Record().Book(predict.Config{}), Memory: &schedule.Memory{},
		Nodes: []Node{{
			ID: "n", Incarnation: "i", Labels: map[string]string{"city": "c"}, Leases: 4, Held: 1, Requests: 8, Worked: true, Draining: true, OnDemand: true,
			Offer: schedule.Vector{4, 5, 6}, Prices: price.Rates{Reserve: 1, Use: 2, Surcharge: 3},
		}},
		Tasks: []Task{{
			Site: site, ID: 5, Job: 6, Since: 900, Turn: 4, Pending: 70, Avoid: []string{"m"}, Last: "n", Type: "web", Product: "milk", Need: need, About: About("s"), Bound: "n",
			ByAddress: true, Shut: []string{"m"},
			Pages: 50, Known: 60, Place: schedule.Place{Lat: 1, Lon: 2, Located: true, Region: "eu", Network: "AS1"},
		}},
		Leases: []Lease{{Site: site, ID: 8, Task: 9, Node: "n", Need: need, Ping: true, Long: true, Job: 6, Type: "web"}},
	}
}

// zeros are the fields of a struct, and of those in it, that say nothing.
func zeros(v reflect.Value, at string) (out []string) {
	for i := range v.NumField() {
		f, name := v.Field(i), at+"."+v.Type().Field(i).Name
		if !v.Type().Field(i).IsExported() {
			continue
		}
		if f.IsZero() {
			out = append(out, name)
		} else if f.Kind() == reflect.Struct {
			out = append(out, zeros(f, name)...)
		} else if f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct {
			out = append(out, zeros(f.Index(0), name)...)
		}
	}
	return out
}

// Every field of a snapshot is written from a view that says everything: a field that a strategy reads and nobody writes
// would show here.
func TestEveryFieldOfASnapshotIsWritten(t *testing.T) {
	v := filled()
	if z := zeros(reflect.ValueOf(v), "View"); len(z) > 0 {
		t.Fatalf("the view is not filled: %v", z)
	}
	z := zeros(reflect.ValueOf(*Snapshot(v)), "Snapshot")
	for i := range v.Nodes { // these say the opposite of their fields of a node
		v.Nodes[i].Worked, v.Nodes[i].OnDemand = false, false
	}
	again := zeros(reflect.ValueOf(*Snapshot(v)), "Snapshot")
	for _, name := range z {
		if name != "Snapshot.Nodes.Untried" && name != "Snapshot.Nodes.Reserved" {
			t.Errorf("%s is not written", name)
		}
	}
	for _, name := range again {
		t.Errorf("%s is not written", name)
	}
}

// Every field of a view changes something of the snapshot: what a fleet would fill for nothing is not asked for.
func TestEveryFieldOfAViewIsUsed(t *testing.T) {
	views := map[string]func() (*View, reflect.Value){}
	for name, of := range map[string]func(*View) any{
		"Node": func(v *View) any { return &v.Nodes[0] }, "Task": func(v *View) any { return &v.Tasks[0] }, "Lease": func(v *View) any { return &v.Leases[0] },
		"Site of a task": func(v *View) any { return &v.Tasks[0].Site }, "Site of a lease": func(v *View) any { return &v.Leases[0].Site },
	} {
		views[name] = func() (*View, reflect.Value) {
			v := filled()
			return &v, reflect.ValueOf(of(&v)).Elem()
		}
	}
	for name, make := range views {
		_, fields := make()
		for i := range fields.NumField() {
			v, fields := make()
			field := fields.Type().Field(i).Name
			if field == "Connections" { // counts where there is no pause
				v.Tasks[0].Pause, v.Leases[0].Pause = 0, 0
			}
			before := *Snapshot(*v)
			fields.Field(i).SetZero()
			after := *Snapshot(*v)
			after.Book, before.Book = nil, nil
			if reflect.DeepEqual(before, after) {
				t.Errorf("%s: %s changes nothing", name, field)
			}
		}
	}
}

// What is derived is derived here: the bits of a lease, and how many requests at once it makes.
func TestDerivedFigures(t *testing.T) {
	v := filled()
	s := Snapshot(v)
	if want := 50 * 4e6 / 8; s.Tasks[0].Bits != want { // of pages that were had
		t.Errorf("%v bits, want %v: the quota", s.Tasks[0].Bits, want)
	}
	if s.Tasks[0].Width != 0.25 || s.Running[0].Width != 0.25 || s.Tasks[0].Gap != 2 {
		t.Errorf("width %v and %v, gap %v", s.Tasks[0].Width, s.Running[0].Width, s.Tasks[0].Gap)
	}
	v.Tasks[0].Pages, v.Tasks[0].Pause = math.Inf(1), 0
	if s = Snapshot(v); !math.IsInf(s.Tasks[0].Bits, 1) || s.Tasks[0].Width != 3 {
		t.Errorf("without an end %v bits, without a pause %v requests", s.Tasks[0].Bits, s.Tasks[0].Width)
	}
	v.Tasks[0].Pages = 0
	if s = Snapshot(v); s.Tasks[0].Bits != 0 {
		t.Errorf("%v bits of nobody knows how many pages", s.Tasks[0].Bits)
	}
	v.Nodes = append(v.Nodes, Node{ID: "a"})
	if s = Snapshot(v); s.Nodes[0].ID != "a" || s.Nodes[1].ID != "n" {
		t.Error("nodes are not in the order of their ids")
	}
	// Speed times success is useful bits over work.
	rate, ok := v.Book.Rate(v.Book.Node("n"), v.Book.Site("s"), 1).Value, 0.8
	if math.Abs(rate*ok/4e6-1) > 0.3 { // it is a little drawn to what others have
		t.Errorf("speed %v", rate)
	}
}

// The room of an old snapshot leaves nothing of it in a new one.
func TestSnapshotInOldRoom(t *testing.T) {
	v := filled()
	s := Snapshot(v)
	s.Tasks, s.Nodes, s.Running = append(s.Tasks, s.Tasks...), append(s.Nodes, s.Nodes...), append(s.Running, s.Running...)
	s.Tasks[0].About, s.Running[0].Ping = 9, true
	v.Tasks[0].About, v.Leases[0].Ping = "", false
	if got, want := SnapshotIn(s, v), Snapshot(v); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Leases that end and begin, and another book, leave nothing of the numbers that an old snapshot had for sites.
func TestSnapshotInOldRoomOfOtherLeases(t *testing.T) {
	v, random, next := filled(), rand.New(rand.NewPCG(1, 2)), uint64(1)
	s := Snapshot(v)
	for round := range 200 {
		kept := v.Leases[:0]
		for _, l := range v.Leases {
			if random.IntN(3) > 0 {
				kept = append(kept, l)
			}
		}
		v.Leases = kept
		for range random.IntN(4) {
			v.Leases = append(v.Leases, Lease{Site: Site{Name: string(rune('a' + random.IntN(20)))}, ID: next, Node: "n"})
			next += uint64(random.IntN(3)) // also two of one number
		}
		if round%50 == 49 {
			v.Book = New().Record().Book(predict.Config{})
		}
		s = SnapshotIn(s, v)
		if want := Snapshot(v); len(v.Leases) > 0 && !reflect.DeepEqual(s, want) {
			t.Fatalf("round %d: %+v, want %+v", round, s.Running, want.Running)
		}
	}
}

// A snapshot does not depend on the order in which leases are given.
func TestSnapshotOfLeasesInAnyOrder(t *testing.T) {
	v := filled()
	v.Tasks[0].Latency, v.Tasks[0].Pause, v.Leases = 0, 100, nil
	for i := range 4 * mostLatencies {
		v.Leases = append(v.Leases, Lease{Site: Site{Name: "s", Pause: 100, Latency: float64(i + 1)}, ID: uint64(i + 1), Node: "n"})
	}
	want := Snapshot(v)
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		random.Shuffle(len(v.Leases), func(i, j int) { v.Leases[i], v.Leases[j] = v.Leases[j], v.Leases[i] })
		if got := Snapshot(v); !reflect.DeepEqual(got, want) {
			t.Fatalf("order %d: %v requests at once, want %v", seed, got.Tasks[0].Width, want.Tasks[0].Width)
		}
	}
}

// A site that nobody has asked is thought to answer as late as those that are being asked, once a few of them have.
func TestAnUnseenSiteIsAsSlowAsOthers(t *testing.T) {
	v := filled()
	v.Tasks[0].Latency, v.Tasks[0].Pause = 0, 10
	for held, want := range map[int]float64{0: 0.01, fewLatencies - 1: 0.01, fewLatencies: 0.4, 1000: 0.4} {
		v.Leases = nil
		for i := range held {
			v.Leases = append(v.Leases, Lease{Site: Site{Name: "s", Pause: 10, Latency: 4}, ID: uint64(i + 1), Node: "n"})
		}
		if got := Snapshot(v).Tasks[0].Width; got != want {
			t.Errorf("beside %d leases of sites that answer in 4 s: %v requests at once, want %v", held, got, want)
		}
	}
}

package coordinator

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/access"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/predict"
	"argosy/internal/testkit"
)

// twins are a frontier and a ledger that take in a log which the test writes, as a coordinator's do.
type twins struct {
	t      *testing.T
	co     *Coordinator
	seq    uint64
	log    []ledger.Applied
	stored []entry // all that stands in the log
	lease  uint64
	leased crawl.Lease
}

func newTwins(t *testing.T, seeds int) *twins {
	t.Helper()
	dir := t.TempDir()
	f, err := frontier.Open(frontier.DefaultConfig(filepath.Join(dir, "frontier")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if err := f.Rebase("log", 0); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), filepath.Join(dir, "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if err := l.Rebase(t.Context(), "log", 0); err != nil {
		t.Fatal(err)
	}
	s := &twins{t: t, co: New(Config{}, nil, nil, nil, f, l)}
	s.co.lore.learned = learn.New()
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite}}
	for i := range seeds {
		job.Identity.Seeds = append(job.Identity.Seeds, seed(i))
	}
	s.leader(crawl.Entry{Kind: crawl.EntryTerm})
	s.leader(crawl.Entry{Kind: crawl.EntrySubmit, Job: job})
	return s
}

func seed(i int) string { return fmt.Sprintf("http://s.test/%d", i) }

// leader applies an entry of the leader's.
func (s *twins) leader(e crawl.Entry) {
	s.t.Helper()
	e.Version, e.Epoch = crawl.WireVersion, 1
	s.entry("", e)
}

// entry applies an entry as it comes from the log.
func (s *twins) entry(node string, e crawl.Entry) (fx frontier.Effects, refused []crawl.Refusal) {
	s.t.Helper()
	b, err := crawl.Marshal(&e)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.message(node, b)
}

// message applies an entry as it stands in the log.
func (s *twins) message(node string, b []byte) (fx frontier.Effects, refused []crawl.Refusal) {
	s.t.Helper()
	s.seq++
	s.stored = append(s.stored, entry{seq: s.seq, node: node, data: b})
	en, refused, err := s.co.take(s.stored[len(s.stored)-1])
	if err != nil {
		s.t.Fatal(err)
	}
	if fx, err = s.co.f.Apply(s.seq, int64(s.seq)*1000, en); err != nil {
		s.t.Fatal(err)
	}
	s.log = append(s.log, ledger.Applied{Seq: s.seq, At: int64(s.seq) * 1000, Entry: en})
	return fx, refused
}

// grant opens another lease of the only task, with nothing in it: what it reports of is taken from the queue.
func (s *twins) grant() crawl.Lease {
	s.lease++
	s.leased = crawl.Lease{ID: s.lease, Job: 1, Task: 1, Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: uint32(s.lease), Secret: "s", Quota: 10, Probe: seed(0)}
	s.leader(crawl.Entry{Kind: crawl.EntryGrant, Leases: []crawl.Lease{s.leased}})
	return s.leased
}

// flush has the ledger write what the frontier has applied.
func (s *twins) flush(what string) {
	s.t.Helper()
	if err := s.co.sinks.ledger.Apply(s.t.Context(), s.log); err != nil {
		s.t.Fatalf("%s: %v", what, err)
	}
	s.counted(what)
	s.log = s.log[:0]
}

// whole is an entry in which every field says something, about the ith seed.
func whole(l crawl.Lease, i int) crawl.Entry {
	l.Node, l.Incarnation, l.Epoch, l.Secret = "n", "i", 1, "s"
	return testkit.Whole(l, seed(i), seed(0))
}

// Whatever a node writes into any field of a part or of a measurement, it is either refused, with a reason, or applied by both
// twins; nothing panics, and every figure that comes of it is a number.
func TestLongWhateverANodeSays(t *testing.T) {
	if testing.Short() {
		t.Skip("some thousand entries")
	}
	refused, applied := 0, 0
	for _, kind := range []crawl.EntryKind{crawl.EntryParts, crawl.EntryMeasures} {
		s := newTwins(t, 2000)
		last := ""
		for n := 0; ; n++ {
			e := whole(s.grant(), n%2000)
			e.Kind = kind
			what, ok := testkit.Mutate(&e, n)
			if !ok {
				t.Logf("%d changes of kind %d", n, kind)
				break
			}
			fx, no := s.entry("n", e)
			if len(no) > 0 {
				refused++
			} else {
				applied++
			}
			for _, r := range no {
				if r.Fault.Rule == "" || r.Fault.Field == "" {
					t.Errorf("%s: refused without a reason", what)
				}
			}
			finite(t, what, fx)
			if n%200 == 0 {
				s.flush(last + " … " + what)
				last = what
			}
		}
		s.flush("the last")
		learner, err := s.co.f.Learner()
		if err != nil {
			t.Fatal(err)
		}
		rec := learner.Record()
		node, site := rec.Node("n"), rec.Site("s.test")
		book := rec.Book(predict.Config{})
		book.Fit()
		if x := book.Rate(node, site, 1e9).Value; math.IsNaN(x) || math.IsInf(x, 0) {
			t.Errorf("the node's speed is %v", x)
		}
	}
	t.Logf("%d refused, %d applied", refused, applied)
	if refused < 200 || applied < 200 {
		t.Errorf("%d refused, %d applied: the test does not try what it should", refused, applied)
	}
}

func finite(t *testing.T, what string, fx frontier.Effects) {
	t.Helper()
	for _, f := range fx.Facts {
		for _, x := range []float64{f.Bits, f.Seconds, f.Good, f.All, f.CPU, f.Memory} {
			if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
				t.Errorf("%s: a fact says %v", what, f)
			}
		}
	}
}

// An entry of a node in which nothing is odd is applied as it is.
func TestWhatIsRightIsNotRefused(t *testing.T) {
	s := newTwins(t, 2)
	e := whole(s.grant(), 0)
	fx, refused := s.entry("n", e)
	if len(refused) > 0 || len(fx.Ended) != 1 || s.co.f.Counts(1).Fetched != 1 {
		t.Errorf("refused %v, %d leases ended, %+v", refused, len(fx.Ended), s.co.f.Counts(1))
	}
	s.flush("all")
}

// What a lease was not sent to measure is refused, and what else the part says is taken.
func TestForeignMeasuresAreRefused(t *testing.T) {
	for what, change := range map[string]func(l *crawl.Lease, m *crawl.Measure){
		"another site's":  func(_ *crawl.Lease, m *crawl.Measure) { m.URL = "http://bank.example/" },
		"no site's":       func(_ *crawl.Lease, m *crawl.Measure) { m.URL = "" },
		"without a probe": func(l *crawl.Lease, _ *crawl.Measure) { l.Probe = "" },
	} {
		t.Run(what, func(t *testing.T) {
			s := newTwins(t, 2)
			s.grant()
			s.lease++
			l := s.leased
			l.ID, l.Attempt = s.lease, 2
			e := whole(l, 0)
			change(&l, &e.Parts[0].Measures[1])
			s.leader(crawl.Entry{Kind: crawl.EntryGrant, Leases: []crawl.Lease{l}})
			fx, refused := s.entry("n", e)
			if len(refused) != 1 || refused[0].Fault.Rule != crawl.RuleHeld || s.co.f.Counts(1).Fetched != 1 {
				t.Errorf("refused %v; %+v", refused, s.co.f.Counts(1))
			}
			for _, f := range fx.Facts {
				if f.Kind == learn.Crawl {
					t.Errorf("learned: %+v", f)
				}
			}
			s.flush(what)
		})
	}
}

// heard is a gate that lets everything through, and adds up what it is told that nodes say.
type heard struct{ access.Said }

func (*heard) AllowsStore(string) bool      { return true }
func (*heard) EchoOf(_, echo string) string { return echo }
func (h *heard) Applied(_ string, s access.Said, _ int64) {
	h.Measures, h.Doubted, h.Links = h.Measures+s.Measures, h.Doubted+s.Doubted, h.Links+s.Links
}

// A node that reports of many leases that nobody knows is counted for each, and costs few messages and fewer lines.
func TestManyStrangeLeases(t *testing.T) {
	const many = 20_000
	s, gate, out := newTwins(t, 2), &heard{}, newMemory()
	s.co.fleet.gate, s.co.post.out, s.co.sinks.leads = gate, out, true
	now := time.UnixMilli(1e6)
	s.co.fleet.registered(now, time.Time{}, crawl.NodeInfo{Node: "n", Incarnation: "i"}, crawl.SignRenewed, s.co.f.Leases)
	e := crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntryParts, Node: "n", Incarnation: "i"}
	for i := range many {
		e.Parts = append(e.Parts, crawl.Part{Lease: uint64(i + 1), No: 1})
	}
	e.Parts = append(e.Parts, crawl.Part{Lease: 1, Reason: "\x00"}) // refused
	e.Parts[0].Found, e.Parts[0].Outcomes = []crawl.Found{{Known: make([]crawl.Key, 7)}}, make([]crawl.Outcome, 2)
	fx, refused := s.entry("n", e)
	if err := s.co.effects(t.Context(), now, &fx); err != nil {
		t.Fatal(err)
	}
	s.co.fleet.weigh(&entry{node: "n"}, &e, fx.Doubted+len(refused))
	if gate.Doubted != many+1 || gate.Links != 9 {
		t.Errorf("%d parts that were not believed were counted, and %d links", gate.Doubted, gate.Links)
	}
	if len(out.said) == 0 || len(out.said) > maxStrange || len(fx.Ignored) > 10 {
		t.Errorf("%d messages, %d lines", len(out.said), len(fx.Ignored))
	}
	if why := new(access.Meter).Add(access.DefaultRates(), access.Said{Doubted: gate.Doubted}, 1); why == "" {
		t.Error("the node is not shut out")
	}
}

// Measurements that no lease asked for are counted try by try, for they are limited.
func TestMeasuresAreWeighed(t *testing.T) {
	s, gate := newTwins(t, 2), &heard{}
	s.co.fleet.gate = gate
	e := whole(s.grant(), 0)
	e.Kind = crawl.EntryMeasures
	for range 3 {
		s.co.fleet.weigh(&entry{node: "n"}, &e, 0)
	}
	if gate.Measures != 3*3 {
		t.Errorf("%d measurements were counted, want 9", gate.Measures)
	}
}

// A registration is refused, or can be shown to everybody, whatever it says.
func TestWhateverANodeSaysOfItself(t *testing.T) {
	refused, taken := 0, 0
	for n := 0; ; n++ {
		info := crawl.NodeInfo{
			Node: "n", Incarnation: "i", Labels: map[string]string{"city": "Paris"}, Leases: 4, Concurrency: 2, Store: "file:///x", Offer: [3]float64{1, 2, 3},
			Prices: [3]float64{1, 2, 3}, Echo: "http://h:1/", Version: "1", StoreBits: 5, Wire: 2, Source: "127.0.0.2",
		}
		what, ok := testkit.Mutate(&info, n)
		if !ok {
			break
		}
		b, err := crawl.Marshal(info)
		if err != nil {
			t.Fatal(err)
		}
		var got crawl.NodeInfo
		if crawl.Unmarshal(b, &got) != nil || got.Check() != nil {
			refused++
			continue
		}
		taken++
		if len(b) > crawl.MaxRegistration {
			t.Errorf("%s: %d bytes are taken", what, len(b))
		}
		if _, err := json.Marshal(NodeView{NodeInfo: got}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		nd := &node{info: got}
		if r := nd.rates(); math.IsNaN(r.Reserve+r.Use+r.Surcharge) || got.Leases > crawl.MaxLeases {
			t.Errorf("%s: %+v", what, got)
		}
	}
	if refused < 30 || taken < 10 {
		t.Errorf("%d refused, %d taken", refused, taken)
	}
}

// What is refused of a lease is counted with its node and takes the lease back; another node cannot have it taken back.
func TestRefusedPartSpoilsItsLease(t *testing.T) {
	s := newTwins(t, 2)
	e := whole(s.grant(), 0)
	e.Parts[0].Measures[0].Seconds = math.NaN()
	other := e
	other.Node = "thief"
	if _, refused := s.entry("thief", other); len(refused) != 1 || len(s.co.open.spoiled) != 0 {
		t.Fatalf("%v, %v", refused, s.co.open.spoiled)
	}
	if _, refused := s.entry("?", other); len(refused) != 1 || refused[0].Fault.Rule != crawl.RuleName {
		t.Fatalf("%v", refused)
	}
	fx, refused := s.entry("n", e)
	if len(refused) != 1 || refused[0].Fault.Error() != "measures[0].seconds: number" || len(fx.Reported) != 0 || !s.co.open.spoiled[s.lease] {
		t.Fatalf("%v, %+v, %v", refused, fx, s.co.open.spoiled)
	}
	clear(s.co.open.spoiled)
	e.Parts[0].Measures, e.Parts[0].No = nil, 2 // the next one: the first is missing
	if fx, _ = s.entry("n", e); len(fx.Broken) != 1 || fx.Broken[0] != s.lease {
		t.Errorf("%+v", fx)
	}
	s.leader(crawl.Entry{Kind: crawl.EntryRecall, Recalls: []crawl.Recall{{Lease: s.lease, Reason: crawl.EndRefused}}})
	e.Parts[0].Final = false
	if fx, _ = s.entry("n", e); len(fx.Late) != 1 || fx.Late[0].ID != s.lease { // the message that it was recalled did not arrive
		t.Errorf("a node goes on with a lease that was recalled, and is not told: %+v", fx)
	}
	e.Parts[0].Secret = "guessed"
	if fx, _ = s.entry("n", e); len(fx.Late) != 0 {
		t.Errorf("%+v", fx)
	}
	if n := s.co.fleet.refused["n"]; n.Count != 1 || n.Rules[crawl.RuleNumber] != 1 {
		t.Errorf("%+v", n)
	}
	s.flush("all")
}

// counted compares what frontier and ledger count as ended, entry by entry, with what they have.
func (s *twins) counted(what string) {
	s.t.Helper()
	var want crawl.Ended
	err := s.co.sinks.ledger.Ends(s.t.Context(), 1, func(p crawl.Page, state crawl.State, why crawl.Kind) error {
		want.Count(p, state, why, 1)
		return nil
	})
	got, gerr := s.co.sinks.ledger.Ended(s.t.Context(), 1)
	if err != nil || gerr != nil || got != want {
		s.t.Errorf("%s: the ledger counts %+v, it has %+v: %v, %v", what, got, want, err, gerr)
	}
	want = crawl.Ended{}
	err = s.co.f.URLs(1, func(u frontier.URL) error {
		want.Count(crawl.Page{Layer: u.Layer, Key: u.Key}, u.State, u.Reason, 1)
		return nil
	})
	if got := s.co.f.Job(1).Ended; err != nil || got != want {
		s.t.Errorf("%s: the frontier counts %+v, it has %+v: %v", what, got, want, err)
	}
}

// A node reports about the URLs of its leases' tasks, by their own names. What else it says of URLs is refused, and neither frontier nor
// ledger hears of it.
func TestForeignOutcomesAreRefused(t *testing.T) {
	key := func(url string) crawl.Key {
		u, err := crawl.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		return u.Key()
	}
	mine, other := key(seed(0)), key("http://bank.example/secret")
	for what, c := range map[string]struct {
		change func(*crawl.Outcome)
		field  string
	}{
		"its own":                     {func(*crawl.Outcome) {}, ""},
		"another URL by its key":      {func(o *crawl.Outcome) { o.URL = "javascript:alert(1)" }, "url"},
		"another key with its URL":    {func(o *crawl.Outcome) { o.Key = other }, "key"},
		"a URL that nobody has named": {func(o *crawl.Outcome) { o.Key, o.URL = key("http://s.test/new"), "http://s.test/new" }, "key"},
		"a page of another site":      {func(o *crawl.Outcome) { o.Key, o.URL = other, "http://bank.example/secret" }, "key"},
		"another generation":          {func(o *crawl.Outcome) { o.Gen = math.MaxUint32 }, "layer"},
		"another owner":               {func(o *crawl.Outcome) { o.Owner = 7 }, "layer"},
		"to be tried again":           {func(o *crawl.Outcome) { o.Key, o.State = other, crawl.Retry }, "key"},
		"beside, its robots.txt": {func(o *crawl.Outcome) {
			o.Key, o.URL, o.State = key("http://s.test/robots.txt"), "http://s.test/robots.txt", crawl.Beside
		}, ""},
		"beside, another robots.txt": {func(o *crawl.Outcome) {
			o.Key, o.URL, o.State = key("http://www.s.test/robots.txt"), "http://www.s.test/robots.txt", crawl.Beside
		}, ""},
		"beside, elsewhere":        {func(o *crawl.Outcome) { o.Key, o.URL, o.State = other, "http://bank.example/secret", crawl.Beside }, "url"},
		"beside, no URL":           {func(o *crawl.Outcome) { o.URL, o.State = "file:///etc/passwd", crawl.Beside }, "url"},
		"beside, with a wrong key": {func(o *crawl.Outcome) { o.Key, o.URL, o.State = other, "http://s.test/robots.txt", crawl.Beside }, "key"},
	} {
		t.Run(what, func(t *testing.T) {
			s := newTwins(t, 3)
			e := whole(s.grant(), 0)
			p := &e.Parts[0]
			p.Outcomes = p.Outcomes[:1]
			p.Outcomes[0].Key, p.Outcomes[0].URL = mine, seed(0)
			c.change(&p.Outcomes[0])
			_, refused := s.entry("n", e)
			switch {
			case c.field == "" && len(refused) > 0:
				t.Errorf("refused: %v", refused[0].Fault)
			case c.field != "" && (len(refused) != 1 || refused[0].Fault.Field != "outcomes[0]."+c.field || refused[0].Fault.Rule != crawl.RuleHeld):
				t.Errorf("not refused for its %s: %v", c.field, refused)
			}
			s.flush(what) // frontier and ledger agree
			if n := s.co.fleet.refused["n"]; (n != nil) != (c.field != "") {
				t.Errorf("counted: %+v", n)
			}
		})
	}
}

// A site that a node says is to rest for a day is asked again at once when a person releases it; until then its task says how long.
func TestRetryEndsARest(t *testing.T) {
	s := newTwins(t, 3)
	e := whole(s.grant(), 0)
	p := &e.Parts[0]
	p.Site.BackoffMS, p.Reason = 24*3600*1000, crawl.EndWait
	now := time.UnixMilli(1e6)
	effects := func(e crawl.Entry, node string) {
		t.Helper()
		if fx, refused := s.entry(node, e); len(refused) > 0 {
			t.Fatal(refused[0].Fault)
		} else if err := s.co.effects(t.Context(), now, &fx); err != nil {
			t.Fatal(err)
		}
	}
	r := &run{inDue: map[uint32]bool{}, short: shorts{}}
	s.co.jobs.runs[1] = r
	effects(e, "n")
	if len(r.due) != 1 || r.due[0].at < p.Site.BackoffMS || Row(s.co.f, s.co.f.Task(1)).Until < p.Site.BackoffMS {
		t.Fatalf("it does not rest: %+v, %+v", r.due, Row(s.co.f, s.co.f.Task(1)))
	}
	effects(crawl.Entry{Version: crawl.WireVersion, Epoch: 1, Kind: crawl.EntryRetry, Release: &crawl.Release{Job: 1}}, "")
	if len(r.due) != 1 || r.due[0].at > 1e6 || Row(s.co.f, s.co.f.Task(1)).Until != 0 {
		t.Errorf("it rests: %+v", r.due)
	}
}

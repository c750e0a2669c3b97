package learn

import (
	"fmt"
	"math"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/plan/predict"
)

// The speed of a pair is its useful bits over the time of work, however long the lease waited in between: the same work told in
// one part or in ten gives the same speed.
func TestSpeedIsUsefulBitsOverWork(t *testing.T) {
	page := func(status int) crawl.Outcome {
		return crawl.Outcome{State: crawl.Fetched, Status: status, Bytes: 125_000}
	}
	who := Worker{Node: "n", Site: "s"}
	for _, parts := range []int{1, 10} {
		l := New()
		at := int64(1000)
		for range parts {
			p := &crawl.Part{WorkedUS: int64(10e6) / int64(parts)}
			for range 20 / parts {
				p.Outcomes = append(p.Outcomes, page(200), page(404))
			}
			at += 3_600_000 // politeness does not count
			for _, f := range OfPart(who, p, at) {
				l.Take(f)
			}
		}
		book := l.Record().Book(predict.Config{})
		f := book.Rate(0, 0, at)
		if f.Source != predict.Measured {
			t.Fatalf("%d parts: speed is %s", parts, f.Source)
		}
		rec := l.Record()
		perPage, known := rec.SecondsPerPage(predict.Kind{Site: 0, Node: 0}, at)
		if !known || math.Abs(perPage-0.5) > 1e-9 {
			t.Errorf("%d parts: %v seconds a page, want 0.5", parts, perPage)
		}
		if good, all := rec.Served(0, 0, at); math.Abs(good/all-0.5) > 1e-9 {
			t.Errorf("%d parts: %v of %v requests gave a page, want half", parts, good, all)
		}
		need, _ := rec.Need(predict.Kind{Site: -1, Node: -1})
		if math.Abs(need[2]-2e6) > 1 {
			t.Errorf("%d parts: %v bits/s, want 2e6", parts, need[2])
		}
	}
}

// A pair's delay is what an httpping takes, whoever tells it: connecting, the handshake, sending and waiting. A page over a connection that is open tells as much: else a
// node that holds a lease would look nearer than it is.
func TestDelaysHaveOneUnit(t *testing.T) {
	open, kept := [6]int32{9, 20_000, 30_000, 1000, 29_000, 7}, [6]int32{0, 0, 0, 1000, 29_000, 7}
	for name, c := range map[string]struct {
		o    crawl.Outcome
		want float64
	}{
		"opened":                 {crawl.Outcome{State: crawl.Fetched, Timing: open}, 0.08},
		"kept":                   {crawl.Outcome{State: crawl.Fetched, Timing: kept, Opened: 50_000}, 0.08},
		"kept, nobody knows":     {crawl.Outcome{State: crawl.Fetched, Timing: kept}, 0},
		"opened, beside others":  {crawl.Outcome{State: crawl.Fetched, Timing: open, Beside: true}, 0},
		"kept, beside others":    {crawl.Outcome{State: crawl.Fetched, Timing: kept, Opened: 50_000, Beside: true}, 0},
		"failed":                 {crawl.Outcome{State: crawl.Failed, Timing: open}, 0},
		"robots.txt":             {crawl.Outcome{State: crawl.Beside, Reason: crawl.ReasonRobots, URL: "http://s.test/robots.txt", Timing: open}, 0},
		"as long as can be said": {crawl.Outcome{State: crawl.Fetched, Timing: [6]int32{0, 1<<31 - 1, 1<<31 - 1, 1<<31 - 1, 1<<31 - 1, 0}}, 3 * (1<<31 - 1) / 1e6},
	} {
		got := 0.0
		for _, f := range OfPart(Worker{Node: "n", Site: "s.test"}, &crawl.Part{Outcomes: []crawl.Outcome{c.o}}, 1) {
			if f.Kind == Delay {
				got += f.Seconds
			}
		}
		if math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v s, want %v", name, got, c.want)
		}
	}
}

// What a product's leases took is found by product, site and node, by product and site, and by product alone.
func TestNeedsAreFiledWhereTheyAreLookedFor(t *testing.T) {
	l := New()
	l.Take(Fact{At: 1, Kind: Report, Node: "n", Site: "s", Product: "milk", Bits: 8e6, Seconds: 2, Good: 4, All: 4, CPU: 0.5, Memory: 1 << 20})
	for _, k := range []predict.Kind{
		{Product: "milk", Site: 0, Node: 0}, {Product: "milk", Site: 0, Node: -1}, {Product: "milk", Site: -1, Node: -1},
		{Site: 0, Node: 0}, {Site: 0, Node: -1}, {Site: -1, Node: -1},
	} {
		if need, known := l.Record().Need(k); !known || need != [3]float64{0.5, 1 << 20, 4e6} {
			t.Errorf("%+v: need %v, known %v", k, need, known)
		}
	}
	if _, known := l.Record().Need(predict.Kind{Product: "tea", Site: 0, Node: 0}); known {
		t.Error("a product that nobody fetched has a need")
	}
}

// Figures that are none change nothing.
func TestImpossibleFiguresAreNotTaken(t *testing.T) {
	l := New()
	for _, f := range []Fact{
		{Kind: Report, Node: "n", Site: "s", Bits: math.NaN(), Seconds: 1, Good: 1, All: 1},
		{Kind: Report, Node: "n", Site: "s", Bits: 1, Seconds: math.Inf(1), Good: 1, All: 1},
		{Kind: Report, Node: "n", Site: "s", Bits: 1, Seconds: 1, Good: -1, All: 1},
		{Kind: Report, Node: "n", Site: "s", Bits: 1, Seconds: 1e299, Good: 1, All: 1},
		{Kind: Report, Node: "n", Site: "s", Bits: 1, Seconds: 1, Good: 1e299, All: 1e299},
		{Kind: Crawl, Node: "n", Site: "s", Bits: 1e17, Seconds: 1},
		{Kind: Store, Node: "n", Bits: 1e299, Seconds: 1e298},
		{Kind: Crawl, Node: "", Site: "s", Bits: 1, Seconds: 1},
		{Kind: Delay, Node: "n", Seconds: 1},
		{Kind: Distance, Node: "n", Seconds: 1},
	} {
		l.Take(f)
	}
	if b, _ := l.Encode(); len(b) > 64 {
		t.Errorf("%d bytes were learned: %x", len(b), b)
	}
}

// A node that makes up names of others does not fill the memory of who learns.
func TestMadeUpNodesAreBounded(t *testing.T) {
	l := New()
	for i := range 3 * maxNodes {
		l.Take(Fact{At: int64(i), Node: "a", Kind: Distance, To: fmt.Sprint("made-up-", i), Seconds: 0.01})
	}
	if n := l.Record().Nodes(); n > maxNodes+1 {
		t.Errorf("%d nodes are learned of, want at most %d", n, maxNodes+1)
	}
	if l.Take(Fact{Node: "real", Kind: Store, Bits: 1e6, Seconds: 1}); l.Record().Nodes() > maxNodes+2 {
		t.Errorf("%d nodes", l.Record().Nodes())
	}
}

// readAgain returns what was learned as it is read again after it was written down.
func readAgain(t *testing.T, l *Learner) *Learner {
	t.Helper()
	b, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	y, err := l.Tally().Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Resume(b, y)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// A probe that is refused tells nothing of the pair's speed, and that the site does not have the node: written down and read again, too.
func TestRefusedProbesTellNoSpeed(t *testing.T) {
	l := New()
	at := int64(1e12)
	for i, m := range []crawl.Measure{
		{Kind: crawl.MeasureBC, Refused: crawl.ProbeTries},
		{Kind: crawl.MeasureBC, Bits: 3e6, Seconds: 1},
	} {
		for _, f := range OfPart(Worker{Node: fmt.Sprint("n", i), Site: "s", Probes: true}, &crawl.Part{Measures: []crawl.Measure{m}}, at) {
			l.Take(f)
		}
	}
	for _, l := range []*Learner{l, readAgain(t, l)} {
		book := l.Record().Book(predict.Config{})
		book.Fit()
		refused, welcome, site := book.Node("n0"), book.Node("n1"), book.Site("s")
		if f := book.Rate(refused, site, at); f.Source == predict.Measured {
			t.Errorf("the speed of a refused probe is measured: %+v", f)
		}
		if f := book.Rate(welcome, site, at); f.Source != predict.Measured {
			t.Errorf("the speed of a probe is not: %+v", f)
		}
		if good, all := l.Record().Served(refused, site, at); good != 0 || all != crawl.ProbeTries {
			t.Errorf("%v of %v requests were not refused", good, all)
		}
		if a, b := book.Success(refused, site, at).Value, book.Success(welcome, site, at).Value; a >= b {
			t.Errorf("success of the refused %v, of the other %v", a, b)
		}
	}
}

// That a probe has ended is known whatever it measured, of the delay and the bandwidth apart: written down and read again, too.
func TestTriedIsKnown(t *testing.T) {
	l := New()
	l.Take(Ended(Worker{Node: "n0", Site: "s"}, false, 1))
	l.Take(Ended(Worker{Node: "n1", Site: "s"}, true, 1))
	for _, l := range []*Learner{l, readAgain(t, l)} {
		r := l.Record()
		site := r.Site("s")
		for node, delay := range map[string]bool{"n0": false, "n1": true} {
			if n := r.Node(node); !r.WasTried(n, site, delay) || r.WasTried(n, site, !delay) || r.Probed(n, site) || r.Timed(n, site) {
				t.Errorf("%s: tried %v and %v", node, r.WasTried(n, site, false), r.WasTried(n, site, true))
			}
		}
		if r.WasTried(r.Node("n2"), site, false) {
			t.Error("a node that nobody sent was tried")
		}
	}
}

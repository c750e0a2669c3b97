package coordinator

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
)

// distances are what nodes tell of each other, which lie on a circle that is drawn out, ms.
func distances(names []string, wide float64) (out []crawl.Entry) {
	at := func(i int) (x, y float64) {
		a := 2 * math.Pi * float64(i) / float64(len(names))
		return 100 * math.Cos(a), wide * math.Sin(a)
	}
	for i, from := range names {
		e := crawl.Entry{Kind: crawl.EntryMeasures, Node: from, Incarnation: "i"}
		for k, to := range names {
			x, y := at(i)
			u, v := at(k)
			if i != k {
				e.Measures = append(e.Measures, crawl.Measure{Kind: crawl.MeasurePing, URL: "http://" + to + ".test/", Node: to, MS: []float64{1 + math.Hypot(x-u, y-v)}})
			}
		}
		out = append(out, e)
	}
	return out
}

// Landmarks that were chosen by delays stay while the nodes do, also when a coordinator begins anew and the delays are others by then.
func TestLandmarksStayAfterRestarts(t *testing.T) {
	fs, job := vfs.NewMem(), uint32(1)
	var names []string
	for i := range 14 {
		names = append(names, fmt.Sprintf("n%02d", i))
	}
	l := newDecider(t, fs, 0)
	choose := func(of []string) (*run, []string) {
		t.Helper()
		j := l.f.Job(job)
		read, err := l.k.reader("nearest", &j.Placing)
		if err != nil {
			t.Fatal(err)
		}
		read.remember(l.f.Jobs)
		var nodes []schedule.Node
		for _, name := range of {
			nodes = append(nodes, schedule.Node{ID: name, Book: l.k.learned.Record().Node(name)})
		}
		read.book.Fit()
		l.k.landmarks(read, nil, nodes, int64(1000*l.no))
		if read.how != learn.ByCentre {
			t.Fatalf("landmarks are chosen %s", read.how)
		}
		return &run{read: read, begun: time.UnixMilli(0)}, read.marks
	}
	grants := 0
	grant := func(r *run) int {
		grants++
		e := r.entry(time.UnixMilli(1), crawl.EntryGrant)
		r.tell(e, l.f.Job(job))
		e.Epoch, e.Leases = 1, []crawl.Lease{{
			ID: uint64(grants), Job: job, Task: 1, Site: "s.test", Node: "n00", Incarnation: "i", Epoch: 1, Attempt: uint32(grants), Secret: "s", Quota: 1, Probe: "http://s.test/",
		}}
		l.apply(e)
		l.apply(&crawl.Entry{Kind: crawl.EntryRecall, Epoch: 1, Recalls: []crawl.Recall{{Lease: uint64(grants), Reason: crawl.EndDead}}})
		return len(e.Landmarks)
	}
	restart := func() {
		l.close()
		l = newDecider(t, fs, l.no)
	}
	l.apply(&crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
	l.apply(&crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: &crawl.Job{ID: job, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{"http://s.test/"}}}})
	say := func(wide float64) {
		for _, e := range distances(names, wide) {
			l.apply(&e)
		}
	}
	say(100)
	r, first := choose(names)
	if told := []int{grant(r), grant(r)}; !slices.Equal(told, []int{1, 0}) {
		t.Errorf("grants tell of %v choices, want the first of one and the next of none", told)
	}
	for range 30 {
		say(1)
	}
	restart()
	fewer, _ := choose(names[1:]) // one node is late
	grant(fewer)
	for range 2 {
		r, again := choose(names)
		if !slices.Equal(again, first) {
			t.Errorf("landmarks after a restart are %v, were %v", again, first)
		}
		grant(r)
		restart()
	}
	l.f.Job(job).Landmarks = nil
	l.k.readers = map[string]*reader{}
	if _, other := choose(names); slices.Equal(other, first) {
		t.Error("the delays of now would choose the same: this shows nothing")
	}
	l.close()
}

// After a restart nodes lie on the map where they lay, before anything is planned; and to look changes nothing that is decided.
func TestMapsStayAfterRestarts(t *testing.T) {
	fs, job := vfs.NewMem(), uint32(1)
	var names []string
	for i := range 14 {
		names = append(names, fmt.Sprintf("n%02d", i))
	}
	l := newDecider(t, fs, 0)
	l.apply(&crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
	l.apply(&crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: &crawl.Job{ID: job, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{"http://s.test/"}}}})
	for _, e := range distances(names, 60) {
		l.apply(&e)
	}
	read := func() *reader {
		t.Helper()
		r, err := l.k.reader("nearest", &l.f.Job(job).Placing)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	spots := func() (out []predict.Spot, marks []string) {
		book, marks, _ := l.k.shown(read(), l.f.Job(job))
		var numbers []int
		for _, name := range names {
			numbers = append(numbers, l.k.learned.Record().Node(name))
		}
		out, _ = book.Spots(numbers, nil)
		return out, marks
	}
	plan := func() *reader {
		r := read()
		r.remember(l.f.Jobs)
		var nodes []schedule.Node
		for _, name := range names {
			nodes = append(nodes, schedule.Node{ID: name, Book: l.k.learned.Record().Node(name)})
		}
		r.book.Fit()
		l.k.landmarks(r, nil, nodes, int64(1000*l.no))
		r.book.Fit()
		return r
	}
	r := plan()
	e := (&run{read: r, begun: time.UnixMilli(0)}).entry(time.UnixMilli(1), crawl.EntryGrant)
	(&run{read: r}).tell(e, l.f.Job(job))
	e.Epoch, e.Leases = 1, []crawl.Lease{{ID: 1, Job: job, Task: 1, Site: "s.test", Node: "n00", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 1, Probe: "http://s.test/"}}
	l.apply(e)
	was, marks := spots()
	l.close()
	l = newDecider(t, fs, l.no)
	now, again := spots()
	for i := range was {
		if !was[i].Known || !now[i].Known || now[i] != was[i] {
			t.Errorf("node %s is at %+v after a restart, was at %+v", names[i], now[i], was[i])
		}
	}
	if !slices.Equal(again, marks) {
		t.Errorf("landmarks are %v after a restart, were %v", again, marks)
	}
	if r := read(); r.book.Fitted() > 0 || r.chosen != "" {
		t.Error("who looks has the strategy's own book fitted")
	}
	plan()
	if book, _, _ := l.k.shown(read(), l.f.Job(job)); book != read().book {
		t.Error("the map is not drawn from what the strategy goes by, which has planned by now")
	}
	l.close()
}

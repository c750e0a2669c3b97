package coordinator

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/term"
)

// A node that was frozen and comes back has what it had of its leases' terms: that it was silent is not that the coordinator was deaf. Another
// life of it begins anew.
func TestComesBackToItsTerm(t *testing.T) {
	limits := crawl.DefaultLimits()
	spans := term.Of(&limits)
	began := time.Unix(1_000_000, 0)
	for _, incarnation := range []string{"first", "second"} {
		f := newFleet(slog.New(slog.DiscardHandler), nil)
		says := func(at time.Time, incarnation string) {
			f.registered(at, began, crawl.NodeInfo{Node: "n", Incarnation: incarnation}, crawl.SignRenewed, func(func(*frontier.Lease)) {})
		}
		says(began.Add(time.Second), "first")
		progress := began.Add(5 * time.Second)
		f.hear("n", progress, began)
		f.expire(progress.Add(term.NodeTTL+time.Second), spans.Recall())
		if f.nodes["n"] != nil {
			t.Fatal("a node that is not heard of is not gone")
		}
		back := progress.Add(spans.Recall() - 5*time.Second)
		says(back, incarnation)
		signs := term.Signs{Progress: progress, Node: &f.nodes["n"].Contact, Trouble: began}
		if got := term.Judge(spans, back, signs); got != term.Goes {
			t.Errorf("%s: when it comes back: %v", incarnation, got)
		}
		got, want := term.Judge(spans, progress.Add(spans.Recall()+time.Second), signs), term.Silent
		if incarnation == "second" {
			want = term.Goes // of the lease of this life; that of the first is judged by signs.Other
		}
		if got != want {
			t.Errorf("%s: a term after the last progress: %v, want %v", incarnation, got, want)
		}
	}
}

// What a site refuses a node is refused when no other node may have it: one that was recalled may, and so may one that is away for a moment.
func TestAlone(t *testing.T) {
	f, err := frontier.Open(frontier.DefaultConfig(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	limits := crawl.DefaultLimits()
	now := time.Unix(1_000_000, 0)
	if _, err := f.Apply(1, now.UnixMilli(), &crawl.Entry{Kind: crawl.EntrySubmit, Job: &crawl.Job{ID: 1, Identity: crawl.Identity{Scope: crawl.ScopeSite}, Limits: limits}}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		task frontier.Task
		gone time.Duration // since b was not heard of any more
		want bool
	}{
		"another node is there":  {frontier.Task{}, 0, false},
		"it was recalled":        {frontier.Task{Avoid: []string{"b"}}, 0, false},
		"it is refused":          {frontier.Task{Avoid: []string{"b"}, Shut: []string{"b"}}, 0, true},
		"it is away":             {frontier.Task{}, 40 * time.Second, false},
		"it is away and refused": {frontier.Task{Shut: []string{"b"}}, 40 * time.Second, true},
		"it is gone":             {frontier.Task{}, term.NodeTTL + term.Of(&limits).Recall() + time.Second, true},
	} {
		co := &Coordinator{f: f, fleet: newFleet(slog.New(slog.DiscardHandler), nil)}
		for _, node := range []string{"a", "b"} {
			co.fleet.registered(now, now, crawl.NodeInfo{Node: node}, crawl.SignRenewed, f.Leases)
		}
		co.fleet.hear("a", now.Add(term.NodeTTL), now)
		if c.gone > 0 {
			co.fleet.expire(now.Add(term.NodeTTL+time.Second), co.terms())
		}
		c.task.Job = 1
		if got := co.alone(now.Add(c.gone), &c.task, "a"); got != c.want {
			t.Errorf("%s: alone: %v", name, got)
		}
	}
}

// A coordinator that has just begun knows of a node that has not come yet by the lease that it holds.
func TestNotAloneBesideLeases(t *testing.T) {
	f, err := frontier.Open(frontier.DefaultConfig(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	now := time.Unix(1_000_000, 0)
	job := &crawl.Job{ID: 1, Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{"http://s.test/"}}, Limits: crawl.DefaultLimits()}
	lease := crawl.Lease{ID: 1, Job: 1, Task: 1, Site: "s.test", Node: "b", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 1}
	for i, e := range []crawl.Entry{
		{Kind: crawl.EntryTerm, Epoch: 1}, {Kind: crawl.EntrySubmit, Epoch: 1, Job: job}, {Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{lease}},
	} {
		if e.Kind == crawl.EntryGrant {
			if e.Leases[0].Targets, err = f.Next(1, 1); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := f.Apply(uint64(i+1), now.UnixMilli(), &e); err != nil {
			t.Fatal(err)
		}
	}
	co := &Coordinator{f: f, fleet: newFleet(slog.New(slog.DiscardHandler), nil)}
	co.fleet.registered(now, now, crawl.NodeInfo{Node: "a"}, crawl.SignRenewed, f.Leases)
	co.fleet.miss(f.Leases)
	for shut, want := range map[string]bool{"a": false, "b": true} {
		if got := co.alone(now, &frontier.Task{Job: 1, Shut: []string{shut}}, "a"); got != want {
			t.Errorf("shut to %s: alone: %v", shut, got)
		}
	}
	f.Job(1).Placing.Type = "big"
	co.fleet.registered(now, now, crawl.NodeInfo{Node: "b"}, crawl.SignRenewed, f.Leases)
	co.fleet.hear("a", now.Add(term.NodeTTL), now)
	co.fleet.expire(now.Add(term.NodeTTL+time.Second), co.terms())
	co.fleet.miss(f.Leases)
	if !co.alone(now.Add(term.NodeTTL+time.Second), &frontier.Task{Job: 1}, "a") {
		t.Error("a node that is gone, and that the job does not take, may have what is refused")
	}
}

// Of nodes that have gone nothing is kept once no lease of theirs can be open.
func TestGoneAreForgotten(t *testing.T) {
	f := newFleet(slog.New(slog.DiscardHandler), nil)
	at := time.Unix(1_000_000, 0)
	f.registered(at, at, crawl.NodeInfo{Node: "n"}, crawl.SignRenewed, func(func(*frontier.Lease)) {})
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{term.NodeTTL + time.Second, 1}, {term.NodeTTL + time.Minute, 1}, {term.NodeTTL + 3*time.Minute, 0}} {
		if f.expire(at.Add(c.after), 2*time.Minute); len(f.nodes) > 0 || len(f.gone) != c.want {
			t.Errorf("after %v: %d are there, %d gone, want %d", c.after, len(f.nodes), len(f.gone), c.want)
		}
	}
}

// A node whose leases bring nothing gets none for a while, then one, and for longer and longer none, until one brings something.
func TestBarren(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	f := newFleet(slog.New(slog.DiscardHandler), nil)
	comes := func(life int) *node {
		f.registered(now, time.Time{}, crawl.NodeInfo{Node: "n", Incarnation: fmt.Sprint(life), Leases: 64}, crawl.SignRenewed, func(func(*frontier.Lease)) {})
		return f.nodes["n"]
	}
	n := comes(0)
	rest := vainRest
	for i := range 3 * vainMost {
		if i < vainMost && (n.view(now, "n").Leases != 64 || n.state() != nodeReserved) {
			t.Errorf("after %d leases that brought nothing it may hold %d, and is %s", i, n.view(now, "n").Leases, n.state())
		}
		f.vain(now, "n")
		n = comes(i) // another life of it makes no difference
		if i+1 < vainMost {
			continue
		}
		if before, then := n.view(now.Add(rest-1), "n").Leases, n.view(now.Add(rest), "n").Leases; before != 0 || then != 1 || n.state() != nodeBarren {
			t.Errorf("after %d leases that brought nothing it may hold %d within %v, %d then, and is %s", i+1, before, rest, then, n.state())
		}
		rest = min(2*rest, vainRests)
	}
	if f.brings("n"); n.view(now, "n").Leases != 64 || n.state() != nodeReserved {
		t.Errorf("a node that has brought something may hold %d, and is %s", n.view(now, "n").Leases, n.state())
	}
}

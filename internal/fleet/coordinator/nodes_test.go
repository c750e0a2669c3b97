package coordinator

import (
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
		f.expire(progress.Add(term.NodeTTL + time.Second))
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
			co.fleet.expire(now.Add(term.NodeTTL + time.Second))
		}
		c.task.Job = 1
		if got := co.alone(now.Add(c.gone), &c.task, "a"); got != c.want {
			t.Errorf("%s: alone: %v", name, got)
		}
	}
}

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

package simulated_test

import (
	"bytes"
	"maps"
	"path/filepath"
	"testing"
	"time"

	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/sim"
	"argosy/internal/plan/strategy"
)

// What a replay learns from all that a ledger has recorded of a crawl is, byte for byte, what the crawl has learned: live, and read back from the frontier
// (frontier.TestLearnedTheSameLiveAndAfterRestarts says that those two are the same).
func TestReplayLearnsTheSame(t *testing.T) {
	dir := shapedWeb{sites: 6, pages: 60, turn: 12 * time.Second, seed: 3, light: 8, unequal: true}.crawl(t, "flow")
	f, err := frontier.Open(frontier.DefaultConfig(filepath.Join(dir, outdir.StateDir, "frontier")))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	live, err := f.Learner()
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	again, facts := learn.New(), map[learn.Kind]int{}
	if err := l.Facts(t.Context(), 1, func(f learn.Fact) error {
		again.Take(f)
		facts[f.Kind]++
		if least := (2 * shapedDelay).Seconds(); f.Kind == learn.Delay && f.Seconds < least {
			t.Errorf("%s has a delay of %v s to %s, where a connection and an answer take %v at least", f.Node, f.Seconds, f.Site, least)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if facts[learn.Report] == 0 || facts[learn.Delay] == 0 || facts[learn.Crawl] == 0 {
		t.Fatalf("facts of each kind: %v", facts)
	}
	want, err := live.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := again.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("of %v: the book of the replay has %d bytes, that of the crawl %d, and they differ", facts, len(got), len(want))
	}
}

// A job of sites that another one has crawled begins with what that has measured, and so does its replay: pairs that nobody asked any more, for they were
// known to be slow, are tried ones. What comes after its beginning, and what other sites have told, is not in it.
func TestRecordingKnowsWhatOtherJobsMeasured(t *testing.T) {
	w := shapedWeb{sites: 6, pages: 60, turn: time.Hour, seed: 3, light: 8, twice: true}
	dir := w.crawl(t, "greedy")
	first, second := recordingIn(t, dir, 1), recordingIn(t, dir, 2)
	if len(first.Before) > 0 {
		t.Errorf("the first job's recording has %d facts from before it, where nothing was", len(first.Before))
	}
	kinds := func(facts []learn.Fact) map[learn.Kind]int {
		out := map[learn.Kind]int{}
		for i := range facts {
			if facts[i].Site != "" {
				out[facts[i].Kind]++
			}
		}
		return out
	}
	if got, want := kinds(second.Before), kinds(first.Facts); !maps.Equal(got, want) || want[learn.Report] == 0 || want[learn.Crawl] == 0 {
		t.Errorf("facts of each kind from before the second job: %v, the first one's: %v", got, want)
	}
	if probes := kinds(second.Facts)[learn.Crawl]; probes > 0 {
		t.Errorf("the second job has measured %d pairs, which were known", probes)
	}
}

// What a crawl decided by lot its replay decides alike: each site's first lease goes to the node that had it.
func TestReplayDrawsWhatTheCrawlDrew(t *testing.T) {
	r := shapedWeb{sites: 12, pages: 60, turn: time.Hour, seed: 3, light: 8}.record(t, "random")
	w, _, err := r.World(1)
	if err != nil {
		t.Fatal(err)
	}
	r.Same(&w)
	first, replayed := map[string]string{}, map[string]string{}
	for i := range r.Leases {
		if l := &r.Leases[i]; first[l.Site] == "" {
			first[l.Site] = l.Node
		}
	}
	w.Ended = func(e sim.End) {
		if site := w.Sites[e.Site].Name; replayed[site] == "" {
			replayed[site] = w.Nodes[e.Node].ID
		}
	}
	st, err := strategy.Recorded(r.Strategy)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sim.Replay(w, st); err != nil {
		t.Fatal(err)
	}
	for site, node := range replayed {
		if node != first[site] {
			t.Errorf("%s went to %s, in the replay to %s", site, first[site], node)
		}
	}
	if len(replayed) < 6 {
		t.Errorf("only %d sites are done in the replay", len(replayed))
	}
}

package coordinator

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/plan/learn"
)

// A standby keeps what was foreign in an entry for as long as the log has that, and no longer.
func TestStandbyForgetsWithTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTwins(t, 1)
		alien, err := crawl.Parse("http://bank.example/")
		if err != nil {
			t.Fatal(err)
		}
		l := s.grant()
		_, refused := s.entry("n", crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{{
			Lease: l.ID, Attempt: l.Attempt, Epoch: 1, Secret: "s", No: 1, Outcomes: []crawl.Outcome{{Key: alien.Key(), URL: alien.String(), State: crawl.Failed, Reason: crawl.KindTimeout}},
		}}})
		if len(refused) != 1 {
			t.Fatalf("%d refused", len(refused))
		}
		seq := s.seq
		log := newMemory()
		for _, e := range s.stored {
			log.add(e.node, e.data)
		}
		f, err := frontier.Open(frontier.DefaultConfig(t.TempDir()))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		elected, done := make(chan struct{}), make(chan error)
		go func() { done <- Follow(t.Context(), log, f, elected, slog.New(slog.DiscardHandler)) }()
		mark, err := crawl.Marshal(&crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntryMark, Epoch: 1})
		if err != nil {
			t.Fatal(err)
		}
		foreign := func() int {
			en, _, err := decode(s.stored[seq-1])
			if err != nil {
				t.Fatal(err)
			}
			refused, err := f.Foreign(seq, en)
			if err != nil {
				t.Fatal(err)
			}
			return len(refused)
		}
		synctest.Wait()
		if n := foreign(); n != 1 {
			t.Errorf("%d refused while the log has the entry", n)
		}
		for range 2 * trimEvery {
			log.add("", mark)
		}
		if err := log.Trim(t.Context(), seq+1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * syncEvery)
		log.add("", mark)
		synctest.Wait()
		if n := foreign(); n != 0 {
			t.Errorf("%d refused of an entry that the log has not any more", n)
		}
		close(elected)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// What is kept of an entry counts what has passed the check: read again, the same is left of it as when it was applied, and for a standby.
func TestVerdictsCountWhatPassesTheCheck(t *testing.T) {
	s := newTwins(t, 2)
	outcome := func(url string) crawl.Outcome {
		u, err := crawl.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		return crawl.Outcome{Key: u.Key(), URL: url, State: crawl.Failed, Reason: crawl.KindTimeout}
	}
	spoiled := outcome(seed(1))
	spoiled.Bytes = -1
	part := func(outcomes ...crawl.Outcome) crawl.Part {
		l := s.grant()
		return crawl.Part{Lease: l.ID, Attempt: l.Attempt, Epoch: 1, Secret: "s", No: 1, Outcomes: outcomes}
	}
	_, refused := s.entry("n", crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{
		part(spoiled), part(outcome("http://bank.example/"), outcome(seed(0))),
	}})
	if len(refused) != 2 {
		t.Fatalf("refused: %+v", refused)
	}
	standby, err := frontier.Open(frontier.DefaultConfig(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer standby.Close()
	for _, again := range []bool{false, true} {
		for _, f := range []*frontier.Frontier{s.co.f, standby} {
			for _, e := range s.stored {
				en, _, err := decode(e)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := f.Foreign(e.seq, en); err != nil {
					t.Fatal(err)
				}
				if _, err := f.Apply(e.seq, int64(e.seq)*1000, en); err != nil {
					t.Fatal(err)
				}
				if e.node != "" && (len(en.Parts) != 1 || len(en.Parts[0].Outcomes) != 1 || en.Parts[0].Outcomes[0].URL != seed(0)) {
					t.Errorf("read again: %v: left of it: %+v", again, en.Parts)
				}
			}
		}
	}
}

// A standby writes down what it has learned as a leader does: whoever takes over reads the facts since, not those of all the time that it stood by, and
// knows the same, with restarts of the standby and without.
func TestStandbyWritesDownWhatItLearns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, want := newMemory(), learn.New()
		dir := filepath.Join(t.TempDir(), "view")
		follow := func() {
			f, err := frontier.Open(frontier.DefaultConfig(dir))
			if err != nil {
				t.Fatal(err)
			}
			elected, done := make(chan struct{}), make(chan error)
			go func() { done <- Follow(t.Context(), log, f, elected, slog.New(slog.DiscardHandler)) }()
			synctest.Wait()
			close(elected)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			got, err := f.Learner()
			if err != nil {
				t.Fatal(err)
			}
			if a, b := written(t, got), written(t, want); a != b {
				t.Errorf("it knows %d bytes, and %d were learned, which differ", len(a), len(b))
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
		const each = 100
		for i := range 3 * learnEvery / each {
			var ms []crawl.Measure
			for k := range each / 10 {
				x := float64(1 + i + k)
				ms = append(ms, crawl.Measure{Kind: crawl.MeasurePing, URL: "http://m.test/", Node: fmt.Sprint("m", k), MS: []float64{x, x, x, x, x, x, x, x, x, x}})
			}
			b, err := crawl.Marshal(&crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntryMeasures, Node: "n", Incarnation: "i", Measures: ms})
			if err != nil {
				t.Fatal(err)
			}
			log.add("n", b)
			for _, f := range learn.OfMeasures("n", ms, 0) {
				want.Take(f)
			}
			if i == learnEvery/each/2 {
				follow()
			}
		}
		follow()
		if n := factsIn(t, dir); n == 0 || n > learnEvery/each {
			t.Errorf("the facts of %d entries are to be read by whoever takes over, want at most %d", n, learnEvery/each)
		}
	})
}

// written is what a learner has learned, and what its measuring came to, written down.
func written(t *testing.T, l *learn.Learner) string {
	t.Helper()
	record, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	tally, err := l.Tally().Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(record) + string(tally)
}

// factsIn is of how many entries a view holds facts that are in no checkpoint.
func factsIn(t *testing.T, dir string) (n int) {
	t.Helper()
	db, err := pebble.Open(dir, &pebble.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte{'k'}, UpperBound: []byte{'k' + 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	for it.First(); it.Valid(); it.Next() {
		n++
	}
	return n
}

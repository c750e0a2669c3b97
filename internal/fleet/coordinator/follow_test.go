package coordinator

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
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

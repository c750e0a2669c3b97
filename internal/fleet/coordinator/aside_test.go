package coordinator

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/testkit/seeds"
)

// raw applies an entry of a node's as if it had passed the check.
func (s *twins) raw(e crawl.Entry) frontier.Effects {
	s.t.Helper()
	s.seq++
	e.Version, e.Node, e.Incarnation = crawl.WireVersion, "n", "i"
	fx, err := s.co.f.Apply(s.seq, int64(s.seq)*1000, &e)
	if err != nil {
		s.t.Fatal(err)
	}
	s.log = append(s.log, ledger.Applied{Seq: s.seq, At: int64(s.seq) * 1000, Entry: &e})
	return fx
}

// tell has the log say what the ledger has set aside, as a leader does.
func (s *twins) tell() (n int) {
	s.t.Helper()
	all, err := s.co.sinks.ledger.Unsettled(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for i := range all {
		s.leader(crawl.Entry{Kind: crawl.EntryAside, Aside: &all[i]})
	}
	return len(all)
}

// states returns how many URLs have ended in the frontier, and which pages the ledger has.
func (s *twins) states() (int64, map[string]bool) {
	s.t.Helper()
	pages := map[string]bool{}
	err := s.co.sinks.ledger.Pages(s.t.Context(), 1, func(p *ledger.Page) error {
		pages[p.URL] = true
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	n := s.co.f.Counts(1)
	return n.Fetched + n.Failed, pages
}

func outcome(i int) crawl.Outcome {
	u, err := crawl.Parse(seed(i))
	if err != nil {
		panic(err)
	}
	return crawl.Outcome{Key: u.Key(), URL: seed(i), State: crawl.Fetched, Status: 200, Bytes: 9, Record: crawl.Location{File: "f", Offset: int64(i), Length: 1}}
}

// Whatever is set aside, whenever the ledger finds out and whenever the log is told, frontier and ledger end with the same pages,
// every URL can still be fetched, and the ledger goes on.
func TestSetAside(t *testing.T) {
	const urls = 60
	for seed := range seeds.Of(2, 100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 14))
			s := newTwins(t, urls)
			poisoned := 0
			var lease crawl.Lease
			no := uint32(0)
			for range 400 {
				if s.co.f.Lease(lease.ID) == nil {
					lease, no = s.grant(), 0
				}
				no++
				p := crawl.Part{Lease: lease.ID, Attempt: lease.Attempt, Epoch: 1, Secret: "s", No: no, Final: rng.IntN(6) == 0}
				for range rng.IntN(4) {
					p.Outcomes = append(p.Outcomes, outcome(rng.IntN(urls)))
				}
				if rng.IntN(5) == 0 {
					poisoned++
					p.Measures = []crawl.Measure{{Kind: crawl.MeasurePing, MS: []float64{math.NaN()}}}
				}
				s.raw(crawl.Entry{Kind: crawl.EntryParts, Parts: []crawl.Part{p}})
				if rng.IntN(7) == 0 {
					s.flush("some")
				}
				if rng.IntN(9) == 0 {
					s.tell() // perhaps again, as after the death of a leader that has told it
				}
			}
			s.flush("all but what is to be told")
			for s.tell() > 0 { // sixteen at a time
				s.flush("all")
			}
			for i := range urls { // what was taken back can be had again
				l := s.grant()
				s.raw(crawl.Entry{Kind: crawl.EntryParts, Parts: []crawl.Part{{Lease: l.ID, Attempt: l.Attempt, Epoch: 1, Secret: "s", No: 1, Final: true, Outcomes: []crawl.Outcome{outcome(i)}}}})
			}
			s.flush("again")
			ended, pages := s.states()
			if ended != urls || len(pages) != urls {
				t.Errorf("the frontier has %d URLs that have ended, the ledger %d pages, of %d", ended, len(pages), urls)
			}
			q, err := s.co.sinks.ledger.Quarantined(t.Context())
			if err != nil || q["n"].Entries != int64(poisoned) || q["n"].Last == "" {
				t.Errorf("%d entries were poisoned: %+v, %v", poisoned, q, err)
			}
		})
	}
}

// Between the moments at which the log is told, what frontier and ledger have differs by what is to be told and nothing else.
func TestSetAsideAgrees(t *testing.T) {
	s := newTwins(t, 4)
	l := s.grant()
	part := func(no uint32, i int, ms ...crawl.Measure) crawl.Entry {
		return crawl.Entry{Kind: crawl.EntryParts, Parts: []crawl.Part{{
			Lease: l.ID, Attempt: l.Attempt, Epoch: 1, Secret: "s", No: no, Outcomes: []crawl.Outcome{outcome(i)}, Measures: ms,
		}}}
	}
	s.raw(part(1, 0))
	s.raw(part(2, 1, crawl.Measure{Kind: crawl.MeasurePing, MS: []float64{math.NaN()}}))
	s.raw(part(3, 2)) // of the same lease, before anybody knows
	s.flush("with an entry that cannot be applied")
	if ended, pages := s.states(); ended != 3 || len(pages) != 2 || pages[seed(1)] {
		t.Fatalf("%d in the frontier, %v in the ledger", ended, pages)
	}
	if n := s.tell(); n != 1 {
		t.Fatalf("%d entries were set aside", n)
	}
	s.flush("told")
	ended, pages := s.states()
	if ended != 2 || len(pages) != 2 || pages[seed(1)] || s.co.f.Lease(l.ID) != nil || s.co.f.Job(1).Aside != 1 {
		t.Errorf("%d in the frontier, %v in the ledger, lease %v, job %+v", ended, pages, s.co.f.Lease(l.ID), s.co.f.Job(1))
	}
}

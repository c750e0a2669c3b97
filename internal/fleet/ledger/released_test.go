package ledger_test

import (
	"fmt"
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
)

// However many coordinators give a new ledger an identity at once, it gets one, and all are told which. With that alone it is empty.
func TestOneIdentity(t *testing.T) {
	both(t, func(t *testing.T, open func() *ledger.Ledger) {
		first := open()
		if id, err := first.Identity(t.Context()); id != "" || err != nil {
			t.Errorf("a new one is %q, %v", id, err)
		}
		got := make(chan string)
		for i := range 4 {
			l := open()
			go func() {
				id, err := l.Identify(t.Context(), fmt.Sprint("id", i))
				if err != nil {
					id = err.Error()
				}
				got <- id
			}()
		}
		is := <-got
		for range 3 {
			if id := <-got; id != is {
				t.Errorf("one was told %q, another one %q", is, id)
			}
		}
		if id, err := open().Identity(t.Context()); id != is || err != nil {
			t.Errorf("it is %q, %v, and %q was told", id, err, is)
		}
		if empty, err := first.Empty(t.Context()); !empty || err != nil {
			t.Errorf("with an identity alone it is empty: %v, %v", empty, err)
		}
		if err := first.Rebase(t.Context(), "stream", 0); err != nil {
			t.Fatal(err)
		}
		if empty, err := first.Empty(t.Context()); empty || err != nil {
			t.Errorf("with a position it is empty: %v, %v", empty, err)
		}
	})
}

// Pages that were answered with a status are found; where they are asked again what was archived of them counts beside the pages, once each time.
func TestAskedAgainByStatus(t *testing.T) {
	both(t, func(t *testing.T, open func() *ledger.Ledger) {
		l := open()
		if err := l.Rebase(t.Context(), "stream", 0); err != nil {
			t.Fatal(err)
		}
		es := entries()
		if err := l.Apply(t.Context(), es); err != nil {
			t.Fatal(err)
		}
		if pages, err := l.Answered(t.Context(), 1, []int{404, 500}); len(pages) != 0 || err != nil {
			t.Errorf("%v, %v", pages, err)
		}
		pages, err := l.Answered(t.Context(), 1, []int{200, 500})
		if err != nil || len(pages) != 1 {
			t.Fatalf("%v, %v", pages, err)
		}
		again := func(seq uint64) {
			t.Helper()
			r := &crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntryRetry, Release: &crawl.Release{Job: 1, Lost: pages, Keep: true, Mend: true}}
			if err := l.Apply(t.Context(), []ledger.Applied{{Seq: seq, At: 1, Entry: r}}); err != nil {
				t.Fatal(err)
			}
		}
		for more := range uint64(2) { // the second time there is nothing left
			again(uint64(len(es)) + 1 + more)
			if pages, err := l.Answered(t.Context(), 1, []int{200}); len(pages) != 0 || err != nil {
				t.Errorf("%v, %v", pages, err)
			}
			beside := 0
			err := l.Captures(t.Context(), 1, func(c *ledger.Capture) error {
				beside++
				return nil
			})
			if err != nil || beside != 1 {
				t.Errorf("%d beside the pages, %v", beside, err)
			}
		}
	})
}

// A retry of what was cut lets go on what waits: what has ended stays so, in the ledger as in the frontier.
func TestRetryOfWhatWasCut(t *testing.T) {
	both(t, func(t *testing.T, open func() *ledger.Ledger) {
		l := open()
		if err := l.Rebase(t.Context(), "stream", 0); err != nil {
			t.Fatal(err)
		}
		es := entries()
		es = append(es, ledger.Applied{Seq: uint64(len(es) + 1), At: 1, Entry: &crawl.Entry{
			Version: crawl.WireVersion, Kind: crawl.EntryRetry, Release: &crawl.Release{Job: 1, Cut: true},
		}})
		if err := l.Apply(t.Context(), es); err != nil {
			t.Fatal(err)
		}
		failed := 0
		err := l.Pages(t.Context(), 1, func(p *ledger.Page) error {
			if p.State == crawl.Failed.String() {
				failed++
			}
			return nil
		})
		if err != nil || failed != 1 {
			t.Errorf("%d failed pages, %v", failed, err)
		}
	})
}

// Of pages that stand in a ledger made anew a retry finds those of a task, and leaves those of dropped ones, although no lease of theirs is known.
func TestRetryOfTasksInLedgerMadeAnew(t *testing.T) {
	for name, c := range map[string]struct {
		release crawl.Release
		left    string
	}{
		"one task":       {crawl.Release{Job: 1, Tasks: []uint32{2}}, "/1 /3"},
		"all but one":    {crawl.Release{Job: 1, Dropped: []uint32{3}}, "/3"},
		"all":            {crawl.Release{Job: 1}, ""},
		"of another job": {crawl.Release{Job: 2, Tasks: []uint32{2}}, "/1 /2 /3"},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, open func() *ledger.Ledger) {
				l := open()
				err := l.Restore(t.Context(), "stream", 1, func(to *ledger.Restorer) error {
					for i := range uint32(3) {
						o := page(int(i+1), crawl.Failed)
						if err := to.Page(1, i+1, "a.test", &o); err != nil {
							return err
						}
					}
					return to.Job(1, &crawl.Job{ID: 1}, crawl.JobRunning)
				})
				if err != nil {
					t.Fatal(err)
				}
				e := &crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntryRetry, Release: &c.release}
				if err := l.Apply(t.Context(), []ledger.Applied{{Seq: 2, At: 2, Entry: e}}); err != nil {
					t.Fatal(err)
				}
				var left []string
				if err := l.Pages(t.Context(), 1, func(p *ledger.Page) error {
					left = append(left, p.URL[len("http://a.test"):len("http://a.test/1")])
					return nil
				}); err != nil || strings.Join(left, " ") != c.left {
					t.Errorf("left are %q, want %q: %v", left, c.left, err)
				}
			})
		})
	}
}

// A record of which the log had not told when the ledger was made anew counts beside the pages, and as a page alone once the log has.
func TestLogTellsOfWhatStandsBeside(t *testing.T) {
	both(t, func(t *testing.T, open func() *ledger.Ledger) {
		l := open()
		es := entries()
		err := l.Restore(t.Context(), "stream", 0, func(to *ledger.Restorer) error {
			return to.Capture(1, "a.test", &es[2].Entry.Parts[0].Outcomes[0])
		})
		if err != nil {
			t.Fatal(err)
		}
		l = open()
		if err := l.Apply(t.Context(), es); err != nil {
			t.Fatal(err)
		}
		pages, beside := 0, 0
		err = l.Captures(t.Context(), 1, func(c *ledger.Capture) error {
			if beside++; c.Page {
				pages, beside = pages+1, beside-1
			}
			return nil
		})
		if err != nil || pages != 1 || beside != 0 {
			t.Errorf("%d pages and %d beside, %v", pages, beside, err)
		}
	})
}

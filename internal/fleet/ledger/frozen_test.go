package ledger

import (
	"errors"
	"testing"
	"time"

	"argosy/internal/crawl"
)

// A coordinator whose machine has stopped in the middle of a transaction does not keep the next one from writing, and is told to try again
// when it goes on.
func TestFrozenWriter(t *testing.T) {
	place := Database(t)
	open := func() *Ledger {
		l, err := Open(t.Context(), place)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		l.idle = 200 * time.Millisecond
		return l
	}
	frozen, next := open(), open()
	if err := next.Rebase(t.Context(), "stream", 0); err != nil {
		t.Fatal(err)
	}
	stopped, goOn := make(chan struct{}), make(chan struct{})
	left := make(chan error)
	go func() {
		left <- frozen.write(t.Context(), func(w *writer) error {
			var seq uint64
			if err := w.tx.QueryRowContext(w.ctx, w.kind.lock(`SELECT seq FROM position`)).Scan(&seq); err != nil {
				return err
			}
			close(stopped)
			<-goOn
			_, err := w.tx.ExecContext(w.ctx, `DELETE FROM position`)
			return err
		})
	}()
	<-stopped
	err := next.Apply(t.Context(), []Applied{{Seq: 1, At: 1, Entry: &crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntrySubmit, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits()}}}})
	if err != nil {
		t.Errorf("the next one: %v", err)
	}
	close(goOn)
	if err := <-left; !errors.Is(err, ErrAway) {
		t.Errorf("the one that was stopped: %v", err)
	}
}

package coordinator

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
)

// A coordinator that begins to lead while its ledger cannot be written answers from its view.
func TestAnswersBeforeItsLedgerIsThere(t *testing.T) {
	dir := t.TempDir()
	f, err := frontier.Open(frontier.DefaultConfig(filepath.Join(dir, "frontier")))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Rebase("log", 0); err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(dir, "ledger.db")
	l, err := ledger.Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	held := hold(t, place)
	co := New(Config{Serve: true}, newMemory(), nil, nowhere{}, f, l)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- co.Run(ctx) }()
	asked, done := context.WithTimeout(ctx, 2*time.Second)
	defer done()
	if _, err := co.Jobs(asked); err != nil {
		t.Errorf("no answer: %v", err)
	}
	if co.sinks.leads {
		t.Error("it leads without its ledger")
	}
	held()
	cancel()
	if err := <-over; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// A coordinator that hears of no node is not ready, and says why.
func TestDeafIsNotReady(t *testing.T) {
	co := New(Config{}, nil, nil, nowhere{}, nil, nil)
	if why := co.Waits(); why != "" {
		t.Errorf("it waits for %q", why)
	}
	co.reg = nowhere{deaf: true}
	if why, state := co.Waits(), co.Status().State; why == "" || state != "waiting: "+why {
		t.Errorf("it waits for %q: %s", why, state)
	}
}

// nowhere is a registry without nodes.
type nowhere struct{ deaf bool }

func (n nowhere) Deaf() bool { return n.deaf }

func (nowhere) Nodes(ctx context.Context, _ func(crawl.NodeInfo, crawl.Sign)) error {
	<-ctx.Done()
	return nil
}

// hold keeps others from writing into a ledger until what it returns is called.
func hold(t *testing.T, place string) func() {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+place+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
		_ = db.Close()
	}
}

package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
)

// Whatever takes leadership away from a coordinator leaves it standing by; what it reads in a damaged place does not.
func TestPasses(t *testing.T) {
	for what, c := range map[string]struct {
		err  error
		want bool
	}{
		"another leads":                  {bus.ErrDeposed, true},
		"a later term":                   {fmt.Errorf("%w: term 3 follows on 2", coordinator.ErrSucceeded), true},
		"no bus":                         {fmt.Errorf("append to the log: %w: timeout", bus.ErrAway), true},
		"no database":                    {fmt.Errorf("ledger: %w: refused", ledger.ErrAway), true},
		"stopped within a write":         {fmt.Errorf("ledger: %w", context.Canceled), true},
		"stopped within a write, twice":  {errors.Join(fmt.Errorf("ledger: %w", context.Canceled), bus.ErrAway), true},
		"stopped while the bus is asked": {context.DeadlineExceeded, true},
		"a lease that was lost":          {errUnelected, true},
		"a log that was trimmed":         {crawl.ErrTrimmed, false},
		"an entry that cannot be read":   {errors.New("log entry 7: wire version 9"), false},
	} {
		if passes(c.err) != c.want {
			t.Errorf("%s: %v", what, !c.want)
		}
	}
}

// A disk that has become full is full until a quarter more is free than is wanted.
func TestFull(t *testing.T) {
	s := &Server{cfg: Config{Dir: t.TempDir(), MinFree: 1}}
	if why := s.full(false); why != "" {
		t.Error(why)
	}
	s.cfg.MinFree = 1 << 60
	if s.full(false) == "" {
		t.Error("an exbibyte is free")
	}
	s.cfg.Dir = "/no/such/place"
	if why := s.full(false); why != "" {
		t.Errorf("of a disk that nobody knows: %s", why)
	}
}

// A server that waits for room while it opens is shown by others; one that is open, and has to open its view again, answers itself.
func TestShowsItselfOnceOpen(t *testing.T) {
	shown := 0
	c := Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler), Waiting: func(error) { shown++ }}
	if s := (&Server{cfg: c}); !s.awaitRoom(t.Context()) || shown != 1 {
		t.Errorf("shown %d times before it is open, want 1", shown)
	}
	s, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !s.awaitRoom(t.Context()) || shown != 1 {
		t.Error("something else is shown in the place of a server that is open")
	}
	if why := s.why.Load(); why == nil || *why != syscall.ENOSPC.Error() {
		t.Errorf("it does not say what it waits for: %v", why)
	}
}

// A leader whose database is away lets another one try soon. One that gets the lead back, for nobody reaches the database, keeps it.
func TestHandsOverOnce(t *testing.T) {
	s := &Server{}
	if s.ledgerAway() != handsOver {
		t.Error(s.ledgerAway())
	}
	s.handed.Add(1)
	if s.ledgerAway() != handsOverAgain {
		t.Error(s.ledgerAway())
	}
}

// Who waits says for what, and not that another one leads, when nobody else is known to.
func TestWhyNobodyLeads(t *testing.T) {
	s := &Server{cfg: Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)}, client: &bus.Client{}}
	for _, url := range []string{"", "nats://n:4222"} {
		s.cfg.Bus.URL = url
		for _, why := range []error{bus.ErrAway, ledger.ErrAway} {
			if err := s.recover(t.Context(), fmt.Errorf("asked: %w: refused", why)); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Leader(); !errors.Is(err, ErrStandby) || strings.Contains(err.Error(), "another") || !strings.Contains(err.Error(), why.Error()) {
				t.Errorf("%v: %v", why, err)
			}
		}
	}
}

// Entries that the log has forgotten do not come back: a coordinator whose ledger lacks them ends, and names the command that mends it.
func TestLedgerBehindEnds(t *testing.T) {
	s := &Server{cfg: Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)}}
	s.worked.Store(true)
	err := s.recover(t.Context(), fmt.Errorf("%w: it stands at entry 3, and the log begins at 9", ledger.ErrBehind))
	if err == nil || !errors.Is(err, ledger.ErrBehind) || !strings.Contains(err.Error(), "argosy rebuild ledger "+s.cfg.Dir) {
		t.Error(err)
	}
}

// A note that another one leads does not outlast the lead of who has written it, however late it was written.
func TestLateNoteOfWhoLeads(t *testing.T) {
	s := &Server{cfg: Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)}, client: &bus.Client{}}
	s.cfg.Bus.URL = "nats://n:4222"
	if err := os.MkdirAll(outdir.State(s.cfg.Dir), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, leads := range []bool{false, true} {
		s.noteStandby("other")
		if leads {
			s.co.Store(&coordinator.Coordinator{})
		}
		s.noteLeader()
		if by := outdir.StandsBy(s.cfg.Dir); (by == "") != leads {
			t.Errorf("it leads: %v, and %q is noted", leads, by)
		}
	}
}

package serve

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"argosy/internal/crawl"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/usage"
)

const (
	// standByAgain is how long a coordinator waits before it tries again what it could not do; mendAgain, where its view had
	// to be opened again.
	standByAgain = 500 * time.Millisecond
	mendAgain    = 5 * time.Second
	// ownBusAway is how long the bus in this very process may fail before it is opened anew: it does not come back by itself where its
	// disk was full. It is longer than one entry waits to be stored (5 s), so that a slow disk is not taken for one.
	ownBusAway = 12 * time.Second
	// renewing bounds how long opening it anew may take.
	renewing = 45 * time.Second
)

// untilThere opens something, waiting while the bus or the database that it needs is away.
func (s *Server) untilThere(ctx context.Context, open func() error) error {
	for {
		err := open()
		if errors.Is(err, bus.ErrLost) {
			err = errors.Join(bus.ErrAway, err, s.client.Regain(ctx))
		}
		if !errors.Is(err, bus.ErrAway) && !errors.Is(err, ledger.ErrAway) {
			return err
		}
		s.waits(err)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(standByAgain):
		}
	}
}

// Away says in words that anybody may read what an error says is away; empty: it does not.
func Away(err error) string {
	for _, away := range []error{bus.ErrNoRoom, bus.ErrLost, bus.ErrAway, ledger.ErrAway, syscall.ENOSPC} {
		if errors.Is(err, away) {
			return away.Error()
		}
	}
	return ""
}

// waits says what is waited for: to who shows it each time, and in the log every ten seconds. Once the server is open it answers itself who asks.
func (s *Server) waits(err error) {
	if words := Away(err); words != "" {
		s.why.Store(&words)
	}
	if s.cfg.Waiting != nil && !s.serves {
		s.cfg.Waiting(err)
	}
	if time.Since(s.saidWaits) > 10*time.Second {
		s.saidWaits = time.Now()
		s.cfg.Logger.Warn("waiting, and not serving yet", "for", err)
	}
}

// awaitRoom waits for room on the disk, and reports whether to go on waiting.
func (s *Server) awaitRoom(ctx context.Context) bool {
	s.waits(fmt.Errorf("room on the disk of %s: %w", s.cfg.Dir, syscall.ENOSPC))
	return ctx.Err() == nil
}

// passes reports whether an error says that leadership, bus or database were lost, or that a call of ours was given up on the
// way, and nothing worse: the view is as good as before. A process that was stopped for longer than its lease finds its
// calls cancelled wherever they were.
func passes(err error) bool {
	for _, lost := range []error{
		bus.ErrDeposed, bus.ErrAway, coordinator.ErrSucceeded, errUnelected, ledger.ErrAway, context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, lost) {
			return true
		}
	}
	return false
}

// Run leads, or stands by until it leads, until ctx ends. However leadership is lost, it stands by, or waits, and leads again.
// It fails where it never came to work (a directory that is damaged), and where the ledger lacks what the log has forgotten.
func (s *Server) Run(ctx context.Context) error {
	group, gctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.indexes(gctx) })
	group.Go(func() error {
		since := time.Now() // the bus was last there
		for gctx.Err() == nil {
			begin := time.Now()
			err := s.take(gctx)
			if gctx.Err() != nil || err == nil {
				continue
			}
			if errors.Is(err, ledger.ErrAway) {
				s.handed.Add(1)
			}
			if time.Since(begin) > ownBusAway/2 || !errors.Is(err, bus.ErrAway) {
				since = time.Now()
			}
			if !s.elsewhere() && time.Since(since) > ownBusAway && s.renewBus(gctx, err) {
				since = time.Now()
			}
			if err := s.recover(gctx, err); err != nil {
				return err
			}
		}
		return nil
	})
	err := group.Wait()
	s.lastIndexes(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// renewBus opens the bus of this process anew, once there is room on its disk, and reports whether it did.
func (s *Server) renewBus(ctx context.Context, why error) bool {
	if full := s.full(false); full != "" {
		s.cfg.Logger.Error("the bus is opened anew when there is room", "why", full)
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, renewing)
	defer cancel()
	s.cfg.Logger.Warn("the bus of this process is opened anew", "error", why)
	if err := s.server.Renew(ctx, s.client); err != nil {
		s.cfg.Logger.Error("the bus could not be opened anew", "error", err)
		return false
	}
	return true
}

// take leads, where nobody else can, or stands by until it leads.
func (s *Server) take(ctx context.Context) error {
	if s.elsewhere() {
		return s.standBy(ctx)
	}
	return s.lead(ctx)
}

// recover makes ready to lead, or to stand by, again.
func (s *Server) recover(ctx context.Context, err error) error {
	rest := standByAgain
	if words := Away(err); words != "" {
		s.why.Store(&words)
	}
	switch {
	case errors.Is(err, bus.ErrLost):
		s.cfg.Logger.Error("the bus has lost what it kept, and gets it again", "error", err)
		for err := s.regain(ctx); err != nil; err = s.regain(ctx) {
			s.cfg.Logger.Error("the bus does not have it again yet", "error", err)
			if !rests(ctx, mendAgain) {
				return nil
			}
		}
		s.cfg.Logger.Warn("the bus has a log again: what the one before had and nobody had applied is done again")
	case passes(err):
		s.cfg.Logger.Warn("standing by", "error", err)
	case (errors.Is(err, crawl.ErrTrimmed) || errors.Is(err, frontier.ErrBehind)) && s.elsewhere():
		s.cfg.Logger.Warn("starting from a checkpoint", "error", err)
		if err := s.reopen(ctx); err != nil && !passes(err) {
			return err
		}
	case !s.worked.Load(), errors.Is(err, ledger.ErrBehind): // trying again brings nothing back
		return outdir.Mend(s.cfg.Dir, err)
	default:
		rest = mendAgain
		s.cfg.Logger.Error("the view is opened again", "error", err)
		for {
			if err := s.reopen(ctx); err == nil {
				break
			} else {
				s.cfg.Logger.Error("the view cannot be opened", "error", err)
			}
			if !rests(ctx, mendAgain) {
				return nil
			}
		}
	}
	rests(ctx, rest)
	return nil
}

// regain gives a bus that has lost its log what it had, as at a start: a log, names of nodes, tokens and revocations, and which ledger is the
// fleet's. What the log held that was not applied is lost: the term that begins is in doubt.
func (s *Server) regain(ctx context.Context) error {
	if err := s.client.Regain(ctx); err != nil {
		return err
	}
	s.Gate().Close() // it writes what it knows into the copy that the next one reads
	if err := s.openGate(ctx); err != nil {
		return err
	}
	if err := s.reopen(ctx); err != nil {
		return err
	}
	return s.claimAgain(ctx)
}

// rests waits; false if ctx ends first.
func rests(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// reopen opens the view again: the log has been trimmed beyond it, or it could not be written.
func (s *Server) reopen(ctx context.Context) error {
	err := s.closeFrontier()
	if oerr := s.openFrontier(ctx); oerr != nil {
		return errors.Join(err, oerr)
	}
	if err != nil {
		s.cfg.Logger.Warn("the view was not closed in order", "error", err)
	}
	return nil
}

// full says that the disk has too little room left to go on, and how much; empty: it has enough, or nobody knows.
func (s *Server) full(was bool) string {
	free, known := usage.Free(s.cfg.Dir)
	need := s.cfg.MinFree
	if was { // a quarter more, so that it does not go to and fro
		need += need / 4
	}
	if !known || free >= need {
		return ""
	}
	return fmt.Sprintf("%d MiB are free on the disk of %s, of %d that are wanted", free>>20, s.cfg.Dir, need>>20)
}

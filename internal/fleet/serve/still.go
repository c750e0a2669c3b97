package serve

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/plan/strategy"
)

// Still is a coordinator's directory in which no coordinator works: what its frontier and its ledger hold.
type Still struct {
	dir    string
	co     *coordinator.Coordinator
	ledger *ledger.Ledger
}

// Leader implements web.House.
func (s *Still) Leader() (*coordinator.Coordinator, error) { return s.co, nil }

// Indexed implements web.House.
func (s *Still) Indexed(job uint32) bool {
	_, err := os.Stat(outdir.JobIndex(s.dir, job))
	return err == nil
}

// Ledger implements web.House.
func (s *Still) Ledger() *ledger.Ledger { return s.ledger }

// Dir implements web.House.
func (s *Still) Dir() string { return s.dir }

// Show calls fn with what a coordinator's directory holds, for as long as fn needs. database is the fleet's, empty: it is in the directory.
// The log, which may be elsewhere, is not asked: what the coordinator had not applied when it ended is not shown. Nothing is changed; no
// coordinator can begin meanwhile, and other processes can read.
func Show(ctx context.Context, dir, database string, logger *slog.Logger, fn func(context.Context, *Still) error) (err error) {
	lock, err := outdir.Lock(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	f, err := frontier.Open(frontier.DefaultConfig(outdir.Frontier(dir)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if database == "" {
		database = filepath.Join(dir, outdir.LedgerFile)
	}
	l, err := ledger.Open(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	c := coordinator.Config{Strategy: strategy.Default, Strategies: strategy.Recorded, Serve: true, Idle: true, Logger: logger}
	s := &Still{dir, coordinator.New(c, nil, nil, nil, f, l), l}
	control, err := outdir.ListenAtRest(dir, func(ctx context.Context, to string) error {
		return s.co.View(ctx, func(f *frontier.Frontier) error { return f.Checkpoint(to) })
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, control.Close()) }()
	resting, end := context.WithCancel(ctx)
	rested := make(chan error, 1)
	go func() {
		defer end()
		rested <- s.co.Rest(resting)
	}()
	if err = outdir.Bereft(ctx, dir, f, l); err == nil {
		err = fn(resting, s)
	}
	end()
	return errors.Join(err, <-rested)
}

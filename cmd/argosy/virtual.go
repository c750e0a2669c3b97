package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
)

// viewCrawl calls fn with the frontier of a crawl's directory, also beside a crawl that runs. fn must not keep it.
func viewCrawl(ctx context.Context, dir string, fn func(*frontier.Frontier) error) error {
	if err := isCrawl(dir); err != nil {
		return err
	}
	return assemble.View(ctx, atRest(dir), func(f *frontier.Frontier, _ bool) error { return fn(f) })
}

// viewSearches calls fn for the searches of a crawl's directory, in the order of their numbers. fn must not keep them.
func viewSearches(ctx context.Context, dir string, fn func(*frontier.Task)) error {
	return viewCrawl(ctx, dir, func(f *frontier.Frontier) error {
		var all []*frontier.Task
		f.Tasks(func(t *frontier.Task) {
			if t.Of != nil {
				all = append(all, t)
			}
		})
		slices.SortFunc(all, func(a, b *frontier.Task) int { return cmp.Compare(a.Of.No, b.Of.No) })
		for _, t := range all {
			fn(t)
		}
		return nil
	})
}

// localStrategy returns the strategy that a job of a crawl's directory ran with last; empty: it is not recorded.
func localStrategy(ctx context.Context, dir string, job uint32) (spec string, err error) {
	l, err := ledger.Open(ctx, filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		return "", err
	}
	j, err := l.Job(ctx, job)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%s: no job %d", dir, job)
	}
	return j.Strategy, errors.Join(err, l.Close())
}

// localRuns calls fn for the leases of searches that a crawl's directory has recorded; search 0: of all.
func localRuns(ctx context.Context, dir string, job, search uint32, fn func(ledger.Run) error) error {
	l, err := ledger.Open(ctx, filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		return err
	}
	return errors.Join(l.Runs(ctx, job, search, fn), l.Close())
}

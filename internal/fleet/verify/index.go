package verify

import (
	"bufio"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
)

// indexes looks at the indexes of jobs that have ended, where nothing works.
func (r *Report) indexes(ctx context.Context, dir string, l *ledger.Ledger, jobs []uint32) error {
	ended, err := l.EndedBefore(ctx, time.UnixMilli(math.MaxInt64))
	if err != nil {
		return err
	}
	for _, job := range jobs {
		if !slices.Contains(ended, job) {
			r.Unended = append(r.Unended, job)
			continue
		}
		if err := r.index(ctx, dir, l, job); err != nil {
			return err
		}
	}
	return nil
}

// An index is written when its job ends, and again when a node has reported late, which is looked for every 5 s. A process that works has
// so long for it; where something is wrong, it is looked at again after a pause.
const (
	indexTime  = 30 * time.Second
	indexPause = 7 * time.Second
)

// indexesBeside looks at the indexes of jobs that have ended, while a process works on others.
func (r *Report) indexesBeside(ctx context.Context, dir string, l *ledger.Ledger, now time.Time) error {
	jobs, err := l.EndedBefore(ctx, now.Add(-indexTime))
	if err != nil {
		return err
	}
	for _, job := range jobs {
		was := *r
		if err := r.index(ctx, dir, l, job); err != nil {
			return err
		}
		if r.Problems == was.Problems {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(indexPause):
		}
		*r = was
		if err := r.index(ctx, dir, l, job); err != nil {
			return err
		}
	}
	return nil
}

// index compares the index with what the ledger would have it be.
func (r *Report) index(ctx context.Context, dir string, l *ledger.Ledger, job uint32) error {
	path := filepath.Join(dir, outdir.IndexFile)
	if _, err := os.Stat(path); job != 1 || err != nil {
		path = outdir.JobIndex(dir, job)
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		r.problem("the index of job %d is missing: argosy rebuild index %s writes it", job, dir)
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	last, want, lines := "", 0, 0
	next := func() bool {
		if !sc.Scan() {
			return false
		}
		r.Indexed++
		lines++
		if sc.Text() < last {
			r.problem("%s:%d: not in order", path, lines)
		}
		last = sc.Text()
		return true
	}
	err = outdir.IndexLines(ctx, l, job, func(line string) error {
		want++
		if next() && strings.TrimSuffix(line, "\n") != last {
			r.problem("%s:%d: not what the ledger says", path, lines)
		}
		return nil
	})
	for next() {
	}
	if lines != want {
		r.problem("%s has %d lines, the ledger %d captures", path, lines, want)
	}
	return errors.Join(err, sc.Err())
}

package verify

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"argosy/internal/crawl"
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
		r.problem("the index of job %d is missing: argosy rebuild index %s writes it", job, crawl.Arg(dir))
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	c := comparison{r: r, path: path, in: bufio.NewReaderSize(f, longestLine)}
	err = outdir.IndexLines(ctx, l, job, c.expect)
	if err == nil {
		err = c.end()
	}
	return err
}

// longestLine is how long a line of an index may be, in bytes.
const longestLine = 1 << 20

// comparison compares an index with the lines that it should have. Both are in order, so that a line that only one of them has is one
// problem, and those behind it are none.
type comparison struct {
	r    *Report
	path string
	in   *bufio.Reader

	line  string // of the index, that is not compared yet
	has   bool   // there is one
	ended bool
	last  string
	no    int
}

// read makes the next line of the index the one to be compared.
func (c *comparison) read() error {
	if c.has || c.ended {
		return nil
	}
	b, err := c.in.ReadSlice('\n')
	if c.ended = errors.Is(err, io.EOF); err != nil && !c.ended {
		return fmt.Errorf("%s:%d: %w", c.path, c.no+1, err)
	}
	line := string(b)
	if line == "" {
		return nil
	}
	c.no++
	c.r.Indexed++
	if c.ended {
		c.r.problem("%s:%d: the end of the line is missing", c.path, c.no)
		line += "\n"
	}
	if line < c.last {
		c.r.problem("%s:%d: not in order", c.path, c.no)
	}
	c.line, c.last, c.has = line, line, true
	return nil
}

// expect compares the next lines of the index with one of the ledger's.
func (c *comparison) expect(want string) error {
	for {
		if err := c.read(); err != nil {
			return err
		}
		switch {
		case c.has && c.line == want:
			c.has = false
			return nil
		case c.has && c.line < want:
			c.strange()
		default:
			c.r.problem("%s: a line is missing behind line %d, of %s", c.path, c.no-behind(c.has), nameOf(want))
			return nil
		}
	}
}

// behind is 1 if a line was read that comes behind the place in question.
func behind(read bool) int {
	if read {
		return 1
	}
	return 0
}

// strange tells of a line that the ledger does not have.
func (c *comparison) strange() {
	c.r.problem("%s:%d: not what the ledger says: %s", c.path, c.no, nameOf(c.line))
	c.has = false
}

// end tells of what stands behind all that the ledger has.
func (c *comparison) end() error {
	for {
		if err := c.read(); err != nil || !c.has {
			return err
		}
		c.strange()
	}
}

// nameOf is what a line begins with: what it is a line of.
func nameOf(line string) string {
	name, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	return fmt.Sprintf("%.200q", name)
}

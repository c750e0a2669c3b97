package outdir

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/durable"
	"argosy/internal/fleet/ledger"
	"argosy/internal/page/archive"
)

// WriteIndex writes an index from the ledger: every capture of a job once, sorted by key and date.
func WriteIndex(ctx context.Context, l *ledger.Ledger, job uint32, path string) error {
	return durable.Write(path, 0o644, func(w io.Writer) error {
		return IndexLines(ctx, l, job, func(line string) error {
			_, err := io.WriteString(w, line)
			return err
		})
	})
}

// IndexLines calls fn for every line of a job's index, in the order of their bytes.
func IndexLines(ctx context.Context, l *ledger.Ledger, job uint32, fn func(line string) error) error {
	s := sorter{out: fn}
	err := l.Captures(ctx, job, func(p *ledger.Capture) error {
		u, err := crawl.Parse(p.URL)
		if err != nil {
			return nil // verify names it: a ledger that is wrong in one place has an index nevertheless
		}
		mime := p.Mime
		if p.Revisit {
			mime = "warc/revisit"
		}
		c := archive.Capture{
			URL: u, Date: time.UnixMilli(p.FetchedAt), Mime: mime, Status: strconv.Itoa(p.Status), Digest: p.Digest,
			Location: crawl.Location{File: p.WARC, Offset: p.Offset, Length: p.Length},
			Layer:    p.Layer,
		}
		return s.add(c.Line())
	})
	if err != nil {
		return err
	}
	return s.flush()
}

// sorter puts lines in order that come in the order of key and second: of one page's captures within a second, which are
// few, whole lines are compared. A record that stands in the ledger twice has one line: after a ledger was rebuilt from archives the log may
// tell again what it had told before.
type sorter struct {
	out   func(line string) error
	same  []string // lines with one key and second
	start string   // of each
}

func (s *sorter) add(line string) error {
	key, rest, _ := strings.Cut(line, " ")
	second, _, _ := strings.Cut(rest, " ")
	start := line[:len(key)+1+len(second)]
	if start != s.start {
		if err := s.flush(); err != nil {
			return err
		}
		s.start = start
	}
	s.same = append(s.same, line)
	return nil
}

func (s *sorter) flush() error {
	slices.Sort(s.same)
	for _, line := range slices.Compact(s.same) {
		if err := s.out(line); err != nil {
			return err
		}
	}
	s.same = s.same[:0]
	return nil
}

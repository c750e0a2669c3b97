package assemble

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"time"

	"argosy/internal/archive"
	"argosy/internal/crawl"
	"argosy/internal/ledger"
)

// WriteIndex writes index.cdxj from the ledger: every fetched page once, sorted by key and date.
func (cr *Crawl) WriteIndex(ctx context.Context) error {
	lines, err := IndexLines(ctx, cr.ledger, cr.cfg.Job.ID)
	if err != nil {
		return err
	}
	path := filepath.Join(cr.cfg.Dir, IndexFile)
	f, err := os.Create(path + ".tmp")
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 256<<10)
	for _, l := range lines {
		_, _ = w.WriteString(l) // the writer remembers its first error for Flush
	}
	if err := errors.Join(w.Flush(), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// IndexLines returns the lines of a job's index, sorted.
func IndexLines(ctx context.Context, l *ledger.Ledger, job uint32) ([]string, error) {
	var lines []string
	err := l.Pages(ctx, job, func(p *ledger.Page) error {
		if p.State != crawl.Fetched.String() {
			return nil
		}
		u, err := crawl.Parse(p.URL)
		if err != nil {
			return err
		}
		mime := p.Mime
		if p.Revisit {
			mime = "warc/revisit"
		}
		c := archive.Capture{
			URL: u, Date: time.UnixMilli(p.FetchedAt), Mime: mime, Status: strconv.Itoa(p.Status), Digest: p.Digest,
			Location: crawl.Location{File: p.WARC, Offset: p.Offset, Length: p.Length},
		}
		lines = append(lines, c.Line())
		return nil
	})
	sort.Strings(lines)
	return lines, err
}

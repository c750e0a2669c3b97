package assemble

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
	"argosy/internal/page/archive"
)

// WriteIndex writes index.cdxj from the ledger: every fetched page once, sorted by key and date.
func (cr *Crawl) WriteIndex(ctx context.Context) error {
	return writeIndex(ctx, cr.ledger, cr.cfg.Job.ID, filepath.Join(cr.cfg.Dir, IndexFile))
}

func writeIndex(ctx context.Context, l *ledger.Ledger, job uint32, path string) error {
	f, err := os.Create(path + ".tmp")
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 256<<10)
	err = IndexLines(ctx, l, job, func(line string) error {
		_, err := w.WriteString(line)
		return err
	})
	if err := errors.Join(err, w.Flush(), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// IndexLines calls fn for every line of a job's index, in order.
func IndexLines(ctx context.Context, l *ledger.Ledger, job uint32, fn func(line string) error) error {
	return l.Sorted(ctx, job, func(p *ledger.Page) error {
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
			Layer:    p.Layer,
		}
		return fn(c.Line())
	})
}

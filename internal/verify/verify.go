// Package verify checks what a crawl has left: that archives, index and ledger say the same. It reads everything and
// changes nothing.
package verify

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"argosy/internal/archive"
	"argosy/internal/assemble"
	"argosy/internal/crawl"
	"argosy/internal/ledger"
)

// maxProblems bounds how many problems are described; all are counted.
const maxProblems = 100

// Report is what was found.
type Report struct {
	OK        bool     `json:"ok"`
	Files     int      `json:"files"`
	Records   int      `json:"records"`
	Pages     int64    `json:"pages"` // captures that the ledger counts
	Indexed   int      `json:"indexed"`
	Orphans   int      `json:"orphans"` // records of a crash: whole, but not what the ledger counts
	Lost      int      `json:"lost"`    // captures whose record is gone or damaged
	Problems  int      `json:"problems"`
	Details   []string `json:"details,omitempty"`
	LostPages []string `json:"lost_pages,omitempty"`

	LostKeys []crawl.Key `json:"-"`
}

func (r *Report) problem(format string, args ...any) {
	r.Problems++
	if len(r.Details) < maxProblems {
		r.Details = append(r.Details, fmt.Sprintf(format, args...))
	}
}

// want is what the ledger says of a record.
type want struct {
	url     string
	digest  string
	length  int64
	revisit bool
	key     crawl.Key
	seen    bool
}

// Dir checks a crawl's directory.
func Dir(ctx context.Context, dir string, job uint32) (*Report, error) {
	path := filepath.Join(dir, assemble.LedgerFile)
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%s: not the directory of a crawl: %w", dir, err)
	}
	l, err := ledger.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	r := &Report{}
	wants := map[string]map[int64]*want{}
	urls := map[string]bool{}
	err = l.Pages(ctx, job, func(p *ledger.Page) error {
		if urls[p.URL] {
			r.problem("ledger: %s stands twice", p.URL)
		}
		urls[p.URL] = true
		if p.State != crawl.Fetched.String() {
			if p.Reason == "" {
				r.problem("ledger: %s is %s without a reason", p.URL, p.State)
			}
			return nil
		}
		r.Pages++
		if wants[p.WARC] == nil {
			wants[p.WARC] = map[int64]*want{}
		}
		wants[p.WARC][p.Offset] = &want{url: p.URL, digest: p.Digest, length: p.Length, revisit: p.Revisit, key: p.Key}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := r.archives(filepath.Join(dir, assemble.WARCDir), wants); err != nil {
		return nil, err
	}
	for file, ws := range wants {
		for at, w := range ws {
			if !w.seen {
				r.lost(w, "%s at %d: no record of %s", file, at, w.url)
			}
		}
	}
	if err := r.index(ctx, dir, l, job); err != nil {
		return nil, err
	}
	sort.Strings(r.Details)
	r.OK = r.Problems == 0
	return r, nil
}

func (r *Report) lost(w *want, format string, args ...any) {
	r.Lost++
	r.LostKeys = append(r.LostKeys, w.key)
	if len(r.LostPages) < maxProblems {
		r.LostPages = append(r.LostPages, w.url)
	}
	r.problem(format, args...)
}

// archives reads every record of every file.
func (r *Report) archives(dir string, wants map[string]map[int64]*want) error {
	var files []string
	for _, pattern := range []string{"*.warc.gz", "*.warc.gz.open"} {
		m, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		files = append(files, m...)
	}
	sort.Strings(files)
	for _, f := range files {
		r.Files++
		name := strings.TrimSuffix(filepath.Base(f), ".open")
		torn := strings.HasSuffix(f, ".open")
		if err := r.file(f, name, torn, wants[name]); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) file(path, name string, torn bool, wants map[int64]*want) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	rd := archive.NewReader(f)
	for {
		rec, err := rd.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = rec.Discard()
		}
		if err != nil {
			if !torn { // the end of a file that is being written, or was, is nobody's loss
				r.problem("%s: %v", name, err)
			}
			return nil
		}
		r.Records++
		if !rec.BlockOK() {
			r.problem("%s at %d: the block does not have its digest", name, rec.Offset)
		}
		r.record(rec, name, wants[rec.Offset])
	}
}

// record compares a record with what the ledger says of it.
func (r *Report) record(rec *archive.ReadRecord, name string, w *want) {
	if t := rec.Type(); t != "response" && t != "revisit" {
		return
	}
	if w == nil {
		r.Orphans++
		return
	}
	w.seen = true
	switch {
	case rec.URI() != w.url:
		r.lost(w, "%s at %d: is of %s, the ledger says %s", name, rec.Offset, rec.URI(), w.url)
	case !rec.BlockOK():
		r.lost(w, "%s at %d: damaged record of %s", name, rec.Offset, w.url)
	case rec.Length != w.length:
		r.problem("%s at %d: %d bytes long, the ledger says %d", name, rec.Offset, rec.Length, w.length)
	case rec.Header.Get("WARC-Payload-Digest") != w.digest:
		r.problem("%s at %d: the payload's digest is not the ledger's", name, rec.Offset)
	case rec.Type() == "revisit" != w.revisit:
		r.problem("%s at %d: is a %s record, the ledger says otherwise", name, rec.Offset, rec.Type())
	}
}

// index compares the index with what the ledger would have it be.
func (r *Report) index(ctx context.Context, dir string, l *ledger.Ledger, job uint32) error {
	f, err := os.Open(filepath.Join(dir, assemble.IndexFile))
	if errors.Is(err, os.ErrNotExist) {
		r.problem("%s is missing: it is written when a run ends", assemble.IndexFile)
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	last, want := "", 0
	next := func() bool {
		if !sc.Scan() {
			return false
		}
		r.Indexed++
		if sc.Text() < last {
			r.problem("%s:%d: not in order", assemble.IndexFile, r.Indexed)
		}
		last = sc.Text()
		return true
	}
	err = assemble.IndexLines(ctx, l, job, func(line string) error {
		want++
		if next() && strings.TrimSuffix(line, "\n") != last {
			r.problem("%s:%d: not what the ledger says", assemble.IndexFile, r.Indexed)
		}
		return nil
	})
	for next() {
	}
	if r.Indexed != want {
		r.problem("%s has %d lines, the ledger %d captures", assemble.IndexFile, r.Indexed, want)
	}
	return errors.Join(err, sc.Err())
}

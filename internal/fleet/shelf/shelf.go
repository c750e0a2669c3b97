// Package shelf reads what is archived of single pages: the heads of the request and of the answer, the body and the text. It reads
// archives where the ledger says that they are, asks no site for anything, and changes nothing.
package shelf

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/verify"
	"argosy/internal/page/archive"
	"argosy/internal/page/fetch"
	"argosy/internal/page/parse"
)

// Shelf reads what lies in the archives of a directory, or of the nodes that its ledger names.
type Shelf struct {
	dir    string
	ledger *ledger.Ledger
}

// New returns the shelf of a directory.
func New(dir string, l *ledger.Ledger) *Shelf { return &Shelf{dir, l} }

// Copy is what is archived of a page.
type Copy struct {
	Request  string // its head, as it was sent; empty if there is no record of it
	Response string // its head, as it came
	Status   int
	Type     string // Content-Type, as it came
	Location string // likewise
	Body     []byte // decoded
	Cut      bool   // the body is longer
}

// maxHead bounds a head, in bytes.
const maxHead = 256 << 10

// ErrNotArchived says that nothing of a page is archived.
var ErrNotArchived = errors.New("nothing of it is archived")

// ErrLater says that the body of a page lies with another one, which no node has reported yet: it will be there.
var ErrLater = errors.New("no node has reported that yet")

// Read returns what is archived of a page, with at most so many bytes of the decoded body. With an error there may be its heads.
func (s *Shelf) Read(ctx context.Context, job uint32, p *ledger.Page, most int) (*Copy, error) {
	if !p.Captured() {
		return nil, ErrNotArchived
	}
	c, original, err := s.read(ctx, p, most)
	if err != nil || original == "" {
		return c, err
	}
	u, err := crawl.Parse(original) // its body lies with the page that had the same bytes first
	if err != nil {
		return c, fmt.Errorf("the record refers to %.200q: %w", original, err)
	}
	first, err := s.first(ctx, job, p.Layer, u.Key(), p.Digest)
	if err != nil {
		return c, err
	}
	if first == nil {
		return c, fmt.Errorf("its body lies with %.200s: %w", original, ErrLater)
	}
	with, _, err := s.read(ctx, first, most)
	if err == nil {
		c.Body, c.Cut = with.Body, with.Cut
	}
	return c, err
}

// first returns the page of a URL whose body is archived, nil if there is none: that of the layer, else that of another crawler, else
// that with the digest in whatever job, for nodes of a fleet write equal bytes once, for all jobs.
func (s *Shelf) first(ctx context.Context, job uint32, layer crawl.Layer, k crawl.Key, digest string) (*ledger.Page, error) {
	p, err := s.of(ctx, job, layer, k, "")
	if err != nil || p != nil || digest == "" {
		return p, err
	}
	jobs, err := s.ledger.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	for _, other := range jobs {
		if p, err := s.of(ctx, other, crawl.Layer{}, k, digest); err != nil || p != nil {
			return p, err
		}
	}
	return nil, nil
}

// of returns a job's page of a URL whose body is archived and has a digest, if one is given; nil if there is none. That of the layer comes before
// those of its crawlers.
func (s *Shelf) of(ctx context.Context, job uint32, layer crawl.Layer, k crawl.Key, digest string) (*ledger.Page, error) {
	layers := []crawl.Layer{layer}
	d, err := s.ledger.Describe(ctx, job)
	if err != nil {
		return nil, err
	}
	if d != nil && d.Identity.Market.Layered() {
		for c := range d.Identity.Market.Crawlers {
			layers = append(layers, crawl.Layer{Owner: uint32(c) + 1})
		}
	}
	for _, l := range layers {
		p, err := s.ledger.Page(ctx, job, crawl.Page{Layer: l, Key: k})
		if err != nil {
			return nil, err
		}
		if p != nil && p.Captured() && !p.Revisit && (digest == "" || p.Digest == digest) {
			return p, nil
		}
	}
	return nil, nil
}

// open opens the file of an archive at an offset, in the first store that has it.
func (s *Shelf) open(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	stores, err := verify.Place{Dir: s.dir}.Open(ctx, s.ledger)
	if err != nil {
		return nil, err
	}
	err = fmt.Errorf("no store has %s", name)
	for _, st := range stores {
		var r io.ReadCloser
		if r, err = st.Open(ctx, name, offset); err == nil {
			return r, nil
		}
	}
	return nil, err
}

// read reads the records of one page; original is the URL that a revisit refers to.
func (s *Shelf) read(ctx context.Context, p *ledger.Page, most int) (c *Copy, original string, err error) {
	f, err := s.open(ctx, p.WARC, p.Offset)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	rd := archive.NewReaderAt(f, p.Offset)
	rec, err := rd.Next()
	if err != nil {
		return nil, "", fmt.Errorf("the record at %d of %s: %w", p.Offset, p.WARC, err)
	}
	if kind := rec.Type(); kind != "response" && kind != "revisit" {
		return nil, "", fmt.Errorf("the record at %d of %s is a %.40s", p.Offset, p.WARC, kind)
	}
	c = &Copy{}
	var head bytes.Buffer
	resp, err := fetch.ReadKept(io.TeeReader(rec, limited{&head, maxHead}), int64(most))
	if err != nil {
		return nil, "", fmt.Errorf("the record at %d of %s: %w", p.Offset, p.WARC, err)
	}
	defer resp.Release()
	c.Status, c.Type, c.Location, c.Response = resp.Status, resp.Type(), resp.Get("Location"), headOf(head.Bytes())
	if rec.Type() == "revisit" {
		original = rec.Header.Get("WARC-Refers-To-Target-URI")
	} else {
		body, derr := resp.Decoded(int64(most))
		if derr != nil && len(body) == 0 {
			return nil, "", derr
		}
		c.Body, c.Cut = bytes.Clone(body), len(body) >= most // what is released is used again
	}
	if next, err := rd.Next(); err == nil && next.Type() == "request" && next.URI() == p.URL {
		b, err := io.ReadAll(io.LimitReader(next, maxHead))
		if err == nil {
			c.Request = headOf(b)
		}
	}
	return c, original, nil
}

// limited keeps the first bytes of what is written.
type limited struct {
	b    *bytes.Buffer
	most int
}

func (l limited) Write(p []byte) (int, error) {
	l.b.Write(p[:min(len(p), max(0, l.most-l.b.Len()))])
	return len(p), nil
}

// headOf is what stands before the empty line.
func headOf(b []byte) string {
	head, _, _ := bytes.Cut(b, []byte("\r\n\r\n"))
	return strings.ToValidUTF8(string(head), "\uFFFD")
}

// Text returns what a page says: the archived text if there is one, else the words of its body. At most so many bytes.
func (s *Shelf) Text(ctx context.Context, p *ledger.Page, c *Copy, most int) (text string, cut bool) {
	if p.Text != "" {
		if f, err := s.open(ctx, p.Text, p.TextAt); err == nil {
			defer f.Close()
			if rec, err := archive.NewReaderAt(f, p.TextAt).Next(); err == nil && rec.Type() == "conversion" {
				if b, err := io.ReadAll(io.LimitReader(rec, int64(most)+1)); err == nil {
					return trim(string(b), most)
				}
			}
		}
	}
	media := MediaOf(p, c)
	switch {
	case c == nil || len(c.Body) == 0:
		return "", false
	case p.HTML:
		return trim(parse.Text([]byte(UTF8(p, c)), most+1), most)
	case strings.HasPrefix(media, "text/") || media == "application/json" || parse.TypeOf(media) != parse.NoType:
		return trim(UTF8(p, c), most)
	}
	return "", false
}

// UTF8 returns the body of a copy, decoded from the encoding that the page was read in.
func UTF8(p *ledger.Page, c *Copy) string { return parse.Decode(c.Body, cmp.Or(p.Charset, "utf-8")) }

// MediaOf returns the media type of a page, in lower case.
func MediaOf(p *ledger.Page, c *Copy) string {
	media := p.Mime
	if media == "" && c != nil {
		media, _, _ = strings.Cut(c.Type, ";")
	}
	return strings.ToLower(strings.TrimSpace(media))
}

func trim(s string, most int) (string, bool) {
	cut := len(s) > most
	return strings.ToValidUTF8(s[:min(len(s), most)], "\uFFFD"), cut
}

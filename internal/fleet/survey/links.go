package survey

import (
	"bufio"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/fleet/outdir"
	"argosy/internal/page/archive"
	"argosy/internal/page/fetch"
	"argosy/internal/page/parse"
)

// maxRead bounds how much of a page is read, in bytes after decompression, as agents do.
const maxRead = 128 << 20

// links reads the archives once more and notes, for each broken URL, which pages link there and by which words.
func (g *gatherer) links(ctx context.Context, dir string, resources, strip bool) error {
	if len(g.broken) == 0 {
		return nil
	}
	store := archive.Dir(filepath.Join(dir, outdir.WARCDir))
	files, err := store.List(ctx)
	if err != nil {
		return err
	}
	rd := linkReader{g: g, opts: parse.Options{Resources: resources, Product: "argosy"}, seen: map[uint64]bool{}, seed: maphash.MakeSeed(), strip: strip}
	for _, name := range files {
		f, err := store.Open(ctx, name, 0)
		if errors.Is(err, os.ErrNotExist) { // it was finished meanwhile
			f, err = store.Open(ctx, strings.TrimSuffix(name, ".open"), 0)
		}
		if err != nil {
			return err
		}
		whole := rd.file(ctx, f)
		_ = f.Close() // it was only read
		if !whole && !strings.HasSuffix(name, ".open") {
			g.r.Unread++
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// linkReader looks for links to broken URLs.
type linkReader struct {
	g     *gatherer
	opts  parse.Options
	doc   parse.Page
	strip bool
	seed  maphash.Seed
	seen  map[uint64]bool // broken URL and page: each once, also where a crash has left a page twice
}

// file reads the pages of a file; it reports whether it came to the end.
func (l *linkReader) file(ctx context.Context, f io.Reader) bool {
	for rd := archive.NewReader(f); ctx.Err() == nil; {
		rec, err := rd.Next()
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil {
			return false
		}
		switch rec.Type() {
		case "response", "revisit":
			l.record(rec)
		}
	}
	return false
}

// record looks through an archived answer. What cannot be read has no links.
func (l *linkReader) record(rec *archive.ReadRecord) {
	u, err := crawl.Parse(rec.URI())
	if err != nil {
		return
	}
	resp, err := http.ReadResponse(bufio.NewReader(rec), nil)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	if to := resp.Header.Get("Location"); resp.StatusCode >= 300 && resp.StatusCode < 400 {
		if v, err := u.Resolve(to); err == nil && to != "" {
			l.link(v.String(), u.String(), "(redirects there)")
		}
		return
	}
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if media == "" {
		media = "text/html"
	}
	kind := parse.TypeOf(media)
	if kind == parse.NoType || rec.Type() != "response" {
		return
	}
	body, err := fetch.DecodeBody(resp.Header.Get("Content-Encoding"), resp.Body, maxRead)
	if err != nil && len(body) == 0 {
		return
	}
	pages := append([]string{rec.URI()}, l.g.copies[rec.Header.Get("WARC-Payload-Digest")]...)
	_, charset := parse.ReadEncoded(kind, body, resp.Header.Get("Content-Type"), l.opts, &l.doc)
	for i, page := range pages { // equal bytes link from each of their URLs
		if i > 0 {
			if u, err = crawl.Parse(page); err != nil {
				continue
			}
		}
		l.page(u, charset, resp.Header)
	}
}

// page takes the links of what was read last.
func (l *linkReader) page(u crawl.URL, charset string, h http.Header) {
	base := u
	if l.doc.Base != nil {
		if v, err := u.Resolve(parse.DecodeRef(l.doc.Base, charset)); err == nil {
			base = v
		}
	}
	bases := make([]crawl.URL, 0, len(l.doc.Bases))
	for _, b := range l.doc.Bases {
		outer := base
		if b.Outer > 0 {
			outer = bases[b.Outer-1]
		}
		if v, err := outer.Resolve(parse.DecodeRef(b.Ref, charset)); err == nil {
			outer = v
		}
		bases = append(bases, outer)
	}
	for _, link := range l.doc.Links {
		from := base
		if link.Base > 0 {
			from = bases[link.Base-1]
		}
		v, err := from.Resolve(parse.DecodeRef(link.Ref, charset))
		if err != nil {
			continue
		}
		if l.strip {
			v = v.StripSession()
		}
		if l.g.broken[v.String()] == nil {
			continue
		}
		l.link(v.String(), u.String(), l.doc.AnchorText(link, charset))
	}
	for _, field := range h.Values("Link") {
		for _, link := range parse.LinkHeader(field, l.opts.Resources) {
			if v, err := u.Resolve(string(link.Ref)); err == nil {
				l.link(v.String(), u.String(), "(header field Link)")
			}
		}
	}
}

// link notes that a page links to a URL, if that is broken.
func (l *linkReader) link(to, page, text string) {
	b := l.g.broken[to]
	if b == nil {
		return
	}
	if key := maphash.Comparable(l.seed, [2]string{to, page}); l.seen[key] {
		return
	} else {
		l.seen[key] = true
	}
	b.Links++
	if len(b.From) < maxFrom {
		b.From = append(b.From, Link{page, text})
	}
}

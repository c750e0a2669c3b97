package survey

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"os"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/page/archive"
	"argosy/internal/page/fetch"
	"argosy/internal/page/parse"
	"argosy/internal/page/robots"
)

// maxRead bounds how much of a page is read, in bytes after decompression, as agents do.
const maxRead = 128 << 20

// links reads the archives once more and notes, for each broken URL, which pages link there and by which words, and what pages say.
func (g *gatherer) links(ctx context.Context, stores []archive.Store, id *crawl.Identity) error {
	rd := linkReader{g: g, opts: parse.Options{Resources: id.Resources, Product: robots.Product(id.UserAgent)}, seen: map[uint64]bool{}, seed: maphash.MakeSeed(), strip: id.StripSession}
	for _, store := range stores {
		if err := rd.store(ctx, store); err != nil {
			return err
		}
	}
	g.r.Missing = len(g.files)
	return nil
}

// store reads the files of a store, and strikes them off those that must be there.
func (l *linkReader) store(ctx context.Context, store archive.Store) error {
	files, err := store.List(ctx)
	if err != nil {
		return err
	}
	for _, name := range files {
		delete(l.g.files, strings.TrimSuffix(name, ".open"))
		f, err := store.Open(ctx, name, 0)
		if errors.Is(err, os.ErrNotExist) { // it was finished meanwhile
			f, err = store.Open(ctx, strings.TrimSuffix(name, ".open"), 0)
		}
		if err != nil {
			return err
		}
		whole := l.file(ctx, strings.TrimSuffix(name, ".open"), f)
		_ = f.Close() // it was only read
		if !whole && !strings.HasSuffix(name, ".open") {
			l.g.r.Unread++
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
	seen  map[uint64]bool // broken URL and page, and both with words: each once, also where a crash has left a page twice
}

// file reads the pages of a file; it reports whether it came to the end.
func (l *linkReader) file(ctx context.Context, name string, f io.Reader) bool {
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
			own := l.g.records == nil || l.g.records[l.g.record(name, rec.Offset)]
			if copies := l.g.copies[rec.Header.Get("WARC-Payload-Digest")]; own || len(copies) > 0 {
				l.record(rec, own, copies)
			}
		}
	}
	return false
}

// record looks through an archived answer, for the job's page that it is (own) and for those that are equal to it. What cannot be
// read has no links.
func (l *linkReader) record(rec *archive.ReadRecord, own bool, copies []string) {
	u, err := crawl.Parse(rec.URI())
	if err != nil {
		return
	}
	resp, err := fetch.ReadKept(rec, maxRead)
	if err != nil {
		return
	}
	defer resp.Release()
	if to := resp.Get("Location"); resp.Redirects() {
		if v, err := u.Resolve(to); own && err == nil && to != "" {
			l.link(v.String(), u.String(), redirects)
		}
		return
	}
	media := resp.Media()
	if media == "" {
		media = "text/html"
	}
	kind := parse.TypeOf(media)
	if kind == parse.NoType || rec.Type() != "response" {
		return
	}
	body, err := resp.Decoded(maxRead)
	if err != nil && len(body) == 0 {
		return
	}
	if own && kind == parse.HTML && resp.Status < 300 {
		l.g.text(u, body)
	}
	pages := append([]string{rec.URI()}, copies...)
	_, charset := parse.ReadEncoded(kind, body, resp.Type(), l.opts, &l.doc)
	for i, page := range pages { // equal bytes link from each of their URLs
		if i == 0 && !own {
			continue // another job's
		}
		if i > 0 {
			if u, err = crawl.Parse(page); err != nil {
				continue
			}
		}
		l.page(u, charset, resp)
	}
}

// page takes the links of what was read last.
func (l *linkReader) page(u crawl.URL, charset string, resp *fetch.Response) {
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
	l.doc.Each(func(links []parse.Link) bool {
		for _, link := range links {
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
			text := l.doc.AnchorText(link, charset)
			if text == "" {
				text = places[link.Kind]
			}
			l.link(v.String(), u.String(), text)
		}
		return true
	})
	for _, field := range resp.Values("Link") {
		for _, link := range parse.LinkHeader(field, l.opts.Resources) {
			if v, err := u.Resolve(string(link.Ref)); err == nil {
				l.link(v.String(), u.String(), "(header field Link)")
			}
		}
	}
}

// redirects stands for the words of a redirect.
const redirects = "(redirects there)"

// places say where links stand that have no words.
var places = map[parse.Kind]string{
	parse.Frame: "(a frame)", parse.Relation: "(a link element)", parse.Refresh: "(a refresh)", parse.Form: "(a form)",
	parse.Citation: "(a source of a quotation)", parse.Resource: "(needed to show the page)",
}

// link notes that a page links to a URL, if that is broken.
func (l *linkReader) link(to, page, text string) {
	b := l.g.broken[to]
	if b == nil {
		return
	}
	b.named = b.named || text != redirects
	if key := maphash.Comparable(l.seed, [3]string{to, page, text}); l.seen[key] {
		return
	} else {
		l.seen[key] = true
	}
	of := maphash.Comparable(l.seed, [2]string{to, page})
	again := l.seen[of] // by other words
	if !again {
		l.seen[of] = true
		b.Links++
	}
	if b.Links <= maxFrom && (!again || len(b.From) < maxFrom) {
		b.From = append(b.From, Link{page, text})
	}
}

package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/agent"
	"argosy/internal/page/engine"
	"argosy/internal/page/parse"
	"argosy/internal/page/robots"
	"argosy/internal/page/topic"
)

// exampleReader reads pages that a topic is made of, or that it judges, from files and from sites.
type exampleReader struct {
	open     func() (*asker, error)
	ask      *asker     // once it is needed: it keeps each site's clock
	had      *agent.Had // keeps pages for the crawl that follows; nil: nobody does
	language string     // of the topic; empty: that of the first page, for of one topic all words are compared alike
	asked    []example  // those that are URLs

	ignoreRobots, ignoreNofollow bool

	texts map[[sha256.Size]byte]string // the flags that have named a text, by its digest; nil: one may be named twice
}

// example is a page in UTF-8.
type example struct {
	named string    // as it was asked for
	at    crawl.URL // where the answer came from; the zero URL is of a file
	body  []byte
	html  bool
	links []string // URLs of the same site that HTML leads to; none where it asks not to follow them
}

// read reads the pages that a flag names.
func (r *exampleReader) read(ctx context.Context, flag string, names []string) ([]*topic.Doc, error) {
	var docs []*topic.Doc
	for _, name := range names {
		e, err := r.page(ctx, name)
		if err != nil {
			return nil, usage("%s: %w", flag, err)
		}
		if !e.at.IsZero() {
			r.asked = append(r.asked, e)
		}
		of := sha256.Sum256(e.body)
		if was := r.texts[of]; was == flag {
			continue // it says no more than once
		} else if was != "" {
			return nil, usage("%s: %s is named by %s as well", flag, name, was)
		}
		r.texts[of] = flag
		docs = append(docs, topic.NewDoc(e.body, e.html, r.language))
		if r.language == "" {
			r.language = docs[0].Language
		}
	}
	return docs, nil
}

// page reads a page from a file or a site; errors name it.
func (r *exampleReader) page(ctx context.Context, name string) (e example, err error) {
	if !isURL(name) {
		b, err := readTopicFile(name)
		if err != nil {
			return e, err
		}
		e.body, e.html = plainPage(name, b)
		return e, readable(name, e.body)
	}
	u, err := crawl.Parse(name)
	if err != nil {
		return e, fmt.Errorf("%q: %w", name, err)
	}
	if e, err = r.get(ctx, u, maxExample); err != nil {
		return e, fmt.Errorf("%s: %w", name, err)
	}
	e.named = name
	return e, nil
}

// get asks a site for a page.
func (r *exampleReader) get(ctx context.Context, u crawl.URL, most int64) (e example, err error) {
	if r.ask == nil {
		if r.ask, err = r.open(); err != nil {
			return e, err
		}
	}
	r.ask.had = r.had
	got, err := r.ask.get(ctx, u, r.ignoreRobots, most)
	r.ask.had = nil
	if err != nil {
		return e, err
	}
	if e.at, err = crawl.Parse(got.URL); err != nil {
		return e, err
	}
	switch kind, _, _ := mime.ParseMediaType(got.Type); {
	case got.Status != http.StatusOK:
		return e, fmt.Errorf("it answers %d, not 200", got.Status)
	case kind == "text/html" || kind == "application/xhtml+xml":
		e.html = true
		r.parse(&e, got)
	case strings.HasPrefix(kind, "text/"):
		e.body, _ = decodedPage(got.Body, got.Type)
	default:
		return e, fmt.Errorf("it is %q; want HTML or text", kind)
	}
	return e, nil
}

// rest waits until no site that was asked would be asked too soon by the crawl that follows.
func (r *exampleReader) rest(ctx context.Context) error {
	if r.ask == nil {
		return nil
	}
	return r.ask.rest(ctx)
}

// parse takes in the text of a page in HTML, and its links.
func (r *exampleReader) parse(e *example, got engine.Answer) {
	var p parse.Page
	text, charset := parse.ReadEncoded(parse.HTML, got.Body, got.Type, parse.Options{Product: robots.Product(r.ask.agent)}, &p)
	e.body = []byte(parse.Decode(text, parse.ByteCharset(charset)))
	if p.NoFollow && !r.ignoreNofollow {
		return
	}
	base := e.at
	if p.Base != nil {
		if b, err := base.Resolve(parse.DecodeRef(p.Base, charset)); err == nil {
			base = b
		}
	}
	for _, l := range p.Links {
		if l.Kind != parse.Anchor || l.Base != 0 {
			continue
		}
		if u, err := base.Resolve(parse.DecodeRef(l.Ref, charset)); err == nil && u.Site() == e.at.Site() {
			e.links = append(e.links, u.String())
		}
	}
}

// isURL reports whether an example is fetched.
func isURL(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// readable refuses what is not a text: a picture, an archive, a program.
func readable(name string, b []byte) error {
	if kind := http.DetectContentType(b); !strings.HasPrefix(kind, "text/") {
		return fmt.Errorf("%s: it is %s; want HTML or text", name, kind)
	}
	return nil
}

// plainPage returns a file in UTF-8, and whether it is HTML.
func plainPage(name string, b []byte) ([]byte, bool) {
	ext := strings.ToLower(filepath.Ext(name))
	html := ext == ".html" || ext == ".htm" || ext == ".xhtml" || ext != ".txt" && strings.HasPrefix(http.DetectContentType(b), "text/html")
	if !html {
		return []byte(strings.ToValidUTF8(string(b), "\uFFFD")), false
	}
	return decodedPage(b, "")
}

// decodedPage returns a page in UTF-8.
func decodedPage(b []byte, contentType string) (utf8 []byte, html bool) {
	var p parse.Page
	text, charset := parse.ReadEncoded(parse.HTML, b, contentType, parse.Options{}, &p)
	return []byte(parse.Decode(text, parse.ByteCharset(charset))), true
}

// besideReader reads other pages of the sites of examples, by which a topic learns what sets the examples apart.
type besideReader struct {
	r     *exampleReader
	f     *topicFlags
	had   map[string]bool            // URLs that were asked for, and examples
	texts map[[sha256.Size]byte]bool // digests of pages: one that stands under many URLs says no more than once
	walks []*besideSite              // in turn
	docs  []*topic.Doc
	tries int
}

// besideSite is the walk through a site.
type besideSite struct {
	walk   *topic.Walk
	site   string
	starts []crawl.URL // front pages to try, until one has links
	failed int         // requests in a row without an answer
}

// Bounds of reading beside examples: it is there to begin well, and what it cannot have it does without.
const (
	besideSites  = 4                // walked through
	besidePage   = 1 << 20          // bytes of a page
	besideEach   = 10 * time.Second // a page
	besideFailed = 3                // requests in a row without an answer, after which a site is left alone
	besideSpare  = 2 * time.Second  // what a page may take beside the delay, on average
)

func newBeside(r *exampleReader, f *topicFlags) *besideReader {
	b := &besideReader{r: r, f: f, had: map[string]bool{}, texts: map[[sha256.Size]byte]bool{}}
	for i := range r.asked {
		b.had[r.asked[i].at.String()] = true
		b.texts[sha256.Sum256(r.asked[i].body)] = true
		if f.rules != nil {
			f.rules.Join(r.asked[i].at)
		}
	}
	return b
}

// sites prepares the walks through the sites of URLs.
func (b *besideReader) sites(urls []string) {
	for _, raw := range urls {
		u, err := crawl.Parse(raw)
		if err != nil || !isURL(raw) {
			continue
		}
		for i := range b.r.asked { // where it has led to
			if e := &b.r.asked[i]; e.named == raw {
				u = e.at
			}
		}
		b.site(u)
	}
}

// site prepares the walk through the site of a URL.
func (b *besideReader) site(u crawl.URL) {
	for _, s := range b.walks {
		if s.site == u.Site() {
			s.starts = append(s.starts, ancestors(u)...)
			return
		}
	}
	if len(b.walks) == besideSites {
		return
	}
	s := &besideSite{walk: topic.NewWalk(), site: u.Site(), starts: ancestors(u)}
	for i := range b.r.asked {
		if e := &b.r.asked[i]; e.at.Site() == s.site {
			s.walk.Example(e.at.String(), e.links)
		}
	}
	b.walks = append(b.walks, s)
}

// ancestors are the front page of a URL's host, and the first two directories on the way to it.
func ancestors(u crawl.URL) (out []crawl.URL) {
	path := u.Path()
	for i := 0; i < len(path) && len(out) < 3; i++ {
		if path[i] == '/' {
			if at, err := u.Resolve(path[:i+1]); err == nil {
				out = append(out, at)
			}
		}
	}
	return out
}

// read reads up to most pages.
func (b *besideReader) read(ctx context.Context, most int) ([]*topic.Doc, error) {
	if len(b.walks) == 0 {
		return nil, nil
	}
	var names []string
	for _, s := range b.walks {
		names = append(names, s.site)
	}
	b.f.say(fmt.Sprintf("reading up to %s of %s to learn what sets the examples apart (--topic-beside 0 reads none)", plural(int64(most), "other page"), strings.Join(names, ", ")))
	all, stop := context.WithTimeout(ctx, b.time(most))
	defer stop()
	for len(b.docs) < most && b.tries < 2*most && len(b.walks) > 0 && all.Err() == nil {
		left := b.walks[:0]
		for _, s := range b.walks {
			if len(b.docs) == most || b.step(all, s) {
				left = append(left, s)
			}
		}
		b.walks = left
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if len(b.docs) < most {
		b.f.say(fmt.Sprintf("%s could be read", plural(int64(len(b.docs)), "other page")))
	}
	return b.docs, nil
}

// time is how long reading so many pages may take.
func (b *besideReader) time(most int) time.Duration {
	delay := time.Duration(0)
	for _, s := range b.walks {
		if b.r.ask != nil {
			delay = max(delay, b.r.ask.limits(s.site).Delay)
		}
	}
	all := max(besideEach, time.Duration(most)*(delay+besideSpare))
	if b.f.within > 0 {
		all = min(all, b.f.within)
	}
	return all
}

// step reads the next page of a site, and reports whether there may be more. What cannot be read is passed by: another page tells as much.
func (b *besideReader) step(ctx context.Context, s *besideSite) (more bool) {
	var u crawl.URL
	if len(s.starts) > 0 {
		u, s.starts = s.starts[0], s.starts[1:]
	} else {
		next, ok := s.walk.Next()
		if !ok {
			return false
		}
		u, _ = crawl.Parse(next) // it is the text of a URL
	}
	if b.had[u.String()] || b.f.rules != nil && !b.f.rules.Check(u, 0).OK() {
		return true
	}
	b.had[u.String()] = true
	b.tries++
	one, stop := context.WithTimeout(ctx, besideEach)
	e, err := b.r.get(one, u, besidePage)
	stop()
	if s.failed++; !e.at.IsZero() || errors.Is(err, errDisallowed) {
		s.failed = 0
	}
	if s.failed == besideFailed {
		return false
	}
	if err != nil || !e.html || e.at.Site() != s.site {
		return true
	}
	if len(e.links) > 0 {
		s.starts = nil
	}
	s.walk.Named(e.links, func(link string) bool { return strings.Contains(link, "?") })
	text := sha256.Sum256(e.body)
	known := b.had[e.at.String()] && e.at.String() != u.String() || b.texts[text]
	b.had[e.at.String()], b.texts[text] = true, true
	if d := topic.NewDoc(e.body, true, b.r.language); !known && len(d.Terms) >= topic.LeastTerms {
		b.docs = append(b.docs, d)
	}
	return true
}

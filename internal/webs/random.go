package webs

import (
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// RandomConfig says what a random web is like.
type RandomConfig struct {
	Sites   int
	Pages   int // a site
	Links   int // a page, on average
	Seed    uint64
	Latency time.Duration // of every answer
	Text    int           // bytes of text that all pages of a site have in common, at least
	Own     int           // bytes of text that a page has for itself, at least
}

// Random returns a web of sites "sN.test" whose pages link to each other at random and in every way that HTML knows.
// The same configuration gives the same web. Every site's page 0 is "/".
func Random(c RandomConfig) *Web {
	w := New()
	for s := range c.Sites {
		w.Sites[siteName(s)] = &randomSite{c: c, site: s}
	}
	return w
}

func siteName(s int) string { return fmt.Sprintf("s%d.test", s) }

type randomSite struct {
	c    RandomConfig
	site int

	once   sync.Once
	common string
}

// path is where a page lies: in a directory of its own number's digits, so that relative links have somewhere to go.
func path(page int) string {
	if page == 0 {
		return "/"
	}
	return fmt.Sprintf("/d%d/e%d/p%d.html", page%7, page%3, page)
}

// ServeHTTP answers with the page whose number stands in the path.
func (s *randomSite) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	time.Sleep(s.c.Latency)
	var d, e, n int
	switch p := r.URL.Path; {
	case p == "/robots.txt":
		_, _ = fmt.Fprintf(rw, "User-agent: *\nDisallow: /private/\n")
		return
	case p == "/":
	case strings.HasPrefix(p, "/old/"):
		if _, err := fmt.Sscanf(p, "/old/%d", &n); err == nil && n > 0 && n < s.c.Pages {
			http.Redirect(rw, r, path(n), http.StatusMovedPermanently)
			return
		}
		http.NotFound(rw, r)
		return
	case strings.HasPrefix(p, "/file/"):
		rw.Header().Set("Content-Type", "application/pdf")
		_, _ = rw.Write([]byte("%PDF-1.4 " + p + strings.Repeat(" padding", 20)))
		return
	default:
		if _, err := fmt.Sscanf(p, "/d%d/e%d/p%d.html", &d, &e, &n); err != nil || path(n) != p || n >= s.c.Pages {
			http.NotFound(rw, r)
			return
		}
	}
	body := s.body(n, r.Host)
	rw.Header().Set("Content-Type", "text/html")
	if n%2 == 0 && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		rw.Header().Set("Content-Encoding", "gzip")
		z := gzips.Get().(*gzip.Writer)
		defer gzips.Put(z)
		z.Reset(rw)
		_, _ = z.Write([]byte(body))
		_ = z.Close()
		return
	}
	_, _ = rw.Write([]byte(body))
}

// gzips are writers of gzip's that were used before: a new one takes 800 KB, for pages of a few.
var gzips = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// body writes a page. host is what the request was sent to: links to other sites keep its port.
func (s *randomSite) body(n int, host string) string {
	rng := rand.New(rand.NewPCG(s.c.Seed, uint64(s.site)<<32|uint64(n)))
	port := ""
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		port = host[i:]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html><html><head><title>Page %d of %s</title>", n, siteName(s.site))
	up := "../../"
	if n == 0 {
		up = ""
	}
	if n%11 == 5 {
		fmt.Fprintf(&b, `<base href="%s">`, up+"d1/e1/")
		up = "../../"
	}
	b.WriteString("</head><body><!-- <a href=/never/1>commented out</a> -->")
	fmt.Fprintf(&b, `<script>document.write("<a href='/never/2'>no</a>")</script>`)
	// Page n links to 2n+1 and 2n+2, so that every page can be reached, and to others at random.
	targets := []int{2*n + 1, 2*n + 2}
	for range s.c.Links {
		targets = append(targets, rng.IntN(s.c.Pages))
	}
	for i, t := range targets {
		if t >= s.c.Pages {
			continue
		}
		s.link(&b, rng.IntN(12), t, up, fmt.Sprintf("http://%s%s%s", siteName(s.site), port, path(t)), i)
	}
	if rng.IntN(4) == 0 {
		fmt.Fprintf(&b, `<a href="/old/%d">moved</a> <a href='/file/%d.pdf'>file</a> <a href=/gone/%d>gone</a>`, 1+rng.IntN(s.c.Pages), rng.IntN(20), rng.IntN(30))
	}
	other := rng.IntN(s.c.Sites)
	fmt.Fprintf(&b, `<a href="http://%s%s/">a neighbour</a> <a href="http://elsewhere.example/%d">elsewhere</a> <a href="/private/%d">private</a>`,
		siteName(other), port, n, n)
	b.WriteString(strings.Repeat("<p>Words to read, more or less of them.</p>\n", 5+rng.IntN(40)))
	b.WriteString(s.text())
	s.own(&b, rng)
	b.WriteString("</body></html>")
	return b.String()
}

// own writes what no other page says: words as often as they are in texts, some of them all the time.
func (s *randomSite) own(b *strings.Builder, rng *rand.Rand) {
	words := vocabulary()
	for end := b.Len() + s.c.Own; b.Len() < end; {
		b.WriteString("<p>")
		for range 40 + rng.IntN(40) {
			at := rng.Float64()
			b.WriteString(words[int(float64(len(words))*at*at*at)])
			b.WriteByte(' ')
		}
		b.WriteString("</p>\n")
	}
}

// vocabulary are the words of such texts.
var vocabulary = sync.OnceValue(func() (words []string) {
	const consonants, vowels, size = "bdfgklmnprstvz", "aeiou", 4000
	rng := rand.New(rand.NewPCG(size, 0))
	for range size {
		var w []byte
		for range 1 + rng.IntN(4) {
			w = append(w, consonants[rng.IntN(len(consonants))], vowels[rng.IntN(len(vowels))])
		}
		words = append(words, string(w))
	}
	return words
})

// text is what all pages of a site have in common: words that compress as text does.
func (s *randomSite) text() string {
	s.once.Do(func() {
		rng := rand.New(rand.NewPCG(s.c.Seed, uint64(s.site)))
		var b strings.Builder
		for b.Len() < s.c.Text {
			fmt.Fprintf(&b, "<p>Of %d, <em>%x</em> and what is %s to read of them.</p>\n", rng.IntN(1000), rng.Uint32(), names[rng.IntN(len(names))])
		}
		s.common = b.String()
	})
	return s.common
}

var names = strings.Fields("early late plain odd long short dear cheap near far new old quick slow round thin bright dull left right good better best")

// link writes a link to page t in one of many ways. abs is its absolute URL, up leads from here to the root.
func (s *randomSite) link(b *strings.Builder, way, t int, up, abs string, i int) {
	rel := up + strings.TrimPrefix(path(t), "/")
	if rel == "" {
		rel = "./"
	}
	switch way {
	case 0:
		fmt.Fprintf(b, "<a href=%s>%d</a>", rel, t)
	case 1:
		fmt.Fprintf(b, "<A\nHREF = '%s#part%d'>%d</A>", rel, i, t)
	case 2:
		fmt.Fprintf(b, `<a title="a > b" href="%s">%d</a>`, path(t), t)
	case 3:
		fmt.Fprintf(b, `<a href=" %s ">%d</a>`, abs, t)
	case 4:
		fmt.Fprintf(b, `<iframe src="%s"></iframe>`, path(t))
	case 5:
		fmt.Fprintf(b, `<map><area href='%s'></map>`, rel)
	case 6:
		fmt.Fprintf(b, `<noscript><a href="%s">%d</a></noscript>`, path(t), t)
	case 7:
		fmt.Fprintf(b, `<a href="%s">%d</a>`, strings.ReplaceAll(path(t), "p", "&#112;"), t)
	case 8:
		fmt.Fprintf(b, `<a href="/x/./y/../../%s">%d</a>`, strings.TrimPrefix(path(t), "/"), t)
	case 9:
		fmt.Fprintf(b, `<link rel=next href="%s">`, path(t))
	case 10:
		fmt.Fprintf(b, `<a href="%s">%d</a>`, strings.ReplaceAll(abs, "http://", "HTTP://"), t)
	default:
		fmt.Fprintf(b, `<a class=x data-href="/never/3" href="%s">%d</a>`, path(t), t)
	}
}

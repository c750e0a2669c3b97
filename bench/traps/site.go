package main

import (
	"fmt"
	"hash/fnv"
	"html"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
)

// answer is what a site says to one URL, with what the author of the web knows about it.
type answer struct {
	status   int    // 0 is 200
	kind     string // content type; "" is HTML
	location string
	next     string // a link of its header
	body     string

	real    string   // the content whose page this is, "" for none: the same content may be had under several URLs
	trap    string   // the trap whose URL this is, "" for an honest one
	says    string   // what its text says: equal for two answers that tell a reader the same
	targets []string // the contents that its links lead to; links further into a trap lead to none
}

// trap is a set of URLs that a crawler can do without.
type trap struct {
	name    string
	endless bool   // a crawl ends only because its crawler judges, and has to say so
	mark    string // stands in the URLs of it that the end of a run shows
	free    bool   // nothing is promised of it: it cannot be told by what it yields
}

// part is a piece of a site with its ground truth.
type part struct {
	name   string
	entry  []link
	real   []string // the contents that have to be had
	traps  []trap
	answer func(s *site, u *url.URL) *answer // nil: not a URL of this part
	paths  string                            // a prefix of all its paths
	drawn  bool                              // its answers are drawn anew each time
	need   float64                           // share of the contents that must be had; 0 is 1 without traps, 0.99 with them
}

func (p *part) share() float64 {
	switch {
	case p.need > 0:
		return p.need
	case len(p.traps) > 0:
		return 0.99
	}
	return 1
}

type link struct{ href, label, id string }

// site is one host: a home page, a few pages about it, and parts.
type site struct {
	seed       string
	parts      []*part
	lead, foot string // what all pages say
	bare       bool   // its pages are its parts' alone
}

func newSite(seed string, parts ...*part) *site {
	return &site{seed: seed, parts: append(parts, about()), lead: prose(seed+"/lead", 25), foot: prose(seed+"/foot", 30)}
}

// about returns the pages that every site has and links to from every page.
func about() *part {
	p := &part{name: "about", paths: "/about/"}
	for _, n := range []string{"imprint", "privacy", "contact", "jobs", "help"} {
		p.real = append(p.real, "about/"+n)
	}
	p.answer = func(s *site, u *url.URL) *answer {
		n := strings.TrimSuffix(strings.TrimPrefix(u.Path, "/about/"), ".html")
		if !contains(p.real, "about/"+n) || u.RawQuery != "" {
			return nil
		}
		pg := s.page(n)
		pg.para("about/"+n, 90)
		return pg.real("about/" + n)
	}
	return p
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// ask answers a URL of the site.
func (s *site) ask(u *url.URL) *answer {
	if u.Path == "/" && u.RawQuery == "" && !s.bare {
		p := s.page("Welcome")
		p.para("home", 60)
		for _, pt := range s.parts {
			for _, l := range pt.entry {
				p.link(l.href, l.label, l.id)
			}
		}
		return p.real("home")
	}
	if u.Path == "/robots.txt" {
		return &answer{kind: "text/plain", body: "User-agent: *\nDisallow:\n"}
	}
	for _, pt := range s.parts {
		if strings.HasPrefix(u.Path, pt.paths) {
			if a := pt.answer(s, u); a != nil {
				return a
			}
		}
	}
	return &answer{status: http.StatusNotFound, body: "<title>Not found</title><h1>Not found</h1>", says: "not found"}
}

// page builds an HTML page: what it says in the middle, navigation around it.
type page struct {
	s       *site
	title   string
	bare    bool // without navigation
	b       strings.Builder
	targets []string
}

func (s *site) page(title string) *page { return &page{s: s, title: title} }

// little is a page with nothing around it but a way home.
func (s *site) little(title string) *page {
	p := s.page(title)
	p.bare = true
	p.link("/", "Home", "home")
	return p
}

// link writes a link that leads to a content, or with id "" further into a trap.
func (p *page) link(href, label, id string) {
	fmt.Fprintf(&p.b, "<li><a href=\"%s\">%s</a></li>\n", html.EscapeString(href), html.EscapeString(label))
	if id != "" {
		p.targets = append(p.targets, id)
	}
}

// para writes a paragraph of about n words; the same key gives the same words.
func (p *page) para(key string, n int) {
	fmt.Fprintf(&p.b, "<p>%s</p>\n", prose(p.s.seed+"/"+key, n))
}

func (p *page) text(format string, args ...any) {
	fmt.Fprintf(&p.b, "<p>%s</p>\n", html.EscapeString(fmt.Sprintf(format, args...)))
}

// real ends a page that shows a content.
func (p *page) real(id string) *answer {
	a := p.done(id)
	a.real = id
	return a
}

// trap ends a page that shows no content: equal says, equal sense.
func (p *page) trap(name, says string) *answer {
	a := p.done(says)
	a.trap = name
	return a
}

func (p *page) done(says string) *answer {
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title></head><body>\n", html.EscapeString(p.title))
	if !p.bare {
		b.WriteString("<header><a href=\"/\">Home</a>")
		p.targets = append(p.targets, "home")
		for _, pt := range p.s.parts {
			for _, l := range pt.entry {
				fmt.Fprintf(&b, " <a href=\"%s\">%s</a>", html.EscapeString(l.href), html.EscapeString(l.label))
				p.targets = append(p.targets, l.id)
			}
		}
		fmt.Fprintf(&b, "</header>\n<p class=\"lead\">%s</p>\n", p.s.lead)
	}
	fmt.Fprintf(&b, "<main><h1>%s</h1>\n%s</main>\n", html.EscapeString(p.title), p.b.String())
	if !p.bare {
		b.WriteString("<footer>")
		for _, n := range []string{"imprint", "privacy", "contact", "jobs", "help"} {
			fmt.Fprintf(&b, "<a href=\"/about/%s.html\">%s</a> ", n, n)
			p.targets = append(p.targets, "about/"+n)
		}
		fmt.Fprintf(&b, "<p>%s</p></footer>\n", p.s.foot)
	}
	b.WriteString("</body></html>\n")
	return &answer{body: b.String(), says: says, targets: p.targets}
}

// rng returns the random numbers that belong to a key.
func rng(key string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key))
	return rand.New(rand.NewPCG(h.Sum64(), 1))
}

// draw returns one random number in [0, n) that belongs to a key.
func draw(key string, n int) int { return rng(key).IntN(n) }

const vocabularySize = 6000 // an adult's active one

var vocabulary = func() []string {
	v := strings.Fields("the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which you were")
	r := rng("vocabulary")
	onset := strings.Fields("b br c ch cl d dr f fl g gr h j k l m n p pl pr qu r s sh sl sp st str t th tr v w")
	nucleus := strings.Fields("a e i o u ai ea ee ou oa")
	coda := strings.Fields("n r t l s d m ck nd nt st ll ng rd")
	seen := map[string]bool{}
	for len(v) < vocabularySize {
		var w strings.Builder
		for n := 1 + r.IntN(3); n > 0; n-- {
			w.WriteString(onset[r.IntN(len(onset))] + nucleus[r.IntN(len(nucleus))])
		}
		w.WriteString(coda[r.IntN(len(coda))])
		if !seen[w.String()] {
			seen[w.String()] = true
			v = append(v, w.String())
		}
	}
	return v
}()

// word draws a word with the frequencies of a language: about 1/rank.
func word(r *rand.Rand) string {
	return vocabulary[int(math.Exp(r.Float64()*math.Log(vocabularySize)))-1]
}

// prose returns n words in sentences; the same key gives the same words.
func prose(key string, n int) string {
	r := rng(key)
	var b strings.Builder
	for left := 0; n > 0; n-- {
		w := word(r)
		if left == 0 {
			left = 6 + r.IntN(14)
			w = strings.ToUpper(w[:1]) + w[1:]
		}
		b.WriteString(w)
		if left--; left == 0 || n == 1 {
			b.WriteByte('.')
		}
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

// name returns a few words that name something.
func name(key string) string {
	r := rng("name/" + key)
	w := make([]string, 2+r.IntN(3))
	for i := range w {
		w[i] = vocabulary[40+r.IntN(vocabularySize-40)]
	}
	return strings.Join(w, " ")
}

// number reads a decimal number without leading zeros from a string, -1 if it is not one.
func number(s string) int {
	n := 0
	if _, err := fmt.Sscanf(s, "%d", &n); err != nil || fmt.Sprint(n) != s || n < 0 {
		return -1
	}
	return n
}

// query returns a number in the query, a default if it is not there, -1 if it is not a number.
func query(u *url.URL, key string, missing int) int {
	if v := u.Query().Get(key); v != "" {
		return number(v)
	}
	return missing
}

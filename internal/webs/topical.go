package webs

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
)

// TopicalConfig says what a web of pages about topics is like.
type TopicalConfig struct {
	Seed  uint64
	Sites int
	Pages int     // of each site
	Share float64 // of pages that are on the topic
	Near  float64 // chance that a link of a page on the topic leads to another one
	Told  float64 // chance that the words of a link to a page on the topic name it; where there are texts, that they are of the page's text

	Links int // of a page, besides that to the next page of its site; 0: 8

	FirstPages int     // of the first site, where it is larger than the others
	FirstShare float64 // of its pages that are on the topic, then

	On, Off [][]string // texts of pages on the topic, and of others, as words: a page is made of two of them; none: made-up words
}

// Topical is a web of pages of which some are on a topic: they lie near each other, mostly, and links to them name it, sometimes.
type Topical struct {
	*Web
	cfg   TopicalConfig
	on    []bool // by number, over all sites
	among []int  // numbers of pages on the topic
}

// TopicalWords are what the topic of such a web is called; topicalOwn the words that its pages use.
const TopicalWords = "enzyme kinetics"

var topicalOwn = strings.Fields("enzyme kinetics enzymes kinetic substrate catalyst inhibitor reaction binding molecule protein active")

// NewTopical makes a web whose sites are t0.test, t1.test and so on.
func NewTopical(c TopicalConfig) *Topical {
	t := &Topical{Web: New(), cfg: c}
	t.on = make([]bool, t.first(c.Sites))
	rng := rand.New(rand.NewPCG(c.Seed, 0x70))
	for i := range t.on {
		share, site := c.Share, t.site(i)
		if site == 0 && c.FirstPages > 0 {
			share = c.FirstShare
		}
		if t.on[i] = i != t.first(site) && rng.Float64() < share; t.on[i] { // a site's first page is its front page
			t.among = append(t.among, i)
		}
	}
	for s := range c.Sites {
		t.Sites[fmt.Sprintf("t%d.test", s)] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			n := 0
			if _, err := fmt.Sscanf(r.URL.Path, "/p%d.html", &n); r.URL.Path != "/" && (err != nil || n <= 0 || n >= t.first(s+1)-t.first(s)) {
				http.NotFound(rw, r)
				return
			}
			_, port, _ := strings.Cut(r.Host, ":")
			title, body := t.page(t.first(s)+n, port)
			page(rw, title, body)
		})
	}
	return t
}

// first returns the number of a site's front page.
func (t *Topical) first(site int) int {
	if site > 0 && t.cfg.FirstPages > 0 {
		return t.cfg.FirstPages + (site-1)*t.cfg.Pages
	}
	return site * t.cfg.Pages
}

// site returns on which site a page is.
func (t *Topical) site(i int) int {
	if more := t.first(1) - t.cfg.Pages; i >= t.first(1) {
		return (i - more) / t.cfg.Pages
	}
	return 0
}

// URL returns the address of a page by its number.
func (t *Topical) URL(i int, port string) string {
	site := t.site(i)
	at := fmt.Sprintf("http://t%d.test:%s/", site, port)
	if n := i - t.first(site); n > 0 {
		at += fmt.Sprintf("p%d.html", n)
	}
	return at
}

// Seeds returns the first pages of all sites.
func (t *Topical) Seeds(port string) (out []string) {
	for s := range t.cfg.Sites {
		out = append(out, t.URL(t.first(s), port))
	}
	return out
}

// Honest reports whether a host is one of the web's own, not of spam that was added.
func (t *Topical) Honest(host string) bool {
	n := 0
	_, err := fmt.Sscanf(host, "t%d.test", &n)
	return err == nil && n < t.cfg.Sites
}

// OnTopic returns the addresses of all pages on the topic.
func (t *Topical) OnTopic(port string) map[string]bool {
	out := map[string]bool{}
	for _, i := range t.among {
		out[t.URL(i, port)] = true
	}
	return out
}

// topicalLinks is how many links a page has where nobody says otherwise.
const topicalLinks = 8

// page makes a page: the same whenever it is asked for.
func (t *Topical) page(i int, port string) (title, body string) {
	if len(t.cfg.On) > 0 {
		return t.drawn(i, port)
	}
	rng := rand.New(rand.NewPCG(t.cfg.Seed, uint64(i)+1000))
	word := func() string { return fmt.Sprintf("word%d", int(600*rng.Float64()*rng.Float64())) }
	text := func(n int) string {
		var b strings.Builder
		for range n {
			if t.on[i] && rng.IntN(7) == 0 {
				b.WriteString(topicalOwn[rng.IntN(len(topicalOwn))])
			} else {
				b.WriteString(word())
			}
			b.WriteByte(' ')
		}
		return b.String()
	}
	title = word() + " " + word()
	if t.on[i] && rng.IntN(2) == 0 {
		title = "Enzyme kinetics, " + word()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<h1>%s</h1>\n", title)
	link := func(to int) {
		words := word() + " " + word()
		if t.on[to] && rng.Float64() < t.cfg.Told {
			words = "more on enzyme kinetics"
		}
		fmt.Fprintf(&b, "<p>%s <a href=\"%s\">%s</a> %s</p>\n", text(25), t.URL(to, port), words, text(10))
	}
	t.links(rng, i, link)
	return title, b.String()
}

// links calls fn for what a page links to.
func (t *Topical) links(rng *rand.Rand, i int, fn func(to int)) {
	n := t.cfg.Links
	if n == 0 {
		n = topicalLinks
	}
	site := t.site(i)
	from, end := t.first(site), t.first(site+1)
	for range n {
		to := rng.IntN(len(t.on))
		if t.on[i] && len(t.among) > 0 && rng.Float64() < t.cfg.Near {
			to = t.among[rng.IntN(len(t.among))]
		} else if rng.IntN(3) > 0 { // most links stay on their site
			to = from + rng.IntN(end-from)
		}
		fn(to)
	}
	if i+1 < end {
		fn(i + 1)
	}
}

// text returns the words of a page that is drawn from texts: halves of two of its kind.
func (t *Topical) text(i int) []string {
	rng := rand.New(rand.NewPCG(t.cfg.Seed, uint64(i)+1_000_000))
	from := t.cfg.Off
	if t.on[i] {
		from = t.cfg.On
	}
	a, b := from[rng.IntN(len(from))], from[rng.IntN(len(from))]
	return append(append([]string(nil), a[:(len(a)+1)/2]...), b[len(b)/2:]...)
}

// drawn makes a page of texts that were given. Links are named by words of the page that they lead to, or by any.
func (t *Topical) drawn(i int, port string) (title, body string) {
	rng := rand.New(rand.NewPCG(t.cfg.Seed, uint64(i)+1000))
	own := t.text(i)
	some := func(of []string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(of[rng.IntN(len(of))])
			b.WriteByte(' ')
		}
		return b.String()
	}
	var b strings.Builder
	for at := 0; at < min(len(own), 400); at += 50 {
		fmt.Fprintf(&b, "<p>%s</p>\n", strings.Join(own[at:min(at+50, len(own))], " "))
	}
	t.links(rng, i, func(to int) {
		words := some(own, 3)
		if rng.Float64() < t.cfg.Told {
			words = some(t.text(to), 3)
		}
		fmt.Fprintf(&b, "<p><a href=\"%s\">%s</a></p>\n", t.URL(to, port), words)
	})
	return some(own, 4), b.String()
}

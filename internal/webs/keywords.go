package webs

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
)

// KeywordsConfig says what a web of pages about the keywords of several topics is like.
type KeywordsConfig struct {
	Seed     uint64
	Sites    int
	Pages    int // of each site
	Topics   int
	Keywords int // of each topic
}

// Keyworded is a web whose pages are each about a keyword of a topic, more or less: those of a keyword use its words and those of its topic,
// and three in ten links lead to the same keyword, three to the same topic, the others anywhere.
type Keyworded struct {
	*Web
	cfg   KeywordsConfig
	pages []keyworded
	about [][]int // numbers of pages, by topic and keyword
}

type keyworded struct {
	topic, keyword int
	strength       float64 // share of the words that a page about nothing else uses
}

// keywordedLinks is how many links a page has.
const keywordedLinks = 8

// NewKeyworded makes a web whose sites are k0.test, k1.test and so on.
func NewKeyworded(c KeywordsConfig) *Keyworded {
	k := &Keyworded{Web: New(), cfg: c, about: make([][]int, c.Topics*c.Keywords)}
	rng := rand.New(rand.NewPCG(c.Seed, 0x6b))
	for i := range c.Sites * c.Pages {
		p := keyworded{rng.IntN(c.Topics), rng.IntN(c.Keywords), 0.4 + 0.6*rng.Float64()}
		k.pages = append(k.pages, p)
		k.about[p.topic*c.Keywords+p.keyword] = append(k.about[p.topic*c.Keywords+p.keyword], i)
	}
	for s := range c.Sites {
		k.Sites[fmt.Sprintf("k%d.test", s)] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			n := 0
			if _, err := fmt.Sscanf(r.URL.Path, "/p%d.html", &n); err != nil || n < 0 || n >= c.Pages {
				http.NotFound(rw, r)
				return
			}
			_, port, _ := strings.Cut(r.Host, ":")
			title, body := k.page(s*c.Pages+n, port)
			page(rw, title, body)
		})
	}
	return k
}

// Words returns what a keyword of a topic is called.
func (k *Keyworded) Words(topic, keyword int) string {
	return fmt.Sprintf("%s %s %s", k.word(topic, -1, 0), k.word(topic, keyword, 0), k.word(topic, keyword, 1))
}

// word is a word of a topic, with keyword -1, or of a keyword of it. Stemmers leave it alone.
func (k *Keyworded) word(topic, keyword, i int) string {
	const letters = "bcdfghjklmnpqrtvwxz"
	at := func(n int) string { return string(letters[n%len(letters)]) }
	return at(topic) + "o" + at(topic/len(letters)+3) + "a" + at(keyword+1) + "u" + at(i) + "ok"
}

// URL returns the address of a page by its number.
func (k *Keyworded) URL(i int, port string) string {
	return fmt.Sprintf("http://k%d.test:%s/p%d.html", i/k.cfg.Pages, port, i%k.cfg.Pages)
}

// Found returns what a search for a keyword finds: n different pages, seven in ten of them about it.
func (k *Keyworded) Found(topic, keyword, n int, port string) (out []string) {
	rng := rand.New(rand.NewPCG(k.cfg.Seed, uint64(topic*k.cfg.Keywords+keyword)))
	about, seen := k.about[topic*k.cfg.Keywords+keyword], map[int]bool{}
	for len(out) < min(n, len(k.pages)) {
		i := rng.IntN(len(k.pages))
		if len(about) > n && rng.Float64() < 0.7 {
			i = about[rng.IntN(len(about))]
		}
		if !seen[i] {
			seen[i] = true
			out = append(out, k.URL(i, port))
		}
	}
	return out
}

// page makes a page: the same whenever it is asked for.
func (k *Keyworded) page(i int, port string) (title, body string) {
	p := k.pages[i]
	rng := rand.New(rand.NewPCG(k.cfg.Seed, uint64(i)+1000))
	word := func() string {
		switch x := rng.Float64() * 8; {
		case x < p.strength*0.7:
			return k.word(p.topic, p.keyword, rng.IntN(2))
		case x < p.strength:
			return k.word(p.topic, -1, 0)
		}
		return fmt.Sprintf("word%d", int(900*rng.Float64()*rng.Float64()))
	}
	text := func(n int) string {
		words := make([]string, n)
		for j := range words {
			words[j] = word()
		}
		return strings.Join(words, " ")
	}
	title = text(3)
	var b strings.Builder
	fmt.Fprintf(&b, "<h1>%s</h1>\n<p>%s</p>\n", title, text(80))
	for range keywordedLinks {
		to, near := rng.IntN(len(k.pages)), rng.Float64()
		if own := k.about[p.topic*k.cfg.Keywords+p.keyword]; near < 0.3 {
			to = own[rng.IntN(len(own))]
		} else if own := k.about[p.topic*k.cfg.Keywords+rng.IntN(k.cfg.Keywords)]; near < 0.6 && len(own) > 0 {
			to = own[rng.IntN(len(own))]
		}
		anchor := text(2)
		if of := k.pages[to]; rng.Float64() < of.strength*0.7 { // it says what it leads to
			anchor = k.word(of.topic, -1, 0) + " " + k.word(of.topic, of.keyword, rng.IntN(2))
		}
		fmt.Fprintf(&b, "<p>%s <a href=\"%s\">%s</a> %s</p>\n", text(12), k.URL(to, port), anchor, text(8))
	}
	return title, b.String()
}

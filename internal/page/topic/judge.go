package topic

import (
	"math"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"argosy/internal/crawl"
)

// Judge scores pages and short texts by a topic. It is safe for concurrent use.
type Judge struct {
	Topic *crawl.Topic

	ids   map[string]uint16 // of the stems of the topic, from 1
	alone []int16           // by id: the term of the word itself, -1 if there is none
	pairs map[[2]uint16]int16
	first [256]bool            // bytes with which words may begin that the topic has: no stemmer changes the first letter of a word that is in ASCII
	begin [1 << 14 / 64]uint64 // the same of the first two bytes, as bits, both in ASCII
	all   float64              // sum of the weights that are above 0
	short float64              // shortWeight

	glances []glance // how words begin that the topic may have, where that is few enough

	memo    []atomic.Uint64 // what words were looked up last: the hash without its last 16 bits, and the id
	readers sync.Pool
}

// memoSize is how many words a judge remembers: a power of two. Words repeat so much that few are stemmed.
const memoSize = 1 << 14

// NewJudge returns a judge of a topic.
func NewJudge(t *crawl.Topic) *Judge {
	j := &Judge{Topic: t, ids: map[string]uint16{}, pairs: map[[2]uint16]int16{}, memo: make([]atomic.Uint64, memoSize)}
	j.alone = append(j.alone, -1)
	for b := 0x80; b < len(j.first); b++ {
		j.first[b] = true
	}
	id := func(w string) uint16 {
		n, ok := j.ids[w]
		if !ok {
			n = uint16(len(j.alone))
			j.ids[w] = n
			if w != "" {
				j.first[w[0]] = true
				j.begins(w)
			}
			j.alone = append(j.alone, -1)
		}
		return n
	}
	for i := range t.Terms[:min(len(t.Terms), crawl.MaxTopicTerms)] {
		if t.Terms[i].Next == "" {
			j.alone[id(t.Terms[i].Word)] = int16(i)
		} else {
			j.pairs[[2]uint16{id(t.Terms[i].Word), id(t.Terms[i].Next)}] = int16(i)
		}
	}
	for i := range t.Terms {
		j.all += max(0, t.Terms[i].Weight)
	}
	j.short, j.glances = shortWeight(t), j.glancesOf()
	j.readers.New = func() any { return &reader{judge: j, of: make([]counts, len(t.Terms))} }
	return j
}

// Part is what a term of the topic adds to a page's sum.
type Part struct {
	Term    string  `json:"term"`
	Title   int     `json:"title,omitempty"` // how often it stands there
	Heading int     `json:"headings,omitempty"`
	Text    int     `json:"text,omitempty"`
	Link    int     `json:"links,omitempty"` // in the words of links
	Weight  float64 `json:"weight"`
	Adds    float64 `json:"adds"`
}

// Verdict is how a page was judged.
type Verdict struct {
	Score   float64 `json:"score"`
	OnTopic bool    `json:"on_topic"`
	Sum     float64 `json:"sum"`
	Cut     float64 `json:"cut"`
	Stuffed float64 `json:"stuffed,omitempty"` // what the sum was multiplied by, because a word stands there too often to be read
	Words   int     `json:"words"`             // of the main text
	Parts   []Part  `json:"parts,omitempty"`
}

// Page returns the score of a page in HTML, in UTF-8 or another charset whose first half is ASCII.
func (j *Judge) Page(html []byte) float64 {
	if !j.may(html) {
		return j.score(0)
	}
	r := j.reader()
	defer j.readers.Put(r)
	r.html(html)
	s, _ := r.sum(nil)
	return j.score(s)
}

// Explain judges a page in HTML, or a text, term by term.
func (j *Judge) Explain(b []byte, html bool) Verdict {
	r := j.reader()
	defer j.readers.Put(r)
	if html {
		r.html(b)
	} else {
		r.text(b, 0, len(b))
	}
	v := Verdict{Cut: j.Topic.Cut, Words: r.words()}
	v.Sum, v.Stuffed = r.sum(&v.Parts)
	v.Score = j.score(v.Sum)
	v.OnTopic = v.Score >= j.Topic.Threshold
	if v.Stuffed == 1 {
		v.Stuffed = 0
	}
	return v
}

// Text returns the score of a plain text.
func (j *Judge) Text(text []byte) float64 {
	r := j.reader()
	defer j.readers.Put(r)
	r.text(text, 0, len(text))
	s, _ := r.sum(nil)
	return j.score(s)
}

func (j *Judge) score(sum float64) float64 {
	return logistic(float64(j.Topic.Gain * (sum - j.Topic.Cut)))
}

// Short returns how much of the topic a few words name, from 0 to 1: the share of its weight that stands in them.
func (j *Judge) Short(texts ...string) float64 {
	r := j.reader()
	defer j.readers.Put(r)
	for _, t := range texts {
		r.short = append(r.short[:0], t...)
		r.text(r.short, 0, len(r.short))
		r.last = 0
	}
	if j.all == 0 || !r.found {
		return 0
	}
	has := 0.0
	for i := range j.Topic.Terms {
		if r.of[i].any() {
			has += max(0, j.Topic.Terms[i].Weight)
		}
	}
	return min(1, has/min(j.all, j.short))
}

// shortWeight is the weight that a few words can have at most: that of the five heaviest terms.
func shortWeight(t *crawl.Topic) float64 {
	var top [5]float64
	for i := range t.Terms {
		w := t.Terms[i].Weight
		for k := range top {
			if w > top[k] {
				w, top[k] = top[k], w
			}
		}
	}
	return max(1e-9, top[0]+top[1]+top[2]+top[3]+top[4])
}

func (j *Judge) reader() *reader {
	r := j.readers.Get().(*reader)
	if r.found {
		clear(r.of)
	}
	*r = reader{judge: j, of: r.of, short: r.short}
	return r
}

// passes goes past what stands between words at i, or past a word in ASCII that the topic cannot have; is reports whether it was a word. What it
// cannot judge it leaves where it is.
func (j *Judge) passes(b []byte, i int) (next int, is bool) {
	c := lower[b[i]]
	switch {
	case b[i] >= utf8.RuneSelf || c != 0 && j.first[c]:
		return i, false
	case c == 0:
		return i + 1, false
	}
	for next = i + 1; next < len(b) && lower[b[next]] != 0; next++ {
	}
	if next < len(b) && b[next] >= utf8.RuneSelf {
		return i, false // it may go on
	}
	return next, next-i <= maxWord
}

// id returns the number of a word's stem in the topic, 0 if the topic does not have it.
func (j *Judge) id(word []byte) uint16 {
	if len(word) == 0 || !j.first[word[0]] {
		return 0
	}
	h := hash(word) * 0x9e3779b97f4a7c15 // short words differ in few bits of FNV
	h ^= h >> 29
	slot := &j.memo[(h>>16)&(memoSize-1)]
	if was := slot.Load(); was != 0 && (was^h)>>16 == 0 {
		return uint16(was)
	}
	n := j.ids[stem(string(word), j.Topic.Language)]
	slot.Store(h&^0xffff | uint64(n))
	return n
}

// hash is FNV-1a.
func hash(b []byte) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, c := range b {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return h
}

// counts is how often a term stands in the parts of a page.
type counts struct{ title, heading, text, link, around uint32 }

func (c *counts) any() bool { return c.title+c.heading+c.text+c.link+c.around > 0 }

// Where words stand on a page.
const (
	inText = iota
	inTitle
	inHeading
	inLink
	inAround // navigation, heads and feet: they stand on every page of a site
)

// reader counts the words of one page.
type reader struct {
	judge *Judge
	of    []counts
	main  int    // words of the main text
	rest  int    // words of links and around it
	last  uint16 // the word before, by its id
	place int
	found bool // a term of the topic
	short []byte
	buf   [maxWord + 4]byte
}

// text takes in the words of b from i to end, which stand in one place.
func (r *reader) text(b []byte, i, end int) {
	for i < end {
		if n := r.block(b, i, end); n > 0 {
			i += n
			continue
		}
		if next, is := r.judge.passes(b[:end], i); next > i {
			if i = next; is {
				r.word(1)
				r.last = 0
			}
			continue
		}
		word, next := cut(b[:end], i, r.buf[:0])
		if i = next; len(word) == 0 {
			continue
		}
		r.word(1)
		r.take(word)
	}
}

// take takes in a word that the topic may have.
func (r *reader) take(word []byte) {
	id := r.judge.id(word)
	if id == 0 {
		r.last = 0
		return
	}
	if k := r.judge.alone[id]; k >= 0 {
		r.count(int(k))
	}
	if r.last != 0 {
		if k, ok := r.judge.pairs[[2]uint16{r.last, id}]; ok {
			r.count(int(k))
		}
	}
	r.last = id
}

// word counts so many words, whatever they are.
func (r *reader) word(n int) {
	switch r.place {
	case inText:
		r.main += n
	case inLink, inAround:
		r.rest += n
	}
}

func (r *reader) count(k int) {
	r.found = true
	c := &r.of[k]
	switch r.place {
	case inText:
		c.text++
	case inTitle:
		c.title++
	case inHeading:
		c.heading++
	case inLink:
		c.link++
	case inAround:
		c.around++
	}
}

// How much a word counts by where it stands, and how often at most; and BM25's parameters. A word of the title is worth three
// of the text: what a page calls itself it is, more often than not.
const (
	titleWorth, mostTitle     = 3.0, 1
	headingWorth, mostHeading = 1.5, 3
	linkWorth                 = 0.2
	aroundWorth               = 0.5 // where there is hardly a main text
	saturation                = 2.0
	lengthShare               = 0.6
	usualLength               = 500.0
)

// Of a page's words one word is this share at most, with so many to begin with; beyond, the page is written for machines.
const (
	plausibleShare = 0.10
	plausibleFirst = 5
)

// What a page calls itself, and what its links say, are claims that its main text bears out: each word of the topic that stands there lets claims
// of it count for claimEach more. Those that the text does not bear out count for claimAlone of what makes half of a term's weight, which is less
// than the topic's cut, and besides, as long as a text is too short to say much, for a title and a heading.
const (
	claimEach  = 2.0
	claimAlone = 0.5
	claimShort = titleWorth + headingWorth
	claimWords = 60.0
)

// words is how many words the main text has.
func (r *reader) words() int {
	if r.bare() {
		return r.main + r.rest
	}
	return r.main
}

// bare reports whether a page has hardly a main text: then what stands around it counts too.
func (r *reader) bare() bool { return r.main < 30 && r.rest > 2*r.main }

// sum returns the weighted sum over the topic's terms, and what it was multiplied by because a word stands there too often.
// parts takes what each of them adds, if it is not nil.
func (r *reader) sum(parts *[]Part) (s, stuffed float64) {
	length := float64(r.words())
	half := saturation * (1 - lengthShare + lengthShare*min(8, length/usualLength))
	loud, links, around, bare := 1.0, linkWorth, 0.0, r.bare()
	if bare {
		links, around = aroundWorth, aroundWorth
	}
	unsaid := claimAlone*half + claimShort*(1-min(1, float64(r.main)/claimWords))
	for i := range r.of {
		c := &r.of[i]
		if !c.any() {
			continue
		}
		claims := titleWorth*float64(min(c.title, mostTitle)) + headingWorth*float64(min(c.heading, mostHeading)) + links*float64(c.link) + around*float64(c.around)
		all := float64(c.text + c.link + c.heading)
		if bare {
			all += float64(c.around)
		} else {
			claims = min(claims, unsaid+claimEach*float64(c.text))
		}
		tf := claims + float64(c.text)
		if most := plausibleFirst + plausibleShare*(float64(r.main+r.rest)); all > most {
			loud = min(loud, most/all)
		}
		t := &r.judge.Topic.Terms[i]
		x := float64(t.Weight * (tf / (tf + half)))
		s += x
		if parts != nil {
			name := t.Word
			if t.Next != "" {
				name += " " + t.Next
			}
			*parts = append(*parts, Part{name, int(c.title), int(c.heading), int(c.text), int(c.link), t.Weight, x})
		}
	}
	loud = math.Min(1, float64(loud*loud))
	if s > 0 {
		s = float64(s * loud)
	}
	return s, loud
}

package topic

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Evidence is what is known of a URL before it is fetched.
type Evidence struct {
	URL    string
	Anchor string  // words of the link
	Around string  // words around it
	Page   float64 // score of the page that names it: the best, of several
	Named  int     // pages on the topic that name it
	Off    int     // pages in a row on the way to it that are not on the topic
	Seed   bool
	Rate   float64 // share of its site's pages that are on the topic, as far as it is known
	Known  int     // pages by which that is known
}

// Links scores URLs by what links say of them. At first that is fixed: how much of the topic anchor, words around and URL name,
// how much the naming page is on it, how the site did. With every page that is fetched it learns: a logistic regression over
// these, and over words and folders, by their hashes (Weinberger et al., ICML 2009), with a rate for each weight
// (AdaGrad: Duchi, Hazan and Singer, JMLR 12, 2011). Scores are chances that a page is on the topic; not safe for concurrent use.
type Links struct {
	judge   *Judge
	fuzzy   bool // rules are those of Fuzzy
	weights []float32
	squares []float32 // sums of squared gradients
	seen    int64     // pages that it has learned from
	right   int64     // of them, on the topic
	rules   rulesWord
	feats   []feature
	names   []string // of them, where somebody wants to know
	text    []byte   // of the words that are looked at
	hashes  []uint64 // of them
}

// linkSlots is how many weights there are, a power of two.
const linkSlots = 1 << 14

type feature struct {
	slot uint32
	x    float32
}

// NewLinks returns a model that has learned nothing.
func NewLinks(j *Judge) *Links { return &Links{judge: j} }

// ByFuzzyRules has links judged by fuzzy rules instead of the fixed ones.
func (m *Links) ByFuzzyRules() { m.fuzzy = true }

// Seen returns how many pages the model has learned from.
func (m *Links) Seen() int64 { return m.seen }

// Signs are what a link says for itself: what is costly to read of its words, and stays as it is while they do.
type Signs struct {
	anchor, around, address float64   // how much of the topic stands there
	words                   []feature // of them, and the folders of the URL
}

// Read reads the signs of a link. They hold for all models of a topic; learned false leaves out what only those need that have learned.
func (m *Links) Read(e *Evidence, learned bool) Signs {
	s := Signs{anchor: m.judge.Short(e.Anchor), address: m.judge.Short(plainURL(e.URL))}
	if e.Around != "" {
		s.around = m.judge.Short(e.Around)
	}
	if learned {
		m.feats = m.feats[:0]
		m.said(e, false)
		s.words = slices.Clone(m.feats)
	}
	return s
}

// fixed is what links say by rules, before anything is learned: independent signs, each of which may be enough.
func (m *Links) fixed(s *Signs, page float64) (p float64, parts [4]float64) {
	parts = [4]float64{0.75 * s.anchor * s.anchor, 0.30 * s.around * s.around, 0.45 * s.address * s.address, 0.45 * page}
	if m.fuzzy {
		return min(0.97, max(0.003, Fuzzy(s.anchor, s.around, s.address, page))), parts
	}
	miss := 1.0
	for _, x := range parts {
		miss = float64(miss * (1 - x))
	}
	return min(0.97, max(0.003, 1-miss)), parts
}

// plainURL is the part of a URL that has words: path and query, without signs and endings.
func plainURL(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			return rest[i:]
		}
	}
	return ""
}

// Score returns the score of a URL: the chance that its page is on the topic. learned false leaves out what was learned.
func (m *Links) Score(e *Evidence, learned bool) float64 {
	s := m.Read(e, learned && m.weights != nil)
	return m.ScoreBy(&s, e, learned)
}

// ScoreBy is Score with signs that were read before.
func (m *Links) ScoreBy(s *Signs, e *Evidence, learned bool) float64 {
	p, _ := m.fixed(s, e.Page)
	if !learned || m.weights == nil {
		return round(siteWise(p, e))
	}
	m.first(e, p)
	z := m.sum(m.sum(0, m.feats), s.words)
	m.feats = m.feats[:0]
	m.last(e, false)
	return round(blend(sigmoid(m.sum(z, m.feats)), siteWise(float64(p*m.rules.kept(p)), e)))
}

// blend puts what was learned and the rules together. What was learned alone keeps to what it has seen lead somewhere, and passes by what
// the rules would have found elsewhere.
func blend(learned, rules float64) float64 {
	return float64((1-rulesShare)*learned) + float64(rulesShare*rules)
}

const rulesShare = 0.5

// siteWise moves a fixed score by how the site did: a site of which nothing is known is worth a look.
func siteWise(p float64, e *Evidence) float64 {
	if e.Known == 0 {
		return p
	}
	trust := float64(e.Known) / (float64(e.Known) + 20)
	return float64(p*(1-0.3*trust)) + float64(0.3*trust*e.Rate)
}

// sum adds to z what features are worth. Sums depend on the order, which is always the same.
func (m *Links) sum(z float64, feats []feature) float64 {
	for _, f := range feats {
		z += float64(float64(m.weights[f.slot]) * float64(f.x))
	}
	return z
}

// features lists what a link has: its score by rules counts from the start, by a weight of 1, and how many pages on the topic name it.
func (m *Links) features(s *Signs, e *Evidence, fixed float64) {
	m.first(e, fixed)
	m.feats = append(m.feats, s.words...)
	m.last(e, false)
}

// named lists the same, with names.
func (m *Links) named(e *Evidence, fixed float64) {
	m.first(e, fixed)
	m.names = append(m.names[:0], "rules", "base", "named")
	m.said(e, true)
	m.last(e, true)
}

func (m *Links) first(e *Evidence, fixed float64) {
	z := math.Log(fixed / (1 - fixed))
	m.feats = append(m.feats[:0], feature{0, float32(round(z))}, feature{1, 1}, feature{2, float32(round(math.Log2(float64(max(1, e.Named)))))})
}

// said adds what the words of a link say, and where its URL is.
func (m *Links) said(e *Evidence, named bool) {
	m.words(&kinds.anchor, e.Anchor, 10, 1.2, named)
	m.words(&kinds.around, e.Around, 24, 0.6, named)
	m.words(&kinds.path, plainURL(e.URL), 12, 1, named)
	m.folders(e.URL, named)
}

// last adds what changes while a URL waits, and what is the same for many.
func (m *Links) last(e *Evidence, named bool) {
	m.add(&kinds.page, digits[min(9, int(e.Page*10))], 0.7, named)
	m.add(&kinds.off, digits[min(9, e.Off)], 0.5, named)
	if e.Anchor == "" {
		m.add(&kinds.none, "", 0.5, named)
	}
	if e.Known > 0 {
		trust := float64(e.Known) / (float64(e.Known) + 10)
		m.add(&kinds.site, "", float64(trust*(e.Rate-0.3)), named)
	}
}

// kind is a kind of features, with the hash of its name.
type kind struct {
	name string
	hash uint64
}

var kinds = struct{ anchor, around, path, folder, page, off, none, site kind }{
	kindOf("anchor"), kindOf("around"), kindOf("path"), kindOf("folder"), kindOf("page"), kindOf("off"), kindOf("no anchor"), kindOf("site"),
}

func kindOf(name string) kind { return kind{name, hash([]byte(name))} }

var digits = [10]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}

// add adds a feature.
func (m *Links) add(k *kind, word string, x float64, named bool) {
	m.put(hashOn(k.hash, word), x)
	if named {
		m.name(k, word)
	}
}

// put adds a feature by its hash.
func (m *Links) put(h uint64, x float64) {
	m.feats = append(m.feats, feature{3 + uint32((h*0x9e3779b97f4a7c15)>>40)%(linkSlots-3), float32(x)})
}

// name names the last feature.
func (m *Links) name(k *kind, word string) {
	name := k.name
	if word != "" {
		name += " " + word
	}
	m.names = append(m.names, name)
}

// hashOn is FNV-1a, from where another hash has ended.
func hashOn[T string | []byte](h uint64, b T) uint64 {
	for i := range len(b) {
		h = (h ^ uint64(b[i])) * 0x100000001b3
	}
	return h
}

// words adds the first words of a text, all of them worth so much together.
func (m *Links) words(k *kind, text string, most int, worth float64, named bool) {
	if text == "" {
		return
	}
	m.text, m.hashes = append(m.text[:0], text...), m.hashes[:0]
	var names []string
	var buf [maxWord + utf8.UTFMax]byte
	for i := 0; i < len(m.text) && len(m.hashes) < most; {
		word, next := cut(m.text, i, buf[:0])
		if i = next; len(word) == 0 {
			continue
		}
		word = digitless(word)
		m.hashes = append(m.hashes, hashOn(k.hash, word))
		if named {
			names = append(names, string(word))
		}
	}
	if len(m.hashes) == 0 {
		return
	}
	x := worth / math.Sqrt(float64(len(m.hashes)))
	for i, h := range m.hashes {
		if m.put(h, x); named {
			m.name(k, names[i])
		}
	}
}

// digitless is a word without regard to what its digits are: numbers of a series are one word.
func digitless(w []byte) []byte {
	out := w[:0]
	for i, c := range w {
		if c >= '0' && c <= '9' {
			c = '#'
			if i > 0 && len(out) > 0 && out[len(out)-1] == '#' {
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

// folders are the site, and the first folders of a URL on it.
func (m *Links) folders(url string, named bool) {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return
	}
	rest, _, _ = strings.Cut(rest, "?")
	h := kinds.folder.hash
	for depth, i := 0, 0; depth < 4; depth++ {
		j := strings.IndexByte(rest[i:], '/')
		if j < 0 {
			return
		}
		h = hashOn(h, rest[i:i+j+1])
		i += j + 1
		if m.put(h, 0.8); named {
			m.name(&kinds.folder, rest[:i])
		}
	}
}

// Learn takes in how a page turned out that the evidence was about: on is 1 if it is on the topic, else 0; what lies between is a
// page that is as much on it.
func (m *Links) Learn(e *Evidence, on float64) {
	if m.weights == nil {
		m.weights, m.squares = make([]float32, linkSlots), make([]float32, linkSlots)
		m.weights[0], m.weights[2] = 1, namedWorth
	}
	s := m.Read(e, true)
	p, _ := m.fixed(&s, e.Page)
	m.features(&s, e, p)
	g := sigmoid(m.sum(0, m.feats)) - on
	for i := range m.feats {
		f := &m.feats[i]
		d := float32(g) * f.x
		m.squares[f.slot] += float32(d * d)
		step := learnRate / (1 + math.Sqrt(float64(m.squares[f.slot])))
		m.weights[f.slot] -= float32(step * float64(d))
	}
	m.rules.learn(p, on)
	m.seen++
	if on >= 0.5 {
		m.right++
	}
}

// namedWorth is what each doubling of the pages on the topic that name a URL adds to its score before anything is learned.
const namedWorth = 1

const learnRate = 0.15

// sigmoid is the logistic curve, in steps that are the same on every machine.
func sigmoid(z float64) float64 {
	const most = 12
	i := int((max(-most, min(most, z)) + most) * 128)
	return sigmoids[i]
}

var sigmoids = func() (t [24*128 + 1]float64) {
	for i := range t {
		t[i] = math.Round(1e6/(1+math.Exp(-(float64(i)/128-12)))) / 1e6
	}
	return t
}()

// Term is what a sign adds to a link's score, in units of the logistic curve.
type Term struct {
	Sign string  `json:"sign"`
	Adds float64 `json:"adds"`
}

// LinkVerdict is how a link was judged.
type LinkVerdict struct {
	Score  float64            `json:"score"`
	Rules  float64            `json:"rules"` // the score by rules alone
	Signs  map[string]float64 `json:"signs"` // what the rules see: anchor, around, url, page
	Learn  []Term             `json:"learned,omitempty"`
	Kept   float64            `json:"kept"` // what the rules count for in the score: less than 1 where links that promised as much led nowhere
	Pages  int64              `json:"learned_from"`
	Topics int64              `json:"of_them_on_topic"`
}

// Explain judges a link, sign by sign.
func (m *Links) Explain(e *Evidence, learned bool) LinkVerdict {
	s := m.Read(e, true)
	p, parts := m.fixed(&s, e.Page)
	v := LinkVerdict{
		Score: m.ScoreBy(&s, e, learned), Rules: round(siteWise(p, e)), Pages: m.seen, Topics: m.right,
		Signs: map[string]float64{"anchor": round(parts[0]), "around": round(parts[1]), "url": round(parts[2]), "page": round(parts[3])}, Kept: 1,
	}
	if !learned || m.weights == nil {
		return v
	}
	v.Kept = round(m.rules.kept(p))
	m.named(e, p)
	at := map[string]int{} // a word may stand there several times
	for i, f := range m.feats {
		w := m.weights[f.slot]
		if w == 0 {
			continue
		}
		k, was := at[m.names[i]]
		if !was {
			k, at[m.names[i]] = len(v.Learn), len(v.Learn)
			v.Learn = append(v.Learn, Term{Sign: m.names[i]})
		}
		v.Learn[k].Adds = round(v.Learn[k].Adds + float64(w*f.x))
	}
	return v
}

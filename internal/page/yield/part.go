package yield

import (
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// When a part of URLs is known to make no difference: so many pairs that differ in it only gave the same text, of so many
// different URLs, and at most one in agreeOne did not.
const (
	agreeOpaque, urlsOpaque = 6, 2 // where the values look random
	urlsAlike               = 8    // where texts are nearly the same only: a thing has a few views, which may say as little of any
	agreeOther, urlsOther   = 24, 4
	agreeOrder, urlsOrder   = 12, 3
	agreeNamed              = 2     // where a part of this name is known to make none in another template
	agreeNumber, urlsNumber = 64, 3 // where they are numbers, which may name different things that say the same,
	numberOne               = 64    // and so rare must exceptions be: one place in forty has something to offer
	numberShare             = 4     // one value in so many is a number: of six hexadecimal digits one in 17 has no letter
	agreeOne                = 16
	thingsFrom              = 8      // so many pages of other templates differ in a part that says what they are of,
	thingsAlike             = 4      // unless one pair in so many here was nearly the same
	agreeAlias, urlsAlias   = 24, 12 // for directories, whose pages may well be others,
	aliasNamed              = 4      // where they make none in another template,
	aliasOne                = 64     // and so rare must exceptions be
	repeatsEvery            = 64     // answers that have one of a few values, for each of these: it is no visit
	manyValues              = 10     // a part with so many may be random, whatever they look like
	agreeMany, urlsMany     = 12, 3
	likelyExtra             = 4 // pairs after which a parameter may make none

	minAlike     = 4 // phrases: texts of fewer say too little of what they have in common
	sketchBins   = 15
	alike        = 10 // bins in common: two thirds, a text of which a quotation differs
	unlike       = 7  // fewer: less than a half
	combinedBins = 3  // bins that are not: pages of the same phrases are combinations of them
	nearNamed    = 8  // answers that are nearly the page without a parameter, where all templates together have enough
	nearer       = 3  // bins more than with another rest; a binomial's standard deviation is at most 2
	wordedOne    = 8  // one of so many alike texts, or more, differs in words: that of a page with other words around it

	// What is kept under a rest besides its text: under keys that no other rest has. Seeds that differ by one will not do: what a number changes
	// that differs by one is the same.
	likeSeed  = 0xd1342543de82ef95
	valueSeed = 0x2545f4914f6cdd1d
	shownSeed = 0x9fb21c651e98df25

	maxGuesses    = 2048
	maxCandidates = 8
)

// Kinds of parts.
const (
	partInner  = 'p' // a parameter of a segment
	partParam  = 'q' // of the query
	partDir    = 's' // a segment
	partRandom = 'o' // everything that looks random
	partDrawn  = 'h' // of the query, and long numbers, too: an id and a token of a visitor
	partOrder  = 'r' // the order of parameters, and that one is there twice
	partItems  = 'i' // the order of items in a value or a segment: a,b
	partFirst  = 'f' // all but the first of the parameters of one name, and the order of names
	partLast   = 'l' // all but the last
	partNone   = 'n' // that a parameter is not there, which makes no difference elsewhere,
	partNoDir  = 'm' // or segments
	partExtra  = 'x' // that a parameter is there, or with no name that any is: the page without it is the same
	partAlias  = 'a' // that directories of a name are there, likewise: an archive that lies within itself
	partSlash  = 'e' // how many slashes stand between segments
	partToken  = 't' // what looks random in a segment that says something else, too
	partLead   = 'd' // of a path that repeats names: what stands between the first segment and the last
	partCase   = 'c' // the case of a path's letters,
	partNames  = 'k' // of names of parameters,
	partValues = 'v' // and of their values
	partAgain  = 'u' // how often something is encoded
	partSlug   = 'w' // words beside the number that says what it is of: 123-any-words

	partSettings = 'y' // the values of all parameters but the one of its name
	partPlace    = 'z' // names in one place of a path
	partSteps    = 'b' // the order of names in a path
)

// Part is a part of the URLs of a template.
type Part struct {
	Kind     byte   `cbor:"1,keyasint"`
	Name     string `cbor:"2,keyasint,omitempty"`
	Seg      int    `cbor:"3,keyasint,omitempty"`
	Template uint32 `cbor:"4,keyasint"`
}

// String says which part it is.
func (p Part) String() string {
	switch p.Kind {
	case partInner:
		return "the parameter ;" + p.Name
	case partExtra:
		if p.Name == "" {
			return "all parameters"
		}
		return "the parameter " + p.Name
	case partParam:
		return "the parameter " + p.Name
	case partAlias:
		return "whether the path has " + p.Name + "/ in it"
	case partDir:
		return "the part of the path after /" + p.Name
	case partNone:
		return "whether there is a parameter " + p.Name
	case partNoDir:
		return "whether the path has " + p.Name + " in it"
	case partRandom:
		return "what looks random"
	case partSlash:
		return "how many slashes stand beside each other"
	case partDrawn:
		return "the parameters that look random or are long numbers"
	case partToken:
		return "what looks random in a name"
	case partLead:
		return "what stands before the last part of the path"
	case partCase:
		return "the case of letters in the path"
	case partNames:
		return "the case of letters in names of parameters"
	case partValues:
		return "the case of letters in values of parameters"
	case partAgain:
		return "how often something is encoded"
	case partSlug:
		return "the words beside a number"
	case partSettings:
		return p.but()
	case partPlace:
		return "the name behind " + p.Name
	case partSteps:
		return "the order of names in the path"
	}
	if p.Kind == partItems {
		return "the order of what is listed"
	}
	return "the order of parameters"
}

// orders reports whether a part is an order of any kind.
func (p Part) orders() bool { return p.sort() || p.Kind == partItems || p.Kind == partSteps }

func (p Part) sort() bool { return p.Kind == partOrder || p.Kind == partFirst || p.Kind == partLast }

// writes reports whether a part is how a path is written, so that most URLs have it.
func (p Part) writes() bool { return p.letters() || p.Kind == partSlug }

// letters reports whether a part is the case of letters, or how often they are encoded.
func (p Part) letters() bool {
	return p.Kind == partCase || p.Kind == partNames || p.Kind == partValues || p.Kind == partAgain
}

// named is the part's name in all templates.
func (p Part) named() uint64 {
	return xxh3.HashStringSeed(p.Name, uint64(p.Kind)<<8|uint64(p.Seg))
}

func (p Part) hash() uint64 { return p.named() ^ uint64(p.Template)*0x9e3779b97f4a7c15 }

// guess is a part that may make no difference.
type guess struct {
	Part   Part   `cbor:"1,keyasint"`
	Agree  int64  `cbor:"2,keyasint,omitempty"` // pairs that gave the same text
	URLs   int64  `cbor:"3,keyasint,omitempty"` // of so many different ones
	Differ int64  `cbor:"4,keyasint,omitempty"`
	Plain  int64  `cbor:"5,keyasint,omitempty"`  // answers whose value does not look random
	Values int64  `cbor:"7,keyasint,omitempty"`  // different ones that it had; of settings, answers
	Series int64  `cbor:"21,keyasint,omitempty"` // of these, numbers, or names that differ in their numbers
	Number bool   `cbor:"12,keyasint,omitempty"` // so many are numbers that it may be a series: texts that differ in numbers may be of different things
	Stem   uint64 `cbor:"13,keyasint,omitempty"` // of the value that came last,
	Last   uint64 `cbor:"16,keyasint,omitempty"` // and that value: it may be forgotten among the rests
	Random bool   `cbor:"8,keyasint,omitempty"`  // it has so many values that they may be random

	Alike     int64  `cbor:"9,keyasint,omitempty"` // pairs that gave nearly the same text, nearer to each other than to that of another rest
	AlikeURLs int64  `cbor:"10,keyasint,omitempty"`
	Worded    int64  `cbor:"17,keyasint,omitempty"` // of Alike, those that differ in words, not in numbers only
	Unlike    int64  `cbor:"11,keyasint,omitempty"`
	Vague     int64  `cbor:"23,keyasint,omitempty"` // that are not much nearer to each other than to that of another rest: each may say something else
	Other     uint64 `cbor:"14,keyasint,omitempty"` // sketch of the last text,
	OtherRest uint64 `cbor:"15,keyasint,omitempty"` // and of which rest it was
	Group     uint32 `cbor:"6,keyasint,omitempty"`  // that stands for it; 0 until it is known to make no difference
	Was       bool   `cbor:"18,keyasint,omitempty"` // it was known to make none, which may have been wrong

	With int64 `cbor:"19,keyasint,omitempty"` // pages whose links have such a part,
	On   int64 `cbor:"20,keyasint,omitempty"` // and those of which one has the value of the page's own

	Vouches vouches `cbor:"22,keyasint,omitempty"` // of its values, if these are words

	dirty bool
}

// compare holds an answer against those whose URLs differ in one part only. It reports whether its URL differs from one that
// was answered in parts that are known to make no difference.
func (m *Model) compare(t *Template, a *Answer) (spelled bool, event Event) {
	if !a.Page || a.Moved || a.Missing || a.Host {
		return false, Nothing
	}
	p := &m.pieces // of this URL: Take has split it
	uri := m.strip(0, p, nil)
	rest := uri
	if len(m.learned[t.ID]) > 0 {
		rest = m.strip(t.ID, p, nil)
		spelled = rest != uri && slices.ContainsFunc(m.learned[t.ID], func(g *guess) bool {
			return m.has(xxh3.HashStringSeed(rest, g.Part.pairs()), g.Part)
		})
	}
	raw, known := xxh3.HashString(uri), xxh3.HashString(rest)
	parts := candidates(t.ID, p, !t.bag(), m.grows(p))
	if t.bag() {
		parts = append(parts, m.drawnDirs(t.ID, p)...)
	}
	for _, part := range parts {
		at := part.hash()
		if part.random(p) || m.named[part.named()] > 0 || part.Kind == partParam || part.Kind == partInner {
			t.All = true
		}
		g := m.guessOf(part)
		if g == nil {
			continue
		}
		g.dirty, m.changed = true, true
		was := *g
		g.Random = g.Random || m.many(g, p)
		if !part.random(p) {
			g.Plain++
		}
		rest := m.strip(t.ID, p, &part)
		whole := known // a pair differs in this part, not only in those that are known to make no difference
		if g.Group != 0 {
			whole = raw
		}
		same, pair, first := m.rests.pair(xxh3.HashStringSeed(rest, at), a.Text, whole)
		if part.letters() && !pair {
			same, pair = m.plain(p, part, a.Text)
			first = same
		}
		switch {
		case part.Kind == partSlug && m.rests.shared(a.Text, at, rest):
		case pair:
			g.pair(same && !(g.Number && a.Found > a.Same), first) // of a series, if it names what was not there
			m.vouch(g, part.worded(p), same)
		}
		if len(a.Sample) >= minAlike && !part.orders() {
			m.alike(g, &m.rests, xxh3.HashStringSeed(rest, at^likeSeed), a.Sample, pair)
		}
		if part.writes() && max(g.Agree, g.Alike) > 1 && !g.wrong() {
			t.All = true // pairs are seen only where both were marked
		}
		if part.everywhere() {
			m.everywhere(g, &was)
		}
		m.paired(g, &was)
		event = max(event, m.weigh(g))
	}
	return spelled, max(event, m.settings(t, p, a, raw), m.places(t, p, a, raw), m.stepped(t, p, a), m.without(t, p, a), m.extra(t, p, a, uri))
}

// pair counts a pair that gave the same text, or did not; first says that it is the first one of its URL.
func (g *guess) pair(same, first bool) {
	switch {
	case same && first:
		g.Agree, g.URLs = g.Agree+1, g.URLs+1
	case same:
		g.Agree++
	default:
		g.Differ++
	}
}

// many counts the different values of a part; it reports whether they are so many that they may be random.
func (m *Model) many(g *guess, p *pieces) bool {
	value, ok := g.Part.value(p)
	if !ok {
		return false
	}
	at := xxh3.HashStringSeed(value, g.Part.hash()^valueSeed)
	if at != g.Last && !m.rests.has(at) {
		m.rests.add(at, 0)
		g.Last = at
		stem := stem(value)
		series := classify(value) == number || titled(value) || stem != 0 && stem == g.Stem && !moment(value)
		g.counts(series && g.Part.Kind != partLead && g.Part.Kind != partDrawn) // what stands before a path's end is not a number of a series, though it has some
		g.Stem = stem
	}
	return g.Values >= manyValues
}

// counts takes in a value, which may be one of a series.
func (g *guess) counts(series bool) {
	if g.Number && g.Series == 0 {
		g.Series = g.Values // it was learned when one number was enough
	}
	if g.Values++; series {
		g.Series++
	}
	g.Number = g.Series*numberShare >= g.Values && g.Series > 0
}

// stem is a mark of a value without its digits, 0 if it has none: values of a series (3.html, 4.html) have one stem, those of an
// id hardly ever.
func stem(value string) uint64 {
	letters := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, value)
	if len(letters) == len(value) {
		return 0
	}
	return xxh3.HashString(letters) | 1
}

// random reports whether the value of a part looks random.
func (p Part) random(u *pieces) bool {
	switch p.Kind {
	case partInner:
		return slices.ContainsFunc(u.inner, func(q innerParam) bool { return q.name == p.Name && classify(q.value) == opaque })
	case partParam:
		return slices.ContainsFunc(u.params, func(q param) bool { return q.name == p.Name && classify(q.value) == opaque })
	case partDir:
		return p.Seg < len(u.segs) && classify(u.segs[p.Seg]) == opaque
	}
	return p.Kind == partRandom || p.Kind == partDrawn || p.Kind == partToken || p.Kind == partNone || p.Kind == partNoDir
}

// weigh decides whether a part makes no difference.
func (m *Model) weigh(g *guess) Event {
	if g.Group != 0 {
		if group := m.groups[g.Group]; m.wrong(g) {
			g.Group = 0
			m.named[g.Part.named()]--
			m.choosing = nil
			switch g.Part.Kind {
			case partSteps:
				m.permuted[xxh3.HashString(g.Part.Name)]--
			case partLead:
				m.ended, m.shifts = m.ended-1, m.shifts+1
			}
			m.learned[g.Part.Template] = slices.DeleteFunc(m.learned[g.Part.Template], func(o *guess) bool { return o == g })
			if m.sharing(g.Part, group.ID) == 0 {
				group.Cut, group.dirty = false, true
				m.cuts--
			}
			return Lifted
		}
		return Nothing
	}
	elsewhere := m.named[g.Part.named()]
	if all := m.guesses[g.Part.anywhere().hash()]; elsewhere == 0 && (g.Part.everywhere() || g.Part.Kind == partAlias) && all != nil && all.proven(0) {
		elsewhere = 1
	}
	if elsewhere == 0 && g.Part.Kind == partExtra && g.extra(true) && m.extraAnywhere(g.Part) {
		elsewhere = 1
	}
	if elsewhere == 0 && m.sessions(g.Part) {
		elsewhere = 1
	}
	if g.Part.Kind == partDrawn && !m.drawnAnew(g.Part) {
		return Nothing // numbers of things may be long as well
	}
	if !g.proven(elsewhere) || m.wrong(g) || m.ofThings(g) && !g.certain() {
		return Nothing
	}
	if g.Group = m.sharing(g.Part, 0); g.Group == 0 {
		group := m.newGroup()
		part := g.Part
		group.Part, group.Cut, group.Next, group.Strangers = &part, true, m.Answers+firstTrial, strangers
		g.Group = group.ID
		m.cuts++
	}
	m.learn(g)
	if t := m.byID[g.Part.Template]; t != nil && !g.Was && g.Part.Kind != partItems && g.Part.Kind != partSteps { // what is learned for the second time explains nothing more, nor does an order which sets there are
		m.giveBack(t)
	}
	g.Was = true
	m.alsoLearn(g)
	return Learned
}

// ofThings reports whether a part that looks random says in other templates what a page is of: a question's own page says something else than that of
// another one, though most have no comments yet, which is what all of those say.
func (m *Model) ofThings(g *guess) bool {
	all := m.handed[g.Part.named()]
	if all == nil || g.Part.Kind != partDir && g.Part.Kind != partParam || g.Alike*thingsAlike >= g.Agree {
		return false // or what is nearly the same has shown it: texts that tell the time differ everywhere
	}
	differ := all.differ - g.Differ
	return differ >= thingsFrom && differ > all.agree-g.Agree+all.alike-g.Alike
}

// certain reports whether so many pairs gave the same text, and so few did not, that a part makes no difference even if it says elsewhere what a page is
// of.
func (g *guess) certain() bool { return g.Agree >= agreeNumber && g.Differ*numberOne <= g.Agree }

// says reports whether a part is a parameter of a few words, which may say something to one page in ten: a language, a state of a law.
func (g *guess) says() bool {
	return g.Plain > 0 && (g.Part.Kind == partExtra && g.Part.Name != "" || g.Part.Kind == partParam && !g.Random)
}

// likeness is how many pairs must have given the same text for each that did not.
func (g *guess) likeness() int64 {
	if g.says() {
		return numberOne
	}
	return agreeOne
}

// sharing returns the group of another template's part that is the same directory, or makes no difference in all templates, of this number if that
// is not 0; 0 if there is none. What lies within itself is one trap, and so is what is written in any case, or in any order.
func (m *Model) sharing(p Part, group uint32) uint32 {
	if p.Kind != partAlias && !p.everywhere() {
		return 0
	}
	for _, o := range m.allLearned() {
		if o.Part.named() == p.named() && o.Part.Template != p.Template && (group == 0 || o.Group == group) {
			return o.Group
		}
	}
	return 0
}

// wrong reports whether a part that was known to make no difference does make one.
func (g *guess) wrong() bool {
	if g.Part.Kind == partPlace {
		return g.Differ*placeDiffer > g.Agree
	}
	if g.Part.Kind == partAlias {
		return g.Differ*aliasOne > g.Agree
	}
	if g.Part.Kind == partExtra { // what is nearly the same does not differ: see resembles
		return g.Differ*g.likeness() > max(g.Agree, g.Alike)
	}
	if g.Number && !g.Part.orders() {
		return g.Differ*numberOne > g.Agree
	}
	return g.Differ*g.likeness() > g.Agree && (g.Part.orders() || g.Unlike*agreeOne > g.Alike)
}

// giveBack takes what a template's answers have added off the sum of its group, and gives it a group of its own: a part of
// its URLs that was learned explains them. A group that was cut for them goes on.
func (m *Model) giveBack(t *Template) {
	g := m.groups[t.Group]
	if t.New == 0 {
		return // it has nothing to lose
	}
	g.Sum = max(0, g.Sum-t.Cost)
	if g.Cut && g.Sum < g.limit()/2 {
		sum := g.Sum
		m.lift(g, newPays)
		g.Sum = sum
	}
	t.Dry, t.Known, t.Faint, t.Barren, t.Varied, t.Cost = 0, 0, 0, 0, 0, 0
	m.touch(t, g)
	if g.Cut || g.Members > 1 {
		m.touch(t, m.alone(t, newPays))
	}
}

// alsoLearn weighs the parts of other templates that have the same name as one that was learned: they need fewer pairs now,
// and a template that is cut would get no more.
func (m *Model) alsoLearn(g *guess) {
	var same []*guess
	for _, o := range m.guesses {
		if o.Group == 0 && o.Part.Template > 0 && o.Part.named() == g.Part.named() && o.proven(m.named[g.Part.named()]) {
			same = append(same, o)
		}
	}
	slices.SortFunc(same, func(x, y *guess) int { return int(x.Part.Template) - int(y.Part.Template) })
	for _, o := range same {
		if o.Group == 0 {
			m.weigh(o)
			o.dirty = true
		}
	}
}

// proven reports whether a part makes no difference, where one of its name makes none in so many other templates.
func (g *guess) proven(elsewhere int) bool {
	if g.wrong() {
		return false
	}
	named := elsewhere > 0
	alike := g.Alike
	if g.Vague > g.Alike || g.Number || g.Part.Kind == partExtra || g.repeats() {
		alike = 0
	}
	enough := func(agree, urls, differ, min, minURLs int64) bool {
		return agree >= min && urls >= minURLs && differ*g.likeness() <= agree
	}
	looks := g.Agree+g.Differ+g.Alike > 0 && g.Plain == 0
	switch {
	case g.Part.Kind == partPlace:
		return g.noPlace(elsewhere)
	case g.Part.Kind == partExtra && g.extra(named):
		return true
	case g.says() && g.Part.Kind == partExtra && named: // for each word that is its value
		return enough(g.Agree, g.URLs, g.Differ, agreeMany, urlsMany)
	case g.Part.Kind == partAlias && g.Differ*aliasOne > g.Agree:
		return false
	case g.Part.Kind == partAlias && named:
		return enough(g.Agree, g.URLs, g.Differ, max(1, aliasNamed/int64(elsewhere)), 1)
	case g.Part.Kind == partAlias:
		return enough(g.Agree, g.URLs, g.Differ, agreeAlias, urlsAlias)
	case g.Part.Kind == partSteps && named:
		return true
	case g.Part.Kind == partSettings && named && max(g.Agree, alike) > 0:
		return true
	case g.Part.everywhere() && !g.Part.orders():
		return enough(g.Agree, g.URLs, g.Differ, agreeOther, urlsOther) || enough(alike, g.AlikeURLs, g.Unlike, agreeOther, urlsOther) ||
			named && enough(max(g.Agree, alike), max(g.URLs, g.AlikeURLs), min(g.Differ, g.Unlike), agreeNamed, 1)
	case g.Part.Kind == partSlug: // few words are views of a thing, which may all be empty
		return g.Random && (enough(g.Agree, g.URLs, g.Differ, agreeMany, urlsMany) && g.Differ*numberOne <= g.Agree ||
			enough(alike, g.AlikeURLs, g.Unlike, agreeMany, urlsMany) || named && enough(g.Agree, g.URLs, g.Differ, agreeNamed, 1))
	case g.Part.orders() && !named:
		return enough(g.Agree, g.URLs, g.Differ, agreeOrder, urlsOrder)
	case named && (enough(g.Agree, g.URLs, g.Differ, agreeNamed, 1) || (looks || g.Random) && enough(alike, g.AlikeURLs, g.Unlike, agreeNamed, 1)):
		return true
	case looks && (enough(g.Agree, g.URLs, g.Differ, agreeOpaque, urlsOpaque) || enough(alike, g.AlikeURLs, g.Unlike, urlsAlike, urlsAlike)):
		return true
	case g.Number && !g.Part.orders():
		return enough(g.Agree, g.URLs, g.Differ, agreeNumber, urlsNumber) && g.Differ*numberOne <= g.Agree
	case g.Random && (enough(g.Agree, g.URLs, g.Differ, agreeMany, urlsMany) || enough(alike, g.AlikeURLs, g.Unlike, agreeMany, urlsAlike)):
		return true
	}
	if g.says() {
		return enough(g.Agree, g.URLs, g.Differ, agreeNumber, urlsOther)
	}
	return enough(g.Agree, g.URLs, g.Differ, agreeOther, urlsOther)
}

// repeats reports whether the values of a part that do not look random come again and again, as the names of directories do and visits do not: what is nearly
// the same below two of them is a thing that both have, each in its own way.
func (g *guess) repeats() bool { return g.Random && g.Values*repeatsEvery < g.Plain }

// likely reports whether a part most likely makes no difference, though its values are numbers and so may name different things: texts
// that differ in it only are alike, and differ in a few words rather than in numbers, as those of a series do. Nothing is refused for
// it: of URLs that differ in it only those are asked for first of which none was had.
func (g *guess) likely() bool {
	return g.Group == 0 && g.Alike >= agreeOther && g.AlikeURLs >= urlsOther && g.Unlike*agreeOne <= g.Alike && wordedOne*g.Worded > g.Alike
}

// visit says of the URL in m.pieces, of a template, whether it differs from one that was had only in a part that is likely to make no
// difference (again), or from none although there is such a part (first).
func (m *Model) visit(t *Template) (first, again bool) {
	if !m.likely {
		return false, false
	}
	for _, part := range candidates(t.ID, &m.pieces, !t.bag(), m.grows(&m.pieces)) {
		if g := m.guesses[part.hash()]; g != nil && g.likely() {
			if m.rests.has(xxh3.HashStringSeed(m.strip(t.ID, &m.pieces, &part), part.hash()^likeSeed)) {
				return false, true
			}
			first = true
		}
	}
	return first, false
}

// learn takes in a part that makes no difference.
func (m *Model) learn(g *guess) {
	m.named[g.Part.named()]++
	m.choosing = nil
	switch g.Part.Kind {
	case partSteps:
		m.permuted[xxh3.HashString(g.Part.Name)]++
	case partLead:
		m.ended, m.shifts = m.ended+1, m.shifts+1
	}
	m.learned[g.Part.Template] = append(m.learned[g.Part.Template], g)
}

package yield

import (
	"slices"
	"strings"

	"argosy/internal/crawl"
)

// The rule. See the package's comment.
const (
	limit      = 500
	minLimit   = 64  // for a group that leads into cut ones,
	leastLimit = 24  // and has never brought anything
	soonerFrom = 16  // new answers that a group had,
	soonerAt   = 5   // and so much less of the limit for each further one,
	soonerBy   = 200 // this at most: that what was frequent has ended shows sooner
	fewShapes  = 4   // templates that a group has,
	shapeLess  = 8   // and so much less for each further one,
	shapesBy   = 120 // this at most: many shapes that bring nothing are combinations
	knownCosts = 3
	faintCosts = 1
	againCosts = 2 // of a URL that is likely to be another name of one that was had, or one set of many
	leafCosts  = 3 // of a calendar
	newPays    = 64
	partPays   = 4  // for what is partly new in a cut group; else it costs and pays nothing
	liftPays   = 32 // for what a cut group had named before, and that is new
	namedPays  = 4  // for each new answer that it has named, in other templates
	datedPays  = 1  // where it is of a calendar
	namedKnown = 16 // where its own answers were known rather than faint
	steadyFrom = 8  // finds after which a template's rate of them is known,
	rareGaps   = 4  // and so many times its mean gap without one are rare: e^-4 of a Poisson process
	seasonGap  = 66 // days without one are rare in a calendar only then: it has seasons, and nine weeks of holidays
	dryAfter   = 8  // answers that brought nothing, after which a template is no longer held for productive

	kinEvery  = 4  // answers that brought nothing: so often the kin of a template is looked at,
	kinSoon   = 8  // and so many of it are enough to be one with its kin
	copiesKin = 1  // stands for copies among hashes of first segments,
	copyKin   = 2  // and each of these counts as so many for that of its own
	kinCut    = 8  // where so many templates of these are cut
	runsFor   = 64 // answers in a row that brought nothing, after which a template is one with those like it that are cut
	sameAfter = 16 // answers that brought nothing, after which templates that differ in one name are judged as one

	rounds     = 5   // in which a cut group is tried again
	trialSize  = 3   // URLs in a round
	firstTrial = 128 // answers of the site until the first round; the next ones come after twice as many each
	strangers  = 16  // URLs of a cut group that others named which are tried, too
	strangerOK = 8   // more of them for one that was new
	strangeMax = 64  // but no more at once
	bears      = 1   // answers that were new, after which a template is known for it while it goes on
	newborns   = 8   // URLs of new templates, named by a cut group alone, which are tried
	finiteTo   = 10_000
	littleTo   = limit * (tablesCost - 1) // answers that are new by little, up to which they are finds: as many as a chain of them alone has

	newShare     = 4  // one phrase of a sample in so many is new: the text is
	partPhrases  = 3  // or as many are: a part of it is,
	someFigures  = 6  // of a text with as many marks of figures,
	someSaid     = 4  // or of one whose sentences have so many,
	figureShare  = 2  // one in so many is new: it is a table that was not there
	tablesCost   = 8  // one such in so many counts as faint,
	reportsCost  = 2  // or of those whose figures stand in sentences
	drawnFrom    = 6  // answers that were asked for twice, after which it is known whether a template's pages are drawn,
	drawnRare    = 16 // if one in so many of these was new both times,
	drawnEnough  = 8  // and that they are not, unless
	drawnFew     = 4  // fewer than one in so many of those were: then it is known
	drawnMost    = 64 // after so many;
	drawnSoon    = 4  // one URL in so many is asked for twice until then,
	drawnEvery   = 16 // and in so many later, if they are
	markFirst    = 16 // answers of a template that must be marked,
	markAll      = 48 // and those that may be; then, while it is productive, one in markEvery must
	markEvery    = 32
	markMixed    = 4                  // of one that is mixed, one in so many, once it is proven by so many
	markWavering = 8                  // of one that wavers, one in so many
	proven       = 64                 // new answers
	minFlight    = 16                 // URLs of a group that are out at once,
	maxFlight    = 512                // and two more for each new answer that it had, up to this
	wavering     = 8                  // if one answer in so many of a template brought nothing,
	unsureFlight = 64                 // no more of its group may be out: it is not long until it is known that it runs dry
	mostUnsure   = 256                // of one that has found much
	newestKept   = rounds * trialSize // of the URLs that wait: as many as are tried

	maxTemplates = 1024 // a site
	maxShapes    = 32   // of paths with the same first segment; further ones are one
	maxNodes     = 8192
	maxFrom      = 16
)

// Grace is how many times as long a group goes on that a person lets go on.
const Grace = 8

// Template is a set of URLs of one shape and what they have brought.
type Template struct {
	ID      uint32   `cbor:"1,keyasint"`
	Pattern string   `cbor:"2,keyasint"`
	Hash    uint64   `cbor:"3,keyasint"`
	Group   uint32   `cbor:"4,keyasint"`
	Answers int64    `cbor:"5,keyasint,omitempty"`
	Marked  int64    `cbor:"6,keyasint,omitempty"`
	New     int64    `cbor:"7,keyasint,omitempty"`
	Known   int64    `cbor:"8,keyasint,omitempty"`
	Faint   int64    `cbor:"9,keyasint,omitempty"`
	Dry     int64    `cbor:"10,keyasint,omitempty"` // answers without anything new since the last one that had it
	Dated   int64    `cbor:"11,keyasint,omitempty"` // answers whose URL is a date
	Cost    int64    `cbor:"19,keyasint,omitempty"` // its share of its group's sum
	Barren  int64    `cbor:"18,keyasint,omitempty"` // answers that counted as nothing
	Varied  int64    `cbor:"54,keyasint,omitempty"` // of these, that differed from others by a word or two, by numbers or by their order only
	Lent    int64    `cbor:"31,keyasint,omitempty"` // of Cost, of answers that named something else than their kind: what comes of that may pay it back
	Inner   int64    `cbor:"51,keyasint,omitempty"` // of Cost, of answers that its own kind has named: see inner
	Within  int64    `cbor:"52,keyasint,omitempty"` // of New, likewise
	Named   int64    `cbor:"20,keyasint,omitempty"` // new answers of other templates that it has named
	Spared  int64    `cbor:"12,keyasint,omitempty"` // faint answers that counted as new since the last new one
	From    []uint32 `cbor:"13,keyasint,omitempty"` // templates that led here
	Params  int      `cbor:"14,keyasint,omitempty"`
	Tables  int64    `cbor:"21,keyasint,omitempty"` // answers of which only figures, a picture or a name were new
	Shown   int64    `cbor:"28,keyasint,omitempty"` // of these, only a picture
	Twice   int64    `cbor:"25,keyasint,omitempty"` // answers that were asked for twice; of them
	Changed int64    `cbor:"27,keyasint,omitempty"` // those that showed something else then,
	Stable  int64    `cbor:"26,keyasint,omitempty"` // and those that showed something new both times
	Little  int64    `cbor:"24,keyasint,omitempty"` // of New, answers of which only figures, a picture or a name were new
	Sure    int64    `cbor:"33,keyasint,omitempty"` // of Little, those that are a find: see steady
	Partly  int64    `cbor:"29,keyasint,omitempty"` // of New, answers of which only a part was new
	Skipped int64    `cbor:"49,keyasint,omitempty"` // answers since the last one that was marked: see weight
	Owed    int64    `cbor:"34,keyasint,omitempty"` // answers that it has named and that count as if they were of it: see charge
	Strange int64    `cbor:"35,keyasint,omitempty"` // answers whose numbers do not follow from their address,
	Derived int64    `cbor:"36,keyasint,omitempty"` // and those whose numbers do
	Crossed int64    `cbor:"50,keyasint,omitempty"` // of Barren, those whose numbers are those of two things: see crosses
	Longer  int64    `cbor:"55,keyasint,omitempty"` // of Barren, those whose path repeats names, or is very deep
	Called  int64    `cbor:"32,keyasint,omitempty"` // answers in which nothing was new but what links are called
	Equal   int64    `cbor:"30,keyasint,omitempty"` // answers in a row whose text was known, none of which was new, not even by little
	Alike   int64    `cbor:"37,keyasint,omitempty"` // answers in a row that said one of Sayings; see button
	Sayings []saying `cbor:"38,keyasint,omitempty"`
	Paired  int64    `cbor:"56,keyasint,omitempty"` // answers that stand beside a page that was marked: see besides
	Told    int64    `cbor:"57,keyasint,omitempty"` // of these, those that were new
	Bound   uint32   `cbor:"58,keyasint,omitempty"` // before where its pages' samples end: see bounded
	Sampled int64    `cbor:"59,keyasint,omitempty"` // of its answers since it has one
	Said    uint64   `cbor:"60,keyasint,omitempty"` // sketch of the phrases of its last page that are of no link: see freshCombination
	Button  bool     `cbor:"39,keyasint,omitempty"` // it is cut for that
	Example string   `cbor:"15,keyasint,omitempty"` // of a URL that brought nothing

	Free  bool   `cbor:"40,keyasint,omitempty"` // it was let go: see Hear. Then
	Since int64  `cbor:"41,keyasint,omitempty"` // Barren was so much,
	Had   int64  `cbor:"46,keyasint,omitempty"` // and New,
	Home  uint32 `cbor:"42,keyasint,omitempty"` // it was of this group,
	Grown int64  `cbor:"43,keyasint,omitempty"` // and so many of its pages that bring nothing have named more,
	Bred  int64  `cbor:"47,keyasint,omitempty"` // so many URLs,
	Heard int    `cbor:"44,keyasint,omitempty"` // times,
	Spent int64  `cbor:"48,keyasint,omitempty"` // for so many answers that brought nothing

	Tried bool   `cbor:"53,keyasint,omitempty"` // a URL of it was asked for before any had answered: see judgeKin
	First uint64 `cbor:"17,keyasint"`           // hash of its first segment
	All   bool   `cbor:"16,keyasint,omitempty"` // all answers are marked: a part of its URLs may make no difference

	flight  int
	dirty   bool
	keys    []uint64 // of its parameters
	tallied tally    // of these, what was counted already
}

// bag reports whether a template is of paths whose order says nothing.
func (t *Template) bag() bool { return strings.HasPrefix(t.Pattern, bagPrefix) }

// dry reports whether a template brings nothing as far as is known.
func (t *Template) dry() bool {
	return t.New == 0 && t.Marked > 0 || t.Dry >= dryAfter || t.Dry > 0 && t.Barren >= t.New
}

// forms reports whether a template is of what a program answers that has said the same for so long that hardly any of the rest differs: of a
// thing of which no answer in n was one, fewer than 3/n are (19 times in 20). Files that are equal are as many as their directories.
func (t *Template) forms() bool { return t.Params > 0 && t.Equal >= limit }

// hopeless reports whether what a template has not brought outweighs one more new answer and is most of what it shows, or outweighs what it has
// brought by far.
func (t *Template) hopeless() bool {
	return t.New == 0 && t.Marked > 0 || t.Cost >= newPays && t.Barren > t.New || t.Barren >= sameAfter*max(1, t.New)
}

// Group is one or more templates that are judged as one.
type Group struct {
	ID        uint32      `cbor:"1,keyasint"`
	Sum       int64       `cbor:"2,keyasint,omitempty"`
	Cut       bool        `cbor:"4,keyasint,omitempty"`
	Round     int         `cbor:"5,keyasint,omitempty"`
	Next      int64       `cbor:"6,keyasint,omitempty"` // answers of the site at the next round
	Waiting   int64       `cbor:"7,keyasint,omitempty"` // URLs
	Strangers int         `cbor:"8,keyasint,omitempty"`
	Newborns  int         `cbor:"9,keyasint,omitempty"`
	Kin       int         `cbor:"24,keyasint,omitempty"` // templates of its kind of which one URL is tried: see judgeKin
	Things    int         `cbor:"26,keyasint,omitempty"` // URLs that are tried since they ask for a thing that was not had
	Newest    []crawl.Key `cbor:"10,keyasint,omitempty"` // of the waiting, last last
	Hopeful   []crawl.Key `cbor:"20,keyasint,omitempty"` // of the waiting that are tried first, likewise
	Example   string      `cbor:"11,keyasint,omitempty"` // of the waiting
	Spared    bool        `cbor:"22,keyasint,omitempty"` // once it had reached its limit, since it is finite
	Grace     int64       `cbor:"12,keyasint,omitempty"` // factor of the limit
	Buckets   []bucket    `cbor:"13,keyasint,omitempty"` // of faint answers
	Members   int         `cbor:"14,keyasint,omitempty"`
	New       int64       `cbor:"15,keyasint,omitempty"`
	Less      int64       `cbor:"18,keyasint,omitempty"` // of its limit, which cut groups have used up that it leads into
	Sooner    int64       `cbor:"19,keyasint,omitempty"` // of its limit, because it has brought so much before
	Behind    []behind    `cbor:"21,keyasint,omitempty"` // the waiting by what they look like; those of a few shapes beyond are not in it
	Part      *Part       `cbor:"17,keyasint,omitempty"` // set: the group stands for what differs in this part of URLs only
	Vain      int64       `cbor:"23,keyasint,omitempty"` // URLs of such a group that were tried since one was new of the same part in any template

	flight int
	shaped uint32 // templates that there were when Behind was told apart anew
	dirty  bool
}

// behind is how many URLs of one shape wait with a group.
type behind struct {
	Hash    uint64 `cbor:"1,keyasint"` // of the template that they have, or will
	Shape   string `cbor:"2,keyasint"` // its pattern
	Waiting int64  `cbor:"3,keyasint"`
	Example string `cbor:"4,keyasint"`
}

// maxBehind is how many shapes of a group's waiting URLs are told apart.
const maxBehind = 128

func (g *Group) limit() int64 {
	less := g.Less
	if g.New > 0 {
		less = min(less, limit-minLimit)
	}
	return limit*max(1, g.Grace) - max(less, g.Sooner, g.shapes())
}

// shapes is by how much the limit of a group is lower because it has so many shapes.
func (g *Group) shapes() int64 {
	return min(shapeLess*max(0, int64(g.Members)-fewShapes), shapesBy)
}

// Answer is what a URL has brought.
type Answer struct {
	URL      crawl.URL
	Parent   crawl.URL // that has named it; zero if that is not known or of another site
	Template uint32    // of URL
	Via      uint32    // template of the page that named it, 0 if that is not of this site
	Lister   uint64    // mark of that page: see Lister
	Page     bool      // a page that was read: Text and Sample say what it brought, if it was marked
	Marked   bool
	Text     uint64   // of the visible text; of what is not a page, of its bytes; of a redirect, of where it leads
	Sample   []uint32 // of the text's phrases
	Figures  []uint32 // of the text's figures
	Pictures []uint32 // of the pictures that it shows
	Names    []uint32 // of what its title calls it, of short texts and codes
	Numbers  []uint32 // that it says
	Twice    bool     // it was asked for twice: all this is what both answers showed,
	Changed  bool     // and one showed something else
	Back     bool     // it links to the page that has named it
	Links    int      // on it
	Found    int      // of these, that were not there
	Feeds             // of these
	Moved    bool     // a redirect
	Host     bool     // the URL stands for a host: no part of it makes no difference
	Missing  bool     // a status of 400 or more
	Tried    bool     // it was asked for although its group was cut, whatever its form

	again   bool      // its URL differs from one that was had only in a part that is likely to make no difference, or is one of many sets
	bare    string    // set: the URL without a parameter that may make no difference
	near    []besides // parameters without which it says nearly the same
	crossed bool      // its numbers are those of two things: see told
	formed  bool      // it was counted for its forms
}

// Feeds counts URLs that a page has named and that were not there.
type Feeds struct {
	Own  int // they may lead to more such pages: see Model.Feed
	Led  int // they are of templates that have done so
	Same int // they are of the page's template

	grew   bool // one was counted as what a template that was let go leads to
	split  bool
	values []handing // of the page's URL, if it was split
}

// Event says what an answer has changed about waiting and pending URLs.
type Event uint8

// Events.
const (
	Nothing Event = iota
	Cut           // pending URLs may have to wait
	Lifted        // waiting URLs may go on
	Learned       // a part of URLs makes no difference: all URLs that are there must be told to Model.Register
)

// namedBy notes that a template, which may be nil, has named a URL of this one.
func (t *Template) namedBy(via *Template) {
	switch {
	case via == nil || via == t || slices.Contains(t.From, via.ID):
	case len(t.From) < maxFrom:
		t.From = append(t.From, via.ID)
	default:
		t.From[t.Answers%maxFrom] = via.ID // who names it often comes back
	}
}

// Take judges an answer.
func (m *Model) Take(a *Answer) Event {
	t := m.byID[a.Template]
	if t == nil {
		return Nothing
	}
	g := m.groups[t.Group]
	via := m.byID[a.Via]
	defer m.tally(via)
	defer m.tally(t)
	t.Answers++
	m.Answers++
	m.touch(t, g)
	m.metaDirty = true
	t.namedBy(via)
	m.things(t, a.URL)
	if t.bag() && !a.URL.IsZero() {
		m.meets(a.URL)
	}
	if !a.Marked {
		return m.skipped(t, via, a)
	}
	m.weight, t.Skipped = t.weight(g), 0
	t.Marked++
	m.pieces.split(a.URL)
	t.Params = max(t.Params, len(m.pieces.params))
	if m.pieces.dated() {
		t.Dated++
	}
	_, a.again = m.visit(t)
	a.again = a.again || m.chooses(t, &m.pieces)
	spelled, event := m.compare(t, a)
	of := m.novelty(a)
	event = max(event, m.resembles(a, of))
	of = m.besides(t, via, a, of)
	if m.Feeding(t.ID) && !m.Watches(t.ID) {
		a.Feeds = Feeds{Own: a.Found} // they were counted for what its links are called
	}
	switch {
	case a.Twice:
		t.twice(a.Changed, of)
	case t.drawn() && of.brings():
		of, a.again = isFaint, true
	}
	if of == isPartly && m.behind && m.chooses(t, &m.pieces) {
		of = isFaint
	}
	event = max(event, m.button(t, via, a, of))
	m.rewards(t, via, a, of)
	g = m.groups[t.Group]
	switch of {
	case isNew:
		if spelled {
			event = max(event, m.despite(t))
		}
		return max(event, m.brought(t, via, a, m.weight*m.pays))
	case isNeutral:
		event = max(event, m.moved(t, via, a))
	case isPartly:
		if g.Cut {
			return max(event, m.brought(t, via, a, partPays))
		}
		t.New, t.Partly, t.Equal = t.New+1, t.Partly+1, 0
		t.often(g)
	case isUntold:
		t.New, t.Little = t.New+1, t.Little+1
	case isTable, isReport, isShown, isNamed, isEchoed, isNumbered, isCombined:
		event = max(event, m.little(t, via, a, of))
	case isCopy:
		if !spelled && event != Learned {
			event = max(event, m.barren(t, via, a, faintCosts, aKnown))
		}
	case isKnown:
		if !spelled && event != Learned {
			event = max(event, m.barren(t, via, a, knownCosts, aKnown))
		}
	case isFaint:
		event = max(event, m.faint(t, via, a))
	}
	return event
}

// skipped takes in an answer that was not marked: most likely it is like those that were.
func (m *Model) skipped(t, via *Template, a *Answer) Event {
	t.Skipped = min(t.Skipped+1, markMixed-1)
	if via != nil && via.Group != t.Group && t.Dry == 0 && !m.groups[t.Group].Cut && !t.mixed() {
		m.fruit(a)
		m.nameForms(via, a)
		return m.credit(via)
	}
	return Nothing
}

// little takes in an answer that is new by figures, a picture or a name alone: some of such count as faint.
func (m *Model) little(t, via *Template, a *Answer, of kind) Event {
	if (of == isNumbered || of == isReport) && t.follows() || of == isEchoed && m.echoes(t, via) {
		return m.faint(t, via, a)
	}
	every := int64(tablesCost)
	if of != isTable {
		a.again = false
	}
	if of == isReport && !t.states(via) || of == isShown && !t.single() || (of == isCombined || of == isNumbered && t.dated()) && !t.constant() {
		every = reportsCost
	}
	if of == isReport || of == isShown || of == isNumbered || of == isCombined || (of == isNamed || of == isEchoed) && t.Tables >= proven {
		t.Shown++
	}
	t.Tables++
	a.formed = true
	m.formed(t, t.Tables%tablesCost != 0)
	if m.groups[t.Group].Cut || t.Tables%every == 0 {
		return m.faint(t, via, a) // figures and pictures alone do not lift a cut
	}
	t.New, t.Little, t.Equal = t.New+1, t.Little+1, 0
	if every == tablesCost && of != isEchoed {
		if t.Sure++; t.Sure+t.Owed <= littleTo {
			t.Dry = 0
		}
	}
	return Nothing
}

// echoes reports whether a page that is new by what its title calls it, which its address says as well, is most likely the answer to any address: others
// of its template have named it, most of which brought no more, and its address has words alone. Who has many things to name gives them numbers.
func (m *Model) echoes(t, via *Template) bool {
	return via != nil && via.Group == t.Group && t.Little > t.finds() && m.pieces.words()
}

// faint judges an answer that differs from others in its numbers, its address or its order only.
func (m *Model) faint(t, via *Template, a *Answer) Event {
	t.Faint++
	costs := int64(faintCosts)
	if a.again {
		costs = againCosts
	}
	if via != nil && !m.leads(t, via) && t.Spared < finiteTo {
		day := t.dated() && via.dated()
		sub := a.Back && !a.Parent.IsZero() && Refines(a.URL, a.Parent)
		switch {
		case day || sub: // of a calendar
			if day && a.Found == 0 && via != t {
				return m.barren(t, via, a, leafCosts, aLeaf) // a leaf of it
			}
		case a.Own > 0 && !via.dry():
			costs = knownCosts // what is behind it may lead to more of its kind
		case t.bears() && t.Dry < dryAfter && !t.bag():
			t.Spared++ // a story of a list: as many as the list has
			if via.hopeless() {
				return Nothing // what is spared does not pay for a list that has nothing itself
			}
			return m.credit(via)
		case !via.dry():
			if t.bears() {
				return Nothing
			}
			costs = knownCosts // it counts as one that others have named
		}
	}
	return m.barren(t, via, a, costs, aFaint)
}

// sort is what kind of answer counts against a group.
type sort uint8

const (
	aKnown sort = iota
	aFaint
	aLeaf // of a calendar
)

// counts takes in an answer that brought nothing.
func (t *Template) counts(of sort) {
	t.Dry, t.Barren = t.Dry+1, t.Barren+1
	switch {
	case of == aKnown:
		t.Equal++
	case t.drawn(): // what differs is drawn for each reader
		t.Equal, t.Varied = t.Equal+1, t.Varied+1
	default:
		t.Equal, t.Varied = 0, t.Varied+1
	}
}

// barren counts an answer against the group of its template, if that leads to itself.
func (m *Model) barren(t, via *Template, a *Answer, costs int64, of sort) Event {
	if a.Missing && a.Found == 0 {
		return Nothing // what is not there and leads nowhere is as finite as the pages that name it
	}
	if costs == knownCosts && of != aLeaf {
		t.Known++
	}
	t.counts(of)
	if !a.formed {
		m.formed(t, false)
	}
	if a.crossed {
		t.Crossed++
	}
	if t.bag() && m.grows(&m.pieces) {
		t.Longer++
	}
	t.Example = a.URL.String()
	if a.Found > a.Same {
		t.Lent += costs
	}
	if t.Free {
		return m.heard(t, a)
	}
	g := m.groups[t.Group]
	below := of != aLeaf && via != nil && via != t && via.hopeless() && t.hopeless()
	if below && (a.Own > 0 && t.Barren >= sameAfter*t.New || !t.aside(via)) && via.Group != t.Group {
		g = m.join(t, via)
	}
	if t.Barren == sameAfter && t.fruitless() {
		g = m.joinSibling(t)
	}
	if of == aKnown && t.Dry%dryAfter == 0 {
		g = m.joinVersions(t)
	}
	if t.Dry%dryAfter == 0 {
		m.joinChoices(t)
		m.joinPasses(t)
		m.joinRuns(t)
		g = m.joinCalendar(t)
	}
	if (t.Barren%kinEvery == 0 || t.Tried) && (t.New == 0 || t.poor()) {
		g = m.joinKin(t)
	}
	m.touch(t, g)
	if of != aLeaf && a.Own == 0 {
		m.charge(t, via)
	}
	if of == aLeaf || below || via != nil && m.leads(t, via) {
		m.costs(t, via, g, costs)
		m.count(g, a, via.Group == t.Group || m.sound(via))
	} else if costs == knownCosts {
		m.costs(t, via, g, 1)
		if via != nil && (of == aFaint || t.New > 1) {
			m.count(g, a, m.sound(via))
		}
	} else if via != nil {
		m.costs(t, via, g, costs)
		m.count(g, a, m.sound(via))
	}
	if g.Cut || g.Sum < g.limit() || m.spareSteady(g) {
		return Nothing
	}
	forms := t.forms() || a.Moved && m.equal(g) >= limit // a redirect is no file
	if !forms && !t.dated() && !t.crosses() && g.Less == 0 && !m.combines(t) && (g.dies() || t.Params <= 1 && costs == faintCosts && !t.bag() && g.finite()) {
		pays := int64(2 * bucketSize)
		if t.Params > 0 || a.Moved { // it is looked at again when it may be of forms
			pays = min(pays, max(1, limit-t.Equal))
		}
		g.Sum, g.Spared = g.Sum-pays, true
		return Nothing
	}
	m.cut(g, a)
	return Cut
}

// costs adds to the sum of a group what an answer of a template costs that another has named, and those before it that it stands for.
func (m *Model) costs(t, via *Template, g *Group, costs int64) {
	g.Sum, t.Cost = g.Sum+m.weight*costs, t.Cost+m.weight*costs
	if t.inner(via) {
		t.Inner += m.weight * costs
	}
	if t.bag() && t.mixed() { // what was paid back has been spent all the same, as have the answers of the shapes that it had before it was a bag
		sooner := max(0, min(t.Barren+t.Partly+maxShapes-t.Cost, soonerBy))
		if g.Members > 1 { // which may have brought much
			sooner = max(sooner, g.Sooner)
		}
		g.Sooner = sooner
	}
}

// cut has the URLs of a group wait from an answer on.
func (m *Model) cut(g *Group, a *Answer) {
	g.Cut, g.Spared, g.Strangers, g.Newborns, g.Kin, g.Things = true, false, strangers, newborns, strangers, strangeMax
	g.Round, g.Next = 0, m.Answers+firstTrial
	g.Example = a.URL.String()
	m.cuts++
	m.share()
}

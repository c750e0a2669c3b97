package yield

import (
	"bytes"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
)

// Model is what is known of the templates of one site. It is not safe for concurrent use.
type Model struct {
	Meta

	byHash   map[uint64]*Template
	byID     map[uint32]*Template
	shapes   map[uint64]int   // templates by their first segments
	spent    map[uint64]int64 // answers that brought nothing of what was let go, likewise
	views    map[uint64]bool  // where some was heard,
	letGo    uint32           // and how many
	groups   map[uint32]*Group
	nodes    map[uint64]*node
	guesses  map[uint64]*guess
	kept     []*Template         // all of byID,
	grouped  []*Group            // of groups,
	guessed  []guessAt           // and of guesses: a map takes far longer to walk through, at each Flush
	learned  map[uint32][]*guess // by template: parts that make no difference
	shifts   uint32              // times that what any names may stand in has changed: see Views
	spots    map[uint32]int      // in how many places a name was seen
	ended    uint32              // of these, how many are what stands before a path's end
	named    map[uint64]int      // their names, and of how many templates
	handed   map[uint64]*handed  // by their names, too
	permuted map[uint64]int      // by first segments: of how many templates the order of names is known to make no difference
	choosing map[uint64]bool     // keys of names of parameters that are choices; nil if they are to be found out
	vain     map[uint64]int64    // by their names: URLs that differ in them and were tried since one was new
	marks    set                 // texts and phrases
	rests    set                 // texts of URLs without a part
	chosen   set                 // of those without settings
	tallies  map[uint64]*tally   // by keys of parameters
	kin      map[uint64]uint32   // by first segments: the cut group that has many of their templates; nil if it is to be found out

	cuts       int
	likely     bool // there is a part that is likely to make no difference, or was
	changed    bool // something besides Meta has changed since the last Flush
	metaDirty  bool
	dirtyNodes []uint64

	pays   int64 // of the answer that is being judged, if it is new
	behind bool  // what is new of it are marks that are no evidence: see bounded
	weight int64 // how many it stands for
	pieces pieces
	across across
	buf    []byte
	tmp    [64]byte
	unseen []place
	leaves less // room for what less returns
}

// Meta are the numbers of a Model.
type Meta struct {
	Answers   int64  `cbor:"1,keyasint"`
	Templates uint32 `cbor:"2,keyasint"` // numbers given so far
	Groups    uint32 `cbor:"3,keyasint"`
	Marks     uint32 `cbor:"5,keyasint"` // generations of the sets
	Rests     uint32 `cbor:"6,keyasint"`
	Chosen    uint32 `cbor:"8,keyasint,omitempty"`
	Endless   int    `cbor:"9,keyasint,omitempty"`  // times that something which was let go has no end: see Hear
	Bearing   int64  `cbor:"10,keyasint,omitempty"` // pages and forms that bear: see Follows, good,
	Followed  int64  `cbor:"11,keyasint,omitempty"` // and those after which what waits was looked at
}

// New returns an empty Model.
func New() *Model {
	return &Model{
		byHash: map[uint64]*Template{}, byID: map[uint32]*Template{}, shapes: map[uint64]int{}, spent: map[uint64]int64{}, views: map[uint64]bool{}, groups: map[uint32]*Group{}, tallies: map[uint64]*tally{}, nodes: map[uint64]*node{}, spots: map[uint32]int{},
		guesses: map[uint64]*guess{}, learned: map[uint32][]*guess{}, named: map[uint64]int{}, vain: map[uint64]int64{}, permuted: map[uint64]int{}, handed: map[uint64]*handed{},
		marks: newSet(maxMarks), rests: newSet(maxRests), chosen: newSet(maxChosen),
	}
}

// find returns the template of a URL, nil if there is none yet; hash is where it is, or would be.
func (m *Model) find(u crawl.URL) (t *Template, hash uint64) {
	hash = xxh3.Hash(m.pattern(u))
	t = m.byHash[hash]
	grown := isBag(m.buf)
	full := !grown && (t == nil || m.ended > 0) && m.shapes[first(m.buf)] >= maxShapes
	ends := full && (t == nil || strings.Contains(t.Pattern, "*/")) && m.endsTell()
	if full && t == nil && !ends {
		if slugged := m.slugged(); slugged != 0 {
			return m.byHash[slugged], slugged
		}
	}
	if grown || full && t == nil || ends {
		if m.views[first(m.buf)] {
			if view, at := m.view(); view != nil {
				return view, at
			}
			grown = false
		}
		if !grown {
			m.unseen = m.unseen[:0]
			hash = xxh3.Hash(m.bag(m.buf, &m.pieces, 1, param{}))
			t = m.byHash[hash]
		}
	}
	if t == nil && len(m.byID) >= maxTemplates {
		hash = 0
	}
	return m.byHash[hash], hash
}

// slugged returns where the template is of a URL in which any words may stand beside numbers, once there are too many shapes to tell them
// apart: a shop of a town of a county is not a path whose order says nothing. It returns 0 if no words stand so, or there are too many of these, too.
func (m *Model) slugged() uint64 {
	if !slices.ContainsFunc(m.pieces.low, func(s string) bool { return classify(s) == mixed }) {
		return 0
	}
	was := string(m.buf)
	m.unseen = m.unseen[:0]
	hash := xxh3.Hash(m.shape(&m.pieces, true))
	if string(m.buf) == was && !strings.Contains(was, "*/") || m.byHash[hash] == nil && (m.shapes[first(m.buf)] >= maxShapes+maxSlugged || len(m.byID) >= maxTemplates) {
		m.buf = append(m.buf[:0], was...)
		return 0
	}
	return hash
}

// endsTell reports whether what stands before the ends of paths like that in m.pieces, whose pattern is in m.buf, is known to make no difference: then
// all in which any names may stand are of the bag.
func (m *Model) endsTell() bool {
	if m.ended == 0 {
		return false
	}
	was := string(m.buf)
	bag := m.byHash[xxh3.Hash(m.bag(m.buf, &m.pieces, 1, param{}))]
	m.buf = append(m.buf[:0], was...)
	return bag != nil && slices.ContainsFunc(m.learned[bag.ID], func(g *guess) bool { return g.Part.Kind == partLead })
}

// view returns the template of what a bag's URL shows, for the URL whose pattern was written last: nil if it was not heard.
func (m *Model) view() (t *Template, hash uint64) {
	m.unseen = m.unseen[:0]
	ordered, choice := m.ordered(&m.pieces), param{}
	if ordered == 1 {
		choice = m.choice(&m.pieces)
	}
	hash = xxh3.Hash(m.bag(m.buf, &m.pieces, ordered, choice))
	return m.byHash[hash], hash
}

// first is a pattern's first segment.
func first(pattern []byte) uint64 {
	if !bytes.HasPrefix(pattern, []byte(bagPrefix)) {
		pattern = pattern[1:] // the slash
	} else {
		pattern = pattern[len(bagPrefix):]
	}
	if i := bytes.IndexAny(pattern, "/;?"); i >= 0 {
		pattern = pattern[:i]
	}
	return xxh3.Hash(pattern)
}

// of returns the template of a URL, which is made if there is none.
func (m *Model) of(u crawl.URL) *Template {
	t, hash := m.find(u)
	if t != nil {
		return t
	}
	name := string(m.buf[:min(len(m.buf), maxPattern)])
	if hash == 0 {
		name = "(others)"
	}
	m.see()
	m.Templates++
	t = &Template{ID: m.Templates, Hash: hash, Pattern: name, First: first(m.buf), dirty: true}
	g := m.newGroup()
	t.Group, g.Members = g.ID, 1
	m.keep(t)
	m.changed, m.metaDirty = true, true
	return t
}

// keep takes in a template.
func (m *Model) keep(t *Template) {
	m.byHash[t.Hash], m.byID[t.ID], m.kin, m.choosing = t, t, nil, nil
	m.kept = append(m.kept, t)
	t.keys = keys(t.Pattern)
	m.tally(t)
	m.shapes[t.First]++
	m.spent[t.First] += t.Spent
	if t.Heard > 0 {
		m.views[t.First] = true
		m.letGo++
	}
}

// see takes in the names of a new template.
func (m *Model) see() {
	for _, pl := range m.unseen {
		n := m.nodes[pl.at]
		if n == nil {
			n = &node{}
			m.nodes[pl.at] = n
		}
		n.Names = append(n.Names, pl.name)
		m.noted(n.Names, len(n.Names)-1)
		m.dirtyNodes = append(m.dirtyNodes, pl.at)
		m.changed = true
	}
}

// noted counts what a place has come to hold: its names from one on are new there.
func (m *Model) noted(names []uint32, from int) {
	for i, name := range names[from:] {
		if m.spots[name]++; m.spots[name] == commonFrom || from+i+1 == maxValues {
			m.shifts++
		}
	}
}

func (m *Model) newGroup() *Group {
	m.Groups++
	g := &Group{ID: m.Groups, dirty: true}
	m.keepGroup(g)
	m.changed, m.metaDirty = true, true
	return g
}

func (m *Model) keepGroup(g *Group) {
	m.groups[g.ID] = g
	m.grouped = append(m.grouped, g)
}

func (m *Model) touch(t *Template, g *Group) {
	t.dirty, g.dirty, m.changed = true, true, true
}

// Template returns the number of a URL's template, which is made if there is none. It stays the same as long as Views does.
func (m *Model) Template(u crawl.URL) uint32 { return m.of(u).ID }

// Views returns a number that changes when a view of a bag is let go, which is the template of URLs from then on that were of the bag's, or when URLs
// become the bag's as what stands before their ends makes no difference, or many names were seen in one more place, or a name in many.
func (m *Model) Views() uint32 { return m.letGo + m.shifts }

// OfPart reports whether a group stands for URLs that differ from others in a part that makes no difference.
func (m *Model) OfPart(group uint32) bool {
	g := m.groups[group]
	return g != nil && g.Part != nil
}

// Find returns the number of a URL's template, 0 if there is none yet.
func (m *Model) Find(u crawl.URL) uint32 {
	if t, _ := m.find(u); t != nil {
		return t.ID
	}
	return 0
}

// FindShape is Find, and returns the shape of a URL that has no template, by which At may find one later.
func (m *Model) FindShape(u crawl.URL) (template uint32, shape uint64) {
	t, hash := m.find(u)
	if t != nil {
		return t.ID, 0
	}
	return 0, hash
}

// At returns the number of the template of a shape, 0 if there is none yet. Shapes of URLs change as names are seen: a template that a URL has by now is
// not found by what its shape was before.
func (m *Model) At(shape uint64) uint32 {
	if t := m.byHash[shape]; t != nil {
		return t.ID
	}
	return 0
}

// Cuts returns how many groups are cut.
func (m *Model) Cuts() int { return m.cuts }

// Empty returns how many answers of the template of a URL counted as nothing.
func (m *Model) Empty(u crawl.URL) int64 {
	if t, _ := m.find(u); t != nil {
		return t.Barren
	}
	return 0
}

// IsCut returns the group of a URL that is cut, 0 if there is none.
func (m *Model) IsCut(u crawl.URL) uint32 {
	if t, _ := m.find(u); t != nil && m.groups[t.Group].Cut {
		return t.Group
	}
	return 0
}

// Verdict says whether a URL is asked for.
type Verdict struct {
	Wait  bool
	Group uint32 // that it waits with
	Try   bool   // it is one of those that are asked for although their group is cut
	// Hopeful says that it waits although what has named it brings something: it is among the first that are tried.
	Hopeful bool
}

// Judge says whether a URL that the template via has named is asked for; leads says that the page that named it leads on (see
// LeadsOn). What it has let through is counted.
func (m *Model) Judge(u crawl.URL, via uint32, leads bool) Verdict {
	if m.cuts == 0 {
		return Verdict{}
	}
	t, hash := m.find(u)
	v := m.byID[via]
	var g *Group
	if t != nil {
		g = m.groups[t.Group]
	}
	if t == nil || t.Answers == 0 && !t.Free { // nothing is known of it but who has named it
		if v == nil {
			return Verdict{}
		}
		if g = m.home(v); !g.Cut {
			return m.judgeKin(u, t, v)
		}
		if m.good(&Template{Pattern: string(m.buf), Hash: hash}) {
			return Verdict{} // others of its form were new, of other templates
		}
		if g.Newborns > 0 {
			g.Newborns--
			g.dirty, m.changed = true, true
			return Verdict{Try: true, Group: g.ID}
		}
		return Verdict{Wait: true, Group: g.ID}
	}
	if !g.Cut || m.good(t) {
		return Verdict{}
	}
	m.ledBy(t, v)
	if g.Part == nil && m.newThing(g) {
		return Verdict{Try: true, Group: g.ID}
	}
	first, _ := m.visit(t)
	if leads = first || leads && v == t; leads || m.fruitful(v) {
		if g.Strangers > 0 {
			g.Strangers--
			g.dirty, m.changed = true, true
			return Verdict{Try: true, Group: g.ID}
		}
		return Verdict{Wait: true, Group: g.ID, Hopeful: leads || !v.mixed()}
	}
	return Verdict{Wait: true, Group: g.ID, Hopeful: t.Named > 0 && t.Barren < sameAfter} // it was cut with others
}

// fruitful reports whether a template, nil if there is none, goes on bringing something.
func (m *Model) fruitful(v *Template) bool { return v != nil && !m.groups[v.Group].Cut && !v.dry() }

// judgeKin says whether a URL of a template that has no answers yet, which may be nil, is asked for, whose pattern is in m.buf: where many templates below
// its first segment are cut, it is most likely one more of them. One URL of each of a few such templates is asked for that a productive one has named:
// the second pages of a forum's discussions may come late.
func (m *Model) judgeKin(u crawl.URL, t, via *Template) Verdict {
	g := m.kinOf(m.buf)
	if p := m.buf; (g == nil || !g.Cut) && bytes.IndexByte(p, '?') >= 0 {
		var with []uint64
		if t != nil {
			with = t.keys
		} else {
			with = keys(string(p))
		}
		if key := m.inVain(with); key != 0 {
			if g = m.cutWith(key); g != nil && m.newThing(g) {
				return Verdict{Try: true, Group: g.ID}
			}
		}
	}
	if (g == nil || !g.Cut) && len(m.permuted)+len(m.choices()) > 0 {
		of := t
		if of == nil {
			of = &Template{Pattern: string(m.buf), First: first(m.buf), keys: keys(string(m.buf))}
		}
		g = m.cutChoices(of, true) // the pages of another list are combinations, too, and may be new
	}
	switch {
	case g == nil || !g.Cut:
		return Verdict{}
	case !via.dry() && g.Kin > 0 && (t == nil || !t.Tried):
		g.Kin--
		t = m.of(u)
		t.Tried = true
		m.touch(t, g)
		return Verdict{Try: true, Group: g.ID}
	}
	return Verdict{Wait: true, Group: g.ID}
}

// Defer notes that a URL waits, with the group that a verdict names.
func (m *Model) Defer(v Verdict, u crawl.URL, k crawl.Key) {
	g := m.groups[v.Group]
	if g == nil {
		return
	}
	g.Waiting++
	g.Example = u.String()
	m.stands(g, u, 1)
	m.meets(u)
	list := &g.Newest
	if v.Hopeful {
		list = &g.Hopeful
	}
	*list = append(*list, k)
	if len(*list) > newestKept {
		*list = append((*list)[:0], (*list)[1:]...)
	}
	g.dirty, m.changed = true, true
}

// shows returns the template of what a URL shows, nil if there is none yet, and where it is, or would be: a bag is told apart by that where it waits.
func (m *Model) shows(u crawl.URL) (t *Template, hash uint64) {
	if t, hash = m.find(u); isBag(m.buf) && hash != 0 {
		return m.view()
	}
	return t, hash
}

// stands counts a URL among those of its shape that wait with a group (n = 1), or no more (n = -1).
func (m *Model) stands(g *Group, u crawl.URL, n int64) {
	t, hash := m.shows(u)
	of := func(b behind) bool { return b.Hash == hash }
	i := slices.IndexFunc(g.Behind, of)
	if i < 0 && n < 0 {
		m.reshape(g)
		i = slices.IndexFunc(g.Behind, of)
	}
	if i < 0 && n > 0 && len(g.Behind) < maxBehind {
		shape := string(m.buf[:min(len(m.buf), maxPattern)])
		if t != nil {
			shape = t.Pattern
		}
		i, g.Behind = len(g.Behind), append(g.Behind, behind{Hash: hash, Shape: shape})
	}
	if i < 0 {
		return
	}
	b := &g.Behind[i]
	if b.Waiting += n; n > 0 {
		b.Example = u.String()
	}
	if b.Waiting <= 0 {
		g.Behind = slices.Delete(g.Behind, i, i+1)
	}
}

// reshape tells what waits with a group apart by the templates that it has now: which those are changes with each new template of a site.
func (m *Model) reshape(g *Group) {
	if g.shaped == m.Templates {
		return
	}
	g.shaped = m.Templates
	was := g.Behind
	g.Behind = nil
	for _, b := range was {
		if u, err := crawl.Parse(b.Example); err == nil {
			t, hash := m.shows(u)
			if hash != b.Hash {
				b.Hash, b.Shape = hash, string(m.buf[:min(len(m.buf), maxPattern)])
			}
			if t != nil {
				b.Shape = t.Pattern
			}
		}
		if i := slices.IndexFunc(g.Behind, func(o behind) bool { return o.Hash == b.Hash }); i >= 0 {
			g.Behind[i].Waiting += b.Waiting
			continue
		}
		g.Behind = append(g.Behind, b)
	}
}

// Resume notes that a URL waits no more.
func (m *Model) Resume(group uint32, u crawl.URL, k crawl.Key) {
	if g := m.groups[group]; g != nil {
		g.Waiting--
		m.stands(g, u, -1)
		g.Newest = slices.DeleteFunc(g.Newest, func(o crawl.Key) bool { return o == k })
		g.Hopeful = slices.DeleteFunc(g.Hopeful, func(o crawl.Key) bool { return o == k })
		g.dirty, m.changed = true, true
	}
}

// Size is about how many bytes of memory the Model takes.
func (m *Model) Size() int {
	shapes := 0
	for _, g := range m.groups {
		for i := range g.Behind {
			shapes += 100 + len(g.Behind[i].Shape) + len(g.Behind[i].Example)
		}
	}
	return 4096 + shapes + 600*len(m.byID) + 300*len(m.groups) + 150*len(m.nodes) + 150*len(m.guesses) + 50*len(m.tallies) + 16*len(m.spots) + 40*(m.marks.len()+m.rests.len()+m.chosen.len())
}

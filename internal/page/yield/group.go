package yield

import (
	"bytes"
	"math/bits"
	"strings"

	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
)

// Which templates belong together, and what groups take from each other.

// dated reports whether a template is of the days, weeks or hours of a calendar.
func (t *Template) dated() bool { return t.Dated > 0 && t.Dated*10 >= t.Marked*9 }

// equal is how many answers in a row of the templates of a group had a text that was known, or led to what was there.
func (m *Model) equal(g *Group) (n int64) {
	for _, t := range m.byID {
		if t.Group == g.ID {
			n += t.Equal
		}
	}
	return n
}

// loose reports whether a group has brought nothing yet.
func (g *Group) loose() bool { return g.New == 0 }

// share takes off the limit of each group what the cut groups have cost that it leads into: they are one trap, unless most of its own answers bring
// something. A thing is not one with the view that says of all things the same.
func (m *Model) share() {
	m.kin = nil
	spent, brought := map[uint32]int64{}, map[uint32]int64{}
	for _, t := range m.byID {
		if m.groups[t.Group].Cut {
			spent[t.Group] += t.Barren
		} else if t.bears() && !t.dated() {
			brought[t.Group] += t.New
		}
		brought[t.Group] -= t.Barren
	}
	for id := range spent {
		spent[id] += rounds*trialSize + newborns // what it will yet cost
	}
	less := map[uint32]int64{}
	type pair struct{ from, to uint32 }
	done := map[pair]bool{}
	for _, t := range m.byID {
		if !m.groups[t.Group].Cut {
			continue
		}
		for _, id := range t.From {
			v := m.byID[id]
			if v == nil || t.Button || t.forms() && t.aside(v) || m.groups[v.Group].Cut || done[pair{v.Group, t.Group}] {
				continue
			}
			done[pair{v.Group, t.Group}] = true
			less[v.Group] += spent[t.Group]
		}
	}
	for _, g := range m.groups {
		n := min(less[g.ID], limit-leastLimit)
		if brought[g.ID] > 0 {
			n = 0
		}
		if n != g.Less {
			g.Less, g.dirty, m.changed = n, true, true
		}
	}
}

// ledBy notes that a template, which may be nil, has named a URL of one that is cut: it leads into it, too, though that URL waits.
func (m *Model) ledBy(t, via *Template) {
	n := len(t.From)
	if n == maxFrom {
		return
	}
	if t.namedBy(via); len(t.From) > n {
		t.dirty, m.changed = true, true
		m.share()
	}
}

// steady reports whether a template has brought or named something so steadily that what came since is not a sign of an end: it found
// something often enough, and that it has not for so long would not be rare if it went on at the same rate. What is new by a name alone is
// something, too: of persons of whom half are private the others have names. The finds of a calendar come in seasons: weeks without one are
// not rare.
func (t *Template) steady() bool {
	found := t.finds() + min(t.Sure, littleTo) + t.Named
	if t.fed() {
		found -= max(0, t.finds()-t.Within) // what others have named comes from them
	}
	if found < steadyFrom || t.Barren > newPays*found {
		return false
	}
	longer := bits.Len64(uint64(found/steadyFrom)) * 7 / 10 // many gaps have a longer one by chance: by the logarithm of their number
	all := t.Barren
	if t.Little > t.finds() { // its finds are frequent, come in no order, and lift no cut
		all, longer = all+found, 2*longer
	}
	gaps := int64(rareGaps + longer)
	return t.Dry < dryAfter || t.dated() && t.Dry < seasonGap || t.Dry*found < gaps*all
}

// inner reports whether a page of a template was named by one of its own group, or of a template that brings nothing.
func (t *Template) inner(via *Template) bool {
	return via != nil && (via.Group == t.Group || via.hopeless())
}

// fed reports whether most of what a template has cost was named by such: what others name of it says nothing of that. Posts that a list names are
// new, and what posts name may be pages that are not there, under addresses of the same shape.
func (t *Template) fed() bool { return t.Cost > newPays && 2*t.Inner > t.Cost }

// twofold reports whether a template is two kinds under one shape: what others name is new, and nothing else was.
func (t *Template) twofold() bool { return t.fed() && t.Within == 0 && t.New >= sameAfter }

// spareSteady gives the templates of a group at its limit that find something steadily groups of their own: the pages of a list go on
// though its orders bring nothing, and so do the months of a calendar with events though its days do not. It reports whether the
// group is spared, as it is no longer at its limit, or is one such template.
func (m *Model) spareSteady(g *Group) bool {
	for id := uint32(1); id <= m.Templates; id++ {
		t := m.byID[id]
		switch {
		case t == nil || t.Group != g.ID || !t.steady():
		case g.Members == 1:
			return true
		default:
			m.alone(t, 0)
		}
	}
	return g.Sum < g.limit()
}

// unrelated reports whether neither of two templates leads to the other.
func (m *Model) unrelated(t, o *Template) bool {
	path, query, _ := strings.Cut(t.Pattern, "?")
	other, with, _ := strings.Cut(o.Pattern, "?")
	if path == other && query != "" && with != "" {
		return false // what they ask for differs, not what they ask
	}
	return t.Group != o.Group && !m.leads(t, o) && !m.leads(o, t)
}

// versions reports whether two templates differ in the values of parameters only: the lists of things that begin with one letter or another.
func versions(t, o *Template) bool {
	if t == o || strings.HasPrefix(t.Pattern, bagPrefix) {
		return false
	}
	path, query, ok := strings.Cut(t.Pattern, "?")
	other, with, _ := strings.Cut(o.Pattern, "?")
	if !ok || path != other || strings.Count(query, "&") != strings.Count(with, "&") {
		return false
	}
	for query != "" {
		var x, y string
		x, query, _ = strings.Cut(query, "&")
		y, with, _ = strings.Cut(with, "&")
		x, _, _ = strings.Cut(x, "=")
		if y, _, _ = strings.Cut(y, "="); x != y {
			return false
		}
	}
	return true
}

// joinVersions makes one group of the versions of a template whose last pages are known: lists that go on behind their ends are one trap,
// however many lists there are.
func (m *Model) joinVersions(t *Template) *Group {
	return m.joinAll(t, func(o *Template) bool { return o.repeats() && t.repeats() && versions(t, o) })
}

// joinCalendar makes one group of the days, weeks and months of a calendar whose last pages have brought nothing.
func (m *Model) joinCalendar(t *Template) *Group {
	if !t.dated() || t.bag() {
		return m.groups[t.Group]
	}
	base := t.base()
	return m.joinAll(t, func(o *Template) bool {
		return o.Dry >= dryAfter && o.dated() && !o.bag() && o.base() == base
	})
}

// base is a template's path up to what varies in it.
func (t *Template) base() string {
	path, _, _ := strings.Cut(t.Pattern, "?")
	if i := strings.IndexAny(path, "#*"); i >= 0 {
		path = path[:strings.LastIndexByte(path[:i], '/')]
	}
	return strings.TrimSuffix(path, "/")
}

// joinAll makes one group of a template and all that are of its kind. One that has brought much joins a group that is cut only when as many pages in a
// row have brought nothing, or half as many as are a cut by themselves: a list may have a gap.
func (m *Model) joinAll(t *Template, kind func(o *Template) bool) *Group {
	for id := uint32(1); id <= m.Templates; id++ {
		if o := m.byID[id]; o != nil && o.Group != t.Group && kind(o) {
			if g := m.groups[o.Group]; g.Cut {
				if t.Dry < min(t.New, limit/knownCosts/2) {
					continue
				}
				m.move(t, m.groups[t.Group], g)
				break
			}
			m.join(t, o)
		}
	}
	return m.groups[t.Group]
}

// repeats reports whether the last answers of a template were known.
func (t *Template) repeats() bool { return t.Equal >= dryAfter }

// aside reports whether a template whose pages lead to none of their kind stands beside the one that has named it, as the log-in pages of a
// directory's entries do: it is judged alone, and its cost is none of theirs. A day of a calendar, another order of what is shown and a path that
// grows are the same trap as what names them.
func (t *Template) aside(via *Template) bool {
	path, _, _ := strings.Cut(t.Pattern, "?")
	from, _, _ := strings.Cut(via.Pattern, "?")
	return path != from && !t.bag() && !t.dated()
}

// leads reports whether a template is led to by what it leads to itself: via has named a page of t, and t, over any number
// of templates, pages of via.
func (m *Model) leads(t, via *Template) bool {
	if t == via || t.Group == via.Group || m.narrows(t, via) {
		return true
	}
	seen := map[uint32]bool{via.ID: true}
	for work := []uint32{via.ID}; len(work) > 0; {
		v := m.byID[work[len(work)-1]]
		work = work[:len(work)-1]
		if v == nil {
			continue
		}
		for _, id := range v.From {
			if id == t.ID {
				return true
			}
			if !seen[id] {
				seen[id] = true
				work = append(work, id)
			}
		}
	}
	return false
}

// fruitless reports whether a template has brought nothing and named nothing new.
func (t *Template) fruitless() bool { return t.New == 0 && t.Named == 0 && t.Spared == 0 && !t.bag() }

// passes reports whether a template is of paths that grow, and has shown next to nothing new, and named as little. Paths of too many
// shapes are not that.
func (t *Template) passes() bool {
	return t.bag() && t.poor() && t.Dry >= sameAfter && t.Longer > 0
}

// joinPasses makes one group of all such templates, whatever their paths begin with: relative links that grow pass through all that there is.
func (m *Model) joinPasses(t *Template) {
	if t.passes() {
		m.joinAll(t, (*Template).passes)
	}
}

// runsOn reports whether a template's own pages have named more of it than it has brought, none of which is new: the chapters after the end of a book. Days
// without an event are no end, and files have versions.
func (t *Template) runsOn() bool {
	return t.single() && !t.dated() && t.Dry >= max(sameAfter, t.New) && 2*t.Inner > t.Cost
}

// joinRuns makes one group of all such templates below one first segment whose paths differ in one name only: the chapters of one book are no trap of
// their own. What is cut is joined by what has run on for a while.
func (m *Model) joinRuns(t *Template) {
	if t.runsOn() {
		m.joinAll(t, func(o *Template) bool {
			return o.First == t.First && o.runsOn() && siblings(t.Pattern, o.Pattern) && (!m.groups[o.Group].Cut || t.Dry >= runsFor)
		})
	}
}

// joinSibling makes one group of those of two templates without fruit whose paths differ in one name only: the histories of two
// articles of a wiki, the sets of tags that begin with one or the other.
func (m *Model) joinSibling(t *Template) *Group {
	for id := uint32(1); id <= m.Templates; id++ {
		o := m.byID[id]
		if o != nil && o != t && o.Group != t.Group && o.Barren >= sameAfter && o.fruitless() && siblings(t.Pattern, o.Pattern) {
			return m.join(t, o)
		}
	}
	return m.groups[t.Group]
}

// findKin returns, for each first segment, the cut group that has templates of many paths below it, none of which has brought anything; for each path the one
// that has many that differ in their parameters; and, for copiesKin, the one that has many of copies.
func (m *Model) findKin() map[uint64]uint32 {
	type kin struct {
		of    uint64
		group uint32
	}
	many, found := map[kin]int{}, map[uint64]uint32{}
	count := func(of uint64, group uint32, as int) {
		k := kin{of, group}
		if many[k] += as; many[k] >= kinCut && found[of] == 0 {
			found[of] = group
		}
	}
	for id := uint32(1); id <= m.Templates; id++ {
		t := m.byID[id]
		if t == nil || !t.fruitless() || !m.groups[t.Group].Cut {
			continue
		}
		as, path := 1, pathOf([]byte(t.Pattern))
		if t.copies() {
			as = copyKin
			count(copiesKin, t.Group, 1)
		}
		if many[kin{path, t.Group}] == 0 { // choices of one list say nothing of what else lies below its first segment
			count(t.First, t.Group, as)
		}
		count(path, t.Group, as)
	}
	return found
}

// kinOf returns the group that findKin has found for a pattern, nil if it has none.
func (m *Model) kinOf(pattern []byte) *Group {
	if m.kin == nil {
		m.kin = m.findKin()
	}
	if g := m.groups[m.kin[pathOf(pattern)]]; g != nil {
		return g
	}
	return m.groups[m.kin[first(pattern)]]
}

// pathOf is a mark of a pattern without its parameters.
func pathOf(pattern []byte) uint64 {
	path, _, _ := bytes.Cut(pattern, []byte("?"))
	return xxh3.Hash(path)
}

// copies reports whether a template has shown what others have, word for word, and nothing else.
func (t *Template) copies() bool { return t.New == 0 && t.Equal >= kinEvery && t.Equal == t.Barren }

// joinKin makes one group of the templates below one first segment that have brought nothing, or of those with the same parameters that bring nothing, once
// they have cost together what leads to a cut: the orders of choices are paths of many shapes. Where many of them are cut a further one joins them soon.
func (m *Model) joinKin(t *Template) *Group {
	g := m.groups[t.Group]
	if g.Cut {
		return g
	}
	vain := m.inVain(t.keys)
	choices := m.cutChoices(t, false)
	if soon := t.Tried || t.Barren >= kinSoon || t.copies() || choices != nil; soon {
		cut := m.kinOf([]byte(t.Pattern))
		if cut == nil && t.copies() {
			cut = m.groups[m.kin[copiesKin]]
		}
		if (cut == nil || t.New > 0) && vain != 0 {
			cut = m.cutWith(vain)
		}
		if cut == nil {
			cut = choices
		}
		if cut != nil && (t.New == 0 || vain != 0) {
			return m.joinTo(t, cut)
		}
	}
	if t.New == 0 {
		m.joinSum(t, func(o *Template) bool { return o.First == t.First && o.New == 0 })
	}
	if t.copies() && t.Group == g.ID {
		m.joinSum(t, (*Template).copies)
	}
	if t.Group == g.ID && m.combination(t) {
		m.joinSum(t, func(o *Template) bool { return m.together(t, o) && o.poor() })
	}
	if vain != 0 && t.Group == g.ID {
		m.joinSum(t, func(o *Template) bool { return o.has(vain) && o.poor() })
	}
	return m.groups[t.Group]
}

// joinTo makes one group of that of a template and another one.
func (m *Model) joinTo(t *Template, g *Group) *Group {
	for _, o := range m.byID {
		if o.Group == g.ID {
			return m.join(t, o)
		}
	}
	return m.groups[t.Group]
}

// joinSum makes one group of a template and all of a kind, if they have cost together what leads to a cut.
func (m *Model) joinSum(t *Template, kind func(o *Template) bool) {
	sum, others := m.groups[t.Group].Sum, map[uint32]*Template{}
	var kin []*Template
	for id := uint32(1); id <= m.Templates; id++ {
		o := m.byID[id]
		if o == nil || o.Barren == 0 || o.Group == t.Group || others[o.Group] != nil || m.groups[o.Group].Cut || !kind(o) {
			continue
		}
		others[o.Group] = o
		kin = append(kin, o)
		sum += m.groups[o.Group].Sum
	}
	if sum < limit {
		return
	}
	for _, o := range kin {
		m.join(t, o)
	}
}

// join makes one group of those of a template and of the one that has named it: neither brings anything.
func (m *Model) join(t, via *Template) *Group {
	from, to := m.groups[t.Group], m.groups[via.Group]
	if from.Cut || to.Cut && from.Members > 1 {
		return from // they are judged already
	}
	to.Sum += from.Sum
	from.Sum = 0
	for _, o := range m.byID {
		if o.Group == from.ID {
			m.move(o, from, to)
		}
	}
	if m.cuts > 0 {
		m.share()
	}
	return to
}

// alone gives a template that has brought something a group of its own, with its share of the sum.
func (m *Model) alone(t *Template, pays int64) *Group {
	from, g := m.groups[t.Group], m.newGroup()
	g.Sum = max(0, min(t.Cost, from.Sum)-pays)
	from.Sum, t.Cost = max(0, from.Sum-t.Cost), g.Sum
	t.Inner = min(t.Inner, t.Cost)
	m.move(t, from, g)
	return g
}

func (m *Model) move(t *Template, from, to *Group) {
	from.Members--
	to.Members++
	from.flight -= t.flight
	to.flight += t.flight
	t.Group, m.kin = to.ID, nil
	m.touch(t, to)
	from.dirty = true
	m.changed = true
}

// siblings reports whether two patterns differ in one name of their paths only.
func siblings(a, b string) bool {
	_, ok := differs(a, b)
	return ok
}

// differs returns the one name of a pattern's path in which another one differs from it; ok says that there is one.
func differs(a, b string) (in string, ok bool) {
	from := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			from = i + 1
		}
	}
	name := func(s string) int {
		if i := strings.IndexAny(s[from:], "/?;"); i >= 0 {
			return from + i
		}
		return len(s)
	}
	x, y := name(a), name(b)
	return a[from:x], from > 0 && x < len(a) && a[x:] == b[y:]
}

// sound reports whether what a template names is finite as far as is known: it brings something, or it is a list that no chain of
// templates without fruit leads to from itself.
func (m *Model) sound(via *Template) bool {
	const open, done = 1, 2
	state := map[uint32]int{}
	var walk func(v *Template) bool
	walk = func(v *Template) bool {
		if !v.dry() {
			return true
		}
		state[v.ID] = open
		for _, id := range v.From {
			o := m.byID[id]
			if o == nil || state[id] == done {
				continue
			}
			if id == v.ID || state[id] == open || !walk(o) {
				return false
			}
		}
		state[v.ID] = done
		return true
	}
	return walk(via)
}

// Watches reports whether it matters which of the URLs that a page of a template names lead to more of its kind: its group is under
// suspicion, or a part of its URLs may make no difference, or it has brought nothing so often that what it is paid for must be known.
func (m *Model) Watches(template uint32) bool {
	t := m.byID[template]
	return t != nil && (t.All || t.Free || m.suspect(m.groups[t.Group]) || t.Barren > newPays && t.mixed())
}

// Feeding reports whether it matters which of the URLs that a page of a template names may lead to more of its kind: Watches says so, or
// most of what the template brings is what its links are called.
func (m *Model) Feeding(template uint32) bool {
	t := m.byID[template]
	return t != nil && (m.Watches(template) || t.Marked >= sameAfter && 2*t.Called > t.Marked)
}

// Suspects reports whether the group of a template is under suspicion, or most of its own answers brought nothing.
func (m *Model) Suspects(template uint32) bool {
	t := m.byID[template]
	return t != nil && (t.mixed() && t.Marked >= sameAfter || m.suspect(m.groups[t.Group]))
}

// Bears reports whether a URL that was not there is most likely new: most of its template are, and nothing that it has
// brought of late was not. It is not one of the group of the template that names it.
func (m *Model) Bears(u crawl.URL, via uint32) bool {
	t, _ := m.find(u)
	v := m.byID[via]
	return t != nil && v != nil && t.Group != v.Group && t.New >= bears && t.Dry < dryAfter && !t.mixed() && !m.groups[t.Group].Cut
}

// LeadsOn reports whether a URL that a page of a template has named is of the same template, and whether nothing like it was
// had: it differs from all that were in more than a part that is likely to make no difference.
func (m *Model) LeadsOn(u crawl.URL, via uint32) (same, first bool) {
	t, _ := m.find(u)
	if same = t != nil && t.ID == via; same {
		first, _ = m.visit(t)
	}
	return same, first
}

// Likely reports whether there is a part of URLs that is likely to make no difference, or was.
func (m *Model) Likely() bool { return m.likely }

// Again reports whether a URL differs from one that was had only in a part that is likely to make no difference.
func (m *Model) Again(u crawl.URL) bool {
	t, _ := m.find(u)
	if t == nil {
		return false
	}
	_, again := m.visit(t)
	return again
}

// Feed counts a URL that a page of a template has named: it may lead to more pages of that kind if it is one, or of a template that has
// named one, over any number of others. Of a template without answers it may if it repeats all of the page's URL.
func (m *Model) Feed(f *Feeds, u crawl.URL, template uint32, page string) {
	v := m.byID[template]
	t, _ := m.find(u)
	if t != nil && v != nil {
		m.grow(t, v, f)
	}
	m.handsOn(f, v, page)
	switch {
	case v == nil:
	case t == v:
		f.Own, f.Led, f.Same = f.Own+1, f.Led+1, f.Same+1
	case t == nil || t.Answers == 0:
		if extends(u.String(), page) {
			f.Own++
		}
	case m.leads(t, v):
		f.Own, f.Led = f.Own+1, f.Led+1
	}
}

// extends reports whether a URL goes on where another one ends: with more segments, or, where that has a query, more parameters.
func extends(child, parent string) bool {
	to, with, _ := strings.Cut(child, "?")
	from, had, query := strings.Cut(parent, "?")
	if !query {
		return strings.HasPrefix(to, strings.TrimSuffix(from, "/")+"/") && strings.Count(to, "/") > strings.Count(from, "/")
	}
	if to != from {
		return false
	}
	for one := range strings.SplitSeq(had, "&") {
		if !strings.Contains("&"+with+"&", "&"+one+"&") {
			return false
		}
	}
	return true
}

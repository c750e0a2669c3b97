package yield

import (
	"cmp"
	"strings"

	"argosy/internal/crawl"
)

// What was cut is tried again. What was cut with others is heard by itself when nothing else is left to do, if it is a bag: that holds paths of
// many kinds, and is heard by what they show. A file's pages are as many as there are files, though its versions have no end.

const (
	hearGrow    = 4  // answers that may name URLs of its kind that were not there, and half as many as they are: what has an end names fewer and fewer
	hearBred    = 24 // URLs of its kind that they may name, and two for three of its answers
	hearFirst   = 8  // answers that bring nothing in the first hearing of a template
	hearEndless = 4  // views that go on to name more, after which no other of the site is heard
	metSeed     = 0x6c62272e07bb0142
	hearMost    = 8 // times that one template is let go, if it has brought something each time
)

// Trials returns the URLs that are tried now: those of groups whose round has come, or, when nothing else is left to do (idle),
// those of the next round of all that have rounds left. some reports whether it was any group's round.
func (m *Model) Trials(idle bool) (out []crawl.Key, some bool) {
	if m.cuts == 0 {
		return nil, false
	}
	for id := uint32(1); id <= m.Groups; id++ {
		g := m.groups[id]
		if g == nil || !g.Cut || g.Round >= rounds || len(g.Newest)+len(g.Hopeful) == 0 || !idle && m.Answers < g.Next {
			continue
		}
		size := int(min(trialSize, m.tries(g)))
		if size <= 0 {
			continue
		}
		g.Round, some = g.Round+1, true
		g.Next = m.Answers + firstTrial<<g.Round
		first := g.Hopeful[max(0, len(g.Hopeful)-size):]
		rest := g.Newest[max(0, len(g.Newest)-size+len(first)):]
		m.tried(g, len(first)+len(rest))
		out = append(append(out, first...), rest...)
	}
	return out, some
}

// Release lets all groups that are cut go on, for a good deal longer than the first time.
func (m *Model) Release() {
	for _, g := range m.groups {
		if !g.Cut {
			continue
		}
		if g.Part != nil {
			for _, q := range m.allLearned() {
				if q.Group == g.ID {
					was := *q
					q.Differ, q.Unlike = q.Differ+q.Agree+1, q.Unlike+q.Alike+1
					m.paired(q, &was)
					m.weigh(q)
					q.dirty = true
				}
			}
			continue
		}
		grace := max(1, g.Grace) * Grace
		m.lift(g, newPays)
		g.Grace, g.Sum = grace, 0
	}
	m.changed = true
}

// Hear lets one view of a bag go that is cut, first one that asks for least, as what stands there for readers does. All below
// one first segment have so many answers that bring nothing as a group has that is cut, and none of a site is let go any more once four have gone on
// to name more, or one that is not told from others by what it shows. It returns that view's template, 0 if there is none; the owner must then judge once more what waits of it.
func (m *Model) Hear() uint32 {
	if m.Endless >= hearEndless {
		return 0
	}
	var best *Template
	for _, g := range m.groups {
		for _, b := range g.Behind {
			if t := m.heardOf(b); t != nil && m.hears(t) && (best == nil || m.heardBefore(t, best)) {
				best = t
			}
		}
	}
	if best == nil {
		return 0
	}
	home := best.Group
	best.Heard++
	if m.byHash[best.Hash] == nil {
		m.Templates++
		best.ID = m.Templates
		m.groups[home].Members++
		m.keep(best)
		m.metaDirty = true
	}
	best.Free, best.Home = true, home
	best.Since, best.Had, best.Grown, best.Bred = best.Barren, best.New, 0, 0
	m.alone(best, 0)
	return best.ID
}

// heardOf returns the template of a view that waits, nil if it is not of a bag; one that was not heard yet is not kept.
func (m *Model) heardOf(b behind) *Template {
	if t := m.byHash[b.Hash]; t != nil || !isBag([]byte(b.Shape)) {
		return t
	}
	u, err := crawl.Parse(b.Example)
	if err != nil {
		return nil
	}
	bag, _ := m.find(u)
	if bag == nil || !bag.bag() || m.filters(bag) || len(m.byID) >= maxTemplates {
		return nil
	}
	return &Template{Hash: b.Hash, Pattern: b.Shape, Group: bag.Group, First: bag.First, Params: bag.Params, Dry: max(1, bag.Dry), All: bag.All, dirty: true}
}

// hears reports whether a template may be let go: one that was cut together with others, or a view of a bag that was cut as a whole.
func (m *Model) hears(t *Template) bool {
	g := m.groups[t.Group]
	return g.Cut && g.Part == nil && (g.Members > 1 || m.byHash[t.Hash] == nil) && t.hearing() >= 0 && m.spent[t.First] < limit && t.bag() && !t.dated() && !t.Button && !t.forms() && !m.combines(t) && !m.relative(g)
}

// hearing says which hearing a template is to have, -1 if none: first a short one, so that what brings something is known; then, before the others
// that ask for as little, what has.
func (t *Template) hearing() int {
	switch {
	case t.Heard == 0:
		return 0
	case t.New > t.Had && t.Heard < hearMost:
		return 1
	case t.Heard == 1:
		return 2
	}
	return -1
}

// relative reports whether a group is of paths that grow below several first segments, and so of links that are relative to each page: what a program
// shows of a thing lies below one.
func (m *Model) relative(g *Group) bool {
	first := uint64(0)
	for _, t := range m.byID {
		if t.Group == g.ID && t.passes() {
			if first != 0 && t.First != first {
				return true
			}
			first = t.First
		}
	}
	return false
}

// heardBefore reports whether a template is heard before another: what asks for less, then what was met first, as a thing is before its views.
func (m *Model) heardBefore(t, o *Template) bool {
	return cmp.Or(cmp.Compare(t.asks(), o.asks()), cmp.Compare(t.hearing(), o.hearing()), cmp.Compare(m.met(t), m.met(o)), cmp.Compare(t.Pattern, o.Pattern)) < 0
}

// meets notes when a URL of a view was met first: answered, or set aside.
func (m *Model) meets(u crawl.URL) {
	if _, hash := m.shows(u); isBag(m.buf) && !m.marks.has(hash^metSeed) {
		m.marks.add(hash^metSeed, uint64(m.Answers))
	}
}

// met is how many answers there were when a view was met first.
func (m *Model) met(t *Template) uint64 {
	at, _ := m.marks.get(t.Hash ^ metSeed)
	return at
}

// view reports whether a bag is told from others of its site by what a program shows of a thing, not by its parameters and endings alone.
func (t *Template) view() bool {
	path, query, _ := strings.Cut(t.Pattern, "?")
	return strings.Count(path, "/") > 1 || strings.Contains(query, "=")
}

// asks is how many parameters a template has.
func (t *Template) asks() int {
	_, query, ok := strings.Cut(t.Pattern, "?")
	if !ok {
		return 0
	}
	return 1 + strings.Count(query, "&")
}

// heard judges a template that was let go after an answer that brought nothing: it goes on, or is cut with what it was cut with before.
func (m *Model) heard(t *Template, a *Answer) Event {
	n := t.Barren - t.Since
	from, home := m.groups[t.Group], m.home(t)
	t.Spent++
	m.spent[t.First]++
	if m.spent[t.First] < limit && !t.grows(n) && (t.Heard > 1 || n < hearFirst) {
		return Nothing
	}
	t.Free = false
	if t.grows(n) {
		m.Endless++ // and so may the others be
		if t.Heard = hearMost; !t.view() {
			m.Endless = hearEndless
		}
	}
	if home != from && home.Cut && from.Members == 1 {
		m.move(t, from, home)
		m.touch(t, home)
		return Nothing // what is pending is judged when it is given out
	}
	m.cut(from, a)
	return Cut
}

// home is the group that a template was cut with which was let go; its own if that is gone, as when all of it were let go.
func (m *Model) home(t *Template) *Group {
	if g := m.groups[t.Home]; t.Free && g != nil {
		return g
	}
	return m.groups[t.Group]
}

// grows reports whether so many answers of a template that was let go, which brought nothing, have named so much of its kind that it has no end: a
// set of which each answer names one that was not there, on average, does not die out.
func (t *Template) grows(n int64) bool {
	return t.Grown > hearGrow+n/2 || t.Bred > hearBred+n*2/3
}

// grow notes that a page of a template has named a URL that was not there. If the page's template was let go and brings nothing it goes on, so far:
// by what may be let go as it was, too.
func (m *Model) grow(t, via *Template, f *Feeds) {
	if !via.Free || via.Dry == 0 || !t.bag() || !t.Free && !m.groups[t.Group].Cut || t.asks() > via.asks() {
		return
	}
	via.Bred, via.dirty = via.Bred+1, true
	if !f.grew {
		f.grew = true
		via.Grown++
	}
}

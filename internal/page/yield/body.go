package yield

import "github.com/zeebo/xxh3"

// What is known of answers whose text was not marked: their bytes. The files of an archive stand under other names as well, and who has met them
// there unmarked would take them for new here.

// Body is a mark of the bytes with a digest.
func Body(digest string) uint64 { return xxh3.HashString(digest) | 1 }

// body remembers the bytes of an answer, and returns the template that has shown them before; nil if none has, or it is forgotten.
func (m *Model) body(a *Answer) *Template {
	if a.Body == 0 {
		return nil
	}
	by, ok := m.bodies.get(a.Body)
	first := m.byID[uint32(by)]
	if !ok || first == nil {
		first, by = nil, uint64(a.Template)
	}
	m.bodies.add(a.Body, by)
	return first
}

// Had reports whether an answer's bytes were there.
func (m *Model) Had(body uint64) bool { return body != 0 && m.bodies.has(body) }

// same judges an answer that was not marked but whose bytes were there: it is known.
func (m *Model) same(t, via *Template, a *Answer, first *Template) Event {
	m.weight = 1
	t.Marked++
	if m.Feeding(t.ID) && !m.Watches(t.ID) {
		a.Feeds = Feeds{Own: a.Found}
	}
	if m.unrelated(t, first) {
		return m.barren(t, via, a, faintCosts, aKnown)
	}
	return m.barren(t, via, a, knownCosts, aKnown)
}

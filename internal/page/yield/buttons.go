package yield

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
)

// Buttons: pages beside things, one of each kind for each thing, that say the same for all of them, such as a log-in page. Versions of files
// are as often what they were before, but they are many texts.

const (
	sayings    = 8           // texts that a template is told by: what stands beside a thing under any name is one template
	saidOft    = sameAfter   // answers that say one of them, after which it is one that they say
	sureFrom   = 8 * saidOft // answers in a row of one template of several, after which it is one of them
	often      = 20          // one answer in so many that says something else is often: then a template is no button, whatever stands beside it
	outweighed = 4           // and so many of these are outweighed by one that says something else
)

// saying is what some answers of a template say, apart from their addresses and numbers.
type saying struct {
	Text  uint64 `cbor:"1,keyasint"`
	Count int64  `cbor:"2,keyasint"`
}

// says notes what an answer says, and reports whether it is one of the few things that the template's answers say (frequent items: Misra and
// Gries 1982).
func (t *Template) says(a *Answer) bool {
	b := make([]byte, 0, 4*len(a.Sample))
	for _, mark := range a.Sample {
		b = binary.LittleEndian.AppendUint32(b, mark)
	}
	text := xxh3.Hash(b)
	i := slices.IndexFunc(t.Sayings, func(s saying) bool { return s.Text == text })
	switch {
	case i >= 0:
		t.Sayings[i].Count++
		return t.Sayings[i].Count > saidOft
	case len(t.Sayings) < sayings:
		t.Sayings = append(t.Sayings, saying{text, 1})
	default:
		for i := range t.Sayings {
			t.Sayings[i].Count--
		}
		t.Sayings = slices.DeleteFunc(t.Sayings, func(s saying) bool { return s.Count <= 0 })
	}
	return false
}

// Beside reports whether it matters which page has named one of a template: it may be a button of a page of the template via, which go on bringing
// something.
func (m *Model) Beside(template, via uint32) bool {
	t, v := m.byID[template], m.byID[via]
	return t != nil && v != nil && t != v && 4*v.New >= v.Marked && t.New*often < t.Marked+often && !t.bag() && !t.dated() && t.Answers > 0
}

// stands reports whether a URL repeats all that varies in that of the page of a template that has named it, so that it stands beside what that
// page is about. What a list names does not.
func stands(u, parent crawl.URL, via *Template) bool {
	if parent.IsZero() {
		return false
	}
	var c, p pieces
	c.split(u)
	p.split(parent)
	have := map[string]bool{}
	for _, s := range c.segs {
		have[s] = true
	}
	c.values(func(s string) { have[s] = true })
	some, all := false, true
	need := func(s string) { some, all = true, all && have[s] }
	p.values(need)
	if segs := slices.DeleteFunc(p.segs, func(s string) bool { return s == "" }); !some && len(segs) > 0 && strings.HasSuffix(strings.TrimSuffix(via.Pattern, "/"), "/*") {
		need(segs[len(segs)-1])
	}
	return some && all
}

// button counts an answer that may be one of a template of buttons: it has nothing new and leads nowhere, as long as others have named it. It
// cuts the template, and only that, when so many in a row have said the same few things, of its own or of all that stand beside things of one
// kind: of the rest fewer than 3/n say something else.
func (m *Model) button(t, via *Template, a *Answer, of kind) Event {
	switch {
	case of.brings():
		m.speaks(t)
		return m.wasNone(t, of)
	case !a.Page || a.Moved || a.Missing || a.Found > 0 || of == isNeutral || of == isUntold || !m.Beside(t.ID, a.Via) || !stands(a.URL, a.Parent, via):
		return Nothing
	case !t.says(a):
		t.Alike = max(0, t.Alike-outweighed)
		return Nothing
	}
	t.Alike++
	if t.Alike < sureFrom || m.groups[t.Group].Cut {
		return Nothing
	}
	all, cut := m.inRow(t)
	if all < limit*max(1, m.groups[t.Group].Grace) {
		return Nothing
	}
	if m.groups[t.Group].Members > 1 {
		m.alone(t, 0)
	}
	t.Button, t.Barren = true, max(t.Barren, t.Alike)
	if cut != nil {
		m.move(t, m.groups[t.Group], cut)
		return Cut
	}
	m.cut(m.groups[t.Group], a)
	return Cut
}

// beside calls fn for a template and for those whose paths differ from its own in their last name, unless what they say differs often.
func (m *Model) beside(t *Template, fn func(o *Template)) {
	i := strings.LastIndexByte(t.Pattern, '/') + 1
	if strings.ContainsAny(t.Pattern, "?;") {
		fn(t)
		return
	}
	for id := uint32(1); id <= m.Templates; id++ {
		o := m.byID[id]
		if o != nil && len(o.Pattern) > i && o.Pattern[:i] == t.Pattern[:i] && !strings.ContainsAny(o.Pattern[i:], "/?;") && o.New*often < o.Marked {
			fn(o)
		}
	}
}

// inRow returns how many answers in a row of what stands beside the same things as a template's pages said the same few things; and the group
// of what is cut for that.
func (m *Model) inRow(t *Template) (all int64, cut *Group) {
	m.beside(t, func(o *Template) {
		if all += o.Alike; o.Button && m.groups[o.Group].Cut {
			cut = m.groups[o.Group]
		}
	})
	return all, cut
}

// speaks notes that an answer of a template has something to say. If that happens seldom, it counts for all that stands beside the same things.
func (m *Model) speaks(t *Template) {
	if t.Alike = 0; (t.New+1)*often >= t.Marked {
		return
	}
	m.beside(t, func(o *Template) { o.Alike, o.dirty = 0, true })
}

// wasNone notes that a template has something to say. What was cut for saying nothing goes on.
func (m *Model) wasNone(t *Template, of kind) Event {
	g := m.groups[t.Group]
	if !t.Button || of != isNew && of != isPartly {
		return Nothing
	}
	t.Button = false
	if !g.Cut || g.Members > 1 {
		return Nothing // it gets a group of its own
	}
	sum := g.Sum
	m.lift(g, newPays)
	g.Sum = min(g.Sum, sum)
	return Lifted
}

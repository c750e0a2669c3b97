package yield

import (
	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
)

// What stands in a bag is of many forms, /u/r/issues/7 beside /u/r/blame/main/x, and most of a program's views may bring nothing. URLs of a form that
// has brought something most of the time are not judged by the others: so many at most are asked for in vain as were new.

const (
	formsFrom = 4 // new answers of a form, after which it is judged by itself

	formNew    = 0x8ebc6af09c88c6e3
	formBarren = 0x589965cc75374cc3
)

// form is a mark of what is the same in the URL that was split last and in those that differ from it in numbers, and in the values of parameters, only.
func (m *Model) form() uint64 {
	b := m.tmp[:0]
	for _, s := range m.pieces.low {
		b = append(appendClass(b, s, classify(s)), '/')
	}
	for _, q := range m.pieces.params {
		b = append(append(b, q.name...), '?')
	}
	return xxh3.Hash(b)
}

// formed counts an answer of a bag's template for its form; the URL is in m.pieces.
func (m *Model) formed(t *Template, brings bool) {
	if !t.bag() {
		return
	}
	form := m.form()
	if !brings {
		m.counted(form ^ formBarren)
	} else if m.counted(form^formNew) == formsFrom {
		m.Bearing++
		m.metaDirty = true
	}
}

// good reports whether a URL of a template, which is in m.pieces, has a form that goes on bringing something.
func (m *Model) good(t *Template) bool {
	if !t.bag() || m.Bearing == 0 {
		return false
	}
	form := m.form()
	brought, _ := m.marks.get(form ^ formNew)
	barren, _ := m.marks.get(form ^ formBarren)
	return brought >= formsFrom && brought > barren
}

// Good reports whether a URL has a form that goes on bringing something, though others of its template may not.
func (m *Model) Good(u crawl.URL) bool {
	t, _ := m.find(u)
	return t != nil && m.good(t)
}

package yield

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
)

// What stands in a bag is of many forms, /u/r/issues/7 beside /u/r/blame/main/x, and most of a program's views may bring nothing. URLs of a form that
// goes on bringing something are not judged by the others. A URL has three forms, each wider than the one before: what differs from it in numbers
// only; in all names of its path but the last, as /t/any-topic/7/print does; and in that as well. The narrowest one decides of which enough is known. For
// the wider ones each narrow one counts once as new, and once as not.

const (
	formsFrom  = 4        // new answers of a form, after which it is known,
	formsVain  = dryAfter // or so many others
	formsBound = 64       // what its new answers are ahead of others by at most: so many of these end it, whatever it has brought before

	formMark = 0x8ebc6af09c88c6e3 // set apart from other marks, and from each other
)

// standing is what a form has brought.
type standing struct {
	brought, barren uint64 // answers that had something new, and others
	ahead           uint64 // those less these, from 0 to formsBound
}

const standingBits = 24

func (s standing) packed() uint64 {
	const most = 1<<standingBits - 1
	return min(s.brought, most)<<(8+standingBits) | min(s.barren, most)<<8 | s.ahead
}

func unpacked(v uint64) standing {
	const most = 1<<standingBits - 1
	return standing{v >> (8 + standingBits), v >> 8 & most, v & 0xff}
}

// forms are marks of those of the URL of a template that was split last, the narrowest first.
func (m *Model) forms(t *Template) [3]uint64 {
	var roomNarrow, roomWide, roomLast [96]byte
	narrow, wide, last := roomNarrow[:0], binary.LittleEndian.AppendUint64(roomWide[:0], t.Hash), roomLast[:0]
	for _, s := range m.pieces.low {
		c := classify(s)
		last = append(appendClass(last[:0], s, c), '/')
		narrow = append(narrow, last...)
		if c == number {
			wide = append(wide, '#', '/')
		} else {
			wide = append(append(append(wide, '*'), extension(s)...), '/')
		}
	}
	for _, q := range m.pieces.params {
		narrow = append(append(narrow, q.name...), '?')
		wide = append(append(wide, q.name...), '?')
	}
	widest := xxh3.Hash(wide) ^ formMark
	return [3]uint64{xxh3.Hash(narrow) ^ formMark, xxh3.HashSeed(last, widest), widest}
}

// formed counts an answer of a bag's template for its forms; the URL is in m.pieces.
func (m *Model) formed(t *Template, brings bool) {
	if !t.bag() {
		return
	}
	for i, form := range m.forms(t) {
		v, _ := m.marks.get(form)
		s := unpacked(v)
		again := s.brought > 0
		if brings {
			s.brought, s.ahead = s.brought+1, min(s.ahead+1, formsBound)
			if s.brought == formsFrom {
				m.Bearing++
				m.metaDirty = true
			}
		} else {
			again = s.barren > 0
			s.barren, s.ahead = s.barren+1, max(s.ahead, 1)-1
		}
		m.marks.add(form, s.packed())
		if i == 0 && again {
			return // one narrow form says nothing of the rest
		}
	}
}

// good reports whether a URL of a template, which is in m.pieces, has a form that goes on bringing something.
func (m *Model) good(t *Template) bool {
	if !t.bag() || m.Bearing == 0 {
		return false
	}
	for _, form := range m.forms(t) {
		v, _ := m.marks.get(form)
		if s := unpacked(v); s.brought >= formsFrom || s.barren >= formsVain {
			return s.brought >= formsFrom && s.ahead > 0
		}
	}
	return false
}

// Good reports whether a URL has a form that goes on bringing something, though others of its template may not.
func (m *Model) Good(u crawl.URL) bool {
	t, _ := m.find(u)
	return t != nil && m.good(t)
}

package yield

import (
	"encoding/binary"
	"strings"

	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
)

// What stands in a bag is of many forms, /u/r/issues/7 beside /u/r/blame/main/x, and most of a program's views may bring nothing. URLs of a form that
// goes on bringing something are not judged by the others. A URL has four forms, each wider than the one before: what differs from it in numbers
// only; in all names of its path but the last, as /t/any-topic/7/print does; that below any first name, whatever bag it is in; and what differs in the
// last name as well. The narrowest one decides of which enough is known. For the wider ones each narrow one counts once as new, and once as not.
//
// A form is worth what its pages lead to, too: of a code host's lists of issues most may be empty, and what the others name is new.

const (
	formsFrom  = 4         // new answers of a form, after which it is known,
	formsVain  = dryAfter  // or so many others
	formsBound = 64        // what its new answers are ahead of others by at most: so many of these end it, whatever it has brought before
	formsNamed = namedPays // and so many of these an answer outweighs that its pages have named
	formsDeep  = 3         // names of a path: an owner's, a thing's, and what is shown of it

	formLast, formsWidest = 1, 3 // of the four, those between have the last name

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
func (m *Model) forms(t *Template) [4]uint64 {
	var roomNarrow, roomWide, roomLast [96]byte
	narrow, wide, last := roomNarrow[:0], roomWide[:0], roomLast[:0]
	for _, s := range m.pieces.low {
		c := classify(s)
		if s != "" { // a directory's last name stands before the slash
			last = append(appendClass(last[:0], s, c), '/')
		}
		narrow = append(appendClass(narrow, s, c), '/')
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
	anyFirst := xxh3.Hash(wide) ^ formMark
	own := xxh3.HashSeed(binary.LittleEndian.AppendUint64(wide, t.Hash), formMark)
	return [4]uint64{xxh3.Hash(narrow) ^ formMark, xxh3.HashSeed(last, own), xxh3.HashSeed(last, anyFirst), own}
}

// formsFor are the forms that an answer counts for whose URL is in m.pieces, the narrowest first: all of a bag, which bag says; of others those that
// have its last name, if their paths have as many names as formsDeep.
func (m *Model) formsFor(t *Template) (forms []uint64, bag bool) {
	if bag = t.bag(); !bag && !t.deep() {
		return nil, false
	}
	all := m.forms(t)
	if bag {
		return all[:], true
	}
	return all[formLast:formsWidest], false
}

// deep reports whether the paths of a template have so many names that others may be of one form with them below another first name.
func (t *Template) deep() bool {
	path, _, _ := strings.Cut(t.Pattern, "?")
	return strings.Count(path, "/") >= formsDeep
}

// Names reports whether it matters which page of a template has named a URL: it counts for the forms of that page.
func (m *Model) Names(template uint32) bool {
	t := m.byID[template]
	return t != nil && (t.bag() || t.mixed() && t.deep())
}

// nameForms counts a new answer for the forms of the page that has named it. The answer's URL is in m.pieces, before and after.
func (m *Model) nameForms(via *Template, a *Answer) {
	if via == nil || a.Parent.IsZero() || !m.Names(via.ID) {
		return
	}
	m.pieces.split(a.Parent)
	forms, bag := m.formsFor(via)
	if bag {
		forms = forms[:formsWidest] // the widest says nothing of one view
	}
	for _, form := range forms {
		v, _ := m.marks.get(form)
		s := unpacked(v)
		s.brought, s.ahead = s.brought+1, min(s.ahead+formsNamed, formsBound)
		m.begins(s)
		m.marks.add(form, s.packed())
	}
	if !a.URL.IsZero() { // of what was not marked nobody asks
		m.pieces.split(a.URL)
	}
}

// formed counts an answer for its forms; the URL is in m.pieces.
func (m *Model) formed(t *Template, brings bool) {
	forms, bag := m.formsFor(t)
	for i, form := range forms {
		v, _ := m.marks.get(form)
		s := unpacked(v)
		again := s.brought > 0
		if brings {
			s.brought, s.ahead = s.brought+1, min(s.ahead+1, formsBound)
			m.begins(s)
		} else {
			again = s.barren > 0
			s.barren, s.ahead = s.barren+1, max(s.ahead, 1)-1
		}
		m.marks.add(form, s.packed())
		if bag && i == 0 && again {
			return // one narrow form says nothing of the rest
		}
	}
}

// begins notes that a form goes on from here on.
func (m *Model) begins(s standing) {
	if s.brought == formsFrom {
		m.Bearing++
		m.metaDirty = true
	}
}

// good reports whether a URL of a template, which is in m.pieces, has a form that goes on bringing something.
func (m *Model) good(t *Template) bool {
	if m.Bearing == 0 {
		return false
	}
	forms, bag := m.formsFor(t)
	vain := uint64(formsVain)
	if !bag {
		vain = formsBound // what is below one name may be little
	}
	for _, form := range forms {
		v, _ := m.marks.get(form)
		if s := unpacked(v); s.brought >= formsFrom || s.barren >= vain {
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

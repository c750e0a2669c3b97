package parse

import "bytes"

// form is the form that is being scanned, as far as its buttons are links. A button asks for the form's action with the fields of the form
// and its own (HTML Standard, 4.10.22.4): where the method is GET and the reader is asked for nothing, for all fields are hidden, that is what
// a link would ask for, and sites page by such buttons. Of forms that ask for something the action alone is followed.
type form struct {
	open    bool
	post    bool // its method, or that of the form before, is not GET
	asks    bool // its reader chooses or fills in something
	action  []byte
	fields  []field
	buttons []button
}

// field is a name and a value that are sent.
type field struct{ name, value []byte }

// button submits a form.
type button struct {
	at     int // so many fields stand before its own
	own    []field
	action []byte // instead of the form's, or nil
	get    bool
}

// Bounds of a form: one that has more is more than a row of buttons.
const (
	maxFields  = 64
	maxButtons = 64
)

// openForm begins a form, and ends one that was left open.
func (s *scanner) openForm() {
	s.closeForm()
	f := &s.form
	*f = form{open: true, post: !getMethod(s.get(aMethod)), fields: f.fields[:0], buttons: f.buttons[:0]}
	if !f.post {
		s.add(aAction, Form, 0)
	}
	if v := s.get(aAction); v != nil {
		f.action = s.unescape(v)
	}
}

// control takes in an input, button, select or textarea.
func (s *scanner) control(tag tagID) {
	f := &s.form
	get := !f.post
	if m := s.get(aFormmethod); m != nil {
		get = getMethod(m)
	}
	if get && (tag == tagButton || tag == tagInput) {
		s.add(aFormaction, Form, 0)
	}
	if !f.open || f.asks || s.has>>aForm&1 == 1 || s.has>>aDisabled&1 == 1 { // of no form, of one elsewhere, or without effect
		return
	}
	kind := s.get(aType)
	switch is := func(name string) bool { return foldEqual(kind, name) }; {
	case (tag == tagInput || tag == tagButton) && (is("button") || is("reset")):
	case tag == tagButton, tag == tagInput && is("submit"):
		b := button{at: len(f.fields), get: get}
		if own := s.field(); len(own.name) > 0 {
			b.own = []field{own}
		}
		f.press(s, b)
	case tag == tagInput && is("image"): // where it was pressed is sent; the corner, of one that was pressed by a key
		name := s.field().name
		if len(name) > 0 {
			name = append(bytes.Clone(name), '.')
		}
		zero := []byte{'0'}
		f.press(s, button{at: len(f.fields), get: get, own: []field{{append(bytes.Clone(name), 'x'), zero}, {append(bytes.Clone(name), 'y'), zero}}})
	case tag == tagInput && is("hidden"):
		if x := s.field(); len(x.name) > 0 {
			f.fields = append(f.fields, x)
		}
	default:
		f.asks = true
	}
	f.asks = f.asks || len(f.fields) > maxFields || len(f.buttons) > maxButtons
}

// press notes a button that submits the form.
func (f *form) press(s *scanner, b button) {
	if v := s.get(aFormaction); v != nil {
		b.action = s.unescape(v)
	}
	f.buttons = append(f.buttons, b)
}

// field returns the name and the value of a control.
func (s *scanner) field() (x field) {
	if v := s.get(aName); v != nil {
		x.name = s.unescape(v)
	}
	if v := s.get(aValue); v != nil {
		x.value = s.unescape(v)
	}
	return x
}

// closeForm ends the form that is open, and records what its buttons ask for.
func (s *scanner) closeForm() {
	f := &s.form
	if !f.open {
		return
	}
	f.open = false
	for i := range f.buttons {
		b := &f.buttons[i]
		if f.asks || !b.get || len(f.fields)+len(b.own) == 0 {
			continue
		}
		action := f.action
		if b.action != nil {
			action = b.action
		}
		action = trimSpace(action)
		if len(action) == 0 && s.hasBase { // it is the document's own address, which no reference names
			continue
		}
		if j := bytes.IndexAny(action, "?#"); j >= 0 {
			action = action[:j]
		}
		ref := append(append(make([]byte, 0, len(action)+64), action...), '?')
		ok := true
		for k := range len(f.fields) + 1 {
			if k == b.at {
				for _, own := range b.own {
					ref, ok = own.appendTo(ref, ok)
				}
			}
			if k < len(f.fields) {
				ref, ok = f.fields[k].appendTo(ref, ok)
			}
		}
		if ok {
			s.addRef(ref, Form, 0)
		}
	}
}

// appendTo writes a field as it stands in a query (URL Standard, 5.2), behind others. It is not ok where a name or value has a character by a reference
// that is not ASCII: which bytes that is the encoding says, which is not known yet.
func (x field) appendTo(query []byte, ok bool) ([]byte, bool) {
	if query[len(query)-1] != '?' {
		query = append(query, '&')
	}
	query = append(appendForm(query, x.name), '=')
	query = appendForm(query, x.value)
	return query, ok && bytes.IndexByte(x.name, refMark) < 0 && bytes.IndexByte(x.value, refMark) < 0
}

// appendForm percent-encodes bytes in the page's encoding, which is a form's, with its line breaks as forms send them.
func appendForm(out, v []byte) []byte {
	const hex = "0123456789ABCDEF"
	for i, c := range v {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '*', c == '-', c == '.', c == '_':
			out = append(out, c)
		case c == ' ':
			out = append(out, '+')
		case c == '\n' || c == '\r' && (i+1 == len(v) || v[i+1] != '\n'):
			out = append(out, "%0D%0A"...)
		case c == '\r': // with the line feed behind it
		default:
			out = append(out, '%', hex[c>>4], hex[c&15])
		}
	}
	return out
}

package parse

import "strings"

// Whether a tag stands in foreign content (svg, math) follows from the stack of open elements of the tree builder (HTML
// Standard, 13.2.6): what a tag does there is not what it does in HTML. A tree keeps that stack and nothing else of a tree.
//
// Most pages have no foreign content, and in most others it is well formed. A page is therefore scanned without a
// tree; from an svg or math element on a tree follows what is in that element (a partial tree). When something comes that
// cannot be judged without knowing what is open outside of it, the page is scanned again with a whole tree.
type tree struct {
	partial bool // what is below the stack is not known
	lost    bool // partial, and it should have been known
	over    int  // elements open beyond maxOpen

	stack []elem
	fmts  []formatting
	modes []mode // of open templates
	mode  mode
	last  int32 // identity given last
	root  uint8 // namespace of the foreign content that the current start tag begins

	quirks, form, head, framesetOK bool
}

// maxOpen bounds the stack of open elements, as the tree builder does that we are held against.
const maxOpen = 512

// maxFormats bounds the list of active formatting elements, each of which may be opened again by each tag.
const maxFormats = 64

// Namespaces.
const (
	nsHTML uint8 = iota
	nsSVG
	nsMath
)

type elem struct {
	name string // lower case
	ns   uint8
	html bool // an annotation-xml whose encoding makes it an HTML integration point
	id   int32
}

// formatting is an entry of the list of active formatting elements; one without a name is a marker.
type formatting struct {
	name, attrs string
	id          int32
}

// special reports whether an element is one of the special ones (HTML Standard, 13.2.4.2).
func (e elem) special() bool {
	switch e.ns {
	case nsHTML:
		return specialElements[e.name]
	case nsMath:
		return e.mathText() || e.name == "annotation-xml"
	}
	return e.name == "foreignobject" || e.name == "desc" || e.name == "title"
}

// mathText reports whether an element is a MathML text integration point.
func (e elem) mathText() bool {
	if e.ns != nsMath {
		return false
	}
	switch e.name {
	case "mi", "mo", "mn", "ms", "mtext":
		return true
	}
	return false
}

// integrates reports whether an element is an HTML integration point.
func (e elem) integrates() bool { return e.html || e.ns == nsSVG && e.special() }

var specialElements = names("address applet area article aside base basefont bgsound blockquote body br button caption center",
	"col colgroup dd details dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head",
	"header hgroup hr html iframe img input keygen li link listing main marquee menu meta nav noembed noframes noscript object ol",
	"p param plaintext pre script section select source style summary table tbody td template textarea tfoot th thead title tr",
	"track ul wbr xmp")

// breakouts are the start tags that end foreign content (HTML Standard, 13.2.6.5).
var breakouts = names("b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu",
	"meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var")

type scope uint8

const (
	scopeDefault scope = iota
	scopeList
	scopeButton
	scopeTable
)

// ends reports whether an element ends a scope.
func (s scope) ends(e elem) bool {
	if s == scopeTable {
		return e.ns == nsHTML && (e.name == "html" || e.name == "table" || e.name == "template")
	}
	if e.ns != nsHTML {
		return e.special()
	}
	switch e.name {
	case "applet", "caption", "html", "table", "td", "th", "marquee", "object", "select", "template":
		return true
	case "ol", "ul":
		return s == scopeList
	case "button":
		return s == scopeButton
	}
	return false
}

func (t *tree) top() elem {
	if len(t.stack) == 0 {
		return elem{}
	}
	return t.stack[len(t.stack)-1]
}

func (t *tree) push(e elem) {
	if len(t.stack) >= maxOpen {
		t.over++
		return
	}
	t.last++
	e.id = t.last
	t.stack = append(t.stack, e)
}

func (t *tree) open(name string) { t.push(elem{name: name}) }

func (t *tree) pop() { t.stack = t.stack[:max(0, len(t.stack)-1)] }

// inScope returns the place of the uppermost HTML element with one of the names that is in a scope, -1 if there is none.
func (t *tree) inScope(s scope, names ...string) int {
	for i := len(t.stack) - 1; i >= 0; i-- {
		e := t.stack[i]
		if e.ns == nsHTML {
			for _, n := range names {
				if n == e.name {
					return i
				}
			}
		}
		if s.ends(e) {
			return -1
		}
	}
	return -1
}

// closeTo pops elements up to and with the uppermost with one of the names, if it is in scope.
func (t *tree) closeTo(s scope, names ...string) bool {
	i := t.inScope(s, names...)
	if i < 0 {
		return false
	}
	t.stack = t.stack[:i]
	return true
}

// clearTo pops elements until the uppermost HTML element has one of the names.
func (t *tree) clearTo(names ...string) {
	for i := len(t.stack) - 1; i >= 0; i-- {
		for _, n := range names {
			if t.stack[i].name == n {
				t.stack = t.stack[:i+1]
				return
			}
		}
	}
}

func (t *tree) contains(name string) bool {
	for _, e := range t.stack {
		if e.ns == nsHTML && e.name == name {
			return true
		}
	}
	return false
}

// implied pops the elements whose end tags may be left out, but for one name.
func (t *tree) implied(except string) {
	for len(t.stack) > 0 {
		e := t.top()
		switch e.name {
		case "dd", "dt", "li", "optgroup", "option", "p", "rb", "rp", "rt", "rtc":
		default:
			return
		}
		if e.name == except {
			return
		}
		t.pop()
	}
}

// indexOf returns the place of an element, -1 if it is not open.
func (t *tree) indexOf(id int32) int {
	for i := len(t.stack) - 1; i >= 0; i-- {
		if t.stack[i].id == id {
			return i
		}
	}
	return -1
}

func (t *tree) removeElem(id int32) {
	if i := t.indexOf(id); i >= 0 {
		t.stack = append(t.stack[:i], t.stack[i+1:]...)
	}
}

func (t *tree) fmtIndex(id int32) int {
	for i := len(t.fmts) - 1; i >= 0; i-- {
		if t.fmts[i].name != "" && t.fmts[i].id == id {
			return i
		}
	}
	return -1
}

func (t *tree) removeFmt(i int) { t.fmts = append(t.fmts[:i], t.fmts[i+1:]...) }

func (t *tree) mark() {
	if len(t.fmts) < maxOpen+maxFormats {
		t.fmts = append(t.fmts, formatting{})
	}
}

func (t *tree) clearFmts() {
	for len(t.fmts) > 0 {
		f := t.fmts[len(t.fmts)-1]
		t.fmts = t.fmts[:len(t.fmts)-1]
		if f.name == "" {
			return
		}
	}
}

// openFormatting opens a formatting element; of equal ones since the last marker the list keeps three.
func (t *tree) openFormatting(name, attrs string) {
	equal := 0
	for i := len(t.fmts) - 1; i >= 0 && t.fmts[i].name != ""; i-- {
		if f := t.fmts[i]; f.name == name && f.attrs == attrs {
			if equal++; equal == 3 {
				t.removeFmt(i)
				break
			}
		}
	}
	over := t.over
	t.open(name)
	if over == t.over && len(t.fmts) < maxFormats {
		t.fmts = append(t.fmts, formatting{name, attrs, t.last})
	}
}

// reconstruct opens again the formatting elements that were closed by what stands around them.
func (t *tree) reconstruct() {
	i := len(t.fmts)
	for i > 0 && t.fmts[i-1].name != "" && t.indexOf(t.fmts[i-1].id) < 0 {
		i--
	}
	for ; i < len(t.fmts) && len(t.stack) < maxOpen; i++ {
		t.open(t.fmts[i].name)
		t.fmts[i].id = t.last
	}
}

// adopt handles the end tag of a formatting element: the adoption agency algorithm, as far as it concerns the stack.
func (t *tree) adopt(name string) {
	if e := t.top(); e.name == name && e.ns == nsHTML && t.fmtIndex(e.id) < 0 {
		t.pop()
		return
	}
	for range 8 {
		f := len(t.fmts) - 1
		for f >= 0 && t.fmts[f].name != name {
			if t.fmts[f].name == "" {
				f = 0
			}
			f--
		}
		if f < 0 {
			t.closeOther(name)
			return
		}
		at := t.indexOf(t.fmts[f].id)
		if at < 0 {
			t.removeFmt(f)
			return
		}
		if t.inScope(scopeDefault, name) < 0 {
			return
		}
		block := at + 1
		for block < len(t.stack) && !t.stack[block].special() {
			block++
		}
		if block == len(t.stack) {
			t.stack = t.stack[:at]
			t.removeFmt(f)
			return
		}
		t.moveOut(f, at, block)
	}
}

// moveOut puts a formatting element, entry f of the list and at place at of the stack, behind the block that it holds.
func (t *tree) moveOut(f, at, block int) {
	entry := t.fmts[f]
	bookmark := f
	first := true
	for n, x := 1, block-1; x > at; n, x = n+1, x-1 {
		i := t.fmtIndex(t.stack[x].id)
		if i >= 0 && n > 3 {
			t.removeFmt(i)
			if i <= bookmark {
				bookmark--
			}
			i = -1
		}
		if i < 0 {
			t.stack = append(t.stack[:x], t.stack[x+1:]...)
			block--
			continue
		}
		t.last++
		t.fmts[i].id, t.stack[x].id = t.last, t.last
		if first {
			bookmark = i + 1
		}
		first = false
	}
	if i := t.fmtIndex(entry.id); i >= 0 {
		if i < bookmark {
			bookmark--
		}
		t.removeFmt(i)
	}
	t.last++
	clone := t.stack[at]
	clone.id, entry.id = t.last, t.last
	bookmark = max(0, min(bookmark, len(t.fmts)))
	t.fmts = append(t.fmts[:bookmark], append([]formatting{entry}, t.fmts[bookmark:]...)...)
	copy(t.stack[at:block], t.stack[at+1:block+1])
	t.stack[block] = clone
}

// closeOther handles an end tag without rules of its own.
func (t *tree) closeOther(name string) {
	for i := len(t.stack) - 1; i >= 0; i-- {
		if t.stack[i].ns == nsHTML && t.stack[i].name == name {
			t.stack = t.stack[:i]
			return
		}
		if t.stack[i].special() {
			return
		}
	}
}

func names(lists ...string) map[string]bool {
	m := map[string]bool{}
	for _, l := range lists {
		for n := range strings.FieldsSeq(l) {
			m[n] = true
		}
	}
	return m
}

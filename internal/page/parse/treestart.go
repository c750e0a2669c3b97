package parse

// mode is an insertion mode (HTML Standard, 13.2.4.1). Those before the head are one: they differ in nothing that the
// stack would show.
type mode uint8

const (
	beforeHead mode = iota
	inHead
	inHeadNoscript
	afterHead
	inBody
	inTable
	inCaption
	inColumns
	inRows // "in table body"
	inRow
	inCell
	inTemplate
	afterBody
	inFrameset
	afterFrameset
)

// tag is what a tree needs to know of a start tag.
type startTag struct {
	name       string // lower case
	attrs      string // what stands between its name and its end
	selfClosed bool
	hidden     bool // type=hidden
	font       bool // has an attribute color, face or size
	markup     bool // encoding says that it holds HTML
}

// start takes in a start tag and returns the namespace of its element. A partial tree may be lost then, or empty, which
// means that foreign content has ended.
func (t *tree) start(g startTag) uint8 {
	t.root = nsHTML
	for {
		if t.foreign(g.name) {
			if !breakouts[g.name] && !(g.name == "font" && g.font) {
				ns := t.top().ns
				if !g.selfClosed {
					t.push(elem{name: g.name, ns: ns, html: g.markup && ns == nsMath && g.name == "annotation-xml"})
				}
				return ns
			}
			for len(t.stack) > 0 && t.top().ns != nsHTML && !t.top().integrates() && !t.top().mathText() {
				t.pop()
			}
		}
		if t.partial {
			return t.startPartial(g)
		}
		if t.startIn(g) {
			break
		}
	}
	return t.root
}

// foreign reports whether a start tag is to be judged by the rules of foreign content.
func (t *tree) foreign(name string) bool {
	e := t.top()
	switch {
	case e.ns == nsHTML, e.integrates(), e.mathText() && name != "mglyph" && name != "malignmark":
		return false
	}
	return name != "svg" || e.ns != nsMath || e.name != "annotation-xml"
}

// startPartial takes in a start tag by the rules of HTML where it is not known what is open outside: only what depends
// on nothing.
func (t *tree) startPartial(g startTag) uint8 {
	if len(t.stack) == 0 {
		return nsHTML // foreign content has ended
	}
	switch g.name {
	case "svg", "math":
		return t.openForeign(g)
	case "br", "img", "wbr", "area", "embed", "link", "meta", "base", "source", "track", "param", "script", "style", "title",
		"noframes", "iframe", "noembed", "textarea":
		return nsHTML
	case "span", "label", "cite", "abbr", "kbd", "q", "var", "time", "bdi", "bdo":
		t.open(g.name)
		return nsHTML
	case "div", "p", "section", "article", "ul", "ol":
		if t.inScope(scopeButton, "p") < 0 {
			t.open(g.name)
			return nsHTML
		}
	}
	t.lost = true
	return nsHTML
}

func (t *tree) openForeign(g startTag) uint8 {
	ns := nsSVG
	if g.name == "math" {
		ns = nsMath
	}
	if !g.selfClosed {
		t.push(elem{name: g.name, ns: ns})
	}
	t.root = ns
	return ns
}

// startIn takes in a start tag in the current mode. It returns false if the tag is to be judged again.
func (t *tree) startIn(g startTag) bool {
	switch t.mode {
	case beforeHead, inHead, inHeadNoscript, afterHead:
		return t.startHead(g)
	case inTable, inCaption, inColumns, inRows, inRow, inCell:
		return t.startTable(g)
	case inTemplate:
		return t.startTemplate(g)
	case afterBody:
		if g.name != "html" {
			t.mode = inBody
		}
		return g.name == "html"
	case inFrameset:
		if g.name == "frameset" {
			t.open(g.name)
		}
		return true
	case afterFrameset:
		return true
	}
	t.startBody(g)
	return true
}

// startHead handles start tags before there is a body.
func (t *tree) startHead(g startTag) bool {
	if g.name == "html" {
		return true
	}
	switch t.mode {
	case beforeHead:
		t.stack = t.stack[:0]
		t.open("html")
		t.open("head")
		t.head, t.mode = true, inHead
		return g.name == "head"
	case inHeadNoscript:
		switch g.name {
		case "basefont", "bgsound", "link", "meta", "noframes", "style", "head", "noscript":
			return true
		}
		t.pop()
		t.mode = inHead
		return false
	}
	switch g.name {
	case "base", "basefont", "bgsound", "link", "meta", "script", "style", "title", "noframes", "head":
		return true
	case "template":
		t.openTemplate()
		return true
	case "noscript":
		if t.mode == inHead {
			t.open(g.name)
			t.mode = inHeadNoscript
			return true
		}
	case "body", "frameset":
		if t.mode == afterHead {
			t.open(g.name)
			t.mode = inBody
			if g.name == "frameset" {
				t.mode = inFrameset
			}
			t.framesetOK = false
			return true
		}
	}
	t.leaveHead()
	return false
}

// leaveHead closes the head, or opens the body.
func (t *tree) leaveHead() {
	if t.mode == inHead {
		t.pop()
		t.mode = afterHead
		return
	}
	t.open("body")
	t.mode = inBody
	t.framesetOK = true
}

func (t *tree) openTemplate() {
	t.open("template")
	t.mark()
	t.framesetOK = false
	t.mode = inTemplate
	if len(t.modes) < maxOpen {
		t.modes = append(t.modes, inTemplate)
	}
}

// startTemplate handles a start tag in a template whose kind is not known yet.
func (t *tree) startTemplate(g startTag) bool {
	m := inBody
	switch g.name {
	case "base", "basefont", "bgsound", "link", "meta", "noframes", "script", "style", "title":
		return true
	case "template":
		t.openTemplate()
		return true
	case "caption", "colgroup", "tbody", "tfoot", "thead":
		m = inTable
	case "col":
		m = inColumns
	case "tr":
		m = inRows
	case "td", "th":
		m = inRow
	}
	t.setTemplate(m)
	return false
}

func (t *tree) setTemplate(m mode) {
	t.mode = m
	if n := len(t.modes); n > 0 {
		t.modes[n-1] = m
	}
}

// startTable handles start tags in tables.
func (t *tree) startTable(g startTag) bool {
	part := false // a part of a table, which ends what cannot hold it
	switch g.name {
	case "caption", "col", "colgroup", "tbody", "tfoot", "thead", "tr", "td", "th":
		part = true
	}
	cell := g.name == "td" || g.name == "th"
	switch {
	case t.mode == inCaption && part:
		return t.endPart(inTable, "caption")
	case t.mode == inCaption:
		t.startBody(g)
		return true
	case t.mode == inCell && part:
		return t.endPart(inRow, "td", "th")
	case t.mode == inCell:
		t.startBody(g)
		return true
	case t.mode == inColumns:
		return t.startColumns(g)
	case t.mode == inRow && cell:
		t.clearTo("tr", "html", "template")
		t.open(g.name)
		t.mark()
		t.mode = inCell
		return true
	case t.mode == inRow && part:
		if t.inScope(scopeTable, "tr") < 0 {
			return true
		}
		t.clearTo("tr", "html", "template")
		t.pop()
		t.mode = inRows
		return false
	case t.mode == inRows && (cell || g.name == "tr"):
		t.clearTo("tbody", "tfoot", "thead", "html", "template")
		t.open("tr")
		t.mode = inRow
		return !cell
	case t.mode == inRows && part:
		if !t.closeTo(scopeTable, "tbody", "thead", "tfoot") {
			return true
		}
		t.mode = inTable
		return false
	}
	return t.startInTable(g)
}

// endPart closes a caption or a cell that a part of a table ends; the tag is judged again in mode m. Without one the tag
// is ignored.
func (t *tree) endPart(m mode, names ...string) bool {
	if !t.closeTo(scopeTable, names...) {
		return true
	}
	t.clearFmts()
	t.mode = m
	return false
}

func (t *tree) startColumns(g startTag) bool {
	switch g.name {
	case "html", "col":
		return true
	case "template":
		t.openTemplate()
		return true
	}
	if t.top().name != "colgroup" {
		return true
	}
	t.pop()
	t.mode = inTable
	return false
}

// startInTable handles start tags of mode "in table", and those that rows leave to it.
func (t *tree) startInTable(g startTag) bool {
	to := []string{"table", "html", "template"}
	switch g.name {
	case "caption":
		t.clearTo(to...)
		t.mark()
		t.open(g.name)
		t.mode = inCaption
		return true
	case "colgroup", "col":
		t.clearTo(to...)
		t.open("colgroup")
		t.mode = inColumns
		return g.name == "colgroup"
	case "tbody", "tfoot", "thead", "td", "th", "tr":
		t.clearTo(to...)
		t.mode = inRows
		if g.name == "td" || g.name == "th" || g.name == "tr" {
			t.open("tbody")
			return false
		}
		t.open(g.name)
		return true
	case "table":
		if t.closeTo(scopeTable, "table") {
			t.reset()
			return false
		}
		return true
	case "style", "script":
		return true
	case "template":
		t.openTemplate()
		return true
	case "input":
		if g.hidden {
			return true
		}
	case "form":
		t.form = t.form || !t.contains("template")
		return true
	}
	t.startBody(g)
	return true
}

// startBody handles start tags in the body.
func (t *tree) startBody(g startTag) {
	switch g.name {
	case "html", "body", "base", "basefont", "bgsound", "link", "meta", "noframes", "script", "style", "title", "caption", "col",
		"colgroup", "frame", "head", "tbody", "td", "tfoot", "th", "thead", "tr":
		if g.name == "body" && !t.contains("template") {
			t.framesetOK = false
		}
	case "template":
		t.openTemplate()
	case "frameset":
		if t.framesetOK && len(t.stack) > 1 && t.stack[1].name == "body" {
			t.stack = t.stack[:1]
			t.open(g.name)
			t.mode = inFrameset
		}
	case "address", "article", "aside", "blockquote", "center", "details", "dialog", "dir", "div", "dl", "fieldset", "figcaption",
		"figure", "footer", "header", "hgroup", "main", "menu", "nav", "ol", "p", "search", "section", "summary", "ul", "plaintext",
		"pre", "listing":
		t.closeTo(scopeButton, "p")
		t.open(g.name)
		if g.name == "pre" || g.name == "listing" {
			t.framesetOK = false
		}
	case "h1", "h2", "h3", "h4", "h5", "h6":
		t.closeTo(scopeButton, "p")
		if n := t.top().name; len(n) == 2 && n[0] == 'h' && n[1] >= '1' && n[1] <= '6' {
			t.pop()
		}
		t.open(g.name)
	case "form":
		if template := t.contains("template"); !t.form || template {
			t.closeTo(scopeButton, "p")
			t.open(g.name)
			t.form = t.form || !template
		}
	case "li", "dd", "dt":
		t.openItem(g.name)
	case "table":
		if !t.quirks {
			t.closeTo(scopeButton, "p")
		}
		t.open(g.name)
		t.framesetOK = false
		t.mode = inTable
	case "hr":
		if t.inScope(scopeButton, "p") >= 0 {
			t.implied("p")
			t.closeTo(scopeDefault, "p")
		}
		if t.inScope(scopeDefault, "select") >= 0 {
			t.implied("")
		}
		t.framesetOK = false
	case "param", "source", "track", "iframe", "noembed", "textarea": // void, or text only
		t.framesetOK = t.framesetOK && g.name != "iframe" && g.name != "textarea"
	default:
		t.startInline(g)
	}
}

// openItem opens a list item and closes the one before it.
func (t *tree) openItem(name string) {
	t.framesetOK = false
	for i := len(t.stack) - 1; i >= 0; i-- {
		e := t.stack[i]
		if e.name == name || name != "li" && (e.name == "dd" || e.name == "dt") {
			t.stack = t.stack[:i]
			break
		}
		if e.special() && e.name != "address" && e.name != "div" && e.name != "p" {
			break
		}
	}
	t.closeTo(scopeButton, "p")
	t.open(name)
}

// startInline handles the start tags of the body that formatting is reconstructed for, and unknown ones.
func (t *tree) startInline(g startTag) {
	switch g.name {
	case "select":
		if t.closeTo(scopeDefault, "select") {
			return
		}
		t.framesetOK = false
	case "button":
		if t.inScope(scopeDefault, "button") >= 0 {
			t.closeTo(scopeDefault, "button")
		}
		t.framesetOK = false
	case "option", "optgroup":
		if t.inScope(scopeDefault, "select") >= 0 {
			except := ""
			if g.name == "option" {
				except = "optgroup"
			}
			t.implied(except)
		} else if t.top().name == "option" {
			t.pop()
		}
	case "input":
		t.closeTo(scopeDefault, "select")
		t.framesetOK = t.framesetOK && g.hidden
	case "xmp":
		t.closeTo(scopeButton, "p")
		t.framesetOK = false
	case "a":
		for i := len(t.fmts) - 1; i >= 0 && t.fmts[i].name != ""; i-- {
			if id := t.fmts[i].id; t.fmts[i].name == "a" {
				t.adopt("a")
				t.removeElem(id)
				if i := t.fmtIndex(id); i >= 0 {
					t.removeFmt(i)
				}
				break
			}
		}
	case "rb", "rtc", "rp", "rt":
		if t.inScope(scopeDefault, "ruby") >= 0 {
			except := ""
			if g.name == "rp" || g.name == "rt" {
				except = "rtc"
			}
			t.implied(except)
		}
		t.open(g.name)
		return
	}
	t.reconstruct()
	switch g.name {
	case "a", "b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u":
		t.openFormatting(g.name, g.attrs)
	case "nobr":
		if t.inScope(scopeDefault, "nobr") >= 0 {
			t.adopt("nobr")
			t.reconstruct()
		}
		t.openFormatting(g.name, g.attrs)
	case "applet", "marquee", "object":
		t.open(g.name)
		t.mark()
		t.framesetOK = false
	case "area", "br", "embed", "img", "image", "keygen", "wbr":
		t.framesetOK = false
	case "input", "xmp":
	case "svg", "math":
		t.openForeign(g)
	default:
		t.open(g.name)
	}
}

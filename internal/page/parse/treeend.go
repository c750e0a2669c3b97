package parse

// end takes in an end tag. A partial tree may be lost then, or empty.
func (t *tree) end(name string) {
	if t.over > 0 { // beyond the bound elements are counted, as if they were nested well
		t.over--
		return
	}
	if t.top().ns != nsHTML && t.endForeign(name) {
		return
	}
	if t.partial {
		if len(t.stack) > 0 && t.top().ns == nsHTML && t.top().name == name {
			t.pop()
		} else {
			t.lost = true
		}
		return
	}
	for !t.endIn(name) {
	}
}

// endForeign closes a foreign element. It returns false if the end tag is to be judged by the rules of HTML.
func (t *tree) endForeign(name string) bool {
	for i := len(t.stack) - 1; i >= 0 && t.stack[i].ns != nsHTML; i-- {
		if t.stack[i].name == name {
			t.stack = t.stack[:i]
			return true
		}
	}
	return false
}

// endIn takes in an end tag in the current mode. It returns false if the tag is to be judged again.
func (t *tree) endIn(name string) bool {
	switch t.mode {
	case beforeHead, inHead, inHeadNoscript, afterHead:
		return t.endHead(name)
	case inTable, inCaption, inColumns, inRows, inRow, inCell:
		return t.endTable(name)
	case inTemplate:
		if name == "template" {
			t.endTemplate()
		}
		return true
	case afterBody:
		if name != "html" {
			t.mode = inBody
		}
		return name == "html"
	case inFrameset:
		if name == "frameset" && t.top().name != "html" {
			t.pop()
			if t.top().name != "frameset" {
				t.mode = afterFrameset
			}
		}
		return true
	case afterFrameset:
		return true
	}
	t.endBody(name)
	return true
}

// endHead handles end tags before there is a body.
func (t *tree) endHead(name string) bool {
	page := name == "body" || name == "html" || name == "br"
	switch {
	case name == "template" && t.mode != beforeHead && t.mode != inHeadNoscript:
		t.endTemplate()
		return true
	case t.mode == inHeadNoscript && (name == "noscript" || name == "br"):
		t.pop()
		t.mode = inHead
		return name == "noscript"
	case t.mode == inHeadNoscript:
		return true
	case t.mode == beforeHead && (page || name == "head"):
		t.startHead(startTag{name: "head"})
		return false
	case t.mode == inHead && name == "head":
		t.leaveHead()
		return true
	case page && t.mode != beforeHead:
		t.leaveHead()
		return false
	}
	return true
}

func (t *tree) endTemplate() {
	if !t.contains("template") {
		return
	}
	for i := len(t.stack) - 1; i >= 0; i-- {
		if t.stack[i].ns == nsHTML && t.stack[i].name == "template" {
			t.stack = t.stack[:i]
			break
		}
	}
	t.clearFmts()
	t.modes = t.modes[:max(0, len(t.modes)-1)]
	t.reset()
}

// reset finds the mode from the stack.
func (t *tree) reset() {
	for i := len(t.stack) - 1; i >= 0; i-- {
		if t.stack[i].ns != nsHTML {
			continue
		}
		switch t.stack[i].name {
		case "td", "th":
			t.mode = inCell
		case "tr":
			t.mode = inRow
		case "tbody", "thead", "tfoot":
			t.mode = inRows
		case "caption":
			t.mode = inCaption
		case "colgroup":
			t.mode = inColumns
		case "table":
			t.mode = inTable
		case "template":
			t.mode = inTemplate
			if n := len(t.modes); n > 0 {
				t.mode = t.modes[n-1]
			}
		case "head":
			t.mode = inHead
		case "body":
			t.mode = inBody
		case "frameset":
			t.mode = inFrameset
		case "html":
			t.mode = afterHead
			if !t.head {
				t.mode = beforeHead
			}
		default:
			continue
		}
		return
	}
	t.mode = inBody
}

// endTable handles end tags in tables.
func (t *tree) endTable(name string) bool {
	switch name {
	case "caption", "col", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr", "table", "body", "html":
	case "template":
		t.endTemplate()
		return true
	default:
		if t.mode == inColumns {
			if t.top().name != "colgroup" {
				return true
			}
			t.pop()
			t.mode = inTable
			return false
		}
		t.endBody(name)
		return true
	}
	switch t.mode {
	case inCaption:
		if (name == "caption" || name == "table") && t.closeTo(scopeTable, "caption") {
			t.clearFmts()
			t.mode = inTable
			return name == "caption"
		}
		return true
	case inCell:
		return t.endInCell(name)
	case inColumns:
		if name == "col" || name == "colgroup" && t.top().name != "colgroup" || t.top().name != "colgroup" {
			return true
		}
		t.pop()
		t.mode = inTable
		return name == "colgroup"
	case inRow:
		return t.endInRow(name)
	case inRows:
		switch name {
		case "tbody", "tfoot", "thead":
			if t.inScope(scopeTable, name) >= 0 {
				t.clearTo("tbody", "tfoot", "thead", "html", "template")
				t.pop()
				t.mode = inTable
			}
			return true
		case "table":
			if t.closeTo(scopeTable, "tbody", "thead", "tfoot") {
				t.mode = inTable
				return false
			}
		}
		return true
	}
	if name == "table" && t.closeTo(scopeTable, "table") {
		t.reset()
	}
	return true
}

func (t *tree) endInCell(name string) bool {
	switch name {
	case "td", "th":
		if t.closeTo(scopeTable, name) {
			t.clearFmts()
			t.mode = inRow
		}
	case "table", "tbody", "tfoot", "thead", "tr":
		if t.inScope(scopeTable, name) < 0 {
			return true
		}
		if t.closeTo(scopeTable, "td", "th") {
			t.clearFmts()
		}
		t.mode = inRow
		return false
	}
	return true
}

func (t *tree) endInRow(name string) bool {
	switch name {
	case "tbody", "tfoot", "thead":
		if t.inScope(scopeTable, name) < 0 {
			return true
		}
	case "tr", "table":
	default:
		return true
	}
	if t.inScope(scopeTable, "tr") < 0 {
		return true
	}
	t.clearTo("tr", "html", "template")
	t.pop()
	t.mode = inRows
	return name == "tr"
}

// endBody handles end tags in the body.
func (t *tree) endBody(name string) {
	switch name {
	case "body", "html":
		if t.inScope(scopeDefault, "body") >= 0 {
			t.mode = afterBody
		}
	case "address", "article", "aside", "blockquote", "button", "center", "details", "dialog", "dir", "div", "dl", "fieldset",
		"figcaption", "figure", "footer", "header", "hgroup", "listing", "main", "menu", "nav", "ol", "pre", "search", "section",
		"select", "summary", "ul", "dd", "dt":
		t.closeTo(scopeDefault, name)
	case "form":
		t.endForm()
	case "p":
		if t.inScope(scopeButton, "p") < 0 {
			t.start(startTag{name: "p"})
		}
		t.closeTo(scopeButton, "p")
	case "li":
		t.closeTo(scopeList, "li")
	case "h1", "h2", "h3", "h4", "h5", "h6":
		t.closeTo(scopeDefault, "h1", "h2", "h3", "h4", "h5", "h6")
	case "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
		t.adopt(name)
	case "applet", "marquee", "object":
		if t.closeTo(scopeDefault, name) {
			t.clearFmts()
		}
	case "br":
		t.start(startTag{name: "br"})
	case "template":
		t.endTemplate()
	default:
		t.closeOther(name)
	}
}

func (t *tree) endForm() {
	i := t.inScope(scopeDefault, "form")
	if t.contains("template") {
		if i >= 0 {
			t.implied("")
			t.closeTo(scopeDefault, "form")
		}
		return
	}
	had := t.form
	t.form = false
	if had && i >= 0 {
		id := t.stack[i].id
		t.implied("")
		t.removeElem(id)
	}
}

// text takes in text that stands in HTML; white reports that it is white space only.
func (t *tree) text(white bool) {
	if t.partial || t.top().ns != nsHTML && !t.top().integrates() && !t.top().mathText() {
		t.framesetOK = t.framesetOK && white
		return
	}
	for {
		switch t.mode {
		case beforeHead:
			if white {
				return
			}
			t.startHead(startTag{name: "head"})
			continue
		case inHead, afterHead:
			if white {
				return
			}
			t.leaveHead()
			continue
		case inHeadNoscript:
			if white {
				return
			}
			t.pop()
			t.mode = inHead
			continue
		case afterBody:
			if !white {
				t.mode = inBody
			}
		case inColumns:
			if white || t.top().name != "colgroup" {
				return
			}
			t.pop()
			t.mode = inTable
			continue
		case inTable, inRows, inRow:
			if white {
				switch t.top().name {
				case "table", "tbody", "tfoot", "thead", "tr":
					return
				}
			}
		case inFrameset, afterFrameset:
			return
		}
		break
	}
	t.reconstruct()
	t.framesetOK = t.framesetOK && white
}

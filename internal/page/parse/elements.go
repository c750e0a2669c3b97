package parse

import "math/bits"

// element is what an element means to what reads words.
type element uint16

const (
	isHidden element = 1 << iota // nobody sees what is in it
	isName                       // it says what the page is called
	isLead                       // it leads elsewhere, or is a choice,
	isLink                       // by its address
	isShown                      // it shows what it names by its source,
	isImage                      // with words that stand for it,
	isFrame                      // as a page in the page,
	isDrawn                      // or as lines
	isBacked                     // it may have a background by an attribute
	endsRow                      // a row of figures ends with it
)

// elements are what elements mean. Names have eight bytes at most, so that one is looked up as a number. Each has a slot of its own.
var elements = func() (t struct {
	name [64]uint64
	is   [64]element
}) {
	for name, is := range map[string]element{
		"script": isHidden, "style": isHidden, "template": isHidden,
		"title": isName, "h1": isName,
		"a": isLead | isLink | endsRow, "option": isLead | endsRow, "button": isLead | endsRow, "label": isLead | endsRow, "li": endsRow,
		"img": isShown | isImage, "image": isShown, "input": isShown | endsRow, "iframe": isShown | isFrame, "source": isShown, "video": isShown, "audio": isShown,
		"amp-img": isShown, "embed": isShown, "object": isShown, "path": isShown | isDrawn, "polygon": isShown | isDrawn, "polyline": isShown | isDrawn,
		"body": isBacked, "table": isBacked, "thead": isBacked, "tbody": isBacked, "tfoot": isBacked, "tr": isBacked, "td": isBacked, "th": isBacked,
	} {
		x := eight([]byte(name), 0)
		t.name[elementSlot(x)], t.is[elementSlot(x)] = x, is
	}
	return t
}()

// elementSlot is different for all names that mean something, which the number it multiplies with was searched for.
func elementSlot(name uint64) uint8 { return uint8(name * 0x7483bf462e1baa63 >> 58) }

// elementAt returns what the element means whose name begins at b[i], 0 for one that means nothing, and where its tag ends.
func elementAt(b []byte, i int) (of element, end int) {
	x := eight(b, i)
	closes := holds(x, '>')
	mask := ^uint64(0)
	if at := (x-ones*'!')&^x&highs | closes | holds(x, '/'); at != 0 { // white space, ">" or "/"; the lowest of these is right
		mask = at&-at>>7 - 1
	} else if i+8 < len(b) && class[b[i+8]]&endsName == 0 {
		return 0, endOfTag(b, i+8)
	}
	x = (x | ones<<5) & mask
	if slot := elementSlot(x); elements.name[slot&63] == x {
		of = elements.is[slot&63]
	}
	if closes != 0 {
		return of, i + bits.TrailingZeros64(closes)/8 + 1
	}
	return of, endOfTag(b, i+8)
}

package parse

import "bytes"

// maxLinks is how many links of a page lie in memory at once. Pages that have more are rare: they are scanned again for the others, in
// pieces. A page of 64 KiB has fewer.
var maxLinks = 1 << 15

// largeText is the size from which the text of a document within another is let go although its links are kept, in bytes.
const largeText = 1 << 20

// pieces are what a page needs to be scanned again.
type pieces struct {
	left int // links beyond those that are kept
	way  way
	opts Options
	each func([]Link) // takes links once there are many; nil: they are only counted
	text []byte       // room for the large text of a document within it: that is in memory once, however often the page is scanned
}

// way is how a page was scanned in the end.
type way uint8

const (
	asHTML way = iota
	asTree     // HTML, with a whole tree
	asXML
	asSheet
)

// Count is how many links the page has.
func (p *Page) Count() int { return len(p.Links) + p.left }

// Each calls fn with all links of the page, in document order and in pieces, each of which is valid until fn returns. It does so until fn
// returns false.
func (p *Page) Each(fn func([]Link) bool) {
	if p.left == 0 {
		fn(p.Links)
		return
	}
	going := true
	q := Page{body: p.body}
	q.text = p.text
	q.each = func(links []Link) { going = going && fn(links) }
	s := scanner{b: p.body, o: p.opts, p: &q}
	switch p.way {
	case asHTML:
		s.run()
		s.closeForm()
	case asTree:
		s.runWhole()
	case asXML:
		newXMLScanner(p.body, p.opts, &q).run()
	case asSheet:
		s.sheet()
	}
	q.each(q.Links)
}

// take takes in a link.
func (s *scanner) take(link Link) {
	p := s.p
	if len(p.Links) >= maxLinks && !s.keeps {
		if p.each == nil {
			p.left++
			return
		}
		p.each(p.Links)
		p.Links = p.Links[:0]
	}
	if s.apart {
		link.Ref = bytes.Clone(link.Ref)
	}
	p.Links = append(p.Links, link)
}

// cut drops links that are only counted.
func (p *Page) cut() {
	if over := len(p.Links) - maxLinks; over > 0 && p.each == nil {
		p.left += over
		p.Links = p.Links[:maxLinks]
	}
}

// mayTakeBack reports whether a document within another may change links that it has given: by a base behind them, or since foreign content has it
// scanned again.
func mayTakeBack(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '<')
		if i < 0 || i+4 >= len(text) {
			return false
		}
		text = text[i+1:]
		switch text[0] | 0x20 {
		case 'b', 's', 'm':
			if name := text[:4]; foldEqual(name, "base") || foldEqual(name[:3], "svg") || foldEqual(name, "math") {
				return true
			}
		}
	}
}

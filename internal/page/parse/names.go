package parse

import (
	"bytes"
	"strings"
)

// MaxNames is how many marks of each kind Phrases keeps of what a page is called and of what it says by itself.
const MaxNames = 8

// maxValue is how many words a value has at most: what is longer is a sentence.
const maxValue = 6

// Kinds of names: the two lowest bits of their marks.
const (
	NamePlain = iota // words that stand in no address
	NameOwn          // words of the title, some of which stand in addresses, too
	NameValue        // words of a short text, that stand in no address
	NameSaid         // a sentence that only a script shows (see said.go)
	NameKinds        // their number
)

// called is what a page is called: the words of its title and of its first headings, but for numbers. Two that stand beside each other are
// a mark, and so is one that stands alone: a word that is left out where another page's address has it changes the marks of a title into
// others of the same few. Words that stand in addresses are marks of a kind of their own, with all others of the title: a page that is not
// there may repeat what was asked for, and the address of a page may be made of its name. So are the words of short texts that lead nowhere, a cell of a
// table or the name in a line: a page may say by them alone what it is of.
type called struct {
	names  [NameKinds][]uint32
	naming bool   // the text is of a title or a first heading,
	leads  bool   // or of what leads elsewhere, or is to be chosen,
	onward bool   // which is within the site, unless
	link   []byte // this tag, which has not been looked at, says so
	plain  run    // of the words that stand in no address
	all    run    // of all words of a name
	value  [maxValue]uint64
	values int // words of the text so far, more than there is room for if it is a sentence
}

// run is what stands beside each other.
type run struct {
	last uint64 // the last word, 0 if there is none that counts
	own  bool   // it stands in an address
	pair bool   // it is in a mark
}

// begins takes in a start tag, without its "<": an element that does not end ends where the next title or heading begins.
func (r *reader) begins(of element, tag []byte) {
	switch {
	case of&isName != 0:
		r.endName()
		r.naming = true
	case of&isLead != 0:
		r.leads, r.onward, r.link = true, false, nil
		if of&isLink != 0 {
			r.link = tag
		}
	}
	if of&endsRow != 0 {
		r.endRow()
	}
}

// ends takes in an end tag.
func (r *reader) ends(of element) {
	switch {
	case of&isName != 0:
		r.endName()
		r.naming = false
	case of&isLead != 0:
		r.leads, r.onward, r.link = false, false, nil
	}
	if of&endsRow != 0 {
		r.endRow()
	}
}

// within reports whether a link leads to its own site as far as its address says without the page's: one that names a host may be another's.
func within(tag []byte) bool {
	ref := attributeOf(tag, "href")
	return len(ref) > 0 && !bytes.Contains(ref, []byte("//"))
}

// joined reports whether the word from i to end stands as it does in an address: who names a thing parts its words by spaces.
func joined(b []byte, i, end int) bool {
	const marks = "/-_+.=&%?"
	return i > 0 && strings.IndexByte(marks, b[i-1]) >= 0 || end+1 < len(b) && strings.IndexByte(marks, b[end]) >= 0 && textOf[b[end+1]] == inWord
}

// word takes in a word of a name: h is its mark, own says that it stands in an address, and raw that it does so here as well.
func (c *called) word(h uint64, own, raw bool) {
	if h == digitsWord || raw {
		c.endName()
		return
	}
	c.beside(&c.all, NameOwn, h, own)
	if own {
		c.alone(&c.plain, NamePlain)
	} else {
		c.beside(&c.plain, NamePlain, h, false)
	}
}

// beside takes a word into a run.
func (c *called) beside(r *run, kind uint32, h uint64, own bool) {
	if r.last != 0 {
		if kind != NameOwn || own || r.own {
			c.mark(kind, mix(r.last^h, wordMore))
		}
		r.pair = true
	}
	r.last, r.own = h, own
}

// alone ends a run of words.
func (c *called) alone(r *run, kind uint32) {
	if r.last != 0 && !r.pair && (kind != NameOwn || r.own) {
		c.mark(kind, r.last)
	}
	*r = run{}
}

// endName ends the words of a name.
func (c *called) endName() {
	c.alone(&c.plain, NamePlain)
	c.alone(&c.all, NameOwn)
}

// endValue ends a text that is not a name.
func (c *called) endValue() {
	if c.values > 0 && c.values <= maxValue && !c.leads {
		last, pair := uint64(0), false // as in a run
		for _, h := range c.value[:c.values] {
			switch {
			case h == digitsWord || h == ownWord:
				if last != 0 && !pair {
					c.mark(NameValue, last)
				}
				last, pair = 0, false
				continue
			case last != 0:
				c.mark(NameValue, mix(last^h, wordMore))
				pair = true
			}
			last = h
		}
		if last != 0 && !pair {
			c.mark(NameValue, last)
		}
	}
	c.values = 0
}

func (c *called) mark(kind uint32, h uint64) {
	c.names[kind] = least(c.names[kind], uint32(h>>32)&^3|kind, MaxNames)
}

// marks returns all marks, those of a kind together.
func (c *called) marks() (out []uint32) {
	for _, of := range c.names {
		out = append(out, of...)
	}
	return out
}

package parse

// MaxNames is how many marks of what a page is called Phrases keeps.
const MaxNames = 8

// called is what a page is called: the words of its title and of its first headings that are neither numbers nor stand in addresses, since a
// page that is not there may repeat what was asked for. Two that stand beside each other are a mark, and so is one that stands alone: a
// word that is left out where another page's address has it changes the marks of a title into others of the same few.
type called struct {
	names  []uint32
	naming bool   // the text is of a title or a first heading
	last   uint64 // its last word, 0 if there is none that counts
	pair   bool   // that is in a mark
}

// isName reports whether a tag is of what says what a page is.
func isName(tag []byte) bool {
	return len(tag) > 0 && (tag[0]|0x20 == 't' && named(tag, "title") || tag[0]|0x20 == 'h' && named(tag, "h1"))
}

// begins takes in a start tag, without its "<": an element that does not end ends where the next title or heading begins.
func (c *called) begins(tag []byte) {
	if isName(tag) {
		c.alone()
		c.naming = true
	}
}

// ends takes in an end tag, likewise.
func (c *called) ends(tag []byte) {
	if isName(tag[1:]) {
		c.alone()
		c.naming = false
	}
}

// word takes in a word of a name.
func (c *called) word(h uint64) {
	switch {
	case h == digitsWord || h == ownWord:
		c.alone()
		return
	case c.last != 0:
		c.mark(mix(c.last^h, wordMore))
		c.pair = true
	}
	c.last = h
}

// alone ends a run of words.
func (c *called) alone() {
	if c.last != 0 && !c.pair {
		c.mark(c.last)
	}
	c.last, c.pair = 0, false
}

func (c *called) mark(h uint64) { c.names = least(c.names, uint32(h>>32), MaxNames) }

package parse

import "bytes"

// MaxFigures is how many marks of figures Phrases keeps of a page.
const MaxFigures = 24

// maxFigure is how long a figure is at most, in bytes: what is longer counts time, or is drawn at random.
const maxFigure = 15

// maxUnit is how long a word is at most that stands with figures in a cell of a table, in bytes: °C, hPa, €.
const maxUnit = 3

// figures are marks of the figures of a page. A figure is a number as people write it, digits with a point or a comma between
// thousands and before decimals, or a time of day, in a text of figures alone: a cell of a table. Dates, versions and numbers that stand in
// addresses are not figures, so that a calendar has none that are new. Three in a row are a mark. A row ends at a link and at the parts of
// lists and forms: how often each choice of a filter was found says nothing. The numbers of sentences are rows of their own, whose marks
// are odd: pages say in sentences, too, how they were made and how many are there.
type figures struct {
	rows  []uint32  // the smallest marks,
	table row       // of cells,
	said  row       // and of sentences
	cell  [8]uint64 // those of the text so far,
	cells int       // and how many they are
	wordy bool      // the text has words
	past  int       // where the last number ended
}

// row is the last figures, up to three.
type row struct {
	last [3]uint64
	n    int
}

// figure takes in the number that begins with the word at b[i], whose mark is exact.
func (r *reader) figure(b []byte, i int, exact uint64) {
	if i < r.past {
		return // a part of the last number
	}
	end, ok := numberAt(b, i)
	r.past = end
	if !ok || r.isOwn(exact) {
		return
	}
	h := uint64(wordSeed)
	for ; i < end; i += 8 {
		x := eight(b, i)
		if n := end - i; n < 8 {
			x &= 1<<(8*n) - 1
		}
		h = mix(h^x, wordMore)
	}
	r.cell[r.cells] = h
	if r.cells++; r.cells == len(r.cell) {
		r.addCell()
	}
}

// endCell ends a text.
func (f *figures) endCell() {
	f.addCell()
	f.wordy = false
}

// addCell takes in the figures of a text.
func (f *figures) addCell() {
	to, odd := &f.table, uint32(0)
	if f.wordy {
		to, odd = &f.said, 1
	}
	for _, h := range f.cell[:f.cells] {
		to.last[0], to.last[1], to.last[2] = to.last[1], to.last[2], h
		if to.n++; to.n < len(to.last) {
			continue
		}
		to.n = len(to.last)
		h = mix(mix(to.last[0]^wordMore, wordLast^to.last[1]), wordSeed^to.last[2])
		f.rows = least(f.rows, uint32(h>>32)&^1|odd, MaxFigures)
	}
	f.cells = 0
}

// endRow ends the rows.
func (f *figures) endRow() { f.table.n, f.said.n = 0, 0 }

// numberAt returns where the number that begins at b[i] ends, with all that is written in one piece with it, and reports whether it
// is a figure.
func numberAt(b []byte, i int) (end int, ok bool) {
	ok = i < 2 || bytes.IndexByte(joiners, b[i-1]) < 0 || textOf[b[i-2]] != inWord
	digits, groups, before := 0, 0, byte(0) // digits of the group, groups before it, what stands before it
	for end = i; end < len(b); end++ {
		c := b[end]
		switch {
		case isDigit(c):
			digits++
			continue
		case textOf[c] == inWord:
			ok = false
			continue
		case end+1 == len(b) || bytes.IndexByte(joiners, c) < 0 || textOf[b[end+1]] != inWord:
			return end, ok && end-i <= maxFigure && (groups < 2 || digits == 3 || before == '*') || isTime(b[i:end])
		case c != '.' && c != ',' || groups > 0 && (digits != 3 || before == '*'):
			ok = false
		}
		if groups > 0 && c != before {
			before = '*' // decimals come after thousands
		} else {
			before = c
		}
		digits, groups = 0, groups+1
	}
	return end, ok && end-i <= maxFigure && (groups < 2 || digits == 3 || before == '*') || isTime(b[i:end])
}

// isTime reports whether a number is a time of day: two digits after a colon.
func isTime(n []byte) bool {
	i := len(n) - len("7:05") + 1
	if i != 1 && i != 2 || n[i] != ':' {
		return false
	}
	for j, c := range n {
		if j != i && !isDigit(c) {
			return false
		}
	}
	return true
}

// isCode reports whether the word of b from i to end ends a code of letters and digits that names a thing, such as
// AK-1234 or B0712: three digits or more, which are not years.
func isCode(b []byte, i, end int) bool {
	digits, value := 0, 0
	for _, c := range b[i:end] {
		if isDigit(c) {
			digits, value = digits+1, value*10+int(c-'0')
		}
	}
	letters := digits < end-i || i > 1 && bytes.IndexByte(joiners, b[i-1]) >= 0 && isLetter(b[i-2])
	return letters && digits >= 3 && end-i <= maxFigure && (digits != 4 || value < 1900 || value >= 2200)
}

// joiners stand inside a number, and between the numbers of a date, a time or a version.
var joiners = []byte(".,:/-")

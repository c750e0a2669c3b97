package parse

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// Bounds of the sentences of a page's text.
const (
	maxSpoken    = 30           // sentences of a page that count: those whose first marks are the smallest
	spokenMarks  = 3            // of each
	spokenWords  = maxValue + 1 // words that one has at least
	spokenLong   = 12           // and so many whose thirds are marked: it has words that stand in none of the phrases of three
	spokenWindow = 12           // bytes of a mark of one without spaces: four characters
	spokenBytes  = 3 * spokenWindow
)

// spoken are the sentences of a page whose text is mostly that of others: a sample of the phrases of several hundred words has hardly one of a sentence
// of ten. Each has three marks that share two words at most, of its first words, of those behind and of its last; or, if it is long, of its thirds, which share
// none: what differs in one word, such as a key, changes two of them at most.
type spoken struct {
	closely   bool
	words     []uint64 // of a sentence
	sentences [][spokenMarks]uint32
}

// ends of sentences in scripts that put no spaces between them.
var stops = [][]byte{[]byte("。"), []byte("！"), []byte("？")}

// speaks takes in the sentences of a text between two tags.
func (r *reader) speaks(text []byte) {
	for len(text) > 0 {
		end := sentenceEnd(text)
		if marks, ok := r.spokenAs(text[:end]); ok {
			r.spoken.add(marks)
		}
		text = text[end:]
	}
}

// sentenceEnd returns where the first sentence of a text ends. A number of up to three digits is counted by its full stop, as a move or a day is.
func sentenceEnd(text []byte) int {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case (c == '.' || c == '!' || c == '?') && i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\n'):
			if c == '.' && counts(text[:i]) {
				continue
			}
			return i + 1
		case c == stops[0][0] || c == stops[1][0]:
			for _, stop := range stops {
				if bytes.HasPrefix(text[i:], stop) {
					return i + len(stop)
				}
			}
		}
	}
	return len(text)
}

// counts reports whether a text ends with a number of up to three digits.
func counts(text []byte) bool {
	i := len(text)
	for i > 0 && isDigit(text[i-1]) {
		i--
	}
	return i < len(text) && len(text)-i <= 3 && (i == 0 || textOf[text[i-1]] != inWord)
}

// spokenAs returns the marks of a sentence; false if it is too short for one. Numbers and words of addresses do not count, as everywhere, but the digits of a word
// with letters do: the moves of a game differ in them.
func (r *reader) spokenAs(s []byte) (marks [spokenMarks]uint32, ok bool) {
	words, long := r.spoken.words[:0], []byte(nil)
	for i := 0; i < len(s); {
		if textOf[s[i]] != inWord {
			i++
			continue
		}
		exact, alike, next, letters := wordAt(s, i)
		switch {
		case alike == digitsWord:
		case r.isOwn(alike):
			alike = ownWord
		case !letters && bytes.ContainsAny(s[i:next], "0123456789"):
			alike = exact
		}
		if next-i > len(long) && s[i] >= utf8.RuneSelf {
			long = s[i:next]
		}
		words = append(words, alike)
		i = next
	}
	r.spoken.words = words
	n := len(words)
	switch {
	case n >= spokenLong:
		for k := range marks {
			marks[k] = phrase(words[n*k/spokenMarks : n*(k+1)/spokenMarks])
		}
	case n >= spokenWords:
		marks = [...]uint32{phrase(words[:3]), phrase(words[3:6]), phrase(words[n-3:])}
	case len(long) >= spokenBytes && unspaced(long):
		for k := range marks {
			at := (len(long) - spokenWindow) * k / (spokenMarks - 1)
			marks[k] = saidMark(xxh3.Hash(long[at : at+spokenWindow]))
		}
	default:
		return marks, false
	}
	return marks, true
}

// phrase returns the mark of words in their order.
func phrase(words []uint64) uint32 {
	mark := uint64(len(words))
	for _, w := range words {
		mark = mix(mark^w, wordMore)
	}
	return saidMark(mark)
}

// add takes in a sentence, if its first mark is among the smallest.
func (s *spoken) add(marks [spokenMarks]uint32) {
	at, there := slices.BinarySearchFunc(s.sentences, marks, func(a, b [spokenMarks]uint32) int { return slices.Compare(a[:], b[:]) })
	if there || at == maxSpoken {
		return
	}
	s.sentences = slices.Insert(s.sentences, at, marks)
	s.sentences = s.sentences[:min(len(s.sentences), maxSpoken)]
}

// all returns the marks of the sentences.
func (s *spoken) all() (out []uint32) {
	for i := range s.sentences {
		out = append(out, s.sentences[i][:]...)
	}
	return out
}

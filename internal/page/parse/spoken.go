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
	spokenWindow = 12           // bytes of a mark of one without spaces: four characters
	spokenBytes  = 3 * spokenWindow
)

// spoken are the sentences of a page whose text is mostly that of others: a sample of the phrases of several hundred words has hardly one of a sentence
// of ten. Each has three marks that share one word at most, of its first words, of those behind and of its last: what differs in one word, such as a
// key, changes two of them at most.
type spoken struct {
	closely   bool
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

// sentenceEnd returns where the first sentence of a text ends.
func sentenceEnd(text []byte) int {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case (c == '.' || c == '!' || c == '?') && i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\n'):
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

// spokenAs returns the marks of a sentence; false if it is too short for one. Numbers and words of addresses do not count, as everywhere.
func (r *reader) spokenAs(s []byte) (marks [spokenMarks]uint32, ok bool) {
	var before, after, last uint64 // phrases that the last two words, and the last one, begin; the last phrase
	n, long := 0, []byte(nil)
	for i := 0; i < len(s); {
		if textOf[s[i]] != inWord {
			i++
			continue
		}
		_, alike, next, letters := wordAt(s, i)
		switch {
		case !letters && bytes.ContainsAny(s[i:next], "0123456789"):
			alike = digitsWord
		case r.isOwn(alike):
			alike = ownWord
		}
		if next-i > len(long) && s[i] >= utf8.RuneSelf {
			long = s[i:next]
		}
		last = mix(before^alike, wordMore)
		if n++; n == 3 || n == 6 {
			marks[n/3-1] = saidMark(last)
		}
		before, after = mix(after^alike, wordMore), mix(3^alike, wordMore)
		i = next
	}
	switch {
	case n >= spokenWords:
		marks[2] = saidMark(last)
		return marks, true
	case len(long) >= spokenBytes && unspaced(long):
		for k := range marks {
			at := (len(long) - spokenWindow) * k / (spokenMarks - 1)
			marks[k] = saidMark(xxh3.Hash(long[at : at+spokenWindow]))
		}
		return marks, true
	}
	return marks, false
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

package parse

import (
	"bytes"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// Bounds of what scripts show.
const (
	sentences   = 3 // that count: the longest ones,
	saidPhrases = 4 // each with so many phrases
	MaxSaid     = sentences * saidPhrases

	maxData     = 64 << 10 // bytes of a page's scripts and fields that are looked through
	maxSentence = 4 << 10  // bytes of a sentence that count
	minSentence = 24       // fewer are none
	minGaps     = 5        // spaces between its words: of one of six; an address and a key have none
	minEscapes  = 8        // or so many characters that JSON writes by their numbers, of a script without spaces
)

// said are the longest sentences of a page's scripts and fields: a page that a script writes has its text in the script's data, and the frame of a
// site, such as its labels in all languages, is mostly of shorter ones. What is the same on all pages says nothing, as everywhere.
type said struct {
	longest [sentences][]byte // the longest first
	looked  int
}

// data takes in the strings of a script that are sentences.
func (r *reader) data(b []byte) {
	b = b[:min(len(b), maxData-r.looked)]
	r.looked += len(b)
	double, single := -1, -1 // where the next quotes stand: none is looked for twice in the same bytes
	for i := 0; i < len(b); {
		if double < i {
			double = quoteFrom(b, '"', i)
		}
		if single < i {
			single = quoteFrom(b, '\'', i)
		}
		at := min(double, single)
		if at == len(b) {
			return
		}
		end, ok := endOfString(b, at)
		switch i = at + 1; {
		case ok:
			r.sentence(b[at+1 : end])
			i = end + 1
		case b[at] == '"': // none of the line ends there
			double = quoteFrom(b, '"', end)
		default:
			single = quoteFrom(b, '\'', end)
		}
	}
}

// quoteFrom returns where a quote stands from a place on; len(b) if none does.
func quoteFrom(b []byte, quote byte, i int) int {
	if j := bytes.IndexByte(b[i:], quote); j >= 0 {
		return i + j
	}
	return len(b)
}

// endOfString returns where the quote stands that ends the string whose first one stands at i; if none does before the line ends, where that ends.
func endOfString(b []byte, i int) (end int, ok bool) {
	for j := i + 1; j < len(b); j++ {
		k := bytes.IndexByte(b[j:], b[i])
		if k < 0 {
			k = len(b) - j
		}
		if line := bytes.IndexByte(b[j:j+k], '\n'); line >= 0 {
			return j + line, false
		}
		if j += k; j == len(b) {
			break
		}
		escapes := 0
		for b[j-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return j, true
		}
	}
	return len(b), false
}

// sentence takes in a string, if it is one and among the longest.
func (r *reader) sentence(s []byte) {
	at := len(r.longest)
	for at > 0 && len(s) > len(r.longest[at-1]) {
		at--
	}
	if at == len(r.longest) || len(s) < minSentence || !says(s) {
		return
	}
	copy(r.longest[at+1:], r.longest[at:])
	r.longest[at] = s
}

// says reports whether a string is a sentence.
func says(s []byte) bool {
	if bytes.Count(s, []byte(" ")) >= minGaps || bytes.Count(s, []byte(`\u`)) >= minEscapes {
		return true
	}
	high := 0
	for _, c := range s {
		if c >= 0x80 {
			high++
		}
	}
	return high >= minSentence
}

// speak takes in the least phrases of each of the longest sentences; numbers and words of addresses do not count, as everywhere. What is new of
// only one word changes few of them.
func (r *reader) speak() {
	for _, s := range r.longest {
		if s == nil {
			return
		}
		s = fromJSON(s[:min(len(s), maxSentence)])
		var room [saidPhrases]uint32
		marks := room[:0]
		var before, after uint64 // phrases that the last two words, and the last one, begin
		for i := 0; i < len(s); {
			if textOf[s[i]] != inWord {
				i++
				continue
			}
			exact, alike, next, letters := wordAt(s, i)
			switch {
			case letters && r.isOwn(alike):
				alike = ownWord
			case letters:
			case exact == digitsWord || bytes.ContainsAny(s[i:next], "0123456789"):
				alike = digitsWord
			case r.isOwn(alike):
				alike = ownWord
			case unspaced(s[i:next]):
				for at := i; at+window <= next; at++ {
					marks = least(marks, saidMark(xxh3.Hash(s[at:at+window])), saidPhrases)
				}
			}
			if before != 0 {
				marks = least(marks, saidMark(mix(before^alike, wordMore)), saidPhrases)
			}
			before, after = mix(after^alike, wordMore), mix(3^alike, wordMore)
			i = next
		}
		for _, m := range marks {
			r.exact(uint64(m))
			r.names[NameSaid] = least(r.names[NameSaid], m, MaxSaid)
		}
	}
}

func saidMark(h uint64) uint32 { return uint32(h>>32)&^3 | NameSaid }

// fromJSON resolves the escapes of a string that stand for characters beyond ASCII: what is left of others changes no word.
func fromJSON(s []byte) []byte {
	if !bytes.Contains(s, []byte(`\u`)) {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+5 < len(s) && s[i+1] == 'u' {
			r := rune(0)
			for _, c := range s[i+2 : i+6] {
				if d := hexDigit(c); d < 0 || r < 0 {
					r = -1
				} else {
					r = r<<4 | rune(d)
				}
			}
			if r >= utf8.RuneSelf {
				out = utf8.AppendRune(out, r)
				i += 5
				continue
			}
		}
		out = append(out, s[i])
	}
	return out
}

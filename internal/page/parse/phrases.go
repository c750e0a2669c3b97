package parse

import (
	"bytes"
	"encoding/binary"
	"sync"

	"github.com/zeebo/xxh3"
)

// MaxPhrases is how many phrases of a page Phrases keeps.
const MaxPhrases = 48

// Phrases are marks of a page's visible text: what it is in all, and which phrases it is made of.
type Phrases struct {
	Text   uint64   // of all words in their order; equal for pages that show the same
	Sample []uint32 // the smallest marks of its phrases (bottom-k: Broder 1997); digits, and words of addresses, do not count
}

// Words that are all the same in phrases.
const (
	digitsWord = 0x9e3779b97f4a7c15
	ownWord    = 0xc2b2ae3d27d4eb4f
)

// reader reads the words of a page.
type reader struct {
	own    [4096]uint64 // words of addresses, in open addressing
	n      int
	text   []byte    // marks of the words so far, until they are hashed
	sum    uint64    // of what was in text before
	run    [3]uint64 // the last words of the text since the last tag,
	runs   int       // and how many they are
	sample []uint32
}

// readers are used again: a table of words is larger than most pages' text.
var readers = sync.Pool{New: func() any { return new(reader) }}

// Mark returns the phrases of a page: of up to three words of a text between two tags. Words that stand in the page's own
// address or in those that it links to are all the same: a page that says "/x is not there" says the same as one that says
// so of /y. body is in a charset whose first half is ASCII.
func Mark(body []byte, url string, links []Link) Phrases {
	r := readers.Get().(*reader)
	defer readers.Put(r)
	clear(r.own[:])
	r.n, r.runs, r.text, r.sum, r.sample = 0, 0, r.text[:0], 0, make([]uint32, 0, MaxPhrases)
	if i := bytes.Index([]byte(url), []byte("://")); i >= 0 {
		if j := bytes.IndexByte([]byte(url[i+3:]), '/'); j >= 0 {
			r.address([]byte(url[i+3+j:]))
		}
	}
	for i := range links {
		r.address(links[i].Ref)
	}
	r.page(body)
	sample := r.sample
	r.sample = nil // it is the caller's
	return Phrases{Text: xxh3.HashSeed(r.text, r.sum) | 1, Sample: sample}
}

// page reads the text between tags.
func (r *reader) page(b []byte) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '<')
		if i < 0 {
			i = len(b)
		}
		r.words(b[:i])
		r.phrase()
		b = b[i:]
		if len(b) < 2 {
			return
		}
		switch c := b[1]; {
		case c == '!' && bytes.HasPrefix(b[2:], []byte("--")):
			b = b[skipComment(b, 4):]
		case isLetter(c) || c == '/' || c == '!' || c == '?':
			end := skipPast(b, 1, '>')
			r.image(b[1:end])
			if raw := rawName(b[1:end]); raw != "" {
				end = endOf(b, end, raw)
			}
			b = b[end:]
		default: // a bare <
			r.words(b[:1])
			b = b[1:]
		}
	}
}

// image takes in where the image of an img element is: what a page shows, though not a word of it.
func (r *reader) image(tag []byte) {
	if len(tag) < 8 || tag[0]|0x20 != 'i' || !bytes.EqualFold(tag[:3], []byte("img")) || isLetter(tag[3]) {
		return
	}
	i := bytes.Index(tag, []byte("src="))
	if i < 0 {
		return
	}
	src := bytes.TrimLeft(tag[i+4:], "'\"")
	if j := bytes.IndexAny(src, "'\" >?;"); j >= 0 {
		src = src[:j]
	}
	r.exact(xxh3.Hash(src))
}

// rawName returns the name of an element whose content nobody sees.
func rawName(tag []byte) string {
	if c := tag[0] | 0x20; c != 's' && c != 't' {
		return ""
	}
	for _, name := range [...]string{"script", "style", "template"} {
		if len(tag) > len(name) && bytes.EqualFold(tag[:len(name)], []byte(name)) && !isLetter(tag[len(name)]) && !bytes.HasSuffix(tag, []byte("/>")) {
			return name
		}
	}
	return ""
}

// endOf returns the start of an element's end tag.
func endOf(b []byte, i int, name string) int {
	for {
		j := bytes.Index(b[i:], []byte("</"))
		if j < 0 {
			return len(b)
		}
		i += j
		if rest := b[i+2:]; len(rest) >= len(name) && bytes.EqualFold(rest[:len(name)], []byte(name)) {
			return i
		}
		i += 2
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// What a byte is in a text; 0 is what stands between words.
const (
	letterByte = 1 << iota
	digitByte
	highByte // of a character that is not ASCII
)

// bytesOf says what a byte is, and what it is without regard to case.
var bytesOf = func() (t [256]struct{ kind, low uint8 }) {
	for i := range t {
		c := byte(i)
		switch {
		case isLetter(c):
			t[i].kind, t[i].low = letterByte, c|0x20
		case isDigit(c):
			t[i].kind, t[i].low = digitByte, '#'
		case c >= 0x80:
			t[i].kind, t[i].low = highByte, c
		}
	}
	return t
}()

// nextWord returns the marks of the first word of b, and what comes after it; false at the end. One mark is that of the word as it
// stands, the other that of it without regard to case and digits. What changes between letters and digits more than once is
// random to the eye, and as a whole a number. (The marks are FNV-1a.)
func nextWord(b []byte) (exact, alike uint64, rest []byte, ok bool) {
	const prime = 0x100000001b3
	i := 0
	for i < len(b) && bytesOf[b[i]].kind == 0 {
		i++
	}
	if i == len(b) {
		return 0, 0, nil, false
	}
	exact, alike = 0xcbf29ce484222325, 0xcbf29ce484222325
	start, turns, digits, last, seen := i, 0, 0, uint8(0), uint8(0)
	for ; i < len(b) && bytesOf[b[i]].kind == letterByte; i++ { // most words are nothing else
		exact, alike = (exact^uint64(b[i]))*prime, (alike^uint64(bytesOf[b[i]].low))*prime
		last, seen = letterByte, letterByte
	}
	for ; i < len(b); i++ {
		of := bytesOf[b[i]]
		if of.kind == 0 {
			break
		}
		exact = (exact ^ uint64(b[i])) * prime
		if of.kind == digitByte {
			digits++
			if last == digitByte {
				continue
			}
			turns++
		} else if last == digitByte {
			turns++
		}
		alike = (alike ^ uint64(of.low)) * prime
		last, seen = of.kind, seen|of.kind
	}
	if k := bytesOf[b[start]].kind; k == digitByte {
		turns-- // a word does not change where it begins
	}
	high := seen&highByte != 0
	if digits == i-start || turns > 1 && !high {
		alike = digitsWord
	}
	if turns > 2 && i-start >= 8 && !high {
		exact = digitsWord // a session, most likely
	}
	return exact, alike, b[i:], true
}

// address takes in the words of an address.
func (r *reader) address(b []byte) {
	if bytes.IndexByte(b, '%') >= 0 {
		b = fromPercent(b)
	}
	for r.n < len(r.own)/2 {
		_, h, rest, ok := nextWord(b)
		if !ok {
			return
		}
		b = rest
		for i := h % uint64(len(r.own)); ; i = (i + 1) % uint64(len(r.own)) {
			if r.own[i] == h {
				break
			}
			if r.own[i] == 0 {
				r.own[i] = h
				r.n++
				break
			}
		}
	}
}

// fromPercent resolves percent-encoding (RFC 3986, section 2.1).
func fromPercent(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] == '%' && i+2 < len(b) && hexDigit(b[i+1]) >= 0 && hexDigit(b[i+2]) >= 0 {
			out = append(out, byte(hexDigit(b[i+1])<<4|hexDigit(b[i+2])))
			i += 2
			continue
		}
		out = append(out, b[i])
	}
	return out
}

func hexDigit(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

func (r *reader) isOwn(h uint64) bool {
	for i := h % uint64(len(r.own)); r.own[i] != 0; i = (i + 1) % uint64(len(r.own)) {
		if r.own[i] == h {
			return true
		}
	}
	return false
}

// words takes in the words of a piece of text.
func (r *reader) words(b []byte) {
	for {
		exact, alike, rest, ok := nextWord(b)
		if !ok {
			return
		}
		b = rest
		r.exact(exact)
		if alike != digitsWord && r.isOwn(alike) {
			alike = ownWord
		}
		if r.runs == len(r.run) {
			r.run[0], r.run[1], r.run[2] = r.run[1], r.run[2], alike
		} else {
			r.run[r.runs] = alike
			r.runs++
		}
		if r.runs == len(r.run) {
			r.keep()
		}
	}
}

// exact adds to what the page shows in all.
func (r *reader) exact(h uint64) {
	if r.text = binary.LittleEndian.AppendUint64(r.text, h); len(r.text) >= 4096 {
		r.sum, r.text = xxh3.HashSeed(r.text, r.sum), r.text[:0]
	}
}

// phrase ends a text: a short one is a phrase by itself.
func (r *reader) phrase() {
	if r.runs == 1 || r.runs == 2 {
		r.keep()
	}
	r.runs = 0
}

// keep takes in a phrase, if its mark is among the smallest.
func (r *reader) keep() {
	h := uint64(r.runs)
	for _, w := range r.run[:r.runs] {
		h = (h ^ w) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	h *= 0xbf58476d1ce4e5b9
	r.least(uint32(h >> 32))
}

// least keeps a mark, if it is among the smallest.
func (r *reader) least(h uint32) {
	n := len(r.sample)
	if n == MaxPhrases && h >= r.sample[n-1] {
		return
	}
	i := n
	for i > 0 && r.sample[i-1] > h {
		i--
	}
	if i > 0 && r.sample[i-1] == h {
		return
	}
	if n < MaxPhrases {
		r.sample = append(r.sample, 0)
	}
	copy(r.sample[i+1:], r.sample[i:])
	r.sample[i] = h
}

package parse

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// maxShown bounds the bytes of a page, without scripts, styles and comments, of which phrases are taken: what comes after them says little more, and
// pages are as long as one likes.
const maxShown = 96 << 10

// MaxPhrases is how many phrases of a page Phrases keeps.
const MaxPhrases = 48

// Phrases are marks of a page's visible text: what it is in all, and which phrases it is made of.
type Phrases struct {
	// Text is of all words: its upper half in any order, its lower half in theirs. It is equal for pages that show the same.
	Text uint64
	// Sample are the smallest marks of its phrases (bottom-k: Broder 1997); digits, and words of addresses, do not count. Those of links
	// within the site are odd: they say what another page is.
	Sample []uint32
	// Figures are the smallest marks of three figures in a row (see figures.go): a table says something although its words do not. Those
	// of sentences are odd.
	Figures  []uint32
	Pictures []uint32 // the smallest marks of its pictures (see pictures.go); those are even whose numbers stand in addresses as well
	Names    []uint32 // the smallest marks of what it is called, and of short texts (see names.go); their two lowest bits say which
	Numbers  []uint32 // the first numbers that it says (see numbers.go), as they are
}

// Words that are all the same in phrases.
const (
	digitsWord = 0x9e3779b97f4a7c15
	ownWord    = 0xc2b2ae3d27d4eb4f
)

// reader reads the words of a page.
type reader struct {
	own    [4096]uint64 // words of addresses, in open addressing,
	at     []uint16     // where in own they are,
	may    [128]uint64  // and a set of bits of them: most words of a text are not among them, which this says in a few lines of cache
	before []byte       // the last address
	refs   [64][]byte   // and some of those before it: pages lead to the same place more than once
	mine   [][]byte     // runs of the page's own that are not ASCII
	dir    uint64       // where the page lies
	until  int          // what is behind it is not read
	lazy   int          // where "data-" stands next,
	styles int          // and "url("
	sum    uint64       // of the words so far, in their order,
	bag    uint64       // and in any
	bottom
	pictures []uint32
	called
	figures
	said
	spoken
	numbers []uint32
	low     [32]uint32 // marks that are to be looked at
}

// readers are used again: a table of words is larger than most pages' text.
var readers = sync.Pool{New: func() any { return new(reader) }}

// Mark returns the phrases of a page: of up to three words of a text between two tags. Words that stand in the page's own
// address or in those of its site that it links to are all the same: a page that says "/x is not there" says the same as one that says
// so of /y. What another site is called says something. body is in a charset whose first half is ASCII.
//
// With closely, Names have the sentences of its text, too (see spoken.go).
func Mark(body []byte, url string, links []Link, closely bool) Phrases {
	return mark(body, url, func(fn func([]Link) bool) { fn(links) }, closely)
}

// MarkPage is Mark of body, which a page begins with, beside all links of the page.
func MarkPage(body []byte, url string, page *Page, closely bool) Phrases {
	return mark(body, url, page.Each, closely)
}

func mark(body []byte, url string, links func(func([]Link) bool), closely bool) Phrases {
	r := readers.Get().(*reader)
	defer readers.Put(r)
	r.disown()
	r.before, r.bag, r.sum, r.figures = nil, 0, wordSeed, figures{}
	r.bottom.begin()
	r.said, r.spoken = said{}, spoken{closely: closely, words: r.spoken.words}
	r.pictures, r.called, r.numbers, r.mine = nil, called{}, nil, nil
	if _, at, ok := strings.Cut(url, "://"); ok {
		r.address([]byte(at))
		r.mine = mineOf([]byte(at))
		at, _, _ = strings.Cut(at, "?")
		r.dir = directory([]byte(at[strings.IndexByte(at+"/", '/'):]))
	}
	_, at, _ := strings.Cut(url, "//")
	domain := domainOf([]byte(at))
	links(func(some []Link) bool {
		r.addresses(some, domain)
		return len(r.at) < len(r.own)/2
	})
	r.page(spelled(body))
	r.speak()
	marks := Phrases{Text: r.bag>>32<<32 | r.sum>>32 | 1, Sample: r.bottom.sample(), Figures: r.rows, Pictures: r.pictures, Names: append(r.marks(), r.spoken.all()...), Numbers: r.numbers}
	r.rows, r.pictures, r.called, r.numbers, r.before, r.mine, r.said, r.spoken = nil, nil, called{}, nil, nil, nil, said{}, spoken{words: r.spoken.words} // they are the caller's
	clear(r.refs[:])
	return marks
}

// addresses takes in the words of addresses that lead to a domain.
func (r *reader) addresses(links []Link, domain []byte) {
	for i := range links {
		ref := links[i].Ref
		same := &r.refs[uint8(eight(ref, max(0, len(ref)-8))*wordMore>>56)&63]
		if bytes.Equal(*same, ref) {
			continue
		}
		if *same = ref; !elsewhere(ref, domain) {
			r.address(ref)
		}
	}
}

// elsewhere reports whether a reference names a host of another domain, as far as their last two labels tell.
func elsewhere(ref, domain []byte) bool {
	if bytes.IndexByte(ref, ':') < 0 && !bytes.HasPrefix(ref, []byte("//")) {
		return false // as most are
	}
	at := 0
	for at < len(ref) && ref[at] != '/' && ref[at] != '?' && ref[at] != '#' {
		at++
	}
	if at+1 >= len(ref) || ref[at] != '/' || ref[at+1] != '/' || at > 0 && ref[at-1] != ':' {
		return false
	}
	return !bytes.EqualFold(domainOf(ref[at+2:]), domain)
}

// domainOf returns the last two labels of the host that an address begins with.
func domainOf(address []byte) []byte {
	if i := bytes.IndexAny(address, "/?#"); i >= 0 {
		address = address[:i]
	}
	if i := bytes.LastIndexByte(address, '@'); i >= 0 {
		address = address[i+1:]
	}
	if i := bytes.LastIndexByte(address, ':'); i > bytes.LastIndexByte(address, ']') {
		address = address[:i]
	}
	if i := bytes.LastIndexByte(address, '.'); i >= 0 {
		return address[bytes.LastIndexByte(address[:i], '.')+1:]
	}
	return address
}

// page reads the text between tags.
func (r *reader) page(b []byte) {
	r.until, r.lazy, r.styles = maxShown, -1, -1
	for i := 0; ; {
		for i < len(b) && textOf[b[i]] == 0 {
			i++
		}
		if i < len(b) && b[i] != '<' {
			from := i
			if i = r.words(b, i); r.closely && !r.leads && !r.naming {
				r.speaks(b[from:i])
			}
		}
		if r.wordy || r.values+r.cells > 0 {
			r.endText()
		}
		if i+1 >= len(b) || i >= r.until {
			return
		}
		name, c := i+1, b[i+1]
		if c == '/' {
			name = i + 2
		}
		if c != '/' && !isLetter(c) {
			i = r.noTag(b, i)
			continue
		}
		var of element
		switch of, i = elementAt(b, name); {
		case of == 0:
			if c != '/' && i-name >= len("p style=url(x)>") && r.mayShow(b, name, i) {
				r.shown(of, b[name:i])
			}
		case c == '/':
			r.ends(of)
		default:
			i = r.starts(of, b, name, i)
		}
	}
}

// noTag returns where what ends that begins with the "<" at b[i] and is not an element's tag.
func (r *reader) noTag(b []byte, i int) (end int) {
	switch c := b[i+1]; {
	case c == '!' && bytes.HasPrefix(b[i+2:], []byte("--")):
		end = skipComment(b, i+4)
		r.until += end - i
		return end
	case c == '!' || c == '?':
		return endOfTag(b, i+1)
	}
	return i + 1 // a bare <
}

// starts takes in the start tag of an element that means something, of b from i to end, and returns where to go on.
func (r *reader) starts(of element, b []byte, i, end int) int {
	tag := b[i:end]
	if of&isHidden != 0 && !bytes.HasSuffix(tag, []byte("/>")) && !bytes.Contains(tag, []byte("shadowroot")) { // which is shown
		name := string(bytes.ToLower(tag[:tagNameEnd(tag, 0)]))
		to := endOf(b, end, name)
		r.until += to - end
		switch name {
		case "style":
			r.styled(b[end:to])
		case "script":
			r.data(b[end:to])
		}
		return to
	}
	r.begins(of, tag)
	if of&isShown != 0 || r.mayShow(b, i, end) || of&isBacked != 0 && bytes.Contains(tag, []byte("background=")) {
		r.shown(of, tag)
	}
	return end
}

// attributeOf returns the value of an attribute of a tag, without its "<"; nil if there is none. An "=" within another value is no
// matter to what reads words.
func attributeOf(tag []byte, name string) []byte {
	for at := 0; ; at++ {
		n := bytes.IndexByte(tag[at:], '=')
		if at += n; n < 0 || at+1 == len(tag) {
			return nil
		}
		i := at - len(name)
		if i < 1 || !foldEqual(tag[i:at], name) || textOf[tag[i-1]] == inWord || tag[i-1] == '-' {
			continue
		}
		value := tag[at+1:]
		if value[0] == '"' || value[0] == '\'' {
			if j := bytes.IndexByte(value[1:], value[0]); j >= 0 {
				return value[1 : 1+j]
			}
			return value[1:]
		}
		if j := bytes.IndexAny(value, " \t\n\f\r>"); j >= 0 {
			value = value[:j]
		}
		return value
	}
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

// address takes in the words of an address.
func (r *reader) address(b []byte) {
	if bytes.IndexByte(b, '%') >= 0 {
		b = fromPercent(b)
	}
	at := r.asBefore(b)
	for r.before = b; len(r.at) < len(r.own)/2; {
		for at < len(b) && textOf[b[at]] != inWord {
			at++
		}
		if at == len(b) {
			return
		}
		if _, h, next := lettersAt(b, at); next > at {
			r.owns(h)
			at = next
			continue
		}
		exact, h, next := longWord(b, at)
		r.owns(h)
		switch {
		case exact == digitsWord:
			r.owns(xxh3.Hash(b[at:next])) // a picture may be called so
		case h == digitsWord && isDigit(b[at]) && next-at <= maxFigure:
			r.owns(exact)
		}
		at = next
	}
}

// owns takes in the mark of a word of an address.
func (r *reader) owns(h uint64) {
	i := h % uint64(len(r.own))
	for r.own[i] != 0 && r.own[i] != h {
		i = (i + 1) % uint64(len(r.own))
	}
	if r.own[i] == 0 {
		r.own[i] = h
		r.at = append(r.at, uint16(i))
		r.may[h>>6%uint64(len(r.may))] |= 1 << (h % 64)
	}
}

// disown forgets the words of addresses.
func (r *reader) disown() {
	for _, i := range r.at {
		r.own[i] = 0
	}
	r.at = r.at[:0]
	clear(r.may[:])
}

// asBefore returns how much of an address stood in the last one: many addresses of a page begin alike.
func (r *reader) asBefore(b []byte) int {
	n, most := 0, min(len(b), len(r.before))
	for n+8 <= most && eight(b, n) == eight(r.before, n) {
		n += 8
	}
	for n < most && b[n] == r.before[n] {
		n++
	}
	for n > 0 && textOf[b[n-1]] == inWord {
		n-- // a word may go on
	}
	return n
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
	if r.may[h>>6%uint64(len(r.may))]>>(h%64)&1 == 0 {
		return false
	}
	for i := h % uint64(len(r.own)); r.own[i] != 0; i = (i + 1) % uint64(len(r.own)) {
		if r.own[i] == h {
			return true
		}
	}
	return false
}

// words takes in the words of b from i on until "<", and returns where that is.
func (r *reader) words(b []byte, i int) int {
	sum, bag, n := r.sum, r.bag, 0
	low, most := 0, r.most                 // marks in r.low, all below most
	var last, before, after, behind uint64 // the last two words, and phrases of three that the last one, and the last two, begin
	for {
		for i < len(b) && textOf[b[i]] == 0 {
			i++
		}
		if i == len(b) || textOf[b[i]] != inWord {
			break
		}
		exact, alike, next := lettersAt(b, i)
		word := alike
		if next > i { // as most words are
			if r.isOwn(alike) {
				word = ownWord
			}
			r.wordy = r.wordy || next-i > maxUnit
			switch {
			case r.naming:
				r.word(alike, word == ownWord, word == ownWord && joined(b, i, next))
			case !r.leads:
				if r.values < maxValue {
					r.value[r.values] = word
				}
				r.values++
			}
		} else {
			exact, word, next = r.longWord(b, i)
		}
		i = next
		sum = mix(sum^exact, wordMore)
		bag += mix(exact^wordLast, wordSeed)
		if n++; n > 2 {
			mark := uint32(mix(behind^word, wordMore)>>32) &^ 1
			if r.low[low&31] = mark; mark < most { // without a branch: nobody can tell which are
				low++
			}
			if low == len(r.low) {
				r.kept(r.low[:])
				low, most = 0, r.most
			}
		}
		behind, after = mix(after^word, wordMore), mix(3^word, wordMore)
		before, last = last, word
	}
	switch n { // a short text is a phrase by itself
	case 1:
		r.keep(mix(1^last, wordMore))
	case 2:
		r.keep(mix(mix(2^before, wordMore)^last, wordMore))
	}
	if low > 0 {
		r.kept(r.low[:low])
	}
	r.sum, r.bag = sum, bag
	return i
}

// longWord takes in the word at b[i] that is not short, or not of letters alone. It returns its marks, as it stands and in phrases, and where it ends.
func (r *reader) longWord(b []byte, i int) (exact, word uint64, next int) {
	exact, word, next = longWord(b, i)
	alike := word
	own := r.notLetters(b, i, next, exact, alike)
	if !own && next-i >= ownRun && b[i]|b[next-1] >= utf8.RuneSelf {
		alike, own = r.run(b[i:next], alike)
	}
	if word = alike; own {
		word = ownWord
	}
	switch {
	case r.naming:
		r.word(alike, own, own && joined(b, i, next))
		return exact, word, next
	case r.leads || r.values >= maxValue: // what leads elsewhere, or a sentence
	case !own && exact != alike && exact != digitsWord && isCode(b, i, next) && !r.isOwn(exact):
		r.value[r.values] = exact
	default:
		r.value[r.values] = word
	}
	r.values++
	return exact, word, next
}

// notLetters takes in a word of b from i to end that has not letters only. It reports whether it stands in an address.
func (r *reader) notLetters(b []byte, i, end int, exact, alike uint64) (own bool) {
	if len(r.numbers) < MaxNumbers && isDigit(b[i]) && !r.leads {
		r.number(b, i, end, exact)
	}
	if alike == digitsWord {
		r.figure(b, i, exact)
		return false
	}
	r.wordy = r.wordy || end-i > maxUnit
	return r.isOwn(alike)
}

// exact adds to what the page shows in all.
func (r *reader) exact(h uint64) {
	r.sum = mix(r.sum^h, wordMore)
	r.bag += mix(h^wordLast, wordSeed)
}

// endText ends what stands between two tags.
func (r *reader) endText() {
	r.endValue()
	r.endCell()
}

// keep takes in a phrase, if its mark is among the smallest. Most are not.
func (r *reader) keep(h uint64) {
	if mark := uint32(h>>32) &^ 1; mark < r.most {
		r.kept([]uint32{mark})
	}
}

// kept takes in marks that may be among the smallest.
func (r *reader) kept(marks []uint32) {
	if r.link != nil {
		r.onward, r.link = within(r.link), nil
	}
	odd := uint32(0)
	if r.onward {
		odd = 1
	}
	for _, mark := range marks {
		r.take(mark | odd)
	}
}

// least adds a mark to a sample of at most so many, in their order, if it is among the smallest.
func least(sample []uint32, h uint32, most int) []uint32 {
	n := len(sample)
	if n == most && h >= sample[n-1] {
		return sample
	}
	i := n
	for i > 0 && sample[i-1] > h {
		i--
	}
	if i > 0 && sample[i-1] == h {
		return sample
	}
	if n < most {
		sample = append(sample, 0)
	}
	copy(sample[i+1:], sample[i:])
	sample[i] = h
	return sample
}

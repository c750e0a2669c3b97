package parse

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestMark(t *testing.T) {
	mark := func(body, url string) Phrases {
		var p Page
		Scan([]byte(body), Options{}, &p)
		return Mark([]byte(body), url, p.Links, false)
	}
	const a = "http://a.test/x/one-two"
	base := mark("<h1>Sorry</h1><p>There is no /x/one-two here</p>", a)
	for name, c := range map[string]struct {
		body, url         string
		sameText, sameAll bool // the text, and its phrases
	}{
		"itself":                    {"<h1>Sorry</h1><p>There is no /x/one-two here</p>", a, true, true},
		"markup":                    {"<div><h1 class=y>Sorry</h1></div><script>var x</script><!-- no --><p>There is no /x/one-two here", a, true, true},
		"its own address":           {"<h1>Sorry</h1><p>There is no /y/red-blue here</p>", "http://a.test/y/red-blue", false, true},
		"encoded address":           {"<h1>Sorry</h1><p>There is no /y/red blue here</p>", "http://a.test/y/red%20blue", false, true},
		"another word":              {"<h1>Sorry</h1><p>There is a /x/one-two here</p>", a, false, false},
		"words of what it links to": {"<h1>Sorry</h1><p>There is no /x/one-two here</p><a href=/far/away>far away</a>", a, false, false},
	} {
		m := mark(c.body, c.url)
		if (m.Text == base.Text) != c.sameText || slices.Equal(m.Sample, base.Sample) != c.sameAll {
			t.Errorf("%s: same text %v, same phrases %v", name, m.Text == base.Text, slices.Equal(m.Sample, base.Sample))
		}
	}
	if x, y := mark("<p>post 17</p>", a), mark("<p>post 18</p>", a); x.Text == y.Text || !slices.Equal(x.Sample, y.Sample) {
		t.Error("texts that differ in a number differ, and their phrases do not")
	}
}

// What links to other sites are called is what a page says: the words of their addresses count. Those of its own site, however it is named,
// do not.
func TestNamesOfOtherSites(t *testing.T) {
	mark := func(ref, label string) []uint32 {
		return Mark([]byte("<a href="+ref+">"+label+"</a>"), "http://www.a.test:81/x", []Link{{Ref: []byte(ref)}}, false).Sample
	}
	for ref, own := range map[string]bool{
		"http://blue-bird.example/": false, "//blue-bird.example": false, "HTTPS://www.blue-bird.example:8080/?q": false, "http://u@blue-bird.example": false,
		"http://www.a.test/blue/bird": true, "//a.test/blue-bird": true, "http://A.TEST:9/blue-bird": true, "/go?to=http://blue-bird.example/": true,
		"blue/bird//http://b.test/": true, "http://img.a.test/blue-bird": true, "?http://blue-bird.example": true,
	} {
		same := slices.Equal(mark(ref, "blue bird"), mark(strings.ReplaceAll(strings.ReplaceAll(ref, "blue", "red"), "bird", "fish"), "red fish"))
		if same != own {
			t.Errorf("%s: the words of its address are the page's own: %v, want %v", ref, same, own)
		}
	}
}

// plainMarks are the marks of a word by their definition, which takes one look at it for each thing that it asks.
func plainMarks(word []byte) (exact, alike uint64) {
	hash := func(w []byte) uint64 {
		sum, n := uint64(wordSeed), uint64(len(w))
		for ; len(w) >= 8; w = w[8:] {
			sum = mix(sum^binary.LittleEndian.Uint64(w), wordMore)
		}
		return mix(sum^binary.LittleEndian.Uint64(append(slices.Clone(w), make([]byte, 8)...)), wordLast^n)
	}
	exact = hash(word)
	var like []byte
	turns, digits, high := 0, 0, false
	for i, c := range word {
		follows := i > 0 && isDigit(word[i-1])
		if i > 0 && isDigit(c) != follows {
			turns++
		}
		switch {
		case isDigit(c):
			digits++
			if follows {
				continue
			}
			c = '#'
		case c >= 0x80:
			high = true
		default:
			c |= 0x20
		}
		like = append(like, c)
	}
	alike = hash(like)
	if digits == len(word) || turns > 1 && !high {
		alike = digitsWord
	}
	if turns > 2 && len(word) >= 8 && !high {
		exact = digitsWord
	}
	return exact, alike
}

func TestWordsHaveTheMarksOfTheirDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 40_000 {
		from := "aZk09175é\xff -/[`{@:\x00"
		if n%2 == 0 {
			from = "abcdefghijklmNOPQRSTUVWXYZé -"
		}
		text := make([]byte, rng.IntN(60))
		for i := range text {
			text[i] = from[rng.IntN(len(from))]
			if n%4 == 0 && rng.IntN(4) > 0 {
				text[i] = 'x' // long words
			}
		}
		var want [][]byte
		start := -1
		for i, c := range append(slices.Clone(text), ' ') {
			in := isLetter(c) || isDigit(c) || c >= 0x80
			if in && start < 0 {
				start = i
			} else if !in && start >= 0 {
				want, start = append(want, text[start:i]), -1
			}
		}
		skip := func(i int) int {
			for i < len(text) && textOf[text[i]] != inWord {
				i++
			}
			return i
		}
		at := 0
		for _, w := range want {
			at = skip(at)
			exact, alike, next, _ := wordAt(text, at)
			if e, a := plainMarks(w); exact != e || alike != a || next != at+len(w) {
				t.Fatalf("%q: word %q has marks %x, %x and ends at %d, want %x, %x, %d", text, w, exact, alike, next, e, a, at+len(w))
			}
			at = next
		}
		if at = skip(at); at != len(text) {
			t.Fatalf("%q: a word too many at %d", text, at)
		}
	}
}

func TestEndOfTag(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 20_000 {
		tag := make([]byte, rng.IntN(40))
		for i := range tag {
			tag[i] = "abc =\"'()-,.?\x01é<"[rng.IntN(17)]
		}
		if end := endOfTag(append(slices.Clone(tag), ">-?>("...), 0); end != len(tag)+1 {
			t.Fatalf("%q> ends at %d", tag, end)
		}
		if end := endOfTag(tag, 0); end != len(tag) {
			t.Fatalf("%q without an end: %d", tag, end)
		}
	}
	for n := range 70 {
		tag := append(bytes.Repeat([]byte{'<'}, n), "> and > more"...)
		if end := endOfTag(tag, 0); end != n+1 {
			t.Errorf("a tag of %d bytes ends at %d", n+1, end)
		}
		if end := endOfTag(tag[:n], 0); end != n {
			t.Errorf("%d bytes without an end: %d", n, end)
		}
	}
}

// What an element means is said of its whole name, in any case, whatever ends it.
func TestElements(t *testing.T) {
	means := map[string]element{}
	for slot, name := range elements.name {
		if name != 0 {
			means[string(bytes.TrimRight(binary.LittleEndian.AppendUint64(nil, name), "\x00"))] = elements.is[slot]
		}
	}
	if len(means) < 30 || means["a"]&isLink == 0 || means["polyline"] != isShown|isDrawn {
		t.Fatalf("elements: %v", means)
	}
	rng := rand.New(rand.NewPCG(9, 10))
	var names []string
	for name := range means {
		names = append(names, name)
	}
	slices.Sort(names)
	for range 50_000 {
		name := []byte(names[rng.IntN(len(names))])
		for i := range name {
			if isLetter(name[i]) && rng.IntN(3) == 0 {
				name[i] ^= 0x20
			}
		}
		switch rng.IntN(4) {
		case 0:
			name[rng.IntN(len(name))] ^= 1 << rng.IntN(8)
		case 1:
			name = append(name, "x1-é"[rng.IntN(5)])
		}
		tag := append(slices.Clone(name), " \n\t/>"[rng.IntN(5)])
		tag = append(tag, "abcdefghij>"[:rng.IntN(12)]...)
		i := bytes.IndexAny(tag, " \n\t\r\f/>")
		if i == 0 || bytes.IndexFunc(tag[:i], func(r rune) bool { return r <= ' ' }) >= 0 {
			continue
		}
		want, ends := means[strings.ToLower(string(tag[:i]))], bytes.IndexByte(tag, '>')+1
		if ends == 0 {
			ends = len(tag)
		}
		if got, end := elementAt(tag, 0); got != want || end != ends {
			t.Fatalf("%q means %b until %d, want %b until %d", tag, got, end, want, ends)
		}
	}
}

// A phrase is three words that follow one another between two tags, or a whole text of one or two. Those of links within the site are odd.
func TestPhrasesAreThoseOfTheirDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	tags := []string{"<p>", "</a><p>", `<a href="/X">`, "<a class=b href=X>", `<a href="//b.test/X">`, "<a name=X>", "<a href>"}
	for range 2000 {
		var page []byte
		want := map[uint32]bool{}
		odd := uint32(0)
		for range rng.IntN(8) {
			var text []uint64
			for range rng.IntN(12) * (1 + rng.IntN(5)) {
				word := []byte("abcdefghijklmnopqr"[:1+rng.IntN(18)])
				word[0] -= byte(rng.IntN(2) * 32)
				if rng.IntN(8) == 0 {
					word = append(word, "37"...)
				}
				_, alike := plainMarks(word)
				page, text = append(append(page, word...), " ,. - "[rng.IntN(6)]), append(text, alike)
			}
			for i := range text {
				n := min(3, len(text))
				if i+n > len(text) {
					break
				}
				h := uint64(n)
				for _, w := range text[i : i+n] {
					h = mix(h^w, wordMore)
				}
				want[uint32(h>>32)&^1|odd] = true
			}
			switch tag := tags[rng.IntN(len(tags))]; {
			case tag == tags[0]:
				page = append(page, tag...)
			case tag == tags[2] || tag == tags[3]:
				page, odd = append(page, tag...), 1
			default:
				page, odd = append(page, tag...), 0
			}
		}
		var all []uint32
		for m := range want {
			all = append(all, m)
		}
		slices.Sort(all)
		if got := Mark(page, "http://h.test/", nil, false).Sample; !slices.Equal(got, all[:min(len(all), MaxPhrases)]) {
			t.Fatalf("%q has phrases %x, want %x", page, got, all)
		}
	}
}

// The marks of a sample are the smallest, each once, in whatever order they come.
func TestBottom(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	var b bottom
	for range 500 {
		b.begin()
		most, has := max(1, rng.Uint32()>>rng.IntN(32)), map[uint32]bool{}
		for range rng.IntN(1000) {
			mark := rng.Uint32N(most)
			if rng.IntN(50) == 0 {
				mark = ^uint32(0) - rng.Uint32N(3)
			}
			has[mark] = true
			b.take(mark)
		}
		want := slices.Sorted(maps.Keys(has))
		if want = want[:min(len(want), MaxPhrases)]; !slices.Equal(b.sample(), want) {
			t.Fatalf("%x, want %x", b.sample(), want)
		}
		if len(want) == MaxPhrases && b.most != want[MaxPhrases-1] || len(want) < MaxPhrases && b.most != ^uint32(0) {
			t.Fatalf("%x bounds %d marks", b.most, len(want))
		}
	}
}

// It is of no matter how often, and in which order, a page leads somewhere.
func TestLinksThatAreRepeated(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	names := []string{"a", "over/there", "over/7", "/x/y?z=1", "#top", "", "over/there#b", "http://b.test/u", "//a.test/v", "x.html", "over%20here", "dir/index.html", "dir/index.htm"}
	body := []byte("<p>over there is a top and y or z, index of u v x here and dir html 7")
	for range 200 {
		var once, often []Link
		for _, name := range names {
			if rng.IntN(2) == 0 {
				once = append(once, Link{Ref: []byte(name)})
			}
		}
		for range len(once) * 5 {
			often = append(often, once[rng.IntN(len(once))])
		}
		often = append(often, once...)
		if one, two := Mark(body, "http://a.test/", once, false), Mark(body, "http://a.test/", often, false); !reflect.DeepEqual(one, two) {
			t.Fatalf("%+v, then %+v of %+v", one, two, often)
		}
	}
}

// What a page has left behind in a reader says nothing of the next.
func TestMarkIsOfOnePage(t *testing.T) {
	links := []Link{{Ref: []byte("/over/there")}}
	body := []byte("<p>what is over there is one thing, 17 of them here is another")
	first := Mark(body, "http://a.test/x", nil, false)
	Mark([]byte("<p>some other words and two"), "http://a.test/what/thing", links, false)
	if again := Mark(body, "http://a.test/x", nil, false); again.Text != first.Text || !slices.Equal(again.Sample, first.Sample) {
		t.Error("the same page has other phrases after another one")
	}
}

// The value of an attribute is that of the first name before an "=" that is no part of a longer name; what is looked for in a tag is found
// wherever it stands.
func TestAttributeOf(t *testing.T) {
	plain := func(tag []byte, name string) []byte {
		for i := 1; i+len(name)+1 < len(tag); i++ {
			if tag[i+len(name)] != '=' || !bytes.EqualFold(tag[i:i+len(name)], []byte(name)) || textOf[tag[i-1]] == inWord || tag[i-1] == '-' {
				continue
			}
			value, end := tag[i+len(name)+1:], []byte(" \t\n\f\r>")
			if value[0] == '"' || value[0] == '\'' {
				value, end = value[1:], value[:1]
			}
			if j := bytes.IndexAny(value, string(end)); j >= 0 {
				value = value[:j]
			}
			return value
		}
		return nil
	}
	pieces := []string{"a", "href", "HREF", "data-", "data", "-", "url(", "url", "(", ")", "=", "=", `"`, "'", " ", "x", "/y", ">", "é", "alt", "\n", "data-href"}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		tag := []byte("a ")
		for range rng.IntN(14) {
			tag = append(tag, pieces[rng.IntN(len(pieces))]...)
		}
		for _, name := range []string{"href", "alt"} {
			if got, want := attributeOf(tag, name), plain(tag, name); !bytes.Equal(got, want) || (got == nil) != (want == nil) {
				t.Fatalf("%s of %q is %q, want %q", name, tag, got, want)
			}
		}
		r := reader{lazy: -1, styles: -1}
		if got, want := r.mayShow(tag, 0, len(tag)), bytes.Contains(tag, []byte("data-")) || bytes.Contains(tag, []byte("url(")); got != want {
			t.Fatalf("%q may show a picture: %v", tag, got)
		}
	}
}

// A word is a page's own if one of its addresses has it, and no word of the page before is.
func TestOwnWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var r reader
	for range 50 {
		own := map[uint64]bool{}
		for range rng.IntN(1500) {
			h := rng.Uint64() >> (rng.IntN(5) * 10)
			own[h|1] = true
			r.owns(h | 1)
		}
		for h := range own {
			if !r.isOwn(h) {
				t.Fatalf("%x is not known", h)
			}
		}
		for range 5000 {
			if h := rng.Uint64() >> (rng.IntN(5) * 10); r.isOwn(h) != own[h] {
				t.Fatalf("%x is own: %v", h, !own[h])
			}
		}
		r.disown()
	}
}

func BenchmarkMark(b *testing.B) {
	body := benchPage()
	var p Page
	Scan(body, Options{}, &p)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		Mark(body, "http://a.test/x/one-two", p.Links, false)
	}
}

// A picture says what it shows by its own words, and by which it is: by its whole address, but for what counts time in it. Pixels that count
// readers are not pictures.
func TestPicturesAreShown(t *testing.T) {
	of := func(body string) Phrases { return Mark([]byte("<h1>Comic</h1>"+body), "http://h.test/1", nil, false) }
	first := of(`<img src="/a/strips/one.png" alt="three cats in a boat" title='they row'>`)
	if len(first.Pictures) != 1 || len(first.Sample) < 4 {
		t.Fatalf("%d pictures, %d phrases; want 1 and 4 at least", len(first.Pictures), len(first.Sample))
	}
	for body, want := range map[string]struct{ picture, words bool }{
		`<img alt="three cats in a boat" title="they row" src=//cdn3.test/a/strips/one.png?1790000000#x>`: {true, true},
		`<img alt="three cats in a boat" title="they row" src=/a/strips/one.png?id=7>`:                    {false, true},
		`<img alt="three cats in a boat" title="they row" src=/7f3a/strips/one.png>`:                      {false, true},
		`<IMG SRC="/a/strips/one.png" ALT="three cats in a boat" data-alt="x" TITLE="they row">`:          {true, true},
		`<img src="/a/strips/two.png" alt="three cats in a boat" title="they row">`:                       {false, true},
		`<img src="/a/strips/one.png" alt="two dogs on a hill" title="they row">`:                         {true, false},
	} {
		got := of(body)
		if p, w := slices.Equal(got.Pictures, first.Pictures), slices.Equal(got.Sample, first.Sample); p != want.picture || w != want.words {
			t.Errorf("%s: the same picture: %v, the same words: %v, want %v", body, p, w, want)
		}
	}
	if got := of(`<img src="/count/8.gif" width=1 height=1>`); len(got.Pictures) != 0 {
		t.Error("a pixel is a picture")
	}
}

// A picture beside its page is another one in another directory, if it is counted there; not where sessions or repeated names lead.
func TestPicturesBesideTheirPages(t *testing.T) {
	of := func(url, src string) []uint32 { return Mark([]byte("<img src="+src+">"), url, nil, false).Pictures }
	for _, c := range []struct {
		a, b, src string
		same      bool
	}{
		{"http://h/album/3/17", "http://h/album/4/17", "17.jpg", false},
		{"http://h/album/3/17", "http://h/album/3/18", "IMG_0007.jpg", true},
		{"http://h/album/3/17", "http://h/album/4/17", "/17.jpg", true},
		{"http://h/album/3/17", "http://h/album/4/17", "//cdn/17.jpg", true},
		{"http://h/album/3/17", "http://h/album/4/17", "logo.png", true},
		{"http://h/a/b/x", "http://h/a/b/a/b/x", "icon1.png", true},
		{"http://h/s/9f3a1c7e55d0/x", "http://h/s/17c9e0ab4d21/x", "icon1.png", true},
		{"http://h", "http://h?x=/1/2", "icon1.png", true},
	} {
		if same := slices.Equal(of(c.a, c.src), of(c.b, c.src)); same != c.same {
			t.Errorf("%s of %s and %s: the same %v, want %v", c.src, c.a, c.b, same, c.same)
		}
	}
}

// However a page shows a picture, another one is seen, and the same one is the same.
func TestWaysToShowPictures(t *testing.T) {
	for _, way := range []string{
		`<img src="X">`, `<img src='X' />`, `<img src=X>`, `<IMG class=a SRC = "X">`, `<img srcset="X 2x">`, `<img srcset="X 1x, b.png 2x" src=a.png>`,
		`<img src=blank.gif data-src=X>`, `<img data-original="X">`, `<img data-lazy-src="X" src="data:image/gif;base64,AA">`, `<img data-srcset="X 300w">`,
		`<div style="background-image:url(X)">`, `<div style="background: url( 'X' ) no-repeat">`, `<div style='background:url("X")'>`, `<p style="background:url(&quot;X&quot;)">`,
		`<style>.hero { background: #fff url(X) }</style>`, `<body background="X">`, `<td background=X>`, `<div class=lazy data-bg="X">`, `<a data-image="X" href="/1">`,
		`<video poster="X"></video>`, `<video src="X">`, `<video><source src="X"></video>`, `<picture><source srcset="X 1x"><img src=a.png></picture>`, `<audio src=X>`,
		`<object data="X"></object>`, `<embed src=X>`, `<svg><image href="X"/></svg>`, `<svg><image xlink:href="X"/></svg>`, `<svg><path d="X"/></svg>`,
		`<input type=image src="X">`, `<iframe src="//video.test/X"></iframe>`, `<amp-img src="X">`, `<img src="http://a.test/X">`, `<img src="data:image/png;base64,X">`,
	} {
		of := func(x string) Phrases {
			return Mark([]byte("<p>Words</p>"+strings.ReplaceAll(way, "X", x)), "http://h.test/1", nil, false)
		}
		one, two := of("/f/8a3/large/image.jpg"), of("/f/99c/large/image.jpg")
		if len(one.Pictures) == 0 || slices.Equal(one.Pictures, two.Pictures) || one.Text == two.Text {
			t.Errorf("%s: pictures %v and %v, the same text: %v", way, one.Pictures, two.Pictures, one.Text == two.Text)
		}
		if !slices.Equal(one.Sample, two.Sample) {
			t.Errorf("%s: its picture is words", way)
		}
	}
	for _, no := range []string{`<script src="X"></script>`, `<link href="X">`, `<a href="X">`, `<script data-src="X"></script>`, `<form action="X">`, `<base href=X>`, `<div data-url="/page">`, `<!-- <img src=X> -->`} {
		if got := Mark([]byte(strings.ReplaceAll(no, "X", "/f/8a3/x")), "http://h.test/1", nil, false); len(got.Pictures) != 0 {
			t.Errorf("%s shows a picture", no)
		}
	}
}

// Whatever a page is, it has a mark, and the same one again.
func FuzzMark(f *testing.F) {
	for _, s := range append(traps, `<p style="background:url(#a)">`, `<img src="//h" srcset="?1700000000 2x, //">`, `<div style="background:url(&quot;#&quot;)">`, `<style>a{b:url('#')}`) {
		f.Add([]byte(s), "http://a.test/x?y=1")
	}
	for seed := range uint64(20) {
		doc, _ := generate(seed)
		f.Add([]byte(doc), "http://a.test/a/b7/")
	}
	f.Fuzz(func(t *testing.T, body []byte, url string) {
		var p Page
		Read(HTML, body, Options{}, &p)
		first := Mark(body, url, p.Links, false)
		if again := Mark(body, url, p.Links, false); !reflect.DeepEqual(first, again) {
			t.Errorf("%+v, then %+v", first, again)
		}
	})
}

// Of a long page the first maxShown bytes say what it shows; scripts, styles and comments are as long as they like.
func TestLongPagesBegin(t *testing.T) {
	words := func(n int) string { return strings.Repeat("<p>the same words again</p>\n", n/27) }
	mark := func(before, says string) uint64 {
		return Mark([]byte("<html><body>"+before+"<p>"+says+"</p></body></html>"), "http://a/", nil, false).Text
	}
	for name, before := range map[string]string{
		"script": "<script>" + strings.Repeat("var a = 1;\n", maxShown/8) + "</script>", "style": "<style>" + strings.Repeat("a { b: c }\n", maxShown/8) + "</style>",
		"comment": "<!--" + words(maxShown) + "-->", "text": words(maxShown * 7 / 8),
	} {
		if mark(before, "one thing") == mark(before, "another") {
			t.Errorf("what stands behind %s is not read", name)
		}
	}
	if long := words(maxShown + 1_000); mark(long, "one thing") != mark(long, "another") {
		t.Error("all of a long page is read")
	}
}

package parse

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// MaxTitle bounds a title, in bytes.
const MaxTitle = 300

// MaxAnchor bounds the text of an anchor, in bytes.
const MaxAnchor = 80

// AnchorText returns the text of an anchor on a page in a named encoding: without tags, the words that stand for images in their places,
// white space folded, at most MaxAnchor bytes.
func (p *Page) AnchorText(l Link, charset string) string {
	f := folded{out: make([]byte, 0, MaxAnchor)}
	if l.text == 0 {
		return ""
	}
	if l.text < 0 {
		f.alt(p.body[max(0, bytes.LastIndexByte(p.body[:-l.text], '<')):-l.text])
		return clean(html.UnescapeString(Decode(f.out, ByteCharset(charset))), MaxAnchor)
	}
	b := p.body[l.text:]
	for i := 0; i < len(b) && i < 8*MaxAnchor && len(f.out) < MaxAnchor; i++ {
		if b[i] == '<' {
			if i+2 < len(b) && (b[i+1] == '/' && b[i+2]|0x20 == 'a' || b[i+1]|0x20 == 'a' && class[b[i+2]]&white != 0) {
				i = len(b)
				continue
			}
			end := skipPast(b, i, '>')
			if tag := b[i:end]; len(tag) > 5 && bytes.EqualFold(tag[1:4], []byte("img")) {
				f.alt(tag)
			}
			i = end - 1
			continue
		}
		f.add(b[i])
	}
	return clean(html.UnescapeString(Decode(f.out, ByteCharset(charset))), MaxAnchor)
}

// alt adds the words that stand for an image or an area, whose tag it is given.
func (f *folded) alt(tag []byte) {
	for i := tagNameEnd(tag, 1); i < len(tag); {
		if class[tag[i]]&white != 0 || tag[i] == '/' || tag[i] == '>' {
			i++
			continue
		}
		name, value, next := attr(tag, i)
		if i = max(next, i+1); !bytes.EqualFold(name, []byte("alt")) {
			continue
		}
		f.add(' ')
		for _, c := range value[:min(len(value), MaxAnchor)] {
			f.add(c)
		}
		f.add(' ')
		return
	}
}

// folded is text in which white space is folded.
type folded struct {
	out   []byte
	space bool // one is due before the next byte
}

func (f *folded) add(c byte) {
	if class[c]&white != 0 {
		f.space = len(f.out) > 0
		return
	}
	if f.space {
		f.out = append(f.out, ' ')
		f.space = false
	}
	f.out = append(f.out, c)
}

// CleanTitle turns an undecoded title, already converted to UTF-8, into one line of text.
func CleanTitle(utf8 string) string {
	utf8 = strings.ReplaceAll(utf8, "\x00", "\uFFFD") // as in the HTML Standard's RCDATA state
	return clean(strings.Join(strings.Fields(html.UnescapeString(utf8)), " "), MaxTitle)
}

// clean makes s valid UTF-8 of at most n bytes.
func clean(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// blocks are the elements whose edges end a line of text.
var blocks = map[string]bool{
	"address": true, "article": true, "aside": true, "blockquote": true, "br": true, "dd": true, "div": true,
	"dl": true, "dt": true, "fieldset": true, "figcaption": true, "figure": true, "footer": true, "form": true,
	"h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true, "header": true, "hr": true, "li": true,
	"main": true, "nav": true, "ol": true, "option": true, "p": true, "pre": true, "section": true, "table": true,
	"td": true, "th": true, "title": true, "tr": true, "ul": true,
}

// Text returns the plain text of a page in UTF-8: no scripts, styles or markup, a line for each block, at most max
// bytes.
func Text(page []byte, max int) string {
	z := html.NewTokenizer(bytes.NewReader(page))
	z.SetMaxBuf(len(page) + 1)
	var b strings.Builder
	skip := "" // inside this element nothing is text
	line, space := false, false
	for b.Len() < max {
		switch z.Next() {
		case html.ErrorToken:
			return strings.TrimSpace(b.String())
		case html.StartTagToken, html.SelfClosingTagToken:
			n, _ := z.TagName()
			switch name := string(n); {
			case name == "script" || name == "style" || name == "template":
				skip = name
			case name == "noscript":
				z.NextIsNotRawText()
			case blocks[name]:
				line = true
			}
		case html.EndTagToken:
			n, _ := z.TagName()
			if string(n) == skip {
				skip = ""
			}
			line = line || blocks[string(n)]
		case html.TextToken:
			if skip != "" {
				continue
			}
			t := z.Text()
			for len(t) > 0 {
				i := bytes.IndexAny(t, " \t\n\r\f")
				if i == 0 {
					space = true
					t = t[1:]
					continue
				}
				if i < 0 {
					i = len(t)
				}
				if b.Len() > 0 {
					if line {
						b.WriteByte('\n')
					} else if space {
						b.WriteByte(' ')
					}
				}
				line, space = false, false
				b.Write(t[:i])
				t = t[i:]
			}
		}
	}
	return clean(strings.TrimSpace(b.String()), max)
}

// Package replay makes an archived page one that can be looked at: what could run, send or lead elsewhere by itself is taken out, and
// every URL is turned into the address at which its archived copy is had. It is no protection: whoever serves what it returns forbids
// scripts and other hosts by a policy. It makes the page look as it did.
package replay

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"

	"argosy/internal/crawl"
)

// To turns the URL of something that a page shows or leads to into the address of its copy.
type To func(url string) string

// drops are elements that are taken out with what is in them.
var drops = map[string]bool{"script": true, "template": true, "object": true, "embed": true, "applet": true, "portal": true}

// void are those of drops that have no end tag.
var void = map[string]bool{"embed": true}

// places are attributes that hold one URL.
var places = map[string]bool{
	"src": true, "href": true, "poster": true, "background": true, "lowsrc": true, "dynsrc": true, "longdesc": true, "cite": true, "xlink:href": true, "data-src": true,
}

// gone are attributes that are taken out: they send something, or hold back what has been changed.
var gone = map[string]bool{
	"ping": true, "integrity": true, "crossorigin": true, "nonce": true, "srcdoc": true, "action": true, "formaction": true, "manifest": true, "archive": true, "codebase": true, "data": true, "sandbox": true,
}

// HTML returns a page in UTF-8 with the URLs in it turned by to; at is where it was had.
func HTML(doc []byte, at crawl.URL, to To) []byte {
	var out bytes.Buffer
	out.Grow(len(doc) + len(doc)/4)
	z := html.NewTokenizer(bytes.NewReader(doc))
	z.SetMaxBuf(len(doc) + 1)
	r := rewriter{base: at, at: at, to: to}
	skip, style := "", false
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return out.Bytes()
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			if t.Data == "noscript" {
				z.NextIsNotRawText()
			}
			if skip != "" {
				continue
			}
			if drops[t.Data] {
				if kind == html.StartTagToken && !void[t.Data] {
					skip = t.Data
				}
				continue
			}
			if r.tag(&t) {
				out.WriteString(t.String())
			}
			style = t.Data == "style" && kind == html.StartTagToken
		case html.EndTagToken:
			t := z.Token()
			switch {
			case skip == "":
				out.WriteString(t.String())
			case t.Data == skip:
				skip = ""
			}
			style = false
		case html.TextToken:
			switch {
			case skip != "":
			case style:
				out.Write(CSS(z.Raw(), r.base, to))
			default:
				out.Write(z.Raw())
			}
		case html.DoctypeToken:
			out.Write(z.Raw())
		}
	}
}

// rewriter rewrites the tags of a page.
type rewriter struct {
	base crawl.URL // of relative URLs
	at   crawl.URL
	to   To
}

// tag rewrites a tag. It reports whether the tag stays.
func (r *rewriter) tag(t *html.Token) bool {
	attr := func(name string) string {
		for _, a := range t.Attr {
			if a.Key == name {
				return strings.TrimSpace(a.Val)
			}
		}
		return ""
	}
	switch t.Data {
	case "base":
		if u, err := r.at.Resolve(attr("href")); err == nil {
			r.base = u
		}
		return false
	case "meta": // the answer says the encoding, and nothing else may say what the page may do
		return attr("http-equiv") == "" && attr("charset") == ""
	case "link":
		for _, rel := range strings.Fields(strings.ToLower(attr("rel"))) {
			if rel == "stylesheet" || rel == "icon" {
				return r.attrs(t)
			}
		}
		return false
	}
	return r.attrs(t)
}

func (r *rewriter) attrs(t *html.Token) bool {
	kept := t.Attr[:0]
	for _, a := range t.Attr {
		name := strings.ToLower(a.Key)
		switch {
		case gone[name] || strings.HasPrefix(name, "on"):
			continue
		case name == "srcset" || name == "imagesrcset" || name == "data-srcset":
			a.Val = r.set(a.Val)
		case name == "style":
			a.Val = string(CSS([]byte(a.Val), r.base, r.to))
		case name == "target":
			a.Val = "_self"
		case places[name]:
			v, ok := turn(a.Val, r.base, r.to)
			if !ok {
				continue
			}
			a.Val = v
		}
		kept = append(kept, a)
	}
	t.Attr = kept
	return true
}

// set rewrites a srcset: URLs with what stands after each, with commas between them.
func (r *rewriter) set(s string) string {
	var out []string
	for s = strings.TrimLeft(s, " \t\n\r\f,"); s != ""; s = strings.TrimLeft(s, " \t\n\r\f,") {
		end := strings.IndexAny(s, " \t\n\r\f")
		if end < 0 {
			end = len(s)
		}
		url, rest := s[:end], s[end:]
		about := ""
		if cut := strings.TrimRight(url, ","); cut != url {
			url = cut
		} else if comma := strings.IndexByte(rest, ','); comma >= 0 {
			about, rest = rest[:comma], rest[comma+1:]
		} else {
			about, rest = rest, ""
		}
		if v, ok := turn(url, r.base, r.to); ok {
			out = append(out, strings.TrimSpace(v+" "+strings.TrimSpace(about)))
		}
		s = rest
	}
	return strings.Join(out, ", ")
}

// turn turns a reference. It reports false of what leads nowhere that could be archived.
func turn(ref string, base crawl.URL, to To) (string, bool) {
	ref = strings.TrimSpace(ref)
	if strings.HasPrefix(ref, "#") {
		return ref, true
	}
	if len(ref) >= 5 && strings.EqualFold(ref[:5], "data:") {
		return ref, true
	}
	_, fragment, marked := strings.Cut(ref, "#")
	u, err := base.Resolve(ref)
	if err != nil {
		return "", false
	}
	v := to(u.String())
	if marked && fragment != "" {
		v += "#" + fragment
	}
	return v, true
}

package parse

import (
	"bytes"

	"golang.org/x/net/html"
)

type tagID uint8

// Tags that matter. From tagImg on they matter only for resources.
const (
	tagOther tagID = iota
	tagA
	tagArea
	tagBase
	tagFrame
	tagHTML
	tagIframe
	tagLink
	tagMeta
	tagPlaintext
	tagRaw // style, textarea, noembed, noframes, xmp
	tagScript
	tagTitle
	tagImg
	tagSource // source, audio, video, track, embed
	tagObject
	tagInput
	tagBody
)

// lookupTag returns the id of a tag name and the name in lower case.
func lookupTag(n []byte) (tagID, string) {
	if len(n) == 1 {
		if n[0]|0x20 == 'a' {
			return tagA, "a"
		}
		return tagOther, ""
	}
	for _, t := range tagsByLetter[(n[0]|0x20)-'a'] {
		if foldEqual(n, t.name) {
			return t.id, t.name
		}
	}
	return tagOther, ""
}

type tagName struct {
	name string
	id   tagID
}

var tagsByLetter = func() (t [26][]tagName) {
	for _, n := range []tagName{
		{"area", tagArea},
		{"audio", tagSource},
		{"base", tagBase},
		{"body", tagBody},
		{"embed", tagSource},
		{"frame", tagFrame},
		{"html", tagHTML},
		{"iframe", tagIframe},
		{"img", tagImg},
		{"input", tagInput},
		{"link", tagLink},
		{"meta", tagMeta},
		{"noembed", tagRaw},
		{"noframes", tagRaw},
		{"object", tagObject},
		{"plaintext", tagPlaintext},
		{"script", tagScript},
		{"source", tagSource},
		{"style", tagRaw},
		{"textarea", tagRaw},
		{"title", tagTitle},
		{"track", tagSource},
		{"video", tagSource},
		{"xmp", tagRaw},
	} {
		i := n.name[0] - 'a'
		t[i] = append(t[i], n)
	}
	return t
}()

// attrNames are the attributes of interest by length.
var attrNames = func() (t [12][]struct {
	name string
	id   int
},
) {
	for _, n := range []struct {
		name string
		id   int
	}{
		{"href", aHref}, {"src", aSrc}, {"srcset", aSrcset}, {"rel", aRel}, {"name", aName}, {"content", aContent},
		{"http-equiv", aHTTPEquiv}, {"charset", aCharset}, {"lang", aLang}, {"data", aData}, {"poster", aPoster},
		{"background", aBackground}, {"imagesrcset", aImagesrcset},
	} {
		t[len(n.name)] = append(t[len(n.name)], n)
	}
	return t
}()

// attrs reads the attributes of a tag whose name ends at i. It returns the index after the tag; ok is false if the
// page ends first.
func (s *scanner) attrs(i int) (next int, ok bool) {
	b := s.b
	clear(s.a[:])
	for {
		i = skipWhite(b, i)
		if i >= len(b) {
			return i, false
		}
		if b[i] == '>' {
			return i + 1, true
		}
		var name, val []byte
		name, val, i = attr(b, i)
		if len(name) >= len(attrNames) {
			continue
		}
		for _, n := range attrNames[len(name)] {
			if foldEqual(name, n.name) {
				if s.a[n.id] == nil { // the first of equal names counts
					if val == nil {
						val = []byte{}
					}
					s.a[n.id] = val
				}
				break
			}
		}
	}
}

// emit records what a tag says, given its attributes; next is the index after it.
func (s *scanner) emit(tag tagID, next int) {
	switch tag {
	case tagA, tagArea:
		s.add(aHref, Anchor, next)
	case tagBase:
		if s.p.Base == nil && s.a[aHref] != nil {
			s.p.Base = unescape(s.a[aHref])
		}
	case tagFrame, tagIframe:
		s.add(aSrc, Frame, 0)
	case tagHTML:
		if s.p.Lang == nil {
			s.p.Lang = s.a[aLang]
		}
	case tagMeta:
		s.meta()
	case tagLink:
		s.link()
	case tagScript, tagInput:
		if s.o.Resources {
			s.add(aSrc, Resource, 0)
		}
	case tagImg, tagSource:
		s.add(aSrc, Resource, 0)
		s.add(aSrcset, srcsetVal, 0)
		s.add(aPoster, Resource, 0)
	case tagObject:
		s.add(aData, Resource, 0)
	case tagBody:
		s.add(aBackground, Resource, 0)
	}
}

func (s *scanner) add(attr int, k Kind, text int) {
	v := s.a[attr]
	if v == nil {
		return
	}
	v = unescape(v)
	if k == srcsetVal {
		for _, ref := range Srcset(v) {
			s.p.Links = append(s.p.Links, Link{Ref: ref, Kind: Resource})
		}
		return
	}
	s.p.Links = append(s.p.Links, Link{Ref: trimSpace(v), Kind: k, text: text})
}

func trimSpace(v []byte) []byte { return bytes.Trim(v, " \t\n\r\f") }

// link handles a link element: page relations always, everything else that has bytes with resources.
func (s *scanner) link() {
	kind := Kind(0)
	for _, rel := range bytes.Fields(bytes.ToLower(s.a[aRel])) {
		switch string(rel) {
		case "canonical", "next", "prev", "previous", "alternate":
			if kind == 0 {
				kind = Relation
			}
		case "stylesheet", "icon", "apple-touch-icon", "mask-icon", "manifest", "preload", "modulepreload", "prefetch":
			kind = Resource
		}
	}
	if kind == Relation || kind == Resource && s.o.Resources {
		s.add(aHref, kind, 0)
	}
	if s.o.Resources {
		s.add(aImagesrcset, srcsetVal, 0)
	}
}

func (s *scanner) meta() {
	if s.p.Charset == nil && len(s.a[aCharset]) > 0 {
		s.p.Charset = s.a[aCharset]
	}
	content := s.a[aContent]
	if content == nil {
		return
	}
	if name := s.a[aName]; name != nil {
		if foldEqual(name, "robots") || s.o.Product != "" && foldEqual(name, s.o.Product) {
			d := Robots(string(unescape(content)))
			s.p.NoFollow = s.p.NoFollow || d.NoFollow
			s.p.NoIndex = s.p.NoIndex || d.NoIndex
		}
	}
	switch eq := s.a[aHTTPEquiv]; {
	case eq == nil:
	case foldEqual(eq, "refresh"):
		if ref := refreshURL(unescape(content)); len(ref) > 0 {
			s.p.Links = append(s.p.Links, Link{Ref: ref, Kind: Refresh})
		}
	case foldEqual(eq, "content-type") && s.p.Charset == nil:
		low := bytes.ToLower(content)
		if i := bytes.Index(low, []byte("charset=")); i >= 0 {
			v := bytes.Trim(content[i+8:], " \t\"'")
			if j := bytes.IndexAny(v, " ;\"'"); j >= 0 {
				v = v[:j]
			}
			s.p.Charset = v
		}
	}
}

// unescape resolves character references in an attribute value. Nearly every value with an ampersand has "&amp;" and
// nothing else; the rest is the tokenizer's to judge.
func unescape(v []byte) []byte {
	if bytes.IndexByte(v, 0) >= 0 {
		return unescapeSlow(v) // it becomes a replacement character
	}
	if bytes.IndexByte(v, '&') < 0 {
		return v
	}
	out := make([]byte, 0, len(v))
	for rest := v; ; {
		i := bytes.IndexByte(rest, '&')
		if i < 0 {
			return append(out, rest...)
		}
		if !bytes.HasPrefix(rest[i:], []byte("&amp;")) {
			return unescapeSlow(v)
		}
		out = append(append(out, rest[:i]...), '&')
		rest = rest[i+5:]
	}
}

func unescapeSlow(v []byte) []byte {
	tag := make([]byte, 0, len(v)+10)
	tag = append(tag, `<a x="`...)
	tag = append(tag, bytes.ReplaceAll(v, []byte(`"`), []byte("&quot;"))...)
	tag = append(tag, `">`...)
	z := html.NewTokenizer(bytes.NewReader(tag))
	z.Next()
	z.TagName()
	_, val, _ := z.TagAttr()
	return bytes.Clone(val)
}

package parse

import (
	"bytes"
	"math"
	"slices"
	"strings"
)

type tagID uint8

// Tags that matter. From tagResource on they matter only for resources.
const (
	tagOther tagID = iota
	tagA
	tagArea
	tagBase
	tagButton
	tagCite // blockquote, q, ins, del
	tagForeign
	tagForm
	tagFrame
	tagHTML
	tagIframe
	tagImg
	tagInput
	tagLink
	tagEmbed
	tagMeta
	tagObject
	tagPlaintext
	tagRaw // noembed, noframes, xmp
	tagScript
	tagSelect
	tagStyle
	tagTemplate
	tagTextarea
	tagTitle
	tagResource
	tagApplet
	tagParam
	tagSource // source, audio, video, track
)

type tagName struct {
	name string
	id   tagID
}

// tagsAt are the names of tags by first letter and length.
var tagsAt = func() (t [32][16][]tagName) {
	for _, n := range []tagName{
		{"a", tagA},
		{"applet", tagApplet},
		{"area", tagArea},
		{"audio", tagSource},
		{"base", tagBase},
		{"blockquote", tagCite},
		{"button", tagButton},
		{"del", tagCite},
		{"embed", tagEmbed},
		{"form", tagForm},
		{"frame", tagFrame},
		{"html", tagHTML},
		{"iframe", tagIframe},
		{"image", tagImg}, // so the parsing algorithm has it
		{"img", tagImg},
		{"input", tagInput},
		{"ins", tagCite},
		{"link", tagLink},
		{"math", tagForeign},
		{"meta", tagMeta},
		{"noembed", tagRaw},
		{"noframes", tagRaw},
		{"object", tagObject},
		{"param", tagParam},
		{"plaintext", tagPlaintext},
		{"q", tagCite},
		{"script", tagScript},
		{"select", tagSelect},
		{"source", tagSource},
		{"style", tagStyle},
		{"svg", tagForeign},
		{"template", tagTemplate},
		{"textarea", tagTextarea},
		{"title", tagTitle},
		{"track", tagSource},
		{"video", tagSource},
		{"xmp", tagRaw},
	} {
		l := &t[n.name[0]&31][len(n.name)]
		*l = append(*l, n)
	}
	return t
}()

// lookupTag returns the id of a tag name and the name in lower case; the name is empty for a tag that does not matter.
func lookupTag(n []byte) (tagID, string) {
	if len(n) == 0 || len(n) >= len(tagsAt[0]) {
		return tagOther, ""
	}
	for _, t := range tagsAt[n[0]&31][len(n)] {
		if foldEqual(n, t.name) {
			return t.id, t.name
		}
	}
	return tagOther, ""
}

// Attributes of interest.
const (
	aHref = iota
	aSrc
	aRel
	aName
	aContent
	aHTTPEquiv
	aCharset
	aLang
	aAction
	aMethod
	aForm
	aFormaction
	aFormmethod
	aDisabled
	aValue
	aCite
	aLongdesc
	aSrcdoc
	aXlinkHref
	aXMLBase
	aType
	aEncoding
	aColor
	aFace
	aSize
	aURL
	aAbout
	aData
	aPermaLink
	aSrcset // from here on for resources only
	aPoster
	aBackground
	aImagesrcset
	aStyle
	aProperty
	aItemprop
	aManifest
	aLowsrc
	aDynsrc
	aArchive
	aDataSrc
	aDataSrcset
	aDataOriginal
	aDataLazySrc
	aDataLazySrcset
	aDataPoster
	aDataBackground
	aFill // from here on what SVG draws with
	aStroke
	aMask
	aClipPath
	aFilter
	aCursor
	aMarker
	aMarkerStart
	aMarkerMid
	aMarkerEnd
	nAttrs
)

type attrName struct {
	name string
	id   uint8
}

// attrsAt are the names of attributes by first letter and length.
var attrsAt = func() (t [32][17][]attrName) {
	for _, n := range []attrName{
		{"action", aAction},
		{"archive", aArchive},
		{"background", aBackground},
		{"charset", aCharset},
		{"cite", aCite},
		{"clip-path", aClipPath},
		{"color", aColor},
		{"content", aContent},
		{"cursor", aCursor},
		{"data", aData},
		{"data-background", aDataBackground},
		{"data-lazy-src", aDataLazySrc},
		{"data-lazy-srcset", aDataLazySrcset},
		{"data-original", aDataOriginal},
		{"data-poster", aDataPoster},
		{"data-src", aDataSrc},
		{"data-srcset", aDataSrcset},
		{"disabled", aDisabled},
		{"dynsrc", aDynsrc},
		{"encoding", aEncoding},
		{"face", aFace},
		{"fill", aFill},
		{"filter", aFilter},
		{"form", aForm},
		{"formaction", aFormaction},
		{"formmethod", aFormmethod},
		{"href", aHref},
		{"http-equiv", aHTTPEquiv},
		{"imagesrcset", aImagesrcset},
		{"isPermaLink", aPermaLink},
		{"itemprop", aItemprop},
		{"lang", aLang},
		{"longdesc", aLongdesc},
		{"lowsrc", aLowsrc},
		{"manifest", aManifest},
		{"marker", aMarker},
		{"marker-end", aMarkerEnd},
		{"marker-mid", aMarkerMid},
		{"marker-start", aMarkerStart},
		{"mask", aMask},
		{"method", aMethod},
		{"name", aName},
		{"poster", aPoster},
		{"property", aProperty},
		{"rdf:about", aAbout},
		{"rel", aRel},
		{"size", aSize},
		{"src", aSrc},
		{"srcdoc", aSrcdoc},
		{"srcset", aSrcset},
		{"stroke", aStroke},
		{"style", aStyle},
		{"type", aType},
		{"url", aURL},
		{"value", aValue},
		{"xlink:href", aXlinkHref},
		{"xml:base", aXMLBase},
	} {
		l := &t[n.name[0]&31][len(n.name)]
		*l = append(*l, n)
	}
	return t
}()

// get returns the value of an attribute of the current tag, nil if it has none.
func (s *scanner) get(id int) []byte {
	if s.has>>id&1 == 0 {
		return nil
	}
	return s.a[id]
}

// attrs reads the attributes of a tag whose name ends at i. It returns the index after the tag; ok is false if the
// page ends first.
func (s *scanner) attrs(i int) (next int, ok bool) {
	b := s.b
	s.has = 0
	valued := -1 // where the last value without quotes ends
	for {
		i = skipWhite(b, i)
		if i >= len(b) {
			return i, false
		}
		if b[i] == '>' {
			s.empty = b[i-1] == '/' && valued != i
			return i + 1, true
		}
		var name, val []byte
		name, val, i = attr(b, i)
		if len(val) > 0 {
			valued = i
		}
		if s.xml && val != nil {
			s.xmlAttr(name, val)
		}
		if len(name) == 0 || len(name) >= len(attrsAt[0]) {
			continue
		}
		for _, n := range attrsAt[name[0]&31][len(name)] {
			if s.xml && string(name) == n.name || !s.xml && foldEqual(name, n.name) {
				if s.has>>n.id&1 == 0 { // the first of equal names counts
					if val == nil {
						val = []byte{}
					}
					s.a[n.id] = val
					s.has |= 1 << n.id
				}
				break
			}
		}
	}
}

// unescape resolves the character references of an attribute's value by the rules of the document.
func (s *scanner) unescape(v []byte) []byte {
	if s.xml {
		return s.unescapeXML(v)
	}
	return unescape(v)
}

// emit records what a tag says, given its attributes; next is the index after it.
func (s *scanner) emit(tag tagID, next int) {
	switch tag {
	case tagA:
		s.add(aHref, Anchor, next)
	case tagArea:
		s.add(aHref, Anchor, -next)
	case tagBase:
		s.setBase()
	case tagFrame, tagIframe:
		s.add(aSrc, Frame, 0)
		s.add(aLongdesc, Citation, 0)
		if tag == tagIframe {
			s.srcdoc()
		}
	case tagCite:
		s.add(aCite, Citation, 0)
	case tagForm:
		s.openForm()
	case tagButton, tagInput, tagSelect, tagTextarea:
		s.control(tag)
	case tagHTML:
		if s.p.Lang == nil && s.inner == 0 {
			s.p.Lang = s.get(aLang)
		}
	case tagImg:
		s.add(aLongdesc, Citation, 0)
	case tagEmbed:
		s.embedded(aSrc)
	case tagObject:
		s.embedded(aData)
	case tagMeta:
		s.meta()
	case tagLink:
		s.link()
	case tagTemplate:
		s.openTemplate()
	}
	if s.o.Resources {
		s.resources(tag)
	}
}

// embedded records what an object or embed element shows: another page, or a resource.
func (s *scanner) embedded(attr int) {
	v := s.get(attr)
	if v == nil {
		return
	}
	ref, kind := s.unescape(v), Resource
	if showsPage(string(s.get(aType)), ref) {
		kind = Frame
	}
	if kind == Frame || s.o.Resources {
		s.addRef(ref, kind, 0)
	}
}

// showsPage reports whether what an element embeds is a page: by the type that it gives, else by the end of the path, which
// pages often have not.
func showsPage(mime string, ref []byte) bool {
	if mime, _, _ = strings.Cut(mime, ";"); mime != "" {
		mime = strings.ToLower(strings.TrimSpace(mime))
		return TypeOf(mime) == HTML || IsXHTML(mime)
	}
	ref = trimSpace(ref)
	if i := bytes.IndexAny(ref, "?#"); i >= 0 {
		ref = ref[:i]
	}
	if i := bytes.Index(ref, []byte("//")); i >= 0 { // a host has dots, too
		if ref = ref[i+2:]; bytes.IndexByte(ref, '/') < 0 {
			return true
		}
	}
	name := ref[bytes.LastIndexByte(ref, '/')+1:]
	dot := bytes.LastIndexByte(name, '.')
	if dot < 0 {
		return len(ref) > 0
	}
	switch string(bytes.ToLower(name[dot+1:])) {
	case "html", "htm", "xhtml", "xht", "shtml", "php", "asp", "aspx", "jsp", "do", "cgi", "pl":
		return true
	}
	return false
}

// getMethod reports whether a form's method is GET: it is where no other is named (HTML Standard, 4.10.18.6).
func getMethod(v []byte) bool {
	return !bytes.EqualFold(v, []byte("post")) && !bytes.EqualFold(v, []byte("dialog"))
}

func (s *scanner) add(attr int, k Kind, text int) {
	if v := s.get(attr); v != nil {
		s.addRef(s.unescape(v), k, text)
	}
}

// addRef records a reference whose character references are resolved.
func (s *scanner) addRef(v []byte, k Kind, text int) {
	if s.inner > 0 || text > math.MaxInt32 || -text > math.MaxInt32 {
		text = 0 // it does not stand in the page's bytes, or too far behind to be said
	}
	if k == srcsetVal {
		for _, ref := range Srcset(v) {
			s.take(Link{Ref: ref, Kind: Resource, Base: s.base})
		}
		return
	}
	s.take(Link{Ref: trimSpace(v), Kind: k, Base: s.base, text: int32(text)})
}

func trimSpace(v []byte) []byte { return bytes.Trim(v, " \t\n\r\f") }

// openTemplate notes that a template begins: what is in it says nothing of the page (HTML Standard, 4.12.3). Its links count, since scripts show them.
func (s *scanner) openTemplate() {
	if s.tree == nil {
		s.templates++
	}
}

// inert reports whether the current tag stands in a template.
func (s *scanner) inert() bool {
	return s.templates > 0 || s.tree != nil && s.tree.contains("template")
}

// setBase handles a base element: the first one counts, also for links before it.
func (s *scanner) setBase() {
	v := s.get(aHref)
	if v == nil || s.hasBase || s.inert() {
		return
	}
	s.hasBase = true
	ref := s.unescape(v)
	if s.apart {
		ref = bytes.Clone(ref)
	}
	if s.inner == 0 {
		s.p.Base = ref
		return
	}
	outer := s.base
	if s.base = s.p.addBase(ref, outer); s.base == outer {
		return
	}
	for i := s.first; i < len(s.p.Links); i++ {
		if s.p.Links[i].Base == outer {
			s.p.Links[i].Base = s.base
		}
	}
	for i := s.bases; i < len(s.p.Bases)-1; i++ { // of documents inside, which stand before it
		if s.p.Bases[i].Outer == outer {
			s.p.Bases[i].Outer = s.base
		}
	}
}

// maxBases bounds the bases of a page; beyond it links are resolved against the one outside.
const maxBases = 10_000

// addBase adds a base and returns its number.
func (p *Page) addBase(ref []byte, outer uint16) uint16 {
	if len(p.Bases) >= maxBases {
		return outer
	}
	p.Bases = append(p.Bases, Base{Ref: ref, Outer: outer})
	return uint16(len(p.Bases))
}

// maxInner bounds how deep documents in srcdoc may stand in each other.
const maxInner = 3

// srcdoc scans the document that an iframe holds itself: its links are relative to the page's base.
func (s *scanner) srcdoc() {
	v := s.get(aSrcdoc)
	if v == nil || s.inner >= maxInner {
		return
	}
	ref := htmlRef
	if s.xml {
		ref = s.entity
	}
	switch {
	case bytes.IndexByte(v, '&') < 0 && bytes.IndexByte(v, 0) < 0:
	case len(v) > largeText && s.inner == 0:
		s.p.text = resolveTo(slices.Grow(s.p.text[:0], len(v)), v, ref, appendRef)
		v = s.p.text
	default:
		v = resolve(v, ref, appendRef)
	}
	s.within(v)
}

// within scans a document that stands in this one, as HTML.
func (s *scanner) within(text []byte) {
	in := scanner{b: text, o: s.o, p: s.p, inner: s.inner + 1, base: s.base, first: len(s.p.Links), bases: len(s.p.Bases), keeps: s.keeps || mayTakeBack(text), apart: s.apart || len(text) > largeText}
	in.document()
	if in.keeps && !s.keeps {
		s.p.cut()
	}
}

// link handles a link element: page relations always, everything else that has bytes with resources.
func (s *scanner) link() {
	kind := relation(string(s.get(aRel)))
	if kind == Relation || kind == Resource && s.o.Resources {
		s.add(aHref, kind, 0)
	}
}

func (s *scanner) meta() {
	s.declares(s.get(aCharset))
	content := s.get(aContent)
	if content == nil {
		return
	}
	if name := s.get(aName); name != nil && s.inner == 0 && !s.inert() {
		if foldEqual(name, "robots") || s.o.Product != "" && foldEqual(name, s.o.Product) {
			d := Robots(string(s.unescape(content)))
			s.p.NoFollow = s.p.NoFollow || d.NoFollow
			s.p.NoIndex = s.p.NoIndex || d.NoIndex
		}
	}
	switch eq := s.get(aHTTPEquiv); {
	case eq == nil:
	case foldEqual(eq, "refresh"):
		ref, ok := refreshURL(s.unescape(content))
		if kind := Refresh; len(ref) > 0 {
			if s.inert() {
				kind = Relation
			}
			s.addRef(ref, kind, 0)
		}
		s.p.Reload = s.p.Reload || ok && len(ref) == 0 && !s.inert()
	case foldEqual(eq, "content-type"):
		s.declares(charsetIn(s.unescape(content)))
	}
}

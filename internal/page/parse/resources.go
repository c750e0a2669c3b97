package parse

import (
	"bytes"
	"encoding/json"
)

// resources records what a tag of HTML needs to be shown.
func (s *scanner) resources(tag tagID) {
	switch tag {
	case tagScript, tagInput:
		s.add(aSrc, Resource, 0)
	case tagImg, tagSource:
		s.add(aSrc, Resource, 0)
		s.add(aSrcset, srcsetVal, 0)
		s.add(aLowsrc, Resource, 0)
		s.add(aDynsrc, Resource, 0)
	case tagApplet:
		s.add(aArchive, Resource, 0)
	case tagHTML:
		s.add(aManifest, Resource, 0)
	case tagLink:
		s.add(aImagesrcset, srcsetVal, 0)
	case tagMeta:
		if cardImage(s.get(aProperty)) || cardImage(s.get(aName)) || foldEqual(s.get(aItemprop), "image") {
			s.add(aContent, Resource, 0)
		}
	case tagParam:
		switch string(bytes.ToLower(s.get(aName))) {
		case "movie", "src", "url", "filename":
			s.add(aValue, Resource, 0)
		}
	}
	if s.has>>aSrcset == 0 {
		return
	}
	s.add(aPoster, Resource, 0)
	s.add(aBackground, Resource, 0)
	s.add(aDataSrc, Resource, 0)
	s.add(aDataSrcset, srcsetVal, 0)
	s.add(aDataOriginal, Resource, 0)
	s.add(aDataLazySrc, Resource, 0)
	s.add(aDataLazySrcset, srcsetVal, 0)
	s.add(aDataPoster, Resource, 0)
	s.add(aDataBackground, Resource, 0)
	s.styleAttr()
}

// cardImage reports whether a meta element of that name holds what stands for the page elsewhere: the Open Graph protocol's
// image, video and audio, Twitter's card, the tile of a start menu.
func cardImage(name []byte) bool {
	switch string(bytes.ToLower(name)) {
	case "og:image", "og:image:url", "og:image:secure_url", "og:video", "og:video:url", "og:video:secure_url", "og:audio",
		"og:audio:url", "og:audio:secure_url", "twitter:image", "twitter:image:src", "msapplication-tileimage":
		return true
	}
	return false
}

// style records what a style sheet in the page needs.
func (s *scanner) style(css []byte) {
	eachURL(css, func(kind SheetPart, ref []byte, _, _ int) bool {
		if kind != SheetComment {
			s.addRef(ref, Resource, 0)
		}
		return true
	})
}

func (s *scanner) styleAttr() {
	if v := s.get(aStyle); v != nil {
		s.style(s.unescape(v))
	}
}

// Style reads a style sheet: what it imports and what it shows.
func Style(css []byte, p *Page) {
	p.reset(css)
	rest := bytes.TrimPrefix(css, []byte("\xef\xbb\xbf"))
	if v, ok := bytes.CutPrefix(rest, []byte(`@charset "`)); ok { // this form only (CSS Syntax, 3.2)
		if i := bytes.IndexByte(v, '"'); i > 0 && i < 40 {
			p.Charset = v[:i]
		}
	}
	p.way = asSheet
	s := scanner{b: css, p: p}
	s.sheet()
}

// sheet reads all of the scanner's bytes as a style sheet.
func (s *scanner) sheet() {
	css := s.b
	if bytes.IndexByte(css, 0) >= 0 {
		css = bytes.ReplaceAll(css, []byte{0}, []byte("?"))
	}
	s.style(css)
}

// MaxManifest bounds a manifest that is read, in bytes.
const MaxManifest = 1 << 20

// icon is an image resource of a manifest.
type icon struct {
	Src string `json:"src"`
}

// Manifest reads a web app manifest (W3C): its pages, and its images if resources are wanted.
func Manifest(body []byte, resources bool, p *Page) {
	p.reset(body)
	if len(body) > MaxManifest {
		return
	}
	var m struct {
		StartURL  string `json:"start_url"`
		Icons     []icon `json:"icons"`
		Shots     []icon `json:"screenshots"`
		Shortcuts []struct {
			URL   string `json:"url"`
			Icons []icon `json:"icons"`
		} `json:"shortcuts"`
	}
	if json.Unmarshal(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), &m) != nil {
		return
	}
	add := func(ref string, k Kind) {
		if ref != "" && (k != Resource || resources) {
			p.Links = append(p.Links, Link{Ref: []byte(ref), Kind: k})
		}
	}
	icons := m.Icons
	add(m.StartURL, Relation)
	for _, s := range m.Shortcuts {
		add(s.URL, Relation)
		icons = append(icons, s.Icons...)
	}
	for _, i := range append(icons, m.Shots...) {
		add(i.Src, Resource)
	}
}

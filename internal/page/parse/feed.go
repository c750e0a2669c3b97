package parse

import (
	"bytes"
	"strings"
)

// feedKind is a language of feeds.
type feedKind uint8

const (
	notFeed feedKind = iota
	rss              // RSS 0.9x and 2.0, RDF Site Summary: links are text
	atom             // RFC 4287: links are attributes
)

// feedOf returns the language of a feed by its root element.
func feedOf(uri, local string) feedKind {
	switch {
	case local == "rss" && uri == "", local == "RDF" && strings.HasSuffix(uri, "22-rdf-syntax-ns#"):
		return rss
	case local == "feed" && isAtom(uri), local == "entry" && isAtom(uri):
		return atom
	}
	return notFeed
}

func isAtom(uri string) bool {
	return uri == "http://www.w3.org/2005/Atom" || uri == "http://purl.org/atom/ns#"
}

// item handles an element of a feed. It returns false for one that means nothing here.
func (x *xmlScanner) item(uri, local string, next int) bool {
	if isAtom(uri) { // in RSS as well, by its namespace
		switch local {
		case "link":
			if string(x.get(aRel)) != "hub" { // hubs take subscriptions
				x.add(aHref, Anchor, 0)
			}
		case "content", "summary":
			x.add(aSrc, Anchor, 0)
			if t := x.get(aType); foldEqual(t, "html") || foldEqual(t, "text/html") {
				x.markup(next)
			}
		case "icon", "logo":
			x.addText(next, Resource)
		default:
			return false
		}
		return true
	}
	if x.feed != rss {
		return false
	}
	switch local {
	case "link", "comments", "commentRss":
		x.addText(next, Anchor)
	case "guid":
		if text := bytes.TrimSpace(textAt(x.b, next)); bytes.HasPrefix(text, []byte("http")) {
			x.addText(next, Anchor)
		}
	case "url": // of the channel's image
		x.addText(next, Resource)
	case "description", "encoded": // of what an item says, and of the module for all of it
		x.markup(next)
	case "enclosure", "source":
		x.add(aURL, Anchor, 0)
	case "content", "thumbnail": // Media RSS
		x.add(aURL, Resource, 0)
	default:
		return false
	}
	return true
}

// addText records the text of an element as a reference.
func (x *xmlScanner) addText(next int, k Kind) {
	if x.empty || k == Resource && !x.o.Resources {
		return
	}
	text := textAt(x.b, next)
	ref := x.unescapeXML(text)
	if bytes.HasPrefix(bytes.TrimLeft(x.b[next:], " \t\r\n"), []byte("<![CDATA[")) {
		ref = text
	}
	if ref = trimSpace(ref); len(ref) > 0 {
		x.addRef(ref, k, 0)
	}
}

// markup scans the HTML that an element holds as its text.
func (x *xmlScanner) markup(next int) {
	if x.empty || x.inner >= maxInner {
		return
	}
	text := textAt(x.b, next)
	if !bytes.HasPrefix(bytes.TrimLeft(x.b[next:], " \t\r\n"), []byte("<![CDATA[")) {
		text = resolve(text, x.entity, appendRef)
	}
	in := scanner{b: text, o: x.o, p: x.p, inner: x.inner + 1, base: x.base, first: len(x.p.Links)}
	in.document()
}

package parse

import (
	"bytes"
	"slices"
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

// isFeed reports whether what is served as HTML begins as a feed (MIME Sniffing Standard, section 7.3).
func isFeed(body []byte) bool {
	rest := bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	for {
		rest = bytes.TrimLeft(rest, " \t\n\f\r")
		end := ">"
		switch {
		case bytes.HasPrefix(rest, []byte("<!--")):
			end = "-->"
		case bytes.HasPrefix(rest, []byte("<!")):
		case bytes.HasPrefix(rest, []byte("<?")):
			end = "?>"
		case bytes.HasPrefix(rest, []byte("<rdf:RDF")):
			return bytes.Contains(rest, []byte("http://purl.org/rss/1.0/")) && bytes.Contains(rest, []byte("http://www.w3.org/1999/02/22-rdf-syntax-ns#"))
		default:
			return bytes.HasPrefix(rest, []byte("<rss")) || bytes.HasPrefix(rest, []byte("<feed"))
		}
		_, behind, ok := bytes.Cut(rest, []byte(end))
		if !ok {
			return false
		}
		rest = behind
	}
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
		if string(x.get(aPermaLink)) == "false" { // it only looks like a URL
			break
		}
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
	if ref := trimSpace(x.content(next, x.unescapeXML)); len(ref) > 0 {
		x.addRef(ref, k, 0)
	}
}

// content returns the text of an element up to the next tag: escaped, in sections, or in pieces of both.
func (x *xmlScanner) content(next int, unescape func([]byte) []byte) (all []byte) {
	rest, copied := x.b[next:], false
	join := func(piece []byte) {
		switch {
		case len(trimSpace(all)) == 0:
			all = piece // it stays where it stands, if it is alone
		case copied:
			all = append(all, piece...)
		default:
			all, copied = append(slices.Clip(all), piece...), true
		}
	}
	for {
		escaped, behind := rest, []byte(nil)
		if i := bytes.IndexByte(rest, '<'); i >= 0 {
			escaped, behind = rest[:i], rest[i:]
		}
		join(unescape(escaped))
		switch {
		case bytes.HasPrefix(behind, []byte("<![CDATA[")):
			var section []byte
			section, rest, _ = bytes.Cut(behind[len("<![CDATA["):], []byte("]]>"))
			join(section)
		case bytes.HasPrefix(behind, []byte("<!--")):
			_, rest, _ = bytes.Cut(behind[len("<!--"):], []byte("-->"))
		default:
			return all
		}
	}
}

// markup scans the HTML that an element holds as its text.
func (x *xmlScanner) markup(next int) {
	if x.empty || x.inner >= maxInner {
		return
	}
	x.within(x.content(next, func(b []byte) []byte { return resolve(b, x.entity, appendRef) }))
}

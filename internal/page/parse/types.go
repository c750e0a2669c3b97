package parse

import "strings"

// Type is a kind of document that links can be found in.
type Type uint8

// Types of documents.
const (
	NoType Type = iota
	HTML
	XML        // XHTML, SVG, feeds and what else may hold XLink
	Stylesheet // CSS
	AppManifest
)

// TypeOf returns what a document is by its media type, given in lower case and without parameters.
func TypeOf(mime string) Type {
	switch mime {
	case "text/html":
		return HTML
	case "text/css":
		return Stylesheet
	case "application/manifest+json", "application/x-web-app-manifest+json":
		return AppManifest
	case "text/xml", "application/xml", "application/rss", "text/rss", "text/atom":
		return XML
	}
	if strings.HasSuffix(mime, "+xml") {
		return XML
	}
	return NoType
}

// IsXHTML reports whether a media type is XHTML's: such a document is a page, as one in HTML is.
func IsXHTML(mime string) bool { return mime == "application/xhtml+xml" }

// Read reads a document into p.
func Read(t Type, body []byte, o Options, p *Page) {
	switch t {
	case HTML:
		if isFeed(body) {
			ScanXML(body, o, p)
		} else {
			Scan(body, o, p)
		}
	case XML:
		ScanXML(body, o, p)
	case Stylesheet:
		Style(body, p)
	case AppManifest:
		Manifest(body, o.Resources, p)
	default:
		p.reset(body)
	}
}

package parse

import (
	"bytes"
	"encoding/xml"
	"strings"
	"time"

	"golang.org/x/net/html/charset"
)

// Bounds of a sitemap, by the protocol (sitemaps.org): 50,000 URLs a file.
const MaxSitemapURLs = 50_000

// SitemapEntry is a URL of a sitemap, or of another sitemap in an index.
type SitemapEntry struct {
	Loc     string
	LastMod int64 // Unix seconds, 0 if not given
}

// Sitemap reads a sitemap or a sitemap index in XML, or a list of URLs in plain text. It returns what it could read
// before the first error: half a sitemap is better than none.
func Sitemap(body []byte) (pages, sitemaps []SitemapEntry) {
	body = bytes.TrimPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("\xef\xbb\xbf"))
	if !bytes.HasPrefix(body, []byte("<")) {
		for line := range strings.Lines(string(body)) {
			if s := strings.TrimSpace(line); strings.HasPrefix(s, "http") && len(pages) < MaxSitemapURLs {
				pages = append(pages, SitemapEntry{Loc: s})
			}
		}
		return pages, nil
	}
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Strict = false
	d.CharsetReader = charset.NewReaderLabel
	var in, field string // the entry and its field that are open
	var e SitemapEntry
	for {
		t, err := d.Token()
		if err != nil {
			return pages, sitemaps
		}
		switch t := t.(type) {
		case xml.StartElement:
			switch n := t.Name.Local; n {
			case "url", "sitemap":
				in, e = n, SitemapEntry{}
			case "link": // another language's version of the page
				if href := attrOf(t, "href"); t.Name.Space == uriHTML && in == "url" && attrOf(t, "rel") == "alternate" && href != "" && len(pages) < MaxSitemapURLs {
					pages = append(pages, SitemapEntry{Loc: strings.TrimSpace(href)})
				}
			case "loc", "lastmod":
				if t.Name.Space == "" || strings.Contains(t.Name.Space, "sitemap") && !strings.Contains(t.Name.Space, "image") {
					field = n
				}
			default:
				field = ""
			}
		case xml.CharData:
			switch {
			case in == "" || field == "":
			case field == "loc" && len(e.Loc) < 4096:
				e.Loc += string(t)
			case field == "lastmod" && e.LastMod == 0:
				e.LastMod = w3cTime(strings.TrimSpace(string(t)))
			}
		case xml.EndElement:
			field = ""
			if t.Name.Local != in || in == "" {
				continue
			}
			if e.Loc = strings.TrimSpace(e.Loc); e.Loc != "" && len(pages)+len(sitemaps) < MaxSitemapURLs {
				if in == "url" {
					pages = append(pages, e)
				} else {
					sitemaps = append(sitemaps, e)
				}
			}
			in = ""
		}
	}
}

func attrOf(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

// w3cTime reads a W3C date; 0 if it is none.
func w3cTime(s string) int64 {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02", "2006-01", "2006"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Unix()
		}
	}
	return 0
}

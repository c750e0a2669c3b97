package parse

import (
	"bytes"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// MaxSitemapURLs is how many entries of a sitemap are taken (sitemaps.org: at most 50,000 a file).
const MaxSitemapURLs = 50_000

// maxLoc bounds what is kept of an entry's address, in bytes: longer than any URL that is taken.
const maxLoc = 16 << 10

// SitemapEntry is a URL of a sitemap, or of another sitemap in an index.
type SitemapEntry struct {
	Loc     string
	LastMod int64 // Unix seconds, 0 if not given
}

// Sitemap reads a sitemap or a sitemap index in XML, or a list of URLs in plain text. XML that is damaged costs the entry where the
// damage is. Of entries beyond MaxSitemapURLs it returns the number. Versions of pages in other languages that are not entries
// themselves come last, as many again at most. contentType is the field that it came with: the encoding that is named there counts where the
// bytes are not what they are to be otherwise.
func Sitemap(body []byte, contentType string) (pages, sitemaps []SitemapEntry, over int) {
	named := typeCharset(contentType)
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("\xef\xbb\xbf")) {
		named = "" // the mark says it
	}
	body = sitemapText(body, named)
	if bytes.HasPrefix(body, []byte("<")) || bytes.Contains(body, []byte("<urlset")) || bytes.Contains(body, []byte("<sitemapindex")) {
		return readSitemap(body, named)
	}
	if useful(named, body) {
		body = []byte(Decode(body, named))
	}
	for line := range strings.FieldsFuncSeq(string(body), func(c rune) bool { return c == '\n' || c == '\r' }) {
		switch s := strings.TrimSpace(line); {
		case len(s) < 4 || !strings.EqualFold(s[:4], "http"):
		case len(pages) == MaxSitemapURLs:
			over++
		default:
			pages = append(pages, SitemapEntry{Loc: s})
		}
	}
	return pages, nil, over
}

// IsSitemap reports whether what is served as a page may be a sitemap: it begins as one in XML does, or has no markup at all.
func IsSitemap(body []byte) bool {
	return bytes.IndexByte(body, '<') < 0 || sitemapRoot.Match(body[:min(len(body), 64<<10)])
}

var sitemapRoot = regexp.MustCompile(`(?i)<([\w-]+:)?(urlset|sitemapindex)[\s>]`)

// useful reports whether a sitemap is to be read in the encoding that its Content-Type names. What is UTF-8, as the protocol wants it, is that
// whatever a server says of all its files.
func useful(named string, body []byte) bool {
	return named != "" && named != "utf-8" && ASCIISuperset(named) && !utf8.Valid(body)
}

// sitemapText returns a sitemap in an encoding that holds ASCII. named is the encoding that its Content-Type names, if any.
func sitemapText(body []byte, named string) []byte {
	switch {
	case bytes.HasPrefix(body, []byte("\xff\xfe")), bytes.HasPrefix(body, []byte("<\x00")):
		body = []byte(Decode(body, "utf-16le"))
	case bytes.HasPrefix(body, []byte("\xfe\xff")), bytes.HasPrefix(body, []byte("\x00<")):
		body = []byte(Decode(body, "utf-16be"))
	case strings.HasPrefix(named, "utf-16") && bytes.IndexByte(body, 0) >= 0, named == "iso-2022-jp" && bytes.IndexByte(body, '\x1b') >= 0:
		body = []byte(Decode(body, named))
	}
	return bytes.TrimLeft(bytes.TrimPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("\xef\xbb\xbf")), " \t\r\n")
}

// xmlEncoding finds the encoding that an XML declaration names (XML 1.0, section 4.3.3).
var xmlEncoding = regexp.MustCompile(`^<\?xml[^>]*?\sencoding\s*=\s*["']([^"'>]*)`)

// sitemapCharset returns the encoding of a sitemap's text: its declaration counts before its Content-Type. A label that is unknown, and UTF-16
// where the bytes are not, mean nothing.
func sitemapCharset(body []byte, named string) string {
	if m := xmlEncoding.FindSubmatch(body[:min(len(body), 256)]); m != nil {
		if name := canonicalCharset(string(m[1])); name != "" && ASCIISuperset(name) && !(name == "utf-8" && useful(named, body)) {
			return name
		}
	}
	if useful(named, body) {
		return named
	}
	return "utf-8"
}

// alternates are the versions of pages in other languages. Most are entries of the same file.
type alternates struct {
	first   []SitemapEntry
	all     map[uint64]bool // by their hash
	entries map[uint64]bool
}

func (a *alternates) add(loc string) {
	if loc == "" {
		return
	}
	if a.all == nil {
		a.all = map[uint64]bool{}
	}
	h := xxh3.HashString(loc)
	if a.all[h] {
		return
	}
	a.all[h] = true
	if len(a.first) < 2*MaxSitemapURLs { // half of them may be entries
		a.first = append(a.first, SitemapEntry{Loc: loc})
	}
}

// entry notes that a page is an entry itself.
func (a *alternates) entry(loc string) {
	if a.entries == nil {
		a.entries = map[uint64]bool{}
	}
	a.entries[xxh3.HashString(loc)] = true
}

// rest returns those that are not entries, and adds to over how many there are besides.
func (a *alternates) rest(over *int) (out []SitemapEntry) {
	for h := range a.all {
		if !a.entries[h] {
			*over++
		}
	}
	for _, e := range a.first {
		if !a.entries[xxh3.HashString(e.Loc)] && len(out) < MaxSitemapURLs {
			out = append(out, e)
			*over--
		}
	}
	return out
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

// Package robots parses robots.txt and answers whether a crawler may fetch a path, by RFC 9309: the group of the
// crawler's own product token, else that of "*"; the longest matching rule, an allow among equals; "*" and "$" in
// patterns. Crawl-delay and Sitemap, which the RFC does not know, are read as they are used in practice. Rules have a
// binary form that keeps all of them.
//
// It guarantees that no input makes it slow or large: what is beyond MaxSize is not read, and matching takes time
// proportional to the path and the patterns. It does not fetch, cache or expire anything.
package robots

import (
	"bytes"
	"encoding/binary"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxSize is how much of a robots.txt is read, in bytes (RFC 9309, section 2.5: at least 500 KiB). The line that the end
// of it cuts in two is not read: half a rule is a broader rule.
const MaxSize = 500 << 10

const (
	// maxSitemaps bounds the sitemaps of one file that are kept.
	maxSitemaps = 1000
	// maxSitemap bounds the address of a sitemap, in bytes (sitemaps.org: a location is shorter than 2,048 characters).
	maxSitemap = 2048
	// maxDelay is the longest Crawl-delay that is told apart, in seconds: longer ones count as this one.
	maxDelay = 1e6
)

// Rules are what a robots.txt says to one crawler. The zero Rules allow everything.
type Rules struct {
	rules        []rule // longest pattern first, allow before disallow among equals
	Delay        time.Duration
	HasDelay     bool
	Sitemaps     []string // as they stand in the file
	SitemapsLeft int      // named as well, but too many or too long
}

type group struct {
	rules    []rule
	delay    time.Duration
	hasDelay bool
	present  bool
}

// Own is the name of a crawler whose User-Agent field says none.
const Own = "argosy"

// Product returns the name by which the sites know a crawler that sends a User-Agent field, in lower case: its first product or, where
// it begins as that of a browser, the one behind "compatible;". That of a mere browser, or one that begins with no letter, says none.
func Product(userAgent string) string {
	low := strings.ToLower(strings.TrimSpace(userAgent))
	if strings.HasPrefix(low, "mozilla/") {
		_, low, _ = strings.Cut(low, "compatible;")
		low = strings.TrimSpace(low)
	}
	if token(low) == "" {
		return Own
	}
	if i := strings.IndexFunc(low, endsProduct); i >= 0 {
		low = low[:i]
	}
	return low
}

// endsProduct reports whether a character is not part of a product's name (RFC 9110, section 5.6.2: a token).
func endsProduct(c rune) bool {
	return c <= ' ' || c >= 0x7f || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", c)
}

// Parse reads a robots.txt for the crawler of that name. Of a name its product token counts, compared without case.
func Parse(body []byte, product string) Rules {
	product = token(product)
	body = bytes.TrimPrefix(whole(inUTF8(body)), []byte("\xef\xbb\xbf"))
	var own, all group
	var r Rules
	inOwn, inAll, closed := false, false, true
	for len(body) > 0 {
		var line []byte
		if i := bytes.IndexAny(body, "\r\n"); i >= 0 {
			line, body = body[:i], body[i+1:]
		} else {
			line, body = body, nil
		}
		key, val, ok := split(line)
		if !ok {
			continue
		}
		switch key {
		case "user-agent":
			if closed { // rules have been seen since the last user-agent line: a new group
				inOwn, inAll, closed = false, false, false
			}
			if f := strings.Fields(val); len(f) > 0 && f[0] == "*" {
				inAll, all.present = true, true
			} else if strings.EqualFold(token(val), product) {
				inOwn, own.present = true, true
			}
		case "allow", "disallow":
			closed = true
			if val == "" {
				continue
			}
			p := newRule(key == "allow", val)
			if inOwn {
				own.rules = append(own.rules, p)
			}
			if inAll {
				all.rules = append(all.rules, p)
			}
		case "crawl-delay":
			if d, err := strconv.ParseFloat(val, 64); err == nil && d >= 0 {
				d = min(d, maxDelay)
				if inOwn {
					own.delay, own.hasDelay = time.Duration(d*float64(time.Second)), true
				}
				if inAll {
					all.delay, all.hasDelay = time.Duration(d*float64(time.Second)), true
				}
			}
		case "sitemap":
			r.sitemap(val)
		}
	}
	g := all
	if own.present {
		g = own
	}
	r.rules, r.Delay, r.HasDelay = inOrder(g.rules), g.delay, g.hasDelay
	return r
}

// inUTF8 returns a file in UTF-8, if it is in UTF-16, with a byte order mark or without: a file in UTF-8 has no NUL. RFC 9309 asks for UTF-8 and lets
// implementors bridge the difference; what its author has forbidden is forbidden.
func inUTF8(body []byte) []byte {
	var order binary.ByteOrder
	switch {
	case len(body) < 2:
		return body
	case body[0] == 0xff && body[1] == 0xfe, body[0] != 0 && body[1] == 0:
		order = binary.LittleEndian
	case body[0] == 0xfe && body[1] == 0xff, body[0] == 0 && body[1] != 0:
		order = binary.BigEndian
	default:
		return body
	}
	units := make([]uint16, 0, min(len(body)/2, MaxSize+2)) // as many as whole reads at most, and tells by that there are more
	for i := 0; i+1 < len(body) && len(units) < cap(units); i += 2 {
		units = append(units, order.Uint16(body[i:]))
	}
	return []byte(string(utf16.Decode(units)))
}

// whole returns the part of a file that is read: whole lines only.
func whole(body []byte) []byte {
	if len(body) <= MaxSize {
		return body
	}
	if c := body[MaxSize]; c == '\r' || c == '\n' {
		return body[:MaxSize]
	}
	return body[:bytes.LastIndexAny(body[:MaxSize], "\r\n")+1]
}

// sitemap takes in the address of a sitemap.
func (r *Rules) sitemap(s string) {
	switch {
	case s == "":
	case len(s) > maxSitemap || len(r.Sitemaps) >= maxSitemaps:
		r.SitemapsLeft++
	default:
		r.Sitemaps = append(r.Sitemaps, s)
	}
}

// inOrder sorts rules by precedence.
func inOrder(rules []rule) []rule {
	sort.SliceStable(rules, func(i, j int) bool {
		a, b := &rules[i], &rules[j]
		if a.size != b.size {
			return a.size > b.size
		}
		return a.allow && !b.allow
	})
	return rules
}

// split cuts a line into its key, as it is spelled right and in lower case, and its value. A line of two words may lack its colon.
func split(line []byte) (key, val string, ok bool) {
	if i := bytes.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	k, v, found := bytes.Cut(line, []byte(":"))
	if !found {
		words := bytes.Fields(line)
		if len(words) != 2 {
			return "", "", false
		}
		k, v = words[0], words[1]
	}
	key = strings.ToLower(trim(string(k)))
	for _, s := range spellings {
		if strings.HasPrefix(key, s.written) {
			return s.meant, trim(string(v)), true
		}
	}
	return "", "", false
}

// spellings are how keys begin that are read: what follows does not matter, and frequent misspellings count, as in the parser that
// Google has published (github.com/google/robotstxt).
var spellings = []struct{ written, meant string }{
	{"user-agent", "user-agent"},
	{"useragent", "user-agent"},
	{"user agent", "user-agent"},
	{"allow", "allow"},
	{"disallow", "disallow"},
	{"dissallow", "disallow"},
	{"dissalow", "disallow"},
	{"disalow", "disallow"},
	{"diasllow", "disallow"},
	{"disallaw", "disallow"},
	{"sitemap", "sitemap"},
	{"site-map", "sitemap"},
	{"crawl-delay", "crawl-delay"},
	{"crawldelay", "crawl-delay"},
}

// trim cuts white space off both ends: that of Unicode, and the no-break space of a file in Latin-1, a byte A0 that is
// not part of a character in UTF-8.
func trim(s string) string {
	for s != "" {
		c, n := utf8.DecodeRuneInString(s)
		if !isSpace(c, n, s[0]) {
			break
		}
		s = s[n:]
	}
	for s != "" {
		c, n := utf8.DecodeLastRuneInString(s)
		if !isSpace(c, n, s[len(s)-1]) {
			break
		}
		s = s[:len(s)-n]
	}
	return s
}

func isSpace(c rune, size int, b byte) bool {
	return unicode.IsSpace(c) || c == utf8.RuneError && size == 1 && b == 0xa0
}

// token returns the product token at the start of a user-agent value (RFC 9309, section 2.2.1).
func token(v string) string {
	i := 0
	for i < len(v) && (v[i] == '-' || v[i] == '_' || v[i]|0x20 >= 'a' && v[i]|0x20 <= 'z') {
		i++
	}
	return v[:i]
}

// Empty reports whether a file says nothing to us, as one that is none.
func (r Rules) Empty() bool {
	return len(r.rules) == 0 && !r.HasDelay && len(r.Sitemaps)+r.SitemapsLeft == 0
}

// Allowed reports whether a path with its query, percent-encoded as URLs are, may be fetched.
func (r Rules) Allowed(path string) bool {
	if path == "/robots.txt" {
		return true
	}
	plain := canonical(path, true)
	loose := ""
	for i := range r.rules {
		p := &r.rules[i]
		if p.match(p.pattern, plain) {
			return p.allow
		}
		if p.loose == "" {
			continue
		}
		if loose == "" {
			loose, _ = unreserve(plain)
		}
		if p.match(p.loose, loose) {
			return p.allow
		}
	}
	return true
}

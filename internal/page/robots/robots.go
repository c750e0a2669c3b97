// Package robots parses robots.txt and answers whether a crawler may fetch a path, by RFC 9309: the group of the
// crawler's own product token, else that of "*"; the longest matching rule, an allow among equals; "*" and "$" in
// patterns. Crawl-delay and Sitemap, which the RFC does not know, are read as they are used in practice.
//
// It guarantees that no input makes it slow or large: what is beyond MaxSize is not read, and matching takes time
// proportional to the path and the patterns. It does not fetch, cache or expire anything.
package robots

import (
	"bytes"
	"sort"
	"strconv"
	"strings"
	"time"
)

// MaxSize is how much of a robots.txt is read (RFC 9309, section 2.5: at least 500 KiB).
const MaxSize = 500 << 10

// maxSitemaps bounds the sitemaps that one file may name.
const maxSitemaps = 1000

// Rules are what a robots.txt says to one crawler. The zero Rules allow everything.
type Rules struct {
	rules    []rule // longest pattern first, allow before disallow among equals
	Delay    time.Duration
	HasDelay bool
	Sitemaps []string
}

type rule struct {
	allow   bool
	pattern string // normalised; wild says whether it holds '*' or ends in '$'
	wild    bool
}

type group struct {
	rules    []rule
	delay    time.Duration
	hasDelay bool
	present  bool
}

// Parse reads a robots.txt for the crawler whose product token is product ("argosy", compared without case).
func Parse(body []byte, product string) Rules {
	if len(body) > MaxSize {
		body = body[:MaxSize]
	}
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
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
			if val == "*" || strings.HasPrefix(val, "* ") {
				inAll, all.present = true, true
			} else if strings.EqualFold(token(val), product) {
				inOwn, own.present = true, true
			}
		case "allow", "disallow":
			closed = true
			if val == "" {
				continue
			}
			p := rule{allow: key == "allow", pattern: normalise(val)}
			p.wild = strings.IndexByte(p.pattern, '*') >= 0 || strings.HasSuffix(p.pattern, "$")
			if inOwn {
				own.rules = append(own.rules, p)
			}
			if inAll {
				all.rules = append(all.rules, p)
			}
		case "crawl-delay":
			if d, err := strconv.ParseFloat(val, 64); err == nil && d >= 0 && d < 1e6 {
				if inOwn {
					own.delay, own.hasDelay = time.Duration(d*float64(time.Second)), true
				}
				if inAll {
					all.delay, all.hasDelay = time.Duration(d*float64(time.Second)), true
				}
			}
		case "sitemap":
			if val != "" && len(val) <= 2048 && len(r.Sitemaps) < maxSitemaps {
				r.Sitemaps = append(r.Sitemaps, val)
			}
		}
	}
	g := all
	if own.present {
		g = own
	}
	r.rules, r.Delay, r.HasDelay = g.rules, g.delay, g.hasDelay
	sort.SliceStable(r.rules, func(i, j int) bool {
		a, b := r.rules[i], r.rules[j]
		if len(a.pattern) != len(b.pattern) {
			return len(a.pattern) > len(b.pattern)
		}
		return a.allow && !b.allow
	})
	return r
}

// split cuts a line into its key, in lower case and with the usual misspellings mended, and its value.
func split(line []byte) (key, val string, ok bool) {
	if i := bytes.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	k, v, found := bytes.Cut(line, []byte(":"))
	if !found {
		return "", "", false
	}
	key = strings.ToLower(string(bytes.TrimSpace(k)))
	switch key {
	case "useragent", "user agent":
		key = "user-agent"
	case "dissallow", "dissalow", "disalow", "diasllow", "disallaw":
		key = "disallow"
	case "crawldelay":
		key = "crawl-delay"
	case "site-map":
		key = "sitemap"
	}
	return key, string(bytes.TrimSpace(v)), true
}

// token returns the product token at the start of a user-agent value (RFC 9309, section 2.2.1).
func token(v string) string {
	i := 0
	for i < len(v) && (v[i] == '-' || v[i] == '_' || v[i]|0x20 >= 'a' && v[i]|0x20 <= 'z') {
		i++
	}
	return v[:i]
}

// Allowed reports whether a path with its query, in canonical percent-encoding, may be fetched.
func (r Rules) Allowed(path string) bool {
	if path == "/robots.txt" {
		return true
	}
	for _, p := range r.rules {
		if p.wild && match(p.pattern, path) || !p.wild && strings.HasPrefix(path, p.pattern) {
			return p.allow
		}
	}
	return true
}

// match reports whether a pattern with wildcards matches a prefix of path, or all of it if the pattern ends in "$".
func match(pattern, path string) bool {
	anchored := strings.HasSuffix(pattern, "$")
	if anchored {
		pattern = pattern[:len(pattern)-1]
	}
	head, rest, star := strings.Cut(pattern, "*")
	if !strings.HasPrefix(path, head) {
		return false
	}
	path = path[len(head):]
	if !star {
		return !anchored || path == ""
	}
	for { // each further piece is found at its first place; only the last one may have to be at the end
		piece, more, star := strings.Cut(rest, "*")
		if !star {
			if anchored {
				return strings.HasSuffix(path, piece)
			}
			return strings.Contains(path, piece)
		}
		i := strings.Index(path, piece)
		if i < 0 {
			return false
		}
		path, rest = path[i+len(piece):], more
	}
}

// normalise puts a pattern's percent-encoding into the canonical form of URLs (RFC 9309, section 2.2.2): octets
// outside of ASCII encoded, unreserved ones decoded, hexadecimal digits in upper case.
func normalise(s string) string {
	const hex = "0123456789ABCDEF"
	plain := true
	for i := range len(s) {
		if s[i] == '%' || s[i] <= ' ' || s[i] >= 0x7f {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	b := make([]byte, 0, len(s)+8)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' && i+2 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				if d := byte(v); isUnreserved(d) {
					b = append(b, d)
				} else {
					b = append(b, '%', hex[d>>4], hex[d&15])
				}
				i += 2
				continue
			}
		}
		if c <= ' ' || c >= 0x7f {
			b = append(b, '%', hex[c>>4], hex[c&15])
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}

func isUnreserved(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// Text returns rules in the form of a robots.txt with one group for everybody: what a site record keeps. Parsing it
// gives the same rules.
func (r Rules) Text() []byte {
	var b bytes.Buffer
	b.WriteString("User-agent: *\n")
	for _, p := range r.rules {
		if p.allow {
			b.WriteString("Allow: ")
		} else {
			b.WriteString("Disallow: ")
		}
		b.WriteString(p.pattern)
		b.WriteByte('\n')
	}
	if r.HasDelay {
		b.WriteString("Crawl-delay: " + strconv.FormatFloat(r.Delay.Seconds(), 'g', -1, 64) + "\n")
	}
	for _, s := range r.Sitemaps {
		b.WriteString("Sitemap: " + s + "\n")
	}
	if b.Len() > MaxSize {
		b.Truncate(MaxSize)
	}
	return b.Bytes()
}

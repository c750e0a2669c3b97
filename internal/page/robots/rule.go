package robots

import "strings"

// rule is one allow or disallow line. Its pattern is in the form that canonical describes, without the "$" at its end.
type rule struct {
	allow    bool
	wild     bool // the pattern holds wildcards
	anchored bool // it ended in "$": it must match to the end of the path
	size     int  // octets of the pattern when it is percent-encoded: the longest pattern decides
	pattern  string
	loose    string // the pattern as unreserve leaves it, if that is something else
}

// newRule makes a rule of the value of its line, or of what wire wrote.
func newRule(allow bool, value string) rule {
	p := rule{allow: allow, pattern: canonical(value, false)}
	p.pattern, p.anchored = strings.CutSuffix(p.pattern, "$")
	p.pattern = strings.ReplaceAll(p.pattern, "$", string(dollar)) // anywhere else it is only itself
	p.wild = strings.IndexByte(p.pattern, '*') >= 0
	for i := range len(p.pattern) {
		if c := p.pattern[i]; c == '%' || c == '*' || isUnreserved(c) || isReserved(c) {
			p.size++
		} else {
			p.size += len("%XX")
		}
	}
	if p.anchored {
		p.size++
	}
	if l, ok := unreserve(p.pattern); ok {
		p.loose = l
	}
	return p
}

// wire returns a value that newRule makes the same rule of. It is never longer than that of the rule's line.
func (p *rule) wire() string {
	if strings.IndexByte(p.pattern, '%') < 0 && !strings.ContainsAny(p.pattern, string(star)+string(dollar)) {
		if p.anchored {
			return p.pattern + "$"
		}
		return p.pattern
	}
	b := make([]byte, 0, len(p.pattern)+8)
	for i := 0; i < len(p.pattern); i++ {
		switch c := p.pattern[i]; {
		case c == star:
			b = append(b, "%2A"...)
		case c == dollar && (p.anchored || i+1 < len(p.pattern)):
			b = append(b, '$')
		case c == dollar:
			b = append(b, "%24"...)
		case c == '%' && isControl(escaped(p.pattern[i:])):
			b = append(b, escaped(p.pattern[i:]))
			i += 2
		case c == '%' && escaped(p.pattern[i:]) == '%' && !(i+4 < len(p.pattern) && isHex(p.pattern[i+3]) && isHex(p.pattern[i+4])):
			b = append(b, '%') // one that stands alone
			i += 2
		default:
			b = append(b, c)
		}
	}
	if p.anchored {
		b = append(b, '$')
	}
	return string(b)
}

// match reports whether the rule's pattern, in one of its forms, matches a prefix of path, or all of it if the rule is anchored.
func (p *rule) match(pattern, path string) bool {
	if !p.wild {
		return strings.HasPrefix(path, pattern) && (!p.anchored || len(path) == len(pattern))
	}
	head, rest, _ := strings.Cut(pattern, "*")
	if !strings.HasPrefix(path, head) {
		return false
	}
	path = path[len(head):]
	for { // each further piece is found at its first place; only the last one may have to be at the end
		piece, more, star := strings.Cut(rest, "*")
		if !star {
			if p.anchored {
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

// What stands for a "*" and a "$" that are meant as themselves, in paths and, as %2A and %24, in patterns (RFC 9309,
// section 2.2.3). Both are control characters, which canonical otherwise leaves encoded.
const (
	star   = '\x01'
	dollar = '\x02'
)

const upperHex = "0123456789ABCDEF"

// canonical puts the percent-encoding of a pattern or of a path with its query into one form, in which they can be
// compared octet by octet (RFC 9309, section 2.2.2): what is encoded and what is not are the same, but for reserved
// characters (RFC 3986, section 2.2), which stay as they are, with digits in upper case; "%" that encodes nothing and control
// characters are encoded. A special character that means itself becomes star or dollar; in a path each of them does.
func canonical(s string, path bool) string {
	i := 0
	for i < len(s) && s[i] != '%' && !isControl(s[i]) && !(path && (s[i] == '*' || s[i] == '$')) {
		i++
	}
	if i == len(s) {
		return s
	}
	b := append(make([]byte, 0, len(s)+8), s[:i]...)
	for ; i < len(s); i++ {
		c, encoded := s[i], false
		if c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			c, encoded = escaped(s[i:]), true
			i += 2
		}
		switch {
		case c == '*' && (encoded || path):
			b = append(b, star)
		case c == '$' && (encoded || path):
			b = append(b, dollar)
		case c == '%' || encoded && isReserved(c) || isControl(c):
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// unreserve decodes, in the query of a canonical pattern or path, the reserved characters that delimit nothing there
// (RFC 3986, section 3.4), and the apostrophe, which browsers encode: "?u=http://a" and "?u=http%3A%2F%2Fa" are one (RFC
// 9309, section 2.2.2, the second example). ok tells whether there are any, encoded or not.
func unreserve(s string) (out string, ok bool) {
	q := strings.IndexByte(s, '?')
	if q < 0 {
		return s, false
	}
	q++
	if strings.IndexByte(s[q:], '%') < 0 {
		return s, strings.ContainsAny(s[q:], inQuery)
	}
	b := append(make([]byte, 0, len(s)), s[:q]...)
	for i := q; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			if e := escaped(s[i:]); strings.IndexByte(inQuery, e) >= 0 {
				c = e
				i += 2
			}
		}
		ok = ok || strings.IndexByte(inQuery, c) >= 0
		b = append(b, c)
	}
	return string(b), ok
}

const inQuery = ":/?@[]'"

// escaped returns the octet that the percent-encoding at the start of s stands for.
func escaped(s string) byte { return unhex(s[1])<<4 | unhex(s[2]) }

func isControl(c byte) bool { return c < ' ' || c == 0x7f }

func isUnreserved(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

func isReserved(c byte) bool { return strings.IndexByte(":/?#[]@!$&'()*+,;=", c) >= 0 }

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

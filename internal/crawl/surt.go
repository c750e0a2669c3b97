package crawl

import (
	"bytes"
	"slices"
	"strings"
)

// SURT returns the key under which indexes of web archives keep u: the host's labels in reverse, then port, path and query,
// reduced so that addresses which mean the same page to most servers have one key. The rules are those of the Wayback
// Machine's key maker, which the surt package and pywb follow (Google's Safe Browsing canonical form, then the Internet
// Archive's): everything is decoded until nothing is encoded, and then encoded once; lower case; no "www." or "www7."
// before the host; no empty segments of a path, no slash at its end; no well-known session ids; parameters in order; no
// empty query. IPv4 addresses are reversed like names; IPv6 addresses lose their brackets.
func (u URL) SURT() string {
	b := make([]byte, 0, len(u.s)+8)
	b = appendReversed(b, u.Host())
	if port := u.s[u.hostEnd:u.path]; port != ":0" { // which nobody serves, and the key maker takes for none
		b = append(b, port...)
	}
	b = append(b, ')')
	b = append(b, keyPath(u.Path())...)
	if len(u.Query()) > 1 {
		if q := keyQuery(u.Query()[1:]); len(q) > 0 {
			b = append(append(b, '?'), q...)
		}
	}
	return string(b)
}

// appendReversed appends a host as keys have it.
func appendReversed(b []byte, host string) []byte {
	host = strings.Trim(strings.ReplaceAll(host, "..", "."), ".")
	if strings.HasPrefix(host, "[") {
		return append(b, strings.Trim(host, "[]")...)
	}
	if rest, ok := strings.CutPrefix(host, "www"); ok {
		if rest = strings.TrimLeft(rest, "0123456789"); strings.HasPrefix(rest, ".") {
			host = rest[1:]
		}
	}
	for {
		dot := strings.LastIndexByte(host, '.')
		b = append(b, host[dot+1:]...)
		if dot < 0 {
			return b
		}
		b, host = append(b, ','), host[:dot]
	}
}

// keyPath returns a path as keys have it.
func keyPath(path string) []byte {
	p := encodeOnce(joinSegments(decodeFully(path)))
	p = withoutPathSession(p)
	if len(p) > 1 && p[len(p)-1] == '/' {
		p = p[:len(p)-1]
	}
	return p
}

// keyQuery returns a query as keys have it, both without the question mark.
func keyQuery(query string) []byte {
	q := withoutSession(encodeOnce(decodeFully(query)))
	if bytes.IndexByte(q, '&') < 0 {
		return q
	}
	params := bytes.Split(q, []byte{'&'})
	slices.SortFunc(params, func(a, b []byte) int {
		an, av, aok := bytes.Cut(a, []byte{'='})
		bn, bv, bok := bytes.Cut(b, []byte{'='})
		switch c := bytes.Compare(an, bn); {
		case c != 0:
			return c
		case aok != bok: // a name alone stands before one with a value
			if bok {
				return -1
			}
			return 1
		}
		return bytes.Compare(av, bv)
	})
	return bytes.Join(params, []byte{'&'})
}

// decodeFully decodes percent-encoding until nothing is encoded, in one pass: what is decoded may end another sequence,
// never stand in two.
func decodeFully(s string) []byte {
	if strings.IndexByte(s, '%') < 0 {
		return []byte(s)
	}
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		out = append(out, s[i])
		for n := len(out); n >= 3 && out[n-3] == '%' && isHex(out[n-2]) && isHex(out[n-1]); n = len(out) {
			out[n-3] = unhex(out[n-2])<<4 | unhex(out[n-1])
			out = out[:n-2]
		}
	}
	return out
}

// encodeOnce encodes what is not printable ASCII, number signs and percent signs, and puts everything in lower case. It may write into s.
func encodeOnce(s []byte) []byte {
	const lowerHex = "0123456789abcdef"
	if !slices.ContainsFunc(s, encoded) {
		for i, c := range s {
			if c >= 'A' && c <= 'Z' {
				s[i] = c + 'a' - 'A'
			}
		}
		return s
	}
	out := make([]byte, 0, len(s)+8)
	for _, c := range s {
		switch {
		case encoded(c):
			out = append(out, '%', lowerHex[c>>4], lowerHex[c&15])
		case c >= 'A' && c <= 'Z':
			out = append(out, c+'a'-'A')
		default:
			out = append(out, c)
		}
	}
	return out
}

// encoded reports whether a byte stands in keys as three.
func encoded(c byte) bool { return c <= ' ' || c >= 0x7F || c == '#' || c == '%' }

// joinSegments leaves out of a path what leads nowhere: empty segments but the last, and dots that decoding has shown.
func joinSegments(path []byte) []byte {
	if len(path) > 0 && path[0] == '/' {
		if !bytes.Contains(path, []byte("//")) && !bytes.Contains(path, []byte("/.")) {
			return path
		}
		path = path[1:]
	}
	var kept [][]byte
	for seg := range bytes.SplitSeq(path, []byte{'/'}) {
		switch {
		case string(seg) == ".":
		case string(seg) == ".." && len(kept) > 0:
			kept = kept[:len(kept)-1]
		default:
			kept = append(kept, seg)
		}
	}
	out := make([]byte, 1, len(path)+1)
	out[0] = '/'
	for i, seg := range kept {
		out = append(out, seg...)
		if i < len(kept)-1 && len(seg) > 0 {
			out = append(out, '/')
		}
	}
	return out
}

// withoutPathSession takes the session ids of ASP.NET out of a path in lower case: "/(s(24 letters or digits))/" and
// "/(24 letters or digits)/" before the name of a page.
func withoutPathSession(p []byte) []byte {
	if !bytes.Contains(p, []byte(".aspx")) {
		return p
	}
	for _, session := range []func([]byte) int{nestedSession, plainSession} {
		for at := len(p) - 1; at >= 0; at-- { // the last one
			if p[at] != '/' {
				continue
			}
			n := session(p[at+1:])
			if n == 0 {
				continue
			}
			rest := p[at+1+n:]
			name, _, _ := bytes.Cut(rest, []byte{'?'})
			if len(name) > 0 && bytes.Contains(name[1:], []byte(".aspx")) {
				p = append(p[:at+1:at+1], rest...)
				break
			}
		}
	}
	return p
}

// nestedSession returns the length of "(x(…)y(…))/" at the start of p, 0 if there is none.
func nestedSession(p []byte) int {
	if len(p) == 0 || p[0] != '(' {
		return 0
	}
	at := 1
	for len(p) >= at+27 && p[at] >= 'a' && p[at] <= 'z' && p[at+1] == '(' && p[at+26] == ')' && only(p[at+2:at+26], lowerAlnum) {
		at += 27
	}
	if at > 1 && bytes.HasPrefix(p[at:], []byte(")/")) {
		return at + 2
	}
	return 0
}

// plainSession returns the length of "(…)/" at the start of p, 0 if there is none.
func plainSession(p []byte) int {
	if len(p) >= 27 && p[0] == '(' && only(p[1:25], lowerAlnum) && p[25] == ')' && p[26] == '/' {
		return 27
	}
	return 0
}

// withoutSession takes session ids out of a query in lower case: of each kind the last one.
func withoutSession(q []byte) []byte {
	for _, id := range sessionIDs {
		for at := bytes.LastIndex(q, id.name); at >= 0; at = bytes.LastIndex(q[:at+len(id.name)-1], id.name) {
			n := id.length(q[at:])
			if n == 0 || at+n < len(q) && q[at+n] != '&' {
				continue
			}
			rest := q[at+n:]
			if len(rest) > 0 {
				rest = rest[1:]
			}
			q = append(q[:at:at], rest...)
			break
		}
	}
	return q
}

// sessionIDs are the session ids that keys leave out, in this order; length returns how much of what begins with the name
// is one, 0 if it is not. A name need not stand at the start of a parameter's.
var sessionIDs = []struct {
	name   []byte
	length func(q []byte) int
}{
	{[]byte("jsessionid="), fixed(11, 32, lowerAlnum)},
	{[]byte("phpsessid="), fixed(10, 32, lowerAlnum)},
	{[]byte("sid="), fixed(4, 32, lowerAlnum)},
	{[]byte("aspsessionid"), func(q []byte) int {
		if len(q) < 45 || !only(q[12:20], lowerAlpha) || q[20] != '=' || !only(q[21:45], lowerAlpha) {
			return 0
		}
		return 45
	}},
	{[]byte("cfid="), func(q []byte) int {
		id, rest, _ := bytes.Cut(q[5:], []byte{'&'})
		token, ok := bytes.CutPrefix(rest, []byte("cftoken="))
		if token, _, _ = bytes.Cut(token, []byte{'&'}); !ok || len(id) == 0 || len(token) == 0 {
			return 0
		}
		return 5 + len(id) + 1 + 8 + len(token)
	}},
}

func fixed(name, value int, of func(byte) bool) func([]byte) int {
	return func(q []byte) int {
		if len(q) < name+value || !only(q[name:name+value], of) {
			return 0
		}
		return name + value
	}
}

func only(s []byte, of func(byte) bool) bool {
	return !slices.ContainsFunc(s, func(c byte) bool { return !of(c) })
}

func lowerAlpha(c byte) bool { return c >= 'a' && c <= 'z' }

func lowerAlnum(c byte) bool { return lowerAlpha(c) || c >= '0' && c <= '9' }

package crawl

import (
	"net/netip"
	"strings"
)

// The fast path answers for URLs of plain, already canonical ASCII, which is nearly all of them, and says "not me"
// for everything else. A differential fuzz test holds it against the WHATWG parser.

const (
	unreserved  = 1 << iota // RFC 3986, section 2.3
	hostByte                // may stand in a host that needs no further look
	pathByte                // may stand in a path as it is
	queryByte               // may stand in a query as it is
	schemeByte              // may stand in a scheme
	upperHexDig             // a digit of a canonical percent-encoding
)

var class = func() (t [256]uint8) {
	set := func(chars string, bits uint8) {
		for i := range len(chars) {
			t[chars[i]] |= bits
		}
	}
	set("abcdefghijklmnopqrstuvwxyz0123456789", unreserved|hostByte|pathByte|queryByte|schemeByte)
	set("ABCDEFGHIJKLMNOPQRSTUVWXYZ", unreserved|pathByte|queryByte|schemeByte)
	set("-._~", unreserved|pathByte|queryByte)
	set("-.", hostByte|schemeByte)
	set("+", schemeByte)
	set("!$&()*+,;=:@/", pathByte|queryByte)
	set("'", pathByte)
	set("?", queryByte)
	set("0123456789ABCDEF", upperHexDig)
	return t
}()

// parseFast parses an absolute URL that is canonical already, but for a fragment.
func parseFast(s string) (URL, bool) {
	var u URL
	switch {
	case strings.HasPrefix(s, "http://"):
		u.host = 7
	case strings.HasPrefix(s, "https://"):
		u.host = 8
	default:
		return URL{}, false
	}
	i := int(u.host)
	label := i // start of the current label
	for ; i < len(s) && class[s[i]]&hostByte != 0; i++ {
		if s[i] == '.' {
			if i == label || i+1 == len(s) {
				return URL{}, false
			}
			label = i + 1
		} else if s[i] == 'x' && i == label && strings.HasPrefix(s[i:], "xn--") {
			return URL{}, false // its validity is IDNA's to judge
		}
	}
	u.hostEnd = int32(i)
	// A last label that starts with a digit may be an IPv4 address in one of its many spellings.
	if i == label || i-int(u.host) > 253 || s[label] <= '9' && !canonicalIPv4(s[u.host:i]) {
		return URL{}, false
	}
	if i < len(s) && s[i] == ':' {
		if i = fastPort(s, i+1, u.host == 8); i < 0 {
			return URL{}, false
		}
	}
	if i == len(s) || s[i] != '/' {
		return URL{}, false
	}
	u.path = int32(i)
	return u.checkPath(s)
}

// canonicalIPv4 reports whether a host is an IPv4 address as the standard writes it: four decimal numbers.
func canonicalIPv4(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Is4()
}

// fastPort returns the end of a canonical, non-default port that starts at i, or -1.
func fastPort(s string, i int, https bool) int {
	port, start := 0, i
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9' && i-start < 5; i++ {
		port = port*10 + int(s[i]-'0')
	}
	if i == start || s[start] == '0' || port > 65535 || https && port == 443 || !https && port == 80 {
		return -1
	}
	return i
}

// checkPath accepts s as u's string when path and query, from u.path on, are canonical; a fragment is cut off.
func (u URL) checkPath(s string) (URL, bool) {
	i := int(u.path)
	for dir := i; i < len(s); i++ {
		c := s[i]
		if class[c]&pathByte != 0 {
			if c == '/' {
				dir = i + 1
			} else if c == '.' && i == dir && dotSegment(s[i:]) {
				return URL{}, false
			}
			continue
		}
		if c == '%' && canonicalPercent(s, i) {
			i += 2
			continue
		}
		break
	}
	end := i
	if i < len(s) && s[i] == '?' {
		for i++; i < len(s); i++ {
			if class[s[i]]&queryByte != 0 {
				continue
			}
			if s[i] == '%' && canonicalPercent(s, i) {
				i += 2
				continue
			}
			break
		}
	}
	if i < len(s) {
		if s[i] != '#' {
			return URL{}, false
		}
		if c := s[len(s)-1]; c <= ' ' || len(s) > 4096 {
			return URL{}, false // what the standard trims could be all of the fragment
		}
	}
	u.s = s[:i]
	u.query = int32(end)
	u.pathDir = u.path + int32(strings.LastIndexByte(u.s[u.path:end], '/')) + 1
	return u, true
}

// dotSegment reports whether a segment that starts with a dot might be "." or "..", encoded or not.
func dotSegment(s string) bool {
	for i := 0; i < len(s) && i < 3; i++ {
		switch s[i] {
		case '.':
		case '/', '?', '#', '%':
			return true
		default:
			return false
		}
	}
	return len(s) <= 2
}

// canonicalPercent reports whether s[i:] starts with a percent-encoding that is canonical as it stands.
func canonicalPercent(s string, i int) bool {
	if i+2 >= len(s) || class[s[i+1]]&upperHexDig == 0 || class[s[i+2]]&upperHexDig == 0 {
		return false
	}
	return class[unhex(s[i+1])<<4|unhex(s[i+2])]&unreserved == 0
}

// resolveFast resolves plain references against u.
func (u URL) resolveFast(ref string) (URL, bool) {
	if ref == "" || ref[0] == '#' {
		if ref != "" && ref[len(ref)-1] <= ' ' {
			return URL{}, false
		}
		return u, true
	}
	switch ref[0] {
	case '/':
		if len(ref) > 1 && ref[1] == '/' {
			return parseFast(u.s[:u.host-2] + ref)
		}
		return u.join(u.path, ref)
	case '?':
		return u.join(u.query, ref)
	case 'h':
		if v, ok := parseFast(ref); ok {
			return v, true
		}
	}
	for i := range len(ref) { // a scheme ends at the first colon before any slash
		if ref[i] == ':' {
			return URL{}, false
		}
		if class[ref[i]]&schemeByte == 0 {
			break
		}
	}
	dir := u.pathDir
	for {
		if strings.HasPrefix(ref, "./") {
			ref = ref[2:]
		} else if strings.HasPrefix(ref, "../") {
			ref = ref[3:]
			if dir > u.path+1 {
				dir = u.path + int32(strings.LastIndexByte(u.s[u.path:dir-1], '/')) + 1
			}
		} else {
			return u.join(dir, ref)
		}
	}
}

// join replaces what follows offset at with ref.
func (u URL) join(at int32, ref string) (URL, bool) {
	v := URL{host: u.host, hostEnd: u.hostEnd, path: u.path}
	if int(at)+len(ref) > MaxURLLength {
		return URL{}, false
	}
	return v.checkPath(u.s[:at] + ref)
}

package crawl

import (
	"errors"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// MaxURLLength bounds what Parse accepts, in bytes; browsers and servers agree on less.
const MaxURLLength = 8192

// Errors of Parse and Resolve. They are values, so that a caller can count refusals by reason.
var (
	ErrScheme = errors.New("not an http or https URL")
	ErrURL    = errors.New("not a valid URL")
	ErrLength = errors.New("URL longer than 8192 bytes")
)

// URL is an absolute http or https URL in canonical form: parsed as browsers do (WHATWG URL Standard), host in
// lower case and in its ASCII form (IDNA), default port and dot segments removed, no user info, no fragment,
// percent-encoding in upper case and only where it is needed (RFC 3986, section 6.2.2). Two URLs are the same
// resource for Argosy exactly when their strings are equal. The zero URL is not valid.
type URL struct {
	s                    string
	host, hostEnd        int32 // s[host:hostEnd] is the host, IPv6 in brackets
	path, query, pathDir int32 // path start, query start ('?') or len(s), one past the last '/' of the path
}

// String returns the canonical form.
func (u URL) String() string { return u.s }

// IsZero reports whether u is the zero URL.
func (u URL) IsZero() bool { return u.s == "" }

// Scheme returns "http" or "https".
func (u URL) Scheme() string { return u.s[:u.host-3] }

// Host returns the host without its port; an IPv6 address is in brackets.
func (u URL) Host() string { return u.s[u.host:u.hostEnd] }

// Authority returns host and port as they stand in a Host header.
func (u URL) Authority() string { return u.s[u.host:u.path] }

// Port returns the explicit port, or the scheme's default.
func (u URL) Port() string {
	if u.hostEnd < u.path {
		return u.s[u.hostEnd+1 : u.path]
	}
	if u.Scheme() == "https" {
		return "443"
	}
	return "80"
}

// Path returns the path, which is never empty.
func (u URL) Path() string { return u.s[u.path:u.query] }

// Query returns the query with its question mark, or "".
func (u URL) Query() string { return u.s[u.query:] }

// RequestURI returns path and query, as they stand in a request line.
func (u URL) RequestURI() string { return u.s[u.path:] }

// Origin returns scheme and authority, without a slash at the end.
func (u URL) Origin() string { return u.s[:u.path] }

// Dir returns the URL up to and with the last slash of its path: what relative references start from.
func (u URL) Dir() string { return u.s[:u.pathDir] }

// HostOf returns the host of a site, which may have a port.
func HostOf(site string) string {
	u, err := Parse("http://" + site + "/")
	if err != nil {
		return site
	}
	return u.Host()
}

// Site returns the site: the host, with its port unless that is 80 or 443.
func (u URL) Site() string {
	if u.hostEnd == u.path {
		return u.Host()
	}
	if p := u.s[u.hostEnd+1 : u.path]; p == "80" || p == "443" {
		return u.Host()
	}
	return u.Authority()
}

// Parse returns the canonical form of an absolute URL.
func Parse(raw string) (URL, error) {
	if len(raw) > MaxURLLength {
		return URL{}, ErrLength
	}
	if u, ok := parseFast(raw); ok {
		return u, nil
	}
	return parseSlow(whatwg.Parse(raw))
}

// Resolve returns the canonical form of a reference found in the document u, as the WHATWG URL Standard resolves
// it. A reference to the document itself (empty, or only a fragment) gives u.
func (u URL) Resolve(ref string) (URL, error) {
	if len(ref) > MaxURLLength {
		return URL{}, ErrLength
	}
	if v, ok := u.resolveFast(ref); ok {
		return v, nil
	}
	return parseSlow(whatwg.ParseRef(u.s, ref))
}

func parseSlow(w *whatwg.Url, err error) (URL, error) {
	if err != nil {
		return URL{}, ErrURL
	}
	var scheme string
	switch w.Protocol() {
	case "http:":
		scheme = "http://"
	case "https:":
		scheme = "https://"
	default:
		return URL{}, ErrScheme
	}
	host := w.Hostname()
	if host == "" || host == "." {
		return URL{}, ErrURL
	}
	if strings.Contains(host, "xn--") { // of some hosts that IDNA does not allow there is a form that is not a URL
		if _, err := whatwg.Parse(scheme + host); err != nil {
			return URL{}, ErrURL
		}
	}
	if p := w.Port(); p != "" {
		host += ":" + p
	}
	path := normalisePercent(w.Pathname())
	if path == "" {
		path = "/"
	}
	s := scheme + host + path + normalisePercent(w.Search())
	if strings.HasSuffix(w.Href(true), "?") && !strings.Contains(s, "?") {
		s += "?" // an empty query is kept: it is another resource to the server
	}
	if len(s) > MaxURLLength {
		return URL{}, ErrLength
	}
	return index(s), nil
}

// index finds the offsets in a canonical string.
func index(s string) URL {
	u := URL{s: s, host: 7}
	if s[4] == 's' {
		u.host = 8
	}
	rest := s[u.host:]
	slash := strings.IndexByte(rest, '/')
	u.path = u.host + int32(slash)
	u.hostEnd = u.path
	if c := strings.LastIndexByte(rest[:slash], ':'); c >= 0 && !strings.HasSuffix(rest[:slash], "]") {
		u.hostEnd = u.host + int32(c)
	}
	u.setPath()
	return u
}

// setPath finds the query and the directory, given the start of the path.
func (u *URL) setPath() {
	u.query = int32(len(u.s))
	if q := strings.IndexByte(u.s[u.path:], '?'); q >= 0 {
		u.query = u.path + int32(q)
	}
	u.pathDir = u.path + int32(strings.LastIndexByte(u.s[u.path:u.query], '/')) + 1
}

const upperHex = "0123456789ABCDEF"

// normalisePercent decodes percent-encoded unreserved characters and puts the digits of the others in upper case
// (RFC 3986, sections 6.2.2.1 and 6.2.2.2). Malformed sequences stay as they are.
func normalisePercent(s string) string {
	i := strings.IndexByte(s, '%')
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:i])
	after := byte(0) // digits that a sign which begins nothing lacks for an encoding: what is decoded must not complete one
	for ; i < len(s); i++ {
		if s[i] != '%' || i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
			switch {
			case s[i] == '%':
				after = 2
			case after > 0 && isHex(s[i]):
				after--
			default:
				after = 0
			}
			b.WriteByte(s[i])
			continue
		}
		c := unhex(s[i+1])<<4 | unhex(s[i+2])
		complete := after > 0 && isHex(c)
		after = 0
		if class[c]&unreserved != 0 && !complete {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(upperHex[c>>4])
			b.WriteByte(upperHex[c&15])
		}
		i += 2
	}
	return b.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func unhex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	}
	return c - 'a' + 10
}

package agent

import (
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"argosy/internal/crawl"
)

const (
	maxCookies    = 50   // a site
	maxCookieSize = 4096 // bytes of name and value
	maxCookiePath = 1024 // bytes: what RFC 6265bis, section 5.6, has a user agent take of an attribute
)

// jar holds the cookies of one site for one job (RFC 6265, without other hosts).
type jar struct {
	fixed   string // sent before all others, never changed
	cookies []crawl.Cookie
	changed bool
}

func (j *jar) load(cs []crawl.Cookie) { j.cookies = append([]crawl.Cookie(nil), cs...) }

// set takes in Set-Cookie fields; it reports whether a cookie has come that was not there before.
func (j *jar) set(u crawl.URL, fields []string, now time.Time) bool {
	had := len(j.cookies)
	changed := false
	for _, f := range fields {
		c, err := http.ParseSetCookie(f)
		if err != nil || len(c.Name)+len(c.Value) > maxCookieSize || !utf8.ValidString(c.Name+c.Value) {
			continue
		}
		if d := strings.TrimPrefix(strings.ToLower(c.Domain), "."); d != "" && d != u.Host() && !strings.HasSuffix(u.Host(), "."+d) {
			continue // of another host
		}
		if c.Secure && u.Scheme() != "https" {
			continue
		}
		n := crawl.Cookie{Name: c.Name, Value: c.Value, Path: c.Path, Secure: c.Secure}
		if n.Path == "" || n.Path[0] != '/' || len(n.Path) > maxCookiePath || !utf8.ValidString(n.Path) {
			n.Path = defaultPath(u.Path())
		}
		switch {
		case c.MaxAge < 0:
			n.Expires = 1
		case c.MaxAge > 0:
			n.Expires = now.Add(time.Duration(min(c.MaxAge, 400*86400)) * time.Second).Unix()
		case !c.Expires.IsZero():
			n.Expires = max(1, c.Expires.Unix())
		}
		changed = j.put(n, now) || changed
	}
	j.changed = j.changed || changed
	return len(j.cookies) > had
}

// put replaces, adds or removes a cookie.
func (j *jar) put(n crawl.Cookie, now time.Time) bool {
	gone := n.Expires > 0 && n.Expires <= now.Unix()
	for i, c := range j.cookies {
		if c.Name != n.Name || c.Path != n.Path {
			continue
		}
		if gone {
			j.cookies = append(j.cookies[:i], j.cookies[i+1:]...)
			return true
		}
		j.cookies[i] = n
		return c.Value != n.Value
	}
	if gone || len(j.cookies) >= maxCookies {
		return false
	}
	j.cookies = append(j.cookies, n)
	return true
}

// header returns the value of the Cookie field for a URL, "" for none.
func (j *jar) header(u crawl.URL, now time.Time) string {
	out := j.fixed
	for _, c := range j.cookies {
		if c.Secure && u.Scheme() != "https" || c.Expires > 0 && c.Expires <= now.Unix() || !pathMatch(u.Path(), c.Path) {
			continue
		}
		if out != "" {
			out += "; "
		}
		out += c.Name + "=" + c.Value
	}
	return out
}

// defaultPath is the directory of a request path (RFC 6265, section 5.1.4).
func defaultPath(p string) string {
	i := strings.LastIndexByte(p, '/')
	if i <= 0 {
		return "/"
	}
	return p[:i]
}

func pathMatch(p, cookie string) bool {
	if !strings.HasPrefix(p, cookie) {
		return false
	}
	return len(p) == len(cookie) || cookie[len(cookie)-1] == '/' || p[len(cookie)] == '/'
}

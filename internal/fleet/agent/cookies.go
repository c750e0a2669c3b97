package agent

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"argosy/internal/crawl"
)

const (
	maxCookies    = 180  // of a site, as browsers keep of a domain; RFC 6265, section 6.1, asks for 50
	maxCookieSize = 4096 // bytes of name and value
	maxCookieAttr = 1024 // bytes of an attribute's value that is heeded (RFC 6265bis, section 5.6)
	maxCookieAge  = 400 * 24 * time.Hour
	maxCookieLine = 6 << 10   // bytes that are sent: servers refuse more than 8 KiB of a line (nginx, Apache) or of all fields (Tomcat)
	maxJar        = 128 << 10 // bytes of all cookies of a site: they travel with its task, in messages of at most a MiB
)

// jar holds the cookies of one site for one job (RFC 6265 and 6265bis, without other hosts), the oldest first.
type jar struct {
	fixed   string // sent before all others, never changed
	cookies []crawl.Cookie
	changed bool
	held    map[cookieID]crawl.Key // cookies of new names, by the page of whose outcome they are a part: another lease is told of both or of neither
}

// cookieID tells cookies of a site apart.
type cookieID struct{ name, path string }

// hold has cookies held until the outcome of a page is told.
func (j *jar) hold(by crawl.Key, fresh []cookieID) {
	if j.held == nil && len(fresh) > 0 {
		j.held = map[cookieID]crawl.Key{}
	}
	for _, id := range fresh {
		j.held[id] = by
	}
}

// holds reports whether cookies are held that have come with a page.
func (j *jar) holds(by crawl.Key) bool {
	for _, k := range j.held {
		if k == by {
			return true
		}
	}
	return false
}

// release notes that the outcome of a page is told.
func (j *jar) release(by crawl.Key) {
	for id, k := range j.held {
		if k == by {
			delete(j.held, id)
			j.changed = true
		}
	}
}

// told returns the cookies that other leases may be told of.
func (j *jar) told() []crawl.Cookie {
	return slices.DeleteFunc(slices.Clone(j.cookies), func(c crawl.Cookie) bool {
		_, held := j.held[cookieID{c.Name, c.Path}]
		return held
	})
}

func (j *jar) load(cs []crawl.Cookie) { j.cookies = append([]crawl.Cookie(nil), cs...) }

// set takes in Set-Cookie fields; it returns the cookies that were not there before.
func (j *jar) set(u crawl.URL, fields []string, now time.Time) (fresh []cookieID) {
	for _, f := range fields {
		if n, ok := setCookie(u, f, now); ok && j.put(n, now) {
			fresh = append(fresh, cookieID{n.Name, n.Path})
		}
	}
	return fresh
}

// setCookie reads a Set-Cookie field of an answer from a URL; false for what is not kept.
func setCookie(u crawl.URL, field string, now time.Time) (n crawl.Cookie, ok bool) {
	if strings.ContainsFunc(field, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) || !utf8.ValidString(field) {
		return n, false
	}
	pair, attrs, _ := strings.Cut(field, ";")
	name, value, named := strings.Cut(pair, "=")
	if !named {
		name, value = "", name
	}
	n = crawl.Cookie{Name: blankless(name), Value: blankless(value), Path: defaultPath(u.Path())}
	if size := len(n.Name) + len(n.Value); size == 0 || size > maxCookieSize {
		return n, false
	}
	rootPath, domain, aged := false, "", false
	for attr := range strings.SplitSeq(attrs, ";") {
		key, v, _ := strings.Cut(attr, "=")
		if v = blankless(v); len(v) > maxCookieAttr {
			continue
		}
		switch strings.ToLower(blankless(key)) {
		case "path":
			if n.Path = v; v == "" || v[0] != '/' {
				n.Path = defaultPath(u.Path())
			}
			rootPath = v == "/"
		case "domain":
			domain = strings.ToLower(strings.TrimPrefix(v, "."))
		case "secure":
			n.Secure = true
		case "max-age":
			if age, ok := maxAge(v); ok {
				aged, n.Expires = true, max(1, now.Add(age).Unix())
			}
		case "expires":
			if at, ok := cookieDate(v); ok && !aged {
				n.Expires = max(1, min(at.Unix(), now.Add(maxCookieAge).Unix()))
			}
		}
	}
	prefix := strings.ToLower(n.Name)
	switch {
	case domain != "" && domain != u.Host() && !strings.HasSuffix(u.Host(), "."+domain): // of another host
	case n.Secure && u.Scheme() != "https":
	case strings.HasPrefix(prefix, "__secure-") && !n.Secure:
	case strings.HasPrefix(prefix, "__host-") && (!n.Secure || !rootPath || domain != ""):
	default:
		return n, true
	}
	return n, false
}

// blankless trims what is white space to cookies.
func blankless(s string) string { return strings.Trim(s, " \t") }

// maxAge reads a Max-Age attribute (RFC 6265, section 5.2.2). What is not above zero is in the past.
func maxAge(v string) (time.Duration, bool) {
	digits := strings.TrimPrefix(v, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	if digits != v {
		return -time.Hour, true
	}
	s, err := strconv.ParseInt(v, 10, 64)
	if err != nil || s > int64(maxCookieAge/time.Second) {
		return maxCookieAge, true
	}
	if s == 0 {
		return -time.Hour, true
	}
	return time.Duration(s) * time.Second, true
}

// cookieDate reads the date of an Expires attribute, which is written in many ways (RFC 6265, section 5.1.1).
func cookieDate(v string) (time.Time, bool) {
	clock, day, month, year := [3]int{-1}, -1, -1, -1
	tokens := strings.FieldsFunc(v, func(r rune) bool {
		return r == '\t' || r >= ' ' && r <= '/' || r >= ';' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~'
	})
	for _, token := range tokens {
		switch hms, isClock := cookieClock(token); {
		case isClock && clock[0] < 0:
			clock = hms
			continue
		}
		n, digits := number(token)
		m := -1
		if len(token) >= 3 {
			m = slices.Index(months, strings.ToLower(token[:3]))
		}
		switch {
		case digits >= 1 && digits <= 2 && day < 0:
			day = n
		case m >= 0 && month < 0:
			month = m + 1
		case digits >= 2 && digits <= 4 && year < 0:
			year = n
		}
	}
	switch {
	case year >= 70 && year <= 99:
		year += 1900
	case year >= 0 && year <= 69:
		year += 2000
	}
	if clock[0] < 0 || clock[0] > 23 || clock[1] > 59 || clock[2] > 59 || day < 1 || day > 31 || month < 0 || year < 1601 {
		return time.Time{}, false
	}
	at := time.Date(year, time.Month(month), day, clock[0], clock[1], clock[2], 0, time.UTC)
	return at, at.Day() == day
}

var months = strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")

// number reads the digits that a token begins with, and says how many they are; 0 if there are more than four.
func number(token string) (n, digits int) {
	for digits < len(token) && token[digits] >= '0' && token[digits] <= '9' {
		if digits == 4 {
			return 0, 0
		}
		n = 10*n + int(token[digits]-'0')
		digits++
	}
	return n, digits
}

// cookieClock reads a time of the day, of which each part has a digit or two.
func cookieClock(token string) (hms [3]int, ok bool) {
	parts := strings.SplitN(token, ":", 3)
	if len(parts) != 3 {
		return hms, false
	}
	for i, p := range parts {
		n, digits := number(p)
		if digits < 1 || digits > 2 || i < 2 && digits != len(p) {
			return hms, false
		}
		hms[i] = n
	}
	return hms, true
}

// put replaces, adds or removes a cookie; it reports whether one of this name and path was not there before.
func (j *jar) put(n crawl.Cookie, now time.Time) (fresh bool) {
	gone := n.Expires > 0 && n.Expires <= now.Unix()
	i := slices.IndexFunc(j.cookies, func(c crawl.Cookie) bool { return c.Name == n.Name && c.Path == n.Path })
	switch {
	case i >= 0 && gone:
		j.cookies, j.changed = slices.Delete(j.cookies, i, i+1), true
		return false
	case i >= 0:
		j.changed = j.changed || j.cookies[i] != n
		fresh = !alive(&j.cookies[i], now)
		j.cookies[i] = n
	case gone:
		return false
	default:
		j.cookies, j.changed, fresh = append(j.cookies, n), true, true
	}
	j.shrink(now)
	return fresh
}

// shrink drops what has expired, and then the oldest, where there are too many.
func (j *jar) shrink(now time.Time) {
	size := 0
	for i := range j.cookies {
		size += cookieSize(&j.cookies[i])
	}
	if len(j.cookies) <= maxCookies && size <= maxJar {
		return
	}
	j.cookies = slices.DeleteFunc(j.cookies, func(c crawl.Cookie) bool { return !alive(&c, now) })
	size = 0
	for i := len(j.cookies) - 1; i >= 0; i-- {
		if size += cookieSize(&j.cookies[i]); size > maxJar || len(j.cookies)-i > maxCookies {
			j.cookies = slices.Delete(j.cookies, 0, i+1)
			return
		}
	}
}

func cookieSize(c *crawl.Cookie) int { return len(c.Name) + len(c.Value) + len(c.Path) }

func alive(c *crawl.Cookie, now time.Time) bool { return c.Expires == 0 || c.Expires > now.Unix() }

// header returns the value of the Cookie field for a URL, "" for none: longer paths first (RFC 6265, section 5.4).
func (j *jar) header(u crawl.URL, now time.Time) string {
	var sent []*crawl.Cookie
	for i := range j.cookies {
		c := &j.cookies[i]
		if (!c.Secure || u.Scheme() == "https") && alive(c, now) && pathMatch(u.Path(), c.Path) {
			sent = append(sent, c)
		}
	}
	sent = fitting(sent, maxCookieLine-len(j.fixed))
	slices.SortStableFunc(sent, func(a, b *crawl.Cookie) int { return len(b.Path) - len(a.Path) })
	out := j.fixed
	for _, c := range sent {
		if out != "" {
			out += "; "
		}
		if c.Name != "" {
			out += c.Name + "="
		}
		out += c.Value
	}
	return out
}

// fitting returns those of cookies, the oldest first, that a line of so many bytes has room for. Where it has none for all, some page sets one of its own:
// the newest are sent, and in a third of the line the oldest, among which a session is.
func fitting(cookies []*crawl.Cookie, room int) []*crawl.Cookie {
	size := func(c *crawl.Cookie) int { return len("; ") + len(c.Name) + len("=") + len(c.Value) }
	all := 0
	for _, c := range cookies {
		all += size(c)
	}
	if all <= room {
		return cookies
	}
	n, to := 0, len(cookies)
	for left := room / 3; n < to && size(cookies[n]) <= left; n++ {
		left, room = left-size(cookies[n]), room-size(cookies[n])
	}
	for to > n && size(cookies[to-1]) <= room {
		to--
		room -= size(cookies[to])
	}
	return slices.Delete(cookies, n, to)
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

package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"argosy/internal/crawl"
)

// What is kept of Set-Cookie fields and sent again, by RFC 6265 with what RFC 6265bis adds. Chromium 156 sends the same, but that it refuses
// tabs, and puts a cookie last whose value has changed.
func TestCookies(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		at   string // where it comes from; /a/b where it says nothing
		set  string // fields, divided by newlines
		next string // what is asked for then
		want string
	}{
		{"", "a=1", "", "a=1"},
		{"", " a = 1 2 ;x", "", "a=1 2"},
		{"", `a="1, 2"; Path=/`, "", `a="1, 2"`},
		{"", "a[b]=1\nc(d)=2\n{e}=3\nü=ß", "", "a[b]=1; c(d)=2; {e}=3; ü=ß"},
		{"", "a=b=c", "", "a=b=c"},
		{"", "a=", "", "a="},
		{"", "=1", "", "1"},
		{"", "1", "", "1"},
		{"", "=", "", ""},
		{"", "", "", ""},
		{"", "a=1\x01", "", ""},
		{"", "a=1\t2", "", "a=1\t2"},
		{"", "a=1; Expires=Mon, 23-Nov-26 13:00:00 GMT", "", "a=1"},
		{"", "a=1; Expires=Mon, 23-Nov-26 11:00:00 GMT", "", ""},
		{"", "a=1\na=; Expires=Thu, 01-Jan-70 00:00:01 GMT", "", ""},
		{"", "a=1; Expires=Sat, 01 Jan 00 00:00:00 GMT", "", ""},
		{"", "a=1; expires=Fri Nov 27 2026 10:00:00", "", "a=1"},
		{"", "a=1; Expires=27/Nov/2026", "", "a=1"}, // no time, no date: it is not there
		{"", "a=1; Expires=Wed, 31 Feb 2020 10:00:00 GMT", "", "a=1"},
		{"", "a=1; Expires=Mon, 23 Nov 2026 9:5:1 GMT", "", ""},
		{"", "a=1; Expires=0", "", "a=1"},
		{"", "a=1; Expires=Thu, 01-Jan-70 00:00:01 GMT; Max-Age=60", "", "a=1"},
		{"", "a=1; Max-Age=0", "", ""},
		{"", "a=1; Max-Age=-1", "", ""},
		{"", "a=1; Max-Age=x", "", "a=1"},
		{"", "a=1; Max-Age=", "", "a=1"},
		{"", "a=1; Max-Age=99999999999999999999", "", "a=1"},
		{"", "a=1; PATH=/a/", "", "a=1"},
		{"", "a=1; Path=/c", "", ""},
		{"", "a=1; Path=/c", "/c/d", "a=1"},
		{"", "a=1; Path=/a; Path=/c", "/c/d", "a=1"},
		{"", "a=1; Path=c", "/a/x", "a=1"},
		{"", "a=1", "/b", ""},
		{"", "a=1; Path=/\na=2; Path=/a\nb=3; Path=/", "", "a=2; a=1; b=3"},
		{"", "a=1; Path=/\nb=2; Path=/\na=3; Path=/", "", "a=3; b=2"},
		{"", "a=1; Domain=other.test", "", ""},
		{"", "a=1; Domain=.SITE.test", "", "a=1"},
		{"", "a=1; Domain=te.test", "", ""},
		{"", "a=1; Domain=", "", "a=1"},
		{"", "a=1; Domain=other.test; Domain=site.test", "", "a=1"},
		{"", "a=1; Secure", "", ""},
		{"https", "a=1; secure=no", "", "a=1"},
		{"https", "a=1; Secure", "http", ""},
		{"", "__Secure-a=1", "", ""},
		{"https", "__Secure-a=1; Secure", "", "__Secure-a=1"},
		{"https", "__host-a=1; Secure", "", ""},
		{"https", "__Host-a=1; Secure; Path=/", "", "__Host-a=1"},
		{"https", "__Host-a=1; Secure; Path=/; Domain=site.test", "", ""},
		{"", "a=" + strings.Repeat("x", 4095), "", "a=" + strings.Repeat("x", 4095)},
		{"", "a=" + strings.Repeat("x", 4096), "", ""},
		{"", "a=1; Path=/" + strings.Repeat("x", 1024), "", "a=1"},
		{"", "a=1; HttpOnly; SameSite=Strict; Priority=High", "", "a=1"},
	} {
		u := at(c.at, "/a/b")
		var j jar
		j.set(u, strings.Split(c.set, "\n"), now)
		if c.next != "" {
			u = at(c.next, "/a/b")
		}
		if got := j.header(u, now); got != c.want {
			t.Errorf("%q: %q, want %q", c.set, got, c.want)
		}
	}
}

// at is a URL of the site: a scheme, a path or neither says where it differs from http and a path.
func at(where, path string) crawl.URL {
	scheme := "http"
	if strings.HasPrefix(where, "/") {
		path = where
	} else if where != "" {
		scheme = where
	}
	u, err := crawl.Parse(scheme + "://site.test" + path)
	if err != nil {
		panic(err)
	}
	return u
}

// A site may have many cookies; of more than are kept the oldest make room, and so they do where all are too long together.
func TestManyCookies(t *testing.T) {
	var j jar
	now := time.Now()
	for i := range 3 * maxCookies {
		j.set(at("", "/"), []string{fmt.Sprintf("c%d=%d", i, i)}, now)
	}
	sent := strings.Split(j.header(at("", "/"), now), "; ")
	if len(sent) != maxCookies || sent[len(sent)-1] != fmt.Sprintf("c%d=%[1]d", 3*maxCookies-1) {
		t.Errorf("%d cookies are sent, the last %s", len(sent), sent[len(sent)-1])
	}
	long := strings.Repeat("x", 4000)
	for i := range 3 * maxCookies {
		j.set(at("", "/"), []string{fmt.Sprintf("l%d=%s", i, long)}, now)
	}
	size := 0
	for _, c := range j.cookies {
		size += cookieSize(&c)
	}
	if last := j.cookies[len(j.cookies)-1].Name; size > maxJar || size < maxJar-5000 || last != fmt.Sprint("l", 3*maxCookies-1) {
		t.Errorf("%d bytes are kept, the last is %s", size, last)
	}
}

// A site that sets a cookie on each page is not sent more than servers take (nginx and Apache: 8 KiB a line): what came first, such as a session, and
// what came last are sent. A cookie of the largest size is, whatever else there is.
func TestCookiesFitALine(t *testing.T) {
	var j jar
	now := time.Now()
	j.set(at("", "/"), []string{"session=1"}, now)
	for i := range 170 {
		j.set(at("", "/"), []string{fmt.Sprintf("seen%d=%s", i, strings.Repeat("x", 90))}, now)
	}
	line := j.header(at("", "/"), now)
	if !strings.HasPrefix(line, "session=1; ") || !strings.Contains(line, "seen169=") || len(line) > maxCookieLine || len(line) < maxCookieLine-200 {
		t.Errorf("%d bytes are sent: %.20s", len(line), line)
	}
	j.set(at("", "/"), []string{"large=" + strings.Repeat("x", 4000)}, now)
	line = j.header(at("", "/"), now)
	if !strings.HasPrefix(line, "session=1; ") || !strings.Contains(line, "large=") || len(line) > maxCookieLine {
		t.Errorf("%d bytes are sent: %.20s", len(line), line)
	}
}

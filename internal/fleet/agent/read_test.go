package agent

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/fetch"
	"argosy/internal/page/parse"
)

// Feeds may stand for sitemaps (sitemaps.org, "Other Sitemap formats"): what their items lead to is found.
func TestSitemapIsAFeed(t *testing.T) {
	const atom = `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xml:base="/in/"><entry><link href="page"/></entry></feed>`
	for _, c := range []struct{ mime, body, want string }{
		{"application/rss+xml", `<rss version="2.0"><channel><item><link>http://site.test/page</link></item></channel></rss>`, "/page"},
		{"text/xml", `<rss version="2.0"><channel><item><link>/page</link></item></channel></rss>`, "/page"},
		{"application/octet-stream", `<rss version="2.0"><channel><item><link>/page</link></item></channel></rss>`, "/page"},
		{"application/atom+xml", atom, "/in/page"},
		{"text/html", "<?xml version='1.0'?>\n<urlset><url><loc>http://site.test/page</loc></url></urlset>", "/page"},
		{"text/html", "<a href=/page>an error page</a>", "/page"},
		{"application/xml", "<urlset><url><loc>http://site.test/page</loc></url></urlset>", "/page"},
		{"application/xml", "<urlset><url><loc>Site.test/page</loc></url></urlset>", "/page"},
		{"text/plain; charset=iso-8859-1", "http://site.test/p\xe4ge\n", "/p%C3%A4ge"},
		{"text/html", "<URLSET><URL><LOC>http://site.test/page</LOC></URL></URLSET>", "/page"},
		{"application/xml", "<URLSET><URL><LOC>http://site.test/page</Loc></URL></URLSET>", "/page"},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", c.mime, len(c.body))
			web := answers{"/map": {bytes: with(h, []byte(c.body))}}
			b, _ := runTargets(t, crawl.Target{Flags: crawl.FlagSitemap}, []string{"/map"}, func(*crawl.Job) {}, web.serve)
			if o, found := b.of("/map", c.want); o.State != crawl.Fetched || !found {
				t.Errorf("%s: %v, %s found: %v", c.mime, o.State, c.want, found)
			}
		})
	}
}

// A page that has its reader panic fails alone: the lease goes on.
func TestPanicOfOnePage(t *testing.T) {
	stumble(t, 1)
	synctest.Test(t, func(t *testing.T) {
		const h = "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: 4\r\n\r\n"
		web := answers{"/": {bytes: with(fmt.Sprintf(h, "text/html"), []byte("<a> "))}, "/other": {bytes: with(fmt.Sprintf(h, "image/png"), []byte("icon"))}}
		b, _ := runLease(t, []string{"/", "/other"}, func(*crawl.Job) {}, web.serve)
		bad, _ := b.of("/", "")
		good, _ := b.of("/other", "")
		if bad.State != crawl.Failed || bad.Reason != crawl.KindInternal || bad.Digest == "" || good.State != crawl.Fetched {
			t.Errorf("%v (%s, %q), and the other one %v", bad.State, bad.Reason, bad.Digest, good.State)
		}
	})
}

// A result page that has its reader panic leaves its search to be asked again: nothing is thought to be at an end.
func TestPanicOfAResultPage(t *testing.T) {
	stumble(t, 1)
	l := &lease{a: &Agent{cfg: Config{Logger: slog.New(slog.DiscardHandler)}}, l: crawl.Lease{Asked: &crawl.Asked{Asks: true, Rest: time.Minute}}}
	u, err := crawl.Parse("http://site.test/?q=x")
	if err != nil {
		t.Fatal(err)
	}
	p := &page{url: u, outcome: &crawl.Outcome{State: crawl.Fetched}, resp: &fetch.Response{}}
	if _, err := l.readWhole(p); err != nil || p.outcome.State != crawl.Retry || p.outcome.Answered == nil || p.outcome.Retryable != time.Minute.Milliseconds() {
		t.Errorf("%v, %+v", err, p.outcome)
	}
}

// stumble has the first readers of pages panic.
func stumble(t *testing.T, n int) {
	pages := docs.New
	docs = sync.Pool{New: func() any {
		if n--; n >= 0 {
			return "not what pages are read into"
		}
		return pages()
	}}
	t.Cleanup(func() { docs = sync.Pool{New: pages} })
}

// A page of which a look at a small answer panics, or at a second answer to the same URL, is one like others.
func TestPanicBesideReading(t *testing.T) {
	for name, like := range map[string]crawl.Target{"a glance": {}, "twice": {Mark: crawl.MarkTwice}} {
		stumble(t, 1)
		synctest.Test(t, func(t *testing.T) {
			const body = "<a href=/linked>on</a>"
			h := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nSet-Cookie: a=%s\r\nContent-Length: %d\r\n\r\n", name[:1], len(body))
			b, _ := runTargets(t, like, []string{"/"}, func(*crawl.Job) {}, answers{"/": {bytes: with(h, []byte(body))}}.serve)
			if o, found := b.of("/", "/linked"); o.State != crawl.Fetched || o.Links != 1 || !found {
				t.Errorf("%s: %v (%s), with %d links", name, o.State, o.Reason, o.Links)
			}
		})
	}
}

// What a reader that was stopped in the middle leaves behind is read into by no other one.
func TestPanicKeepsItsPage(t *testing.T) {
	l := &lease{a: &Agent{cfg: Config{Logger: slog.New(slog.DiscardHandler)}}}
	var was *parse.Page
	fault := l.readSafely(crawl.URL{}, func(doc *parse.Page) {
		was = doc
		panic("a fault")
	})
	if fault != "a fault" || docs.Get() == any(was) {
		t.Errorf("%q, and its page is read into again", fault)
	}
}

// What does not say what it is, is what it looks like.
func TestMediaTypeThatIsNone(t *testing.T) {
	const body = "<!DOCTYPE html><a href=/page>"
	for kind, page := range map[string]bool{"": true, "garbage": true, "/": true, "*/*": true, "unknown/unknown": true, "text/plain": false, "x/y": false} {
		synctest.Test(t, func(t *testing.T) {
			h := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", kind, len(body))
			web := answers{"/": {bytes: with(h, []byte(body))}}
			b, _ := runLease(t, []string{"/"}, func(*crawl.Job) {}, web.serve)
			if o, found := b.of("/", "/page"); found != page || o.HTML != page {
				t.Errorf("%q: %s, HTML %v, its link found %v", kind, o.Mime, o.HTML, found)
			}
		})
	}
}

// A Location that is not in UTF-8 leads where its bytes say, as browsers take it.
func TestLocationInLatin1(t *testing.T) {
	for _, c := range []struct{ location, want string }{
		{"/caf\xe9?q=\xe9", "/caf%E9?q=%E9"}, {"/café", "/caf%C3%A9"}, {"/caf%e9", "/caf%E9"}, {"http://site.test/caf\xe9", "/caf%E9"},
	} {
		synctest.Test(t, func(t *testing.T) {
			web := answers{"/": {bytes: []byte("HTTP/1.1 302 Found\r\nLocation: " + c.location + "\r\nContent-Length: 0\r\n\r\n")}}
			b, _ := runLease(t, []string{"/"}, func(*crawl.Job) {}, web.serve)
			if o, found := b.of("/", c.want); !found {
				t.Errorf("%q leads to %q, want %s", c.location, o.Redirect, c.want)
			}
		})
	}
}

// A redirect that leads nowhere is a page, as browsers show it; 300 (Multiple Choices) is one even if it leads somewhere.
func TestRedirectWithoutLocation(t *testing.T) {
	const body = "<a href=/one>one</a> <a href=/two>two</a>"
	for _, c := range []struct {
		head, redirect string
		read           bool
	}{
		{"300 Multiple Choices", "", true},
		{"301 Moved Permanently", "", true},
		{"302 Found\r\nLocation: ", "", true},
		{"302 Found\r\nLocation: javascript:go()", "", true},
		{"302 Found\r\nLocation: http://[", "", true},
		{"302 Found\r\nLocation: /there", "/there", false},
		{"300 Multiple Choices\r\nLocation: /there", "/there", true},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n", c.head, len(body))
			web := answers{"/": {bytes: with(h, []byte(body))}}
			b, _ := runLease(t, []string{"/"}, func(*crawl.Job) {}, web.serve)
			o, one := b.of("/", "/one")
			_, two := b.of("/", "/two")
			_, there := b.of("/", "/there")
			if one != c.read || two != c.read || there != (c.redirect != "") || there != (o.Redirect != "") {
				t.Errorf("%q: links found %v and %v, want %v; redirect %q found %v", c.head, one, two, c.read, o.Redirect, there)
			}
		})
	}
}

// An answer that says that nothing has changed sends nobody away.
func TestNotModifiedIsNoRedirect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := answers{"/": {bytes: []byte("HTTP/1.1 304 Not Modified\r\nLocation: /there\r\n\r\n")}}
		b, _ := runLease(t, []string{"/"}, func(*crawl.Job) {}, web.serve)
		if o, found := b.of("/", "/there"); o.State != crawl.Fetched || o.Redirect != "" || found {
			t.Errorf("%v, leads to %q, which is found: %v", o.State, o.Redirect, found)
		}
	})
}

// What an answer 201 has made, or one of 202 says how far it is, is where its Location says; other answers that are pages send nobody away.
func TestLocationOfWhatWasMade(t *testing.T) {
	for status, want := range map[string]bool{"201 Created": true, "200 OK": false, "202 Accepted": true} {
		synctest.Test(t, func(t *testing.T) {
			web := answers{"/": {bytes: []byte("HTTP/1.1 " + status + "\r\nLocation: /made\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok")}}
			b, _ := runLease(t, []string{"/"}, func(*crawl.Job) {}, web.serve)
			if _, found := b.of("/", "/made"); found != want {
				t.Errorf("%s: found %v", status, found)
			}
		})
	}
}

// A redirect to what is too long to be an address is counted, as a link is.
func TestLongRedirectsAreCounted(t *testing.T) {
	for _, kind := range []string{"text/html", "image/png"} {
		for _, body := range []string{"", "body"} {
			web := answers{"/": {bytes: fmt.Appendf(nil, "HTTP/1.1 302 Found\r\nLocation: /%s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", strings.Repeat("a", 9000), kind, len(body), body)}}
			b, _ := runLease(t, []string{"/"}, func(*crawl.Job) {}, web.serve)
			var left int64
			for _, f := range b.found {
				left += f.Omitted[crawl.ReasonTrapLength]
			}
			if left != 1 || len(b.outcomes) != 1 || b.outcomes[0].State != crawl.Fetched {
				t.Errorf("%s %q: %d counted, %+v", kind, body, left, b.outcomes)
			}
		}
	}
}

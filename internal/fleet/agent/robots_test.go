package agent

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/term"
	"argosy/internal/page/robots"
)

// The rules of the largest robots.txt have a part of their own, so that no message is larger than the log takes; what waits
// with them follows in the next part.
func TestLargeRulesTravelAlone(t *testing.T) {
	l := &lease{a: &Agent{}, job: crawl.Job{Limits: crawl.DefaultLimits()}}
	l.more = sync.NewCond(&l.mu)
	now := time.Now()
	l.hold = term.Hold(term.Of(&l.job.Limits), now)
	l.rep.begin()
	rules := robots.Parse([]byte("user-agent: *\n"+strings.Repeat("disallow:/"+strings.Repeat("x", 88)+"\n", robots.MaxSize/99)), robots.Own).Encode()
	l.rep.change.Robots = &crawl.RobotsChange{State: crawl.RobotsRules, Rules: rules}
	var found crawl.Found
	for range 600 {
		found.Links = append(found.Links, crawl.Link{URL: "http://a.test/" + strings.Repeat("x", 1000)})
	}
	l.rep.addFound(found, nil, 0)
	l.hold.End = term.Ending
	links := 0
	for i := 0; l.hold.End < term.Sealed; i++ {
		p, _ := l.cut(now)
		b, err := crawl.Marshal(&crawl.Entry{Kind: crawl.EntryParts, Parts: []crawl.Part{p}})
		if err != nil || len(b) > 512<<10 {
			t.Errorf("part %d has %d bytes: %v", p.No, len(b), err)
		}
		if (i == 0) != (p.Site.Robots != nil) {
			t.Errorf("part %d: rules %v", p.No, p.Site.Robots != nil)
		}
		for _, f := range p.Found {
			links += len(f.Links)
		}
	}
	if len(rules) < robots.MaxSize*9/10 || links != 600 {
		t.Errorf("%d bytes of rules, %d links", len(rules), links)
	}
}

// Rules are obeyed that come with any status of success, such as that of a proxy that has changed them; those of another status are not.
func TestRulesOfEverySuccess(t *testing.T) {
	for status, denied := range map[int]bool{200: true, 203: true, 206: true, 299: true, 404: false, 304: false} {
		synctest.Test(t, func(t *testing.T) {
			forbidden := &answer{bytes: []byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")}
			rules := "User-agent: *\nDisallow: /x\n"
			web := answers{"/robots.txt": {bytes: fmt.Appendf(nil, "HTTP/1.1 %d So\r\nContent-Length: %d\r\n\r\n%s", status, len(rules), rules)}, "/x": forbidden}
			b, _ := runLease(t, []string{"/x"}, func(j *crawl.Job) { j.Identity.IgnoreRobots = false }, web.serve)
			if o, _ := b.of("/x", "/"); denied != (o.Reason == crawl.ReasonRobots) || denied != (forbidden.asked.Load() == 0) {
				t.Errorf("%d: %s %q", status, o.State, o.Reason)
			}
		})
	}
}

// Rules that are plain text are obeyed, whatever coding their header names; compressed ones that are damaged are not rules,
// and their site is not asked.
func TestRulesWithWrongCoding(t *testing.T) {
	rules := []byte("User-agent: *\nDisallow: /x\n")
	for _, c := range []struct {
		coding        string
		body          []byte
		asked, denied bool
	}{
		{"utf-8", rules, true, true},
		{"gzip", rules, true, true},
		{"gzip", gzipped(rules), true, true},
		{"", gzipped(rules), true, true}, // a file that is compressed itself
		{"gzip", append(gzipped(rules), '\n'), true, true},
		{"gzip", gzipped(rules)[:20], false, false},
		{"unknown", gzipped(rules), false, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			page := &answer{bytes: []byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")}
			forbidden := &answer{bytes: page.bytes}
			h := head("Content-Encoding: "+c.coding, fmt.Sprintf("Content-Length: %d", len(c.body)))
			web := answers{"/robots.txt": {bytes: with(h, c.body)}, "/page": page, "/x": forbidden}
			b, _ := runLease(t, []string{"/page", "/x"}, func(j *crawl.Job) { j.Identity.IgnoreRobots = false }, web.serve)
			o, _ := b.of("/x", "/")
			if asked, denied := page.asked.Load() > 0, o.Reason == crawl.ReasonRobots; asked != c.asked || denied != c.denied || forbidden.asked.Load() > 0 {
				t.Errorf("%s: the page was asked for: %v; the other one: %v, %q", c.coding, asked, forbidden.asked.Load() > 0, o.Reason)
			}
		})
	}
}

// Sites speak to a crawler by the name in its User-Agent field. Rules that were read for another crawler do not count.
func TestRobotsSpeakToTheUserAgent(t *testing.T) {
	const file = "User-agent: mycrawler\nDisallow: /mine\n\nUser-agent: argosy\nDisallow: /ours\n\nUser-agent: *\nDisallow: /all\n"
	theirs := robots.Parse([]byte(file), robots.Own).Encode()
	for _, c := range []struct{ agent, kept, refused string }{
		{"MyCrawler/1.0 (+https://my.example/)", "", "/mine"},
		{"Mozilla/5.0 (compatible; MyCrawler/1.0)", "", "/mine"},
		{"argosy/1.0", "", "/ours"},
		{"another/1.0", "", "/all"},
		{"mycrawler/1.0", "kept", "/mine"},
		{"argosy/1.0", "kept", "/ours"},
	} {
		synctest.Test(t, func(t *testing.T) {
			page := &answer{bytes: []byte(head("Content-Length: 2") + "ok")}
			rules := &answer{bytes: with(head(fmt.Sprintf("Content-Length: %d", len(file))), []byte(file))}
			web := answers{"/robots.txt": rules, "/mine": page, "/ours": page, "/all": page}
			b, _ := runTargets(t, crawl.Target{}, []string{"/mine", "/ours", "/all"}, func(j *crawl.Job) {
				j.Identity.IgnoreRobots, j.Identity.UserAgent = false, c.agent
			}, web.serve, func(b *bench) {
				if c.kept != "" {
					*b.dispatch.Site = crawl.SiteState{Robots: theirs, RobotsState: crawl.RobotsRules, RobotsTTLMS: time.Hour.Milliseconds()}
				}
			})
			for _, path := range []string{"/mine", "/ours", "/all"} {
				if o, _ := b.of(path, "/"); (o.Reason == crawl.ReasonRobots) != (path == c.refused) {
					t.Errorf("%s, %q: %s: %+v", c.agent, c.kept, path, o.Reason)
				}
			}
			if asked := rules.asked.Load() > 0; asked != (c.kept == "" || c.agent != "argosy/1.0") {
				t.Errorf("%s, %q: robots.txt was asked for: %v", c.agent, c.kept, asked)
			}
		})
	}
}

// What a page asks of a crawler by its name, it asks of the one in the User-Agent field.
func TestDirectivesSpeakToTheUserAgent(t *testing.T) {
	for _, c := range []struct{ field, meta string }{
		{"X-Robots-Tag: other: nofollow", `<meta name="MyCrawler" content="nofollow">`},
		{"X-Robots-Tag: mycrawler: nofollow", ""},
	} {
		for agent, want := range map[string]bool{"mycrawler/1.0": true, "argosy/1.0": false} {
			synctest.Test(t, func(t *testing.T) {
				body := c.meta + `<a href="/next">next</a>`
				none := &answer{bytes: []byte("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")}
				web := answers{"/robots.txt": none, "/": {bytes: with(head(c.field, fmt.Sprintf("Content-Length: %d", len(body))), []byte(body))}}
				b, _ := runLease(t, []string{"/"}, func(j *crawl.Job) { j.Identity.UserAgent, j.Identity.IgnoreRobots = agent, false }, web.serve)
				links := 0
				for _, f := range b.found {
					for _, l := range f.Links {
						if links++; l.NoFollow != want {
							t.Errorf("%s of %q, %q: %+v", agent, c.field, c.meta, l)
						}
					}
				}
				if links != 1 {
					t.Errorf("%d links", links)
				}
			})
		}
	}
}

// A robots.txt that redirects is followed whatever the delay, also beyond the lease's time: a lease that gave its site back on the way would
// begin anew, for ever.
func TestRobotsAreFollowedSlowly(t *testing.T) {
	for _, delay := range []time.Duration{time.Second, 45 * time.Second, 90 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			web := answers{
				"/robots.txt": {bytes: []byte("HTTP/1.1 301 Moved\r\nLocation: /more\r\nContent-Length: 0\r\n\r\n")},
				"/more":       {bytes: []byte("HTTP/1.1 301 Moved\r\nLocation: /rules\r\nContent-Length: 0\r\n\r\n")},
				"/rules":      {bytes: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 26\r\n\r\nUser-agent: *\nDisallow: /x")},
				"/page":       {bytes: []byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")},
			}
			runLease(t, []string{"/page"}, func(j *crawl.Job) { j.Identity.IgnoreRobots, j.Limits.Delay = false, delay }, web.serve)
			if rules, page := web["/rules"].asked.Load(), web["/page"].asked.Load(); rules != 1 || page > 1 || delay == time.Second && page == 0 {
				t.Errorf("at a delay of %v the rules were asked for %d times, the page %d times", delay, rules, page)
			}
		})
	}
}

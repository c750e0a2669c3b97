package robots

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Facts of RFC 9309 and of the cases that the reference parser publishes.
func TestAllowed(t *testing.T) {
	for _, c := range []struct {
		name, robots, path string
		want               bool
	}{
		{"empty", "", "/x", true},
		{"no group for us", "user-agent: other\ndisallow: /\n", "/x", true},
		{"our group", "user-agent: argosy\ndisallow: /\n", "/x", false},
		{"case of the token", "User-Agent: ARGOSY\nDisallow: /\n", "/x", false},
		{"token before a version", "user-agent: argosy/1.0\ndisallow: /\n", "/x", false},
		{"token is not a prefix", "user-agent: argo\ndisallow: /\n", "/x", true},
		{"longer token is another", "user-agent: argosy-images\ndisallow: /\n", "/x", true},
		{"ours before star", "user-agent: *\ndisallow: /\nuser-agent: argosy\nallow: /\n", "/x", true},
		{"star otherwise", "user-agent: *\ndisallow: /\n", "/x", false},
		{"star with a comment", "user-agent: * # all\ndisallow: /\n", "/x", false},
		{"groups of one token merge", "user-agent: argosy\ndisallow: /a\nuser-agent: b\ndisallow: /\nuser-agent: argosy\ndisallow: /c\n", "/c", false},
		{"groups of one token merge, first", "user-agent: argosy\ndisallow: /a\nuser-agent: b\ndisallow: /\nuser-agent: argosy\ndisallow: /c\n", "/a", false},
		{"several agents of one group", "user-agent: a\nuser-agent: argosy\ndisallow: /a\n", "/a", false},
		{"empty line does not end a group", "user-agent: argosy\n\ndisallow: /a\n", "/a", false},
		{"rules before a group", "disallow: /\nuser-agent: argosy\nallow: /a\n", "/b", true},
		{"longest match allows", "user-agent: *\nallow: /example/page/\ndisallow: /example/page/disallowed.gif\n", "/example/page/x", true},
		{"longest match disallows", "user-agent: *\nallow: /example/page/\ndisallow: /example/page/disallowed.gif\n", "/example/page/disallowed.gif", false},
		{"order does not matter", "user-agent: *\ndisallow: /x/page.html\nallow: /x/\n", "/x/page.html", false},
		{"equal length: allow", "user-agent: *\ndisallow: /x\nallow: /x\n", "/x", true},
		{"paths have case", "user-agent: *\ndisallow: /x/\n", "/X/", true},
		{"prefix", "user-agent: *\ndisallow: /fish\n", "/fishheads/yummy.html", false},
		{"not in the middle", "user-agent: *\ndisallow: /fish\n", "/a/fish", true},
		{"directory", "user-agent: *\ndisallow: /fish/\n", "/fish", true},
		{"star in the middle", "user-agent: *\ndisallow: /*.php\n", "/folder/filename.php?parameters", false},
		{"star needs the rest", "user-agent: *\ndisallow: /*.php\n", "/windows.PHP", true},
		{"dollar", "user-agent: *\ndisallow: /*.php$\n", "/filename.php", false},
		{"dollar is the end", "user-agent: *\ndisallow: /*.php$\n", "/filename.php?parameters", true},
		{"dollar in the middle is itself", "user-agent: *\ndisallow: /a$b\n", "/a$bc", false},
		{"trailing star", "user-agent: *\ndisallow: /fish*\n", "/fish.html", false},
		{"two stars", "user-agent: *\ndisallow: /a*b*c$\n", "/a1b2b3c", false},
		{"two stars, wrong end", "user-agent: *\ndisallow: /a*b*c$\n", "/a1b2b3cd", true},
		{"$ alone", "user-agent: *\ndisallow: /$\n", "/", false},
		{"$ alone, more", "user-agent: *\ndisallow: /$\n", "/a", true},
		{"empty disallow", "user-agent: *\ndisallow:\n", "/x", true},
		{"percent-encoding of the rule", "user-agent: *\ndisallow: /foo/bar/ツ\n", "/foo/bar/%E3%83%84", false},
		{"case of percent-encoding", "user-agent: *\ndisallow: /foo/%e3%83%84\n", "/foo/%E3%83%84", false},
		{"encoded unreserved", "user-agent: *\ndisallow: /%62%61%72\n", "/bar", false},
		{"query", "user-agent: *\ndisallow: /x?a=1\n", "/x?a=1&b=2", false},
		{"robots.txt itself", "user-agent: *\ndisallow: /\n", "/robots.txt", true},
		{"byte order mark", "\xef\xbb\xbfuser-agent: *\ndisallow: /\n", "/x", false},
		{"CR line ends", "user-agent: *\rdisallow: /a\r", "/a", false},
		{"CRLF line ends", "user-agent: *\r\ndisallow: /a\r\n", "/a", false},
		{"spaces around", "  user-agent :  *  \n  disallow :  /a  \n", "/a", false},
		{"comment in a rule", "user-agent: *\ndisallow: /a#b\n", "/a", false},
		{"misspelling", "user-agent: *\ndissallow: /a\n", "/a", false},
		{"unknown line does not end a group", "user-agent: a\nfoo: bar\nuser-agent: argosy\ndisallow: /x\n", "/x", false},
		{"sitemap does not end a group", "user-agent: a\nsitemap: http://x/\nuser-agent: argosy\ndisallow: /x\n", "/x", false},
		{"no colon", "user-agent *\ndisallow /\n", "/x", true},
	} {
		if got := Parse([]byte(c.robots), "argosy").Allowed(c.path); got != c.want {
			t.Errorf("%s: %q is allowed: %v, want %v", c.name, c.path, got, c.want)
		}
	}
}

// The example of RFC 9309, section 5.1.
func TestExampleOfTheRFC(t *testing.T) {
	const file = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\nUser-Agent: foobot\nDisallow:/\nAllow:/example/page.html\n" +
		"Allow:/example/allowed.gif\n\nUser-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\nUser-Agent: quxbot\n"
	for _, c := range []struct {
		agent, path string
		want        bool
	}{
		{"foobot", "/example/page.html", true}, {"foobot", "/example/allowed.gif", true}, {"foobot", "/x", false},
		{"barbot", "/example/page.html", false}, {"barbot", "/example/", true}, {"bazbot", "/example/page.html", false},
		{"quxbot", "/example/", true}, {"quxbot", "/a.gif", true},
		{"other", "/a.gif", false}, {"other", "/a.gif?x", true}, {"other", "/example/page.html", false}, {"other", "/publications/x", true},
	} {
		if got := Parse([]byte(file), c.agent).Allowed(c.path); got != c.want {
			t.Errorf("%s on %s: %v, want %v", c.agent, c.path, got, c.want)
		}
	}
}

func TestExtras(t *testing.T) {
	r := Parse([]byte("user-agent: *\ncrawl-delay: 2.5\nsitemap: http://a/s.xml\nuser-agent: argosy\ncrawl-delay: 7\nallow: /\nsitemap: /t.xml\n"), "argosy")
	if r.Delay != 7*time.Second || !r.HasDelay || len(r.Sitemaps) != 2 {
		t.Errorf("delay %v %v, sitemaps %v", r.Delay, r.HasDelay, r.Sitemaps)
	}
	if r := Parse([]byte("user-agent: *\ncrawl-delay: -1\ncrawl-delay: x\n"), "argosy"); r.HasDelay {
		t.Errorf("delay %v from nonsense", r.Delay)
	}
}

// What a site record keeps says the same as the file did.
func TestTextKeepsTheRules(t *testing.T) {
	file := "user-agent: x\ndisallow: /\nuser-agent: argosy\ndisallow: /a/*\nallow: /a/b$\ncrawl-delay: 0.5\nsitemap: http://a/s.xml\n"
	r := Parse([]byte(file), "argosy")
	again := Parse(r.Text(), "argosy")
	if fmt.Sprint(r) != fmt.Sprint(again) {
		t.Errorf("%+v became %+v", r, again)
	}
}

func TestLimits(t *testing.T) {
	big := append(bytes.Repeat([]byte("#"), MaxSize-20), []byte("\nuser-agent: *\ndisallow: /\n")...)
	if !Parse(big, "argosy").Allowed("/x") {
		t.Error("a rule beyond 500 KiB was obeyed")
	}
	hard := Parse([]byte("user-agent: *\ndisallow: /"+strings.Repeat("*a", 2000)+"$\n"), "argosy")
	if hard.Allowed("/" + strings.Repeat("a", 8000)) {
		t.Error("many stars do not match")
	}
	if !hard.Allowed("/" + strings.Repeat("a", 1000)) {
		t.Error("many stars match too little")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("user-agent: *\ndisallow: /*a$\nallow: /%zz"), "/x")
	f.Fuzz(func(t *testing.T, body []byte, path string) {
		r := Parse(body, "argosy")
		if r.Allowed(path) != Parse(r.Text(), "argosy").Allowed(path) && len(r.Text()) < MaxSize {
			t.Errorf("kept rules differ from the file's for %q", path)
		}
	})
}

package robots

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
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
		{"no colon", "User-agent *\nDisallow /a\n", "/a", false},
		{"no colon, tab", "User-agent:*\nDisallow\t \t/a # all of it\n", "/a", false},
		{"no colon, three words", "User-agent: *\nDisallow /a /b\n", "/a", true},
		{"no colon, no value", "User-agent: *\nDisallow\nAllow \n", "/a", true},
		{"key that goes on", "User-agents: *\nDisallowed: /a\n", "/a", false},
		{"key in a word", "User-agent: *\nnot-disallow: /a\n", "/a", true},
		{"unknown line does not end a group", "user-agent: a\nfoo: bar\nuser-agent: argosy\ndisallow: /x\n", "/x", false},
		{"sitemap does not end a group", "user-agent: a\nsitemap: http://x/\nuser-agent: argosy\ndisallow: /x\n", "/x", false},
		{"no-break space", "user-agent:\u00a0*\u00a0\n\u00a0disallow\u00a0: /a\u00a0\n", "/a", false},
		{"no-break space of Latin-1", "user-agent: *\xa0\n\xa0disallow:\xa0/a\xa0\n", "/a", false},
		{"no-break space before a remark", "user-agent: *\u00a0all of you\ndisallow: /a\n", "/a", false},
		{"a letter that ends in the byte of a no-break space", "user-agent: *\ndisallow: /\u00e0\n", "/%C3%A1", true},
		{"a byte order mark inside is no white space", "user-agent: *\n\xef\xbb\xbfdisallow: /a\n", "/a", true},
		{"CRLF in the middle of CR and LF", "user-agent: *\r\n\r\r\n\ndisallow: /a", "/a", false},
		{"the last line needs no end", "user-agent: *\ndisallow: /a", "/a", false},
		{"a space in a path", "user-agent: *\ndisallow: /a b\n", "/a%20b", false},
		{"what URLs encode and rules need not", "user-agent: *\ndisallow: /{a}\"<>^`|\n", "/%7Ba%7D%22%3C%3E%5E%60%7C", false},
		{"an apostrophe in a query", "user-agent: *\ndisallow: /?q='a'\n", "/?q=%27a%27", false},
		{"encoded slash is none", "user-agent: *\ndisallow: /a%2Fb\n", "/a/b", true},
		{"encoded slash, itself", "user-agent: *\ndisallow: /a%2fb\n", "/a%2Fb", false},
		{"encoded percent sign", "user-agent: *\ndisallow: /a%252F\n", "/a%2F", true},
		{"a percent sign that encodes nothing", "user-agent: *\ndisallow: /100%\n", "/100%25", false},
		{"encoded star in a URL", "user-agent: *\ndisallow: /a%2Ab\n", "/a%2Ab", false},
		{"encoded star is no wildcard", "user-agent: *\ndisallow: /a%2Ab\n", "/axb", true},
		{"wildcard matches a star", "user-agent: *\ndisallow: /a*b\n", "/a**b", false},
		{"encoded dollar is no end", "user-agent: *\ndisallow: /a%24\n", "/a$b", false},
		{"encoded dollar and the end", "user-agent: *\ndisallow: /a%24$\n", "/a$b", true},
		{"half an encoded star", "user-agent: *\ndisallow: /a%2\n", "/a*", true},
		{"a path where a query was meant", "user-agent: *\ndisallow: /*/print\n", "/a?b/print", false},
	} {
		if got := Parse([]byte(c.robots), "argosy").Allowed(c.path); got != c.want {
			t.Errorf("%s: %q is allowed: %v, want %v", c.name, c.path, got, c.want)
		}
	}
}

// A file that an editor has saved in UTF-16 says what it says in UTF-8, with a byte order mark and without; one in Latin-1 its bytes.
func TestEncodings(t *testing.T) {
	const file = "User-agent: *\r\nDisallow: /caf\u00e9\r\nDisallow: /\U0001F600\r\nSitemap: http://site.test/s.xml"
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, text := range []string{file, "\ufeff" + file} {
			var body []byte
			for _, unit := range utf16.Encode([]rune(text)) {
				body = order.AppendUint16(body, unit)
			}
			for _, cut := range []int{0, 1} { // one that is cut in the middle of a character
				r := Parse(body[:len(body)-cut], "argosy")
				if r.Allowed("/caf%C3%A9") || r.Allowed("/%F0%9F%98%80") || !r.Allowed("/cafe") || len(r.Sitemaps) != 1 {
					t.Errorf("%v, %q: %+v", order, text[:4], r)
				}
			}
			long := bytes.Repeat(body, 1+3*MaxSize/len(body)) // of what is too long whole lines are read
			if r := Parse(long, "argosy"); len(r.rules) == 0 || len(r.rules) > 2*MaxSize/len(file)+2 || r.Allowed("/caf%C3%A9") {
				t.Errorf("%v: %d rules of a long file", order, len(r.rules))
			}
		}
	}
	if r := Parse([]byte("User-agent: *\nDisallow: /caf\xe9\n"), "argosy"); r.Allowed("/caf%E9") || !r.Allowed("/caf%C3%A9") {
		t.Error("a rule in Latin-1 is not its bytes")
	}
	for _, body := range []string{"", "a", "\xff", "\xff\xfe", "\x00\x00", "a\x00"} {
		if r := Parse([]byte(body), "argosy"); !r.Empty() {
			t.Errorf("%q has rules", body)
		}
	}
}

// The tables of RFC 9309, sections 2.2.2 and 2.2.3, and the example of section 5.2: what each pattern matches.
func TestPatternsOfTheRFC(t *testing.T) {
	for _, c := range []struct {
		rules, path string
		want        bool
	}{
		// 2.2.2: "Path to Match", for the path of a rule as it stands and as it is encoded.
		{"disallow: /foo/bar?baz=quz", "/foo/bar?baz=quz", false},
		{"disallow: /foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", false},
		{"disallow: /foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", false},
		{"disallow: /foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar", false},
		{"disallow: /foo/bar/\u30c4", "/foo/bar/%E3%83%84", false},
		{"disallow: /foo/bar/%E3%83%84", "/foo/bar/%E3%83%84", false},
		{"disallow: /foo/bar/%62%61%7A", "/foo/bar/baz", false},
		// 2.2.3: the special characters, then those that mean themselves.
		{"disallow: / # comment in line\n# comment on its own line", "/x", false},
		{"disallow: /this/path/exactly$", "/this/path/exactly", false},
		{"disallow: /this/path/exactly$", "/this/path/exactly/", true},
		{"disallow: /this/*/exactly", "/this/path/exactly", false},
		{"disallow: /this/*/exactly", "/this/long/path/exactly/so", false},
		{"disallow: /this/*/exactly", "/this/exactly", true},
		{"disallow: /path/file-with-a-%2A.html", "/path/file-with-a-*.html", false},
		{"disallow: /path/file-with-a-%2A.html", "/path/file-with-a-x.html", true},
		{"disallow: /path/foo-%24", "/path/foo-$", false},
		{"disallow: /path/foo-%24", "/path/foo-", true},
		// 5.2: the longest match.
		{"allow: /example/page/\ndisallow: /example/page/disallowed.gif", "/example/page/disallowed.gif", false},
		{"allow: /example/page/\ndisallow: /example/page/disallowed.gif", "/example/page/other.gif", true},
	} {
		if got := Parse([]byte("user-agent: *\n"+c.rules), "argosy").Allowed(c.path); got != c.want {
			t.Errorf("%q: %q is allowed: %v, want %v", c.rules, c.path, got, c.want)
		}
	}
}

// The examples of RFC 9309, section 2.2.1: the product token in the User-Agent field and in the file, and two groups that
// are one.
func TestGroupsOfTheRFC(t *testing.T) {
	const one = "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: ExampleBot\ndisallow: /baz\n"
	for _, product := range []string{"ExampleBot", "examplebot"} {
		r := Parse([]byte(one), product)
		for path, want := range map[string]bool{"/foo": false, "/bar": false, "/baz": false, "/qux": true} {
			if got := r.Allowed(path); got != want {
				t.Errorf("%s on %s: %v, want %v", product, path, got, want)
			}
		}
	}
	if !Parse([]byte(one), "OtherBot").Allowed("/foo") {
		t.Error("somebody else's group is obeyed")
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
	long := Parse([]byte("user-agent: *\ncrawl-delay: 31536000\n"), "argosy")
	if kept, err := Decode(long.Encode()); err != nil || kept.Delay != maxDelay*time.Second || !kept.HasDelay {
		t.Errorf("a year is %v, %v", kept.Delay, err)
	}
	if r := Parse([]byte("user-agent: *\ncrawl-delay: -1\ncrawl-delay: x\n"), "argosy"); r.HasDelay {
		t.Errorf("delay %v from nonsense", r.Delay)
	}
}

// The size limit cuts whole lines off: half a rule is a broader one.
func TestSizeLimit(t *testing.T) {
	head := "user-agent: *\n#"
	pad := func(last string, upTo int) string { // last begins so that its first upTo bytes are within the limit
		return head + strings.Repeat("x", MaxSize-upTo-len(head)-1) + "\n" + last
	}
	const line = "disallow: /private/"
	for upTo, want := range map[int]bool{len("disallow: /"): true, len(line) - 1: true, len(line): false, 3: true} {
		for _, more := range []string{"\n", "\r\n", "\nallow: /\n"} {
			r := Parse([]byte(pad(line+more, upTo)), "argosy")
			if !r.Allowed("/x") {
				t.Errorf("cut after %d bytes of %q: everything is refused", upTo, line+more)
			}
			if got := r.Allowed("/private/x"); got != want {
				t.Errorf("cut after %d bytes of %q: /private/x is allowed: %v", upTo, line+more, got)
			}
		}
	}
	if r := Parse([]byte(pad(line, len(line))), "argosy"); r.Allowed("/private/x") {
		t.Error("the last line of a file that is exactly as large as the limit does not count")
	}
	if r := Parse([]byte(pad(line+"more", len(line))), "argosy"); !r.Allowed("/private/x") {
		t.Error("a line that goes on beyond the limit counts")
	}
	if r := Parse(bytes.Repeat([]byte("disallow:/"), MaxSize), "argosy"); !r.Allowed("/") {
		t.Error("a line longer than the limit counts")
	}
}

func TestSitemapsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range maxSitemaps + 7 {
		b.WriteString("sitemap: http://a.test/" + strings.Repeat("x", i%9) + "\n")
	}
	b.WriteString("sitemap:\n")
	r := Parse([]byte("sitemap: /"+strings.Repeat("y", maxSitemap)+"\n"+b.String()), "argosy")
	if len(r.Sitemaps) != maxSitemaps || r.SitemapsLeft != 8 {
		t.Errorf("%d sitemaps kept, %d left", len(r.Sitemaps), r.SitemapsLeft)
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

// RFC 9309, section 2.2.1: the product token is part of what a crawler says of itself.
func TestProductOfUserAgent(t *testing.T) {
	for field, want := range map[string]string{
		"argosy/1.0": "argosy", "MyCrawler/2.1 (+https://my.example/)": "mycrawler", "example bot": "example", "my-crawler_x": "my-crawler_x",
		"Mozilla/5.0 (compatible; ExampleBot/0.1; https://www.example.com/bot.html)":                       "examplebot",
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; Compatible;Bot9/2.1) Chrome/1.2 Safari/537.36": "bot9",
		"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0":                           Own,
		"": Own, "  ": Own, "2bots/1": Own, "(comment) bot/1": Own, "Mozilla/5.0 (compatible; )": Own, "bücher/1": "b",
	} {
		if got := Product(field); got != want {
			t.Errorf("%q: %q, want %q", field, got, want)
		}
	}
	if Parse([]byte("user-agent: bot\ndisallow: /\n"), Product("Bot9/2.1")).Allowed("/x") {
		t.Error("what is behind the product token of a name counts")
	}
}

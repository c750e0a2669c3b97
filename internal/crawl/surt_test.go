package crawl

import (
	"strings"
	"testing"
)

const (
	id32  = "0123456789abcdefghijklemopqrstuv"
	asp24 = "4hqa0555fwsecu455xqckv45"
)

// keyRules are the rules of index keys, each with addresses whose keys follow from it: most are those of the key maker's
// published tests (of the Wayback Machine's WaybackURLKeyMaker, GoogleURLCanonicalizer, IAURLCanonicalizer and
// URLRegexTransformer), as far as they are http.
var keyRules = []struct {
	rule string
	keys []string // address, key, address, key, …
}{
	{"the host's labels stand in reverse, before a parenthesis", []string{
		"http://archive.org/", "org,archive)/",
		"http://archive.org", "org,archive)/",
		"https://archive.org/", "org,archive)/",
		"http://a.b.example.co.uk/x", "uk,co,example,b,a)/x",
		"http://localhost/", "localhost)/",
		"http://123.123.net/", "net,123,123)/",
		"http://100.100.100.100.org/", "org,100,100,100,100)/",
		"http://a_b.c-d.test/", "test,c-d,a_b)/",
	}},
	{"www, with a number or without, is left out once", []string{
		"http://www.archive.org/", "org,archive)/",
		"http://www34.archive.org/index.html", "org,archive)/index.html",
		"http://www12.foo.com/", "com,foo)/",
		"http://www2foo.com/", "com,www2foo)/",
		"http://www2.www2foo.com/", "com,www2foo)/",
		"http://www.www2.foo.com/", "com,foo,www2)/",
		"http://www.com/", "com)/",
		"http://www/", "www)/",
		"http://ww.foo.com/", "com,foo,ww)/",
		"http://foo.www.com/", "com,www,foo)/",
	}},
	{"hosts are in lower case and without dots at their ends, in ASCII", []string{
		"http://ARCHIVE.ORG/", "org,archive)/",
		"http://www.GOOgle.com/", "com,google)/",
		"http://www.google.com./", "com,google)/",
		"http://www.google.com.../", "com,google)/",
		"http://bücher.ch:8080/", "ch,xn--bcher-kva:8080)/",
		"http://☃.com/", "com,xn--n3h)/",
		"http://%77%77%77%2E%65%62%61%79%2E%63%6F%6D/", "com,ebay)/",
	}},
	{"IPv4 addresses are written with four numbers and reversed like names", []string{
		"http://192.168.1.254/info/", "254,1,168,192)/info",
		"http://127.0.0.1:8080/", "1,0,0,127:8080)/",
		"http://3279880203/blah", "11,0,127,195)/blah",
		"http://017.0.0.1/", "1,0,0,15)/",
		"http://10.0.258/", "2,1,0,10)/",
		"http://%31%36%38%2e%31%38%38%2e%39%39%2e%32%36/%2E%73%65%63%75%72%65/", "26,99,188,168)/.secure",
	}},
	{"IPv6 addresses stand without brackets", []string{
		"http://[::1]/", "::1)/",
		"http://[2001:DB8::1]:8080/A", "2001:db8::1:8080)/a",
	}},
	{"the scheme's own port is left out, another stays", []string{
		"http://www.archive.org:80/", "org,archive)/",
		"https://www.archive.org:80/", "org,archive:80)/",
		"http://www.archive.org:443/", "org,archive:443)/",
		"https://www.archive.org:443/", "org,archive)/",
		"http://www.gotaport.com:1234/", "com,gotaport:1234)/",
		"http://mineral.galleries.com:/minerals/chabazit.htm", "com,galleries,mineral)/minerals/chabazit.htm",
		"http://archive.org:0/", "org,archive)/",
	}},
	{"user and password are left out, and so is the fragment", []string{
		"http://user@archive.org/", "org,archive)/",
		"http://user:pass@www.archive.org:81/x", "org,archive:81)/x",
		"http://www.evil.com/blah#frag", "com,evil)/blah",
		"http://evil.com/foo#bar#baz", "com,evil)/foo",
		"http://www.archive.org:8080/index.html?query#foo", "org,archive:8080)/index.html?query",
		"http://www.archive.org:8080?#foo", "org,archive:8080)/",
	}},
	{"everything is decoded until nothing is encoded, then encoded once, in lower case", []string{
		"http://host/%25%32%35", "host)/%25",
		"http://host/%25%32%35%25%32%35", "host)/%25%25",
		"http://host/%2525252525252525", "host)/%25",
		"http://host/asdf%25%32%35asd", "host)/asdf%25asd",
		"http://host/%%%25%32%35asd%%", "host)/%25%25%25asd%25%25",
		"http://host/%", "host)/%25",
		"http://host/%2", "host)/%252",
		"http://host/%4%31", "host)/a",
		"http://host/%!A%21%21%25", "host)/%25!a!!%25",
		"http://host/?%41=%2542", "host)/?a=b",
		"http://host/?q=%2525", "host)/?q=%25",
		"http://host/~%7E%257e", "host)/~~~",
		"http://195.127.0.11/uploads/%20%20%20%20/.verify/", "11,0,127,195)/uploads/%20%20%20%20/.verify",
		"http://host/a b", "host)/a%20b",
		"http://host/a+b?c+d=e+f", "host)/a+b?c+d=e+f",
	}},
	{"controls, spaces, number signs, percent signs and what is not ASCII stay encoded, nothing else does", []string{
		"http://host.com/ab%23cd", "com,host)/ab%23cd",
		"http://host.com/?ab%23cd", "com,host)/?ab%23cd",
		"http://host/%257Ea%2521b%2540c%2523d%2524e%25f%255E00%252611%252A22%252833%252944_55%252B", "host)/~a!b@c%23d$e%25f^00&11*22(33)44_55+",
		"http://example.com/app?item=Wroc%C5%82aw", "com,example)/app?item=wroc%c5%82aw",
		"http://example.com/Wrocław", "com,example)/wroc%c5%82aw",
		"http://host/%E9", "host)/%e9",
		"http://host/%00%1F%7F", "host)/%00%1f%7f",
		"http://host/%22%3C%3E%5C%5E%60%7B%7C%7D", "host)/\"<>\\^`{|}",
		"http://host/a%3Fb?c%3Fd", "host)/a?b?c?d",
		"http://www.google.com/foo\tbar\rbaz\n2", "com,google)/foobarbaz2",
	}},
	{"paths are in lower case, without dot segments", []string{
		"http://archive.org/Index.HTML", "org,archive)/index.html",
		"http://www.google.com/blah/..", "com,google)/",
		"http://host/a/./b/../c", "host)/a/c",
		"http://host/a/%2E%2E/b", "host)/b",
		"http://host/a%2F..%2Fb", "host)/b",
		"http://host/%2e%2E%2f%2fx", "host)/../x", // there is nothing to go up from: it stays
	}},
	{"empty segments are left out, and so is the slash at the end", []string{
		"http://archive.org/goo/", "org,archive)/goo",
		"http://www.archive.org/big/", "org,archive)/big",
		"http://host.com//twoslashes?more//slashes", "com,host)/twoslashes?more//slashes",
		"http://host//", "host)/",
		"http://host/a//b///c//", "host)/a/b/c",
		"http://host/a/%2F/b%2F", "host)/a/b",
		"http://evil.com/foo;", "com,evil)/foo;",
		"http://host/photos/36050182@N05/", "host)/photos/36050182@n05",
	}},
	{"an empty query is left out, a question mark in one is not", []string{
		"http://archive.org/index.html?", "org,archive)/index.html",
		"http://archive.org/goo/?", "org,archive)/goo",
		"http://www.google.com/q?r?", "com,google)/q?r?",
		"http://www.google.com/q?r?s", "com,google)/q?r?s",
		"http://www.google.com/q??", "com,google)/q??",
		"http://evil.com/foo?bar;", "com,evil)/foo?bar;",
	}},
	{"parameters are in the order of name, then value; one without a value comes first", []string{
		"http://archive.org/goo/?b&a", "org,archive)/goo?a&b",
		"http://archive.org/goo/?a=2&b&a=1", "org,archive)/goo?a=1&a=2&b",
		"http://archive.org/?b=a&b=b&a=b", "org,archive)/?a=b&b=a&b=b",
		"http://archive.org/?b=b&a=b&b=a&a=a", "org,archive)/?a=a&a=b&b=a&b=b",
		"http://archive.org/?a=1&", "org,archive)/?&a=1",
		"http://archive.org/?a&a=", "org,archive)/?a&a=",
		"http://archive.org/?a=&a", "org,archive)/?a&a=",
		"http://archive.org/?a-1&a=2&ab=0&A", "org,archive)/?a&a=2&a-1&ab=0",
		"http://archive.org/?b=1;a=2", "org,archive)/?b=1;a=2",
		"http://archive.org/?&&", "org,archive)/?&&",
		"http://archive.org/?c=1&a%3D2&b=3%262=4", "org,archive)/?2=4&a=2&b=3&c=1",
		"http://example.com/foo?X=Y", "com,example)/foo?x=y",
	}},
	{"session ids of Java, PHP, ASP and ColdFusion are left out of the query", []string{
		"http://h/?jsessionid=" + id32, "h)/",
		"http://h/?jsessionid=" + id32 + "0", "h)/?jsessionid=" + id32 + "0",
		"http://h/?jsessionid=" + id32[1:], "h)/?jsessionid=" + id32[1:],
		"http://h/?JSESSIONID=" + strings.ToUpper(id32) + "&x=y", "h)/?x=y",
		"http://h/?one=two&jsessionid=" + id32 + "&x=y", "h)/?one=two&x=y",
		"http://h/?one=two&jsessionid=" + id32, "h)/?&one=two",
		"http://h/?aspsessionidABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX&x=y", "h)/?x=y",
		"http://h/?phpsessid=" + id32 + "&x=y", "h)/?x=y",
		"http://h/?one=two&phpsessid=" + id32, "h)/?&one=two",
		"http://archive.org/index.php?PHPSESSID=" + id32 + "&action=profile;u=4221", "org,archive)/index.php?action=profile;u=4221",
		"http://h/?sid=9682993c8daa2c5497996114facdc805&x=y", "h)/?x=y",
		"http://h/?sid=9682993c8daa2c5497996114facdc805&jsessionid=" + id32, "h)/",
		"http://h/?mysid=" + id32, "h)/?my",
		"http://h/?sid=" + id32 + "&sid=" + id32, "h)/?&sid=" + id32,
		"http://h/?sid=1", "h)/?sid=1",
		"http://h/?CFID=1169580&CFTOKEN=48630702&dtstamp=22%2F08%2F2006%7C06%3A58%3A11", "h)/?dtstamp=22/08/2006|06:58:11",
		"http://h/?CFID=14475712&CFTOKEN=2D89F5AF-3048-2957-DA4EE4B6B13661AB&r=468710288378&m=forgotten", "h)/?m=forgotten&r=468710288378",
		"http://h/?CFID=16603925&CFTOKEN=2AE13EEE-3048-85B0-56CEDAAB0ACA44B8", "h)/",
		"http://h/?cfid=1&x=2&cftoken=3", "h)/?cfid=1&cftoken=3&x=2",
		"http://h/?cfid=&cftoken=3", "h)/?cfid=&cftoken=3",
	}},
	{"session ids of ASP.NET are left out of the path before a page", []string{
		"http://h/(S(" + asp24 + "))/mileg.aspx", "h)/mileg.aspx",
		"http://h/(" + asp24 + ")/mileg.aspx", "h)/mileg.aspx",
		"http://h/(a(" + asp24 + ")S(" + asp24 + ")f(" + asp24 + "))/mileg.aspx?page=sessionschedules", "h)/mileg.aspx?page=sessionschedules",
		"http://h/x/(S(" + asp24 + "))/y/Z.ASPX/", "h)/x/y/z.aspx",
		"http://h/(S(" + asp24 + "))/mileg.html", "h)/(s(" + asp24 + "))/mileg.html",
		"http://h/(S(" + asp24[1:] + "))/mileg.aspx", "h)/(s(" + asp24[1:] + "))/mileg.aspx",
		"http://h/(S(" + asp24 + "))/.aspx", "h)/(s(" + asp24 + "))/.aspx",
		"http://h/(S(" + asp24 + "))/a%3Fb.aspx", "h)/(s(" + asp24 + "))/a?b.aspx",
		"http://h/x;jsessionid=" + id32, "h)/x;jsessionid=" + id32,
	}},
	{"addresses in addresses are not looked into", []string{
		"http://visit.webhosting.yahoo.com/visit.gif?&r=http%3A//web.archive.org/web/20090517140029/http%3A//anthonystewarthead.electric-chi.com/&b=Netscape%205.0%20%28Windows%3B%20en-US%29&s=1366x768&o=Win32&c=24&j=true&v=1.2",
		"com,yahoo,webhosting,visit)/visit.gif?&b=netscape%205.0%20(windows;%20en-us)&c=24&j=true&o=win32&r=http://web.archive.org/web/20090517140029/http://anthonystewarthead.electric-chi.com/&s=1366x768&v=1.2",
		"http://web.archive.org/web/2009/http://WWW.a.test//b/", "org,archive,web)/web/2009/http:/www.a.test/b",
	}},
}

func TestSURT(t *testing.T) {
	n := 0
	for _, r := range keyRules {
		for i := 0; i < len(r.keys); i += 2 {
			n++
			u, err := Parse(r.keys[i])
			if err != nil {
				t.Errorf("%s: %v", r.keys[i], err)
				continue
			}
			if got := u.SURT(); got != r.keys[i+1] {
				t.Errorf("%s:\n%s\nhas the key %s\nand not     %s", r.rule, r.keys[i], got, r.keys[i+1])
			}
		}
	}
	if n < 100 {
		t.Errorf("%d addresses", n)
	}
}

// A key holds nothing that sorts before the space behind it, and nothing of what is not ASCII or not in lower case.
func FuzzSURT(f *testing.F) {
	for _, r := range keyRules {
		f.Add(r.keys[0])
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := Parse(raw)
		if err != nil {
			t.Skip()
		}
		for _, c := range []byte(u.SURT()) {
			if c <= ' ' || c >= 0x7F || c >= 'A' && c <= 'Z' {
				t.Fatalf("%s has the key %q", u, u.SURT())
			}
		}
	})
}

func BenchmarkSURT(b *testing.B) {
	u, err := Parse("https://www.docs.example.com/library/asyncio-task.html?b=2&a=1#running")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		u.SURT()
	}
}

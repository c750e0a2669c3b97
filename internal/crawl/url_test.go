package crawl

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"pgregory.net/rapid"
)

func TestParseCanonical(t *testing.T) {
	for in, want := range map[string]string{
		"http://example.com":                       "http://example.com/",
		"HTTP://EXAMPLE.com:80/a":                  "http://example.com/a",
		"https://example.com:443/":                 "https://example.com/",
		"http://example.com:8080/a/../b/./c":       "http://example.com:8080/b/c",
		"http://example.com/%7Euser/%e2%82%ac":     "http://example.com/~user/%E2%82%AC",
		"http://example.com/%%41d":                 "http://example.com/%%41d", // to decode it would make another address, %Ad
		"http://example.com/%4%31?%%35%30&%z%41":   "http://example.com/%4%31?%%350&%zA",
		"http://example.com/a%2fb":                 "http://example.com/a%2Fb",
		"http://example.com/%zz%":                  "http://example.com/%zz%",
		"http://example.com/a#frag":                "http://example.com/a",
		"http://example.com/a?":                    "http://example.com/a?",
		"http://example.com/a?q=a b'c":             "http://example.com/a?q=a%20b%27c",
		"http://user:pw@example.com/":              "http://example.com/",
		"http://bücher.example/ü":                  "http://xn--bcher-kva.example/%C3%BC",
		"http://0x7f.1/":                           "http://127.0.0.1/",
		"http://[::FFFF:1]/":                       "http://[::ffff:1]/",
		" http://example.com/\ta ":                 "http://example.com/a",
		"http:\\\\example.com\\a":                  "http://example.com/a",
		"http://example.com/a/%2e%2E/b":            "http://example.com/b",
		"http://example.com/.hidden/..two/...dots": "http://example.com/.hidden/..two/...dots",
	} {
		u, err := Parse(in)
		if err != nil || u.String() != want {
			t.Errorf("Parse(%q) = %q, %v; want %q", in, u, err, want)
			continue
		}
		again, err := Parse(want)
		if err != nil || again != u {
			t.Errorf("Parse(%q) is not what it was: %+v, %+v, %v", want, again, u, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for in, want := range map[string]error{
		"ftp://example.com/": ErrScheme, "mailto:a@b": ErrScheme, "javascript:void(0)": ErrScheme, "/relative": ErrURL,
		"http://": ErrURL, "http://a b/": ErrURL, "http://[::1/": ErrURL, "http://1.2.3.4.5/": ErrURL,
		"http://example.com/" + strings.Repeat("a", MaxURLLength): ErrLength,
	} {
		if u, err := Parse(in); !errors.Is(err, want) {
			t.Errorf("Parse(%.40q) = %q, %v; want %v", in, u, err, want)
		}
	}
}

func TestParts(t *testing.T) {
	for in, want := range map[string][6]string{ // site, scheme, host, port, path, query
		"http://example.com/a/b?c=d":      {"example.com", "http", "example.com", "80", "/a/b", "?c=d"},
		"https://example.com/":            {"example.com", "https", "example.com", "443", "/", ""},
		"http://example.com:443/":         {"example.com", "http", "example.com", "443", "/", ""},
		"http://example.com:8080/x?/y?z/": {"example.com:8080", "http", "example.com", "8080", "/x", "?/y?z/"},
		"http://[2001:db8::1]:81/":        {"[2001:db8::1]:81", "http", "[2001:db8::1]", "81", "/", ""},
		"http://[2001:db8::1]/":           {"[2001:db8::1]", "http", "[2001:db8::1]", "80", "/", ""},
	} {
		u, err := Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := [6]string{u.Site(), u.Scheme(), u.Host(), u.Port(), u.Path(), u.Query()}; got != want {
			t.Errorf("%s: %v, want %v", in, got, want)
		}
	}
}

// RFC 3986, section 5.4, against its base, as far as the URL Standard agrees with it.
func TestResolve(t *testing.T) {
	base, err := Parse("http://a/b/c/d;p?q")
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		"g": "http://a/b/c/g", "./g": "http://a/b/c/g", "g/": "http://a/b/c/g/", "/g": "http://a/g", "//g": "http://g/",
		"?y": "http://a/b/c/d;p?y", "g?y": "http://a/b/c/g?y", "#s": "http://a/b/c/d;p?q", "g#s": "http://a/b/c/g",
		";x": "http://a/b/c/;x", "g;x?y#s": "http://a/b/c/g;x?y", "": "http://a/b/c/d;p?q", ".": "http://a/b/c/",
		"./": "http://a/b/c/", "..": "http://a/b/", "../": "http://a/b/", "../g": "http://a/b/g", "../..": "http://a/",
		"../../": "http://a/", "../../g": "http://a/g", "../../../g": "http://a/g", "/./g": "http://a/g", "/../g": "http://a/g",
		"g.": "http://a/b/c/g.", ".g": "http://a/b/c/.g", "g..": "http://a/b/c/g..", "..g": "http://a/b/c/..g",
		"./../g": "http://a/b/g", "./g/.": "http://a/b/c/g/", "g/./h": "http://a/b/c/g/h", "g/../h": "http://a/b/c/h",
		"g;x=1/./y": "http://a/b/c/g;x=1/y", "g;x=1/../y": "http://a/b/c/y", "g?y/./x": "http://a/b/c/g?y/./x",
		"http:g": "http://a/b/c/g", "HTTPS://X/y": "https://x/y",
	} {
		u, err := base.Resolve(ref)
		if err != nil || u.String() != want {
			t.Errorf("Resolve(%q) = %q, %v; want %q", ref, u, err, want)
		}
	}
}

func TestStripSession(t *testing.T) {
	for in, want := range map[string]string{
		"http://a.test/x;jsessionid=12AB?b=1&PHPSESSID=x&utm_source=n": "http://a.test/x?b=1",
		"http://a.test/x?sid=1":    "http://a.test/x",
		"http://a.test/x?inside=1": "http://a.test/x?inside=1",
	} {
		u, err := Parse(in)
		if err != nil || u.StripSession().String() != want {
			t.Errorf("StripSession(%s) = %s, want %s", in, u.StripSession(), want)
		}
	}
}

// slow is the WHATWG parser alone: what the fast path must agree with.
func slow(base, ref string) (string, bool) {
	var u URL
	var err error
	if base == "" {
		u, err = parseSlow(whatwg.Parse(ref))
	} else {
		u, err = parseSlow(whatwg.ParseRef(base, ref))
	}
	return u.String(), err == nil
}

// agree fails when the fast path accepts a reference that the WHATWG parser sees otherwise.
func agree(t interface{ Fatalf(string, ...any) }, base URL, ref string) {
	var u URL
	var ok bool
	if base.IsZero() {
		u, ok = parseFast(ref)
	} else {
		u, ok = base.resolveFast(ref)
	}
	if !ok {
		return
	}
	want, valid := slow(base.String(), ref)
	if !valid || u.String() != want {
		t.Fatalf("fast path: base %q, reference %q: %q; WHATWG: %q (valid %v)", base, ref, u, want, valid)
	}
	if full := index(u.s); full != u {
		t.Fatalf("fast path: %q has offsets %+v, want %+v", ref, u, full)
	}
}

var bases = []string{"http://a.example/", "https://a.example:8443/b/c/d.html?q=1", "http://127.0.0.1:80/x/", "http://a.example/b?x/y"}

func TestFastPathAgrees(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", "b.html", "/", "//", ".", "..", "./", "../", "%", "%2e", "%41", "%2F", "%zz", "?", "#", "=", "&", ":", ";", "@", "'", "\"",
		"http:", "https:", "http://", "h.example", "xn--a", "1.2.3.4", "0x1", "[::1]", "\\", " ", "\t", "ü", "|", "^", "{", "~", "_", "-", "*", ":80", ":8080", "ftp://",
	})
	rapid.Check(t, func(t *rapid.T) {
		ref := strings.Join(rapid.SliceOfN(piece, 0, 9).Draw(t, "pieces"), "")
		agree(t, URL{}, ref)
		agree(t, URL{}, "http://h.example/"+ref)
		agree(t, URL{}, "http://"+ref+"1.2.3.4/")
		for _, b := range bases {
			u, err := Parse(b)
			if err != nil {
				t.Fatalf("%s: %v", b, err)
			}
			agree(t, u, ref)
		}
	})
}

// The fast path is worth nothing where it does not answer.
func TestFastPathTakes(t *testing.T) {
	for _, s := range []string{"http://docs.example/a/b.html?c=d", "https://127.0.0.1:8443/a", "http://10.0.0.1/"} {
		if _, ok := parseFast(s); !ok {
			t.Errorf("%s is left to the WHATWG parser", s)
		}
	}
	for _, s := range []string{"http://1.2.3/", "http://01.2.3.4/", "http://0x1.2.3.4/", "http://1.2.3.256/", "http://a.1/"} {
		if _, ok := parseFast(s); ok {
			t.Errorf("%s is taken as it stands", s)
		}
	}
}

// What stands for the same bytes does so after it was normalised, once and again, and is shorter or as long.
func TestNormalisedPercentMeansTheSame(t *testing.T) {
	decoded := func(s string) string {
		var out []byte
		for i := 0; i < len(s); i++ {
			if s[i] == '%' && i+2 < len(s) {
				if b, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
					out, i = append(out, b...), i+2
					continue
				}
			}
			out = append(out, s[i])
		}
		return string(out)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.RuneFrom([]rune("%%%%0124567AaEez-/")), 0, 12, -1).Draw(t, "s")
		once := normalisePercent(s)
		if decoded(once) != decoded(s) || normalisePercent(once) != once || len(once) > len(s) {
			t.Fatalf("%q became %q, then %q", s, once, normalisePercent(once))
		}
	})
}

func FuzzFastPath(f *testing.F) {
	for _, s := range []string{"http://a/b/../c", "../x?y#z", "//h/p", "/%7e%2E/", "a:b", "?q='", "http://h:080/", "http://a..b/", "http://1.2.3.4:8080/x", "http://01.2.3.4/", "http://1.2.3.256/", "http://1.2.3/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		agree(t, URL{}, ref)
		for _, b := range bases {
			u, err := Parse(b)
			if err != nil {
				t.Fatal(err)
			}
			agree(t, u, ref)
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	base, err := Parse("http://docs.example/library/os/path.html")
	if err != nil {
		b.Fatal(err)
	}
	for _, ref := range []string{"../../genindex.html#top", "/library/functions.html", "http://docs.example/a/b/c.html"} {
		b.Run("fast/"+ref[:4], func(b *testing.B) {
			for b.Loop() {
				if _, err := base.Resolve(ref); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("whatwg/"+ref[:4], func(b *testing.B) {
			for b.Loop() {
				if _, ok := slow(base.String(), ref); !ok {
					b.Fatal(ref)
				}
			}
		})
	}
}

// What is canonical is a URL, and stays as it is.
func TestCanonicalIsParsed(t *testing.T) {
	for _, host := range []string{"bücher.test", "İ.test", "İ.test!", "a_b.testİ", "h.test$İ", "faß.de", "日本語。jp", "ｆｕｌｌ.test", "xn--bcher-kva.test", "-ü.test", "a_ü.test"} {
		u, err := Parse("http://" + host + "/x")
		if err != nil {
			continue
		}
		if v, err := Parse(u.String()); err != nil || v != u {
			t.Errorf("%s: %s, and then %s, %v", host, u, v, err)
		}
	}
}

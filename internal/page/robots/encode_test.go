package robots

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// words are what random files, patterns and paths are made of: every kind of character that rules treat in a way of its own.
var words = strings.Fields(`/ / / a b ab * * $ $ % %2A %2a %24 %25 %2F %2f %62 %zz %3A %27 %3F ? ? = & : ' ! é %C3%A9 { } | " \ ~ . - + ; , @ [ ]`)

func randomPath(rng *rand.Rand, n int) string {
	var b strings.Builder
	b.WriteByte('/')
	for range rng.IntN(n) {
		switch rng.IntN(40) {
		case 0:
			b.WriteString([]string{" ", "\t", "\x01", "\x02", "\x00", "\x7f", "\xa0", "\xff", "%0A", "%01", "%02", "%20"}[rng.IntN(12)])
		default:
			b.WriteString(words[rng.IntN(len(words))])
		}
	}
	return b.String()
}

// randomFile is a file with groups for us, for others and for all.
func randomFile(rng *rand.Rand) string {
	var b strings.Builder
	ends := []string{"\n", "\n", "\r\n", "\r"}
	for range 1 + rng.IntN(12) {
		end := ends[rng.IntN(len(ends))]
		switch rng.IntN(9) {
		case 0, 1:
			b.WriteString("User-agent: " + []string{"*", "argosy", "other", "Argosy/1.0"}[rng.IntN(4)] + end)
		case 2:
			b.WriteString(fmt.Sprint("Crawl-delay: ", float64(rng.IntN(100))/4, end))
		case 3:
			b.WriteString("Sitemap: http://a.test/" + randomPath(rng, 4) + end)
		case 4, 5, 6:
			b.WriteString("Disallow: " + randomPath(rng, 6) + end)
		default:
			b.WriteString("Allow:" + randomPath(rng, 6) + end)
		}
	}
	return b.String()
}

// Rules that were kept decide as those of the file, and are no longer than it.
func TestEncodedRulesDecideAlike(t *testing.T) {
	for seed := range uint64(8_000) {
		rng := rand.New(rand.NewPCG(seed, 0))
		file := "user-agent: *\n" + randomFile(rng)
		r := Parse([]byte(file), "argosy")
		b := r.Encode()
		if len(b) > len(file)+20 {
			t.Fatalf("seed %d: %d bytes became %d: %q", seed, len(file), len(b), file)
		}
		kept, err := Decode(b)
		if err != nil {
			t.Fatalf("seed %d: %v: %q", seed, err, file)
		}
		if d := cmp.Diff(r, kept, cmp.AllowUnexported(Rules{}, rule{})); d != "" {
			t.Fatalf("seed %d: %q\n%s", seed, file, d)
		}
		for range 10 {
			if path := randomPath(rng, 8); r.Allowed(path) != kept.Allowed(path) {
				t.Fatalf("seed %d: %q: %q is allowed %v, and %v when kept", seed, file, path, r.Allowed(path), kept.Allowed(path))
			}
		}
	}
}

// The largest files fit, whatever they are made of.
func TestEncodedSize(t *testing.T) {
	fill := func(line string) string { return "user-agent:*\n" + strings.Repeat(line, (MaxSize-13)/len(line)) }
	for _, line := range []string{"Allow:/\n", "Allow:/é\n", "Allow:$\n", "Allow:" + strings.Repeat("$", 999) + "\n", "Allow:" + strings.Repeat("\x01", 70) + "\n",
		"Allow:/" + strings.Repeat("%", 99) + "\n", "Allow:" + strings.Repeat("%25", 99) + "\n", "sitemap:/\n", "x\n"} {
		r := Parse([]byte(fill(line)), "argosy")
		b := r.Encode()
		if len(b) > MaxEncoded {
			t.Errorf("%q: %d bytes", line, len(b))
		}
		if kept, err := Decode(b); err != nil || len(kept.rules) != len(r.rules) || kept.SitemapsLeft != r.SitemapsLeft {
			t.Errorf("%q: %d rules, %d kept, %v", line, len(r.rules), len(kept.rules), err)
		}
	}
}

func TestDecodeRefusesDamage(t *testing.T) {
	good := Parse([]byte("user-agent: *\ndisallow: /a\nallow: /a/b$\ncrawl-delay: 3\nsitemap: /s.xml\n"), "argosy").Encode()
	for i := range good {
		if _, err := Decode(good[:i]); !errors.Is(err, ErrEncoding) {
			t.Errorf("the first %d bytes: %v", i, err)
		}
	}
	huge := append([]byte{encodingVersion, 0, 0}, 0xff, 0xff, 0xff, 0xff, 0x0f)
	for _, b := range [][]byte{append(good[:len(good):len(good)], 0), {encodingVersion + 1, 0, 0, 0, 0, 0}, {encodingVersion, 2, 0, 0, 0, 0}, huge, make([]byte, MaxEncoded+1), {encodingVersion, 0, 0, 1, 0, 0, 0}} {
		if _, err := Decode(b); !errors.Is(err, ErrEncoding) {
			t.Errorf("%.20q: %v", b, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("user-agent: *\ndisallow: /*a$\nallow: /%zz"), "/x")
	f.Fuzz(func(t *testing.T, body []byte, path string) {
		r := Parse(body, "argosy")
		kept, err := Decode(r.Encode())
		if err != nil || r.Allowed(path) != kept.Allowed(path) {
			t.Errorf("kept rules differ from the file's for %q: %v", path, err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(Parse([]byte("user-agent: *\ndisallow: /*a$\nallow: /%zz\nsitemap: /"), "argosy").Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Decode(b)
		if err != nil {
			return
		}
		if again, err := Decode(r.Encode()); err != nil || !cmp.Equal(r, again, cmp.AllowUnexported(Rules{}, rule{})) {
			t.Errorf("%q: %v", b, err)
		}
	})
}

package config

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// What is not an address of a page is refused, with its place, whether it would pass for a host with a password or not.
func TestSeedsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"mailto:a@b.test":  "is a mailto: address",
		"TEL:123":          "is a tel: address",
		"javascript:x()":   "is a javascript: address",
		"//a.test/b":       "begins with a slash",
		"/abs":             "begins with a slash",
		`\\\\host\\share`:  "begins with a slash",
		"ftp://a.test/":    "not an http or https URL",
		"localhost:80/x":   "",
		"a.test":           "",
		"data.test/x":      "",
		"http://a.test/%z": "",
	} {
		c := SeedChecker{Login: func(s string) (string, error) { return strings.Replace(s, "mailto:a@", "", 1), nil }}
		_, ok := c.Read(text, func() string { return "list:7" })
		if err := c.Err(); ok != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "list:7")) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestSeedLinesOfGzip(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte("\ufeffhttp://a.test/\n# no\n\nb.test\n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := SeedLines(bytes.NewReader(b.Bytes()), func(_ int, text string) error { got = append(got, text); return nil })
	if err != nil || strings.Join(got, " ") != "http://a.test/ b.test" {
		t.Errorf("%q, %v", got, err)
	}
	if err := SeedLines(bytes.NewReader(b.Bytes()[:b.Len()-4]), func(int, string) error { return nil }); err == nil {
		t.Error("half a file is taken for a whole one")
	}
}

// A comment may stand behind a seed; a # without white space before it begins a fragment.
func TestSeedLinesWithComments(t *testing.T) {
	const file = "a.test # the first\nhttp://b.test/#part\t# and more # more\n\u00a0 # none\nhttp://c.test/#x\n d.test\t#\n"
	var got []string
	err := SeedLines(strings.NewReader(file), func(line int, text string) error { got = append(got, fmt.Sprint(line, text)); return nil })
	if want := "1a.test 2http://b.test/#part 4http://c.test/#x 5d.test"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%q, %v, want %s", got, err, want)
	}
}

// Lines end as files of any system have them end, also where a read ends between the two characters.
func TestSeedLinesEnd(t *testing.T) {
	const file = "a.test\rb.test\r\rc.test\r\n\r\nd.test\ne.test\r"
	for _, in := range []io.Reader{strings.NewReader(file), iotest.OneByteReader(strings.NewReader(file))} {
		var got []string
		err := SeedLines(in, func(line int, text string) error { got = append(got, fmt.Sprint(line, text)); return nil })
		if want := "1a.test 2b.test 4c.test 6d.test 7e.test"; err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q, %v, want %s", got, err, want)
		}
	}
}

// A key that is wrong is named with its own line.
func TestSitesNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"- hosts: a.test\n  dely: 3s\n":              "line 2: dely:",
		"- hosts: a.test\n  site_pages: 3\n  x: 1\n": "line 3: x:",
		"- hosts: b.test\n- delay: 3s\n":             "line 2: ",
	} {
		if _, err := ReadSites([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// All bad seeds are named, a line for each; of more than a thousand, how many there are and where the next one stands.
func TestAllBadSeedsAreNamed(t *testing.T) {
	for _, n := range []int{1, 2, 200, 1000, 1001, 5000} {
		var c SeedChecker
		for i := range n {
			if _, ok := c.Read("ftp://a.test/", func() string { return fmt.Sprintf("list:%d", i+1) }); ok {
				t.Fatal("taken")
			}
		}
		lines := strings.Split(c.Err().Error(), "\n")
		want := n + 1 // and the line that says how many
		switch {
		case n == 1:
			want = 1
		case n > maxBadSeeds:
			want = maxBadSeeds + 2
			if last := lines[len(lines)-1]; last != fmt.Sprintf("  and %d more, the first at list:1001", n-maxBadSeeds) {
				t.Errorf("of %d the last line is %q", n, last)
			}
		}
		if len(lines) != want {
			t.Errorf("%d bad seeds are told in %d lines, want %d", n, len(lines), want)
		}
		for i := range min(n, maxBadSeeds) {
			if line := lines[min(i+1, i+n-1)]; !strings.HasPrefix(strings.TrimSpace(line), fmt.Sprintf("list:%d: ", i+1)) {
				t.Fatalf("of %d, line %d is %q", n, i, line)
			}
		}
	}
}

// A seed has a scheme if it begins with one: not if its query names an address, and also with one slash, as browsers have it.
func TestSeedsWithAndWithoutScheme(t *testing.T) {
	for text, want := range map[string]Seed{
		"a.test/?u=http://b.test/": {URL: "https://a.test/?u=http://b.test/", NoScheme: true},
		"a.test:8080/x":            {URL: "https://a.test:8080/x", NoScheme: true},
		"http:8080":                {URL: "https://http:8080/", NoScheme: true},
		"http:/a.test/b":           {URL: "http://a.test/b"},
		`HTTPS:\\a.test`:           {URL: "https://a.test/"},
	} {
		want.Text = text
		if got, ok := new(SeedChecker).Read(text, func() string { return text }); !ok || got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}

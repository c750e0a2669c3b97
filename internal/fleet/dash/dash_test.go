package dash

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func sources(t *testing.T) (out string) {
	t.Helper()
	for _, pattern := range []string{"src/*.jsx", "src/*.js"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			out += string(b)
		}
	}
	return out
}

// Every text of the pages is there in Chinese, with the same places for figures, and none is there that nobody says.
func TestBothLanguages(t *testing.T) {
	b, err := os.ReadFile("src/zh.json")
	if err != nil {
		t.Fatal(err)
	}
	var zh map[string]string
	if err := json.Unmarshal(b, &zh); err != nil {
		t.Fatal(err)
	}
	text, said := sources(t), map[string]bool{}
	for _, m := range regexp.MustCompile(`\bt\('((?:[^'\\]|\\.)*)'`).FindAllStringSubmatch(text, -1) {
		said[m[1]] = true
	}
	_, words, ok := strings.Cut(text, "export const words = [")
	words, _, _ = strings.Cut(words, "];")
	for _, m := range regexp.MustCompile(`'([^']+)'`).FindAllStringSubmatch(words, -1) {
		said[m[1]] = true
	}
	known := spoken(t)
	for _, s := range slices.Concat(slices.Collect(maps.Values(known.Reasons)), slices.Collect(maps.Values(known.Waits)), known.Names) {
		said[s] = true
	}
	if !ok || len(said) < 150 {
		t.Fatalf("%d texts", len(said))
	}
	holes := regexp.MustCompile(`\{\d\}`)
	sorted := func(s string) []string { return slices.Sorted(slices.Values(holes.FindAllString(s, -1))) }
	for s := range said {
		switch zh := zh[s]; {
		case zh == "":
			t.Errorf("zh.json lacks %q", s)
		case !slices.Equal(sorted(s), sorted(zh)):
			t.Errorf("%q and %q have other places for figures", s, zh)
		}
	}
	for s := range maps.Keys(zh) {
		if !said[s] {
			t.Errorf("nobody says %q of zh.json", s)
		}
	}
	if strings.Contains(text, "dangerouslySetInnerHTML") || strings.Contains(text, "innerHTML") || strings.Contains(text, "eval(") {
		t.Error("markup or scripts are made of texts")
	}
}

// What is served is small, asks no other host, and has no script or style in its markup.
func TestServed(t *testing.T) {
	total := 0
	for _, name := range append([]string{"index.html"}, Names...) {
		w := httptest.NewRecorder()
		Serve(w, httptest.NewRequest(http.MethodGet, "/", nil), name)
		body := w.Body.String()
		total += len(body)
		if w.Code != 200 || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'") {
			t.Errorf("%s: %d, %s", name, w.Code, w.Header().Get("Content-Security-Policy"))
		}
		for _, m := range regexp.MustCompile(`https?://[a-zA-Z0-9.-]+`).FindAllString(body, -1) {
			if !slices.Contains([]string{"http://www.w3.org", "https://example.com", "https://github.com"}, m) { // names of vocabularies, an example, and whose a library is
				t.Errorf("%s names %s", name, m)
			}
		}
		if name == "index.html" && (regexp.MustCompile(`<script[^>]*>[^<]`).MatchString(body) || strings.Contains(body, "<style") || strings.Contains(body, "onload=")) {
			t.Error("a script or a style in the page")
		}
	}
	if total > 300<<10 {
		t.Errorf("%d bytes: the limit is 300 KiB", total)
	}
	w := httptest.NewRecorder()
	if Serve(w, httptest.NewRequest(http.MethodGet, "/", nil), "../dash.go"); w.Code != 404 {
		t.Errorf("another file: %d", w.Code)
	}
}

// What is served says what the sources say: each text of theirs is in it.
func TestBuilt(t *testing.T) {
	w := httptest.NewRecorder()
	Serve(w, httptest.NewRequest(http.MethodGet, "/", nil), "app.js")
	b := w.Body.String()
	packed := httptest.NewRequest(http.MethodGet, "/", nil)
	packed.Header.Set("Accept-Encoding", "br, gzip")
	w = httptest.NewRecorder()
	Serve(w, packed, "app.js")
	if z, err := unpacked(w.Body.Bytes()); err != nil || string(z) != b || w.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("to a browser that takes gzip goes something else: %v", err)
	}
	for _, m := range regexp.MustCompile(`\bt\('((?:[^'\\]|\\.)*)'`).FindAllStringSubmatch(sources(t), -1) {
		if !strings.Contains(b, m[1]) {
			t.Errorf("dist/app.js lacks %q: make dash builds it anew", m[1])
		}
	}
}

// A component that a source names is imported there, or made there: the bundler takes any name.
func TestComponents(t *testing.T) {
	files, err := filepath.Glob("src/*.jsx")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	n := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		for _, m := range regexp.MustCompile(`<([A-Z]\w*)[\s/>]`).FindAllStringSubmatch(text, -1) {
			n++
			if !regexp.MustCompile(`(?m)^import [^;]*\b` + m[1] + `\b[^;]* from |\bfunction ` + m[1] + `\(|\b(const|let) [^;=]*\b` + m[1] + `\b`).MatchString(text) {
				t.Errorf("%s: <%s> is neither imported nor made there", f, m[1])
			}
		}
	}
	if n < 200 {
		t.Errorf("%d components are named", n)
	}
}

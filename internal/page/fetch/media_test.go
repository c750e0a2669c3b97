package fetch_test

import (
	"strings"
	"testing"

	"argosy/internal/page/fetch"
	"argosy/internal/page/parse"
)

// The media type of an answer is the last that its field names, and its charset is read all the same.
func TestMediaTypes(t *testing.T) {
	for field, want := range map[string]string{
		"text/html": "text/html", "TEXT/HTML;Charset=x": "text/html", "text/html, text/html": "text/html",
		"text/plain, text/html; charset=shift_jis": "text/html", "text/html; charset=shift_jis, */*": "text/html",
		"text/html,": "text/html", ", text/css": "text/css", "": "text/html", "x": "text/html", "text/html charset=shift_jis": "text/html", "text/plain (words)": "text/plain", "text/html\tx": "text/html", "unknown/unknown": "text/html",
	} {
		r, err := fetch.ReadKept(strings.NewReader("HTTP/1.1 200 OK\r\nContent-Type: "+field+"\r\n\r\n<!doctype html><p>"), 100)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Media(); got != want {
			t.Errorf("%q is %q, want %q", field, got, want)
		}
		if got := parse.Charset([]byte("<p>"), field, nil); strings.Contains(field, "shift") && got != "shift_jis" {
			t.Errorf("%q has charset %q", field, got)
		}
		r.Release()
	}
}

// Fields that are there twice count as one: the last type, and the encoding that it names.
func TestMediaTypeGivenTwice(t *testing.T) {
	for _, c := range []struct{ first, second, want, charset string }{
		{"text/plain", "text/html", "text/html", "utf-8"},
		{"text/html; charset=utf-8", "text/html; charset=shift_jis", "text/html", "shift_jis"},
		{"text/html; charset=shift_jis", "text/html", "text/html", "shift_jis"},
		{"text/html", "", "text/html", "utf-8"},
		{"text/html", "*/*", "text/html", "utf-8"},
	} {
		r, err := fetch.ReadKept(strings.NewReader("HTTP/1.1 200 OK\r\nContent-Type: "+c.first+"\r\nX: 1\r\ncontent-type: "+c.second+"\r\n\r\n<p>"), 100)
		if err != nil {
			t.Fatal(err)
		}
		if got, charset := r.Media(), parse.Charset([]byte("<p>"), r.Type(), nil); got != c.want || charset != c.charset {
			t.Errorf("%q and %q: %s in %s, want %s in %s", c.first, c.second, got, charset, c.want, c.charset)
		}
		r.Release()
	}
}

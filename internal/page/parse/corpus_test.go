package parse

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// With a corpus at hand (ARGOSY_CORPUS names directories of HTML files, by colons) every page of it must agree with its
// tree: as HTML, and, where it is well-formed XHTML, as XML.
func TestCorpus(t *testing.T) {
	dirs := os.Getenv("ARGOSY_CORPUS")
	if dirs == "" {
		t.Skip("ARGOSY_CORPUS names no directories of HTML files")
	}
	pages, asXML, deep, wrong := 0, 0, 0, 0
	links := map[string]bool{} // what has been read, by the file that links lead to
	read := func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || wrong >= 20 {
			return nil
		}
		switch ext := strings.ToLower(filepath.Ext(path)); ext {
		case ".html", ".htm", ".xhtml", ".xht":
		default:
			return nil
		}
		if real, err := filepath.EvalSymlinks(path); err != nil || links[real] {
			return nil
		} else {
			links[real] = true
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		pages++
		diff, ok := corpusPage(body)
		if !ok {
			deep++
		}
		if bytes.Contains(body, []byte(uriHTML)) {
			d, ok := corpusXHTML(body)
			if ok {
				asXML++
			}
			if d != "" {
				diff += " as XML: " + d
			}
		}
		if diff != "" {
			wrong++
			t.Errorf("%s: %s", path, diff)
		}
		return nil
	}
	for dir := range strings.SplitSeq(dirs, ":") {
		if err := filepath.WalkDir(dir, fs.WalkDirFunc(read)); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d pages, %d of them also as XML; %d are nested too deep for the tree builder", pages, asXML, deep)
}

func corpusPage(body []byte) (diff string, ok bool) {
	for _, o := range []Options{{}, {Resources: true}} {
		var p Page
		Scan(body, o, &p)
		charset := Charset(body, "text/html", p.Charset)
		want := builder{o: o, charset: charset}
		if err := want.html(Decode(body, charset)); err != nil {
			return "", false
		}
		if diff = want.diff(scanned(body, charset, o, Scan)); diff != "" {
			return diff, true
		}
	}
	return "", true
}

// corpusXHTML reads a page as XML; ok is false if it is not well-formed.
func corpusXHTML(body []byte) (diff string, ok bool) {
	var p Page
	ScanXML(body, Options{}, &p)
	charset := Charset(body, "", p.Charset)
	text := Decode(body, charset)
	for _, o := range []Options{{}, {Resources: true}} {
		want := builder{o: o, charset: charset}
		if err := want.xhtml([]byte(text)); err != nil {
			return "", false
		}
		if diff = want.diff(scanned(body, charset, o, ScanXML)); diff != "" {
			return diff, true
		}
	}
	return "", true
}

// BenchmarkMarkCorpus marks every so manieth page of a corpus (see TestCorpus), and scans it for the comparison.
func BenchmarkMarkCorpus(b *testing.B) {
	dirs := os.Getenv("ARGOSY_CORPUS")
	if dirs == "" {
		b.Skip("ARGOSY_CORPUS names no directories of HTML files")
	}
	const every = 37
	type page struct {
		body  []byte
		url   string
		links []Link
	}
	var pages []page
	size, n := 0, 0
	for dir := range strings.SplitSeq(dirs, ":") {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".html" {
				return nil
			}
			if n++; n%every != 0 {
				return nil
			}
			body, err := os.ReadFile(path)
			if err != nil {
				return nil
			}
			body = body[:min(len(body), 256<<10)]
			var p Page
			Scan(body, Options{}, &p)
			pages = append(pages, page{body, "http://docs.test" + path, p.Links})
			size += len(body)
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Run("mark", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			for _, p := range pages {
				Mark(p.body, p.url, p.links, false)
			}
		}
	})
	b.Run("scan", func(b *testing.B) {
		b.SetBytes(int64(size))
		var p Page
		for b.Loop() {
			for i := range pages {
				Scan(pages[i].body, Options{}, &p)
			}
		}
	})
	b.Logf("%d pages of %d", len(pages), n)
}

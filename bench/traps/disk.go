package main

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
)

// disk returns a web of the files below a directory, as nginx shows them, with listings of directories. Real is every file that a search
// without any judgement finds.
func disk(dir string) *web {
	p := &part{name: dir, paths: "/"}
	files := map[string]*answer{}
	p.answer = func(_ *site, u *url.URL) *answer {
		if a, ok := files[u.Path]; ok {
			return a
		}
		a := open(dir, u.Path)
		if len(files) > 2000 {
			clear(files)
		}
		files[u.Path] = a
		return a
	}
	s := &site{seed: dir, parts: []*part{p}, bare: true}
	w := &web{name: p.name, sites: map[string]*site{"disk": s}}
	root, _ := crawl.Parse("http://disk.trap.test/")
	seen := map[crawl.Key]bool{root.Key(): true}
	for queue := []crawl.URL{root}; len(queue) > 0; {
		u := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		at, err := url.Parse(u.String())
		if err != nil {
			continue
		}
		a := s.ask(at)
		if a.real != "" {
			p.real = append(p.real, a.real)
		}
		follow := func(ref string) {
			if to, err := u.Resolve(ref); err == nil && to.Site() == u.Site() && !seen[to.Key()] {
				seen[to.Key()] = true
				queue = append(queue, to)
			}
		}
		if a.location != "" {
			follow(a.location)
		} else if a.kind == "" {
			var page parse.Page
			parse.Scan([]byte(a.body), parse.Options{}, &page)
			for _, l := range page.Links {
				follow(parse.DecodeRef(l.Ref, ""))
			}
		}
	}
	return w
}

// open answers with a file, nil if there is none.
func open(dir, name string) *answer {
	file := filepath.Join(dir, filepath.FromSlash(path.Clean(name)))
	st, err := os.Stat(file)
	switch {
	case err != nil:
		return nil
	case st.IsDir() && !strings.HasSuffix(name, "/"):
		return &answer{status: http.StatusMovedPermanently, location: html.UnescapeString(name) + "/"}
	case st.IsDir():
		file = filepath.Join(file, "index.html")
	}
	b, err := os.ReadFile(file)
	switch {
	case err != nil && st.IsDir():
		return listed(filepath.Dir(file), name)
	case err != nil:
		return nil
	}
	a := &answer{body: string(b), real: name, says: name}
	if e := filepath.Ext(file); e != ".html" && e != ".htm" {
		a.kind = http.DetectContentType(b)
		if strings.HasPrefix(a.kind, "text/") {
			a.kind = "text/plain"
		}
	}
	return a
}

// listed answers with the names in a directory.
func listed(dir, name string) *answer {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var b strings.Builder
	b.WriteString("<h1>Index of " + html.EscapeString(name) + "</h1><pre><a href=\"../\">../</a>\n")
	for _, e := range entries {
		end, size := "", "-"
		if st, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && st.IsDir() {
			end = "/"
		} else if err == nil {
			size = fmt.Sprint(st.ModTime().Format("02-Jan-2006 15:04 "), st.Size())
		}
		b.WriteString("<a href=\"" + url.PathEscape(e.Name()) + end + "\">" + html.EscapeString(e.Name()) + end + "</a> " + size + "\n")
	}
	return &answer{body: b.String() + "</pre>", real: name, says: name}
}

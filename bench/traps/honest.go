package main

import (
	"fmt"
	"net/url"
	"strings"
)

// library returns n articles in shelves, with varied text and navigation: an honest site.
func library(n int) *part {
	p := &part{name: "library", paths: "/library", entry: []link{{"/library/", "Library", "library/"}}}
	shelves := (n + 39) / 40
	p.real = []string{"library/"}
	for i := range shelves {
		p.real = append(p.real, fmt.Sprintf("library/s%d", i))
	}
	for i := range n {
		p.real = append(p.real, fmt.Sprintf("library/a%d", i))
	}
	p.answer = func(s *site, u *url.URL) *answer {
		rest := strings.TrimPrefix(u.Path, "/library/")
		var shelf, art int
		pg := s.page("Library")
		switch {
		case u.RawQuery != "":
		case u.Path == "/library/":
			for i := range shelves {
				pg.link(fmt.Sprintf("s%d/", i), name(fmt.Sprint("shelf", i)), fmt.Sprintf("library/s%d", i))
			}
			return pg.real("library/")
		case is(rest, "s%d/", &shelf) && shelf < shelves:
			pg.title = name(fmt.Sprint("shelf", shelf))
			for i := shelf * 40; i < min(n, shelf*40+40); i++ {
				pg.link(fmt.Sprintf("%s-%d.html", slug(fmt.Sprint("lib", i)), i), name(fmt.Sprint("lib", i)), fmt.Sprintf("library/a%d", i))
			}
			return pg.real(fmt.Sprintf("library/s%d", shelf))
		default:
			dir, file, _ := strings.Cut(rest, "/")
			art = number(strings.TrimSuffix(file[strings.LastIndexByte(file, '-')+1:], ".html"))
			if art < 0 || art >= n || dir != fmt.Sprintf("s%d", art/40) || file != fmt.Sprintf("%s-%d.html", slug(fmt.Sprint("lib", art)), art) {
				return nil
			}
			pg.title = name(fmt.Sprint("lib", art))
			pg.para(fmt.Sprint("lib", art), 60+draw(fmt.Sprint("len", art), 150))
			pg.link("./", "Back to the shelf", fmt.Sprintf("library/s%d", art/40))
			return pg.real(fmt.Sprintf("library/a%d", art))
		}
		return nil
	}
	return p
}

func slug(key string) string { return strings.ReplaceAll(name(key), " ", "-") }

// is reports whether a string is exactly what a format with numbers, none negative, makes of them.
func is(s, format string, n ...*int) bool {
	args := make([]any, len(n))
	for i := range n {
		args[i] = n[i]
	}
	if _, err := fmt.Sscanf(s, format, args...); err != nil {
		return false
	}
	for i := range n {
		if *n[i] < 0 {
			return false
		}
		args[i] = *n[i]
	}
	return fmt.Sprintf(format, args...) == s
}

// listing returns a pagination with ten stories a page, each page reached from the one before. kind says what a story is
// like: "words" alone, "number" (its text differs from others in a number only, and it has no links), or "nav", words
// with navigation and a way back.
func listing(kind string, pages int) *part {
	root := "/news-" + kind
	p := &part{name: "listing-" + kind, paths: root, entry: []link{{root + "/", "News " + kind, root + "/page1"}}}
	for i := range pages {
		p.real = append(p.real, fmt.Sprintf("%s/page%d", root, i+1))
		for j := range 10 {
			p.real = append(p.real, fmt.Sprintf("%s/story%d", root, i*10+j))
		}
	}
	p.answer = func(s *site, u *url.URL) *answer {
		n := 1
		switch rest := strings.TrimPrefix(u.Path, root); {
		case u.RawQuery != "":
		case rest == "/", is(rest, "/page/%d/", &n) && n > 1 && n <= pages:
			pg := s.page("Stories")
			for j := range 10 {
				k := (n-1)*10 + j
				pg.link(fmt.Sprintf("%s/story/%d", root, k), fmt.Sprint("Story ", k), fmt.Sprintf("%s/story%d", root, k))
			}
			if n < pages {
				pg.link(fmt.Sprintf("%s/page/%d/", root, n+1), "Older stories", fmt.Sprintf("%s/page%d", root, n+1))
			}
			return pg.real(fmt.Sprintf("%s/page%d", root, n))
		case is(rest, "/story/%d", &n) && n < pages*10:
			pg := s.page(fmt.Sprint("Story ", n))
			pg.bare = kind != "nav"
			if kind == "number" {
				pg.text("This is the story with number %d.", n)
			} else {
				pg.para(u.Path, 50+draw(u.Path, 60))
			}
			if kind == "nav" {
				pg.link(fmt.Sprintf("%s/page/%d/", root, n/10+1), "Back", fmt.Sprintf("%s/page%d", root, n/10+1))
			}
			return pg.real(fmt.Sprintf("%s/story%d", root, n))
		}
		return nil
	}
	// The first page is not repeated as /page/1/: its stories' way back is the root.
	inner := p.answer
	p.answer = func(s *site, u *url.URL) *answer {
		if u.Path == root+"/page/1/" {
			return &answer{status: 301, location: root + "/"}
		}
		return inner(s, u)
	}
	return p
}

// chain returns posts of which each is only linked from the one before.
func chain(n int) *part {
	p := &part{name: "chain", paths: "/blog", entry: []link{{"/blog?id=1", "Blog", "blog1"}}}
	for i := range n {
		p.real = append(p.real, fmt.Sprint("blog", i+1))
	}
	p.answer = func(s *site, u *url.URL) *answer {
		id := query(u, "id", -1)
		if u.Path != "/blog" || id < 1 || id > n {
			return nil
		}
		pg := s.page(name(fmt.Sprint("blog", id)))
		pg.para(fmt.Sprint("blog", id), 80)
		if id < n {
			pg.link(fmt.Sprint("/blog?id=", id+1), "Older post", fmt.Sprint("blog", id+1))
		}
		return pg.real(fmt.Sprint("blog", id))
	}
	return p
}

// gallery returns pictures one behind the other: their pages' texts differ in a number only, but each links to a file of
// its own.
func gallery(n int) *part {
	p := &part{name: "gallery", paths: "/gallery", entry: []link{{"/gallery/1.html", "Gallery", "gallery1"}}}
	for i := range n {
		p.real = append(p.real, fmt.Sprint("gallery", i+1), fmt.Sprint("photo", i+1))
	}
	p.answer = func(s *site, u *url.URL) *answer {
		var id int
		switch {
		case u.RawQuery != "":
		case is(u.Path, "/gallery/%d.html", &id) && id > 0 && id <= n:
			pg := s.page(fmt.Sprintf("Picture %d of %d", id, n))
			pg.link(fmt.Sprintf("full/%d.jpg", id), "Full size", fmt.Sprint("photo", id))
			if id < n {
				pg.link(fmt.Sprintf("%d.html", id+1), "Next", fmt.Sprint("gallery", id+1))
			}
			if id > 1 {
				pg.link(fmt.Sprintf("%d.html", id-1), "Previous", fmt.Sprint("gallery", id-1))
			}
			return pg.real(fmt.Sprint("gallery", id))
		case is(u.Path, "/gallery/full/%d.jpg", &id) && id > 0 && id <= n:
			return &answer{kind: "image/jpeg", body: "\xff\xd8\xff" + prose(u.Path, 100), real: fmt.Sprint("photo", id), says: fmt.Sprint("photo", id)}
		}
		return nil
	}
	return p
}

// oddURLs are URLs of real pages that look like traps.
func oddURLs() []string {
	var params []string
	for i := range 41 {
		params = append(params, fmt.Sprintf("p%d=%d", i, i))
	}
	return []string{
		"/0/0/0/0/tile.png", "/archive/node/node/node/node/x", "/wiki/A/B/A/B/A/B/A/B",
		"/form?" + strings.Join(params, "&"), "/deep" + strings.Repeat("/level", 40), "/a/b/a/b/a/b/a/b/c.html",
		"/x/2026/2026/2026/2026/2026/report.html", "/en/en/en/en/", "/q?a=1&a=2&a=3&a=4&a=5&a=6",
		"/12345678901234567890/98765432109876543210/page.html", "/id/3f2504e04f8911d39a0c0305e82c3301",
		"/doc;jsessionid=0a1b2c3d4e5f60718293a4b5c6d7e8f9", "/view?PHPSESSID=0a1b2c3d4e5f6071", "/calendar/2026/11/22",
	}
}

// paths returns the pages with odd URLs; each is there once.
func paths() *part {
	p := &part{name: "paths", paths: "/", entry: []link{{"/odd.html", "Odd addresses", "odd.html"}}, real: []string{"odd.html"}}
	p.real = append(p.real, oddURLs()...)
	p.answer = func(s *site, u *url.URL) *answer {
		if u.Path == "/odd.html" {
			pg := s.page("Odd addresses")
			for _, o := range oddURLs() {
				pg.link(o, name(o), o)
			}
			return pg.real("odd.html")
		}
		if !contains(p.real, u.RequestURI()) {
			return nil
		}
		pg := s.page(name(u.RequestURI()))
		pg.para(u.RequestURI(), 70)
		return pg.real(u.RequestURI())
	}
	return p
}

package main

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// sections returns a site with many sections at its root, each of numbered pages of the same form, some of them galleries
// (pages that differ in a number only and link to a file each), and one that goes on without end with empty pages.
func sections(n, pages int) *part {
	p := &part{name: "sections", paths: "/", traps: []trap{{name: "empty section", endless: true, mark: "/nothing"}}}
	p.entry = []link{{"/sections.html", "Sections", "sections"}}
	p.real = []string{"sections"}
	dir := func(i int) string { return "topic-" + slug(fmt.Sprint("section", i)) }
	gallery := func(i int) bool { return i%5 == 2 }
	at := map[string]int{}
	for i := range n {
		at[dir(i)] = i
		for k := range pages {
			p.real = append(p.real, fmt.Sprintf("%s/%d", dir(i), k+1))
			if gallery(i) {
				p.real = append(p.real, fmt.Sprintf("%s/%d.png", dir(i), k+1))
			}
		}
	}
	p.answer = func(s *site, u *url.URL) *answer {
		d, file, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
		i, known := at[d]
		var k int
		switch {
		case u.RawQuery != "":
		case u.Path == "/sections.html":
			pg := s.page("Sections")
			for i := range n {
				pg.link(fmt.Sprintf("/%s/1.html", dir(i)), dir(i), dir(i)+"/1")
			}
			pg.link("/nothing/1.html", "Nothing", "")
			return pg.real("sections")
		case d == "nothing" && is(file, "%d.html", &k) && k > 0:
			pg := s.page(fmt.Sprint("Nothing, page ", k))
			pg.text("There is nothing on page %d.", k)
			pg.link(fmt.Sprintf("%d.html", k+1), "Next", "")
			return pg.trap("empty section", "nothing")
		case known && is(file, "%d.html", &k) && k > 0 && k <= pages:
			pg := s.page(fmt.Sprint("Page ", k))
			if gallery(i) {
				pg.link(fmt.Sprintf("%d.png", k), "Picture", fmt.Sprintf("%s/%d.png", d, k))
			} else {
				pg.para(u.Path, 60)
			}
			if k < pages {
				pg.link(fmt.Sprintf("%d.html", k+1), "Next", fmt.Sprintf("%s/%d", d, k+1))
			}
			return pg.real(fmt.Sprintf("%s/%d", d, k))
		case known && gallery(i) && is(file, "%d.png", &k) && k > 0 && k <= pages:
			id := fmt.Sprintf("%s/%d.png", d, k)
			return &answer{kind: "image/png", body: "\x89PNG\r\n\x1a\n" + prose(u.Path, 80), real: id, says: id}
		}
		return nil
	}
	return p
}

// noisy makes every answer of a part say something besides that is drawn anew each time: when it was made and how many are here ("clock"), and
// one of 150 quotations as well ("quote").
func noisy(kind string, p *part) *part {
	inner, asked := p.answer, 0
	p.name += "-" + kind
	p.drawn = true
	p.answer = func(s *site, u *url.URL) *answer {
		a := inner(s, u)
		if a == nil || a.kind != "" || a.location != "" {
			return a
		}
		asked++
		r := rng(fmt.Sprint("noise", s.seed, asked))
		aside := fmt.Sprintf("<p>Made at %02d:%02d:%02d in 0.%03d s. %d guests are here.</p>", r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1000), r.IntN(90))
		if kind == "quote" {
			no := fmt.Sprint("quotation", r.IntN(150))
			aside += "<p>" + prose(no, 18) + "</p>"
			a.targets = append(slices.Clone(a.targets), no) // who reads one for the first time has read something new
		}
		a.body = strings.Replace(a.body, "</body>", "<aside>"+aside+"</aside></body>", 1)
		return a
	}
	return p
}

// redirects returns addresses that lead on to another one for ever.
func redirects() *part {
	p := &part{name: "redirects", paths: "/go/", traps: []trap{{name: "steps", endless: true, mark: "/go/"}}}
	p.entry = []link{{"/go/0", "Go", ""}}
	p.answer = func(_ *site, u *url.URL) *answer {
		if n := number(strings.TrimPrefix(u.Path, "/go/")); n >= 0 {
			return &answer{status: 302, location: fmt.Sprintf("/go/%d", n+1), trap: "steps", says: "on"}
		}
		return nil
	}
	return p
}

// tags returns articles with tags, and pages of tags that lead to every set of them in every order by a longer path.
func tags(n int) *part {
	p := &part{name: "tags", paths: "/notes/", traps: []trap{{name: "orders of tags", endless: true, mark: "/notes/tag"}}}
	p.entry = []link{{"/notes/0", "Notes", "notes0"}}
	const all = 25
	tag := func(i int) string { return vocabulary[100+i*37%5000] }
	for i := range n {
		p.real = append(p.real, fmt.Sprint("notes", i))
	}
	has := func(i, t int) bool { return (i*7+t*13+i/25*t)%8 == 0 }
	note := func(pg *page, i int) {
		pg.link(fmt.Sprint("/notes/", i), name(fmt.Sprint("notes", i)), fmt.Sprint("notes", i))
	}
	p.answer = func(s *site, u *url.URL) *answer {
		var i int
		if is(u.RequestURI(), "/notes/%d", &i) && i < n {
			pg := s.page(name(fmt.Sprint("notes", i)))
			pg.para(fmt.Sprint("notes", i), 70)
			for t := range all {
				if has(i, t) {
					pg.link("/notes/tag/"+tag(t), tag(t), "")
				}
			}
			if i+1 < n {
				note(pg, i+1)
			}
			return pg.real(fmt.Sprint("notes", i))
		}
		rest, ok := strings.CutPrefix(u.RequestURI(), "/notes/tag/")
		if !ok {
			return nil
		}
		chosen := map[int]bool{}
		for name := range strings.SplitSeq(rest, "/") {
			found := false
			for t := range all {
				if tag(t) == name && !chosen[t] {
					chosen[t], found = true, true
				}
			}
			if !found {
				return nil
			}
		}
		pg := s.page("Notes")
		says := "notes:"
		for i := range n {
			fits := true
			for t := range chosen {
				fits = fits && has(i, t)
			}
			if fits {
				note(pg, i)
				says += fmt.Sprint(" ", i)
			}
		}
		for t := range all {
			if !chosen[t] {
				pg.link(u.Path+"/"+tag(t), "and "+tag(t), "")
			}
		}
		return pg.trap("orders of tags", says)
	}
	return p
}

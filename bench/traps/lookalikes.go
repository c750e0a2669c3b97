package main

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Honest sites that look like traps, made after the rule.

// dated is the archive of a paper: years, months in pages, stories, with the same words around all of them.
func dated() *part {
	const years, perMonth = 6, 13
	var real []string
	stories := func(y, m int) int { return (y*5 + m*7) % perMonth }
	for y := range years {
		real = append(real, fmt.Sprint("paper", y))
		for m := range 12 {
			for p := 0; p == 0 || p*5 < stories(y, m); p++ {
				real = append(real, fmt.Sprintf("paper%d/%d/%d", y, m, p))
			}
			for i := range stories(y, m) {
				real = append(real, fmt.Sprintf("story%d/%d/%d", y, m, i))
			}
		}
	}
	return made("/paper/", []link{{"/paper/2020/", "Archive", "paper0"}}, real, nil, func(s *site, rest string, q url.Values) *answer {
		var y, m, p, i int
		pg := s.page("Archive")
		pg.text("You are in our archive. Choose a year, a month and a story; all that we have ever printed is here.")
		switch {
		case len(q) > 0:
		case is(rest, "%d/", &y) && y >= 2020 && y < 2020+years:
			for k := range years {
				pg.link(fmt.Sprintf("/paper/%d/", 2020+k), fmt.Sprint(2020+k), fmt.Sprint("paper", k))
			}
			for m := range 12 {
				pg.link(fmt.Sprintf("/paper/%d/%02d/", y, m+1), fmt.Sprint(m+1), fmt.Sprintf("paper%d/%d/0", y-2020, m))
			}
			return pg.real(fmt.Sprint("paper", y-2020))
		default:
			segs := strings.Split(rest, "/")
			if len(segs) < 3 || len(segs[1]) != 2 {
				return nil
			}
			y, m = number(segs[0])-2020, number(strings.TrimPrefix(segs[1], "0"))-1
			if y < 0 || y >= years || m < 0 || m > 11 {
				return nil
			}
			last := strings.Join(segs[2:], "/")
			switch {
			case last == "", is(last, "page/%d/", &p) && p > 0 && p*5 < stories(y, m):
				for i := p * 5; i < min(p*5+5, stories(y, m)); i++ {
					pg.link(fmt.Sprintf("/paper/%d/%02d/%s-%d", 2020+y, m+1, slug(fmt.Sprint("story", y, m, i)), i), "Read", fmt.Sprintf("story%d/%d/%d", y, m, i))
				}
				if p*5+5 < stories(y, m) {
					pg.link(fmt.Sprintf("/paper/%d/%02d/page/%d/", 2020+y, m+1, p+1), "More", fmt.Sprintf("paper%d/%d/%d", y, m, p+1))
				}
				return pg.real(fmt.Sprintf("paper%d/%d/%d", y, m, p))
			}
			i = number(last[strings.LastIndexByte(last, '-')+1:])
			if i < 0 || i >= stories(y, m) || last != fmt.Sprintf("%s-%d", slug(fmt.Sprint("story", y, m, i)), i) {
				return nil
			}
			pg.para(fmt.Sprint("story", y, m, i), 60)
			pg.link(fmt.Sprintf("/paper/%d/%02d/", 2020+y, m+1), "Month", fmt.Sprintf("paper%d/%d/0", y, m))
			return pg.real(fmt.Sprintf("story%d/%d/%d", y, m, i))
		}
		return nil
	})
}

// threads is a board whose posts have addresses of their own, which redirect to the page of the thread where they stand.
func threads(n int) *part {
	posts := func(t int) int { return 1 + draw(fmt.Sprint("threads", t), 25) }
	var real []string
	for t := range n {
		for p := 0; p*10 < posts(t); p++ {
			real = append(real, fmt.Sprintf("thread%d/%d", t, p))
		}
	}
	traps := []trap{{name: "permalinks"}}
	p := made("/board/", []link{{"/board/", "Board", ""}}, real, traps, func(s *site, rest string, q url.Values) *answer {
		var t, k int
		pg := s.page("Board")
		page := max(query(&url.URL{RawQuery: q.Encode()}, "page", 0), 0)
		switch {
		case rest == "" && page*25 < n:
			for t := page * 25; t < min(n, page*25+25); t++ {
				pg.link(fmt.Sprintf("/board/t/%d", t), name(fmt.Sprint("thread", t)), fmt.Sprintf("thread%d/0", t))
			}
			if page*25+25 < n {
				pg.link(fmt.Sprint("/board/?page=", page+1), "More", "")
			}
			return pg.trap("", fmt.Sprint("board ", page))
		case is(rest, "p/%d", &k) && k/100 < n && k%100 < posts(k/100):
			to := fmt.Sprintf("/board/t/%d", k/100)
			if k%100 >= 10 {
				to += fmt.Sprint("?page=", k%100/10)
			}
			return &answer{status: 302, location: to, trap: "permalinks", says: "there"}
		case is(rest, "t/%d", &t) && t < n && page*10 < posts(t):
			pg.title = name(fmt.Sprint("thread", t))
			for k := page * 10; k < min(posts(t), page*10+10); k++ {
				pg.para(fmt.Sprint("thread", t, "/", k), 15+draw(fmt.Sprint(t, k), 40))
				pg.link(fmt.Sprint("/board/p/", t*100+k), fmt.Sprint("#", k+1), fmt.Sprintf("thread%d/%d", t, page))
			}
			if page*10+10 < posts(t) {
				pg.link(fmt.Sprintf("/board/t/%d?page=%d", t, page+1), "More", fmt.Sprintf("thread%d/%d", t, page+1))
			}
			return pg.real(fmt.Sprintf("thread%d/%d", t, page))
		}
		return nil
	})
	p.need = 1
	return p
}

// press has articles with a version to be printed each; only that links to the article's picture.
func press(n int) *part {
	p := made("/press/", []link{{"/press/", "Press", ""}}, append(ids("press", n), ids("picture", n)...), []trap{{name: "print"}}, func(s *site, rest string, _ url.Values) *answer {
		var i int
		pg := s.page("Press")
		switch {
		case rest == "":
			for i := range n {
				pg.link(fmt.Sprintf("%d.html", i), name(fmt.Sprint("press", i)), fmt.Sprint("press", i))
			}
			return pg.trap("", "press")
		case is(rest, "%d.jpg", &i) && i < n:
			return &answer{kind: "image/jpeg", body: "\xff\xd8\xff" + prose(rest, 60), real: fmt.Sprint("picture", i), says: rest}
		case is(rest, "%d.html", &i) && i < n, is(rest, "%d.print.html", &i) && i < n:
			pg.title = name(fmt.Sprint("press", i))
			pg.para(fmt.Sprint("press", i), 60)
			a := pg
			if pg.bare = strings.Contains(rest, "print"); pg.bare {
				a.link(fmt.Sprintf("%d.jpg", i), "Picture", fmt.Sprint("picture", i))
			} else {
				a.link(fmt.Sprintf("%d.print.html", i), "Print", fmt.Sprint("press", i))
			}
			r := a.real(fmt.Sprint("press", i))
			if pg.bare {
				r.trap = "print"
			}
			return r
		}
		return nil
	})
	p.need = 1
	return p
}

// changes is a list of versions, one behind the other, whose notes say the same but for the number; each has a file.
func changes(n int) *part {
	version := func(i int) string { return fmt.Sprintf("%d.%d.%d", 1+i/100, i/10%10, i%10) }
	return made("/changes/", []link{{"/changes/" + version(0) + "/", "Changes", "version0"}}, append(ids("version", n), ids("file", n)...), nil, func(s *site, rest string, _ url.Values) *answer {
		for i := range n {
			switch rest {
			case version(i) + "/":
				pg := s.page("Version " + version(i))
				pg.text("Version %s: faults were mended, and it is faster. Download it, and tell us what is wrong with %s.", version(i), version(i))
				pg.link("argosy-"+version(i)+".tar.gz", "Download", fmt.Sprint("file", i))
				if i+1 < n {
					pg.link("../"+version(i+1)+"/", "Next", fmt.Sprint("version", i+1))
				}
				if i > 0 {
					pg.link("../"+version(i-1)+"/", "Previous", fmt.Sprint("version", i-1))
				}
				return pg.real(fmt.Sprint("version", i))
			case version(i) + "/argosy-" + version(i) + ".tar.gz":
				return &answer{kind: "application/gzip", body: prose(rest, 80), real: fmt.Sprint("file", i), says: rest}
			}
		}
		return nil
	})
}

// reference describes an interface in three versions that are mostly the same; a tenth of the pages of each is its own.
func reference(n int) *part {
	versions := []string{"v1", "v2", "latest"}
	id := func(v, i int) string {
		if i%10 == 3 {
			return fmt.Sprintf("reference%d/%d", i, v)
		}
		return fmt.Sprint("reference", i)
	}
	var real []string
	for v := range versions {
		for i := range n {
			if r := id(v, i); !slices.Contains(real, r) {
				real = append(real, r)
			}
		}
	}
	p := made("/reference/", []link{{"/reference/v1/", "Reference", id(0, 0)}}, real, []trap{{name: "versions"}}, func(s *site, rest string, _ url.Values) *answer {
		for v, dir := range versions {
			file, ok := strings.CutPrefix(rest, dir+"/")
			i := 0
			if !ok || file != "" && !(is(file, "part%d.html", &i) && i > 0 && i < n) {
				continue
			}
			pg := s.page(name(fmt.Sprint("reference", i)))
			pg.para(id(v, i), 90)
			for k := i*6 + 1; k <= i*6+6 && k < n; k++ {
				pg.link(fmt.Sprintf("part%d.html", k), name(fmt.Sprint("reference", k)), id(v, k))
			}
			for w, other := range versions {
				to := "/reference/" + other + "/" + file
				pg.link(to, other, id(w, i))
			}
			a := pg.real(id(v, i))
			if v > 0 {
				a.trap = "versions"
			}
			return a
		}
		return nil
	})
	p.need = 1
	return p
}

// tongues has articles in five languages; four of ten are not translated and stand there in English.
func tongues(n int) *part {
	langs := []string{"en", "de", "fr", "it", "pl"}
	id := func(l, i int) string {
		if i%10 < 4 {
			l = 0
		}
		return fmt.Sprintf("tongue%d/%d", l, i)
	}
	var real []string
	for l := range langs {
		for i := range n {
			if r := id(l, i); !slices.Contains(real, r) {
				real = append(real, r)
			}
		}
	}
	p := made("/tongues/", []link{{"/tongues/en/0.html", "Tongues", id(0, 0)}}, real, []trap{{name: "not translated"}}, func(s *site, rest string, _ url.Values) *answer {
		lang, file, _ := strings.Cut(rest, "/")
		l, i := slices.Index(langs, lang), 0
		if l < 0 || !is(file, "%d.html", &i) || i >= n {
			return nil
		}
		pg := s.page(name(id(l, i)))
		pg.para(id(l, i), 80)
		for k, other := range langs {
			pg.link("/tongues/"+other+"/"+file, other, id(k, i))
		}
		for _, k := range []int{i + 1, draw(file, n)} {
			if k < n {
				pg.link(fmt.Sprintf("%d.html", k), name(id(l, k)), id(l, k))
			}
		}
		a := pg.real(id(l, i))
		if l > 0 && i%10 < 4 {
			a.trap = "not translated"
		}
		return a
	})
	p.need = 1
	return p
}

// keywords is a cloud of 200 keywords with a page each, by which alone the articles are found.
func keywords(n int) *part {
	const words = 200
	word := func(k int) string { return vocabulary[300+k*23] }
	return made("/words/", []link{{"/words/", "Keywords", ""}}, ids("keyed", n), nil, func(s *site, rest string, _ url.Values) *answer {
		var i int
		pg := s.page("Keywords")
		if is(rest, "article/%d", &i) && i < n {
			pg.title = name(fmt.Sprint("keyed", i))
			pg.para(fmt.Sprint("keyed", i), 60)
			for k := range 3 {
				w := word((i + k*k*31) % words)
				pg.link("/words/"+w, w, "")
			}
			return pg.real(fmt.Sprint("keyed", i))
		}
		if rest == "" {
			for k := range words {
				pg.link("/words/"+word(k), word(k), "")
			}
			return pg.trap("", "cloud")
		}
		for w := range words {
			if word(w) != rest {
				continue
			}
			for i := range n {
				if i%words == w || (i+31)%words == w || (i+124)%words == w {
					pg.link(fmt.Sprint("/words/article/", i), name(fmt.Sprint("keyed", i)), fmt.Sprint("keyed", i))
				}
			}
			return pg.trap("", "word "+rest)
		}
		return nil
	})
}

// shelves is a shop that shows twelve wares of a choice at most: the others are found only by a closer choice.
func shelves(n int) *part {
	facet := []struct {
		name   string
		values int
	}{{"kind", 10}, {"maker", 12}, {"price", 5}}
	value := func(i, f int) int { return draw(fmt.Sprint("shelf", i, "/", f), facet[f].values) }
	find := func(chosen []int) (fits []int) {
		for i := range n {
			ok := true
			for f, v := range chosen {
				ok = ok && (v < 0 || value(i, f) == v)
			}
			if ok {
				fits = append(fits, i)
			}
		}
		return fits
	}
	var real []string
	for k := range facet[0].values {
		for m := range facet[1].values {
			for p := range facet[2].values {
				fits := find([]int{k, m, p})
				for _, i := range fits[:min(12, len(fits))] {
					real = append(real, fmt.Sprint("shelved", i))
				}
			}
		}
	}
	p := made("/shelves", []link{{"/shelves", "Shelves", ""}}, real, []trap{{name: "choices"}}, func(s *site, rest string, q url.Values) *answer {
		var i int
		pg := s.page("Shelves")
		if is(rest, "/ware/%d", &i) && i < n {
			pg.title = name(fmt.Sprint("shelved", i))
			pg.para(fmt.Sprint("shelved", i), 50)
			return pg.real(fmt.Sprint("shelved", i))
		}
		if rest != "" {
			return nil
		}
		chosen := []int{-1, -1, -1}
		for f := range facet {
			if q.Has(facet[f].name) {
				chosen[f] = number(q.Get(facet[f].name))
			}
		}
		says := "shelves"
		fits := find(chosen)
		for _, i := range fits[:min(12, len(fits))] {
			pg.link(fmt.Sprint("/shelves/ware/", i), name(fmt.Sprint("shelved", i)), fmt.Sprint("shelved", i))
			says += fmt.Sprint(" ", i)
		}
		for f := range facet {
			for v := range facet[f].values {
				o := url.Values{}
				for g := range facet {
					if chosen[g] >= 0 {
						o.Set(facet[g].name, fmt.Sprint(chosen[g]))
					}
				}
				o.Set(facet[f].name, fmt.Sprint(v))
				if chosen[f] < 0 {
					pg.link("/shelves?"+o.Encode(), fmt.Sprint(facet[f].name, " ", v), "")
				}
			}
		}
		return pg.trap("choices", says)
	})
	p.need = 1
	return p
}

// tables has a page of numbers for each month of forty years, which differ in nothing else.
func tables() *part {
	const years = 40
	var real []string
	for y := range years {
		real = append(real, fmt.Sprint("table", y))
		for m := range 12 {
			real = append(real, fmt.Sprintf("table%d/%d", y, m))
		}
	}
	return made("/tables/", []link{{"/tables/", "Tables", ""}}, real, nil, func(s *site, rest string, _ url.Values) *answer {
		var y, m int
		pg := s.page("Tables")
		switch {
		case rest == "":
			for y := range years {
				pg.link(fmt.Sprintf("%d/", 1980+y), fmt.Sprint(1980+y), fmt.Sprint("table", y))
			}
			return pg.trap("", "tables")
		case is(rest, "%d/", &y) && y >= 1980 && y < 1980+years:
			for m := range 12 {
				pg.link(fmt.Sprintf("%d.html", m+1), fmt.Sprint(m+1), fmt.Sprintf("table%d/%d", y-1980, m))
			}
			return pg.real(fmt.Sprint("table", y-1980))
		case is(rest, "%d/%d.html", &y, &m) && y >= 1980 && y < 1980+years && m > 0 && m < 13:
			r := rng(rest)
			for range 20 {
				pg.text("%d %d %d", r.IntN(1000), r.IntN(1000), r.IntN(1000))
			}
			pg.link("./", "Year", fmt.Sprint("table", y-1980))
			return pg.real(fmt.Sprintf("table%d/%d", y-1980, m-1))
		}
		return nil
	})
}

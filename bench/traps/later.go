package main

import (
	"fmt"
	"net/url"
	"slices"
	"sort"
	"strings"
)

// Webs that were written before a change of the rule, and looked at after it.

// copies is an archive of files whose directories are had under other names as well, each within the other, and sorted.
func copies(n int) *part {
	traps := []trap{{name: "copies", endless: true, mark: "/pub/"}}
	return made("/pub/", []link{{"/pub/", "Files", ""}}, ids("copy", n), traps, func(s *site, rest string, q url.Values) *answer {
		trap := ""
		if len(q) > 0 {
			trap = "copies"
		}
		for {
			next, ok := strings.CutPrefix(rest, "mirror/")
			if !ok {
				if next, ok = strings.CutPrefix(rest, "current/"); !ok {
					break
				}
			}
			rest, trap = next, "copies"
		}
		var d, i int
		pg := s.page("Index")
		pg.bare = true
		switch {
		case rest == "":
			pg.link("mirror/", "mirror/", "")
			pg.link("current/", "current/", "")
			for d := range n / 20 {
				pg.link(fmt.Sprintf("dir%d/", d), fmt.Sprintf("dir%d/", d), "")
			}
			return pg.trap(trap, "index")
		case is(rest, "dir%d/", &d) && d < n/20:
			for _, by := range []string{"N", "M", "S", "D"} {
				pg.link("?C="+by+"&O=A", by, "")
				pg.link("?C="+by+"&O=D", by, "")
			}
			var all []int
			for i := range 20 {
				all = append(all, d*20+i)
			}
			by := q.Get("C") + q.Get("O")
			sort.Slice(all, func(x, y int) bool { return draw(fmt.Sprint(by, all[x]), 999) < draw(fmt.Sprint(by, all[y]), 999) })
			for _, i := range all {
				pg.link(fmt.Sprintf("file%d.html", i), fmt.Sprintf("file%d.html", i), fmt.Sprint("copy", i))
				pg.row(fmt.Sprintf("%d", draw(fmt.Sprint("size", i), 90000)), "2024-03-11 09:12")
			}
			return pg.trap(trap, fmt.Sprint("dir", d))
		case is(rest, "dir%d/file%d.html", &d, &i) && i < n && i/20 == d:
			pg.para(fmt.Sprint("copy", i), 60)
			a := pg.real(fmt.Sprint("copy", i))
			a.trap = trap
			return a
		}
		return nil
	})
}

// cookieless puts a session of its own into the path before each of its articles, for each reader anew.
func cookieless(n int) *part {
	asked := 0
	traps := []trap{{name: "sessions", endless: true, mark: "/app/"}}
	return made("/app/", []link{{"/app/default.aspx", "App", ""}}, ids("app", n), traps, func(s *site, rest string, q url.Values) *answer {
		asked++
		r := rng(fmt.Sprint("app", asked))
		id := fmt.Sprintf("(S(%s%03d%s%02d))", vocabulary[100+r.IntN(2000)], r.IntN(1000), vocabulary[100+r.IntN(2000)], r.IntN(90))
		trap := ""
		if strings.HasPrefix(rest, "(S(") {
			_, rest, _ = strings.Cut(rest, "/")
			trap = "sessions"
		}
		i := number(q.Get("id"))
		if rest != "default.aspx" && (rest != "show.aspx" || i < 0 || i >= n) {
			return nil
		}
		pg := s.page("App")
		if rest == "default.aspx" {
			for i := 0; i < n; i += 10 {
				pg.link(fmt.Sprintf("/app/%s/show.aspx?id=%d", id, i), name(fmt.Sprint("app", i)), fmt.Sprint("app", i))
			}
			return pg.trap(trap, "app")
		}
		pg.title = name(fmt.Sprint("app", i))
		pg.para(fmt.Sprint("app", i), 50)
		if i+1 < n {
			pg.link(fmt.Sprintf("/app/%s/show.aspx?id=%d", id, i+1), "Next", fmt.Sprint("app", i+1))
		}
		pg.link(fmt.Sprintf("/app/%s/default.aspx", id), "Start", "")
		a := pg.real(fmt.Sprint("app", i))
		a.trap = trap
		return a
	})
}

// lost answers what is not there with a few of 400 sentences and of its addresses, drawn anew each time.
func lost(n int) *part {
	asked := 0
	traps := []trap{{name: "answers", endless: true, mark: "/lost/"}}
	return made("/lost/", []link{{"/lost/index", "Lost", ""}}, ids("found", n), traps, func(s *site, rest string, _ url.Values) *answer {
		asked++
		r := rng(fmt.Sprint("lost", asked))
		var i int
		if is(rest, "article-%d", &i) && i < n {
			pg := s.page(name(fmt.Sprint("found", i)))
			pg.para(fmt.Sprint("found", i), 50)
			for _, k := range []int{2*i + 1, 2*i + 2} {
				if k < n {
					pg.link(fmt.Sprint("/lost/article-", k), name(fmt.Sprint("found", k)), fmt.Sprint("found", k))
				}
			}
			return pg.real(fmt.Sprint("found", i))
		}
		pg := s.page("Did you mean…")
		says := false
		for range 4 {
			no := fmt.Sprint("sentence", r.IntN(400))
			pg.text("%s", prose(no, 14))
			pg.targets = append(pg.targets, no) // who reads one for the first time has read something new
		}
		for range 5 {
			pg.link(fmt.Sprintf("/lost/%s-%s", vocabulary[50+r.IntN(2000)], vocabulary[50+r.IntN(2000)]), "this", "")
		}
		if rest == "index" {
			pg.link("/lost/article-0", name("found0"), "found0")
			says = true
		}
		return pg.trap("answers", fmt.Sprint("not here", says))
	})
}

// comments is a blog with forms to answer each comment, buttons to share, and articles seen last in the address.
func comments(n int) *part {
	traps := []trap{{name: "seen last", endless: true, mark: "/blog/"}, {name: "forms and buttons"}}
	return made("/blog/", []link{{"/blog/0", "Blog", "blog0"}}, ids("blog", n), traps, func(s *site, rest string, q url.Values) *answer {
		i := number(rest)
		if i < 0 || i >= n {
			return nil
		}
		pg := s.page(name(fmt.Sprint("blog", i)))
		pg.para(fmt.Sprint("blog", i), 60)
		for k := range i % 6 {
			pg.para(fmt.Sprint("comment", i, ".", k), 12)
			pg.link(fmt.Sprintf("/blog/%d?replytocom=%d", i, i*10+k), "Answer", "")
		}
		for _, by := range strings.Fields("mail print news") {
			pg.link(fmt.Sprintf("/blog/%d?share=%s", i, by), by, "")
		}
		seen := strings.TrimPrefix(q.Get("seen")+"."+rest, ".")
		if all := strings.Split(seen, "."); len(all) > 5 {
			seen = strings.Join(all[len(all)-5:], ".")
		}
		for _, k := range []int{2*i + 1, 2*i + 2, draw(fmt.Sprint("blog", i), n), draw(fmt.Sprint("other blog", i), n)} {
			if k < n {
				pg.link(fmt.Sprintf("/blog/%d?seen=%s", k, seen), name(fmt.Sprint("blog", k)), fmt.Sprint("blog", k))
			}
		}
		if q.Has("seen") {
			pg.text("Seen last:")
			for v := range strings.SplitSeq(q.Get("seen"), ".") {
				pg.text("%s", name("blog"+v))
			}
		}
		a := pg.real(fmt.Sprint("blog", i))
		switch {
		case q.Has("replytocom") || q.Has("share"):
			a.trap = "forms and buttons"
		case strings.Contains(q.Get("seen"), "."):
			a.trap = "seen last"
		}
		return a
	})
}

// tiles is a map whose tiles lead to four smaller ones each, with their corners in a table; on 16 of them there is a place.
func tiles() *part {
	traps := []trap{{name: "tiles", endless: true, mark: "/map/"}}
	return made("/map/", []link{{"/map/0/0/0", "Map", ""}}, ids("spot", 16), traps, func(s *site, rest string, _ url.Values) *answer {
		var i, z, x, y int
		if is(rest, "spot/%d", &i) && i < 16 {
			pg := s.page(name(fmt.Sprint("spot", i)))
			pg.para(fmt.Sprint("spot", i), 50)
			return pg.real(fmt.Sprint("spot", i))
		}
		if !is(rest, "%d/%d/%d", &z, &x, &y) || z > 40 || x >= 1<<z || y >= 1<<z {
			return nil
		}
		pg := s.page("Map")
		side := 360 / float64(int(1)<<z)
		pg.row("West", fmt.Sprintf("%.6f", float64(x)*side-180), "East", fmt.Sprintf("%.6f", float64(x+1)*side-180))
		pg.row("North", fmt.Sprintf("%.6f", 90-float64(y)*side/2), "South", fmt.Sprintf("%.6f", 90-float64(y+1)*side/2))
		for _, d := range [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
			pg.link(fmt.Sprintf("/map/%d/%d/%d", z+1, 2*x+d[0], 2*y+d[1]), "Closer", "")
		}
		says := "tile"
		if z == 2 {
			i := x*4 + y
			pg.link(fmt.Sprint("/map/spot/", i), name(fmt.Sprint("spot", i)), fmt.Sprint("spot", i))
			says = fmt.Sprint("tile with spot ", i)
		}
		return pg.trap("tiles", says)
	})
}

// glossary has a short entry for each word, in lists by letters with pages.
func glossary(n int) *part {
	return made("/glossary/", []link{{"/glossary/", "Glossary", ""}}, ids("term", n), nil, func(s *site, rest string, _ url.Values) *answer {
		var l, p, i int
		pg := s.page("Glossary")
		switch {
		case rest == "":
			for l := range 20 {
				pg.link(fmt.Sprintf("letter-%d/page-0", l), fmt.Sprint(l), "")
			}
			return pg.trap("", "glossary")
		case is(rest, "letter-%d/page-%d", &l, &p) && l < 20 && p*20*20 < n:
			for k := p * 20; k < p*20+20 && k*20+l < n; k++ {
				pg.link(fmt.Sprint("/glossary/term-", k*20+l), vocabulary[50+k*20+l], fmt.Sprint("term", k*20+l))
			}
			if (p+1)*400 < n {
				pg.link(fmt.Sprintf("/glossary/letter-%d/page-%d", l, p+1), "More", "")
			}
			return pg.trap("", rest)
		case is(rest, "term-%d", &i) && i < n:
			pg.title = vocabulary[50+i]
			pg.text("%s: see %s and %s.", vocabulary[50+i], vocabulary[50+draw(fmt.Sprint("a", i), n)], vocabulary[50+draw(fmt.Sprint("b", i), n)])
			pg.link("/glossary/", "Glossary", "")
			return pg.real(fmt.Sprint("term", i))
		}
		return nil
	})
}

func later() (ws []*web) {
	for _, p := range []*part{copies(400), cookieless(300), lost(100), comments(200), tiles(), glossary(1200)} {
		p.drawn = slices.Contains([]string{"app", "lost"}, p.name)
		ws = append(ws, single(p.name, p, library(200)))
	}
	return ws
}

package main

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Traps of which each turn is one that the others do not have.

// history is a store of source text: each change has a page, a tree and its files, most of them as they were before.
func history(changes, files int) *part {
	last := func(c, f int) int { // change in which a file was written last
		for ; c > 0 && (c*5+3)%files != f; c-- {
		}
		return c
	}
	real := ids("change", changes)
	for c := range changes {
		real = append(real, fmt.Sprintf("file%d/%d", (c*5+3)%files, c))
	}
	traps := []trap{{name: "trees"}, {name: "old files"}}
	return made("/git/", []link{{"/git/?a=log&page=0", "Source", ""}}, real, traps, func(s *site, rest string, q url.Values) *answer {
		hash := func(c int) string {
			return fmt.Sprintf("%016x%016x", rng(fmt.Sprint("c", c)).Uint64(), rng(fmt.Sprint("d", c)).Uint64())
		}
		c := -1
		for k := range changes {
			if q.Get("h") == hash(k) {
				c = k
			}
		}
		pg := s.page("Source")
		page, f := number(q.Get("page")), number(q.Get("f"))
		switch a := q.Get("a"); {
		case rest != "":
		case a == "log" && page >= 0 && page*20 < changes:
			for k := changes - 1 - page*20; k >= max(0, changes-20-page*20); k-- {
				pg.link("/git/?a=commit&h="+hash(k), name(fmt.Sprint("change", k)), fmt.Sprint("change", k))
			}
			if page*20+20 < changes {
				pg.link(fmt.Sprint("/git/?a=log&page=", page+1), "Older", "")
			}
			return pg.trap("", fmt.Sprint("log ", page))
		case c < 0:
		case a == "commit":
			pg.title = name(fmt.Sprint("change", c))
			pg.para(fmt.Sprint("change", c), 30)
			of := (c*5 + 3) % files
			pg.link(fmt.Sprintf("/git/?a=blob&h=%s&f=%d", hash(c), of), "File", fmt.Sprintf("file%d/%d", of, c))
			pg.link("/git/?a=tree&h="+hash(c), "Tree", "")
			if c > 0 {
				pg.link("/git/?a=commit&h="+hash(c-1), "Parent", fmt.Sprint("change", c-1))
			}
			return pg.real(fmt.Sprint("change", c))
		case a == "tree":
			for f := range files {
				pg.link(fmt.Sprintf("/git/?a=blob&h=%s&f=%d", hash(c), f), name(fmt.Sprint("source", f)), fmt.Sprintf("file%d/%d", f, last(c, f)))
			}
			return pg.trap("trees", "tree")
		case a == "blob" && f >= 0 && f < files:
			l := last(c, f)
			pg.title = name(fmt.Sprint("source", f))
			pg.para(fmt.Sprint("source", f), 60)
			pg.para(fmt.Sprint("source", f, " of ", l), 40)
			id := fmt.Sprintf("file%d/%d", f, l)
			if l == 0 && (l*5+3)%files != f {
				id = fmt.Sprint("first", f)
			}
			r := pg.real(id)
			if l != c {
				r.trap = "old files"
			}
			return r
		}
		return nil
	})
}

// results is a search with three new results a page, which goes on with old ones for ever when there are no more.
func results(n int) *part {
	traps := []trap{{name: "more results", endless: true, mark: "/results"}}
	return made("/results", []link{{"/results?start=0", "Results", ""}}, ids("result", n), traps, func(s *site, rest string, q url.Values) *answer {
		var i int
		pg := s.page("Results")
		if is(rest, "/doc-%d", &i) && i < n {
			pg.title = name(fmt.Sprint("result", i))
			pg.para(fmt.Sprint("result", i), 60)
			return pg.real(fmt.Sprint("result", i))
		}
		start := number(q.Get("start"))
		if rest != "" || start < 0 || start%10 != 0 {
			return nil
		}
		from, says := start/10*3, ""
		for k := range 10 {
			i := from + k
			if k >= 3 || i >= n {
				i = draw(fmt.Sprint("old", start, k), min(n, from+1))
			}
			says += fmt.Sprint(" ", i)
			pg.link(fmt.Sprint("/results/doc-", i), name(fmt.Sprint("result", i)), fmt.Sprint("result", i))
		}
		pg.link(fmt.Sprint("/results?start=", start+10), "Next", "")
		if from >= n {
			says = " old"
		}
		return pg.trap("more results", "results"+says)
	})
}

// chance has articles with a link to any other one, which is a redirect made anew for each answer.
func chance(n int) *part {
	traps := []trap{{name: "draws", endless: true, mark: "/chance/"}}
	return made("/chance/", []link{{"/chance/0", "Chance", "chance0"}}, ids("chance", n), traps, func(s *site, rest string, q url.Values) *answer {
		if rest == "any" && q.Get("draw") != "" {
			i := draw(q.Get("draw"), n)
			return &answer{status: 302, location: fmt.Sprintf("/chance/%d?from=%s", i, q.Get("draw")), trap: "draws", says: fmt.Sprint("chance", i)}
		}
		i := number(rest)
		if i < 0 || i >= n {
			return nil
		}
		pg := s.page(name(fmt.Sprint("chance", i)))
		pg.para(fmt.Sprint("chance", i), 60)
		for _, k := range []int{2*i + 1, 2*i + 2} {
			if k < n {
				pg.link(fmt.Sprint("/chance/", k), name(fmt.Sprint("chance", k)), fmt.Sprint("chance", k))
			}
		}
		pg.link("/chance/any?draw="+sessionID("draw", rest+q.Encode()), "Any", "")
		a := pg.real(fmt.Sprint("chance", i))
		if len(q) > 0 {
			a.trap = "draws"
		}
		return a
	})
}

// ticker shows numbers of a moment, and leads to those of a minute later.
func ticker() *part {
	traps := []trap{{name: "moments", endless: true, mark: "/ticker"}}
	return made("/ticker", []link{{"/ticker?at=1790000000", "Ticker", ""}}, nil, traps, func(s *site, rest string, q url.Values) *answer {
		at := number(q.Get("at"))
		if rest != "" || at < 0 {
			return nil
		}
		pg := s.page("Ticker")
		for _, what := range strings.Fields("gold silver wheat copper cotton") {
			pg.text("%s: %d.%02d, %d pieces", what, draw(fmt.Sprint(what, at), 2000), draw(fmt.Sprint(at, what), 100), draw(fmt.Sprint(what, "#", at), 9000))
		}
		for _, step := range []int{60, 3600, -60} {
			pg.link(fmt.Sprint("/ticker?at=", at+step), "→", "")
		}
		return pg.trap("moments", "prices")
	})
}

// trail has articles whose links say by which articles a reader came.
func trail(n int) *part {
	traps := []trap{{name: "trails", endless: true, mark: "/trail/"}}
	return made("/trail/", []link{{"/trail/0", "Trail", "trail0"}}, ids("trail", n), traps, func(s *site, rest string, q url.Values) *answer {
		i := number(rest)
		if i < 0 || i >= n {
			return nil
		}
		pg := s.page(name(fmt.Sprint("trail", i)))
		pg.para(fmt.Sprint("trail", i), 60)
		via := strings.TrimPrefix(q.Get("via")+"-"+rest, "-")
		for _, k := range []int{2*i + 1, 2*i + 2, draw(rest, n), i / 2} {
			if k < n {
				pg.link(fmt.Sprintf("/trail/%d?via=%s", k, via), name(fmt.Sprint("trail", k)), fmt.Sprint("trail", k))
			}
		}
		a := pg.real(fmt.Sprint("trail", i))
		if strings.Contains(q.Get("via"), "-") {
			a.trap = "trails"
		}
		return a
	})
}

// narrow is a shop whose choices are segments of the path, in the order in which they were made.
func narrow(n int) *part {
	kinds := []string{"red", "green", "blue", "small", "large", "cotton", "wool", "sale", "new", "kids", "men", "women"}
	has := func(i, k int) bool { return draw(fmt.Sprint("narrow", i, "/", k), 4) == 0 }
	traps := []trap{{name: "orders of choices", endless: true, mark: "/narrow/"}}
	return made("/narrow/", []link{{"/narrow/all", "Clothes", ""}}, ids("cloth", n), traps, func(s *site, rest string, q url.Values) *answer {
		var i int
		pg := s.page("Clothes")
		if is(rest, "item-%d", &i) && i < n {
			pg.title = name(fmt.Sprint("cloth", i))
			pg.para(fmt.Sprint("cloth", i), 50)
			return pg.real(fmt.Sprint("cloth", i))
		}
		all, chosen, _ := strings.Cut(rest, "/")
		if all != "all" || len(q) > 0 && number(q.Get("page")) < 0 {
			return nil
		}
		var with []int
		for c := range strings.SplitSeq(chosen, "/") {
			if k := slices.Index(kinds, c); k >= 0 && !slices.Contains(with, k) {
				with = append(with, k)
			} else if c != "" {
				return nil
			}
		}
		var fits []int
		for i := range n {
			ok := true
			for _, k := range with {
				ok = ok && has(i, k)
			}
			if ok {
				fits = append(fits, i)
			}
		}
		page := max(number(q.Get("page")), 0)
		shown := fits[min(len(fits), page*20):min(len(fits), page*20+20)]
		for _, i := range shown {
			pg.link(fmt.Sprint("/narrow/item-", i), name(fmt.Sprint("cloth", i)), fmt.Sprint("cloth", i))
		}
		if page*20+20 < len(fits) {
			pg.link(fmt.Sprintf("/narrow/%s?page=%d", rest, page+1), "More", "")
		}
		for k, kind := range kinds {
			if !slices.Contains(with, k) {
				pg.link("/narrow/"+rest+"/"+kind, kind, "")
			}
		}
		return pg.trap("orders of choices", fmt.Sprint("clothes", shown))
	})
}

// rota is a plan by weeks that goes on for ever and has a duty now and then in the next year, with three forms a day.
func rota() *part {
	const first, weeks = 47, 60
	traps := []trap{{name: "weeks", endless: true, mark: "/rota"}}
	return made("/rota", []link{{"/rota/2026/w47", "Rota", ""}}, ids("duty", weeks/3), traps, func(s *site, rest string, q url.Values) *answer {
		var y, w, i int
		pg := s.page("Rota")
		switch {
		case is(rest, "/duty/%d", &i) && i < weeks/3:
			pg.title = name(fmt.Sprint("duty", i))
			pg.para(fmt.Sprint("duty", i), 50)
			return pg.real(fmt.Sprint("duty", i))
		case rest == "/book" || rest == "/swap":
			pg.text("Only for members. You wanted week %s.", q.Get("week"))
			return pg.trap("weeks", rest)
		case is(rest, "/%d/w%d", &y, &w) && w > 0 && w <= 52:
			n := (y-2026)*52 + w - first
			says := "week"
			if n >= 0 && n < weeks && n%3 == 1 {
				pg.link(fmt.Sprint("/rota/duty/", n/3), name(fmt.Sprint("duty", n/3)), fmt.Sprint("duty", n/3))
				says = fmt.Sprint("week ", n)
			}
			for d := range 5 {
				pg.link(fmt.Sprintf("/rota/book?week=%d-%02d&day=%d", y, w, d), "Book", "")
				pg.link(fmt.Sprintf("/rota/swap?week=%d-%02d&day=%d", y, w, d), "Swap", "")
			}
			for _, step := range []int{1, 4} {
				at := y*52 + w - 1 + step
				pg.link(fmt.Sprintf("/rota/%d/w%d", at/52, at%52+1), "→", "")
			}
			return pg.trap("weeks", says)
		}
		return nil
	})
}

// turns returns these webs.
func turns() (ws []*web) {
	for _, p := range []*part{history(60, 40), results(300), chance(150), ticker(), trail(150), narrow(400), rota()} {
		ws = append(ws, single(p.name, p, library(200)))
	}
	return ws
}

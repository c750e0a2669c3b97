package main

import (
	"fmt"
	"net/url"
	"slices"
	"sort"
	"strings"
)

// Sites of figures, counters and tables, and pages that say the same in another way each time.

// bulletins are posts that follow each other and whose sentences differ in their figures only.
func bulletins(n int) *part {
	return made("/bulletins/", []link{{"/bulletins/0", "Bulletins", "bulletin0"}}, ids("bulletin", n), nil, func(s *site, rest string, _ url.Values) *answer {
		i := number(rest)
		if i < 0 || i >= n {
			return nil
		}
		pg := s.page(fmt.Sprint("Bulletin ", i))
		r := rng(fmt.Sprint("bulletin", i))
		pg.text("At noon the river stood at %.2f m and the air was at %.1f degrees. %d boats passed the lock, %d of them with cargo.", 2+r.Float64()*4, r.Float64()*30, r.IntN(300), r.IntN(100))
		pg.text("The mill took %d sacks of wheat at %.2f a sack, and the ferry carried %d people.", 100+r.IntN(900), 10+r.Float64()*9, r.IntN(2000))
		for _, k := range []int{i + 1, i - 1} {
			if k >= 0 && k < n {
				pg.link(fmt.Sprint("/bulletins/", k), "→", fmt.Sprint("bulletin", k))
			}
		}
		return pg.real(fmt.Sprint("bulletin", i))
	})
}

// priceList has wares of which only name, price and measures differ, in categories that can be sorted.
func priceList(n int) *part {
	const cats = 20
	traps := []trap{{name: "orders"}}
	return made("/prices", []link{{"/prices?cat=0", "Prices", ""}}, ids("price", n), traps, func(s *site, rest string, q url.Values) *answer {
		var i int
		short := func(i int) string {
			r := rng(fmt.Sprint("price", i))
			return vocabulary[60+r.IntN(80)] + " " + vocabulary[60+r.IntN(80)]
		}
		if is(rest, "/item/%d", &i) && i < n {
			r := rng(fmt.Sprint("measures", i))
			pg := s.page(short(i))
			pg.text("Article number: %06d. In stock: %d.", i*37, r.IntN(100))
			pg.row("Price", fmt.Sprintf("%.2f €", r.Float64()*300))
			for _, what := range strings.Fields("Height Width Depth Weight") {
				pg.row(what, fmt.Sprintf("%.1f", r.Float64()*200))
			}
			pg.link(fmt.Sprint("/prices?cat=", i%cats), "Category", "")
			return pg.real(fmt.Sprint("price", i))
		}
		c, p := number(q.Get("cat")), max(0, number(q.Get("page")))
		if rest != "" || c < 0 || c >= cats || p*10*cats >= n {
			return nil
		}
		pg := s.page(fmt.Sprint("Category ", c))
		says := fmt.Sprint("prices", c, " ", p, q.Get("sort"))
		var all []int
		for i := c; i < n; i += cats {
			all = append(all, i)
		}
		if by := q.Get("sort"); by != "" {
			sort.Slice(all, func(x, y int) bool { return draw(fmt.Sprint(by, all[x]), 1000) < draw(fmt.Sprint(by, all[y]), 1000) })
		}
		for _, i := range all[p*10 : min(len(all), p*10+10)] {
			pg.link(fmt.Sprint("/prices/item/", i), short(i), fmt.Sprint("price", i))
			pg.text("%.2f €", float64(draw(fmt.Sprint("measures", i), 30000))/100)
		}
		with := func(key, value string) string {
			o := url.Values{}
			for k, v := range q {
				o[k] = v
			}
			o.Set(key, value)
			return "/prices?" + o.Encode()
		}
		for _, by := range strings.Fields("price name stock") {
			pg.link(with("sort", by), by, "")
		}
		if p*10+10 < len(all) {
			pg.link(with("page", fmt.Sprint(p+1)), "More", "")
		}
		for c := range cats {
			pg.link(fmt.Sprint("/prices?cat=", c), fmt.Sprint("Category ", c), "")
		}
		if q.Has("sort") {
			return pg.trap("orders", says)
		}
		return pg.trap("", says)
	})
}

// counters is a forum whose pages count readers, say who is there, and carry another session in each link.
func counters(n int) *part {
	traps := []trap{{name: "sessions", endless: true, mark: "/board"}}
	asked := 0
	return made("/board/", []link{{"/board/list?page=0", "Board", ""}}, ids("thread", n), traps, func(s *site, rest string, q url.Values) *answer {
		asked++
		r := rng(fmt.Sprint("asked", asked))
		sid := func() string { return fmt.Sprintf("&sid=%016x%016x", r.Uint64(), r.Uint64()) }
		foot := func(pg *page) {
			pg.text("Read %d times. %d members and %d guests are here, among them %s and %s. Most were %d, at %02d:%02d. Made in %.4f s by %d queries.", 100+asked, r.IntN(90), r.IntN(500),
				vocabulary[200+r.IntN(900)], vocabulary[200+r.IntN(900)], 900+r.IntN(9), r.IntN(24), r.IntN(60), r.Float64(), r.IntN(40))
		}
		t, p := number(q.Get("t")), number(q.Get("page"))
		trap := ""
		if q.Has("sid") {
			trap = "sessions"
		}
		switch {
		case rest == "list" && p >= 0 && p*20 < n:
			pg := s.page("Board")
			for k := p * 20; k < min(n, p*20+20); k++ {
				pg.link(fmt.Sprint("/board/read?t=", k, sid()), name(fmt.Sprint("thread", k)), fmt.Sprint("thread", k))
			}
			if p*20+20 < n {
				pg.link(fmt.Sprint("/board/list?page=", p+1, sid()), "Older", "")
			}
			foot(pg)
			return pg.trap(trap, fmt.Sprint("board ", p))
		case rest == "read" && t >= 0 && t < n:
			pg := s.page(name(fmt.Sprint("thread", t)))
			for k := range 1 + t%4 {
				pg.para(fmt.Sprint("thread", t, ".", k), 18)
			}
			pg.link("/board/list?page=0"+sid(), "Board", "")
			foot(pg)
			a := pg.real(fmt.Sprint("thread", t))
			a.trap = trap
			return a
		}
		return nil
	})
}

// programme is a calendar by months, weeks and days with what happens on some of them in two years.
func programme(n int) *part {
	traps := []trap{{name: "calendar", endless: true, mark: "/programme"}}
	on := map[int]int{}
	for i := range n {
		on[2026*372+draw(fmt.Sprint("show", i), 744)] = i
	}
	var real []string
	for _, i := range on {
		real = append(real, fmt.Sprint("show", i))
	}
	sort.Strings(real)
	return made("/programme", []link{{"/programme?date=2026-11-01&view=month", "Programme", ""}}, real, traps, func(s *site, rest string, q url.Values) *answer {
		var i, y, m, d int
		if is(rest, "/show-%d", &i) && i < n {
			pg := s.page(name(fmt.Sprint("show", i)))
			pg.para(fmt.Sprint("show", i), 50)
			return pg.real(fmt.Sprint("show", i))
		}
		if _, err := fmt.Sscanf(q.Get("date"), "%d-%d-%d", &y, &m, &d); err != nil || rest != "" || m < 1 || m > 12 || d < 1 || d > 31 {
			return nil
		}
		at := y*372 + (m-1)*31 + d - 1
		days := map[string]int{"month": 31, "week": 7, "day": 1}[q.Get("view")]
		if days == 0 {
			return nil
		}
		date := func(at int) string { return fmt.Sprintf("%d-%02d-%02d", at/372, at/31%12+1, at%31+1) }
		pg := s.page(fmt.Sprintf("Programme of %s", q.Get("date")))
		says := q.Get("view")
		for k := at; k < at+days; k++ {
			pg.link("/programme?date="+date(k)+"&view=day", fmt.Sprint(k%31+1), "")
			if i, ok := on[k]; ok {
				pg.link(fmt.Sprint("/programme/show-", i), name(fmt.Sprint("show", i)), fmt.Sprint("show", i))
				says += fmt.Sprint(" ", i)
			}
		}
		for _, view := range []string{"month", "week", "day"} {
			pg.link("/programme?date="+q.Get("date")+"&view="+view, view, "")
		}
		for _, step := range []int{days, -days} {
			pg.link("/programme?date="+date(at+step)+"&view="+q.Get("view"), "→", "")
		}
		pg.link("/programme?date="+q.Get("date")+"&view="+q.Get("view")+"&print=1", "Print", "")
		return pg.trap("calendar", says)
	})
}

// columns is a table of wares with choices of several makers at once, orders, directions and numbers of rows.
func columns(n int) *part {
	makers := strings.Fields("acme birch cobalt delta ember fjord")
	traps := []trap{{name: "views", endless: true, mark: "/columns"}}
	return made("/columns", []link{{"/columns", "Table", ""}}, ids("column", n), traps, func(s *site, rest string, q url.Values) *answer {
		var i int
		if is(rest, "/%d.html", &i) && i < n {
			pg := s.page(name(fmt.Sprint("column", i)))
			pg.para(fmt.Sprint("column", i), 30)
			return pg.real(fmt.Sprint("column", i))
		}
		if rest != "" {
			return nil
		}
		chosen := strings.FieldsFunc(q.Get("maker"), func(r rune) bool { return r == ',' })
		rows, p := max(10, number(q.Get("rows"))), max(0, number(q.Get("page")))
		var fits []int
		for i := range n {
			if len(chosen) == 0 || slices.Contains(chosen, makers[i%len(makers)]) {
				fits = append(fits, i)
			}
		}
		if by := q.Get("sort"); by != "" {
			sort.Slice(fits, func(x, y int) bool {
				return (draw(fmt.Sprint(by, fits[x]), 1000) < draw(fmt.Sprint(by, fits[y]), 1000)) != (q.Get("dir") == "desc")
			})
		}
		pg := s.page("Table")
		shown := fits[min(len(fits), p*rows):min(len(fits), p*rows+rows)]
		for _, i := range shown {
			pg.link(fmt.Sprintf("/columns/%d.html", i), name(fmt.Sprint("column", i)), fmt.Sprint("column", i))
			r := rng(fmt.Sprint("row", i))
			pg.row(fmt.Sprintf("%.1f", r.Float64()*90), fmt.Sprint(r.IntN(900)), fmt.Sprintf("%.2f", r.Float64()*900), fmt.Sprint(r.IntN(9000)))
		}
		with := func(key, value string) string {
			o := url.Values{}
			for k, v := range q {
				o[k] = v
			}
			o.Set(key, value)
			return "/columns?" + o.Encode()
		}
		for _, m := range makers {
			if !slices.Contains(chosen, m) {
				pg.link(with("maker", strings.TrimPrefix(q.Get("maker")+","+m, ",")), m, "")
			}
		}
		for _, by := range strings.Fields("name price weight year") {
			pg.link(with("sort", by), by, "")
		}
		pg.link(with("dir", "desc"), "down", "")
		pg.link(with("dir", "asc"), "up", "")
		for _, k := range []int{10, 25, 50} {
			pg.link(with("rows", fmt.Sprint(k)), fmt.Sprint(k), "")
		}
		pg.link(with("page", fmt.Sprint(p+1)), "More", "")
		return pg.trap("views", fmt.Sprint("table", shown))
	})
}

// askedFor answers every path by saying which it was, with two links further down by words drawn anew.
func askedFor() *part {
	asked := 0
	traps := []trap{{name: "paths", endless: true, mark: "/asked"}}
	return made("/asked", []link{{"/asked/for", "Asked", ""}}, nil, traps, func(s *site, rest string, _ url.Values) *answer {
		asked++
		r := rng(fmt.Sprint("asked", asked))
		pg := s.page("Not here")
		pg.text("You asked for %s at %.6f; the number of the request is %016x%016x.", rest, r.Float64(), r.Uint64(), r.Uint64())
		for range 2 {
			pg.link("/asked"+strings.TrimSuffix(rest, "/")+"/"+vocabulary[50+r.IntN(3000)], "x", "")
		}
		return pg.trap("paths", "not here")
	})
}

// relay leads on by four redirects from each of its equal pages to the next.
func relay() *part {
	traps := []trap{{name: "relay", endless: true, mark: "/relay/"}}
	return made("/relay/", []link{{"/relay/0", "Relay", ""}}, nil, traps, func(s *site, rest string, _ url.Values) *answer {
		n := number(rest)
		if n < 0 {
			return nil
		}
		if n%5 != 0 {
			return &answer{status: 302, location: fmt.Sprint("/relay/", n+1), trap: "relay", says: "on"}
		}
		pg := s.page("Relay")
		for _, step := range []int{1, 6} {
			pg.link(fmt.Sprint("/relay/", n+step), "on", "")
		}
		return pg.trap("relay", "relay")
	})
}

// chaff shows the same words in another order under every address, and names two more.
func chaff() *part {
	asked := 0
	traps := []trap{{name: "orders of words", endless: true, mark: "/chaff/"}}
	return made("/chaff/", []link{{"/chaff/1", "Chaff", ""}}, nil, traps, func(s *site, rest string, _ url.Values) *answer {
		asked++
		r := rng(fmt.Sprint("chaff", asked))
		all := strings.Fields(prose("chaff", 24))
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		pg := s.page("Chaff")
		pg.bare = true
		pg.text("%s", strings.Join(all, " "))
		for range 2 {
			pg.link(fmt.Sprint("/chaff/", r.IntN(1_000_000_000)), "x", "")
		}
		return pg.trap("orders of words", "chaff")
	})
}

func fresh() (ws []*web) {
	for _, p := range []*part{bulletins(900), priceList(1200), counters(300), programme(90), columns(300), askedFor(), relay(), chaff()} {
		p.drawn = slices.Contains([]string{"board", "asked", "chaff"}, p.name)
		ws = append(ws, single(p.name, p, library(200)))
	}
	return ws
}

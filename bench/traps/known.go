package main

import (
	"fmt"
	"net/url"
	"slices"
	"time"
)

// Webs of pages whose text is made of what other pages have said, and of pages that are one and the same but for a few.

// hours are the songs that a station has played, by day and hour: each page has twelve of 250, which others have as well.
func hours(days int) *part {
	root, first := "/hours/", time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(day int) string { return root + first.AddDate(0, 0, day).Format(time.DateOnly) }
	return made(root, []link{{at(0), "What was played", ""}}, ids("hour", 24*days), nil, func(s *site, rest string, _ url.Values) *answer {
		if len(rest) < len(time.DateOnly) {
			return nil
		}
		date, err := time.Parse(time.DateOnly, rest[:len(time.DateOnly)])
		day, hour := int(date.Sub(first).Hours()/24), 0
		if err != nil || day < 0 || day >= days {
			return nil
		}
		pg := s.page("What was played")
		for _, d := range []int{day - 1, day + 1} {
			if d >= 0 && d < days {
				pg.link(at(d), "another day", "")
			}
		}
		for h := range 24 {
			pg.link(fmt.Sprintf("%s/%d", at(day), h), fmt.Sprint(h, ":00"), fmt.Sprint("hour", 24*day+h))
		}
		switch rest = rest[len(time.DateOnly):]; {
		case rest == "":
			return pg.trap("", "day")
		case is(rest, "/%d", &hour) && hour < 24:
			id := fmt.Sprint("hour", 24*day+hour)
			for k := range 12 {
				song := draw(fmt.Sprint("song", id, k), 250)
				pg.text("%s: %s", name(fmt.Sprint("singer", song%60)), name(fmt.Sprint("song", song)))
			}
			return pg.real(id)
		}
		return nil
	})
}

// menus are what canteens have offered, by day: of 60 dishes five.
func menus(days int) *part {
	root, first := "/menus/", time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC)
	return made(root, []link{{root + "2019-01-01", "Menu", "menu0"}}, ids("menu", days), nil, func(s *site, rest string, _ url.Values) *answer {
		date, err := time.Parse(time.DateOnly, rest)
		day := int(date.Sub(first).Hours() / 24)
		if err != nil || day < 0 || day >= days {
			return nil
		}
		pg := s.page("Menu")
		for d := max(0, day-3); d < min(days, day+4); d++ {
			pg.link(root+first.AddDate(0, 0, d).Format(time.DateOnly), fmt.Sprint(d%28+1), fmt.Sprint("menu", d))
		}
		for k := range 5 {
			pg.text("%s, %d.%d0", name(fmt.Sprint("dish", draw(fmt.Sprint("offered", day, k), 60))), 2+k, draw(fmt.Sprint("price", day, k), 9))
		}
		return pg.real(fmt.Sprint("menu", day))
	})
}

// translated are guides with a parameter that says something of one in so many, and shows the guide as it is else: a language ("lang"), or a day on
// which a paragraph of a law was another one ("stand").
func translated(param string, n, every int) *part {
	values := map[string][]string{"lang": {"fr", "es", "pl"}, "stand": {"2015-01-01", "2018-07-01", "2020-01-01", "2023-04-01"}}[param]
	root := "/" + param + "/"
	other := func(i, v int) bool { return v >= 0 && draw(fmt.Sprint(param, "other", i, v), every) == 0 }
	real := ids("guide", n)
	for i := range n {
		for v := range values {
			if other(i, v) {
				real = append(real, fmt.Sprint("guide", i, values[v]))
			}
		}
	}
	p := made(root, []link{{root + "list/1", "Guides", ""}}, real, []trap{{name: "as they are"}}, func(s *site, rest string, q url.Values) *answer {
		var i int
		pg := s.page("Guides")
		switch {
		case is(rest, "list/%d", &i) && i > 0 && (i-1)*20 < n:
			for k := (i - 1) * 20; k < min(n, i*20); k++ {
				pg.link(fmt.Sprint(root, k), name(fmt.Sprint(param, k)), fmt.Sprint("guide", k))
			}
			if i*20 < n {
				pg.link(fmt.Sprint(root, "list/", i+1), "next", "")
			}
			return pg.trap("", fmt.Sprint("list ", i))
		case is(rest, "%d", &i) && i < n:
			v := slices.Index(values, q.Get(param))
			pg.title = name(fmt.Sprint(param, i))
			for k := range 4 {
				key := fmt.Sprint(param, i, " ", k)
				if other(i, v) && (param == "lang" || k == 2) {
					key += values[v]
				}
				pg.para(key, 40)
			}
			for _, value := range values {
				pg.link(fmt.Sprintf("%s%d?%s=%s", root, i, param, value), value, "")
			}
			if other(i, v) {
				return pg.real(fmt.Sprint("guide", i, values[v]))
			}
			r := pg.real(fmt.Sprint("guide", i))
			if len(q) > 0 {
				r.trap = "as they are"
			}
			return r
		}
		return nil
	})
	p.need = 0.99
	return p
}

// known returns these webs.
func known() (ws []*web) {
	for _, p := range []*part{hours(60), menus(600), translated("lang", 500, 12), translated("stand", 300, 9)} {
		ws = append(ws, single(p.name, p, library(200)))
	}
	return ws
}

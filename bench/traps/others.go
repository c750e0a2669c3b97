package main

import (
	"fmt"
	"net/url"
	"slices"
	"sort"
	"strings"
)

// Webs that were made when the rule stood, to see whether it holds where nobody had looked.

// made is a part whose pages are made by a function from the path below its root and its query.
func made(root string, entry []link, real []string, traps []trap, show func(s *site, rest string, q url.Values) *answer) *part {
	return &part{name: strings.Trim(root, "/"), paths: root, entry: entry, real: real, traps: traps, answer: func(s *site, u *url.URL) *answer {
		return show(s, strings.TrimPrefix(u.Path, root), u.Query())
	}}
}

func ids(prefix string, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprint(prefix, i))
	}
	return out
}

// wiki has articles with a history each, whose pages go on for ever, old versions, and differences between any two of them.
func wiki(n int) *part {
	const versions = 12
	art := func(i int) string { return slug(fmt.Sprint("wiki", i)) }
	at := map[string]int{}
	for i := range n {
		at[art(i)] = i
	}
	traps := []trap{{name: "history", endless: true, mark: "/wiki/"}, {name: "old versions"}, {name: "differences"}, {name: "edit forms"}}
	return made("/wiki/", []link{{"/wiki/" + art(0), "Wiki", "wiki0"}}, ids("wiki", n), traps, func(s *site, rest string, q url.Values) *answer {
		i, ok := at[rest]
		if !ok {
			return nil
		}
		id, here := fmt.Sprint("wiki", i), "/wiki/"+rest
		pg := s.page(name(id))
		tools := func() {
			pg.link(here+"?action=edit", "Edit", "")
			pg.link(here+"?action=history", "History", "")
		}
		switch q.Get("action") {
		case "edit":
			pg.text("You have to log in to edit %s.", name(id))
			return pg.trap("edit forms", "log in")
		case "history":
			from, limit := number(q.Get("offset")), number(q.Get("limit"))
			from, limit = max(from, 0), max(limit, 5)
			for v := from; v < min(from+limit, versions); v++ {
				pg.link(fmt.Sprintf("%s?oldid=%d", here, i*100+v), fmt.Sprintf("%d November 2026", v+1), "")
				pg.link(fmt.Sprintf("%s?diff=%d&oldid=%d", here, i*100+v+1, i*100+v), "diff", "")
			}
			for _, l := range []int{20, 50, 100} {
				pg.link(fmt.Sprintf("%s?action=history&limit=%d&offset=%d", here, l, from), fmt.Sprint(l), "")
			}
			pg.link(fmt.Sprintf("%s?action=history&limit=%d&offset=%d", here, limit, from+limit), "older", "")
			return pg.trap("history", "history of "+id)
		}
		v := number(q.Get("oldid"))
		if v >= 0 && (v/100 != i || v%100 >= versions) {
			return nil
		}
		pg.para(id, 100)
		if v >= 0 {
			pg.para(fmt.Sprint("wiki version", v), 4)
		}
		tools()
		for k := 2*i + 1; k <= 2*i+2 && k < n; k++ {
			pg.link("/wiki/"+art(k), name(fmt.Sprint("wiki", k)), fmt.Sprint("wiki", k))
		}
		switch {
		case q.Has("diff"):
			return pg.trap("differences", fmt.Sprint("diff ", q.Get("diff"), v))
		case v >= 0:
			return pg.trap("old versions", fmt.Sprint("version ", v))
		}
		return pg.real(id)
	})
}

// slides is a gallery of albums whose pictures link to the next and previous one and to shows that go on for ever, slower and
// slower.
func slides(albums, pictures int) *part {
	var real []string
	for a := range albums {
		real = append(real, fmt.Sprint("album", a))
		for p := range pictures {
			real = append(real, fmt.Sprintf("slide%d/%d", a, p), fmt.Sprintf("shot%d/%d", a, p))
		}
	}
	traps := []trap{{name: "shows", endless: true, mark: "/slides/"}}
	return made("/slides/", []link{{"/slides/", "Pictures", ""}}, real, traps, func(s *site, rest string, q url.Values) *answer {
		var a, p int
		pg := s.page("Pictures")
		switch {
		case rest == "":
			for a := range albums {
				pg.link(fmt.Sprintf("%d/", a), name(fmt.Sprint("album", a)), fmt.Sprint("album", a))
			}
			return pg.trap("", "albums")
		case is(rest, "%d/", &a) && a < albums:
			for p := range pictures {
				pg.link(fmt.Sprintf("%d.html", p), fmt.Sprint(p+1), fmt.Sprintf("slide%d/%d", a, p))
			}
			return pg.real(fmt.Sprint("album", a))
		case is(rest, "%d/%d.jpg", &a, &p) && a < albums && p < pictures:
			id := fmt.Sprintf("shot%d/%d", a, p)
			return &answer{kind: "image/jpeg", body: "\xff\xd8\xff" + prose(id, 60), real: id, says: id}
		case is(rest, "%d/%d.html", &a, &p) && a < albums && p < pictures:
			pg.title = fmt.Sprintf("Picture %d of %d", p+1, pictures)
			pg.link(fmt.Sprintf("%d.jpg", p), "Large", fmt.Sprintf("shot%d/%d", a, p))
			d := number(q.Get("delay"))
			if show := q.Has("show"); show && d >= 0 {
				pg.link(fmt.Sprintf("%d.html?show=1&delay=%d", (p+1)%pictures, d), "On", "")
				pg.link(fmt.Sprintf("%d.html?show=1&delay=%d", p, d+1), "Slower", "")
				pg.link(fmt.Sprintf("%d.html", p), "Stop", fmt.Sprintf("slide%d/%d", a, p))
				return pg.trap("shows", fmt.Sprintf("slide%d/%d", a, p))
			}
			pg.link(fmt.Sprintf("%d.html", (p+1)%pictures), "Next", fmt.Sprintf("slide%d/%d", a, (p+1)%pictures))
			pg.link(fmt.Sprintf("%d.html?show=1&delay=3", p), "Show", "")
			return pg.real(fmt.Sprintf("slide%d/%d", a, p))
		}
		return nil
	})
}

// locales has articles with a switch of the language that says where to go back to, and keeps all that was there before.
func locales(n int) *part {
	traps := []trap{{name: "languages", endless: true, mark: "/guide/"}}
	return made("/guide/", []link{{"/guide/0", "Guide", "guide0"}}, ids("guide", n), traps, func(s *site, rest string, q url.Values) *answer {
		i := number(rest)
		if i < 0 || i >= n {
			return nil
		}
		pg := s.page(name(fmt.Sprint("guide", i)))
		pg.para(fmt.Sprint("guide", i), 80)
		here := "/guide/" + rest
		if len(q) > 0 {
			here += "?" + q.Encode()
		}
		for _, l := range []string{"de", "en", "fr", "pl"} {
			pg.link(fmt.Sprintf("/guide/%d?lang=%s&back=%s", i, l, url.QueryEscape(here)), l, "")
		}
		for _, k := range []int{2*i + 1, 2*i + 2, draw(fmt.Sprint("guide", i), n)} {
			if k < n {
				to := fmt.Sprint("/guide/", k)
				if q.Has("lang") {
					to += "?lang=" + q.Get("lang")
				}
				pg.link(to, name(fmt.Sprint("guide", k)), fmt.Sprint("guide", k))
			}
		}
		a := pg.real(fmt.Sprint("guide", i))
		if len(q) > 0 {
			a.trap = "languages"
		}
		return a
	})
}

// bazaar is a shop whose lists can be sorted, shown in other ways, and turned over beyond their end.
func bazaar(n int) *part {
	const cats = 12
	var real []string
	for c := range cats {
		for p := range (n/cats + 9) / 10 {
			real = append(real, fmt.Sprintf("bazaar%d/%d", c, p))
		}
	}
	real = append(real, ids("thing", n/cats*cats)...)
	traps := []trap{{name: "orders and pages", endless: true, mark: "/bazaar"}}
	return made("/bazaar", []link{{"/bazaar?c=0", "Bazaar", "bazaar0/0"}}, real, traps, func(s *site, rest string, q url.Values) *answer {
		var i int
		if is(rest, "/%d", &i) && i < n/cats*cats {
			pg := s.page(name(fmt.Sprint("thing", i)))
			pg.para(fmt.Sprint("thing", i), 50)
			pg.link(fmt.Sprint("/bazaar?c=", i%cats), "Category", fmt.Sprintf("bazaar%d/0", i%cats))
			return pg.real(fmt.Sprint("thing", i))
		}
		c, p := number(q.Get("c")), max(number(q.Get("page")), 0)
		if rest != "" || c < 0 || c >= cats {
			return nil
		}
		pg := s.page(name(fmt.Sprint("bazaar", c)))
		says := fmt.Sprint("bazaar ", c)
		for k := p * 10; k < min(p*10+10, n/cats); k++ {
			of := k
			if q.Get("sort") != "" {
				of = (k*7 + len(q.Get("sort"))) % (n / cats)
			}
			id := of*cats + c
			says += fmt.Sprint(" ", id)
			pg.link(fmt.Sprint("/bazaar/", id), name(fmt.Sprint("thing", id)), fmt.Sprint("thing", id))
		}
		if p*10 >= n/cats {
			pg.text("There are no more things.")
			says = "no more"
		}
		with := func(key, value string) string {
			o := url.Values{}
			for k := range q {
				o.Set(k, q.Get(k))
			}
			o.Set(key, value)
			return "/bazaar?" + o.Encode()
		}
		for _, by := range []string{"price", "name", "rating"} {
			pg.link(with("sort", by), by, "")
		}
		pg.link(with("view", "grid"), "Grid", "")
		pg.link(with("view", "list"), "List", "")
		pg.link(with("page", fmt.Sprint(p+1)), "Next", "")
		if len(q) == 1 || q.Has("page") && len(q) == 2 {
			for c := range cats {
				pg.link(fmt.Sprint("/bazaar?c=", c), name(fmt.Sprint("bazaar", c)), fmt.Sprintf("bazaar%d/0", c))
			}
			if p*10 < n/cats {
				a := pg.real(fmt.Sprintf("bazaar%d/%d", c, p))
				a.says = says
				return a
			}
		}
		return pg.trap("orders and pages", says)
	})
}

// agenda is a calendar by weeks and by months with names, with a form for each hour, and events on some days.
func agenda() *part {
	traps := []trap{{name: "calendar", endless: true, mark: "/agenda/"}}
	months := strings.Fields("january february march april may june july august september october november december")
	return made("/agenda/", []link{{"/agenda/2026/november", "Agenda", ""}}, ids("meeting", 40), traps, func(s *site, rest string, q url.Values) *answer {
		var i int
		if is(rest, "meeting-%d", &i) && i < 40 {
			pg := s.page(name(fmt.Sprint("meeting", i)))
			pg.para(fmt.Sprint("meeting", i), 60)
			return pg.real(fmt.Sprint("meeting", i))
		}
		if rest == "new" {
			pg := s.page("New meeting")
			pg.text("Log in to make a meeting on %s.", q.Get("at"))
			return pg.trap("calendar", "log in")
		}
		year, what, ok := strings.Cut(rest, "/")
		y, m, w := number(year), slices.Index(months, what), 0
		if !ok || y < 0 {
			return nil
		}
		pg := s.page(fmt.Sprintf("%s %s", what, year))
		switch {
		case m >= 0:
			for k := range 4 {
				pg.link(fmt.Sprintf("/agenda/%d/week-%d", y, m*4+k+1), fmt.Sprintf("Week %d", m*4+k+1), "")
			}
			at := y*12 + m
			for _, to := range []int{at - 1, at + 1, at + 12} {
				pg.link(fmt.Sprintf("/agenda/%d/%s", to/12, months[to%12]), months[to%12], "")
			}
			return pg.trap("calendar", "month")
		case is(what, "week-%d", &w) && w > 0 && w <= 48:
			says := "week"
			if at := (y-2026)*48 + w - 24; at >= 0 && at < 40 {
				pg.link(fmt.Sprint("/agenda/meeting-", at), name(fmt.Sprint("meeting", at)), fmt.Sprint("meeting", at))
				says = fmt.Sprint("week with meeting ", at)
			}
			for d := range 7 {
				pg.link(fmt.Sprintf("/agenda/new?at=%d-%d-%d", y, w, d+1), "+", "")
			}
			pg.link(fmt.Sprintf("/agenda/%d/%s", y, months[(w-1)/4]), "Month", "")
			return pg.trap("calendar", says)
		}
		return nil
	})
}

// echo shows its articles' list under every path, with relative links that grow: names that do not repeat for long.
func echo(n int) *part {
	dirs := strings.Fields("news about team press media blog shop world sport life")
	traps := []trap{{name: "longer paths", endless: true, mark: "/echo/"}}
	return made("/echo/", []link{{"/echo/", "Echo", ""}}, ids("echo", n), traps, func(s *site, rest string, _ url.Values) *answer {
		segs := strings.Split(strings.TrimSuffix(rest, "/"), "/")
		var i int
		if is(segs[len(segs)-1], "item-%d", &i) && i < n {
			pg := s.page(name(fmt.Sprint("echo", i)))
			pg.para(fmt.Sprint("echo", i), 70)
			a := pg.real(fmt.Sprint("echo", i))
			if len(segs) > 1 {
				a.trap = "longer paths"
			}
			return a
		}
		at := 0
		for _, d := range segs {
			if rest != "" && !slices.Contains(dirs, d) {
				return nil
			}
			at = max(0, slices.Index(dirs, d))
		}
		pg := s.page("Echo")
		says := "echo"
		for k := at; k < n; k += len(dirs) {
			pg.link(fmt.Sprint("/echo/item-", k), name(fmt.Sprint("echo", k)), fmt.Sprint("echo", k))
			says = fmt.Sprint("echo ", at)
		}
		for _, d := range dirs {
			pg.link(d+"/", d, "")
		}
		return pg.trap("longer paths", says)
	})
}

// cloud has notes with keywords, and pages for all sets of these in one segment, in the order in which they were chosen.
func cloud(n int) *part {
	words := strings.Fields("red green blue warm cold round long short loud calm early late")
	traps := []trap{{name: "sets of keywords", endless: true, mark: "/cloud/"}}
	has := func(i, w int) bool { return (i*5+w*w+i/7*w)%6 == 0 }
	return made("/cloud/", []link{{"/cloud/0", "Cloud", "cloud0"}}, ids("cloud", n), traps, func(s *site, rest string, _ url.Values) *answer {
		note := func(pg *page, i int) {
			pg.link(fmt.Sprint("/cloud/", i), name(fmt.Sprint("cloud", i)), fmt.Sprint("cloud", i))
		}
		if i := number(rest); i >= 0 && i < n {
			pg := s.page(name(fmt.Sprint("cloud", i)))
			pg.para(fmt.Sprint("cloud", i), 70)
			for w := range words {
				if has(i, w) {
					pg.link("/cloud/key/"+words[w], words[w], "")
				}
			}
			if i+1 < n {
				note(pg, i+1)
			}
			return pg.real(fmt.Sprint("cloud", i))
		}
		set, ok := strings.CutPrefix(rest, "key/")
		chosen := strings.Split(set, "+")
		if !ok || len(chosen) > len(words) {
			return nil
		}
		pg := s.page("Notes with keywords")
		says := "cloud"
		for i := range n {
			fits := true
			for _, c := range chosen {
				w := slices.Index(words, c)
				if w < 0 {
					return nil
				}
				fits = fits && has(i, w)
			}
			if fits {
				note(pg, i)
				says += fmt.Sprint(" ", i)
			}
		}
		for _, w := range words {
			if !slices.Contains(chosen, w) {
				pg.link("/cloud/key/"+set+"+"+w, "and "+w, "")
			}
		}
		return pg.trap("sets of keywords", says)
	})
}

// seeker has articles, and a search that proposes further searches for ever.
func seeker(n int) *part {
	traps := []trap{{name: "searches", endless: true, mark: "/seek"}}
	return made("/seek", []link{{"/seek", "Search", ""}}, ids("seek", n), traps, func(s *site, rest string, q url.Values) *answer {
		var i int
		pg := s.page("Search")
		switch {
		case is(rest, "/%d", &i) && i < n:
			pg.title = name(fmt.Sprint("seek", i))
			pg.para(fmt.Sprint("seek", i), 70)
			pg.link("/seek?q="+url.QueryEscape(pg.title), "Similar", "")
			return pg.real(fmt.Sprint("seek", i))
		case rest != "":
			return nil
		case q.Get("q") == "":
			for i := range n {
				pg.link(fmt.Sprint("/seek/", i), name(fmt.Sprint("seek", i)), fmt.Sprint("seek", i))
			}
			return pg.trap("", "all")
		}
		word := q.Get("q")
		pg.text("Results for %s:", word)
		var found []string
		for k := range draw(word, 4) {
			i := draw(fmt.Sprint(word, k), n)
			pg.link(fmt.Sprint("/seek/", i), name(fmt.Sprint("seek", i)), fmt.Sprint("seek", i))
			found = append(found, fmt.Sprint(i))
		}
		sort.Strings(found)
		for k := range 6 {
			pg.link("/seek?q="+url.QueryEscape(name(fmt.Sprint(word, "/", k))), name(fmt.Sprint(word, "/", k)), "")
		}
		says := "results"
		if len(found) > 1 {
			says = "results " + strings.Join(found, " ")
		}
		return pg.trap("searches", says)
	})
}

// others returns these webs.
func others() (ws []*web) {
	for _, p := range []*part{wiki(80), slides(6, 60), locales(150), bazaar(600), agenda(), echo(200), cloud(200), seeker(250)} {
		ws = append(ws, single(p.name, p, library(200)))
	}
	return ws
}

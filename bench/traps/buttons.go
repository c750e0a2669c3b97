package main

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Webs whose pages have little pages beside them, one of each kind for each thing: log-ins, sizes, charts, forms; and traps that say
// something else each time without saying anything.

// photobook has pictures without words, each with buttons: sizes, a slide show, forms that say the same for all, and how it was taken.
func photobook(albums, each int) *part {
	n := albums * each
	traps := []trap{{name: "log-ins"}, {name: "sizes"}, {name: "slide shows"}, {name: "how it was taken"}}
	return made("/photobook/", []link{{"/photobook/", "Albums", ""}}, ids("frame", n), traps, func(s *site, rest string, q url.Values) *answer {
		var i int
		pg := s.little("Albums")
		pic := func(i int) { fmt.Fprintf(&pg.b, "<img src=\"/pictures/%d.jpg\">\n", i) }
		switch {
		case rest == "":
			for k := range albums {
				pg.link(fmt.Sprint("/photobook/of/", k), fmt.Sprint("Album ", k), "")
			}
			return pg.trap("", "albums")
		case is(rest, "of/%d", &i) && i < albums:
			pg.title = fmt.Sprint("Album ", i)
			for k := i * each; k < (i+1)*each; k++ {
				pg.link(fmt.Sprint("/photobook/frame/", k), "", fmt.Sprint("frame", k))
			}
			if len(q) > 0 {
				return pg.trap("slide shows", fmt.Sprint("album ", i))
			}
			return pg.trap("", fmt.Sprint("album ", i))
		case rest == "comment", rest == "rate":
			pg.title = "Log in"
			pg.text("Log in first.")
			return pg.trap("log-ins", "log in")
		case is(rest, "taken/%d", &i) && i < n:
			pg.title = "Taken"
			pg.text("f/%d 1/%d", []int{2, 4, 8}[i%3], []int{60, 125, 250}[i*7%3])
			return pg.trap("how it was taken", fmt.Sprint("taken ", i%3, i*7%3))
		case is(rest, "frame/%d", &i) && i < n:
			pg.title = fmt.Sprintf("DSC_%04d.JPG", i)
			pic(i)
			if i%each < each-1 {
				pg.link(fmt.Sprint("/photobook/frame/", i+1), "next", fmt.Sprint("frame", i+1))
			}
			for _, size := range strings.Fields("s m l xl") {
				pg.link(fmt.Sprintf("/photobook/frame/%d?size=%s", i, size), size, "")
			}
			pg.link(fmt.Sprintf("/photobook/of/%d?slide=%d", i/each, i), "slide show", "")
			pg.link(fmt.Sprint("/photobook/comment?frame=", i), "comment", "")
			pg.link(fmt.Sprintf("/photobook/rate?frame=%d&stars=5", i), "rate", "")
			pg.link(fmt.Sprint("/photobook/taken/", i), "taken", "")
			if len(q) > 0 {
				pg.title = "Picture"
				return pg.trap("sizes", fmt.Sprint("frame ", i))
			}
			return pg.real(fmt.Sprint("frame", i))
		}
		return nil
	})
}

// season is a calendar without end, of days behind months, with something on one day in eight of
// a year, but for the summer.
func season() *part {
	const days = 400
	start := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	at := map[string][]string{}
	var real []string
	for d := range days {
		t := start.AddDate(0, 0, d)
		if m := t.Month(); m == time.July || m == time.August || draw(fmt.Sprint("evening", d), 100) >= 12 {
			continue
		}
		for k := range 1 + draw(fmt.Sprint("evenings", d), 3) {
			id := fmt.Sprintf("%s-%d", slug(fmt.Sprint("evening", d, k)), d*3+k)
			at[t.Format(time.DateOnly)] = append(at[t.Format(time.DateOnly)], id)
			real = append(real, id)
		}
	}
	traps := []trap{{name: "calendar", endless: true, mark: "/season/"}}
	return made("/season/", []link{{"/season/2026/01", "Calendar", ""}}, real, traps, func(s *site, rest string, q url.Values) *answer {
		if id, ok := strings.CutPrefix(rest, "evening/"); ok && contains(real, id) {
			pg := s.page(strings.ReplaceAll(id, "-", " "))
			pg.para(id, 20)
			return pg.real(id)
		}
		if t, err := time.Parse("2006/01/02", rest); err == nil {
			pg, says := s.page(t.Format("2 January 2006")), "no events"
			for _, id := range at[t.Format(time.DateOnly)] {
				pg.link("/season/evening/"+id, strings.ReplaceAll(id, "-", " "), id)
				says = t.Format(time.DateOnly)
			}
			if says == "no events" {
				pg.text("No events on this day.")
			}
			pg.link(t.AddDate(0, 0, -1).Format("/season/2006/01/02"), "yesterday", "")
			pg.link(t.AddDate(0, 0, 1).Format("/season/2006/01/02"), "tomorrow", "")
			return pg.trap("calendar", says)
		}
		t, err := time.Parse("2006/01", rest)
		if err != nil {
			return nil
		}
		pg := s.page(t.Format("January 2006"))
		for d := t; d.Month() == t.Month(); d = d.AddDate(0, 0, 1) {
			pg.link(d.Format("/season/2006/01/02"), fmt.Sprint(d.Day()), "")
		}
		pg.link(t.AddDate(0, -1, 0).Format("/season/2006/01"), "before", "")
		pg.link(t.AddDate(0, 1, 0).Format("/season/2006/01"), "after", "")
		return pg.trap("calendar", "month")
	})
}

// oops says under every path that it is not there, in a page that repeats the path and proposes things under names drawn from it: a few
// that are there, and more that are not.
func oops(known bool, n int) *part {
	root := "/oops/"
	if known {
		root = "/perhaps/"
	}
	id := func(k int) string { return fmt.Sprint(root, "article", k) }
	var real []string
	for k := range n {
		real = append(real, id(k))
	}
	traps := []trap{{name: "soft 404s", endless: true, mark: root}}
	entry := []link{{root + "list/0", "Articles", ""}, {root + "old/stuff", "The old site", ""}}
	return made(root, entry, real, traps, func(s *site, rest string, q url.Values) *answer {
		var i int
		switch {
		case is(rest, "article/%d", &i) && i < n:
			pg := s.page(name(id(i)))
			pg.para(id(i), 40)
			pg.link(fmt.Sprint(root, "article/", (i*7+1)%n), "related", id((i*7+1)%n))
			return pg.real(id(i))
		case is(rest, "list/%d", &i) && i < n/10:
			pg := s.page("Articles")
			for k := i * 10; k < i*10+10; k++ {
				pg.link(fmt.Sprint(root, "article/", k), name(id(k)), id(k))
			}
			pg.link(fmt.Sprint(root, "list/", i+1), "More", "")
			return pg.trap("", fmt.Sprint("articles ", i))
		}
		r := rng(root + rest)
		pg := s.little("Oops")
		if known {
			pg.text("The page that you asked for was not found. Perhaps you want")
		} else {
			pg.text("The page %s was not found. Perhaps you want", root+rest)
		}
		for range 3 {
			k := r.IntN(n)
			label := name(id(k))
			if !known {
				label = word(r) + " " + word(r)
			}
			pg.link(fmt.Sprint(root, "article/", k), label, id(k))
		}
		dir := rest[:strings.LastIndexByte(rest, '/')+1]
		for range 5 {
			pg.link(fmt.Sprintf("%s%s%s/%s%d", root, dir, word(r), word(r), r.IntN(999)), "maybe", "")
		}
		return pg.trap("soft 404s", "not there")
	})
}

// browse is a list of a library's n records, 20 on a page: what they are called, and as what they are known.
func (pg *page) browse(root string, n int, q url.Values, of string, called func(i int) string) *answer {
	from := number(q.Get("from"))
	if from < 0 || from >= n {
		return nil
	}
	for i := from; i < min(n, from+20); i++ {
		pg.link(fmt.Sprint(root, 100_000+i), called(i), fmt.Sprint(of, i))
	}
	if from+20 < n {
		pg.link(fmt.Sprint(root, "browse?from=", from+20), "next", "")
	}
	return pg.trap("", fmt.Sprint("browse ", from))
}

// opac is a library of which most books have one name, each with pages that say the same for all of them.
func opac(n int) *part {
	kinds := strings.Fields("holdings marc cite mail request")
	called := func(i int) string {
		if i%4 > 0 {
			return "The Bible"
		}
		return name(fmt.Sprint("opac", i))
	}
	traps := []trap{{name: "log-ins"}, {name: "holdings"}, {name: "marc"}, {name: "similar"}}
	return made("/opac/", []link{{"/opac/browse?from=0", "Browse", ""}}, ids("opac", n), traps, func(s *site, rest string, q url.Values) *answer {
		var i int
		pg := s.little("Browse")
		if rest == "browse" {
			return pg.browse("/opac/", n, q, "opac", called)
		}
		if rest == "similar" {
			pg.title = "Similar"
			for k := range 3 {
				pg.link(fmt.Sprint("/opac/", 100_000+draw(fmt.Sprint("similar", q.Get("id"), k), n)), "The Bible", "")
			}
			return pg.trap("similar", "similar")
		}
		book, kind, _ := strings.Cut(rest, "/")
		if i = number(book) - 100_000; i < 0 || i >= n || len(q) > 0 {
			return nil
		}
		switch {
		case kind == "":
			pg.title = called(i)
			of := name(fmt.Sprint("by", i))
			if i%4 > 0 {
				of = "King James version"
			}
			pg.text("%s. %d. Shelf mark: BS %d.%d. %s.", of, 1600+i%400, i/7, i%7, []string{"Reading room", "Magazine", "Magazine"}[i%3])
			for _, kind := range kinds {
				pg.link(fmt.Sprintf("/opac/%s/%s", book, kind), kind, "")
			}
			pg.link("/opac/similar?id="+book, "similar", "")
			return pg.real(fmt.Sprint("opac", i))
		case kind == "marc":
			pg.title = "MARC"
			pg.text("001 %s 245 %s 260 %d", book, called(i), 1600+i%400)
			return pg.trap("marc", fmt.Sprint("opac", i))
		case kind == "holdings":
			pg.title = "Holdings"
			pg.text("1 copy. Available.")
			return pg.trap("holdings", "1 copy")
		case contains(kinds, kind):
			pg.title = kind
			pg.text("Please log in to your library account.")
			return pg.trap("log-ins", "log in "+kind)
		}
		return nil
	})
}

// records is a library whose records have a dozen buttons each, to pages that are the same for every record but for its number, which some say.
func records(n int) *part {
	var traps []trap
	kinds := strings.Fields("reserve cite export permalink holdings similar print mail share tag report history")
	for _, kind := range kinds {
		traps = append(traps, trap{name: kind})
	}
	return made("/records/", []link{{"/records/browse?from=0", "Browse", ""}}, ids("record", n), traps, func(s *site, rest string, q url.Values) *answer {
		pg := s.little("Browse")
		if rest == "browse" {
			return pg.browse("/records/", n, q, "record", func(i int) string { return name(fmt.Sprint("record", i)) })
		}
		record, kind, _ := strings.Cut(rest, "/")
		if record == "do" {
			record, kind = q.Get("record"), kind+"?"
		}
		i := number(record) - 100_000
		if i < 0 || i >= n {
			return nil
		}
		id := fmt.Sprint("record", i)
		if kind == "" {
			pg.title = name(id)
			pg.text("By %s. Shelf mark %d.%d. %s", name("by"+id), i/7, i%7, prose(id, 15))
			for k, kind := range kinds {
				if k%3 == 2 {
					pg.link(fmt.Sprintf("/records/do/%s?record=%s", kind, record), kind, "")
				} else {
					pg.link(fmt.Sprintf("/records/%s/%s", record, kind), kind, "")
				}
			}
			return pg.real(id)
		}
		kind = strings.TrimSuffix(kind, "?")
		if !contains(kinds, kind) {
			return nil
		}
		pg.title = kind
		pg.text("%s", prose("button "+kind, 12))
		if kind[0] < 'm' {
			pg.text("This is for record %s.", record)
		}
		if kind[1] == 'e' {
			pg.link("/records/"+record, "back to the record", id)
		}
		return pg.trap(kind, kind)
	})
}

func buttons() (ws []*web) {
	for _, p := range []*part{photobook(100, 20), season(), oops(false, 300), oops(true, 300), opac(1200), records(2000),
		newRepository("/source/", 120, 40, inParameter), newRepository("/hg", 120, 40, inPath), newRepository("/browse/", 120, 40, inScript),
		newBranches("/forge/", 120, 40, 3, inParameter), newBranches("/git/code/", 100, 60, 2, inParameter), newBranches("/web/", 120, 40, 3, inScript)} {
		ws = append(ws, single(p.name, p, library(200)))
	}
	return ws
}

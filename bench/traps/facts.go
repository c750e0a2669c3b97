package main

import (
	"fmt"
	"net/url"
	"strings"
)

// Webs of records: pages about things, each of a few numbers and known words, with views beside them that say as little of any.

// graves are people whose names the lists have shown, with the words of their addresses behind a number: a rank, a number, a regiment.
func graves(n int) *part {
	const each = 20
	root := "/graves/"
	of := func(i int) string { return name(fmt.Sprint("buried", i)) }
	at := func(i int) string { return fmt.Sprintf("%s%d/%s", root, 90000+i, dashed(of(i))) }
	return made(root, []link{{root + "list/1", "Graves", ""}}, ids("grave", n), nil, func(s *site, rest string, _ url.Values) *answer {
		i, pg := 0, s.page("Graves")
		if is(rest, "list/%d", &i) && i > 0 && (i-1)*each < n {
			for k := (i - 1) * each; k < min(n, i*each); k++ {
				pg.link(at(k), of(k), fmt.Sprint("grave", k))
			}
			if i*each < n {
				pg.link(fmt.Sprint(root, "list/", i+1), "next", "")
			}
			return pg.trap("", fmt.Sprint("list ", i))
		}
		number, _, _ := strings.Cut(rest, "/")
		if !is(number, "%d", &i) || i < 90000 || i >= 90000+n {
			return nil
		}
		i -= 90000
		view, ok := strings.CutPrefix(root+rest, at(i))
		if pg.title = of(i); !ok || view != "" && view != "/certificate" && view != "/stone" {
			return nil
		}
		drawn := func(what string, n int) int { return draw(fmt.Sprint(what, "grave", i), n) }
		pg.row("Rank", name(fmt.Sprint("rank", drawn("rank", 8))))
		pg.row("Service number", fmt.Sprint(1000+drawn("number", 900_000)))
		pg.row("Regiment", name(fmt.Sprint("regiment", drawn("regiment", 30))))
		pg.row("Died", fmt.Sprint(1+drawn("day", 28), " May ", 1914+drawn("year", 5)))
		pg.link(at(i)+"/certificate", "certificate", "")
		pg.link(at(i)+"/stone", "stone", "")
		if view != "" {
			return pg.trap("", view)
		}
		return pg.real(fmt.Sprint("grave", i))
	})
}

// dashed is a name as an address has it.
func dashed(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }

// events have ids that look random, numbers of their own in two views, and two views that say nothing of nine in ten.
func events(n int) *part {
	const each = 40
	root, number := "/events/", map[string]int{}
	id := func(i int) string { return sessionID("hex", fmt.Sprint("event", i)) }
	real := append(ids("event", n), ids("origin", n)...)
	for i := range n {
		number[id(i)] = i
	}
	return made(root, []link{{root + "list/1", "Events", ""}}, real, nil, func(s *site, rest string, _ url.Values) *answer {
		i, pg := 0, s.page("Events")
		if is(rest, "list/%d", &i) && i > 0 && (i-1)*each < n {
			for k := (i - 1) * each; k < min(n, i*each); k++ {
				pg.link(root+id(k), fmt.Sprint("event ", k), fmt.Sprint("event", k))
			}
			if i*each < n {
				pg.link(fmt.Sprint(root, "list/", i+1), "next", "")
			}
			return pg.trap("", fmt.Sprint("list ", i))
		}
		which, view, _ := strings.Cut(rest, "/")
		i, ok := number[which]
		if !ok {
			return nil
		}
		for _, v := range []string{"map", "felt", "origin", "shaking"} {
			shows := ""
			if v == "origin" {
				shows = fmt.Sprint("origin", i)
			}
			pg.link(root+which+"/"+v, v, shows)
		}
		drawn := func(what string, n int) string { return fmt.Sprint(draw(fmt.Sprint(what, "event", i), n)) }
		switch view {
		case "":
			pg.row("Depth", drawn("depth", 900))
			pg.row("Latitude", drawn("latitude", 9000))
			pg.row("Longitude", drawn("longitude", 18000))
			return pg.real(fmt.Sprint("event", i))
		case "origin":
			pg.row("Stations", drawn("stations", 400))
			pg.row("Gap", drawn("gap", 360))
			pg.row("Error", drawn("error", 9000))
			return pg.real(fmt.Sprint("origin", i))
		case "map", "felt", "shaking":
			pg.text("There is no %s of this event that anybody has sent or made until now.", view)
			return pg.trap("", view)
		}
		return nil
	})
}

// monsters are told by numbers and a few known words, in a wiki with a discussion and a history of each, which say nothing.
func monsters(n int) *part {
	root, kinds, elements := "/monsters/", strings.Fields("Wolf Golem Sprite Drake Slime Knight Wraith Spider Imp Ogre Bat Lich"), strings.Fields("Fire Ice Storm Earth Shadow Light Poison")
	called := func(i int) string { return fmt.Sprintf("%s_%s_%d", elements[i%7], kinds[i/7%12], i) }
	return made(root, []link{{root + "All?from=0", "All", ""}}, ids("monster", n), nil, func(s *site, rest string, q url.Values) *answer {
		i, pg := 0, s.page("Wiki")
		if rest == "All" && is(q.Get("from"), "%d", &i) && i < n {
			for k := i; k < min(n, i+100); k++ {
				pg.link(root+called(k), called(k), fmt.Sprint("monster", k))
			}
			if i+100 < n {
				pg.link(fmt.Sprint(root, "All?from=", i+100), "next", "")
			}
			return pg.trap("", fmt.Sprint("list ", i))
		}
		of := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(rest, "Talk:"), "File:"), ".png")
		if k := strings.LastIndexByte(of, '_'); k < 0 || !is(of[k+1:], "%d", &i) || i >= n || called(i) != of {
			return nil
		}
		pg.title = strings.ReplaceAll(rest, "_", " ")
		pg.link(root+"Talk:"+of, "talk", "")
		pg.link(root+"File:"+of+".png", "file", "")
		pg.link(root+of+"?action=history", "history", "")
		switch {
		case of != rest:
			pg.text("There is currently no text in this page.")
			return pg.trap("", rest[:4])
		case q.Has("action"):
			pg.text("This page has been edited once, by the one who made it.")
			return pg.trap("", "history")
		}
		for k, what := range []string{"Level", "Health", "Attack"} {
			pg.row(what, fmt.Sprint(draw(fmt.Sprint(what, i), 90*(k*k*20+1))))
		}
		for k := range 3 {
			pg.text("%s resistance +%d", elements[draw(fmt.Sprint("resists", i, k), 7)], 5*draw(fmt.Sprint("by", i, k), 5))
		}
		return pg.real(fmt.Sprint("monster", i))
	})
}

// facts returns these webs.
func facts() (ws []*web) {
	for _, p := range []*part{graves(1600), events(1200), monsters(1100)} {
		ws = append(ws, single(p.name, p, library(200)))
	}
	return ws
}

package main

import (
	"fmt"
	"net/url"
	"strings"
)

// Webs of pages that say little but numbers: of a name on a day, and of whom a code stands for.

// footed adds what each answer says of itself: how long it took.
func footed(pg *page, answers int) {
	random := rng(fmt.Sprint("footed", answers))
	pg.text("Made in 0.%03d s by %d queries.", random.IntN(1000), 2+random.IntN(40))
}

// pagesOf answers the lists of a part, fifty of its contents each; of says where each stands and what it is called.
func pagesOf(pg *page, root, rest, kind string, n int, of func(i int) (at, called string)) *answer {
	const each = 50
	k := 0
	if rest != "" && (!is(rest, "list/%d", &k) || k*each >= n) {
		return nil
	}
	for i := k * each; i < min(n, (k+1)*each); i++ {
		at, called := of(i)
		pg.link(at, called, fmt.Sprint(kind, i))
	}
	if (k+1)*each < n {
		pg.link(fmt.Sprint(root, "list/", k+1), "next", "")
	}
	return pg.trap("", fmt.Sprint("list ", k))
}

// levels are two numbers of each of 48 rivers on each of some days.
func levels(n int) *part {
	const rivers = 48
	root, number, answers := "/levels/", map[string]int{}, 0
	at := func(i int) string {
		return fmt.Sprintf("%s%s/2026-%02d-%02d.html", root, dashed(name(fmt.Sprint("river", i%rivers))), i/rivers%12+1, i/rivers/12*4+1)
	}
	for i := range n {
		number[at(i)] = i
	}
	return made(root, []link{{root, "Levels", ""}}, ids("level", n), nil, func(s *site, rest string, _ url.Values) *answer {
		answers++
		pg := s.page("Levels of rivers")
		i, ok := number[root+rest]
		if !ok {
			footed(pg, answers)
			return pagesOf(pg, root, rest, "level", n, func(i int) (string, string) { return at(i), name(fmt.Sprint("river", i%rivers)) })
		}
		pg.title = name(fmt.Sprint("river", i%rivers))
		pg.text("Level %d cm, flow %d", 100+draw(fmt.Sprint("level", i), 900), 10+draw(fmt.Sprint("flow", i), 900))
		footed(pg, answers)
		return pg.real(fmt.Sprint("level", i))
	})
}

// players has persons below the first letters of their names, each with a few numbers, and two views that say of all that there is nothing.
func players(n int) *part {
	root, number := "/players/", map[string]int{}
	stock := strings.Fields("stein kar fal gar bros wil ham ber nor torn ros las mark ley by ton ford wick dorf land")
	family := func(i int) string {
		return stock[draw(fmt.Sprint("family", i), 16)] + stock[draw(fmt.Sprint("middle", i), len(stock))] + stock[10+draw(fmt.Sprint("end", i), 10)]
	}
	called := func(i int) string { return vocabulary[100+draw(fmt.Sprint("given", i), 60)] + " " + family(i) }
	at := func(i int) string { return fmt.Sprintf("%s%c/%.5s%02d.html", root, family(i)[0], family(i), i) }
	for i := range n {
		number[at(i)] = i
	}
	return made(root, []link{{root, "Players", ""}}, ids("player", n), nil, func(s *site, rest string, _ url.Values) *answer {
		pg := s.page("Players")
		of, view, _ := strings.Cut(rest, ".html")
		i, ok := number[root+of+".html"]
		switch {
		case !ok:
			return pagesOf(pg, root, rest, "player", n, func(i int) (string, string) { return at(i), called(i) })
		case view == "/games" || view == "/splits":
			pg.title = "No " + view[1:]
			return pg.trap("", view)
		case view != "":
			return nil
		}
		pg.title = called(i)
		for k := range 2 {
			pg.row(name(fmt.Sprint("club", draw(fmt.Sprint("club", i, k), 20))), fmt.Sprint(draw(fmt.Sprint("games", i, k), 40)), fmt.Sprint(draw(fmt.Sprint("goals", i, k), 40)))
		}
		pg.link(at(i)+"/games", "games", "")
		pg.link(at(i)+"/splits", "splits", "")
		return pg.real(fmt.Sprint("player", i))
	})
}

// registers returns these webs.
func registers() (ws []*web) {
	for _, p := range []*part{levels(1440), players(1200)} {
		ws = append(ws, single(p.name, p, library(200)))
	}
	return ws
}

package main

import (
	"fmt"
	"net/url"
	"strings"
)

// Webs of a chain of shops, of draws by date, and of visitors whose id and token are numbers.

// towns has shops below their towns and counties, each with a number; all say the same at length, and where they are in a few words.
func towns(n int) *part {
	const each, inCounty = 5, 12
	root := "/towns/"
	called := func(kind string, i int) string { return dashed(name(fmt.Sprint(kind, i))) + fmt.Sprint("-", i) }
	town := func(i int) string {
		return fmt.Sprintf("%s%s/%s/", root, called("county", i/inCounty), called("town", i%inCounty))
	}
	at := func(i int) string { return fmt.Sprintf("%s%d/", town(i/each), 4000+i) }
	lists, shops := map[string][]link{}, map[string]int{}
	for i := range n {
		county := root + called("county", i/each/inCounty) + "/"
		if i%(each*inCounty) == 0 {
			lists[root] = append(lists[root], link{county, called("county", i/each/inCounty), ""})
		}
		if i%each == 0 {
			lists[county] = append(lists[county], link{town(i / each), called("town", i/each%inCounty), ""})
		}
		lists[town(i/each)] = append(lists[town(i/each)], link{at(i), "shop", fmt.Sprint("shop", i)})
		shops[at(i)] = i
	}
	return made(root, []link{{root, "Shops", ""}}, ids("shop", n), nil, func(s *site, rest string, _ url.Values) *answer {
		pg := s.page("Shops")
		for _, l := range lists[root+rest] {
			pg.link(l.href, l.label, l.id)
		}
		if len(lists[root+rest]) > 0 {
			return pg.trap("", rest)
		}
		of := root + strings.TrimSuffix(strings.TrimSuffix(rest, "services/"), "offers/")
		i, ok := shops[of]
		if !ok {
			return nil
		}
		pg.link(of+"services/", "services", "")
		pg.link(of+"offers/", "offers", "")
		switch view := strings.TrimPrefix(root+rest, of); view {
		case "":
			pg.para("chain", 240)
			pg.text("%d %s Road, telephone %d", 1+draw(fmt.Sprint("house", i), 300), name(fmt.Sprint("road", i)), 100_000+draw(fmt.Sprint("telephone", i), 900_000))
			return pg.real(fmt.Sprint("shop", i))
		case "offers/":
			pg.para("chain", 240)
			pg.text("Two for one on all paint this week.")
			return pg.trap("", view)
		}
		for k := range 9 {
			if draw(fmt.Sprint("service", i, k), 2) == 0 {
				pg.text("%s", name(fmt.Sprint("service", k)))
			}
		}
		return pg.trap("", "services/")
	})
}

// draws are of a lottery: numbers of a day, each of which names the days beside it.
func draws(n int) *part {
	root := "/draws/"
	at := func(i int) string { return fmt.Sprintf("%s%d-%02d-%02d", root, 1995+i/104, i%104/9+1, i%104%9*3+1) }
	number := map[string]int{}
	for i := range n {
		number[at(i)] = i
	}
	return made(root, []link{{at(0), "Draws", "draw0"}}, ids("draw", n), nil, func(s *site, rest string, _ url.Values) *answer {
		i, ok := number[root+rest]
		if !ok {
			return nil
		}
		pg := s.page(fmt.Sprint("Draw ", i+1))
		for k := range 6 {
			pg.row("Ball", fmt.Sprint(1+draw(fmt.Sprint("ball", i, k), 49)))
		}
		pg.text("Winners: %d, jackpot %d", draw(fmt.Sprint("winners", i), 9), draw(fmt.Sprint("jackpot", i), 9_000_000))
		for _, k := range []int{i - 1, i + 1} {
			if k >= 0 && k < n {
				pg.link(at(k), "beside", fmt.Sprint("draw", k))
			}
		}
		return pg.real(fmt.Sprint("draw", i))
	})
}

// visitors has a site in one path; each page draws an id and a token for whoever reads it, and all its links have them.
func visitors(n int) *part {
	const each = 20
	root := "/visitors/"
	return made(root, []link{{root + "index?do=list&from=0", "News", ""}}, ids("news", n), []trap{{name: "visits", endless: true, mark: root}}, func(s *site, rest string, q url.Values) *answer {
		pg, i := s.page("News"), 0
		visit := func(format string, args ...any) string {
			key := s.seed + q.Encode()
			return fmt.Sprintf(root+"index?"+format, args...) + fmt.Sprintf("&visitor=%d&token=%d", 1_000_000+draw("visitor"+key, 9_000_000), 10_000_000+draw("token"+key, 90_000_000))
		}
		pg.link(visit("do=list&from=0"), "News", "")
		pg.link(visit("do=contact"), "Contact", "")
		trap := ""
		if q.Has("token") {
			trap = "visits"
		}
		switch do := q.Get("do"); {
		case rest != "index":
			return nil
		case do == "contact":
			pg.text("Write to us.")
			return pg.trap(trap, do)
		case do == "list" && is(q.Get("from"), "%d", &i) && i < n:
			for k := i; k < min(n, i+each); k++ {
				pg.link(visit("do=show&id=%d", k), name(fmt.Sprint("news", k)), fmt.Sprint("news", k))
			}
			if i+each < n {
				pg.link(visit("do=list&from=%d", i+each), "next", "")
			}
			return pg.trap(trap, fmt.Sprint("list ", i))
		case (do == "show" || do == "mail") && is(q.Get("id"), "%d", &i) && i < n:
			if do == "mail" {
				pg.text("Send this to a friend.")
				return pg.trap(trap, do)
			}
			pg.title = name(fmt.Sprint("news", i))
			pg.para(fmt.Sprint("news", i), 80)
			pg.link(visit("do=mail&id=%d", i), "mail", "")
			return pg.real(fmt.Sprint("news", i))
		}
		return nil
	})
}

// chains returns these webs.
func chains() (ws []*web) {
	for _, p := range []*part{towns(1200), draws(1400), visitors(400)} {
		ws = append(ws, single(p.name, p, library(200)))
	}
	return ws
}

package main

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Webs whose pages differ in the numbers that they say, and traps that do so, too: those of real pages do not follow from their addresses.

// lineage is a genealogy without names: of a person there are the years, parents and children. "ids" are given as they come, "spread" ones are
// far from each other, and some of the "known" have a note.
func lineage(how string, n int) *part {
	root := "/lineage-" + how + "/"
	at := func(i int) string {
		if how == "spread" {
			return fmt.Sprintf("person?pid=I%d", 100_000+i*7919%899_981)
		}
		return fmt.Sprintf("i%d.html", i)
	}
	born := make([]int, n)
	for i := range born {
		born[i] = 1640
		if i > 0 {
			born[i] = born[(i-1)/3] + 19 + draw(fmt.Sprint("lineage", i), 24)
		}
	}
	return numbered(root, n, at, func(pg *page, i int) []int {
		r := rng(fmt.Sprint("life", i))
		life := []int{1, 3, 20, 44, 58, 66, 71, 78, 84, 90}[r.IntN(10)] + r.IntN(7)
		if how == "known" && i%9 == 0 {
			pg.para(fmt.Sprint("note", i), 12)
		}
		pg.text("Born %d.", born[i])
		if r.IntN(8) > 0 {
			pg.text("Died %d.", born[i]+life)
		}
		if r.IntN(3) > 0 {
			pg.text("Married %d.", born[i]+18+r.IntN(20))
		}
		return []int{(i - 1) / 3, 3*i + 1, 3*i + 2, 3*i + 3}
	})
}

// numbered are n pages that say numbers: show writes them, and names further ones.
func numbered(root string, n int, at func(i int) string, show func(pg *page, i int) []int) *part {
	known := map[string]int{}
	for i := range n {
		known[at(i)] = i
	}
	id := strings.ReplaceAll(strings.Trim(root, "/"), "/", "-")
	return made(root, []link{{root + at(0), "More", id + "0"}}, ids(id, n), nil, func(s *site, rest string, q url.Values) *answer {
		if len(q) > 0 {
			rest += "?" + q.Encode()
		}
		i, ok := known[rest]
		if !ok {
			return nil
		}
		pg := s.page("Entry")
		for _, k := range show(pg, i) {
			if k >= 0 && k < n && k != i {
				pg.link(root+at(k), "more", fmt.Sprint(id, k))
			}
		}
		return pg.real(fmt.Sprint(id, i))
	})
}

// parish is a register: books of pages, each of an entry, with the ages of two people and the house.
func parish(n int) *part {
	at := func(i int) string { return fmt.Sprintf("%d/%d", 1+i/300, 1+i%300) }
	return numbered("/r/", n, at, func(pg *page, i int) []int {
		r := rng(fmt.Sprint("parish", i))
		pg.title = fmt.Sprintf("Book %d, entry %d", 1+i/300, 1+i%300)
		pg.text("He is %d years old, she is %d. They live in house %d.", 18+r.IntN(50), 17+r.IntN(45), 1+r.IntN(140))
		return []int{i - 1, i + 1, i + 300}
	})
}

// census are households: how old those are who live there.
func census(n int) *part {
	at := func(i int) string { return fmt.Sprint("?household=", i) }
	return numbered("/census/", n, at, func(pg *page, i int) []int {
		r := rng(fmt.Sprint("census", i))
		for range 1 + r.IntN(7) {
			pg.row("Age", fmt.Sprint(r.IntN(80)))
		}
		return []int{i + 1}
	})
}

// reels are films of which only the numbers of the pictures, where and when they were taken are said.
func reels(n int) *part {
	at := func(i int) string { return fmt.Sprintf("film-%d/%d/", i/40, i%40) }
	return numbered("/reels/", n, at, func(pg *page, i int) []int {
		r := rng(fmt.Sprint("reel", i))
		pg.text("Film %d, picture %d of 40.", i/40, i%40)
		pg.text("Taken on %d.%d.%d at %d m.", 1+r.IntN(28), 1+r.IntN(12), 1920+r.IntN(40), r.IntN(3000))
		return []int{i + 1, i + 40}
	})
}

// weeks are pages without end that count weeks and days from one on, and say which year and month it is.
func weeks() *part {
	traps := []trap{{name: "weeks", endless: true, mark: "/weeks/"}}
	return made("/weeks/", []link{{"/weeks/1", "Weeks", ""}}, nil, traps, func(s *site, rest string, _ url.Values) *answer {
		i := number(rest)
		if i < 1 {
			return nil
		}
		pg := s.page(fmt.Sprint("Week ", 1+i%52))
		day := i * 7
		pg.text("From %d.%d.%d to %d.%d., day %d of the year.", 1+day%30, 1+day/30%12, 2000+day/360, 1+(day+6)%30, 1+(day+6)/30%12, 1+day%360)
		for _, k := range []int{i + 1, i + 4, i + 52} {
			pg.link(fmt.Sprint("/weeks/", k), "→", "")
		}
		return pg.trap("weeks", "week")
	})
}

// ranges is a list that says for ever from where to where it goes, and how much of it is left.
func ranges() *part {
	traps := []trap{{name: "ranges", endless: true, mark: "/ranges"}}
	return made("/ranges", []link{{"/ranges?start=0", "Ranges", ""}}, nil, traps, func(s *site, rest string, q url.Values) *answer {
		i := number(q.Get("start"))
		if i < 0 || rest != "" || i%25 != 0 {
			return nil
		}
		pg := s.page("Results")
		pg.text("Nothing was found from %d to %d of 1200, page %d, %d %%.", i+1, i+25, i/25+1, i*100/1200)
		for _, k := range []int{i + 25, i + 250} {
			pg.link(fmt.Sprint("/ranges?start=", k), "next", "")
		}
		return pg.trap("ranges", "nothing")
	})
}

// visits are pages without end that say how many have seen them, of how many that are there, and how fast it went.
func visits() *part {
	asked := 0
	traps := []trap{{name: "visits", endless: true, mark: "/visits/"}}
	p := made("/visits/", []link{{"/visits/1", "Visits", ""}}, nil, traps, func(s *site, rest string, _ url.Values) *answer {
		i := number(rest)
		if i < 1 {
			return nil
		}
		asked++
		r := rng(fmt.Sprint("visit", asked))
		pg := s.page("Nothing here")
		pg.text("You are visitor %d of today, %d are here now. Made in %d ms by %d queries.", 40_000+asked*3, 3+r.IntN(90), r.IntN(400), 10+r.IntN(30))
		pg.link(fmt.Sprint("/visits/", 2*i), "more", "")
		pg.link(fmt.Sprint("/visits/", 2*i+1), "more", "")
		return pg.trap("visits", "nothing")
	})
	p.drawn = true
	return p
}

// sums has a page for any two numbers, which says that there is nothing about them, their sum, difference and product.
func sums() *part {
	traps := []trap{{name: "sums", endless: true, mark: "/sums/"}}
	return made("/sums/", []link{{"/sums/3/4", "Sums", ""}}, nil, traps, func(s *site, rest string, _ url.Values) *answer {
		var x, y int
		if !is(rest, "%d/%d", &x, &y) {
			return nil
		}
		pg := s.page("Sums")
		pg.text("There is nothing about %d and %d: %d, %d.", x, y, x+y, 2*x+5*y)
		pg.link(fmt.Sprintf("/sums/%d/%d", x+1, y), "more", "")
		pg.link(fmt.Sprintf("/sums/%d/%d", x, y+1), "more", "")
		return pg.trap("sums", "nothing")
	})
}

// days are those of a calendar without end, which counts them from year one on.
func days() *part {
	traps := []trap{{name: "days", endless: true, mark: "/days"}}
	return made("/days", []link{{"/days?n=738000", "Days", ""}}, nil, traps, func(s *site, rest string, q url.Values) *answer {
		i := number(q.Get("n"))
		if i < 1 || rest != "" {
			return nil
		}
		at := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i)
		year, week := at.ISOWeek()
		pg := s.page(at.Format("2 January 2006"))
		pg.text("%s, week %d of %d, day %d. There are %d days left.", at.Weekday(), week, year, at.YearDay(), 365-at.YearDay())
		for _, k := range []int{i + 1, i - 1, i + 7, i + 30} {
			pg.link(fmt.Sprint("/days?n=", k), "→", "")
		}
		return pg.trap("days", "day")
	})
}

// grid is a map without end whose sheets say where they are.
func grid() *part {
	traps := []trap{{name: "sheets", endless: true, mark: "/grid/"}}
	return made("/grid/", []link{{"/grid/9/300/200", "Grid", ""}}, nil, traps, func(s *site, rest string, _ url.Values) *answer {
		var x, y, z int
		if !is(rest, "%d/%d/%d", &z, &x, &y) || x < 1 || y < 1 || z < 1 {
			return nil
		}
		pg := s.page("Sheet")
		pg.text("From %.4f to %.4f east and from %.4f to %.4f north, 1:%d.", float64(x)*0.3517, float64(x+1)*0.3517, float64(y)*0.1758, float64(y+1)*0.1758, 1000000/z)
		for _, d := range [][3]int{{0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}, {1, x, y}} {
			pg.link(fmt.Sprintf("/grid/%d/%d/%d", z+d[0], x+d[1], y+d[2]), "→", "")
		}
		return pg.trap("sheets", "sheet")
	})
}

// drift are pages without end that say what changes once in a while: how many are here, and how warm it is.
func drift() *part {
	asked := 0
	traps := []trap{{name: "drift", endless: true, mark: "/drift/"}}
	p := made("/drift/", []link{{"/drift/1", "Drift", ""}}, nil, traps, func(s *site, rest string, _ url.Values) *answer {
		i := number(rest)
		if i < 1 {
			return nil
		}
		asked++
		r := rng(fmt.Sprint("drift", asked/20))
		pg := s.page("Nothing here")
		pg.text("%d readers are here, %d posts were written today. It is %d degrees.", 400+r.IntN(300), 1000+asked/20*7+r.IntN(5), 10+r.IntN(9))
		pg.link(fmt.Sprint("/drift/", 2*i), "more", "")
		pg.link(fmt.Sprint("/drift/", 2*i+1), "more", "")
		return pg.trap("drift", "nothing")
	})
	p.drawn = true
	return p
}

// matches are games of which the result and the spectators are said.
func matches(n int) *part {
	return numbered("/match/", n, func(i int) string { return fmt.Sprint(8_000_000 + i*37) }, func(pg *page, i int) []int {
		r := rng(fmt.Sprint("match", i))
		pg.title = fmt.Sprint("Match ", 8_000_000+i*37)
		pg.text("%d:%d after %d:%d. %d came.", r.IntN(5), r.IntN(5), r.IntN(2), r.IntN(2), 300+r.IntN(60_000))
		return []int{i + 1, i * 2}
	})
}

// deaths are a register by years, in the order of its entries; a third of them say nothing.
func deaths(n int) *part {
	return numbered("/deaths/", n, func(i int) string { return fmt.Sprintf("%d/%d", 1780+i/30, 1+i%30) }, func(pg *page, i int) []int {
		r := rng(fmt.Sprint("death", i))
		if r.IntN(3) > 0 {
			pg.text("Aged %d years, %d months. Grave %d.", r.IntN(90), r.IntN(12), 1+r.IntN(600))
		} else {
			pg.text("No entry.")
		}
		return []int{i + 1, i + 30}
	})
}

func withNumbers() (ws []*web) {
	for _, p := range []*part{lineage("ids", 2002), lineage("spread", 2002), lineage("known", 2002), parish(1800), census(1500), reels(1600), weeks(), ranges(), visits(), sums(), days(), grid(), drift(), matches(1500), deaths(1500)} {
		ws = append(ws, single(p.name, p, library(200)))
	}
	return ws
}

package main

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Pages whose content is a picture, or next to nothing, numbered in ways of their own.

// picture adds a picture with its words.
func (p *page) picture(src, alt, title string) {
	fmt.Fprintf(&p.b, "<img src=\"%s\" alt=\"%s\" title=\"%s\">\n", src, alt, title)
}

// comics are strips behind each other. What a page says stands in its picture's attributes; of an album nothing is new but the picture,
// and of plates the headline as well.
func comics(kind string, n int) *part {
	root := "/" + kind + "/"
	return made(root, []link{{root + "1", kind, kind + "1"}}, from1(kind, n), nil, func(s *site, rest string, _ url.Values) *answer {
		i := number(rest)
		if i < 1 || i > n {
			return nil
		}
		pg := s.page(kind)
		id := fmt.Sprint(kind, i)
		file := fmt.Sprintf("/files/%08x.png", rng(id).Uint32())
		switch kind {
		case "comic":
			pg.picture(file, prose(id+"/alt", 15), prose(id+"/title", 15))
		case "plates":
			pg.title = name(id)
			pg.picture(file, name(id), "")
		default:
			pg.picture(file, "", "")
		}
		if i < n {
			pg.link(fmt.Sprint(root, i+1), "Next", fmt.Sprint(kind, i+1))
		}
		return pg.real(id)
	})
}

func from1(kind string, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprint(kind, i+1))
	}
	return out
}

// profiles are readers of whom most have written nothing, each known by two others; posts are named by their writers alone.
func profiles(n, every int) *part {
	return made("/people/", []link{{"/people/0", "People", "person0"}}, append(ids("person", n), ids("letter", n/every)...), nil, func(s *site, rest string, _ url.Values) *answer {
		var i int
		pg := s.page("A reader")
		switch {
		case is(rest, "letter/%d", &i) && i < n/every:
			pg.title = name(fmt.Sprint("letter", i))
			pg.para(fmt.Sprint("letter", i), 60)
			return pg.real(fmt.Sprint("letter", i))
		case is(rest, "%d", &i) && i < n:
			for _, k := range []int{2*i + 1, 2*i + 2} {
				if k < n {
					pg.link(fmt.Sprint("/people/", k), "friend", fmt.Sprint("person", k))
				}
			}
			if i%every == every-1 {
				pg.link(fmt.Sprint("/people/letter/", i/every), "A letter", fmt.Sprint("letter", i/every))
			} else {
				pg.text("This reader has not written anything yet.")
			}
			return pg.real(fmt.Sprint("person", i))
		}
		return nil
	})
}

// concerts is a calendar by months and days in paths, without end on both sides, with concerts in three years.
func concerts(n int) *part {
	on := map[int][]int{}
	for i := range n {
		at := draw(fmt.Sprint("concert", i), 36*28)
		on[at] = append(on[at], i)
	}
	traps := []trap{{name: "calendar", endless: true, mark: "/concerts/"}}
	return made("/concerts/", []link{{"/concerts/2026/11", "Concerts", ""}}, ids("concert", n), traps, func(s *site, rest string, _ url.Values) *answer {
		var i, y, m, d int
		pg := s.page("Concerts")
		if is(rest, "on/%d", &i) && i < n {
			pg.title = name(fmt.Sprint("concert", i))
			pg.para(fmt.Sprint("concert", i), 50)
			return pg.real(fmt.Sprint("concert", i))
		}
		list := func(at int) (says string) {
			for _, i := range on[at] {
				pg.link(fmt.Sprint("/concerts/on/", i), name(fmt.Sprint("concert", i)), fmt.Sprint("concert", i))
				says += fmt.Sprint(" ", i)
			}
			return says
		}
		switch {
		case is(rest, "%d/%d/%d", &y, &m, &d) && m >= 1 && m <= 12 && d >= 1 && d <= 28:
			says := "day" + list(((y-2025)*12+m-1)*28+d-1)
			at := (y*12+m-1)*28 + d - 1
			for _, step := range []int{1, -1} {
				to := at + step
				pg.link(fmt.Sprintf("/concerts/%d/%d/%d", to/336, to/28%12+1, to%28+1), "→", "")
			}
			pg.link(fmt.Sprintf("/concerts/%d/%d", y, m), "The month", "")
			return pg.trap("calendar", says)
		case is(rest, "%d/%d", &y, &m) && m >= 1 && m <= 12:
			says := "month"
			for d := range 28 {
				pg.link(fmt.Sprintf("/concerts/%d/%d/%d", y, m, d+1), fmt.Sprint(d+1), "")
				says += list(((y-2025)*12+m-1)*28 + d)
			}
			for _, step := range []int{1, -1} {
				to := y*12 + m - 1 + step
				pg.link(fmt.Sprintf("/concerts/%d/%d", to/12, to%12+1), "→", "")
			}
			return pg.trap("calendar", says)
		}
		return nil
	})
}

// statutes are laws with sections of a line each, numbered as laws are (12, 12a, 12b), each of which leads to the next.
func statutes(laws, each int) *part {
	no := func(k int) string { return fmt.Sprint(k/3+1) + []string{"", "a", "b"}[k%3] }
	var real []string
	for l := range laws {
		for k := range each {
			real = append(real, fmt.Sprintf("law%d/%s", l, no(k)))
		}
	}
	return made("/law/", []link{{"/law/", "Laws", ""}}, real, nil, func(s *site, rest string, _ url.Values) *answer {
		pg := s.page("Laws")
		if rest == "" {
			for l := range laws {
				pg.link(fmt.Sprintf("/law/act-%s/s-1", roman(l+1)), "Act "+roman(l+1), fmt.Sprintf("law%d/1", l))
			}
			return pg.trap("", "laws")
		}
		act, section, _ := strings.Cut(rest, "/s-")
		for l := range laws {
			for k := range each {
				if act != "act-"+roman(l+1) || section != no(k) {
					continue
				}
				id := fmt.Sprintf("law%d/%s", l, no(k))
				pg.title = "Section " + no(k)
				pg.para(id, 14)
				if k+1 < each {
					pg.link("/law/"+act+"/s-"+no(k+1), "Next", fmt.Sprintf("law%d/%s", l, no(k+1)))
				}
				return pg.real(id)
			}
		}
		return nil
	})
}

// roman writes a number below 50 in Roman numerals.
func roman(n int) string {
	var b strings.Builder
	for _, r := range []struct {
		of int
		as string
	}{{40, "xl"}, {10, "x"}, {9, "ix"}, {5, "v"}, {4, "iv"}, {1, "i"}} {
		for ; n >= r.of; n -= r.of {
			b.WriteString(r.as)
		}
	}
	return b.String()
}

// boards is a forum whose lists of topics can be sorted in three ways, up and down, on each of their pages, and whose topics have a talk
// page each, most of them empty.
func boards(n int) *part {
	traps := []trap{{name: "orders"}, {name: "talk"}}
	p := made("/boards", []link{{"/boards?start=0", "Boards", ""}}, append(ids("topic", n), ids("remark", n/10)...), traps, func(s *site, rest string, q url.Values) *answer {
		var i int
		pg := s.page("Boards")
		start := number(q.Get("start"))
		switch {
		case is(rest, "/topic-%d", &i) && i < n:
			pg.title = name(fmt.Sprint("topic", i))
			pg.para(fmt.Sprint("topic", i), 40)
			pg.link(fmt.Sprint("/boards/talk/", i), "Talk", "")
			return pg.real(fmt.Sprint("topic", i))
		case is(rest, "/talk/%d", &i) && i < n:
			pg.link(fmt.Sprint("/boards/topic-", i), "The topic", fmt.Sprint("topic", i))
			if i%10 != 9 {
				pg.text("Nobody has said anything here yet.")
				return pg.trap("talk", "nothing")
			}
			pg.para(fmt.Sprint("remark", i/10), 20)
			return pg.real(fmt.Sprint("remark", i/10))
		case rest == "" && start >= 0 && start < n && start%25 == 0:
			by, down := q.Get("sort"), q.Get("dir") == "desc"
			all := make([]int, n)
			for k := range all {
				all[k] = k
			}
			if by != "" {
				slices.SortStableFunc(all, func(x, y int) int {
					c := draw(fmt.Sprint(by, x), 1000) - draw(fmt.Sprint(by, y), 1000)
					if down {
						return -c
					}
					return c
				})
			}
			for _, k := range all[start:min(n, start+25)] {
				pg.link(fmt.Sprint("/boards/topic-", k), name(fmt.Sprint("topic", k)), fmt.Sprint("topic", k))
			}
			to := func(start int, by, dir string) string {
				if by == "" {
					return fmt.Sprint("/boards?start=", start)
				}
				return fmt.Sprintf("/boards?start=%d&sort=%s&dir=%s", start, by, dir)
			}
			if start+25 < n {
				pg.link(to(start+25, by, q.Get("dir")), "More", "")
			}
			for _, by := range []string{"title", "writer", "date"} {
				pg.link(to(start, by, "asc"), by, "")
				pg.link(to(start, by, "desc"), by+" ↓", "")
			}
			if by != "" {
				return pg.trap("orders", fmt.Sprint(all[start:min(n, start+25)]))
			}
			return pg.trap("", fmt.Sprint("boards ", start))
		}
		return nil
	})
	p.need = 1
	return p
}

// weather is a calendar of days without end, with a chart each, whose name is the day's.
func weather() *part {
	traps := []trap{{name: "days", endless: true, mark: "/weather/"}}
	return made("/weather/", []link{{"/weather/2026-11-01", "Weather", ""}}, nil, traps, func(s *site, rest string, _ url.Values) *answer {
		var y, m, d int
		if _, err := fmt.Sscanf(rest, "%d-%d-%d", &y, &m, &d); err != nil || m < 1 || m > 12 || d < 1 || d > 28 {
			return nil
		}
		pg := s.page("Weather")
		pg.picture(fmt.Sprintf("/charts/%s.png", rest), "chart", "")
		at := (y*12+m-1)*28 + d - 1
		for _, step := range []int{1, -1, 28} {
			to := at + step
			pg.link(fmt.Sprintf("/weather/%d-%02d-%02d", to/336, to/28%12+1, to%28+1), "→", "")
		}
		return pg.trap("days", "weather")
	})
}

// shown returns these webs.
func shown() (ws []*web) {
	for _, p := range []*part{comics("comic", 900), comics("plates", 900), comics("album", 900), profiles(2000, 33), concerts(90), statutes(20, 45), boards(400), weather()} {
		ws = append(ws, single(p.name, p, library(200)))
	}
	return ws
}

package main

import (
	"fmt"
	"net/url"
	"strings"
)

// Pages of figures: those that say something, and those that count how often they were asked.

// stations are pages of measurements, each named by the one before it alone, which differ in their figures only.
func stations(kind string, n int) *part {
	root := "/" + kind + "/"
	return made(root, []link{{root + "0", kind, kind + "0"}}, ids(kind, n), nil, func(s *site, rest string, _ url.Values) *answer {
		var k int
		if !is(rest, "%d", &k) || k >= n {
			return nil
		}
		pg := s.page(fmt.Sprint("Station ", k))
		pg.bare = true
		random := rng(fmt.Sprint(kind, k))
		if kind == "stations" {
			for _, m := range strings.Fields("January February March April May June July August") {
				pg.row(m, fmt.Sprintf("%.1f", random.Float64()*50-20), fmt.Sprint(random.IntN(1000)))
			}
		} else {
			for _, what := range [][2]string{{"Temperature", "°C"}, {"Pressure", "hPa"}, {"Humidity", "%"}, {"Wind", "km/h"}, {"Rain", "mm"}, {"Sun", "h"}, {"Snow", "cm"}, {"Clouds", "%"}} {
				pg.row(what[0], fmt.Sprintf("%.1f %s", random.Float64()*100, what[1]))
			}
		}
		if k+1 < n {
			pg.link(fmt.Sprint(root, k+1), "next", fmt.Sprint(kind, k+1))
		}
		pg.link(fmt.Sprint(root, max(0, k-1)), "previous", fmt.Sprint(kind, max(0, k-1)))
		return pg.real(fmt.Sprint(kind, k))
	})
}

// row adds a row of a table, without a link.
func (p *page) row(cells ...string) {
	fmt.Fprintf(&p.b, "<table><tr><td>%s</td></tr></table>\n", strings.Join(cells, "</td><td>"))
}

// meter is a row of empty pages without end, each of which says when and how fast it was made, and how many came.
func meter() *part {
	visitors := 0
	return made("/meter/", []link{{"/meter/0", "Meter", ""}}, nil, []trap{{name: "meter", endless: true, mark: "/meter/"}}, func(s *site, rest string, _ url.Values) *answer {
		var n int
		if !is(rest, "%d", &n) {
			return nil
		}
		visitors++
		pg := s.page("Nothing here")
		pg.link(fmt.Sprint("/meter/", n+1), "next", "")
		random := rng(fmt.Sprint("meter", visitors))
		pg.text("2026-11-%02d %02d:%02d:%02d. Made in 0.0%03d s by %d queries with %.2f MB, load %.2f. Visitor %d,%03d.", 1+visitors/900%28, visitors/60%24, visitors%60,
			random.IntN(60), random.IntN(1000), 10+random.IntN(30), random.Float64()*8, random.Float64(), 100+visitors/1000, visitors%1000)
		return pg.trap("meter", "nothing")
	})
}

// choices is a shop's search with filters in all orders, each with the number of wares that it leaves.
func choices(n int) *part {
	const filters, values = 6, 5
	of := func(ware, filter int) int { return draw(fmt.Sprint("choice", ware, ".", filter), values) }
	traps := []trap{{name: "choices", endless: true, mark: "/choices/"}}
	return made("/choices/", []link{{"/choices/find", "Find", ""}}, ids("ware", n), traps, func(s *site, rest string, q url.Values) *answer {
		var k int
		if is(rest, "ware/%d", &k) && k < n {
			pg := s.page(name(fmt.Sprint("ware", k)))
			pg.para(fmt.Sprint("ware", k), 60)
			return pg.real(fmt.Sprint("ware", k))
		}
		if rest != "find" {
			return nil
		}
		pg := s.page("Find wares")
		var left []int
		for ware := range n {
			fits := true
			for f := range filters {
				v := q.Get(fmt.Sprint("f", f))
				fits = fits && (v == "" || v == fmt.Sprint(of(ware, f)))
			}
			if fits {
				left = append(left, ware)
			}
		}
		return showChoices(pg, q, left, filters, values, of)
	})
}

// showChoices shows the wares that are left, and what can be chosen next.
func showChoices(pg *page, q url.Values, left []int, filters, values int, of func(ware, filter int) int) *answer {
	says := fmt.Sprint(left)
	for _, ware := range left[:min(len(left), 40)] {
		pg.link(fmt.Sprint("/choices/ware/", ware), name(fmt.Sprint("ware", ware)), fmt.Sprint("ware", ware))
		pg.text("%.2f €", 5+float64(draw(fmt.Sprint("price", ware), 9000))/100)
	}
	for f := range filters {
		for v := range values {
			many := 0
			for _, ware := range left {
				if of(ware, f) == v {
					many++
				}
			}
			more := url.Values{}
			for k, vs := range q {
				more[k] = vs
			}
			more.Set(fmt.Sprint("f", f), fmt.Sprint(v))
			pg.link("/choices/find?"+more.Encode(), fmt.Sprintf("value %d", v), "")
			pg.text("(%d)", many)
		}
	}
	if len(q) == 0 {
		return pg.trap("", says)
	}
	return pg.trap("choices", says)
}

func withFigures() []*web {
	return []*web{single("stations", stations("stations", 900)), single("readings", stations("readings", 900)), single("meter", meter(), library(200)), single("choices", choices(300), library(200))}
}

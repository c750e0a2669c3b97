package main

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Webs whose pages stand at the crossing of two lists that are finite themselves: articles and languages, words and articles, things and things.

// untranslated has articles in 25 languages into which none was translated: the text is the same, and all links stay in their language.
func untranslated(n int) *part {
	langs := strings.Fields("en de fr es it nl pl pt sv da nb fi cs sk hu ro bg el tr ru uk ja ko zh ar")
	traps := []trap{{name: "languages"}}
	p := made("/", []link{{"/en/guide-0", "Guide", "guide0"}}, ids("guide", n), traps, func(s *site, rest string, q url.Values) *answer {
		lang, of, _ := strings.Cut(rest, "/")
		var i int
		if !slices.Contains(langs, lang) || !is(of, "guide-%d", &i) || i >= n {
			return nil
		}
		pg := s.page(name(fmt.Sprint("guide", i)))
		pg.para(fmt.Sprint("guide", i), 80)
		for _, l := range langs {
			pg.link(fmt.Sprintf("/%s/guide-%d", l, i), l, "")
		}
		for _, k := range []int{2*i + 1, 2*i + 2} {
			if k < n {
				pg.link(fmt.Sprintf("/%s/guide-%d", lang, k), name(fmt.Sprint("guide", k)), fmt.Sprint("guide", k))
			}
		}
		a := pg.real(fmt.Sprint("guide", i))
		if lang != "en" {
			a.trap = "languages"
		}
		return a
	})
	p.name = "untranslated"
	return p
}

// wordy is a magazine that makes each rarer word of its articles a link to the list of those that have it, with their beginnings.
func wordy(n int) *part {
	const each = 16
	words := make([][]string, n)
	has := map[string][]int{}
	for i := range n {
		r := rng(fmt.Sprint("wordy", i))
		for len(words[i]) < each {
			if w := vocabulary[60+r.IntN(3400)]; !slices.Contains(words[i], w) {
				words[i] = append(words[i], w)
				has[w] = append(has[w], i)
			}
		}
	}
	traps := []trap{{name: "words"}}
	return made("/wordy", []link{{"/wordy/0", "Magazine", "wordy0"}}, ids("wordy", n), traps, func(s *site, rest string, q url.Values) *answer {
		var i int
		if rest == "/find" {
			w := q.Get("w")
			pg := s.page("Articles with " + w)
			says := "found"
			for _, i := range has[w] {
				pg.link(fmt.Sprint("/wordy/", i), name(fmt.Sprint("wordy", i)), fmt.Sprint("wordy", i))
				pg.text("%s…", clip(prose(s.seed+fmt.Sprint("/wordy", i), 60), 80))
				says += fmt.Sprint(" ", i)
			}
			if len(has[w]) == 1 { // it says what the article says
				says = fmt.Sprint("wordy", has[w][0])
			}
			return pg.trap("words", says)
		}
		if !is(rest, "/%d", &i) || i >= n {
			return nil
		}
		pg := s.page(name(fmt.Sprint("wordy", i)))
		pg.para(fmt.Sprint("wordy", i), 60)
		for _, w := range words[i] {
			pg.link("/wordy/find?w="+w, w, "")
		}
		for _, k := range []int{2*i + 1, 2*i + 2} {
			if k < n {
				pg.link(fmt.Sprint("/wordy/", k), name(fmt.Sprint("wordy", k)), fmt.Sprint("wordy", k))
			}
		}
		return pg.real(fmt.Sprint("wordy", i))
	})
}

// compared is a shop in which any two things can be held against each other: such a page says what the pages of both say, one after the other
// or line by line.
func compared(n int, lines bool) *part {
	traps := []trap{{name: "comparisons"}}
	at, pair, read := "/gear/", "/gear/compare/%d-%d", "compare/%d-%d"
	if lines {
		at, pair, read = "/kit/", "/kit/both?this=%d&that=%d", "both"
	}
	id := func(i int) string { return fmt.Sprint(strings.Trim(at, "/"), i) }
	thing := func(pg *page, i int) { pg.link(fmt.Sprint(at, i), name(id(i)), id(i)) }
	offer := func(pg *page, rest string, i int) {
		for k := range 8 {
			if o := draw(fmt.Sprint(rest, i, "/", k), n); o != i {
				pg.link(fmt.Sprintf(pair, min(i, o), max(i, o)), "Compare with "+name(id(o)), "")
			}
		}
	}
	weight := func(i int) string { return fmt.Sprint(draw(fmt.Sprint("weight", i), 900)) }
	price := func(i int) string { return fmt.Sprint(draw(fmt.Sprint("price", i), 9000)) }
	show := func(pg *page, i int) {
		pg.para(id(i), 50)
		pg.row("Weight", weight(i), "Price", price(i))
	}
	return made(at, []link{{at + "0", "Shop", id(0)}}, ids(strings.Trim(at, "/"), n), traps, func(s *site, rest string, q url.Values) *answer {
		var a, b int
		if is(rest, "%d", &a) && a < n {
			pg := s.page(name(id(a)))
			show(pg, a)
			offer(pg, rest, a)
			for _, k := range []int{2*a + 1, 2*a + 2} {
				if k < n {
					thing(pg, k)
				}
			}
			return pg.real(id(a))
		}
		both := lines && rest == read && is(q.Get("this"), "%d", &a) && is(q.Get("that"), "%d", &b) || !lines && is(rest, read, &a, &b)
		if !both || a >= b || b >= n {
			return nil
		}
		pg := s.page(fmt.Sprintf("%s or %s", name(id(a)), name(id(b))))
		for _, i := range []int{a, b} {
			thing(pg, i)
			if lines {
				pg.para(id(i), 50)
			} else {
				show(pg, i)
			}
			offer(pg, fmt.Sprint(rest, a, "-", b), i)
		}
		if lines {
			pg.row("Weight", weight(a), weight(b))
			pg.row("Price", price(a), price(b))
		}
		return pg.trap("comparisons", "compared")
	})
}

func crossed() (ws []*web) {
	for _, p := range []*part{untranslated(400), wordy(250), compared(80, false), compared(60, true)} {
		ws = append(ws, single(p.name, p, library(200)))
	}
	return append(ws, single("gear-200", compared(200, false), library(200)))
}

package main

import (
	"fmt"
	"net/url"
	"slices"
	"sort"
	"strings"
)

// Traps that were made after the rule, to see whether it holds where nobody had looked.

// compare has wares with a link each that puts it on a list to be compared: every set of them has a URL.
func compare(n int) *part {
	traps := []trap{{name: "sets of wares", endless: true, mark: "/compare/"}}
	return made("/compare/", []link{{"/compare/0", "Compare", "compare0"}}, ids("compare", n), traps, func(s *site, rest string, q url.Values) *answer {
		i := number(rest)
		var with []int
		for v := range strings.SplitSeq(q.Get("with"), ",") {
			if k := number(v); k >= 0 && k < n {
				with = append(with, k)
			}
		}
		pg := s.page(name(fmt.Sprint("compare", i)))
		switch {
		case rest == "list" && len(with) > 0:
			pg.title = "Compare"
			for _, k := range with {
				pg.link(fmt.Sprint("/compare/", k, "?with=", q.Get("with")), name(fmt.Sprint("compare", k)), fmt.Sprint("compare", k))
			}
			sort.Ints(with)
			return pg.trap("sets of wares", fmt.Sprint("compare ", with))
		case i < 0 || i >= n:
			return nil
		}
		pg.para(fmt.Sprint("compare", i), 60)
		list := q.Get("with")
		if !slices.Contains(with, i) {
			list = strings.TrimPrefix(fmt.Sprint(list, ",", i), ",")
		}
		pg.link("/compare/list?with="+list, "Compare", "")
		for _, k := range []int{2*i + 1, 2*i + 2} {
			if k < n {
				to := fmt.Sprint("/compare/", k)
				if len(with) > 0 {
					to += "?with=" + q.Get("with")
				}
				pg.link(to, name(fmt.Sprint("compare", k)), fmt.Sprint("compare", k))
			}
		}
		a := pg.real(fmt.Sprint("compare", i))
		if len(q) > 0 {
			a.trap = "sets of wares"
		}
		return a
	})
}

// atlas is a map whose sheets lead to the neighbours and to larger and smaller scales, without end; a few show a place.
func atlas() *part {
	traps := []trap{{name: "sheets", endless: true, mark: "/atlas/"}}
	return made("/atlas/", []link{{"/atlas/sheet?x=0&y=0&z=5", "Atlas", ""}}, ids("place", 9), traps, func(s *site, rest string, q url.Values) *answer {
		var i, x, y, z int
		if is(rest, "place/%d", &i) && i < 9 {
			pg := s.page(name(fmt.Sprint("place", i)))
			pg.para(fmt.Sprint("place", i), 70)
			return pg.real(fmt.Sprint("place", i))
		}
		if _, err := fmt.Sscanf(q.Get("x")+" "+q.Get("y")+" "+q.Get("z"), "%d %d %d", &x, &y, &z); err != nil || rest != "sheet" {
			return nil
		}
		pg := s.page(fmt.Sprintf("Sheet %d, %d", x, y))
		says := "sheet"
		if z == 5 && x >= -1 && x <= 1 && y >= -1 && y <= 1 {
			i := (x+1)*3 + y + 1
			pg.link(fmt.Sprint("/atlas/place/", i), name(fmt.Sprint("place", i)), fmt.Sprint("place", i))
			says = fmt.Sprint("sheet with place ", i)
		}
		for _, d := range [][3]int{{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {x, y, 1}, {x/2 - x, y/2 - y, -1}} {
			pg.link(fmt.Sprintf("/atlas/sheet?x=%d&y=%d&z=%d", x+d[0], y+d[1], z+d[2]), "→", "")
		}
		return pg.trap("sheets", says)
	})
}

// login has articles that each link to a form to log in, which says where it will lead to and links to itself in the same way.
func login(n int) *part {
	traps := []trap{{name: "forms", endless: true, mark: "/club/"}}
	return made("/club/", []link{{"/club/0", "Club", "club0"}}, ids("club", n), traps, func(s *site, rest string, q url.Values) *answer {
		here := "/club/" + rest
		if len(q) > 0 {
			here += "?" + q.Encode()
		}
		i := number(rest)
		pg := s.page("Log in")
		pg.link("/club/login?next="+url.QueryEscape(here), "Log in", "")
		switch {
		case rest == "login":
			pg.text("Your name and your password, please. You will be led back.")
			return pg.trap("forms", "log in")
		case i < 0 || i >= n || len(q) > 0:
			return nil
		}
		pg.title = name(fmt.Sprint("club", i))
		pg.para(fmt.Sprint("club", i), 60)
		for _, k := range []int{2*i + 1, 2*i + 2} {
			if k < n {
				pg.link(fmt.Sprint("/club/", k), name(fmt.Sprint("club", k)), fmt.Sprint("club", k))
			}
		}
		return pg.real(fmt.Sprint("club", i))
	})
}

// sayings shows one of a few texts under every address, and names three further ones, made of words.
func sayings(n int) *part {
	traps := []trap{{name: "addresses", endless: true, mark: "/sayings/"}}
	return made("/sayings/", []link{{"/sayings/today", "Sayings", ""}}, ids("saying", n), traps, func(s *site, rest string, _ url.Values) *answer {
		i := draw("saying"+rest, n)
		pg := s.page("A saying")
		pg.para(fmt.Sprint("saying", i), 40)
		for k := range 3 {
			to := fmt.Sprint(rest, "/", k)
			pg.link("/sayings/"+slug(to), name(to), fmt.Sprint("saying", draw("saying"+slug(to), n)))
		}
		a := pg.real(fmt.Sprint("saying", i))
		a.trap = "addresses"
		return a
	})
}

// stream is a list of posts before a moment, which goes on with the oldest ones when there are none before.
func stream(n int) *part {
	traps := []trap{{name: "moments", endless: true, mark: "/stream"}}
	real := ids("post", n)
	return made("/stream", []link{{"/stream", "Stream", ""}}, real, traps, func(s *site, rest string, q url.Values) *answer {
		var i int
		pg := s.page("Stream")
		if is(rest, "/%d", &i) && i < n {
			pg.title = name(fmt.Sprint("post", i))
			pg.para(fmt.Sprint("post", i), 50)
			return pg.real(fmt.Sprint("post", i))
		}
		const now, step = 1_790_000_000, 3600
		before := number(q.Get("before"))
		if rest != "" || len(q) > 0 && before < 0 {
			return nil
		}
		if len(q) == 0 {
			before = now
		}
		first := min((now-before)/step, n-5)
		for i := first; i < first+5; i++ {
			pg.link(fmt.Sprint("/stream/", i), name(fmt.Sprint("post", i)), fmt.Sprint("post", i))
		}
		pg.link(fmt.Sprint("/stream?before=", before-5*step), "Older", "")
		return pg.trap("moments", fmt.Sprint("stream from ", first))
	})
}

// prefixes has pages with a switch of the language that puts one more language in front of the path.
func prefixes(n int) *part {
	langs := []string{"de", "en", "fr", "pl"}
	traps := []trap{{name: "prefixes", endless: true, mark: "/intl/"}}
	var real []string
	for i := range n {
		for _, l := range langs {
			real = append(real, fmt.Sprint(l, i))
		}
	}
	return made("/intl/", []link{{"/intl/en/0", "International", "en0"}}, real, traps, func(s *site, rest string, _ url.Values) *answer {
		segs := strings.Split(rest, "/")
		i := number(segs[len(segs)-1])
		if i < 0 || i >= n || len(segs) < 2 {
			return nil
		}
		for _, l := range segs[:len(segs)-1] {
			if !slices.Contains(langs, l) {
				return nil
			}
		}
		at := strings.Join(segs[:len(segs)-1], "/")
		id := fmt.Sprint(segs[0], i)
		pg := s.page(name(id))
		pg.para(id, 70)
		for _, l := range langs {
			pg.link(fmt.Sprintf("/intl/%s/%s/%d", l, at, i), l, fmt.Sprint(l, i))
		}
		for _, k := range []int{2*i + 1, 2*i + 2} {
			if k < n {
				pg.link(fmt.Sprintf("/intl/%s/%d", at, k), name(fmt.Sprint(segs[0], k)), fmt.Sprint(segs[0], k))
			}
		}
		a := pg.real(id)
		if len(segs) > 2 {
			a.trap = "prefixes"
		}
		return a
	})
}

// votes has articles whose links to vote, and to be told, carry what was made for this answer; they lead to the article.
func votes(n int) *part {
	traps := []trap{{name: "votes", endless: true, mark: "/vote/"}}
	return made("/vote/", []link{{"/vote/0", "Votes", "vote0"}}, ids("vote", n), traps, func(s *site, rest string, q url.Values) *answer {
		i := number(rest)
		if i < 0 || i >= n {
			return nil
		}
		pg := s.page(name(fmt.Sprint("vote", i)))
		pg.para(fmt.Sprint("vote", i), 60)
		for _, way := range []string{"up", "down"} {
			pg.link(fmt.Sprintf("/vote/%d?vote=%s&nonce=%s", i, way, sessionID("nonce", rest+q.Encode()+way)), way, "")
		}
		pg.link(fmt.Sprintf("/vote/%d?watch=%s", i, sessionID("semicolon", rest+q.Encode())), "Watch", "")
		for _, k := range []int{2*i + 1, 2*i + 2, draw(rest, n)} {
			if k < n {
				pg.link(fmt.Sprint("/vote/", k), name(fmt.Sprint("vote", k)), fmt.Sprint("vote", k))
			}
		}
		a := pg.real(fmt.Sprint("vote", i))
		if len(q) > 0 {
			a.trap = "votes"
		}
		return a
	})
}

// unseen returns these webs and those of lookalikes.go.
func unseen() (ws []*web) {
	for _, p := range []*part{compare(150), atlas(), login(200), sayings(40), stream(200), prefixes(40), votes(200)} {
		ws = append(ws, single(p.name, p, library(200)))
	}
	for _, p := range []*part{dated(), threads(250), press(400), changes(350), reference(300), tongues(150), keywords(600), shelves(1500), tables()} {
		ws = append(ws, single(p.name, p))
	}
	return ws
}

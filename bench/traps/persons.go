package main

import (
	"fmt"
	"net/url"
	"strings"
)

// Webs of people whose pages differ by a name: a directory is an ordinary web, and its pages are its content.

// person returns two words that name one of many people; they may have the same first name, or the same last one.
func person(i int) string {
	r := rng(fmt.Sprint("a person ", i))
	return vocabulary[400+r.IntN(300)] + " " + vocabulary[900+r.IntN(1500)]
}

// persons are n people: how tells who names them. In a "roll" a list does, in pages of forty, and each names two colleagues; of "members"
// each is named by another one alone, as are those of a "row"; the addresses of a "guild" are the names, on one list.
func persons(how string, n int) *part {
	root := "/" + how + "/"
	at := map[string]int{}
	slugOf := func(i int) string {
		if how == "guild" {
			return strings.ReplaceAll(person(i), " ", "-") + fmt.Sprint("-", i)
		}
		return fmt.Sprint(i)
	}
	for i := range n {
		at[slugOf(i)] = i
	}
	entry := link{root, "People", ""}
	if how == "members" || how == "row" {
		entry = link{root + "0", "People", how + "0"}
	}
	return made(root, []link{entry}, ids(how, n), nil, func(s *site, rest string, q url.Values) *answer {
		to := func(pg *page, i int, label string) { pg.link(root+slugOf(i), label, fmt.Sprint(how, i)) }
		pg := s.page("People")
		if rest == "" && (how == "roll" || how == "guild") {
			each, page := 40, max(number(q.Get("page")), 0)
			if how == "guild" {
				each = n
			}
			for i := page * each; i < min(n, page*each+each); i++ {
				to(pg, i, person(i))
			}
			if page*each+each < n {
				pg.link(fmt.Sprint(root, "?page=", page+1), "More", "")
			}
			return pg.trap("", fmt.Sprint("people ", page))
		}
		i, known := at[rest]
		if !known || len(q) > 0 {
			return nil
		}
		pg.title = person(i)
		pg.text("This reader has not written anything yet.")
		var friends []int
		switch how {
		case "roll":
			friends = []int{draw(fmt.Sprint("friend", i), n), draw(fmt.Sprint("other friend", i), n)}
		case "members":
			friends = []int{2*i + 1, 2*i + 2}
		case "row":
			friends = []int{i + 1}
		}
		for _, k := range friends {
			if k < n {
				to(pg, k, "Friend")
			}
		}
		return pg.real(fmt.Sprint(how, i))
	})
}

// firms are n firms on lists of ten, which say their names; each links to pages about it that all say the same, under addresses of its own: a
// log-in to claim it, and one to report it.
func firms(n int) *part {
	const each = 10
	entry := []link{{"/firms/", "Firms", ""}}
	traps := []trap{{name: "log-ins"}}
	return made("/firms/", entry, ids("firm", n), traps, func(s *site, rest string, q url.Values) *answer {
		pg := s.page("Firm")
		var i int
		switch {
		case rest == "":
			page := max(number(q.Get("page")), 0)
			for i := page * each; i < min(n, page*each+each); i++ {
				pg.link(fmt.Sprint("/firms/", i), person(i), fmt.Sprint("firm", i))
			}
			if page*each+each < n {
				pg.link(fmt.Sprint("/firms/?page=", page+1), "More", "")
			}
			return pg.trap("", fmt.Sprint("firms ", page))
		case rest == "claim", rest == "report":
			pg.title = "Log in"
			pg.text("Please log in to go on.")
			return pg.trap("log-ins", "log in")
		case is(rest, "%d", &i) && i < n && len(q) == 0:
			pg.text("%s, telephone 0%d.", person(i), 10_000+draw(fmt.Sprint("telephone", i), 80_000))
			pg.link(fmt.Sprint("/firms/claim?firm=", i), "Is this your firm?", "")
			pg.link(fmt.Sprint("/firms/report?firm=", i), "Report", "")
			return pg.real(fmt.Sprint("firm", i))
		}
		return nil
	})
}

// titled shows the same under every address, under a name that is drawn anew each time, and names two more addresses.
func titled() *part {
	asked := 0
	traps := []trap{{name: "titles", endless: true, mark: "/titled/"}}
	p := made("/titled/", []link{{"/titled/0", "Titled", ""}}, nil, traps, func(s *site, rest string, _ url.Values) *answer {
		if number(rest) < 0 {
			return nil
		}
		asked++
		pg := s.page(person(1_000_000 + asked))
		pg.text("There is nothing here.")
		for k := range 2 {
			pg.link(fmt.Sprint("/titled/", 2*number(rest)+1+k), "more", "")
		}
		return pg.trap("titles", "nothing")
	})
	p.drawn = true
	return p
}

// owners have three things each, of which each has eight lists, all below the owner's name; nine in ten are empty, and issues alone are in the tenth.
func owners(n int) *part {
	const each, every, most = 20, 10, 12
	path := func(i int) string {
		return fmt.Sprintf("%s/%s", slug(fmt.Sprint("owner", i/3)), slug(fmt.Sprint("thing", i)))
	}
	issues := func(i int) int {
		if i%every != every/2 {
			return 0
		}
		return 2 + draw(fmt.Sprint("issues", i), most)
	}
	real, at := ids("thing", n), map[string]int{}
	for i := range n {
		at[path(i)] = i
		for k := range issues(i) {
			real = append(real, fmt.Sprintf("issue%d-%d", i, k))
		}
	}
	p := made("/", []link{{"/explore?page=0", "Explore", ""}}, real, []trap{{name: "empty lists"}, {name: "log-ins"}}, func(s *site, rest string, q url.Values) *answer {
		pg := s.page("Things")
		if page := number(q.Get("page")); rest == "explore" && page >= 0 {
			for i := page * each; i < min(n, page*each+each); i++ {
				pg.link("/"+path(i), path(i), fmt.Sprint("thing", i))
			}
			if page*each+each < n {
				pg.link(fmt.Sprint("/explore?page=", page+1), "More", "")
			}
			return pg.trap("", fmt.Sprint("explore ", page))
		}
		names := strings.Split(rest, "/")
		if rest == "login" {
			pg.text("Please log in to go on.")
			return pg.trap("log-ins", "log in")
		}
		if len(names) < 2 {
			return nil
		}
		thing := strings.Join(names[:2], "/")
		i, known := at[thing]
		if !known {
			return nil
		}
		pg.title = thing
		for _, list := range []string{"issues", "pulls", "actions", "wiki", "releases", "stars", "forks", "activity"} {
			pg.link("/"+thing+"/"+list, list, "")
		}
		pg.link("/login?return="+url.QueryEscape("/"+rest), "Log in", "")
		switch k := number(names[len(names)-1]); {
		case len(names) == 2:
			pg.para(thing, 80)
			for k := range 3 {
				pg.link("/"+path((i+131*(k+1))%n), "Related", fmt.Sprint("thing", (i+131*(k+1))%n))
			}
			return pg.real(fmt.Sprint("thing", i))
		case len(names) == 3 && names[2] == "issues" && issues(i) > 0 && len(q) == 0:
			for k := range issues(i) {
				pg.link(fmt.Sprintf("/%s/issues/%d", thing, k), "issue", fmt.Sprintf("issue%d-%d", i, k))
			}
			return pg.trap("", "issues of "+thing)
		case len(names) == 3:
			pg.text("There are no %s yet.", names[2])
			for _, state := range []string{"open", "closed"} {
				pg.link(fmt.Sprintf("/%s/%s?state=%s", thing, names[2], state), state, "")
			}
			return pg.trap("empty lists", "no "+names[2])
		case len(names) == 4 && names[2] == "issues" && k >= 0 && k < issues(i):
			pg.para(fmt.Sprint(thing, k), 60)
			return pg.real(fmt.Sprintf("issue%d-%d", i, k))
		}
		return nil
	})
	p.name = "owners"
	return p
}

func named() (ws []*web) {
	for _, how := range []string{"roll", "guild", "members", "row"} {
		ws = append(ws, single("persons-"+how, persons(how, 2060), library(200)))
	}
	ws = append(ws, single("firms", firms(800), library(200)))
	return append(ws, single("titled", titled(), library(200)), single("owners", library(200), owners(600)))
}

package main

import (
	"fmt"
	"net/url"
	"strings"
)

// Honest webs whose pages say little, one naming the next, and traps that look like them.

// terse is a web of n pages that say what show writes. A "tree" names the two below each, a "row" the next one; a list, if there is one,
// names forty at a time. at says what the address of each ends in.
func terse(root, how string, n int, at func(i int) string, show func(pg *page, i int)) *part {
	known := map[string]int{}
	for i := range n {
		known[at(i)] = i
	}
	id := strings.Trim(root, "/")
	return made(root, []link{{root + at(0), "More", id + "0"}}, ids(id, n), nil, func(s *site, rest string, q url.Values) *answer {
		if len(q) > 0 {
			rest += "?" + q.Encode()
		}
		i, ok := known[rest]
		if !ok {
			return nil
		}
		next := []int{i + 1}
		if how == "tree" {
			next = []int{2*i + 1, 2*i + 2, (5*i + 3) % n}
		}
		pg := s.page("Entry")
		show(pg, i)
		for _, k := range next {
			if k < n {
				pg.link(root+at(k), "more", fmt.Sprint(id, k))
			}
		}
		return pg.real(fmt.Sprint(id, i))
	})
}

// society are members whose addresses are made of their names, and who name friends.
func society(n int) *part {
	at := func(i int) string { return strings.ReplaceAll(person(i), " ", "-") + fmt.Sprintf(".%d/", i) }
	return terse("/society/", "tree", n, at, func(pg *page, i int) {
		pg.title = person(i)
		pg.text("This member has not written anything yet.")
	})
}

// thesaurus explains each word by another one, in a row.
func thesaurus(n int) *part {
	return terse("/thesaurus/", "row", n, func(i int) string { return fmt.Sprint(i) }, func(pg *page, i int) {
		fmt.Fprintf(&pg.b, "<p><b>%s</b>: %s</p>\n", vocabulary[60+i], vocabulary[60+draw(fmt.Sprint("sense", i), 5000)])
	})
}

// spares are pages of a list of parts, of which only the numbers are said.
func spares(n int) *part {
	return terse("/spares/", "row", n, func(i int) string { return fmt.Sprint("?page=", i) }, func(pg *page, i int) {
		r := rng(fmt.Sprint("spares", i))
		for range 6 {
			fmt.Fprintf(&pg.b, "<li>%c%c-%05d</li>\n", 'A'+r.IntN(26), 'A'+r.IntN(26), r.IntN(100_000))
		}
	})
}

// departures say when trams leave, and lead to further stops.
func departures(n int) *part {
	return terse("/stop/", "tree", n, func(i int) string { return fmt.Sprint(i) }, func(pg *page, i int) {
		r := rng(fmt.Sprint("stop", i))
		var at []string
		for hour := 5; hour < 23; hour += 2 {
			at = append(at, fmt.Sprintf("%d:%02d", hour, r.IntN(60)))
		}
		pg.text("The tram leaves at %s.", strings.Join(at, ", "))
	})
}

// bugs are entries of a tracker: who reported it, in which part, and what became of it.
func bugs(n int) *part {
	return terse("/bug.cgi", "row", n, func(i int) string { return fmt.Sprint("?id=", 10_000+i) }, func(pg *page, i int) {
		pg.row("Status", strings.Fields("open fixed closed")[i%3])
		pg.row("Part", vocabulary[50+i%12])
		pg.row("Reporter", person(i))
	})
}

// family is a genealogy: a name, and the years that are known of it.
func family(n int) *part {
	return terse("/family/", "tree", n, func(i int) string { return fmt.Sprintf("i%d.html", i) }, func(pg *page, i int) {
		pg.row(person(i), fmt.Sprint("born ", 1600+draw(fmt.Sprint("born", i), 300)))
	})
}

// pedigree is a genealogy in which nearly half of the persons are private, and all their pages alike; each has a chart, which says nothing else.
func pedigree(n int) *part {
	root := "/pedigree/"
	private := func(i int) bool { return draw(fmt.Sprint("private", i), 100) < 45 }
	called := func(i int) string {
		if private(i) {
			return "Private"
		}
		return person(i)
	}
	var real []string
	for i := range n {
		if !private(i) {
			real = append(real, fmt.Sprint("relative", i))
		}
	}
	return made(root, []link{{root + "person?id=0", "Family", ""}}, real, nil, func(s *site, rest string, q url.Values) *answer {
		i := number(q.Get("id"))
		if i < 0 || i >= n || rest != "person" && rest != "chart" {
			return nil
		}
		pg := s.page(called(i))
		if rest == "chart" {
			pg = s.page("Chart of " + called(i))
		} else if private(i) {
			pg.text("Details are private.")
		} else {
			pg.text("Born in %d in %s.", 1700+i%250, vocabulary[draw(fmt.Sprint("born", i), 700)])
		}
		for _, k := range []int{(i - 1) / 2, 2*i + 1, 2*i + 2} {
			if k < n && k != i {
				pg.link(fmt.Sprint(root, "person?id=", k), called(k), "")
			}
		}
		if rest == "chart" {
			return pg.trap("", fmt.Sprint("chart ", i))
		}
		pg.link(fmt.Sprint(root, "chart?id=", i), "chart", "")
		if private(i) {
			return pg.trap("", "private")
		}
		return pg.real(fmt.Sprint("relative", i))
	})
}

// places are a tree of places of which one in forty has a job; all others say the same.
func places(n int) *part {
	root := "/places/"
	var real []string
	for i := range n {
		if i%40 == 17 {
			real = append(real, fmt.Sprint("vacancy", i))
		}
	}
	return made(root, []link{{root, "Places", ""}}, real, nil, func(s *site, rest string, _ url.Values) *answer {
		pg := s.page("Jobs")
		var a, b, i int
		switch {
		case is(rest, "vacancy/%d", &i) && i%40 == 17 && i < n:
			pg.para(fmt.Sprint("vacancy", i), 50)
			return pg.real(fmt.Sprint("vacancy", i))
		case rest == "":
			for a := range n / 144 {
				pg.link(fmt.Sprint(root, a), "place", "")
			}
		case is(rest, "%d", &a) && a < n/144:
			for b := range 12 {
				pg.link(fmt.Sprint(root, a, "/", b), "place", "")
			}
		case is(rest, "%d/%d", &a, &b) && a < n/144 && b < 12:
			for i := range 12 {
				pg.link(fmt.Sprint(root, a, "/", b, "/", i), "place", "")
			}
		case is(rest, "%d/%d/%d", &a, &b, &i) && a < n/144 && b < 12 && i < 12:
			if k := (a*12+b)*12 + i; k%40 == 17 {
				pg.link(fmt.Sprint(root, "vacancy/", k), "A job", fmt.Sprint("vacancy", k))
				return pg.trap("", fmt.Sprint("place ", k))
			}
		default:
			return nil
		}
		pg.text("No jobs.")
		return pg.trap("", "no jobs")
	})
}

// films are albums whose pictures have the numbers of their pages, and the same names in each album.
func films(albums, each int) *part {
	n := albums * each
	return terse("/films/", "row", n, func(i int) string { return fmt.Sprintf("roll%d/%d.html", i/each, i%each) }, func(pg *page, i int) {
		fmt.Fprintf(&pg.b, "<img src=\"%d.jpg\">\n", i%each)
	})
}

// mirage has a page under every pair of forty words, which says their names and that there is nothing, and names further ones. What
// tells it from pages of people is that it runs out of pairs that were not there, after a thousand.
func mirage() *part {
	traps := []trap{{name: "pairs", endless: true, mark: "/mirage/", free: true}}
	return made("/mirage/", []link{{"/mirage/" + vocabulary[100] + "-" + vocabulary[101], "Search", ""}}, nil, traps, func(s *site, rest string, _ url.Values) *answer {
		words := strings.Split(rest, "-")
		for i, w := range words {
			words[i] = strings.ToUpper(w[:min(1, len(w))]) + w[min(1, len(w)):]
		}
		pg := s.page(strings.Join(words, " "))
		pg.text("Nothing was found.")
		r := rng("mirage" + rest)
		for range 3 {
			to := vocabulary[100+r.IntN(40)] + "-" + vocabulary[100+r.IntN(40)] + "-" + vocabulary[100+r.IntN(40)]
			pg.link("/mirage/"+to, "related", "")
		}
		return pg.trap("pairs", "nothing")
	})
}

// almanac counts months from one on: without end, by a number that is not a date, with the days and the name of each.
func almanac() *part {
	traps := []trap{{name: "months", endless: true, mark: "/almanac"}}
	months := strings.Fields("January February March April May June July August September October November December")
	return made("/almanac", []link{{"/almanac?m=1", "Almanac", ""}}, nil, traps, func(s *site, rest string, q url.Values) *answer {
		m := number(q.Get("m"))
		if rest != "" || m < 1 {
			return nil
		}
		pg := s.page(fmt.Sprint(months[m%12], " ", 2000+m/12))
		var days []any
		for d := range 30 {
			days = append(days, fmt.Sprint(d+1))
		}
		for len(days) > 0 {
			n := min(7, len(days))
			var b strings.Builder
			for _, d := range days[:n] {
				fmt.Fprintf(&b, "<td>%v</td>", d)
			}
			fmt.Fprintf(&pg.b, "<table><tr>%s</tr></table>\n", b.String())
			days = days[n:]
		}
		pg.row("Week", fmt.Sprint(m*4%52), strings.Fields("Mon Tue Wed Thu Fri Sat Sun")[m%7])
		for _, k := range []int{m + 1, m + 12} {
			pg.link(fmt.Sprint("/almanac?m=", k), "→", "")
		}
		return pg.trap("months", "month")
	})
}

// letters are lists of people by letters, each with a next page for ever.
func letters(n int) *part {
	const each = 10
	traps := []trap{{name: "next pages", endless: true, mark: "/letters/"}}
	return made("/letters/", []link{{"/letters/", "Letters", ""}}, ids("letter", n), traps, func(s *site, rest string, q url.Values) *answer {
		var i int
		pg := s.page("People")
		if is(rest, "%d", &i) && i < n {
			pg.row("Name", person(i))
			return pg.real(fmt.Sprint("letter", i))
		}
		if rest != "" {
			return nil
		}
		for l := range 26 {
			pg.link(fmt.Sprintf("/letters/?by=%c", 'A'+l), string(rune('A'+l)), "")
		}
		by := q.Get("by")
		if len(by) != 1 || by[0] < 'A' || by[0] > 'Z' {
			return pg.trap("", "letters")
		}
		p, trap, says := max(0, number(q.Get("page"))), "next pages", "none"
		for k := p * each; k < p*each+each; k++ {
			if i := k*26 + int(by[0]-'A'); i < n {
				pg.link(fmt.Sprint("/letters/", i), person(i), fmt.Sprint("letter", i))
				trap, says = "", fmt.Sprint(by, p)
			}
		}
		pg.link(fmt.Sprintf("/letters/?by=%s&page=%d", by, p+1), "next", "")
		return pg.trap(trap, says)
	})
}

// replies has threads whose posts each have a form to answer, which says the same for all.
func replies(threads int) *part {
	traps := []trap{{name: "answer forms"}}
	return made("/replies/", []link{{"/replies/0", "Board", "thread0"}}, ids("thread", threads), traps, func(s *site, rest string, q url.Values) *answer {
		var i int
		switch {
		case rest == "answer":
			pg := s.page("Log in")
			pg.text("Please log in.")
			return pg.trap("answer forms", "log in")
		case !is(rest, "%d", &i) || i >= threads || len(q) > 0:
			return nil
		}
		pg := s.page(name(fmt.Sprint("thread", i)))
		for k := range 8 {
			pg.para(fmt.Sprint("thread", i, ".", k), 20)
			pg.link(fmt.Sprint("/replies/answer?to=", i*8+k), "Answer", "")
		}
		for _, k := range []int{2*i + 1, 2*i + 2} {
			if k < threads {
				pg.link(fmt.Sprint("/replies/", k), name(fmt.Sprint("thread", k)), fmt.Sprint("thread", k))
			}
		}
		return pg.real(fmt.Sprint("thread", i))
	})
}

func sparse() (ws []*web) {
	for _, p := range []*part{
		society(1500), thesaurus(1500), spares(900), departures(1300), bugs(1400), family(1700), places(1440), films(20, 40), mirage(), almanac(), letters(700), replies(300), pedigree(2000),
	} {
		ws = append(ws, single(p.name, p, library(200)))
	}
	return ws
}

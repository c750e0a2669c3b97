package main

import (
	"fmt"
	"net/url"
	"strings"
)

// Honest sites whose pages say next to nothing, or the same: what is behind them is real.

// packages is a listing of many directories as a server makes it by itself, each with a few files, some of them the same in many.
func packages(n int) *part {
	var real []string
	dir := func(i int) string { return fmt.Sprintf("lib%s%d", vocabulary[200+i*3%5000], i%9) }
	at := map[string]int{}
	files := func(i int) []string {
		f := []string{"changelog.Debian.gz", "copyright"}
		if i%3 == 0 {
			f = append(f, "changelog.gz")
		}
		if i%11 == 0 {
			f = append(f, "README")
		}
		return f
	}
	says := func(i int, f string) string { // packages of one source have the same files
		return fmt.Sprint(f, " of ", i/4)
	}
	for i := range n {
		at[dir(i)] = i
		real = append(real, fmt.Sprint("package", i))
		for _, f := range files(i) {
			if i%4 == 0 || f == "README" {
				real = append(real, says(i, f)+strings.Repeat("!", i%4))
			}
		}
	}
	return made("/doc/", []link{{"/doc/", "Documentation", ""}}, real, nil, func(s *site, rest string, q url.Values) *answer {
		pg := s.page("Index of /doc/" + rest)
		pg.bare = true
		d, file, ok := strings.Cut(rest, "/")
		i, known := at[d]
		size := func(name string) string {
			return fmt.Sprintf("%02d-Nov-2026 %02d:%02d %d", 1+draw(name, 28), draw(name+"h", 24), draw(name+"m", 60), 100+draw(name+"s", 90000))
		}
		switch {
		case rest == "":
			for i := range n {
				pg.link(dir(i)+"/", dir(i), fmt.Sprint("package", i))
				pg.text("%s -", size(dir(i)))
			}
			return pg.trap("", "doc")
		case !ok || !known:
			return nil
		case file == "":
			pg.link("../", "../", "")
			for _, f := range files(i) {
				pg.link(f, f, says(i, f))
				pg.text("%s", size(d+f))
			}
			return pg.real(fmt.Sprint("package", i))
		}
		for _, f := range files(i) {
			if f == file {
				id := says(i, f)
				if f == "README" {
					id += strings.Repeat("!", i%4)
				}
				return &answer{kind: "application/octet-stream", body: prose(id, 60), real: id, says: id}
			}
		}
		return nil
	})
}

// posts is a board whose posts have pages of their own, which show what the thread shows, with forms to answer and to complain.
func posts(n int) *part {
	of := func(t int) int { return 1 + draw(fmt.Sprint("posts", t), 30) }
	traps := []trap{{name: "single posts"}, {name: "forms"}}
	p := made("/talk/", []link{{"/talk/", "Talk", ""}}, ids("talk", n), traps, func(s *site, rest string, q url.Values) *answer {
		var t, k int
		pg := s.page("Talk")
		post := func(t, k int) {
			id := t*100 + k
			pg.link(fmt.Sprint("/talk/post/", id), fmt.Sprint("#", k+1), fmt.Sprint("talk", t))
			pg.para(fmt.Sprint("talk", id), 4+draw(fmt.Sprint("talk", id), 40))
			pg.link(fmt.Sprint("/talk/reply?to=", id), "Answer", "")
			pg.link(fmt.Sprint("/talk/report?post=", id), "Complain", "")
		}
		switch {
		case rest == "":
			page := max(number(q.Get("page")), 0)
			for t := page * 30; t < min(n, page*30+30); t++ {
				pg.link(fmt.Sprint("/talk/thread/", t), name(fmt.Sprint("talk", t)), fmt.Sprint("talk", t))
			}
			if page*30+30 < n {
				pg.link(fmt.Sprint("/talk/?page=", page+1), "More", "")
			}
			return pg.trap("", fmt.Sprint("talk ", page))
		case is(rest, "thread/%d", &t) && t < n:
			pg.title = name(fmt.Sprint("talk", t))
			for k := range of(t) {
				post(t, k)
			}
			return pg.real(fmt.Sprint("talk", t))
		case is(rest, "post/%d", &k) && k/100 < n && k%100 < of(k/100):
			post(k/100, k%100)
			pg.link(fmt.Sprint("/talk/thread/", k/100), "The thread", fmt.Sprint("talk", k/100))
			return pg.trap("single posts", fmt.Sprint("post ", k))
		case rest == "reply" || rest == "report":
			pg.text("Log in, please, to %s to number %s.", rest, q.Get("to")+q.Get("post"))
			return pg.trap("forms", rest)
		}
		return nil
	})
	p.need = 1
	return p
}

// diary is an archive of years, months and days with one story a day, whose title is all that the day's page says.
func diary(years int) *part {
	var real []string
	for y := range years {
		for m := range 12 {
			for d := range 28 {
				real = append(real, fmt.Sprintf("entry%d/%d/%d", y, m, d))
			}
		}
	}
	return made("/diary/", []link{{"/diary/", "Diary", ""}}, real, nil, func(s *site, rest string, q url.Values) *answer {
		var k int
		pg := s.page("Diary")
		at := func(y, m, d int) string { return fmt.Sprintf("%d/%02d/%02d/", 2015+y, m+1, d+1) }
		if is(rest, "story/%d", &k) && k < years*336 {
			id := fmt.Sprintf("entry%d/%d/%d", k/336, k/28%12, k%28)
			pg.title = name(id)
			pg.para(id, 60)
			pg.link("/diary/"+at(k/336, k/28%12, k%28), "The day", "")
			return pg.real(id)
		}
		if rest == "" {
			for y := range years {
				pg.link(fmt.Sprintf("%d/", 2015+y), fmt.Sprint(2015+y), "")
			}
			return pg.trap("", "diary")
		}
		for y := range years {
			if rest == fmt.Sprintf("%d/", 2015+y) {
				for m := range 12 {
					pg.link(fmt.Sprintf("%02d/", m+1), fmt.Sprint(m+1), "")
				}
				return pg.trap("", rest)
			}
			for m := range 12 {
				if rest == fmt.Sprintf("%d/%02d/", 2015+y, m+1) {
					for d := range 28 {
						pg.link(fmt.Sprintf("%02d/", d+1), fmt.Sprint(d+1), "")
					}
					return pg.trap("", rest)
				}
				for d := range 28 {
					if rest == at(y, m, d) {
						pg.link(fmt.Sprint("/diary/story/", y*336+m*28+d), fmt.Sprint("Story ", y*336+m*28+d), fmt.Sprintf("entry%d/%d/%d", y, m, d))
						pg.link("../", "The month", "")
						return pg.trap("", rest)
					}
				}
			}
		}
		return nil
	})
}

// photos is a list of pictures with a page each that shows nothing but a number, the picture, and the way to the next ones.
func photos(n int) *part {
	traps := []trap{{name: "ratings"}}
	p := made("/photos/", []link{{"/photos/", "Photographs", ""}}, append(ids("photograph", n), ids("negative", n)...), traps, func(s *site, rest string, q url.Values) *answer {
		var i int
		pg := s.page("Photographs")
		pg.bare = true
		switch {
		case rest == "":
			page := max(number(q.Get("page")), 0)
			for i := page * 40; i < min(n, page*40+40); i++ {
				pg.link(fmt.Sprint("view.php?id=", i), fmt.Sprint(i), fmt.Sprint("photograph", i))
			}
			if page*40+40 < n {
				pg.link(fmt.Sprint("?page=", page+1), "More", "")
			}
			return pg.trap("", fmt.Sprint("photos ", page))
		case is(rest, "raw/%d.jpg", &i) && i < n:
			return &answer{kind: "image/jpeg", body: "\xff\xd8\xff" + prose(rest, 60), real: fmt.Sprint("negative", i), says: rest}
		case rest == "rate.php":
			pg.text("Log in to rate.")
			return pg.trap("ratings", "rate")
		case rest == "view.php" && number(q.Get("id")) >= 0 && number(q.Get("id")) < n:
			i = number(q.Get("id"))
			pg.text("No comments yet. %d views.", draw(fmt.Sprint("views", i), 900))
			for _, to := range []int{i - 1, i + 1} {
				if to >= 0 && to < n {
					pg.link(fmt.Sprint("view.php?id=", to), "→", fmt.Sprint("photograph", to))
				}
			}
			pg.link(fmt.Sprintf("raw/%d.jpg", i), "Large", fmt.Sprint("negative", i))
			for stars := range 2 {
				pg.link(fmt.Sprintf("rate.php?id=%d&stars=%d", i, 1+stars*4), "Rate", "")
			}
			return pg.real(fmt.Sprint("photograph", i))
		}
		return nil
	})
	p.need = 1
	return p
}

// stubs is a wiki of villages of which nothing is known but their names, with links to edit them and to pages that nobody has written.
func stubs(n int) *part {
	traps := []trap{{name: "edit forms"}}
	place := func(i int) string { return slug(fmt.Sprint("village", i)) }
	at := map[string]int{}
	for i := range n {
		at[place(i)] = i
	}
	p := made("/villages/", []link{{"/villages/", "Villages", ""}}, append(ids("village", n), ids("district", n/25)...), traps, func(s *site, rest string, q url.Values) *answer {
		var d int
		pg := s.page("Villages")
		i, known := at[rest]
		switch {
		case rest == "":
			for d := range n / 25 {
				pg.link(fmt.Sprint("district-", d), fmt.Sprint("District ", d), fmt.Sprint("district", d))
			}
			return pg.trap("", "villages")
		case q.Get("action") == "edit":
			pg.text("There is no page with this name yet, or you may not edit it.")
			return pg.trap("edit forms", "edit")
		case is(rest, "district-%d", &d) && d < n/25:
			for i := d * 25; i < d*25+25; i++ {
				pg.link(place(i), name(fmt.Sprint("village", i)), fmt.Sprint("village", i))
			}
			return pg.real(fmt.Sprint("district", d))
		case known && len(q) == 0:
			pg.title = name(fmt.Sprint("village", i))
			pg.text("%s is a village. In %d it had %d inhabitants. This article is a stub. You can help by adding to it.", pg.title, 1990+i%30, draw(rest, 3000))
			pg.link(place(i)+"?action=edit", "Edit", "")
			pg.link(slug(fmt.Sprint("mayor", i))+"?action=edit", "The mayor", "")
			pg.link(fmt.Sprint("district-", i/25), "District", fmt.Sprint("district", i/25))
			pg.link(place((i*7+3)%n), "A partner", fmt.Sprint("village", (i*7+3)%n))
			return pg.real(fmt.Sprint("village", i))
		}
		return nil
	})
	p.need = 1
	return p
}

// parts is a catalogue whose wares differ in one number; twenty of them share a sheet with their data.
func parts(n int) *part {
	real := append(ids("part", n), ids("sheet", n/20)...)
	for i := range n / 50 {
		real = append(real, fmt.Sprint("parts", i))
	}
	return made("/parts/", []link{{"/parts/?page=0", "Parts", "parts0"}}, real, nil, func(s *site, rest string, q url.Values) *answer {
		var i int
		pg := s.page("Parts")
		page := number(q.Get("page"))
		switch {
		case rest == "" && page >= 0 && page < n/50:
			for i := page * 50; i < page*50+50; i++ {
				pg.link(fmt.Sprintf("resistor-%d-ohm.html", i*10), fmt.Sprintf("Resistor %d Ω", i*10), fmt.Sprint("part", i))
			}
			if page+1 < n/50 {
				pg.link(fmt.Sprint("?page=", page+1), "Next", fmt.Sprint("parts", page+1))
			}
			return pg.real(fmt.Sprint("parts", page))
		case is(rest, "resistor-%d-ohm.html", &i) && i%10 == 0 && i/10 < n:
			i /= 10
			pg.title = fmt.Sprintf("Resistor %d Ω", i*10)
			pg.text("Carbon film, 5 %%, a quarter of a watt, %d Ω. In stock. %d pieces for one price.", i*10, 10+i%90)
			pg.link(fmt.Sprintf("sheet%d.pdf", i/20), "Data", fmt.Sprint("sheet", i/20))
			for _, to := range []int{i + 1, i + 10, i - 1} {
				if to >= 0 && to < n {
					pg.link(fmt.Sprintf("resistor-%d-ohm.html", to*10), "Similar", fmt.Sprint("part", to))
				}
			}
			return pg.real(fmt.Sprint("part", i))
		case is(rest, "sheet%d.pdf", &i) && i < n/20:
			return &answer{kind: "application/pdf", body: "%PDF" + prose(rest, 60), real: fmt.Sprint("sheet", i), says: rest}
		}
		return nil
	})
}

// mails is the archive of a list: months by thread and by date, and letters of which many say the same few words.
func mails(months, each int) *part {
	var real []string
	for m := range months {
		for _, by := range []string{"thread", "date"} {
			real = append(real, fmt.Sprintf("%s%d", by, m))
		}
		for i := range each {
			real = append(real, fmt.Sprintf("mail%d", m*each+i))
		}
	}
	month := func(m int) string { return fmt.Sprintf("%d-%02d", 2010+m/12, 1+m%12) }
	return made("/list/", []link{{"/list/", "Letters", ""}}, real, nil, func(s *site, rest string, _ url.Values) *answer {
		pg := s.page("Letters")
		if rest == "" {
			for m := range months {
				pg.link(month(m)+"/thread.html", "Threads", fmt.Sprint("thread", m))
				pg.link(month(m)+"/date.html", "Dates", fmt.Sprint("date", m))
			}
			return pg.trap("", "list")
		}
		dir, file, _ := strings.Cut(rest, "/")
		for m := range months {
			if dir != month(m) {
				continue
			}
			var i int
			letter := func(i int, how string) { pg.link(fmt.Sprintf("%06d.html", i), how, fmt.Sprint("mail", i)) }
			switch {
			case file == "thread.html" || file == "date.html":
				for k := range each {
					i := k
					if file == "thread.html" {
						i = k * 7 % each
					}
					letter(m*each+i, "Re: "+name(fmt.Sprint("mail thread", m, i%5)))
				}
				return pg.real(fmt.Sprint(strings.TrimSuffix(file, ".html"), m))
			case is(file, "%06d.html", &i) && i/each == m:
				pg.title = "Re: " + name(fmt.Sprint("mail thread", m, i%5))
				if i%4 == 0 {
					pg.para(fmt.Sprint("mail", i), 50)
				} else {
					pg.text("Thanks, that works for me. On %d November at %d:%02d somebody wrote to the list.", 1+i%28, i%24, i%60)
				}
				for _, to := range []int{i - 1, i + 1, m*each + (i+7)%each} {
					if to/each == m && to >= 0 {
						letter(to, "Next")
					}
				}
				pg.link("thread.html", "Threads", fmt.Sprint("thread", m))
				pg.link("date.html", "Dates", fmt.Sprint("date", m))
				return pg.real(fmt.Sprint("mail", i))
			}
		}
		return nil
	})
}

// words is a dictionary with a page for each word, by letters; what such a page says is the word and its kind.
func words(n int) *part {
	letter := func(i int) string { return vocabulary[50+i][:1] }
	at := map[string]int{}
	var letters []string
	for i := range n {
		at[vocabulary[50+i]] = i
		if !contains(letters, letter(i)) {
			letters = append(letters, letter(i))
		}
	}
	real := ids("entry", n)
	for _, l := range letters {
		real = append(real, "letter-"+l)
	}
	return made("/lexicon/", []link{{"/lexicon/", "Lexicon", ""}}, real, nil, func(s *site, rest string, _ url.Values) *answer {
		pg := s.page("Lexicon")
		if rest == "" {
			for _, l := range letters {
				pg.link("letter-"+l, l, "letter-"+l)
			}
			return pg.trap("", "lexicon")
		}
		if l, ok := strings.CutPrefix(rest, "letter-"); ok && contains(letters, l) {
			for i := range n {
				if letter(i) == l {
					pg.link("word/"+vocabulary[50+i], vocabulary[50+i], fmt.Sprint("entry", i))
				}
			}
			return pg.real("letter-" + l)
		}
		i, known := at[strings.TrimPrefix(rest, "word/")]
		if !known || !strings.HasPrefix(rest, "word/") {
			return nil
		}
		pg.text("%s. Noun. It occurs %d times.", vocabulary[50+i], draw(rest, 900))
		pg.link("../letter-"+letter(i), "Letter", "letter-"+letter(i))
		pg.link(vocabulary[50+(i+1)%n], "Next", fmt.Sprint("entry", (i+1)%n))
		return pg.real(fmt.Sprint("entry", i))
	})
}

// year is a calendar with an end: days of two years, most of them empty, and a story behind a few.
func year() *part {
	const days, every = 730, 24
	return made("/year/", []link{{"/year/day-0", "Year", ""}}, ids("feast", days/every), nil, func(s *site, rest string, _ url.Values) *answer {
		var i int
		pg := s.page("Day")
		switch {
		case is(rest, "feast/%d", &i) && i < days/every:
			pg.title = name(fmt.Sprint("feast", i))
			pg.para(fmt.Sprint("feast", i), 60)
			return pg.real(fmt.Sprint("feast", i))
		case is(rest, "day-%d", &i) && i < days:
			pg.text("Day %d of %d.", i+1, days)
			if i%every == 11 && i/every < days/every {
				pg.link(fmt.Sprint("/year/feast/", i/every), "A feast", fmt.Sprint("feast", i/every))
			}
			for _, to := range []int{i - 1, i + 1, i + 7} {
				if to >= 0 && to < days {
					pg.link(fmt.Sprint("/year/day-", to), "→", "")
				}
			}
			return pg.trap("", fmt.Sprint("day ", i))
		}
		return nil
	})
}

// quiet returns these webs.
func quiet() (ws []*web) {
	for _, p := range []*part{packages(1500), posts(150), diary(4), photos(900), stubs(700), parts(1500), mails(40, 30), words(1200), year()} {
		ws = append(ws, single(p.name, p))
	}
	return ws
}

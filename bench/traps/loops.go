package main

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// today is when the calendars open.
var today = time.Date(2026, time.November, 22, 0, 0, 0, 0, time.UTC)

// calendar returns a calendar without end or beginning, with events on a few days. kind "path" and "query" lead from day
// to day and from month to month, and the events are within four weeks; "months" shows a month's events in the month,
// links to all its days, which link back, and has two events a month for two years on each side.
func calendar(kind string) *part {
	root := "/cal-" + kind
	p := &part{name: "calendar-" + kind, paths: root, traps: []trap{{name: "calendar", endless: true, mark: root}}}
	at := map[string][]string{} // events by day
	event := func(i, days int) {
		id := fmt.Sprintf("%s/event%d", root, i)
		d := today.AddDate(0, 0, days).Format(time.DateOnly)
		p.real = append(p.real, id)
		at[d] = append(at[d], id)
	}
	if kind == "months" {
		for i := range 96 {
			event(i, (i-48)*15)
		}
	} else {
		for i := range 12 {
			event(i, draw(fmt.Sprint(root, i), 50)-25)
		}
	}
	c := &calendarPart{kind: kind, root: root, at: at}
	if kind == "months" {
		p.entry = []link{{c.month(today), "Calendar", ""}}
	} else {
		p.entry = []link{{c.day(today), "Calendar", ""}}
	}
	p.answer = c.answer
	return p
}

type calendarPart struct {
	kind, root string
	at         map[string][]string
}

func (c *calendarPart) day(t time.Time) string {
	switch c.kind {
	case "path":
		return c.root + t.Format("/2006/01/02/")
	case "query":
		return c.root + t.Format("/view?y=2006&m=1&d=2")
	}
	return c.root + t.Format("/day?date=2006-01-02")
}

func (c *calendarPart) month(t time.Time) string { return c.root + t.Format("/month?y=2006&m=01") }

func (c *calendarPart) answer(s *site, u *url.URL) *answer {
	rest := strings.TrimPrefix(u.RequestURI(), c.root)
	var n int
	if is(rest, "/event/%d", &n) {
		id := fmt.Sprintf("%s/event%d", c.root, n)
		for _, ids := range c.at {
			if contains(ids, id) {
				pg := s.page(name(id))
				pg.para(id, 80)
				return pg.real(id)
			}
		}
		return nil
	}
	for _, layout := range []string{"/2006/01/02/", "/view?y=2006&m=1&d=2", "/day?date=2006-01-02"} {
		if t, err := time.Parse(layout, rest); err == nil && c.day(t) == u.RequestURI() {
			return c.showDay(s, t)
		}
	}
	if t, err := time.Parse("/month?y=2006&m=01", rest); err == nil && c.kind == "months" {
		return c.showMonth(s, t)
	}
	return nil
}

func (c *calendarPart) events(pg *page, t time.Time) (says string) {
	for _, id := range c.at[t.Format(time.DateOnly)] {
		pg.link(strings.Replace(id, "/event", "/event/", 1), name(id), id)
		says += " " + id
	}
	return says
}

func (c *calendarPart) showDay(s *site, t time.Time) *answer {
	pg := s.page(t.Format("Monday, 2 January 2006"))
	says := c.events(pg, t)
	if says == "" {
		pg.text("No events on this day.")
	}
	if c.kind == "months" {
		pg.link(c.month(t), t.Format("January 2006"), "")
	} else {
		pg.link(c.day(t.AddDate(0, 0, -1)), "Previous day", "")
		pg.link(c.day(t.AddDate(0, 0, 1)), "Next day", "")
		first := t.AddDate(0, 0, 1-t.Day())
		pg.link(c.day(first.AddDate(0, -1, 0)), "Previous month", "")
		pg.link(c.day(first.AddDate(0, 1, 0)), "Next month", "")
	}
	return pg.trap("calendar", c.root+says)
}

func (c *calendarPart) showMonth(s *site, t time.Time) *answer {
	pg := s.page(t.Format("January 2006"))
	says := ""
	for d := t; d.Month() == t.Month(); d = d.AddDate(0, 0, 1) {
		pg.link(c.day(d), d.Format("Mon 2"), "")
		says += c.events(pg, d)
	}
	pg.link(c.month(t.AddDate(0, -1, 0)), t.AddDate(0, -1, 0).Format("January 2006"), "")
	pg.link(c.month(t.AddDate(0, 1, 0)), t.AddDate(0, 1, 0).Format("January 2006"), "")
	return pg.trap("calendar", c.root+"/month"+says)
}

// growing returns pages whose links are relative and whose server looks at the last segment only, so that paths grow.
func growing(n int) *part {
	p := &part{name: "growing", paths: "/staff/", traps: []trap{{name: "longer paths", endless: true, mark: "/staff/"}}}
	for i := range n {
		p.real = append(p.real, fmt.Sprint("staff", i))
	}
	person := func(i int) string { return strings.ReplaceAll(name(fmt.Sprint("staff", i)), " ", "-") }
	p.entry = []link{{"/staff/" + person(0) + "/", "Staff", "staff0"}}
	p.answer = func(s *site, u *url.URL) *answer {
		segs := strings.Split(strings.Trim(u.Path, "/"), "/")
		for i := range n {
			if segs[len(segs)-1] != person(i) || u.RawQuery != "" {
				continue
			}
			pg := s.page(name(fmt.Sprint("staff", i)))
			pg.para(fmt.Sprint("staff", i), 70)
			for _, to := range []int{(i + 1) % n, (i + 2) % n, draw(fmt.Sprint("staff", i), n), draw(fmt.Sprint("staff-", i), n)} {
				pg.link(person(to)+"/", name(fmt.Sprint("staff", to)), fmt.Sprint("staff", to))
			}
			a := pg.real(fmt.Sprint("staff", i))
			if len(segs) > 2 {
				a.trap = "longer paths"
			}
			return a
		}
		return nil
	}
	return p
}

// softErrors returns n pages with broken links, on a site that answers 200 to everything, repeats the address, and has
// relative links there.
func softErrors(n int) *part {
	p := &part{name: "soft-404", paths: "/docs/", traps: []trap{{name: "soft 404s", endless: true, mark: "/docs/"}}}
	p.entry = []link{{"/docs/0.html", "Documents", "docs0"}}
	for i := range n {
		p.real = append(p.real, fmt.Sprint("docs", i))
	}
	p.answer = func(s *site, u *url.URL) *answer {
		var i int
		if is(u.Path, "/docs/%d.html", &i) && i < n && u.RawQuery == "" {
			pg := s.page(name(fmt.Sprint("docs", i)))
			pg.para(fmt.Sprint("docs", i), 70)
			for _, to := range []int{2*i + 1, 2*i + 2, draw(fmt.Sprint("docs", i), n)} {
				if to < n {
					pg.link(fmt.Sprintf("%d.html", to), name(fmt.Sprint("docs", to)), fmt.Sprint("docs", to))
				}
			}
			pg.link(slug(fmt.Sprint("lost", i))+".html", "See also", "")
			return pg.real(fmt.Sprint("docs", i))
		}
		pg := s.page("Sorry")
		pg.text("There is nothing at %s: it may have moved.", u.RequestURI())
		last := strings.TrimSuffix(u.Path[strings.LastIndexByte(u.Path, '/')+1:], ".html")
		if last == "" {
			last = "older"
		}
		pg.link(last+"/archive.html", "Look in the archive", "")
		pg.link("./search.html?for="+url.QueryEscape(u.RequestURI()), "Search for it", "")
		pg.link("/docs/"+slug("up"+u.Path)+"/", "Similar pages", "")
		return pg.trap("soft 404s", "sorry")
	}
	return p
}

// endlessPages returns a pagination that goes on after its end with empty pages.
func endlessPages(full int) *part {
	p := &part{name: "endless-pages", paths: "/offers", traps: []trap{{name: "empty pages", endless: true, mark: "/offers"}}}
	p.entry = []link{{"/offers?page=1", "Offers", "offers/page1"}}
	for i := range full {
		p.real = append(p.real, fmt.Sprint("offers/page", i+1))
		for j := range 10 {
			p.real = append(p.real, fmt.Sprint("offer", i*10+j))
		}
	}
	p.answer = func(s *site, u *url.URL) *answer {
		var n int
		if is(u.RequestURI(), "/offers/%d", &n) && n < full*10 {
			pg := s.page(name(u.Path))
			pg.para(u.Path, 60)
			return pg.real(fmt.Sprint("offer", n))
		}
		if n = query(u, "page", -1); u.Path != "/offers" || n < 1 {
			return nil
		}
		pg := s.page(fmt.Sprint("Offers, page ", n))
		for j := (n - 1) * 10; j < n*10 && n <= full; j++ {
			pg.link(fmt.Sprint("/offers/", j), name(fmt.Sprint("/offers/", j)), fmt.Sprint("offer", j))
		}
		if n > full {
			pg.text("No offers found.")
			pg.link(fmt.Sprint("/offers?page=", n-1), "Previous", "")
			pg.link(fmt.Sprint("/offers?page=", n+1), "Next", "")
			return pg.trap("empty pages", "no offers")
		}
		pg.link(fmt.Sprint("/offers?page=", n+1), "Next", fmt.Sprint("offers/page", n+1))
		return pg.real(fmt.Sprint("offers/page", n))
	}
	return p
}

// labyrinth returns text without end, made up page by page, as nobody could tell it from a site.
func labyrinth() *part {
	p := &part{name: "labyrinth", paths: "/maze/", traps: []trap{{name: "made-up text", endless: true, free: true, mark: "maze"}}}
	p.entry = []link{{"/maze/start", "More", ""}}
	p.answer = func(s *site, u *url.URL) *answer {
		pg := s.page(name(u.Path))
		pg.para(u.Path, 100)
		for i := range 5 {
			pg.link("/maze/"+slug(fmt.Sprint(u.Path, i))+fmt.Sprintf("/%d", draw(fmt.Sprint(u.Path, i), 10)), name(fmt.Sprint(u.Path, i)), "")
		}
		return pg.trap("made-up text", u.RequestURI())
	}
	return p
}

// slashes returns n articles of a server to which several slashes are one, and whose links have one more each time.
func slashes(n int) *part {
	p := &part{name: "slashes", paths: "/pieces/", real: ids("piece", n), traps: []trap{{name: "slashes", endless: true, mark: "/pieces/"}}}
	p.entry = []link{{"/pieces/0", "Pieces", "piece0"}}
	p.answer = func(s *site, u *url.URL) *answer {
		rest := strings.TrimLeft(strings.TrimPrefix(u.Path, "/pieces"), "/")
		i := number(rest)
		if i < 0 || i >= n || u.RawQuery != "" {
			return nil
		}
		more := len(u.Path) - len("/pieces") - len(rest)
		pg := s.page(name(fmt.Sprint("piece", i)))
		pg.para(fmt.Sprint("piece", i), 60)
		for _, to := range []int{(i + 1) % n, i * 5 % n, (i + 17) % n} {
			pg.link("/pieces"+strings.Repeat("/", more+1)+fmt.Sprint(to), name(fmt.Sprint("piece", to)), fmt.Sprint("piece", to))
		}
		a := pg.real(fmt.Sprint("piece", i))
		if more > 1 {
			a.trap = "slashes"
		}
		return a
	}
	return p
}

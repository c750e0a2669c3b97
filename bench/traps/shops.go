package main

import (
	"fmt"
	"net/url"
	"slices"
	"sort"
	"strings"
)

// shop is a catalogue of articles: categories of 40 in pages of ten, and articles that link to related ones. where says
// how its bare URLs, with paths below the part's, are written in links.
type shop struct {
	name  string
	n     int
	where func(bare string) string
}

func (c *shop) real() (ids []string) {
	for i := range (c.n + 9) / 10 {
		ids = append(ids, fmt.Sprintf("%s/list%d", c.name, i))
	}
	for i := range c.n {
		ids = append(ids, fmt.Sprintf("%s/item%d", c.name, i))
	}
	return ids
}

// show answers a bare URL.
func (c *shop) show(s *site, bare string) *answer {
	var i, j int
	lists := (c.n + 9) / 10
	item := func(pg *page, i int) {
		pg.link(c.where(fmt.Sprintf("/item/%d", i)), name(fmt.Sprint(c.name, i)), fmt.Sprintf("%s/item%d", c.name, i))
	}
	list := func(pg *page, k int, label string) {
		to := fmt.Sprintf("/cat/%d", k/4)
		if k%4 > 0 {
			to += fmt.Sprintf("?p=%d", k%4)
		}
		pg.link(c.where(to), label, fmt.Sprintf("%s/list%d", c.name, k))
	}
	pg := s.page("")
	switch {
	case is(bare, "/item/%d", &i) && i < c.n:
		pg.title = name(fmt.Sprint(c.name, i))
		pg.para(fmt.Sprint(c.name, i), 50+draw(fmt.Sprint(c.name, i), 80))
		for k := range 5 {
			item(pg, draw(fmt.Sprint(c.name, i, "/", k), c.n))
		}
		list(pg, i/40*4, "Category")
		return pg.real(fmt.Sprintf("%s/item%d", c.name, i))
	case is(bare, "/cat/%d", &i), is(bare, "/cat/%d?p=%d", &i, &j) && j > 0 && j < 4:
		k := i*4 + j
		if k >= lists {
			return nil
		}
		pg.title = fmt.Sprintf("%s, page %d", name(fmt.Sprint(c.name, "cat", i)), j+1)
		for n := k * 10; n < min(c.n, k*10+10); n++ {
			item(pg, n)
		}
		if j < 3 && k+1 < lists {
			list(pg, k+1, "Next page")
		}
		for n := range (lists + 3) / 4 {
			if n < 12 || n == i+1 || n == i-1 {
				list(pg, n*4, name(fmt.Sprint(c.name, "cat", n)))
			}
		}
		return pg.real(fmt.Sprintf("%s/list%d", c.name, k))
	}
	return nil
}

// sessions returns a shop of n articles whose links carry an id that every answer makes anew, or, when it is sticky, that
// only answers without one make anew: an article's first link has none. kind says where it stands: "semicolon",
// "segment", in a "name", behind a "tilde", an "amp", a "caret" or a "bar" in the path, or the name of a parameter; a "moment" is when the answer was made.
func sessions(kind string, n int, sticky bool) *part {
	root := fmt.Sprintf("/shop-%s-%d", kind, n)
	if sticky {
		root += "-sticky"
	}
	p := &part{name: root[1:], paths: root, traps: []trap{{name: "session ids", endless: true, mark: root}}}
	p.entry = []link{{root + "/cat/0", name(root), root[1:] + "/list0"}}
	p.real = (&shop{name: root[1:], n: n}).real()
	p.answer = func(s *site, u *url.URL) *answer {
		bare, id := cutSession(strings.TrimPrefix(u.RequestURI(), root), kind)
		if id == "" || !sticky {
			id = sessionID(kind, s.seed+u.RequestURI())
		}
		links := 0
		c := &shop{name: root[1:], n: n, where: func(bare string) string {
			if links++; sticky && links == 1 {
				return root + bare
			}
			return root + addSession(bare, kind, id)
		}}
		a := c.show(s, bare)
		if a != nil {
			a.trap = "session ids"
		}
		return a
	}
	return p
}

func sessionID(kind, key string) string {
	r := rng("session" + key)
	switch kind {
	case "segment", "name", "tilde", "amp", "caret", "bar":
		return fmt.Sprintf("%08x%08x", r.Uint32(), r.Uint32())
	case "moment":
		return fmt.Sprint(1_700_000_000_000 + r.Int64N(90_000_000_000))
	}
	if kind == "semicolon" {
		return fmt.Sprintf("%012x", r.Uint64()>>16)
	}
	const letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	var b strings.Builder
	for range 14 {
		b.WriteByte(letters[r.IntN(len(letters))])
	}
	return b.String()
}

func addSession(bare, kind, id string) string {
	path, q, has := strings.Cut(bare, "?")
	switch kind {
	case "semicolon":
		path += ";s=" + id
	case "segment", "moment":
		path = "/s/" + id + path
	case "name":
		path += "." + id + ".html"
	case "tilde":
		path += "/~" + id
	case "amp":
		path += "&sid=" + id
	case "caret":
		path += "^" + id
	case "bar":
		path += "|" + id
	default:
		if has {
			q += "&"
		}
		q, has = q+kind+"="+id, true
	}
	if has {
		path += "?" + q
	}
	return path
}

func cutSession(uri, kind string) (bare, id string) {
	path, q, has := strings.Cut(uri, "?")
	switch kind {
	case "semicolon":
		path, id, _ = strings.Cut(path, ";s=")
	case "name":
		path, id, _ = strings.Cut(path, ".")
	case "tilde":
		path, id, _ = strings.Cut(path, "/~")
	case "amp":
		path, id, _ = strings.Cut(path, "&sid=")
	case "caret":
		path, id, _ = strings.Cut(path, "%5E")
	case "bar":
		path, id, _ = strings.Cut(path, "%7C")
	case "segment", "moment":
		if rest, ok := strings.CutPrefix(path, "/s/"); ok {
			id, rest, _ = strings.Cut(rest, "/")
			path = "/" + rest
		}
	default:
		var keep []string
		for kv := range strings.SplitSeq(q, "&") {
			if v, ok := strings.CutPrefix(kv, kind+"="); ok {
				id = v
			} else if kv != "" {
				keep = append(keep, kv)
			}
		}
		q = strings.Join(keep, "&")
		has = q != ""
	}
	if has {
		path += "?" + q
	}
	return path, id
}

var facetNames = []string{"color", "size", "brand", "price", "rating"}

const facetValues = 4

// facets returns a shop whose list can be narrowed by five facets, one after the other and in every order.
func facets(n int) *part {
	p := &part{name: "facets", paths: "/wares", traps: []trap{{name: "orders of facets", endless: true, mark: "/wares"}}}
	c := &shop{name: "wares", n: n, where: func(bare string) string { return "/wares" + bare }}
	p.real = c.real()
	p.entry = []link{{"/wares/cat/0", "Wares", "wares/list0"}, {"/wares/find", "Find", ""}}
	p.answer = func(s *site, u *url.URL) *answer {
		if u.Path != "/wares/find" {
			return c.show(s, strings.TrimPrefix(u.RequestURI(), "/wares"))
		}
		chosen := map[string]int{}
		for kv := range strings.SplitSeq(u.RawQuery, "&") {
			k, v, _ := strings.Cut(kv, "=")
			if kv == "" {
				continue
			}
			if n := number(v); !slices.Contains(facetNames, k) || n < 0 || n >= facetValues || hasKey(chosen, k) {
				return nil
			}
			chosen[k] = number(v)
		}
		pg := s.page("Find wares")
		shown := facetItems(pg, c, chosen)
		for _, f := range facetNames {
			if hasKey(chosen, f) {
				continue
			}
			for v := range facetValues {
				q := u.RawQuery
				if q != "" {
					q += "&"
				}
				pg.link("/wares/find?"+q+fmt.Sprintf("%s=%d", f, v), fmt.Sprintf("%s %d", f, v), "")
			}
		}
		return pg.trap("orders of facets", shown)
	}
	return p
}

func hasKey(m map[string]int, k string) bool { _, ok := m[k]; return ok }

// facetItems shows the choice and the first twelve wares that fit, the same for all orders, and returns what it says.
func facetItems(pg *page, c *shop, chosen map[string]int) string {
	var choice []string
	for k, v := range chosen {
		choice = append(choice, fmt.Sprintf("%s %d", k, v))
	}
	sort.Strings(choice)
	shown := 0
	for i := 0; i < c.n && shown < 12; i++ {
		fits := true
		for k, v := range chosen {
			fits = fits && (i*(7+len(k))+i/11*int(k[0]))%97%facetValues == v
		}
		if fits {
			shown++
			pg.link(c.where(fmt.Sprintf("/item/%d", i)), name(fmt.Sprint(c.name, i)), fmt.Sprintf("%s/item%d", c.name, i))
		}
	}
	if shown == 0 {
		pg.text("Nothing was found.")
		return "wares: nothing"
	}
	pg.text("Wares with %s.", strings.Join(choice, ", "))
	return "wares: " + strings.Join(choice, ", ")
}

// sorted returns directories whose listings have links that sort them.
func sorted(dirs int) *part {
	p := &part{name: "sorted", paths: "/files/", traps: []trap{{name: "sort links", mark: "/files/"}}}
	p.entry = []link{{"/files/", "Files", "files/"}}
	p.real = []string{"files/"}
	for d := range dirs {
		p.real = append(p.real, fmt.Sprintf("files/d%d", d))
		for f := range 5 {
			p.real = append(p.real, fmt.Sprintf("files/d%d/f%d", d, f))
		}
	}
	p.answer = func(s *site, u *url.URL) *answer {
		var d, f int
		order := u.RawQuery
		if order != "" && !(is(strings.NewReplacer("N", "0", "M", "1", "S", "2", "D", "3", "A", "4").Replace(order), "C=%d;O=%d", &d, &f) && d < 4 && f > 2 && f < 5) {
			return nil
		}
		rest := strings.TrimPrefix(u.Path, "/files/")
		pg := s.page("Index of " + u.Path)
		id := ""
		switch {
		case rest == "":
			id = "files/"
			for d := range dirs {
				pg.link(fmt.Sprintf("d%d/", d), name(fmt.Sprint("dir", d)), fmt.Sprintf("files/d%d", d))
			}
		case is(rest, "d%d/", &d) && d < dirs:
			id = fmt.Sprintf("files/d%d", d)
			files := []int{0, 1, 2, 3, 4}
			rng(order).Shuffle(5, func(i, j int) { files[i], files[j] = files[j], files[i] })
			for _, f := range files {
				pg.link(fmt.Sprintf("f%d.html", f), fmt.Sprintf("%s %d kB", name(fmt.Sprint("file", d, "/", f)), 1+draw(u.Path, 90)), fmt.Sprintf("files/d%d/f%d", d, f))
			}
			pg.link("../", "Parent directory", "files/")
		case is(rest, "d%d/f%d.html", &d, &f) && d < dirs && f < 5 && order == "":
			pg.title = name(fmt.Sprint("file", d, "/", f))
			pg.para(rest, 60)
			return pg.real(fmt.Sprintf("files/d%d/f%d", d, f))
		default:
			return nil
		}
		for _, c := range "NMSD" {
			for _, o := range "AD" {
				pg.link(fmt.Sprintf("?C=%c;O=%c", c, o), string(c), id)
			}
		}
		a := pg.real(id)
		if order != "" {
			a.trap = "sort links"
		}
		return a
	}
	return p
}

// variants returns articles each of which has a print view, a form to share it and one to reply.
func variants(n int) *part {
	p := &part{name: "variants", paths: "/mag/", entry: []link{{"/mag/", "Magazine", "mag/"}}, real: []string{"mag/"}}
	p.traps = []trap{{name: "print"}, {name: "share"}, {name: "reply"}}
	for i := range n {
		p.real = append(p.real, fmt.Sprintf("mag/%d", i))
	}
	p.answer = func(s *site, u *url.URL) *answer {
		var i int
		pg := s.page("Magazine")
		uri := strings.TrimPrefix(u.RequestURI(), "/mag/")
		switch {
		case uri == "":
			for i := range n {
				pg.link(fmt.Sprint(i), name(fmt.Sprint("mag", i)), fmt.Sprintf("mag/%d", i))
			}
			return pg.real("mag/")
		case is(uri, "%d", &i) && i < n, is(uri, "%d?print=1", &i) && i < n:
			pg.title = name(fmt.Sprint("mag", i))
			pg.para(fmt.Sprint("mag", i), 60+draw(fmt.Sprint("mag", i), 60))
			if pg.bare = u.RawQuery != ""; pg.bare {
				a := pg.real(fmt.Sprintf("mag/%d", i))
				a.trap = "print"
				return a
			}
			pg.link(fmt.Sprintf("%d?print=1", i), "Print", fmt.Sprintf("mag/%d", i))
			pg.link(fmt.Sprintf("share?u=%%2Fmag%%2F%d&t=%s", i, url.QueryEscape(pg.title)), "Share", "")
			pg.link(fmt.Sprintf("reply?to=%d", i), "Reply", "")
			return pg.real(fmt.Sprintf("mag/%d", i))
		case u.Path == "/mag/share" || u.Path == "/mag/reply":
			what := strings.TrimPrefix(u.Path, "/mag/")
			i = query(u, "to", number(strings.TrimPrefix(u.Query().Get("u"), "/mag/")))
			if i < 0 || i >= n {
				return nil
			}
			pg.title = strings.ToUpper(what[:1]) + what[1:]
			pg.text("%s: %s", pg.title, name(fmt.Sprint("mag", i)))
			pg.text("Your name, your message, the letters that you see in the picture. Please be kind to each other.")
			pg.link(fmt.Sprint("/mag/", i), "Back", fmt.Sprintf("mag/%d", i))
			return pg.trap(what, what)
		}
		return nil
	}
	return p
}

// mirror returns n pages that stand under another path once more; which of the two is the other one, nobody can say.
func mirror(n int) *part {
	p := &part{name: "mirror", paths: "/man", traps: []trap{{name: "two paths", mark: "/man"}}}
	p.entry = []link{{"/man/", "Manual", "man/0"}, {"/manual/current/", "Current manual", "man/0"}}
	for i := range n {
		p.real = append(p.real, fmt.Sprintf("man/%d", i))
	}
	p.answer = func(s *site, u *url.URL) *answer {
		rest, current := strings.CutPrefix(u.RequestURI(), "/manual/current/")
		if !current {
			rest = strings.TrimPrefix(u.RequestURI(), "/man/")
		}
		i := 0
		if rest != "" && !(is(rest, "chapter%d.html", &i) && i > 0 && i < n) {
			return nil
		}
		pg := s.page(name(fmt.Sprint("man", i)))
		pg.para(fmt.Sprint("man", i), 90)
		for k := i*8 + 1; k <= i*8+8 && k < n; k++ {
			pg.link(fmt.Sprintf("chapter%d.html", k), name(fmt.Sprint("man", k)), fmt.Sprintf("man/%d", k))
		}
		a := pg.real(fmt.Sprintf("man/%d", i))
		a.trap = "two paths"
		return a
	}
	return p
}

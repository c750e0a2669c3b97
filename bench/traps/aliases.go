package main

import (
	"fmt"
	"html"
	"net/url"
	"strings"
)

// Webs of which each link writes an address in another way, and of pages whose text nobody sees before a script has run.

// cased writes each letter of a path in either case, as a key says.
func cased(path, key string) string {
	r := rng("case/" + key + path)
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' && r.IntN(2) == 0 {
			return c - 'a' + 'A'
		}
		return c
	}, path)
}

// cases is a shop on a server that does not tell the case of letters apart, and whose links are written in any. In "words" the names of things
// are words, else they have numbers; in "names" only the name of the parameter that has the number is written so, and in "values" only its value.
func cases(how string, n int) *part {
	const each = 20
	at := func(i int) string {
		dir := "/wares/" + vocabulary[500+i/each] + "/"
		switch how {
		case "names":
			return fmt.Sprint("/goods?wareid=", i)
		case "values":
			return "/goods?ware=" + vocabulary[1000+i] + "-" + vocabulary[2000+i%7]
		case "words":
			return dir + vocabulary[1000+i] + "-" + vocabulary[2000+i%7]
		}
		return dir + fmt.Sprint("item-", i, ".aspx")
	}
	known := map[string]int{}
	for i := range n {
		known[at(i)] = i
	}
	written := func(i int, key string) string {
		fixed := map[string]string{"names": "/goods", "values": "/goods?ware="}[how]
		return fixed + cased(strings.TrimPrefix(at(i), fixed), key)
	}
	traps := []trap{{name: "case", endless: true, mark: "case"}}
	p := &part{name: "cases-" + how, paths: "/", entry: []link{{at(0), "Wares", "ware0"}}, real: ids("ware", n), traps: traps}
	p.answer = func(s *site, u *url.URL) *answer {
		i, ok := known[strings.ToLower(u.RequestURI())]
		if !ok || how == "names" && u.Path != "/goods" || how == "values" && !strings.HasPrefix(u.RequestURI(), "/goods?ware=") {
			return nil
		}
		pg := s.page(name(fmt.Sprint("ware", i)))
		pg.para(fmt.Sprint("ware", i), 60)
		for _, k := range []int{2*i + 1, 2*i + 2, draw(u.RequestURI(), n), draw(u.RequestURI()+"/", n)} {
			if k < n {
				pg.link(written(k, u.RequestURI()), name(fmt.Sprint("ware", k)), fmt.Sprint("ware", k))
			}
		}
		a := pg.real(fmt.Sprint("ware", i))
		a.trap = "case"
		return a
	}
	return p
}

// slugs are articles that a server finds by the number in their address: the words beside it are others in each link. how says where they stand.
func slugs(how string, n int) *part {
	root := "/" + how + "/"
	words := func(key string) string { return slug("slug/" + key) }
	at := func(i int, key string) string {
		return root + map[string]string{
			"front": fmt.Sprint(i, "-", words(key)), "back": fmt.Sprint(words(key), "-", i, ".html"), "below": fmt.Sprint(i, "/", words(key)),
			"value": fmt.Sprint("?story=", i, "-", words(key)),
		}[how]
	}
	traps := []trap{{name: "words", endless: true, mark: root}}
	return made(root, []link{{at(0, "entry"), "Articles", how + "0"}}, ids(how, n), traps, func(s *site, rest string, q url.Values) *answer {
		text := rest + q.Get("story")
		i := -1
		for f := range strings.FieldsFuncSeq(text, func(c rune) bool { return c < '0' || c > '9' }) {
			i = number(f)
		}
		if i < 0 || i >= n {
			return nil
		}
		pg := s.page(name(fmt.Sprint(how, i)))
		pg.para(fmt.Sprint(how, i), 60)
		for _, k := range []int{2*i + 1, 2*i + 2, draw(text, n), draw(text+"/", n)} {
			if k < n {
				pg.link(at(k, fmt.Sprint(text, k)), name(fmt.Sprint(how, k)), fmt.Sprint(how, k))
			}
		}
		a := pg.real(fmt.Sprint(how, i))
		a.trap = "words"
		return a
	})
}

// views are things with thirty views each, whose names stand beside the number of the thing; of most of them there is nothing yet, and one in so many
// says something.
func views(how string, n, one int) *part {
	const each = 30
	root := "/" + how + "/"
	view := func(k int) string { return vocabulary[700+k] }
	says := func(i, k int) bool { return draw(fmt.Sprint(how, i, "/", k), one) == 0 }
	at := func(i, k int) string {
		if how == "tabs" {
			return fmt.Sprint(root, i, "-", view(k))
		}
		return fmt.Sprint(root, i, "/", view(k))
	}
	known := map[string][2]int{}
	real := ids(how, n)
	for i := range n {
		for k := range each {
			known[at(i, k)] = [2]int{i, k}
			if says(i, k) {
				real = append(real, fmt.Sprint(how, i, "/", k))
			}
		}
	}
	p := made(root, []link{{root + "0", "Things", how + "0"}}, real, nil, func(s *site, rest string, q url.Values) *answer {
		if at, ok := known[root+rest]; ok && len(q) == 0 {
			i, k := at[0], at[1]
			pg := s.page("A view")
			if says(i, k) {
				pg.para(fmt.Sprint(how, i, "/", k), 50)
				return pg.real(fmt.Sprint(how, i, "/", k))
			}
			pg.text("There is nothing here yet.")
			return pg.trap("", "nothing")
		}
		i := number(rest)
		if i < 0 || i >= n || len(q) > 0 {
			return nil
		}
		pg := s.page(name(fmt.Sprint(how, i)))
		pg.para(fmt.Sprint(how, i), 60)
		for k := range each {
			id := ""
			if says(i, k) {
				id = fmt.Sprint(how, i, "/", k)
			}
			pg.link(at(i, k), view(k), id)
		}
		if i+1 < n {
			pg.link(fmt.Sprint(root, i+1), "Next", fmt.Sprint(how, i+1))
		}
		return pg.real(fmt.Sprint(how, i))
	})
	p.need = 0.99
	return p
}

// inData writes a text where only a script finds it.
func inData(how, title, text string) string {
	switch how {
	case "json":
		return fmt.Sprintf(`<script id="data" type="application/json">{"props":{"theme":"light","post":{"title":%q,"body":%q,"tags":["a","b"]}}}</script>`, title, text)
	case "ld":
		return fmt.Sprintf(`<script type="application/ld+json">{"@context":"https://schema.org","@type":"Article","headline":%q,"articleBody":%q}</script>`, title, text)
	case "state":
		return fmt.Sprintf("<script>window.__STATE__={user:null,post:{title:'%s',body:'%s'},flags:[1,2]};</script>", title, text)
	}
	return fmt.Sprintf(`<input type="hidden" name="text" value="%s">`, html.EscapeString(text))
}

// scripted is a chain of posts that say nothing before a script has run: their text stands in its data.
func scripted(how string, n int) *part {
	root := "/" + how + "/"
	return made(root, []link{{root + "0", "Posts", how + "0"}}, ids(how, n), nil, func(s *site, rest string, q url.Values) *answer {
		i := number(rest)
		if i < 0 || i >= n || len(q) > 0 {
			return nil
		}
		pg := s.page("Posts")
		pg.text("Loading. Please turn JavaScript on.")
		pg.b.WriteString(inData(how, name(fmt.Sprint(how, i)), prose(fmt.Sprint(how, i), 70)))
		if i+1 < n {
			pg.link(fmt.Sprint(root, i+1), "Next", fmt.Sprint(how, i+1))
		}
		return pg.real(fmt.Sprint(how, i))
	})
}

// hollow is a chain without end whose scripts know nothing but what was asked for, when, and by whom.
func hollow(how string) *part {
	root := "/hollow-" + how + "/"
	traps := []trap{{name: "pages", endless: true, mark: root}}
	return made(root, []link{{root + "0", "Hollow", ""}}, nil, traps, func(s *site, rest string, q url.Values) *answer {
		i := number(rest)
		if i < 0 || len(q) > 0 {
			return nil
		}
		pg := s.page("Posts")
		pg.text("Loading. Please turn JavaScript on.")
		text := fmt.Sprintf("There is no post %d at %s%d, as of %d o'clock, for reader %s", i, root, i, draw(rest, 1<<20), sessionID("nonce", rest))
		pg.b.WriteString(inData(how, fmt.Sprint("Post number ", i, " was not found"), text))
		pg.link(fmt.Sprint(root, i+1), "Next", "")
		return pg.trap("pages", "nothing")
	})
}

// encoded are papers on a server that undoes the encoding of a path until nothing is encoded, and whose links are encoded once more than the page
// that they stand on: in "own" that to the page itself, in "all" each one.
func encoded(how string, n int) *part {
	root := "/encoded-" + how + "/"
	plain := func(i int) string { return vocabulary[400+i] + " & " + vocabulary[900+i%50] }
	at := func(i, times int) string {
		s := plain(i)
		for range times {
			s = url.PathEscape(s)
		}
		return root + s
	}
	known := map[string]int{}
	for i := range n {
		known[plain(i)] = i
	}
	traps := []trap{{name: "encoding", endless: true, mark: root}}
	return made(root, []link{{at(0, 1), "Papers", how + "0"}}, ids(how, n), traps, func(s *site, rest string, _ url.Values) *answer {
		times := 1 // rest has been decoded once
		for more, err := url.PathUnescape(rest); err == nil && more != rest; more, err = url.PathUnescape(rest) {
			rest = more
			times++
		}
		i, ok := known[rest]
		if !ok {
			return nil
		}
		pg := s.page(name(fmt.Sprint(how, i)))
		pg.para(fmt.Sprint(how, i), 60)
		further := 1
		if how == "all" {
			further = times + 1
		}
		pg.link(at(i, times+1), "This paper", fmt.Sprint(how, i))
		for _, k := range []int{2*i + 1, 2*i + 2, draw(rest, n)} {
			if k < n {
				pg.link(at(k, further), name(fmt.Sprint(how, k)), fmt.Sprint(how, k))
			}
		}
		a := pg.real(fmt.Sprint(how, i))
		if times > 1 {
			a.trap = "encoding"
		}
		return a
	})
}

// settings are rooms whose links choose three things anew that the server remembers, and which make no difference; how says whether the room
// stands in the path or in the query.
func settings(how string, n int) *part {
	root := "/settings-" + how
	pick := func(of, key string) string { return vocabulary[300+len(of)*10+draw(of+key, 6)] }
	at := func(i int, key string) string {
		chosen := fmt.Sprintf("tone=%s&width=%s&corner=%s", pick("tone", key), pick("width", key), pick("corner", key))
		if how == "path" {
			return fmt.Sprintf("%s/%s?%s", root, vocabulary[400+i], chosen)
		}
		return fmt.Sprintf("%s?room=%s&%s", root, vocabulary[400+i], chosen)
	}
	known := map[string]int{}
	for i := range n {
		known[vocabulary[400+i]] = i
	}
	traps := []trap{{name: "settings", endless: true, mark: root}}
	return made(root, []link{{at(0, "entry"), "Rooms", how + "0"}}, ids(how, n), traps, func(s *site, rest string, q url.Values) *answer {
		i, ok := known[strings.TrimPrefix(rest, "/")+q.Get("room")]
		if !ok {
			return nil
		}
		pg := s.page(name(fmt.Sprint(how, i)))
		pg.para(fmt.Sprint(how, i), 60)
		for _, k := range []int{2*i + 1, 2*i + 2, draw(q.Encode(), n), draw(q.Encode()+"/", n)} {
			if k < n {
				pg.link(at(k, fmt.Sprint(k, rest, q.Encode())), name(fmt.Sprint(how, k)), fmt.Sprint(how, k))
			}
		}
		a := pg.real(fmt.Sprint(how, i))
		a.trap = "settings"
		return a
	})
}

// aliases returns these webs.
func aliases() (ws []*web) {
	for _, how := range []string{"words", "numbers", "names", "values"} {
		ws = append(ws, single("cases-"+how, cases(how, 400), library(200)))
	}
	for _, how := range []string{"front", "back", "below", "value"} {
		ws = append(ws, single("slugs-"+how, slugs(how, 400), library(200)))
	}
	for _, how := range []string{"own", "all"} {
		ws = append(ws, single("encoded-"+how, encoded(how, 400), library(200)))
	}
	for _, how := range []string{"path", "query"} {
		ws = append(ws, single("settings-"+how, settings(how, 400), library(200)))
	}
	for _, how := range []string{"tabs", "views"} {
		ws = append(ws, single(how, views(how, 80, 30), library(100)))
	}
	for _, how := range []string{"json", "ld", "state", "hidden"} {
		ws = append(ws, single("scripted-"+how, scripted(how, 900), library(100)), single("hollow-"+how, hollow(how), library(100)))
	}
	return ws
}

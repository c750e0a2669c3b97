package main

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Webs of programs whose pages have a heading, a footer and no menu: what leads away from a trap is in its own pages.

// plain is a page with a heading and a footer.
func (s *site) plain(at, title string) *page {
	pg := s.page(title + " - " + at)
	pg.bare = true
	pg.text("The site of %s", at)
	return pg
}

// footed ends such a page.
func (p *page) footed(at string) *page {
	p.para(at+"/footer", 20)
	return p
}

// slugged is the last part of the address of a thing, and which thing has it.
func slugged(at string, n int) (slugs []string, which map[string]int) {
	which = map[string]int{}
	for i := range n {
		slugs = append(slugs, fmt.Sprintf("%s-%d", slug(fmt.Sprint(at, i)), i*7+3))
		which[slugs[i]] = i
	}
	return slugs, which
}

// misled answers what is not there with five addresses that are not there either: below the posts, beside what was asked for, and in an archive.
// One post in five leads to its old address, and each to a tag, and the last list to one more.
func misled(n int) *part {
	const at = "misled"
	slugs, which := slugged(at, n)
	traps := []trap{{name: "soft 404s", endless: true, mark: "/misled/"}}
	return made("/misled", []link{{"/misled/blog", "Blog", ""}}, ids(at, n), traps, func(s *site, rest string, _ url.Values) *answer {
		post := func(pg *page, i int) {
			pg.link("/misled/blog/"+slugs[i], name(fmt.Sprint(at, i)), fmt.Sprint(at, i))
		}
		k := 0
		if rest == "/blog" || is(rest, "/blog/page/%d", &k) && k > 0 && k <= n/10 {
			pg := s.plain(at, fmt.Sprintf("Blog, page %d", max(1, k)))
			for i := 10 * (max(1, k) - 1); i < 10*max(1, k); i++ {
				post(pg, i)
				pg.para(fmt.Sprint(at, "teaser", i), 8)
			}
			pg.link(fmt.Sprint("/misled/blog/page/", max(1, k)+1), "Older posts", "")
			return pg.footed(at).trap("", rest)
		}
		if i, ok := which[strings.TrimPrefix(rest, "/blog/")]; ok && strings.HasPrefix(rest, "/blog/") {
			pg := s.plain(at, name(fmt.Sprint(at, i)))
			pg.para(fmt.Sprint(at, i), 90)
			if i%5 == 0 {
				pg.link(fmt.Sprintf("/misled/blog/%s-%d", slug(fmt.Sprint(at, "old", i)), i), "Before", "")
			}
			pg.link("/misled/blog/tag/"+slug(fmt.Sprint(at, "tag", draw(fmt.Sprint(at, "tag", i), 20))), "tag", "")
			return pg.footed(at).real(fmt.Sprint(at, i))
		}
		pg := s.plain(at, "Page not found")
		pg.text("We could not find %s. It may have been moved or deleted. Perhaps you meant one of these:", "/misled"+rest)
		segs := strings.Split("/misled"+rest, "/")
		last := segs[len(segs)-1]
		for k, to := range []string{"/misled/blog/%s", strings.Join(segs[:len(segs)-1], "/") + "/%s", "/misled/blog/" + last + "-2", "/misled/archive/%s", "/misled/archive/%s"} {
			if k != 2 {
				to = fmt.Sprintf(to, slug(fmt.Sprint(at, "lost", rest, k)))
			}
			pg.link(to, to[strings.LastIndexByte(to, '/')+1:], "")
		}
		return pg.footed(at).trap("soft 404s", "not here")
	})
}

// astray has documents that are found by the end of a path alone, and whose last three links have no slash before them.
func astray(n int) *part {
	const at = "astray"
	slugs, which := slugged(at, n)
	traps := []trap{{name: "longer paths", endless: true, mark: "/astray/"}}
	return made("/astray/", []link{{"/astray/docs/", "Contents", ""}}, ids(at, n), traps, func(s *site, rest string, _ url.Values) *answer {
		doc := func(pg *page, i int) {
			pg.link("/astray/docs/"+slugs[i]+"/", name(fmt.Sprint(at, i)), fmt.Sprint(at, i))
		}
		wrong := func(pg *page, i int) *page {
			i = (i + 1) % n
			pg.link("docs/"+slugs[i]+"/", "Next", fmt.Sprint(at, i))
			pg.link("help/imprint/", "Imprint", "")
			pg.link("docs/", "Contents", "")
			return pg.footed(at)
		}
		segs := strings.Split(strings.TrimSuffix(rest, "/"), "/")
		trap := ""
		if len(segs) > 2 {
			trap = "longer paths"
		}
		if !strings.HasSuffix(rest, "/") {
			return nil
		}
		if strings.HasSuffix("/"+rest, "/help/imprint/") {
			pg := s.plain(at, "Imprint")
			pg.para("imprint", 60)
			return wrong(pg, 7).trap(trap, "imprint")
		}
		if segs[len(segs)-1] == "docs" {
			if len(segs) > 1 {
				trap = "longer paths"
			}
			pg := s.plain(at, "Contents")
			for i := 0; i < n; i += 15 {
				doc(pg, i)
			}
			return wrong(pg, 3).trap(trap, "contents")
		}
		i, ok := which[segs[len(segs)-1]]
		if !ok {
			return nil
		}
		pg := s.plain(at, name(fmt.Sprint(at, i)))
		pg.para(fmt.Sprint(at, i), 80)
		for k := 1; k < 4; k++ {
			doc(pg, (2*i+k)%n)
		}
		if i+1 < n {
			doc(pg, i+1)
		}
		a := wrong(pg, i).real(fmt.Sprint(at, i))
		a.trap = trap
		return a
	})
}

var choiceNames = strings.Fields("colour size brand material price")

var choiceValues = [][]string{
	strings.Fields("red blue green black white"), strings.Fields("s m l xl"), strings.Fields("acme borea corvo dunlin elmo fjord"), strings.Fields("wool cotton linen silk"),
	strings.Fields("0-50 50-100 100-200 200-500"),
}

// filtered is a shop with five choices: the links of its lists write them in the order in which they were made, those of its things lead to what
// has one of their features. The first list, of which the others are parts, has pages.
func filtered(n int) *part {
	const at = "filtered"
	has := func(i, f int) string { return choiceValues[f][draw(fmt.Sprint(at, f, "/", i), len(choiceValues[f]))] }
	features := make([][5]string, n)
	for i := range n {
		for f := range choiceNames {
			features[i][f] = has(i, f)
		}
	}
	traps := []trap{{name: "orders of choices", endless: true, mark: "/filtered/"}}
	p := made("/filtered/", []link{{"/filtered/products", "Products", ""}}, ids(at, n), traps, nil)
	p.answer = func(s *site, u *url.URL) *answer {
		rest := strings.TrimPrefix(u.Path, "/filtered/")
		thing := func(pg *page, i int) {
			pg.link(fmt.Sprint("/filtered/product/", i+1000), name(fmt.Sprint(at, i)), fmt.Sprint(at, i))
		}
		var i int
		if is(rest, "product/%d", &i) && i >= 1000 && i < 1000+n {
			i -= 1000
			pg := s.plain(at, name(fmt.Sprint(at, i)))
			pg.para(fmt.Sprint(at, i), 80)
			for f, name := range choiceNames {
				pg.link("/filtered/products?"+name+"="+features[i][f], features[i][f], "")
			}
			pg.link("/filtered/products", "All products", "")
			return pg.footed(at).real(fmt.Sprint(at, i))
		}
		if rest != "products" {
			return nil
		}
		var kept []string
		chosen := [5]string{}
		number := 1
		for kv := range strings.SplitSeq(u.RawQuery, "&") {
			k, v, _ := strings.Cut(kv, "=")
			if f := slices.Index(choiceNames, k); f >= 0 {
				chosen[f], kept = v, append(kept, kv)
			} else if k == "page" {
				number = query(u, "page", 1)
			}
		}
		return filteredList(s, features, chosen, kept, number, thing)
	}
	return p
}

// filteredList shows twelve things that have what was chosen.
func filteredList(s *site, features [][5]string, chosen [5]string, kept []string, number int, thing func(*page, int)) *answer {
	const at = "filtered"
	var fits []int
	for i, has := range features {
		ok := true
		for f, v := range chosen {
			ok = ok && (v == "" || has[f] == v)
		}
		if ok {
			fits = append(fits, i)
		}
	}
	pg := s.plain(at, "Products")
	pg.text("%d products found", len(fits))
	says := "list"
	for k := 12 * (number - 1); k >= 0 && k < len(fits) && k < 12*number; k++ {
		thing(pg, fits[k])
		pg.para(fmt.Sprint(at, "teaser", fits[k]), 6)
		says += fmt.Sprint(" ", fits[k])
	}
	list := func(query []string, label string) {
		pg.link("/filtered/products?"+strings.Join(query, "&"), label, "")
	}
	with := func(one string) []string { return append(slices.Clone(kept), one) }
	for f, name := range choiceNames {
		if v := chosen[f]; v != "" {
			list(slices.DeleteFunc(slices.Clone(kept), func(kv string) bool { return strings.HasPrefix(kv, name+"=") }), "without "+v)
			continue
		}
		for _, v := range choiceValues[f] {
			list(with(name+"="+v), v)
		}
	}
	if 12*number < len(fits) {
		list(with(fmt.Sprint("page=", number+1)), "Next")
	}
	if len(kept) == 0 {
		return pg.footed(at).trap("", says)
	}
	return pg.footed(at).trap("orders of choices", says)
}

// tokens writes a session of its own into each link of a page: as a parameter of a gazette, or as the first directory of a market.
func tokens(at string, n int) *part {
	slugs, which := slugged(at, n)
	asked := 0
	root := "/" + at
	traps := []trap{{name: "sessions", endless: true, mark: root}}
	p := made(root, nil, ids(at, n), traps, func(s *site, rest string, q url.Values) *answer {
		asked++
		r := rng(fmt.Sprint(at, asked))
		token := func() string { return fmt.Sprintf("%016x%08x", r.Uint64(), r.Uint32()) }
		one := token()
		to := func(path string) string {
			switch {
			case at == "market":
				return root + "/" + one + path
			case strings.Contains(path, "?"):
				return root + path + "&osCsid=" + token()
			}
			return root + path + "?osCsid=" + token()
		}
		trap := ""
		if q.Has("osCsid") {
			trap = "sessions"
		}
		if len(rest) > 25 && at == "market" && rest[25] == '/' {
			rest, trap = rest[25:], "sessions"
		}
		lists := n / 20
		thing := func(pg *page, i int) { pg.link(to("/article/"+slugs[i]), name(fmt.Sprint(at, i)), fmt.Sprint(at, i)) }
		list := func(k int) string {
			if at == "market" {
				return to("/category/" + slug(fmt.Sprint(at, "category", k)))
			}
			return to(fmt.Sprint("/list.php?page=", k+1))
		}
		of := -1
		for k := range lists {
			if rest == "/category/"+slug(fmt.Sprint(at, "category", k)) || rest == "/list.php" && q.Get("page") == fmt.Sprint(k+1) {
				of = k
			}
		}
		pg := s.plain(at, "Articles")
		i, shown := which[strings.TrimPrefix(rest, "/article/")]
		switch {
		case rest == "/contact":
			pg.para(at+"/contact", 50)
		case rest == "/home":
			pg.para(at+"/home", 50)
		case of >= 0:
			for i := 20 * of; i < 20*of+20; i++ {
				thing(pg, i)
				pg.para(fmt.Sprint(at, "teaser", i), 8)
			}
		case shown && strings.HasPrefix(rest, "/article/"):
			pg.title = name(fmt.Sprint(at, i))
			pg.para(fmt.Sprint(at, i), 90)
			for k := range 4 {
				thing(pg, draw(fmt.Sprint(at, i, "related", k), n))
			}
		default:
			return nil
		}
		if of >= 0 && at == "gazette" || rest == "/home" {
			for k := range lists {
				pg.link(list(k), fmt.Sprint(k+1), "")
			}
		}
		pg.link(to("/home"), "Home", "")
		pg.link(to("/contact"), "Contact", "")
		if pg.footed(at); shown {
			a := pg.real(fmt.Sprint(at, i))
			a.trap = trap
			return a
		}
		return pg.trap(trap, fmt.Sprint(rest, of))
	})
	p.entry, p.drawn = []link{{root + "/home", "Articles", ""}}, true
	return p
}

func bareOnes() (ws []*web) {
	all := func() []*part {
		return []*part{misled(300), astray(300), filtered(300), tokens("gazette", 300), tokens("market", 300)}
	}
	for _, p := range all() {
		ws = append(ws, single(p.name, p))
	}
	return append(ws, single("bareones", all()...))
}

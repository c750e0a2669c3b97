package main

import (
	"fmt"
	"net/url"
	"strings"
)

// seldom is a list of n things, the newest first, each with a page and one more beside it, of which some in a thousand have something and the
// others say all the same. Kinds: downloads and fulltext redirect to a file or a page, or to where one logs in; attachments name a file, or
// none; stock and shelf say one number, most often 0. Fulltext and shelf stand in the path of their thing.
func seldom(kind string, n, thousandth int) *part {
	root := fmt.Sprintf("/%s-%d/", kind, thousandth)
	file := func(i int) string { return slug(fmt.Sprint(root, i)) + fmt.Sprint(i) }
	real, at, has := ids("thing", n), map[string]int{}, map[int]bool{}
	for i := range n {
		if draw(fmt.Sprint(root, "has", i), 1000) < thousandth {
			at[file(i)], has[i] = i, true
			real = append(real, fmt.Sprint(kind, i))
		}
	}
	where := root + kind + "?of=%d"
	if kind == "fulltext" || kind == "shelf" {
		where = root + "%d/" + kind
	}
	thing := func(s string) int { // from its address, -1 if there is none
		if i := number(s) - 1000; i >= 0 && i%7 == 0 && i/7 < n {
			return i / 7
		}
		return -1
	}
	p := made(root, []link{{root + "list/1", "All things", ""}}, real, []trap{{name: kind}}, func(s *site, rest string, q url.Values) *answer {
		page, pg := 0, s.little("Things")
		k, behind := at[rest]
		of, beside, _ := strings.Cut(rest, "/")
		if rest == kind {
			of, beside = q.Get("of"), kind
		}
		i := thing(of)
		switch {
		case is(rest, "list/%d", &page) && page > 0 && (page-1)*20 < n:
			for i := n - 1 - (page-1)*20; i >= max(0, n-page*20); i-- {
				pg.link(fmt.Sprint(root, 1000+7*i), name(fmt.Sprint(root, i)), fmt.Sprint("thing", i))
			}
			if page*20 < n {
				pg.link(fmt.Sprint(root, "list/", page+1), "next", "")
			}
			return pg.trap("", fmt.Sprint("list ", page))
		case rest == "login":
			pg.title = "Log in"
			return pg.trap("", "log in")
		case behind && kind == "fulltext":
			pg.title = name(root + rest)
			pg.para(root+rest, 60)
			return pg.real(fmt.Sprint(kind, k))
		case behind:
			id := fmt.Sprint(kind, k)
			return &answer{kind: "application/pdf", body: "%PDF-1.4 " + prose(root+rest, 40), real: id, says: id}
		case i >= 0 && beside == "":
			pg.title = name(fmt.Sprint(root, i))
			pg.para(fmt.Sprint(root, i), 25)
			pg.link(fmt.Sprintf(where, 1000+7*i), "more", "")
			return pg.real(fmt.Sprint("thing", i))
		case i >= 0 && beside == kind:
			return seldomBeside(pg, kind, i, root+file(i), has[i])
		}
		return nil
	})
	p.need = 1 - 0.01*float64(len(at))/float64(len(real)) // 99 % of what is beside things
	return p
}

// seldomBeside is what stands beside a thing, which names a file if it has something.
func seldomBeside(pg *page, kind string, i int, file string, has bool) *answer {
	id := fmt.Sprint(kind, i)
	pg.title = kind
	switch {
	case kind == "attachments" && has:
		pg.text("Attachment")
		pg.link(file, "download", id)
		return pg.trap(kind, id)
	case kind == "attachments":
		pg.text("No attachment")
	case kind == "stock" || kind == "shelf":
		if has {
			pg.text("In stock: %d", 1+draw(id, 9000))
			return pg.real(id)
		}
		pg.text("In stock: 0")
	case has:
		return &answer{status: 302, location: file, trap: kind, says: id, targets: []string{id}}
	default:
		return &answer{status: 302, location: file[:strings.LastIndexByte(file, '/')] + "/login", trap: kind, says: "log in"}
	}
	return pg.trap(kind, "nothing")
}

// seldoms returns webs whose things have something beside them now and then.
func seldoms() (ws []*web) {
	for _, kind := range []string{"downloads", "fulltext", "attachments", "stock", "shelf"} {
		for _, thousandth := range []int{30, 50, 200, 500} {
			p := seldom(kind, 2500, thousandth)
			ws = append(ws, single(p.name, p, library(200)))
		}
	}
	return ws
}

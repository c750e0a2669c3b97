package main

import (
	"fmt"
	"net/url"
)

// Pages that differ in a picture alone, shown in each of the ways that there are; and traps of pictures that are drawn anew for each reader.

// ways are how pages show pictures: %s is the address.
var ways = map[string]string{
	"srcset":     `<img srcset="%s 1x, %[1]s?large 2x" src="/blank.gif">`,
	"lazy":       `<img class="lazy" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" data-src="%s">`,
	"background": `<div class="photo" style="background-image: url('%s')"></div>`,
	"poster":     `<video controls poster="%s"></video>`,
	"source":     `<video controls><source src="%s" type="video/mp4"></video>`,
	"plain":      `<img src="%s">`,
}

// show is a chain of pages with a picture each, whose address name gives.
func show(name, way string, n int, at func(i int) string) *part {
	root := "/" + name + "/"
	return made(root, []link{{root + "1", name, name + "1"}}, from1(name, n), nil, func(s *site, rest string, _ url.Values) *answer {
		i := number(rest)
		if i < 1 || i > n {
			return nil
		}
		pg := s.page("Pictures")
		fmt.Fprintf(&pg.b, ways[way], at(i))
		if i < n {
			pg.link(fmt.Sprint(root, i+1), "Next", fmt.Sprint(name, i+1))
		}
		return pg.real(fmt.Sprint(name, i))
	})
}

// strips has a strip for each day, under its date, in a file that has a name of its own or not.
func strips(n int) *part {
	day := func(i int) string { return fmt.Sprintf("%d/%02d/%02d", 2024+i/336, i/28%12+1, i%28+1) }
	return made("/strip/", []link{{"/strip/" + day(0), "Strips", "strip0"}}, ids("strip", n), nil, func(s *site, rest string, _ url.Values) *answer {
		for i := range n {
			if rest != day(i) {
				continue
			}
			pg := s.page("Strip")
			fmt.Fprintf(&pg.b, `<img src="/files/%08x/strip.png">`, rng(rest).Uint32())
			for _, k := range []int{i - 1, i + 1} {
				if k >= 0 && k < n {
					pg.link("/strip/"+day(k), "→", fmt.Sprint("strip", k))
				}
			}
			return pg.real(fmt.Sprint("strip", i))
		}
		return nil
	})
}

// drawn is a trap whose pages differ in a picture that is drawn anew for each reader, of an address that at makes.
func drawn(name string, at func(x uint32) string) *part {
	asked := 0
	root := "/" + name + "/"
	traps := []trap{{name: "pages", endless: true, mark: root}}
	return made(root, []link{{root + "1", name, ""}}, nil, traps, func(s *site, rest string, _ url.Values) *answer {
		asked++
		i := number(rest)
		if i < 1 {
			return nil
		}
		pg := s.page("A page")
		pg.text("Please say which letters you see.")
		fmt.Fprintf(&pg.b, `<img src="%s">`, at(rng(fmt.Sprint(name, asked)).Uint32()))
		pg.link(fmt.Sprint(root, i+1), "On", "")
		return pg.trap("pages", "")
	})
}

// pictured returns these webs.
func pictured() (ws []*web) {
	hash := func(i int) string { return fmt.Sprintf("%08x", rng(fmt.Sprint("file", i)).Uint32()) }
	file := func(i int) string { return "/files/" + hash(i) + ".jpg" }
	for _, p := range []*part{
		show("by-srcset", "srcset", 900, file), show("by-lazy", "lazy", 900, file), show("by-background", "background", 900, file),
		show("by-poster", "poster", 900, file), show("by-source", "source", 900, func(i int) string { return "/files/" + hash(i) + ".mp4" }),
		show("by-query", "plain", 900, func(i int) string { return fmt.Sprint("/show.php?size=l&id=", 7000+i*3) }),
		show("by-hash", "plain", 900, func(i int) string { return "/media/" + hash(i) + "/large/image.jpg" }),
		strips(900),
		drawn("captcha", func(x uint32) string { return fmt.Sprintf("/captcha.php?key=%08x", x) }),
		drawn("lots", func(x uint32) string { return fmt.Sprintf("/files/%08x.png", x) }),
		drawn("busted", func(x uint32) string { return fmt.Sprint("/logo.png?", 1_700_000_000+x/100) }),
	} {
		p.drawn = len(p.traps) > 0
		ws = append(ws, single(p.name, p, library(200)))
	}
	return ws
}

package main

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// manualDirs are the directories of a language, and how many pages each has.
var manualDirs = []struct {
	name  string
	pages int
}{{"", 26}, {"mod/", 134}, {"programs/", 18}, {"howto/", 13}, {"rewrite/", 12}, {"vhosts/", 12}, {"developer/", 11}, {"misc/", 8}, {"platform/", 7}, {"ssl/", 6}, {"faq/", 2}}

// manualFiles are the pages of a language, all of them and those of each directory.
func manualFiles() (files []string, within map[string][]string) {
	within = map[string][]string{}
	for _, d := range manualDirs {
		for i := range d.pages {
			f := fmt.Sprint(d.name, strings.ReplaceAll(name(fmt.Sprint("manual", d.name, i)), " ", "_"))
			if i%32 == 9 {
				f += "2"
			}
			within[d.name] = append(within[d.name], f+".html")
		}
		files = append(files, within[d.name]...)
	}
	return files, within
}

// manual is a site whose pages stand in 11 languages, as Debian has Apache's. Each is a page of its own, and where it was not translated its bytes
// are those of the English one: most answers bring nothing new, and all are wanted, since what a language has is not known before.
func manual() *web {
	langs := strings.Fields("da de en es fr ja ko pt-br ru tr zh-cn")
	percent := map[string]int{"en": 100, "fr": 97, "ja": 41, "ko": 36, "tr": 17, "de": 7, "es": 4, "zh-cn": 2} // of the chapters
	files, within := manualFiles()
	has := func(lang, file string) bool { return draw("manual"+lang+file, 100) < percent[lang] }
	real := []string{"manual"}
	for _, l := range langs {
		for _, d := range manualDirs {
			real = append(real, "manual/"+l+"/"+d.name)
		}
		for _, f := range files {
			real = append(real, "manual/"+l+"/"+f)
		}
	}
	p := made("/", nil, real, nil, func(s *site, rest string, q url.Values) *answer {
		pg := s.page("Manual")
		pg.bare = true
		lang, of, _ := strings.Cut(rest, "/")
		switch {
		case rest == "":
			for _, l := range langs {
				pg.link(l+"/", l, "")
			}
			return pg.real("manual")
		case !slices.Contains(langs, lang):
			return nil
		}
		text, up := "en", strings.Repeat("../", strings.Count(of, "/"))
		if of == "" || has(lang, of) {
			text = lang
		}
		pg.title = name("manual" + text + of)
		for _, to := range []string{"", "mod/", files[0], "faq/", files[1]} { // as on each page
			pg.link(up+to, name("manual"+text+to), "")
		}
		list, listed := within[of]
		switch {
		case listed:
			pg.para("manual"+text+of, 40)
		case of == files[1]: // a map of it all
			list = files
		case !slices.Contains(files, of):
			return nil
		default:
			pg.para("manual"+text+of, 60+draw("manual"+of, 100))
			for k := range 6 {
				list = append(list, files[draw(fmt.Sprint(of, k), len(files))])
			}
		}
		if of == "" {
			for _, d := range manualDirs[1:] {
				pg.link(d.name, name("manual"+text+d.name), "")
			}
		}
		for _, f := range list {
			pg.link(up+f, name("manual"+text+f), "")
		}
		for _, l := range langs {
			if has(l, of) {
				pg.link(up+"../"+l+"/"+of, l, "")
			}
		}
		a := pg.real("manual/" + lang + "/" + of)
		a.says = "manual" + text + of
		return a
	})
	p.name = "manual"
	return &web{name: p.name, sites: map[string]*site{p.name: {seed: p.name, parts: []*part{p}, bare: true}}}
}

// edition has a manual of n chapters that a list names, and beside it the edition for readers of another language, whose chapters name each other
// alone and were not translated: their bytes are the same.
func edition(n int) *part {
	real := append(ids("edition/en", n), ids("edition/da", n)...)
	entry := []link{{"/edition/en/", "Manual", "edition/en"}}
	return made("/edition/", entry, append(real, "edition/en"), nil, func(s *site, rest string, q url.Values) *answer {
		lang, of, _ := strings.Cut(rest, "/")
		var i int
		pg := s.page("Manual")
		switch {
		case lang != "en" && lang != "da":
			return nil
		case of == "" && lang == "en":
			for i := range n {
				pg.link(fmt.Sprint("chapter-", i, ".html"), name(fmt.Sprint("edition", i)), fmt.Sprint("edition/en", i))
			}
			return pg.real("edition/en")
		case !is(of, "chapter-%d.html", &i) || i >= n:
			return nil
		}
		pg.title = name(fmt.Sprint("edition", i))
		pg.para(fmt.Sprint("edition", i), 60+draw(fmt.Sprint("edition", i), 100))
		if i+1 < n {
			pg.link(fmt.Sprint("chapter-", i+1, ".html"), "Next", fmt.Sprintf("edition/%s%d", lang, i+1))
		} else {
			pg.link("../da/chapter-0.html", "Dansk", "edition/da0")
		}
		a := pg.real(fmt.Sprint("edition/", lang, i))
		a.says = fmt.Sprint("edition", i)
		return a
	})
}

package main

import (
	"fmt"
	"slices"
)

// webs returns all webs, the cheap ones first. Every trap stands beside an honest library on the same site.
func webs() []*web {
	beside := func(p *part) *web { return single(p.name, p, library(200)) }
	ws := []*web{
		single("paths", paths()),
		single("chain", chain(500)),
		single("gallery", gallery(600)),
		single("listing-words", listing("words", 600)),
		single("listing-number", listing("number", 600)),
		single("listing-nav", listing("nav", 600)),
		beside(calendar("path")),
		beside(calendar("query")),
		beside(calendar("months")),
		beside(growing(60)),
		beside(slashes(300)),
		beside(softErrors(200)),
		beside(endlessPages(40)),
		beside(sorted(250)),
		beside(variants(1000)),
		beside(mirror(800)),
		beside(facets(500)),
		beside(newForum(300)),
	}
	for _, kind := range []string{"semicolon", "segment", "zx", "_tk"} {
		for _, n := range []int{100, 500, 2000} {
			ws = append(ws, beside(sessions(kind, n, false)))
		}
	}
	for _, kind := range []string{"semicolon", "segment", "zx"} {
		ws = append(ws, beside(sessions(kind, 500, true)))
	}
	for _, kind := range []string{"name", "tilde", "amp", "caret", "bar", "moment"} {
		ws = append(ws, beside(sessions(kind, 400, false)))
	}
	ws = append(ws, beside(sections(60, 30)), beside(redirects()), beside(tags(300)))
	for _, kind := range []string{"clock", "quote"} {
		for _, p := range []*part{calendar("query"), endlessPages(40), sessions("segment", 500, false), sessions("zx", 500, false), growing(60)} {
			ws = append(ws, beside(noisy(kind, p)))
		}
	}
	ws = slices.Concat(ws, others(), unseen(), quiet(), turns(), headers(), withFigures(), fresh(), later(), shown(), pictured(), named(), sparse(), buttons(), withNumbers(), seldoms(), known(), facts(), chains(), registers(), inScripts(), aliases(), crossed(), bareOnes())
	ws = append(ws, manual(), single("edition", edition(700), library(200)))
	return append(ws, maze(), mixed())
}

// maze is a labyrinth of made-up text on a site of its own beside an honest one, with --site-pages.
func maze() *web {
	const most = 1500
	return &web{name: "labyrinth", args: []string{"--site-pages", fmt.Sprint(most)}, sites: map[string]*site{
		"maze":   newSite("maze", labyrinth()),
		"honest": newSite("honest", library(600)),
	}}
}

// mixed is one site with every trap beside 3,000 real pages.
func mixed() *web {
	return single("mixed", library(3000), listing("nav", 60), listing("number", 60), chain(300), gallery(200),
		calendar("path"), calendar("query"), calendar("months"), growing(60), softErrors(100), endlessPages(40), sorted(200),
		variants(700), mirror(300), facets(200), newForum(100), sessions("semicolon", 200, false), sessions("segment", 200, false),
		sessions("zx", 200, false), sessions("_tk", 200, true), paths())
}

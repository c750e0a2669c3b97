package topic

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
)

// BenchmarkCost compares what a page costs that is parsed, as every page is, with what its topic adds: the score of the page, and those of
// the links that no page before it has named; and again, by what was read of them before. Pages are those of the directory that ARGOSY_CORPUS names, the first 500 of them; else one that is made up.
func BenchmarkCost(b *testing.B) {
	pages := costPages(b)
	size := 0
	for _, p := range pages {
		size += len(p)
	}
	base, err := crawl.Parse("http://docs.test/library/index.html")
	if err != nil {
		b.Fatal(err)
	}
	judge := words(b, "asynchronous iterators", "en")
	model := NewLinks(judge)
	model.Learn(&Evidence{URL: base.String(), Anchor: "asynchronous iterators", Page: 0.3}, 1)
	each := func(name string, fn func(page []byte)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			begin := cpuTime(b)
			for b.Loop() {
				for _, p := range pages {
					fn(p)
				}
			}
			b.ReportMetric(float64((cpuTime(b)-begin).Microseconds())/float64(b.N*len(pages)), "cpu-µs/page")
		})
	}
	var doc parse.Page
	each("parse", func(p []byte) {
		_, charset := parse.ReadEncoded(parse.HTML, p, "text/html; charset=utf-8", parse.Options{}, &doc)
		for i := range doc.Links {
			if u, err := base.Resolve(parse.DecodeRef(doc.Links[i].Ref, charset)); err == nil {
				u.Key()
			}
		}
	})
	each("page", func(p []byte) { judge.Page(p) })
	var links [][]Evidence // of each page: those that no page before has named
	named := map[string]bool{}
	for _, p := range pages {
		parse.ReadEncoded(parse.HTML, p, "text/html; charset=utf-8", parse.Options{}, &doc)
		var of []Evidence
		for _, l := range doc.Links {
			if u, err := base.Resolve(string(l.Ref)); err == nil && !named[u.String()] {
				named[u.String()] = true
				of = append(of, Evidence{URL: u.String(), Anchor: doc.AnchorText(l, "utf-8"), Around: doc.AroundText(l, "utf-8"), Page: 0.3, Off: 1})
			}
		}
		links = append(links, of)
	}
	at := 0
	each("links", func([]byte) {
		for i := range links[at] {
			model.Score(&links[at][i], true)
		}
		at = (at + 1) % len(links)
	})
	var signs [][]Signs
	for _, of := range links {
		var read []Signs
		for i := range of {
			read = append(read, model.Read(&of[i], true))
		}
		signs = append(signs, read)
	}
	each("again", func([]byte) {
		for i := range links[at] {
			model.ScoreBy(&signs[at][i], &links[at][i], true)
		}
		at = (at + 1) % len(links)
	})
}

// cpuTime is what this process has used: wall time tells more of what else the machine does.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func costPages(b *testing.B) (pages [][]byte) {
	b.Helper()
	dir := os.Getenv("ARGOSY_CORPUS")
	if dir == "" {
		rng := rand.New(rand.NewPCG(1, 1))
		return [][]byte{[]byte(strings.Repeat("<div class=section id=x><p>"+filler(rng, 30)+"asynchronous iterators <a href=/x/y.html>an anchor</a></p></div>\n", 100))}
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".html") || len(pages) == 500 {
			return err
		}
		p, err := os.ReadFile(path)
		pages = append(pages, p)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return pages
}

package main

import (
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/page/topic"
)

// collection is a documentation with its index.
type collection struct {
	name, dir, exclude string
	index              string
	entry              *regexp.Regexp // of the index: href, and the words of the entry
	topics             []string
}

var collections = []collection{
	{
		name: "python", dir: "/usr/share/doc/python3.11/html", exclude: `genindex|_sources|_downloads|searchindex`, index: "genindex-all.html",
		entry: regexp.MustCompile(`<a href="([^"]*)">([^<]*(?:<[^a/][^>]*>[^<]*</[^>]*>)*[^<]*)</a>`),
		topics: []string{
			"command line", "encoding", "exception", "email", "socket", "tuple", "hash", "import", "asynchronous iterator", "context manager",
		},
	},
	{
		name: "postgresql", dir: "/usr/share/doc/postgresql-doc-15/html", exclude: `bookindex`, index: "bookindex.html",
		entry: regexp.MustCompile(`<a class="indexterm" href="([^"]*)">([^<]*)</a>`),
		topics: []string{
			"trigger", "text search", "cursor", "role", "replication", "transaction", "recovery", "array", "extension", "aggregate", "event trigger", "row security",
		},
	},
}

// docsFamily are documentations; a seed is the page that crawls begin at: the front page, then any.
func docsFamily() (family, error) {
	pages := make([][]string, len(collections))
	for i := range collections {
		var err error
		if pages[i], err = collections[i].pages(); err != nil {
			return family{}, err
		}
	}
	return family{"documentation", func(seed uint64) (out []*trial, err error) {
		for i := range collections {
			c := &collections[i]
			start := "index.html"
			if seed > 1 {
				start = pages[i][rand.New(rand.NewPCG(seed, 0)).IntN(len(pages[i]))]
			}
			for _, about := range c.topics {
				t, err := c.trial(about, start)
				if err != nil {
					return nil, err
				}
				t.budget = int64(len(pages[i]) / 4)
				out = append(out, t)
			}
		}
		return out, nil
	}}, nil
}

// trial is a topic of a documentation, crawled from a page.
func (c *collection) trial(about, start string) (*trial, error) {
	relevant, err := c.relevant(about)
	if err != nil {
		return nil, err
	}
	of, err := topic.Words(about, "en")
	return &trial{
		name: c.name + ": " + about, about: of, not: []string{c.exclude}, serve: c.serve, scope: crawl.ScopeSite,
		seeds: func(port string) []string { return []string{"http://docs.test:" + port + "/" + start} },
		on: func(port string) map[string]bool {
			out := map[string]bool{}
			for page := range relevant {
				out["http://docs.test:"+port+"/"+page] = true
			}
			return out
		},
	}, err
}

// serve serves the files of a collection.
func (c *collection) serve() (port string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	srv := &http.Server{Handler: http.FileServer(http.Dir(c.dir))}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l) // until it is closed
	}()
	_, port, err = net.SplitHostPort(l.Addr().String())
	return port, func() { _ = srv.Close(); <-done }, err
}

// pages are the files of a collection that can be reached, as far as they are HTML and not excluded.
func (c *collection) pages() (out []string, err error) {
	not := regexp.MustCompile(c.exclude)
	root, err := filepath.EvalSymlinks(c.dir)
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(root, path); err == nil && strings.HasSuffix(path, ".html") && !not.MatchString(rel) {
			out = append(out, rel)
		}
		return err
	})
	return out, err
}

var tags = regexp.MustCompile(`<[^>]*>`)

// relevant are the pages that the index names in entries which have all words of the topic.
func (c *collection) relevant(about string) (map[string]bool, error) {
	b, err := os.ReadFile(filepath.Join(c.dir, c.index))
	if err != nil {
		return nil, err
	}
	of, err := topic.Words(about, "en")
	if err != nil {
		return nil, err
	}
	judge := topic.NewJudge(of)
	out := map[string]bool{}
	text := string(b)
	if c.name == "postgresql" { // an entry's words stand before its links, those of a group above it
		for _, dt := range strings.Split(text, "<dt")[1:] {
			head, _, _ := strings.Cut(dt, "<a ")
			_, head, _ = strings.Cut(head, ">")
			for _, m := range c.entry.FindAllStringSubmatch(dt, -1) {
				if whole(judge, tags.ReplaceAllString(head, " ")) || whole(judge, m[2]) {
					page, _, _ := strings.Cut(m[1], "#")
					out[page] = true
				}
			}
		}
		return out, nil
	}
	for _, m := range c.entry.FindAllStringSubmatch(text, -1) {
		if whole(judge, tags.ReplaceAllString(m[2], " ")) {
			page, _, _ := strings.Cut(m[1], "#")
			out[page] = true
		}
	}
	return out, nil
}

// whole reports whether an entry has every word of a topic.
func whole(j *topic.Judge, entry string) bool {
	v := j.Explain([]byte(entry), false)
	has := map[string]bool{}
	for _, p := range v.Parts {
		has[p.Term] = true
	}
	for _, t := range j.Topic.Terms {
		if t.Next == "" && !has[t.Word] {
			return false
		}
	}
	return true
}

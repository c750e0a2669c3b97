// Command topics runs topical crawls of real documentation over HTTP and judges them by the documentation's own index of terms, which
// the crawls do not see: how many of the pages that the index names for a topic are had within a quarter of the reachable pages.
//
//	go run ./bench/topics -argosy ./argosy [-runs 2]
//
// It needs Debian's python3-doc and postgresql-doc-15.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"argosy/internal/page/topic"
)

// collection is a documentation with its index.
type collection struct {
	name, dir, start, exclude string
	index                     string
	entry                     *regexp.Regexp // of the index: href, and the words of the entry
	topics                    []string
}

var collections = []collection{
	{
		name: "python", dir: "/usr/share/doc/python3.11/html", start: "index.html", exclude: `genindex|_sources|_downloads|searchindex`, index: "genindex-all.html",
		entry: regexp.MustCompile(`<a href="([^"]*)">([^<]*(?:<[^a/][^>]*>[^<]*</[^>]*>)*[^<]*)</a>`),
		topics: []string{
			"command line", "encoding", "exception", "email", "socket", "tuple", "hash", "import", "asynchronous iterator", "context manager",
		},
	},
	{
		name: "postgresql", dir: "/usr/share/doc/postgresql-doc-15/html", start: "index.html", exclude: `bookindex`, index: "bookindex.html",
		entry: regexp.MustCompile(`<a class="indexterm" href="([^"]*)">([^<]*)</a>`),
		topics: []string{
			"trigger", "text search", "cursor", "role", "replication", "transaction", "recovery", "array", "extension", "aggregate", "event trigger", "row security",
		},
	},
}

// methods are what is compared, by the flags that make them.
var methods = []struct {
	name  string
	flags []string
}{
	{"breadth first", []string{"--order", "breadth"}},
	{"depth first", []string{"--order", "depth"}},
	{"rules", []string{"--by-rule"}},
	{"learned", nil},
}

func main() {
	log.SetFlags(0)
	argosy := flag.String("argosy", "./argosy", "the program")
	runs := flag.Int("runs", 2, "crawls of each topic, from different pages; the first begins at the front page")
	flag.Parse()
	if err := run(*argosy, *runs); err != nil {
		log.Fatal(err)
	}
}

func run(argosy string, runs int) error {
	tmp, err := os.MkdirTemp("", "argosy-topics")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	total := 0
	sums := make([][]float64, len(methods)) // by method: pages found in each pair of crawls
	fmt.Printf("%-32s %8s %6s", "topic", "relevant", "budget")
	for _, m := range methods {
		fmt.Printf(" %13s", m.name)
	}
	fmt.Println()
	for i := range collections {
		c := &collections[i]
		pages, err := c.pages()
		if err != nil {
			return err
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		srv := &http.Server{Handler: http.FileServer(http.Dir(c.dir))}
		go func() { _ = srv.Serve(l) }()
		for _, about := range c.topics {
			relevant, err := c.relevant(about)
			if err != nil {
				return err
			}
			total += len(relevant)
			budget := len(pages) / 4
			fmt.Printf("%-32s %8d %6d", c.name+": "+about, len(relevant), budget)
			for m := range methods {
				found := 0.0
				for r := range runs {
					start := c.start
					if r > 0 {
						start = pages[rand.New(rand.NewPCG(uint64(r), 0)).IntN(len(pages))]
					}
					args := append([]string{
						"crawl", fmt.Sprintf("http://%s/%s", l.Addr(), start), "--scope", "host", "--exclude", c.exclude, "--allow-private", "--delay", "0", "--site-connections", "2",
						"--topic", about, "--tunnel", "-1", "--max-pages", fmt.Sprint(budget), "--quiet", "-o", filepath.Join(tmp, fmt.Sprintf("%d-%d-%d-%s", i, m, r, strings.ReplaceAll(about, " ", "-"))),
					}, methods[m].flags...)
					n, err := crawl(argosy, args, relevant)
					if err != nil {
						return err
					}
					found += float64(n) / float64(runs)
					sums[m] = append(sums[m], float64(n))
				}
				fmt.Printf(" %13.1f", found)
			}
			fmt.Println()
		}
		_ = srv.Close()
	}
	fmt.Printf("%-32s %8d %6s", "all", total, "")
	for m := range methods {
		s := 0.0
		for _, n := range sums[m] {
			s += n / float64(runs)
		}
		fmt.Printf(" %13.1f", s)
	}
	fmt.Println()
	for m := range methods[:len(methods)-1] {
		mid, low, high := interval(sums[len(methods)-1], sums[m])
		fmt.Printf("learned / %s: %.2f, 95 %% interval %.2f to %.2f (bootstrap over %d crawls)\n", methods[m].name, mid, low, high, len(sums[m]))
	}
	return nil
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

// crawl runs a crawl and returns how many of the relevant pages it had.
func crawl(argosy string, args []string, relevant map[string]bool) (int, error) {
	if out, err := exec.Command(argosy, args...).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("argosy %v: %w\n%s", args, err, out)
	}
	dir := args[len(args)-1]
	for i, a := range args {
		if a == "-o" {
			dir = args[i+1]
		}
	}
	out, err := exec.Command(argosy, "export", dir, "--state", "fetched").Output()
	if err != nil {
		return 0, err
	}
	n := 0
	for line := range strings.Lines(string(out)) {
		var p struct {
			URL    string
			Status int
		}
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			return 0, err
		}
		_, path, _ := strings.Cut(strings.TrimPrefix(p.URL, "http://"), "/")
		if p.Status == 200 && relevant[path] {
			n++
		}
	}
	return n, os.RemoveAll(dir)
}

// interval is the ratio of two sums over paired crawls, with a 95 % interval by the bootstrap.
func interval(a, b []float64) (mid, low, high float64) {
	rng := rand.New(rand.NewPCG(1, 1))
	ratio := func(pick func(int) int) float64 {
		x, y := 0.0, 0.0
		for i := range a {
			x += a[pick(i)]
			y += b[pick(i)]
		}
		return x / math.Max(1, y)
	}
	mid = ratio(func(i int) int { return i })
	const draws = 4000
	all := make([]float64, draws)
	for d := range all {
		picks := make([]int, len(a))
		for i := range picks {
			picks[i] = rng.IntN(len(a))
		}
		all[d] = ratio(func(i int) int { return picks[i] })
	}
	slices.Sort(all)
	return mid, all[draws/40], all[draws-draws/40-1]
}

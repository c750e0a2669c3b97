// Judge prints how well topics that are made of example pages tell the pages of a documentation that are on them, beside topics of key words: a
// topic is a section of a documentation, by the names of its files. Precision and recall are at the threshold; best is the F1 that some other
// threshold would have reached.
//
//	go run ./bench/judge [-set test] [-beside 24] [-draws 3] [-v]
//
// Parameters were chosen on the set "tune"; the set "test" is of other sections and other documentations. It reads Debian's packages python3-doc,
// postgresql-doc-15, python-django-doc, apache2-doc and sqlite3-doc where they are installed, and asks for nothing over the network: pages beside
// the examples are chosen as argosy crawl --topic-like chooses them.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/page/topic"
)

// section is what a topic is about: files whose names match, and key words for it.
type section struct{ name, match, words string }

type collection struct {
	name, dir, exclude string
	sections           []section
}

// sets are collections by what they are for.
var sets = map[string][]collection{
	"tune": {
		{"python", "/usr/share/doc/python3.11/html", `genindex|_sources|_downloads|searchindex`, []section{
			{"asyncio", `library/asyncio`, "asyncio"}, {"email", `library/email`, "email message"}, {"xml", `library/xml|library/pyexpat`, "xml"}, {"tkinter", `library/tkinter|library/tk\.`, "tkinter"},
			{"urllib/http", `library/(urllib|http)`, "http url"}, {"importlib", `library/(importlib|imp\.|modulefinder|runpy|zipimport|pkgutil)`, "import module"}, {"distutils", `distutils/`, "distutils"}, {"extending", `extending/`, "extending embedding"},
			{"concurrency", `library/(threading|multiprocessing|concurrent|subprocess|sched|queue|_thread)`, "thread process"},
		}},
		{"postgresql A", "/usr/share/doc/postgresql-doc-15/html", `bookindex`, []section{
			{"ecpg", `^ecpg`, "ecpg embedded sql"}, {"plpgsql", `^plpgsql`, "plpgsql"}, {"textsearch", `^textsearch|^datatype-textsearch|^functions-textsearch`, "text search"}, {"auth", `^auth-|^client-authentication`, "authentication"},
			{"gin", `^gin`, "gin index"}, {"logical", `^logical-repl`, "logical replication"}, {"backup", `^backup|^continuous-arch|^app-pg-?dump|^app-pgrestore`, "backup"},
		}},
	},
	"test": {
		{"postgresql B", "/usr/share/doc/postgresql-doc-15/html", `bookindex`, []section{
			{"spi", `^spi`, "spi server programming interface"}, {"libpq", `^libpq`, "libpq"}, {"plpython", `^plpython`, "plpython"}, {"pltcl", `^pltcl`, "pltcl tcl"}, {"logicaldecoding", `^logicaldecoding`, "logical decoding"},
			{"wal", `^wal|^runtime-config-wal|^pgwal|^app-pgwal`, "write ahead log wal"}, {"rules", `^rules`, "rules query rewrite"}, {"indexes", `^indexes`, "indexes"}, {"datetime", `^datetime|^datatype-datetime|^functions-datetime`, "date time"}, {"brin/spgist", `^brin|^spgist`, "index operator class"},
		}},
		{"django", "/usr/share/doc/python-django-doc/html", `genindex|_sources|_modules|releases`, []section{
			{"gis", `ref/contrib/gis`, "geographic gis"}, {"auth", `auth`, "authentication users"}, {"models", `models`, "models"}, {"forms", `forms`, "forms"}, {"templates", `templates?[/.]`, "templates"}, {"i18n", `i18n`, "translation internationalization"},
			{"testing", `testing`, "testing"}, {"tutorial", `intro/`, "tutorial polls"}, {"class-based views", `class-based-views`, "class based views"},
		}},
		{"apache", "/usr/share/doc/apache2-doc/manual/en", `index-|sitemap`, []section{
			{"proxy", `proxy`, "proxy"}, {"ssl", `ssl`, "ssl"}, {"auth", `auth`, "authentication"}, {"rewrite", `rewrite`, "rewrite"}, {"vhosts", `vhosts/`, "virtual hosts"}, {"cache", `cach|socache`, "cache"}, {"lbmethod", `lbmethod|balancer`, "load balancing"}, {"developer", `developer/`, "developer module"},
		}},
		{"sqlite", "/usr/share/doc/sqlite3", `keyword_index|toc|capi3ref`, []section{
			{"fts", `fts\d`, "full text search"}, {"c3ref blob", `blob`, "blob"}, {"wal", `wal`, "wal"}, {"prepared", `c3ref/(bind|column|prepare|step|stmt|clear_bindings|finalize|reset)`, "prepared statement"}, {"lang expr", `^lang_`, "sql language"}, {"session", `session/`, "session changeset"},
		}},
	},
}

type page struct {
	name  string
	body  []byte
	doc   *topic.Doc
	links []string
}

var href = regexp.MustCompile(`href="([^"#?]+\.html)`)

// read reads the pages of a collection, and what each leads to.
func read(c *collection) (map[string]*page, error) {
	root, err := filepath.EvalSymlinks(c.dir)
	if err != nil {
		return nil, err
	}
	not, pages := regexp.MustCompile(c.exclude), map[string]*page{}
	err = filepath.WalkDir(root, func(p string, _ fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, p)
		if err != nil || !strings.HasSuffix(p, ".html") || not.MatchString(rel) {
			return err
		}
		b, err := os.ReadFile(p)
		if err == nil && len(b) < 1<<20 {
			pages[rel] = &page{name: rel, body: b, doc: topic.NewDoc(b, true, "en")}
		}
		return err
	})
	for _, p := range pages {
		for _, m := range href.FindAllSubmatch(p.body, -1) {
			if to := path.Join(path.Dir(p.name), string(m[1])); pages[to] != nil && to != p.name {
				p.links = append(p.links, to)
			}
		}
	}
	return pages, err
}

// beside draws pages beside examples.
func beside(pages map[string]*page, examples []*page, n int) (out []*topic.Doc) {
	w := topic.NewWalk()
	for _, e := range examples {
		w.Example(e.name, e.links)
	}
	w.Named([]string{"index.html"}, func(string) bool { return false })
	for len(out) < n {
		at, ok := w.Next()
		if !ok {
			break
		}
		p := pages[at]
		if p == nil {
			continue
		}
		if len(p.doc.Terms) >= topic.LeastTerms {
			out = append(out, p.doc)
		}
		w.Named(p.links, func(string) bool { return false })
	}
	return out
}

// result is how a topic did: precision, recall and F1 at the threshold, F1 at the best one.
type result struct{ precision, recall, f1, best float64 }

// judge tells pages by a topic, but for the examples.
func judge(t *crawl.Topic, pages map[string]*page, on *regexp.Regexp, examples []*page) (out result) {
	type scored struct {
		score float64
		on    bool
	}
	var list []scored
	j, total := topic.NewJudge(t), 0.0
	for _, p := range pages {
		if slices.Contains(examples, p) {
			continue
		}
		list = append(list, scored{j.Page(p.body), on.MatchString(p.name)})
		if on.MatchString(p.name) {
			total++
		}
	}
	slices.SortFunc(list, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	right := 0.0
	for i, x := range list {
		if x.on {
			right++
		}
		if i+1 < len(list) && list[i+1].score == x.score {
			continue
		}
		f1 := 2 * right / (float64(i+1) + total)
		out.best = max(out.best, f1)
		if x.score >= t.Threshold {
			out.precision, out.recall, out.f1 = right/float64(i+1), right/total, f1
		}
	}
	return out
}

// bench adds up results by the way in which topics were made.
type bench struct {
	beside, draws int
	verbose       bool
	ways          []string
	of            map[string][]result
}

func (b *bench) add(way string, r result) {
	if b.of[way] == nil {
		b.ways = append(b.ways, way)
	}
	b.of[way] = append(b.of[way], r)
	if b.verbose {
		fmt.Printf("  %-28s precision %.2f, recall %.2f, F1 %.2f (best %.2f)\n", way, r.precision, r.recall, r.f1, r.best)
	}
}

// section tries one topic.
func (b *bench) section(pages map[string]*page, s *section, seed uint64) error {
	on := regexp.MustCompile(s.match)
	var named []string
	for name := range pages {
		if on.MatchString(name) {
			named = append(named, name)
		}
	}
	slices.Sort(named)
	about, err := topic.Words(s.words, "en")
	if err != nil {
		return err
	}
	b.add("key words", judge(about, pages, on, nil))
	for _, n := range []int{1, 2, 3, 5, 10} {
		for draw := range b.draws {
			if len(named) < n+3 {
				continue
			}
			var examples []*page
			var docs []*topic.Doc
			for _, i := range rand.New(rand.NewPCG(seed, uint64(100*n+draw))).Perm(len(named))[:n] {
				examples, docs = append(examples, pages[named[i]]), append(docs, pages[named[i]].doc)
			}
			for way, off := range map[string][]*topic.Doc{"alone": nil, fmt.Sprintf("beside %d others", b.beside): beside(pages, examples, b.beside)} {
				about, err := topic.Examples("examples", docs, off)
				if err != nil {
					fmt.Printf("  %s: %v\n", s.name, err) // too short a page
					continue
				}
				b.add(fmt.Sprintf("%2d examples, %s", n, way), judge(about, pages, on, examples))
			}
		}
	}
	return nil
}

func (b *bench) run(set string) error {
	if sets[set] == nil {
		return fmt.Errorf("-set %s: allowed are tune and test", set)
	}
	for i := range sets[set] {
		c := &sets[set][i]
		pages, err := read(c)
		if err != nil {
			return err
		}
		for k := range c.sections {
			if b.verbose {
				fmt.Printf("%s: %s\n", c.name, c.sections[k].name)
			}
			if err := b.section(pages, &c.sections[k], uint64(100*i+k)); err != nil {
				return err
			}
		}
	}
	slices.Sort(b.ways)
	for _, way := range b.ways {
		var sum result
		n := float64(len(b.of[way]))
		for _, r := range b.of[way] {
			sum.precision += r.precision / n
			sum.recall += r.recall / n
			sum.f1 += r.f1 / n
			sum.best += r.best / n
		}
		fmt.Printf("%-30s precision %.2f, recall %.2f, F1 %.2f (best %.2f), of %3.0f topics\n", way, sum.precision, sum.recall, sum.f1, sum.best, n)
	}
	return nil
}

func main() {
	log.SetFlags(0)
	b := bench{of: map[string][]result{}}
	set := flag.String("set", "test", "tune or test")
	flag.IntVar(&b.beside, "beside", topic.Beside, "so many pages beside the examples")
	flag.IntVar(&b.draws, "draws", 3, "so many draws of examples a section and number of them")
	flag.BoolVar(&b.verbose, "v", false, "print every topic")
	flag.Parse()
	if err := b.run(*set); err != nil {
		log.Fatal("judge: ", err)
	}
}

// Command engines holds the shipped catalogue of search engines against the programs that bench/engines.sh serves.
//
//	bench/engines.sh start DIR
//	go run ./bench/engines -dir DIR
//
// It walks each program's answers by the catalogue, page by page to the end, and compares the set of results with what the program
// should have: of the wiki the articles whose text holds all words, by the files it was filled from; of Omega what Xapian's own
// quest finds; searx shows what the wiki has, or Omega, or both, as it is asked. It ends with code 1 if a set differs, a number stated as exact is wrong, or a word that is in nothing
// is not answered by "empty".
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"argosy/internal/config"
	"argosy/internal/crawl"
	"argosy/internal/page/engine"
)

func main() {
	dir := flag.String("dir", "", "directory of bench/engines.sh")
	port := flag.Int("port", 8190, "of the wiki; Omega and searx have the next two")
	flag.Parse()
	broken, err := run(*dir, *port)
	if err != nil {
		fmt.Fprintln(os.Stderr, "engines:", err)
	}
	if err != nil || broken > 0 {
		os.Exit(1)
	}
}

// program is an engine of the catalogue on a server, what it is asked, and what it should find.
type program struct {
	engine, base string
	plain        string // what stands in front of the words; searx takes from there which of its engines are asked
	queries      []string
	truth        func(words []string) ([]string, error)
	name         func(address string) string // what a result is called in the truth
}

func run(dir string, port int) (broken int, err error) {
	cat, err := config.Catalogue()
	if err != nil {
		return 0, err
	}
	at := func(k int, path string) string { return fmt.Sprintf("http://127.0.0.1:%d%s", port+k, path) }
	licences := []string{"patent", "patent license", "warranty merchantability", "library", "software program free", "高钙牛奶", "zzzqqq"}
	documents := []string{"vacuum", "vacuum index", "autovacuum naptime", "replication slot", "trigger row statement", "zzzqqq"}
	wiki := func(words []string) ([]string, error) { return articles(filepath.Join(dir, "wiki", "text"), words) }
	quest := func(words []string) ([]string, error) {
		return indexed(filepath.Join(dir, "omega", "data", "default"), words)
	}
	same := func(address string) string { return address }
	either := func(words []string) ([]string, error) {
		one, err := wiki(words)
		two, err2 := quest(words)
		return append(one, two...), errors.Join(err, err2)
	}
	called := func(address string) string {
		if strings.Contains(address, "/postgresql/") {
			return address
		}
		return title(address)
	}
	fmt.Printf("%-14s %-26s %7s %7s %6s  %-16s %s\n", "engine", "words", "results", "should", "pages", "stated", "ended")
	for _, p := range []program{
		{"mediawiki", at(0, "/w"), "", licences, wiki, title}, {"mediawiki-api", at(0, "/w"), "", licences, wiki, title},
		{"omega", at(1, "/cgi-bin/omega"), "", documents, quest, same}, {"omega-xml", at(1, "/cgi-bin/omega"), "", documents, quest, same},
		{"searxng", at(2, ""), "", licences, wiki, title}, {"searxng-json", at(2, ""), "", licences, wiki, title},
		{"searxng", at(2, ""), "!o ", documents, quest, same}, {"searxng", at(2, ""), "!w !o ", []string{"library", "trigger row statement"}, either, called},
	} {
		with, err := cat.With([]engine.Engine{{Name: p.engine, Base: p.base, Plain: p.plain + "{words}"}})
		if err != nil {
			return broken, err
		}
		e, err := with.Get(p.engine)
		if err != nil {
			return broken, err
		}
		for _, q := range p.queries {
			bad, err := p.judge(e, strings.Fields(q))
			if err != nil {
				return broken, fmt.Errorf("%s %q: %w", p.engine, q, err)
			}
			broken += bad
		}
	}
	return broken, nil
}

// judge walks one search and compares.
func (p *program) judge(e *engine.Ready, words []string) (bad int, err error) {
	want, err := p.truth(words)
	if err != nil {
		return 0, err
	}
	w, err := engine.NewWalk(e, engine.Search{Words: words}, 500)
	if err != nil {
		return 0, err
	}
	for address, ok := w.Next(); ok; address, ok = w.Next() {
		a, err := get(address)
		if err != nil {
			return 0, err
		}
		w.Take(a)
	}
	var got []string
	for _, r := range w.Results {
		got = append(got, p.name(r.URL))
	}
	slices.Sort(got)
	slices.Sort(want)
	says := ""
	switch {
	case !slices.Equal(got, want):
		says = "  DIFFERS"
	case w.Stated.Kind == crawl.StatedExact && w.Stated.N != int64(len(want)):
		says = "  the exact number is WRONG"
	case w.Last != engine.Found && w.Last != engine.Empty:
		says = "  BROKEN"
	}
	if says != "" {
		bad = 1
	}
	fmt.Printf("%-14s %-26s %7d %7d %6d  %-16s %s%s\n", p.engine, p.plain+strings.Join(words, " "), len(got), len(want), w.Pages, w.Stated, w.Stop, says)
	return bad, nil
}

var client = http.Client{Timeout: time.Minute}

func get(address string) (a engine.Answer, err error) {
	resp, err := client.Get(address)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, engine.MaxAnswer+1))
	return engine.Answer{URL: resp.Request.URL.String(), Status: resp.StatusCode, Type: resp.Header.Get("Content-Type"), Body: body}, err
}

// title is the title of a wiki's page: in the path, or in a parameter.
func title(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	t := u.Query().Get("title")
	if t == "" {
		t = u.Path[strings.LastIndexByte(u.Path, '/')+1:]
	}
	return strings.ReplaceAll(t, "_", " ")
}

// articles lists the files that hold all words, as words of their own.
func articles(dir string, words []string) (out []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no texts in %s: %w", dir, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		all := true
		for _, w := range words {
			re := regexp.MustCompile(`(?i)(^|[^a-z0-9])` + regexp.QuoteMeta(w) + `($|[^a-z0-9])`)
			all = all && re.Match(b)
		}
		if all {
			out = append(out, strings.TrimSuffix(filepath.Base(f), ".txt"))
		}
	}
	return out, nil
}

// indexed lists the addresses that quest finds in a Xapian database.
func indexed(db string, words []string) (out []string, err error) {
	b, err := exec.Command("quest", "-d", db, "-m", "100000", "--default-op=and", strings.Join(words, " ")).Output()
	for _, line := range strings.Split(string(b), "\n") {
		if u, ok := strings.CutPrefix(line, "url="); ok {
			out = append(out, u)
		}
	}
	return out, err
}

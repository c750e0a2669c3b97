package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"argosy/internal/fleet/survey"
)

// library is a site of which one shelf is about iterators; the shelf beside it is not.
func library(t *testing.T) string {
	t.Helper()
	return serves(t, "", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		var shelf, n int
		if r.URL.Path == "/" {
			fmt.Fprint(w, `<title>A library</title><ul><li><a href="/s1/b0">gardening</a><li><a href="/s2/b0">asynchronous iterators</a></ul>`)
			return
		}
		if _, err := fmt.Sscanf(r.URL.Path, "/s%d/b%d", &shelf, &n); err != nil || n > 40 {
			http.NotFound(w, r)
			return
		}
		words := "roses and lilies stand in the garden, and water is good for them. "
		if shelf == 2 {
			words = "an asynchronous iterator is an object that is iterated over asynchronously: it awaits values and returns them. "
		}
		// what a book says is its own: one text under many addresses is one page on a topic
		fmt.Fprintf(w, `<title>book %[1]d</title><p>%[2]s this is volume %[1]d.</p><p>see <a href="/s%[3]d/b%[4]d">the next one</a></p>`, n, strings.Repeat(words, 4), shelf, n+1)
	})
}

// The tree of a crawl without a topic has all its pages, and no scores; a least score is refused.
func TestTreeWithoutTopic(t *testing.T) {
	t.Parallel()
	site, dir := library(t), filepath.Join(t.TempDir(), "c")
	if code, out, errs := apart(t, "crawl", site, "-o", dir, "--allow-private", "--delay", "0", "--max-pages", "20"); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	code, out, _ := apart(t, "tree", dir)
	if code != 0 || strings.Count(out, "http://") != 20 || strings.Contains(out, "0.00") || strings.Contains(out, "topic") {
		t.Errorf("exit %d\n%s", code, out)
	}
	code, out, _ = apart(t, "tree", dir, "--depth", "1")
	if code != 0 || !strings.HasSuffix(out, "└ … 19 pages below\n") {
		t.Errorf("cut: exit %d\n%s", code, out)
	}
	if code, _, errs := apart(t, "topic", "show", dir); code != exitUsage || !strings.Contains(errs, "the crawl has no topic") {
		t.Errorf("its topic: exit %d\n%s", code, errs)
	}
	code, out, errs := apart(t, "export", dir, "--min-score", "0.2")
	if code != exitUsage || out != "" || !strings.Contains(errs, "--min-score: the crawl has no topic") {
		t.Errorf("with a least score: exit %d\n%s%s", code, out, errs)
	}
}

// With --all branches without a page on the topic are printed, too; else they are one line.
func TestTreeOfAll(t *testing.T) {
	t.Parallel()
	off := &survey.Branch{URL: "http://h.test/off", State: "fetched", Pages: 1}
	root := &survey.Branch{URL: "http://h.test/", State: "fetched", Pages: 2, Under: []*survey.Branch{off}}
	for _, all := range []bool{false, true} {
		var out strings.Builder
		if err := (&treePrinter{w: &out, topic: true, all: all}).trees([]*survey.Branch{root}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), off.URL) != all || strings.Contains(out.String(), "1 page off the topic") == all {
			t.Errorf("all %v:\n%s", all, out.String())
		}
	}
}

// On a terminal no line of a tree wraps; elsewhere links are whole.
func TestTreeFitsTheTerminal(t *testing.T) {
	t.Parallel()
	page := &survey.Branch{URL: "http://h.test/" + strings.Repeat("long/", 8), State: "fetched", Anchor: strings.Repeat("词 ", 30), Pages: 1}
	root := &survey.Branch{URL: page.URL, State: "fetched", Anchor: "short", Pages: 4, Under: []*survey.Branch{page, page, page}}
	for _, columns := range []int{0, 30, 60, 80, 120} {
		var out strings.Builder
		if err := (&treePrinter{w: &out, columns: columns}).trees([]*survey.Branch{root}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if columns > 0 && cells(line) > columns || columns != 30 && !strings.Contains(line, page.URL) {
				t.Errorf("%d columns: %q takes %d", columns, line, cells(line))
			}
		}
	}
}

// A topical crawl from the command line: its pages are on the topic, it says that links have run out, goes on by its directory alone, also
// when the file of the topic is gone, and can be looked at.
func TestTopicalCrawl(t *testing.T) {
	t.Parallel()
	site, dir := library(t), filepath.Join(t.TempDir(), "c")
	text := filepath.Join(t.TempDir(), "about.txt")
	about := strings.Repeat("Asynchronous iterators are objects that are iterated over asynchronously; an iterator returns values, an asynchronous one awaits them. ", 3)
	if err := os.WriteFile(text, []byte(about), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, errs := apart(t, "crawl", site, "-o", dir, "--allow-private", "--delay", "0", "--site-connections", "1", "--topic-text", text, "--max-pages", "20")
	if code != 0 || !strings.Contains(out, "on the topic") {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	if err := os.Remove(text); err != nil {
		t.Fatal(err)
	}
	code, out, errs = apart(t, "crawl", "-o", dir, "--max-pages", "0")
	if code != 0 || !strings.Contains(out, "links have run out") || !strings.Contains(out, "topic 1") {
		t.Errorf("gone on: exit %d\n%s%s", code, out, errs)
	}
	code, out, errs = apart(t, "topic", "show", dir)
	if code != 0 || !strings.Contains(out, "on the topic from a score of 0.2") || !strings.Contains(out, "  asynchron") {
		t.Errorf("its topic: exit %d\n%s%s", code, out, errs)
	}
	for args, want := range map[string]string{dir + " --topic x": "want a topic, or the directory", dir + " --job 9": "no job 9", "--job 1": "is of the directory", text: "not the directory of a crawl"} {
		if code, _, errs := apart(t, append([]string{"topic", "show"}, strings.Fields(args)...)...); code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, want %q\n%s", args, code, want, errs)
		}
	}
	for range 2 { // what it was begun with is not lost by going on
		if code, out, errs = apart(t, "crawl", "-o", dir); code != 0 || !strings.Contains(out, "41 on the topic") {
			t.Errorf("gone on again: exit %d\n%s%s", code, out, errs)
		}
	}
	if code, out, errs = apart(t, "crawl", "-o", dir, "--topic-threshold", "0.2"); code != 0 {
		t.Errorf("gone on with the threshold that it has: exit %d\n%s%s", code, out, errs)
	}
	code, out, errs = apart(t, "export", dir, "--min-score", "0.2", "--format", "csv")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || len(lines) != 42 || strings.Contains(out, "/s1/") {
		t.Errorf("export: exit %d, %d lines\n%s", code, len(lines), errs)
	}
	code, out, _ = apart(t, "stats", dir, "--json")
	var s struct{ VC, CC, DTOC, RC int64 }
	if err := json.Unmarshal([]byte(out), &s); code != 0 || err != nil || s.CC != 41 || s.DTOC != 41 || s.RC != 0 || s.VC != 45 {
		t.Errorf("stats: exit %d, %v, %+v", code, err, s)
	}
	code, out, _ = apart(t, "tree", dir)
	if code != 0 || strings.Count(out, "/s2/") != 41 || strings.Contains(out, "/s1/") || !strings.Contains(out, "3 pages off the topic") {
		t.Errorf("tree: exit %d\n%s", code, out)
	}
	code, out, _ = apart(t, "tree", dir, "--dot")
	if code != 0 || !strings.HasPrefix(out, "digraph") || strings.Count(out, "->") != 45 {
		t.Errorf("tree as a graph: exit %d\n%s", code, out)
	}
	code, out, errs = apart(t, "explain", site+"s2/b3", "-o", dir)
	if code != 0 || !strings.Contains(out, "score 0.") || !strings.Contains(out, "asynchron") || !strings.Contains(out, "named first by "+site+"s2/b2") {
		t.Errorf("explain: exit %d\n%s%s", code, out, errs)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"explain", site + "nowhere", "-o", dir}, "no page has named"},
		{[]string{"explain", "https://:bad/", "-o", dir}, "not a valid URL"},
		{[]string{"tree", dir, "--json", "--dot"}, "not both"},
		{[]string{"export", dir, "--min-score", "7"}, "from 0 to 1"},
		{[]string{"crawl", "-o", dir, "--topic", "something else"}, "its topic is"},
		{[]string{"crawl", "-o", dir, "--topic-threshold", "0.5"}, "the crawl was begun with 0.2, and keeps it; argosy export --min-score 0.5"},
		{[]string{"crawl", "-o", dir, "--topic-threshold", "x"}, "allowed are numbers from 0.001"},
		{[]string{"crawl", "-o", dir, "--topic-language", "de"}, "the crawl was begun with en"},
		{[]string{"crawl", "-o", dir, "--topic-unlike", "a.html"}, "the crawl was begun with the topic"},
	} {
		if code, _, errs := apart(t, c.args...); code != exitUsage || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit %d, %s", c.args, code, errs)
		}
	}
}

// A URL of a crawl without a topic is explained by why its site went to its node, where that is kept; where it is not, it is said how it is.
func TestExplainsWithoutTopic(t *testing.T) {
	t.Parallel()
	site := library(t)
	for kept, want := range map[string]string{"--listen": "goes to node-1", "": "--listen"} {
		dir := filepath.Join(t.TempDir(), "c")
		args := []string{"crawl", site, "-o", dir, "--allow-private", "--delay", "0", "--max-pages", "5"}
		if kept != "" {
			args = append(args, kept, "127.0.0.1:0")
		}
		if code, out, errs := apart(t, args...); code != 0 {
			t.Fatalf("exit %d\n%s%s", code, out, errs)
		}
		code, out, errs := apart(t, "explain", site+"s2/b3", "-o", dir)
		if (code == 0) != (kept != "") || !strings.Contains(out+errs, want) {
			t.Errorf("%q: exit %d\n%s%s", kept, code, out, errs)
		}
	}
}

// A page is explained from the store in which its node has put it, and of crawlers that remember for themselves the copy of the one that has it.
func TestExplainsFromStores(t *testing.T) {
	t.Parallel()
	site, dir, store := library(t), filepath.Join(t.TempDir(), "c"), filepath.Join(t.TempDir(), "store")
	code, out, errs := apart(t, "crawl", site, "-o", dir, "--allow-private", "--delay", "0", "--topic", "asynchronous iterators", "--crawlers", "2", "--market",
		"independent,beta=20,understanding=0", "--tunnel", "-1")
	if code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "argosy.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`UPDATE nodes SET store = ?`, store) // as a node of a fleet has its own
	if err = errors.Join(err, db.Close(), os.Rename(filepath.Join(dir, "warc"), store)); err != nil {
		t.Fatal(err)
	}
	_, all, _ := apart(t, "export", dir, "--min-score", "0.2", "--format", "csv")
	lines := strings.Split(strings.TrimSpace(all), "\n")
	if len(lines) < 3 {
		t.Fatalf("nothing on the topic\n%s", all)
	}
	for _, line := range lines[1:min(len(lines), 5)] {
		url, _, _ := strings.Cut(line, ",")
		code, out, errs := apart(t, "explain", url, "-o", dir)
		if code != 0 || !strings.Contains(out, "the page: score ") || !strings.Contains(out, ", crawler ") || !strings.Contains(out, "named first by ") && url != site {
			t.Errorf("%s: exit %d\n%s%s", url, code, out, errs)
		}
	}
}

// Nodes of one process at one address reach a site alike: it is not asked for its first page to choose among them.
func TestNodesOfOneAddressMeasureNothing(t *testing.T) {
	var asked atomic.Int64
	site := serves(t, "", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			asked.Add(1)
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<title>a page</title><a href="/b">b</a> <a href="/c">c</a>`)
	})
	code, out, errs := apart(t, "crawl", site, "-o", filepath.Join(t.TempDir(), "c"), "--allow-private", "--delay", "0", "--agents", "3", "--topic", "page", "--crawlers", "2")
	if code != 0 || asked.Load() != 1 {
		t.Errorf("exit %d, asked %d times for /\n%s%s", code, asked.Load(), out, errs)
	}
}

// A crawl whose links have run out says what was left out by its limits, and a site once, however many crawlers share it.
func TestLinksRunOut(t *testing.T) {
	t.Parallel()
	site := library(t)
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--max-depth", "2"}, []string{"all of the scope was asked for, but for\n", "deeper than --max-depth\n"}},
		{[]string{"--site-pages", "9", "--crawlers", "3"}, []string{"beyond --site-pages\n"}},
		{[]string{"--tunnel", "0"}, []string{"--tunnel allows\n"}},
		{[]string{"--tunnel", "-1"}, []string{"everything in the scope was asked for"}},
	} {
		dir := filepath.Join(t.TempDir(), "c")
		args := append([]string{"crawl", site, "-o", dir, "--allow-private", "--delay", "0", "--topic", "asynchronous iterator"}, c.args...)
		code, out, errs := apart(t, args...)
		if code != 0 || strings.Count(out, "has had its --site-pages") > 1 || strings.Contains(out, " 1 URLs") {
			t.Errorf("%v: exit %d\n%s%s", c.args, code, out, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %q:\n%s%s", c.args, want, out, errs)
			}
		}
	}
}

// Pages that a topic is made of may be URLs: they are asked as a crawl asks, robots.txt first.
func TestTopicLikeURL(t *testing.T) {
	t.Parallel()
	site := library(t)
	code, out, errs := apart(t, "topic", "show", "--topic-like", site+"s2/b1", "--topic-like", site+"s2/b2", "--allow-private", "--delay", "0")
	if code != 0 || !strings.Contains(out, "asynchron") || !strings.Contains(out, "like "+site+"s2/b1 and 1 more") {
		t.Errorf("show: exit %d\n%s%s", code, out, errs)
	}
	dir := filepath.Join(t.TempDir(), "c")
	code, out, errs = apart(t, "crawl", site, "-o", dir, "--allow-private", "--delay", "0", "--topic-like", site+"s2/b1")
	if code != 0 || !strings.Contains(out, "42 on the topic") {
		t.Errorf("crawl: exit %d\n%s%s", code, out, errs)
	}
	code, out, errs = apart(t, "topic", "score", site+"s2/b1", "--topic", "asynchronous iterators", "--allow-private", "--delay", "0")
	if code != 0 || !strings.Contains(out, site+"s2/b1: score 0.") || !strings.Contains(out, "on the topic") {
		t.Errorf("score: exit %d\n%s%s", code, out, errs)
	}
	shut := serves(t, "User-agent: *\nDisallow: /", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTeapot) })
	for _, c := range []struct{ url, want string }{
		{site + "none", "it answers 404, not 200"},
		{shut + "a", "robots.txt disallows it"},
		{"http://:bad/", "--topic-like"},
	} {
		if code, _, errs := apart(t, "topic", "show", "--topic-like", c.url, "--allow-private", "--delay", "0"); code != exitUsage || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit %d, %s", c.url, code, errs)
		}
	}
}

// One example is enough: other pages of its site tell what sets it apart. They are asked for once, also by the crawl that follows, as far as
// robots.txt allows; a crawl that goes on has the topic that it was begun with.
func TestTopicLikeOnePage(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := map[string]int{}
	site := serves(t, "User-agent: *\nDisallow: /about/p3", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path]++
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		var kind string
		var n int
		if r.URL.Path == "/" {
			fmt.Fprint(w, `<title>Handbook</title><p>a handbook of many chapters`)
			for i := range 40 {
				fmt.Fprintf(w, `<a href="/about/p%d">chapter %d</a> `, i, i)
			}
			return
		}
		if _, err := fmt.Sscanf(strings.ReplaceAll(r.URL.Path, "/", " "), "%s p%d", &kind, &n); err != nil || n >= 40 {
			http.NotFound(w, r)
			return
		}
		own := fmt.Sprintf("engine%d turbine%d piston valve exhaust cylinder gear ", n, n)
		if n%8 == 5 {
			own = fmt.Sprintf("beehive honey%d nectar pollen swarm larva%d queen ", n, n)
		}
		shared := "this chapter of the handbook explains an example, which every reader of the handbook should compare with other chapters and examples "
		fmt.Fprintf(w, `<title>Handbook, chapter %d</title><h1>Chapter %d</h1><p>%s</p><p>%s<a href="/about/p%d">next</a></p>`, n, n, strings.Repeat(shared, 5), strings.Repeat(own, 4), n+1)
	})
	dir := filepath.Join(t.TempDir(), "c")
	args := []string{"crawl", site, "-o", dir, "--allow-private", "--delay", "0", "--tunnel", "-1", "--topic-like", site + "about/p13"}
	code, out, errs := apart(t, args...)
	if code != 0 || !strings.Contains(out, "4 on the topic") || !strings.Contains(errs, "up to 24 other pages") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	for path, n := range asked {
		if n > 1 || path == "/about/p3" || strings.HasPrefix(path, "/about/p3") {
			t.Errorf("%s was asked for %d times", path, n)
		}
	}
	if code, _, errs = apart(t, args...); code != 0 || !strings.Contains(errs, "as it was made when the crawl began") || asked["/about/p13"] > 1 {
		t.Errorf("going on: exit %d, %d requests\n%s", code, asked["/about/p13"], errs)
	}
	dir = filepath.Join(t.TempDir(), "d")
	if code, out, errs = apart(t, "crawl", site, "-o", dir, "--allow-private", "--delay", "0", "--topic-like", site+"about/p5", "--topic-like", site+"about/p5#x", "--exclude", "/about/p[124]"); code != 0 || !strings.Contains(errs, "other pages could be read") {
		t.Errorf("with a filter: exit %d\n%s%s", code, out, errs)
	}
	for path, n := range asked {
		if n > 1 && strings.HasPrefix(path, "/about/p1") {
			t.Errorf("%s is excluded, and was asked for again", path)
		}
	}
	if code, _, errs = apart(t, "topic", "show", "--topic-like", site+"about/p5", "--topic-unlike", site+"about/p5", "--allow-private", "--delay", "0"); code != exitUsage || !strings.Contains(errs, "is named by --topic-like as well") {
		t.Errorf("like and unlike: exit %d, %s", code, errs)
	}
	code, out, errs = apart(t, "topic", "train", "--topic-like", site+"about/p13", "--topic-beside", "0", "--allow-private", "--delay", "0")
	if code != 0 || !strings.Contains(out, "handbook") || !strings.Contains(errs, "no page that is not on the topic is known") {
		t.Errorf("beside none: exit %d\n%s%s", code, out, errs)
	}
}

// Topics are made, stored, shown and tried; what cannot be one is said in one line.
func TestTopicCommands(t *testing.T) {
	dir, file := files(t)
	var args []string
	for i := range 4 {
		args = append(args, "--topic-like", file(fmt.Sprintf("on%d.html", i), fmt.Sprintf("<title>Enzymes %d</title><p>%s", i, strings.Repeat("enzyme substrate catalyst protein kinetics inhibitor ", 3+i))),
			"--topic-unlike", file(fmt.Sprintf("off%d.html", i), fmt.Sprintf("<title>Engines %d</title><p>%s", i, strings.Repeat("turbine piston torque valve exhaust cylinder ", 3+i))))
	}
	code, out, errs := apart(t, append([]string{"topic", "train", "--about", "enzymes"}, args...)...)
	if code != 0 || !strings.Contains(out, `"about":"enzymes"`) {
		t.Fatalf("train: exit %d\n%s%s", code, out, errs)
	}
	model := file("model.json", out)
	code, out, _ = apart(t, "topic", "show", "--topic-model", model)
	if code != 0 || !strings.Contains(out, "substrat") {
		t.Errorf("show: exit %d\n%s", code, out)
	}
	on, off := file("a.html", "<p>"+strings.Repeat("the enzyme is a catalyst of its substrate ", 5)), file("b.html", "<p>"+strings.Repeat("the piston and its valve ", 5))
	code, out, _ = apart(t, "topic", "score", on, off, "--topic-model", model)
	if code != 0 || strings.Count(out, "on the topic") != 1 || strings.Count(out, "off the topic") != 1 {
		t.Errorf("score: exit %d\n%s", code, out)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"topic", "show"}, "no topic"},
		{[]string{"topic", "show", "--topic", "…"}, "no words"},
		{[]string{"topic", "show", "--topic", "the of"}, "words that every text has"},
		{[]string{"topic", "show", "--topic", "bees", "--topic-beside", "3"}, "no --topic-like"},
		{[]string{"topic", "show", "--topic-like", on, "--topic-beside", "1000"}, "allowed are 0 to 200"},
		{[]string{"topic", "show", "--topic-like", file("p.png", "\x89PNG\r\n\x1a\n")}, "want HTML or text"},
		{[]string{"topic", "score", filepath.Join(dir, "none"), on, "--topic", "bees"}, "score: 1 of 2 pages could not be read"},
		{[]string{"topic", "show", "--topic", "bees", "--topic-model", model}, "not several"},
		{[]string{"topic", "show", "--topic-model", on}, "not a topic"},
		{[]string{"topic", "show", "--topic-text", filepath.Join(dir, "none")}, "no such file"},
		{[]string{"topic", "show", "--topic-unlike", off}, "without --topic-like"},
		{[]string{"topic", "show", "--topic", "bees", "--topic-threshold", "2"}, "0.001 to 0.999"},
		{[]string{"topic", "score", "https://:bad/", "--topic", "bees"}, "not a valid URL"},
		{[]string{"crawl", "http://a.test/", "-o", filepath.Join(dir, "c"), "--order", "best"}, "without a topic"},
		{[]string{"crawl", "http://a.test/", "-o", filepath.Join(dir, "c"), "--topic", "bees", "--tunnel", "-2"}, "--tunnel"},
		{[]string{"crawl", "http://a.test/", "-o", filepath.Join(dir, "c"), "--order", "random"}, `"--order" flag: allowed are best, breadth, depth`},
		{[]string{"crawl", "http://a.test/", "-o", filepath.Join(dir, "c"), "--topic", ""}, `"--topic" flag: there is nothing in it`},
		{[]string{"crawl", "http://a.test/", "-o", filepath.Join(dir, "c"), "--topic", "bees", "--crawlers", "0"}, `"--crawlers" flag: allowed are 1 to 100`},
		{[]string{"crawl", "http://a.test/", "-o", filepath.Join(dir, "c"), "--topic", "bees", "--market", "lots,beta=NaN"}, "argosy: --market: beta: NaN: allowed are 0 to 2147483648\n"},
		{[]string{"export", dir, "--min-score", "high"}, `--min-score: "high": want a number`},
		{[]string{"topic", "show", "--topic", "bees", "--topic-language", strings.Repeat("x", 10_000)}, "x…x"},
	} {
		if code, _, errs := apart(t, c.args...); code != exitUsage || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit %d, %s", c.args, code, errs)
		}
	}
}

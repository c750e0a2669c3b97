// Command apps judges crawls of real applications: bench/apps.sh serves them, and writes down by their own databases which
// pages a visitor would call content.
//
//	bench/apps.sh start DIR
//	go run ./bench/apps -argosy ./argosy -dir DIR [-app NAME,…] [-v]
//
// Of each it checks that the crawl ends by itself and that all content is had, and prints what the rest of the answers
// was worth: how many had the bytes of an earlier one, how many a text almost like an earlier one's (simhashes that
// differ in three bits at most). It ends with code 1 if a crawl does not end or content is missing.
package main

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/bits"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
)

// nearBits is how many of 64 bits the simhashes of near duplicates differ in at most (Manku, Jain, Das Sarma: Detecting
// near-duplicates for web crawling, 2007).
const nearBits = 3

// longestLine bounds a line of a truth file: all the URLs of one page.
const longestLine = 16 << 20

func main() {
	argosy := flag.String("argosy", "argosy", "the argosy binary")
	dir := flag.String("dir", "", "directory of bench/apps.sh")
	names := flag.String("app", "", "only these applications, by name or its beginning (default: all)")
	limit := flag.Duration("time", 10*time.Minute, "end a crawl that takes longer")
	verbose := flag.Bool("v", false, "print what the crawls said at their end, and the paths that were asked most")
	keep := flag.String("keep", "", "keep the crawls below this directory")
	flag.Parse()
	b := &bench{argosy: *argosy, dir: *dir, limit: *limit, verbose: *verbose, keep: *keep, extra: flag.Args()}
	if err := b.run(strings.Split(*names, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "apps:", err)
		os.Exit(1)
	}
}

type bench struct {
	argosy, dir, keep string
	limit             time.Duration
	verbose           bool
	extra             []string
}

func (b *bench) run(names []string) error {
	files, err := filepath.Glob(filepath.Join(b.dir, "truth", "*.txt"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no truth/*.txt in %s: start bench/apps.sh first", b.dir)
	}
	fmt.Printf("%-10s %11s %9s %8s %8s %8s %8s  %s\n", "app", "content had", "answers", "content", "same", "near", "rest", "the crawl")
	broken := 0
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".txt")
		for _, n := range names {
			if strings.HasPrefix(name, n) {
				bad, err := b.judge(name, f)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				broken += bad
				break
			}
		}
	}
	if broken > 0 {
		return fmt.Errorf("%d promises are broken", broken)
	}
	return nil
}

// truth is what an application's database says.
type truth struct {
	args    []string   // of the crawl: seed, flags
	content [][]string // for each page of content the URLs of which one is enough
}

func readTruth(file string) (*truth, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t := &truth{}
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, longestLine)
	for sc.Scan() {
		if rest, ok := strings.CutPrefix(sc.Text(), "# "); ok {
			t.args = strings.Fields(rest)
			continue
		}
		var urls []string
		for s := range strings.SplitSeq(sc.Text(), "\t") {
			u, err := crawl.Parse(s)
			if err != nil {
				return nil, err
			}
			urls = append(urls, u.String())
		}
		t.content = append(t.content, urls)
	}
	if err := sc.Err(); err != nil {
		return nil, err
	}
	if len(t.args) == 0 || len(t.content) == 0 {
		return nil, fmt.Errorf("%s names no seed or no content", file)
	}
	return t, nil
}

// judge crawls one application, prints its line and returns how many promises were broken.
func (b *bench) judge(name, file string) (broken int, err error) {
	t, err := readTruth(file)
	if err != nil {
		return 0, err
	}
	dir := filepath.Join(b.keep, name)
	if b.keep == "" {
		if dir, err = os.MkdirTemp("", "argosy-apps"); err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
	}
	how, said, err := b.crawl(t, dir)
	if err != nil {
		return 0, err
	}
	if how != "" {
		broken++
	}
	l, err := ledger.Open(context.Background(), filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		return 0, err
	}
	defer l.Close()
	c := newCount(t)
	if err := l.Pages(context.Background(), 1, func(p *ledger.Page) error { c.add(p); return nil }); err != nil {
		return 0, err
	}
	missing := c.missing(t)
	if len(missing) > 0 {
		broken++
	}
	share := func(n int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(max(1, c.answers))) }
	fmt.Printf("%-10s %5d/%5d %9d %8s %8s %8s %8s  %s\n", name, len(t.content)-len(missing), len(t.content), c.answers, share(c.content), share(c.same),
		share(c.near), share(c.answers-c.content-c.same-c.near), how+said[0])
	for i, u := range missing {
		if i == 5 {
			fmt.Printf("    … and %d more\n", len(missing)-i)
			break
		}
		fmt.Println("    missing:", u)
	}
	if b.verbose {
		for _, s := range c.most(12) {
			fmt.Println("    " + s)
		}
		fmt.Println("    | " + strings.Join(said[1:], "\n    | "))
	}
	return broken, nil
}

// crawl runs the crawl; how is "" when it ended by itself. said[0] is its time and memory, the rest what it printed.
func (b *bench) crawl(t *truth, dir string) (how string, said []string, err error) {
	args := append([]string{"crawl"}, t.args...)
	args = append(args, "--allow-private", "--resolve", "*.apps.test=127.0.0.1", "--delay", "0", "--site-connections", "4", "--near-duplicates", "-o", dir)
	ctx, cancel := context.WithTimeout(context.Background(), b.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.argosy, append(args, b.extra...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return "", nil, err
	}
	seconds := time.Since(start).Seconds()
	if ctx.Err() != nil {
		how = "DOES NOT END: "
	} else if code := cmd.ProcessState.ExitCode(); code != 0 {
		how = fmt.Sprintf("CODE %d: ", code)
	}
	var last []string
	for line := range strings.SplitSeq(strings.TrimSpace(out.String()), "\n") {
		if !strings.Contains(line, " running · ") {
			last = append(last, line)
		}
	}
	return how, append([]string{fmt.Sprintf("%.0f s", seconds)}, last...), nil
}

// count sums up a crawl's answers.
type count struct {
	wanted                       map[string]bool // URLs of content
	had                          map[string]bool // URLs fetched with status 200
	answers, content, same, near int
	digests                      map[string]bool
	hashes                       []uint64
	paths                        map[string]int // answers that are not content, by the form of their URLs
}

func newCount(t *truth) *count {
	c := &count{wanted: map[string]bool{}, had: map[string]bool{}, digests: map[string]bool{}, paths: map[string]int{}}
	for _, urls := range t.content {
		for _, u := range urls {
			c.wanted[u] = true
		}
	}
	return c
}

func (c *count) add(p *ledger.Page) {
	if p.State != "fetched" {
		return
	}
	c.answers++
	if p.Status == 200 {
		c.had[p.URL] = true
	}
	same, near := c.digests[p.Digest], c.isNear(uint64(p.Simhash))
	c.digests[p.Digest] = true
	switch {
	case c.wanted[p.URL]:
		c.content++
		return
	case same:
		c.same++
	case near:
		c.near++
	}
	c.paths[form(p.URL)]++
}

// isNear reports whether a text almost like this one was there before, and remembers it.
func (c *count) isNear(h uint64) bool {
	if h == 0 {
		return false // no text
	}
	for _, other := range c.hashes {
		if bits.OnesCount64(h^other) <= nearBits {
			return true
		}
	}
	c.hashes = append(c.hashes, h)
	return false
}

func (c *count) missing(t *truth) (urls []string) {
	for _, page := range t.content {
		had := false
		for _, u := range page {
			had = had || c.had[u]
		}
		if !had {
			urls = append(urls, page[0])
		}
	}
	return urls
}

// form is a URL's first segment and the names of its parameters.
func form(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return s
	}
	segs := strings.SplitN(strings.TrimPrefix(u.Path, "/"), "/", 3)
	var names []string
	for n, v := range u.Query() {
		if len(v) == 1 && len(v[0]) < 12 && strings.Trim(v[0], "abcdefghijklmnopqrstuvwxyz") == "" && v[0] != "" {
			n += "=" + v[0]
		}
		names = append(names, n)
	}
	sort.Strings(names)
	return "/" + strings.Join(segs[:min(2, len(segs))], "/") + "?" + strings.Join(names, "&")
}

// most returns the forms of URLs that had most answers without content.
func (c *count) most(n int) (lines []string) {
	for f := range c.paths {
		lines = append(lines, f)
	}
	sort.Slice(lines, func(i, j int) bool {
		if a, b := c.paths[lines[i]], c.paths[lines[j]]; a != b {
			return a > b
		}
		return lines[i] < lines[j]
	})
	lines = lines[:min(n, len(lines))]
	for i, f := range lines {
		lines[i] = fmt.Sprintf("%6d %s", c.paths[f], f)
	}
	return lines
}

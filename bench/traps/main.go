// Command traps judges a crawl of webs without end, and of honest ones that look so, by the truth that their author
// knows: which pages are real, and what each answer was worth at the moment when it was given.
//
//	go run ./bench/traps -argosy ./argosy [-web NAME,…] [-v] [-log FILE] [-kill 300]
//	go run ./bench/traps -seeds 10 [-web NAME,…] [-dir /usr/share/doc/rust-doc/html,…]
//	go run ./bench/traps -seeds 10 -live http://cgit.apps.test:8090/ -truth DIR/truth/cgit.txt
//
// With -seeds it plays the crawls in memory: the real frontier and scanner, and an agent whose order, portions and delays the
// seed decides. That takes a hundredth of the time, and shows what a single run does not.
//
// Of each web it checks that the crawl ends by itself, that the real pages are had (all of an honest part, 99 % of one with
// traps), that an endless trap got no more than 600 answers whose text and outside targets were all known already, and
// that the end of the run says which part of it was cut. It ends with code 1 if one of this does not hold. Of a trap that
// has an end it prints only what it cost.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

func main() {
	argosy := flag.String("argosy", "argosy", "the argosy binary")
	names := flag.String("web", "", "only these webs, by name or its beginning (default: all)")
	limit := flag.Duration("time", 3*time.Minute, "end a crawl that takes longer")
	most := flag.Int("requests", 40000, "end a crawl that asks more")
	allowed := flag.Int("wasted", 600, "answers that a trap may get for nothing")
	logTo := flag.String("log", "", "write every answer to this file: number, worth, site, URL, trap, what it says")
	kill := flag.Int("kill", 0, "kill the crawler (SIGKILL) after every so many requests, ten times at most, and start it again")
	seeds := flag.Int("seeds", 0, "play the crawl in memory, without argosy and HTTP, so many times in different orders; print the worst of each")
	first := flag.Uint64("seed", 1, "the first of these seeds")
	dir := flag.String("dir", "", "with -seeds: play the files below these directories instead, each as a site")
	site := flag.String("live", "", "with -seeds: play the application at this URL instead, whose pages -truth names")
	truth := flag.String("truth", "", "a file of bench/apps.sh: the pages that must be had")
	spent := flag.Bool("spent", false, "with -seeds: the node has read so much that it marks few of the pages that need not be marked")
	list := flag.Bool("list", false, "list the webs")
	verbose := flag.Bool("v", false, "print what the crawls said at their end")
	keep := flag.String("keep", "", "keep the crawls below this directory")
	flag.Parse()
	b := &bench{argosy: *argosy, limit: *limit, most: *most, allowed: *allowed, kill: *kill, logTo: *logTo, keep: *keep, seeds: *seeds, first: *first, spent: *spent, verbose: *verbose, extra: flag.Args(), webs: webs()}
	if *dir != "" {
		b.webs = nil
		for d := range strings.SplitSeq(*dir, ",") {
			b.webs = append(b.webs, disk(d))
		}
		b.most = 1 << 30
	}
	if *site != "" {
		w, err := live(*site, *truth)
		if err == nil && *seeds == 0 {
			err = errors.New("-live needs -seeds: bench/apps has argosy crawl an application")
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "traps:", err)
			os.Exit(1)
		}
		b.webs = []*web{w}
	}
	if err := b.run(strings.Split(*names, ","), *list); err != nil {
		fmt.Fprintln(os.Stderr, "traps:", err)
		os.Exit(1)
	}
}

type bench struct {
	argosy, logTo, keep string
	limit               time.Duration
	most, allowed, kill int
	verbose, spent      bool
	seeds               int
	first               uint64
	extra               []string
	webs                []*web
}

func (b *bench) run(names []string, list bool) error {
	broken, judged := 0, 0
	fmt.Printf("%-28s %-22s %13s %8s %7s  %s\n", "web", "part: trap", "real had", "answers", "wasted", "promises")
	for _, w := range b.webs {
		chosen := false
		for _, n := range names {
			chosen = chosen || strings.HasPrefix(w.name, n)
		}
		if !chosen {
			continue
		}
		if list {
			fmt.Println(w.name)
			continue
		}
		judge := b.judge
		if b.seeds > 0 {
			judge = b.plays
		}
		bad, err := judge(w)
		if err != nil {
			return err
		}
		broken += bad
		judged++
	}
	if broken > 0 {
		return fmt.Errorf("%d promises are broken", broken)
	}
	if !list {
		fmt.Printf("%d webs: every promise held\n", judged)
	}
	return nil
}

// judge crawls one web, prints its lines of the table and returns how many promises were broken.
func (b *bench) judge(w *web) (broken int, err error) {
	dir := filepath.Join(b.keep, w.name)
	if b.keep == "" {
		if dir, err = os.MkdirTemp("", "argosy-traps"); err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
	}
	j := newJudge(w, b.most)
	j.kill = b.kill
	if err := b.log(j); err != nil {
		return 0, err
	}
	if j.file != nil {
		defer j.file.Close()
	}
	v, err := j.run(b.argosy, dir, b.limit, b.extra)
	if err != nil {
		return 0, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	ended, rows := j.rows(v, b.allowed)
	fmt.Printf("%-28s %-22s %13s %8d %7s  %s, %.0f s, %d MiB\n", w.name, "", "", j.requests, "", ended.promise, v.seconds, v.memory>>20)
	for _, r := range rows {
		r.print()
	}
	if b.verbose {
		fmt.Println(indent(v.said))
	}
	return countBroken(append(rows, ended)), nil
}

// log has a judge write every answer to a file.
func (b *bench) log(j *judge) (err error) {
	if b.logTo == "" {
		return nil
	}
	if j.file, err = os.OpenFile(b.logTo, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err == nil {
		j.out = bufio.NewWriter(j.file)
	}
	return err
}

// row is what one part, or one trap of it, came to.
type row struct {
	name            string
	trap            bool
	had, real       int
	answers, wasted int
	promise         string
	broken          bool
}

func (r *row) print() {
	switch {
	case r.trap:
		fmt.Printf("%-28s %-22s %13s %8d %7d  %s\n", "", "  "+clip(r.name, 20), "", r.answers, r.wasted, r.promise)
	case r.name != "about" || r.broken:
		fmt.Printf("%-28s %-22s %6d/%6d %8s %7s  %s\n", "", clip(r.name, 22), r.had, r.real, "", "", r.promise)
	}
}

func countBroken(rows []row) (n int) {
	for _, r := range rows {
		if r.broken {
			n++
		}
	}
	return n
}

// rows says what a crawl came to: how it ended, then its parts and traps.
func (j *judge) rows(v *verdict, allowed int) (ended row, rows []row) {
	ended.promise = "ended by itself"
	if v.ended != "" {
		ended.promise, ended.broken = "DOES NOT END: ended "+v.ended, true
	} else if v.code != 0 {
		ended.promise, ended.broken = fmt.Sprintf("CODE %d", v.code), true
	}
	for _, host := range keys(j.web.sites) {
		for _, p := range j.web.sites[host].parts {
			rows = append(rows, j.part(host, p))
			for _, t := range p.traps {
				rows = append(rows, j.trap(v, host, p, &t, allowed))
			}
		}
	}
	return ended, rows
}

func (j *judge) part(host string, p *part) row {
	r := row{name: p.name, real: len(p.real), promise: "held"}
	var missing []string
	for _, id := range p.real {
		if j.had[host+" "+id] {
			r.had++
		} else {
			missing = append(missing, id)
		}
	}
	if float64(r.had) < p.share()*float64(r.real) {
		r.promise = fmt.Sprintf("LOST %d, such as %s", len(missing), strings.Join(missing[:min(3, len(missing))], ", "))
		r.broken = true
	}
	return r
}

func (j *judge) trap(v *verdict, host string, p *part, t *trap, allowed int) row {
	r := row{name: t.name, trap: true, promise: "held"}
	if n := j.traps[host+" "+p.name+" "+t.name]; n != nil {
		r.answers, r.wasted = n.answers, n.wasted
	}
	switch {
	case r.wasted > allowed && t.free:
		r.promise = "held: cannot be told"
	case r.wasted > allowed && !t.endless:
		r.promise = fmt.Sprintf("(more than %d, but it has an end)", allowed)
	case r.wasted > allowed:
		r.promise, r.broken = fmt.Sprintf("WASTED more than %d", allowed), true
	case t.endless && v.ended == "" && !strings.Contains(v.said, t.mark) && !strings.Contains(v.more, t.mark):
		r.promise, r.broken = "NOT SAID at the end", true
	}
	return r
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n-1] + "…"
	}
	return s
}

func indent(s string) string {
	return "    | " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n    | ")
}

func keys(m map[string]*site) (k []string) {
	for s := range m {
		k = append(k, s)
	}
	sort.Strings(k)
	return k
}

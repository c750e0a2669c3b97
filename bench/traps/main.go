// Command traps judges a crawl of webs without end, and of honest ones that look so, by the truth that their author
// knows: which pages are real, and what each answer was worth at the moment when it was given.
//
//	go run ./bench/traps -argosy ./argosy [-web NAME,…] [-v] [-log FILE] [-kill 300]
//
// Of each web it checks that the crawl ends by itself, that the real pages are had (all of an honest part, 99 % of one with
// traps), that an endless trap got no more than 600 answers whose text and outside targets were all known already, and
// that the end of the run says which part of it was cut. It ends with code 1 if one of this does not hold. Of a trap that
// has an end it prints only what it cost.
package main

import (
	"bufio"
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
	list := flag.Bool("list", false, "list the webs")
	verbose := flag.Bool("v", false, "print what the crawls said at their end")
	keep := flag.String("keep", "", "keep the crawls below this directory")
	flag.Parse()
	b := &bench{argosy: *argosy, limit: *limit, most: *most, allowed: *allowed, kill: *kill, logTo: *logTo, keep: *keep, verbose: *verbose, extra: flag.Args()}
	if err := b.run(strings.Split(*names, ","), *list); err != nil {
		fmt.Fprintln(os.Stderr, "traps:", err)
		os.Exit(1)
	}
}

type bench struct {
	argosy, logTo, keep string
	limit               time.Duration
	most, allowed, kill int
	verbose             bool
	extra               []string
}

func (b *bench) run(names []string, list bool) error {
	broken, judged := 0, 0
	fmt.Printf("%-28s %-22s %13s %8s %7s  %s\n", "web", "part: trap", "real had", "answers", "wasted", "promises")
	for _, w := range webs() {
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
		bad, err := b.judge(w)
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
	if b.logTo != "" {
		f, err := os.OpenFile(b.logTo, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return 0, err
		}
		defer f.Close()
		j.out = bufio.NewWriter(f)
	}
	v, err := j.run(b.argosy, dir, b.limit, b.extra)
	if err != nil {
		return 0, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	promises := "ended by itself"
	if v.ended != "" {
		promises = "DOES NOT END: ended " + v.ended
		broken++
	} else if v.code != 0 {
		promises = fmt.Sprintf("CODE %d", v.code)
		broken++
	}
	fmt.Printf("%-28s %-22s %13s %8d %7s  %s, %.0f s, %d MiB\n", w.name, "", "", j.requests, "", promises, v.seconds, v.memory>>20)
	for _, host := range keys(w.sites) {
		for _, p := range w.sites[host].parts {
			broken += b.part(j, v, host, p)
		}
	}
	if b.verbose {
		fmt.Println(indent(v.said))
	}
	return broken, nil
}

// part prints the lines of a part and of its traps.
func (b *bench) part(j *judge, v *verdict, host string, p *part) (broken int) {
	had := 0
	var missing []string
	for _, id := range p.real {
		if j.had[host+" "+id] {
			had++
		} else {
			missing = append(missing, id)
		}
	}
	promises := "held"
	if float64(had) < p.share()*float64(len(p.real)) {
		promises = fmt.Sprintf("LOST %d, such as %s", len(missing), strings.Join(missing[:min(3, len(missing))], ", "))
		broken++
	}
	if p.name != "about" || broken > 0 {
		fmt.Printf("%-28s %-22s %6d/%6d %8s %7s  %s\n", "", clip(p.name, 22), had, len(p.real), "", "", promises)
	}
	for _, t := range p.traps {
		n := j.traps[host+" "+p.name+" "+t.name]
		if n == nil {
			n = &tally{}
		}
		promises := "held"
		switch {
		case n.wasted > b.allowed && t.free:
			promises = "held: cannot be told"
		case n.wasted > b.allowed && !t.endless:
			promises = fmt.Sprintf("(more than %d, but it has an end)", b.allowed)
		case n.wasted > b.allowed:
			promises = fmt.Sprintf("WASTED more than %d", b.allowed)
			broken++
		case t.endless && v.ended == "" && !strings.Contains(v.said, t.mark) && !strings.Contains(v.more, t.mark):
			promises = "NOT SAID at the end"
			broken++
		}
		fmt.Printf("%-28s %-22s %13s %8d %7d  %s\n", "", "  "+clip(t.name, 20), "", n.answers, n.wasted, promises)
	}
	return broken
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

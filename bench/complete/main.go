// Command complete compares a crawl with an independent breadth-first search of the same web: the sets of URLs and
// their statuses must be equal, no URL may stand twice, and everything that is not a page must have a reason.
//
//	go run ./bench/complete -seeds SEEDS -addr 127.0.0.1:8088 -dir CRAWL
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/testkit"
)

func main() {
	seedsFile := flag.String("seeds", "", "file with a seed a line")
	addr := flag.String("addr", "", "where every name leads")
	dir := flag.String("dir", "", "directory of the crawl")
	flag.Parse()
	if err := compare(*seedsFile, *addr, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "complete:", err)
		os.Exit(1)
	}
}

func compare(seedsFile, addr, dir string) error {
	f, err := os.Open(seedsFile)
	if err != nil {
		return err
	}
	defer f.Close()
	var seeds []string
	hosts := map[string]bool{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		u, err := whatwg.Parse(sc.Text())
		if err != nil {
			return err
		}
		seeds = append(seeds, u.Href(true))
		hosts[u.Host()] = true
	}
	ctx := context.Background()
	o := &testkit.Oracle{Addr: addr, Workers: 4, Allowed: func(u *whatwg.Url) bool {
		return hosts[u.Host()] && len(u.Href(true)) <= crawl.DefaultLimits().MaxURLLength
	}}
	want := map[string]int{}
	visits, err := o.Crawl(ctx, seeds)
	if err != nil {
		return err
	}
	pages := 0
	for s, v := range visits {
		u, err := crawl.Parse(s)
		if err != nil {
			return err
		}
		if _, twice := want[u.String()]; !twice && v.HTML && v.Status == 200 {
			pages++
		}
		want[u.String()] = v.Status
	}
	got, wrong, err := crawled(ctx, dir)
	if err != nil {
		return err
	}
	for u, status := range want {
		if s, ok := got[u]; !ok {
			wrong = append(wrong, "missing: "+u)
		} else if s != status {
			wrong = append(wrong, fmt.Sprintf("status %d, not %d: %s", s, status, u))
		}
	}
	for u := range got {
		if _, ok := want[u]; !ok {
			wrong = append(wrong, "not reachable: "+u)
		}
	}
	sort.Strings(wrong)
	for i, s := range wrong {
		if i == 40 {
			fmt.Printf("… and %d more\n", len(wrong)-i)
			break
		}
		fmt.Println(s)
	}
	fmt.Printf("search: %d URLs, %d pages; crawl: %d URLs; differences: %d\n", len(want), pages, len(got), len(wrong))
	if len(wrong) > 0 {
		return fmt.Errorf("the sets differ")
	}
	return nil
}

// crawled returns what a crawl has of each URL, and what is wrong with that by itself.
func crawled(ctx context.Context, dir string) (got map[string]int, wrong []string, err error) {
	l, err := ledger.Open(ctx, filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	got = map[string]int{}
	err = l.Pages(ctx, 1, func(p *ledger.Page) error {
		if _, twice := got[p.URL]; twice {
			wrong = append(wrong, "twice: "+p.URL)
		}
		got[p.URL] = p.Status
		if p.State != "fetched" && p.Reason == "" {
			wrong = append(wrong, "no reason: "+p.URL)
		}
		return nil
	})
	return got, wrong, err
}

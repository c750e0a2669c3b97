// Command hops measures how long a crawl takes from one page to the next where there is nothing else to do: pages that are
// found one by one, crawled with delay 0, every hop through archive, log, frontier and dispatch. It prints the time between
// two requests as the site saw them, and the crawler's CPU time a page, over a chain of pages:
//
//	one site         each page names the next one
//	head, then body  the site writes them apart, with Nagle's algorithm on: the body waits for an acknowledgement
//	beside a page    that the site does not answer until the chain is over
//	site to site     each page is another host's, whose robots.txt is asked first
//
//	go run ./bench/hops -argosy PATH [-pages 190] [-rounds 3]
//
// What the disk takes for its part of a hop is printed first: three syncs follow one another (the archive before the part
// that names it, the part before what follows from it, the grant of the next page before the page is asked for).
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	argosy := flag.String("argosy", "argosy", "the argosy binary")
	pages := flag.Int("pages", 190, "pages of a chain")
	rounds := flag.Int("rounds", 3, "runs of each")
	dir := flag.String("dir", "", "directory for the crawls (default: a temporary one)")
	flag.Parse()
	if err := run(*argosy, *pages, *rounds, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "hops:", err)
		os.Exit(1)
	}
}

func run(argosy string, pages, rounds int, dir string) error {
	if pages < 10 || rounds < 1 {
		return fmt.Errorf("%d pages, %d rounds: at least 10 and 1 are needed", pages, rounds)
	}
	tmp, err := os.MkdirTemp(dir, "argosy-hops")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	disk, err := syncTime(filepath.Join(tmp, "sync"))
	if err != nil {
		return err
	}
	fmt.Printf("a sync of 4 KiB takes this disk %.2f ms (median of 200)\n", ms(disk))
	for _, c := range []*chain{{name: "one site"}, {name: "head, then body", apart: true}, {name: "beside a page", beside: true}, {name: "site to site", sites: true}} {
		for r := range rounds {
			c.pages = pages
			if err := c.run(argosy, filepath.Join(tmp, fmt.Sprint(c.name, r))); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	return nil
}

// syncTime is the median time of an append and a sync.
func syncTime(name string) (time.Duration, error) {
	f, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	block := make([]byte, 4<<10)
	took := make([]time.Duration, 200)
	for i := range took {
		begin := time.Now()
		if _, err := f.Write(block); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		took[i] = time.Since(begin)
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

// chain is a chain of pages, as its site serves it.
type chain struct {
	name                 string
	pages                int
	apart, beside, sites bool

	mu   sync.Mutex
	port int
	hits []time.Time
	seen map[int]bool
	over chan struct{} // closed when the last page has been asked for
}

var filler = strings.Repeat("<p>Some text that makes the page as long as small pages are.</p>\n", 50)

// ServeHTTP implements http.Handler.
func (c *chain) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/beside" {
		select {
		case <-c.over:
		case <-r.Context().Done():
		}
		return
	}
	var n int
	if _, err := fmt.Sscanf(r.URL.Path, "/story%d.html", &n); err != nil || n >= c.pages {
		http.NotFound(rw, r)
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<title>story %d</title>", n)
	c.mu.Lock()
	if !c.seen[n] {
		c.seen[n] = true
		c.hits = append(c.hits, time.Now())
	}
	switch {
	case n == c.pages-1:
		if len(c.hits) == c.pages {
			close(c.over)
		}
	case c.sites:
		fmt.Fprintf(&b, "<a href='http://h%d.test:%d/story%d.html'>next</a>", n+1, c.port, n+1)
	default:
		fmt.Fprintf(&b, "<a href=/story%d.html>next</a>", n+1)
	}
	c.mu.Unlock()
	if c.beside && n == 0 {
		b.WriteString("<a href=/beside>beside</a>")
	}
	b.WriteString(filler)
	rw.Header().Set("Content-Type", "text/html")
	rw.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	if c.apart {
		rw.(http.Flusher).Flush()
	}
	_, _ = rw.Write([]byte(b.String()))
}

// run crawls the chain once and prints what it took.
func (c *chain) run(argosy, out string) error {
	c.hits, c.seen, c.over = nil, map[int]bool{}, make(chan struct{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	c.port = l.Addr().(*net.TCPAddr).Port
	srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: c, ConnContext: func(ctx context.Context, nc net.Conn) context.Context {
		_ = nc.(*net.TCPConn).SetNoDelay(!c.apart)
		return ctx
	}}
	defer srv.Close()
	go func() { _ = srv.Serve(l) }() // it ends with Close
	cmd := exec.Command(argosy, "crawl", fmt.Sprintf("http://h0.test:%d/story0.html", c.port), "--scope", "any", "--resolve", "*.test=127.0.0.1",
		"--allow-private", "--delay", "0", "--quiet", "-o", out)
	cmd.Stderr = os.Stderr
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return err
	}
	wall := time.Since(begin)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.hits) != c.pages {
		return fmt.Errorf("%d of %d pages were asked for", len(c.hits), c.pages)
	}
	gaps := make([]time.Duration, 0, c.pages)
	for i := 1; i < len(c.hits); i++ {
		gaps = append(gaps, c.hits[i].Sub(c.hits[i-1]))
	}
	slices.Sort(gaps)
	at := func(share float64) float64 { return ms(gaps[int(share*float64(len(gaps)-1))]) }
	ps := cmd.ProcessState
	fmt.Printf("%-16s %d hops: median %.2f ms, quartiles %.2f and %.2f, 99 in 100 within %.2f; crawl %.1f s; CPU %.2f ms a page; %.0f MiB\n", c.name, len(gaps),
		at(0.5), at(0.25), at(0.75), at(0.99), wall.Seconds(), ms(ps.UserTime()+ps.SystemTime())/float64(c.pages), float64(ps.SysUsage().(*syscall.Rusage).Maxrss)/1024)
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Command memory measures the peak of a crawl's resident memory where many more URLs are found than fetched: sites made of
// code, whose pages name pages that nobody has named before, some that were named already, and each other, crawled until a
// number of pages is fetched.
//
//	go run ./bench/memory -argosy PATH [-pages 200000] [-links 15] [-sites 8] [-text 5000]
//
// It prints the URLs that were discovered, the peak (the promise is 300 MiB), the CPU time a page and the size of what the
// crawl keeps besides archives. For the peak on a web of real pages see bench/speed.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// promise is how much memory a crawl may take, in MiB.
const promise = 300

type web struct {
	sites, links, text int
}

func main() {
	argosy := flag.String("argosy", "argosy", "the argosy binary")
	pages := flag.Int("pages", 200_000, "pages to fetch")
	links := flag.Int("links", 15, "links of a page; half of them lead to pages that no page before has named")
	sites := flag.Int("sites", 8, "sites")
	text := flag.Int("text", 5000, "bytes of a page")
	dir := flag.String("dir", "", "directory for the crawl (default: a temporary one)")
	flag.Parse()
	w := &web{sites: max(1, *sites), links: max(1, *links), text: *text}
	if err := run(*argosy, w, *pages, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "memory:", err)
		os.Exit(1)
	}
}

// path is where page n of a site is: directories and names as sites have them, about 60 bytes.
func path(n int) string {
	return fmt.Sprintf("/archive/%d/section-%d/a-story-with-a-name-of-its-own-%d.html", n%40, n%977, n)
}

// ServeHTTP implements http.Handler: page n names pages fresh*n+1 to fresh*n+fresh, which only it is the first to name,
// and pages that were named before.
func (w *web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	n := 0
	if r.URL.Path != "/" {
		i := strings.LastIndexByte(r.URL.Path, '-') + 1
		var err error
		if n, err = strconv.Atoi(strings.TrimSuffix(r.URL.Path[i:], ".html")); err != nil || n < 0 || path(n) != r.URL.Path {
			http.NotFound(rw, r)
			return
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<title>Story %d of %s</title>", n, r.Host)
	fresh := (w.links + 1) / 2
	for i := 1; i <= fresh; i++ {
		fmt.Fprintf(&b, "<a href=%s>Story %d, which follows on %d</a>\n", path(fresh*n+i), fresh*n+i, n)
	}
	for i := fresh; i < w.links; i++ {
		fmt.Fprintf(&b, "<a href=%s>back</a>\n", path(n*(i-fresh+1)/w.links))
	}
	for rng := rand.New(rand.NewPCG(uint64(n), 1)); b.Len() < w.text; { // a page that says nothing new is taken for a trap's
		b.WriteString("<p>")
		for range 12 {
			b.WriteString(strconv.FormatUint(rng.Uint64N(40_000_000), 36))
			b.WriteString(" ")
		}
		b.WriteString("</p>\n")
	}
	rw.Header().Set("Content-Type", "text/html")
	rw.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	_, _ = rw.Write([]byte(b.String()))
}

func run(argosy string, w *web, pages int, dir string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: w, ReadHeaderTimeout: time.Minute}
	defer srv.Close()
	go func() { _ = srv.Serve(l) }() // it ends with Close
	tmp, err := os.MkdirTemp(dir, "argosy-memory")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	args := []string{"crawl", "--resolve", "*.test=127.0.0.1", "--allow-private", "--delay", "0", "--max-pages", strconv.Itoa(pages),
		"--json", "-o", tmp}
	for i := range w.sites {
		args = append(args, fmt.Sprintf("http://s%d.test:%s/", i, port))
	}
	cmd := exec.Command(argosy, args...)
	cmd.Stderr = os.Stderr
	begin := time.Now()
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var sum struct{ Discovered, Fetched, Failed int64 }
	if err := json.Unmarshal(out, &sum); err != nil {
		return fmt.Errorf("%q: %w", out, err)
	}
	kept := int64(0)
	err = filepath.WalkDir(tmp, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(name, ".warc.gz") {
			return err
		}
		i, err := d.Info()
		if err == nil {
			kept += i.Size()
		}
		return err
	})
	if err != nil {
		return err
	}
	ps := cmd.ProcessState
	peak := float64(ps.SysUsage().(*syscall.Rusage).Maxrss) / 1024
	fmt.Printf("%d pages, %d URLs discovered: peak %.0f MiB, %.3f CPU-s per 1,000 pages, %.0f s, %d MiB kept besides archives\n", sum.Fetched, sum.Discovered, peak,
		(ps.UserTime()+ps.SystemTime()).Seconds()/float64(sum.Fetched)*1000, time.Since(begin).Seconds(), kept>>20)
	if sum.Fetched < int64(pages) || sum.Failed > 0 {
		return fmt.Errorf("%d of %d pages fetched, %d failed", sum.Fetched, pages, sum.Failed)
	}
	if peak > promise {
		return fmt.Errorf("the peak is more than %d MiB", promise)
	}
	return nil
}

// Command speed measures the CPU time that a crawl costs, against a bare loop and against the best Go peer, on the same
// web in the same run, alternating:
//
//	bare    net/http GETs of the same URLs, decompressed by net/http, nothing parsed, nothing written
//	colly   colly with a seen set of our own and golang.org/x/net/html's tokenizer, bodies written to one file
//	argosy  argosy crawl --delay 0 --per-ip 0: WARC, index and ledger written, frontier durable
//
//	go run . -argosy PATH -seeds FILE -addr 127.0.0.1:8088 [-rounds 3]
//	go run . -argosy PATH -against PATH -seeds FILE [-rounds 4]
//
// The second compares two builds of argosy, which crawl at the same time: what else the machine does then hinders both, and ratios of rounds
// differ by hundredths where those of builds that take turns differ by tenths.
//
// Each run is a process of its own; the figure is its user and system seconds per 1,000 pages (HTML, status 200), and
// for argosy the peak of its resident memory. bench/docweb.sh makes the web.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gocolly/colly/v2"
	"golang.org/x/net/html"
)

func main() {
	argosy := flag.String("argosy", "argosy", "the argosy binary")
	seeds := flag.String("seeds", "", "file with a seed a line")
	addr := flag.String("addr", "127.0.0.1:8088", "where every name leads")
	rounds := flag.Int("rounds", 3, "runs of each")
	against := flag.String("against", "", "another argosy binary, instead of the peers")
	mode := flag.String("mode", "", "run one of them in this process: bare or colly")
	urls := flag.String("urls", "", "with -mode bare: file with the URLs")
	out := flag.String("out", "", "with -mode colly: file for bodies")
	flag.Parse()
	var err error
	switch {
	case *mode == "bare":
		err = bare(*urls, *addr)
	case *mode == "colly":
		err = peer(*seeds, *addr, *out)
	case *against != "":
		err = versus(*argosy, *against, *seeds, *addr, *rounds)
	default:
		err = compare(*argosy, *seeds, *addr, *rounds)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
}

func transport(addr string) *http.Transport {
	return &http.Transport{MaxIdleConnsPerHost: 8, MaxConnsPerHost: 8, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}}
}

func lines(file string) (out []string, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for l := range strings.Lines(string(b)) {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out, nil
}

// bare fetches URLs with net/http and throws them away.
func bare(file, addr string) error {
	urls, err := lines(file)
	if err != nil {
		return err
	}
	c := &http.Client{Transport: transport(addr), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	work := make(chan string, 64)
	var pages atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for u := range work {
				resp, err := c.Get(u)
				if err != nil {
					continue
				}
				if _, err := io.Copy(io.Discard, resp.Body); err == nil && resp.StatusCode == 200 && isHTML(resp.Header) {
					pages.Add(1)
				}
				_ = resp.Body.Close()
			}
		})
	}
	for _, u := range urls {
		work <- u
	}
	close(work)
	wg.Wait()
	fmt.Printf("{\"pages\":%d}\n", pages.Load())
	return nil
}

func isHTML(h http.Header) bool {
	return strings.HasPrefix(h.Get("Content-Type"), "text/html") || strings.HasPrefix(h.Get("Content-Type"), "application/xhtml")
}

// peer crawls with colly as fast as it goes: asynchronous, its own visited check off, links by the tokenizer.
func peer(seedsFile, addr, out string) error {
	seeds, err := lines(seedsFile)
	if err != nil {
		return err
	}
	hosts := map[string]bool{}
	for _, s := range seeds {
		u, err := url.Parse(s)
		if err != nil {
			return err
		}
		hosts[u.Host] = true
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	c := colly.NewCollector(colly.Async(true), colly.AllowURLRevisit(), colly.IgnoreRobotsTxt(), colly.MaxBodySize(64<<20))
	c.WithTransport(transport(addr))
	if err := c.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: 16}); err != nil {
		return err
	}
	var mu sync.Mutex
	seen := map[string]bool{}
	pages := 0
	c.OnResponse(func(r *colly.Response) {
		if !isHTML(*r.Headers) {
			return
		}
		var links []string
		for _, ref := range references(r.Body) {
			u, err := r.Request.URL.Parse(strings.TrimSpace(ref))
			if err != nil || !hosts[u.Host] || u.Scheme != "http" {
				continue
			}
			u.Fragment = ""
			links = append(links, u.String())
		}
		mu.Lock()
		if r.StatusCode == 200 {
			pages++
		}
		_, _ = w.Write(r.Body)
		fresh := links[:0]
		for _, l := range links {
			if !seen[l] {
				seen[l] = true
				fresh = append(fresh, l)
			}
		}
		mu.Unlock()
		for _, l := range fresh {
			_ = r.Request.Visit(l)
		}
	})
	for _, s := range seeds {
		mu.Lock()
		seen[s] = true
		mu.Unlock()
		_ = c.Visit(s)
	}
	c.Wait()
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Printf("{\"pages\":%d}\n", pages)
	return f.Close()
}

// references finds a page's links with the tokenizer.
func references(body []byte) (refs []string) {
	z := html.NewTokenizer(bytes.NewReader(body))
	for {
		tt := z.Next()
		if tt == html.ErrorToken {
			return refs
		}
		if tt != html.StartTagToken && tt != html.SelfClosingTagToken {
			continue
		}
		name, more := z.TagName()
		want := ""
		switch string(name) {
		case "a", "area", "link":
			want = "href"
		case "frame", "iframe":
			want = "src"
		case "noscript":
			z.NextIsNotRawText()
		}
		link := string(name) == "link"
		ref, rel := "", ""
		for more && want != "" {
			var k, v []byte
			k, v, more = z.TagAttr()
			if string(k) == want {
				ref = string(v)
			} else if string(k) == "rel" {
				rel = string(v)
			}
		}
		if link && rel != "next" && rel != "prev" && rel != "canonical" && rel != "alternate" {
			continue
		}
		if ref != "" {
			refs = append(refs, ref)
		}
	}
}

type sample struct {
	pages          int64
	cpu, wall, rss float64
}

// measure runs a command and takes its CPU time, wall time and peak memory from the operating system.
func measure(name string, args ...string) (sample, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	out, err := cmd.Output()
	if err != nil {
		return sample{}, fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	wall := time.Since(start).Seconds()
	var got struct{ Pages int64 }
	if err := json.Unmarshal(bytes.TrimSpace(out), &got); err != nil || got.Pages == 0 {
		return sample{}, fmt.Errorf("%s: no pages in %q", name, out)
	}
	ps := cmd.ProcessState
	cpu := (ps.UserTime() + ps.SystemTime()).Seconds()
	rss := float64(ps.SysUsage().(*syscall.Rusage).Maxrss) / 1024
	return sample{got.Pages, cpu / float64(got.Pages) * 1000, wall, rss}, nil
}

// crawl measures argosy.
func crawl(argosy, seeds, addr, dir string) (sample, error) {
	ip, _, err := net.SplitHostPort(addr)
	if err != nil {
		return sample{}, err
	}
	return measure(argosy, "crawl", "--seeds", seeds, "--resolve", "*="+ip, "--allow-private", "--delay", "0", "--per-ip", "0", "--json", "-o", dir)
}

// versus compares two builds that crawl at the same time. Which one begins changes with each round.
func versus(argosy, against, seeds, addr string, rounds int) error {
	builds := []string{argosy, against}
	var ratios []float64
	for r := range rounds {
		tmp, err := os.MkdirTemp("", "argosy-speed")
		if err != nil {
			return err
		}
		var took [2]sample
		var failed [2]error
		var wg sync.WaitGroup
		for i := range builds {
			which := (i + r) % 2
			wg.Go(func() {
				took[which], failed[which] = crawl(builds[which], seeds, addr, filepath.Join(tmp, fmt.Sprint(which)))
			})
		}
		wg.Wait()
		if err := errors.Join(failed[0], failed[1], os.RemoveAll(tmp)); err != nil {
			return err
		}
		for i, s := range took {
			fmt.Printf("round %d  %s %6d pages  %.3f CPU-s per 1,000 pages  %5.1f s  %4.0f MiB\n", r+1, builds[i], s.pages, s.cpu, s.wall, s.rss)
		}
		ratios = append(ratios, took[0].cpu/took[1].cpu)
	}
	sort.Float64s(ratios)
	fmt.Printf("CPU a page, this build to %s: median %.3f (%.3f to %.3f) of %d rounds\n", against, ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1], rounds)
	return nil
}

func compare(argosy, seeds, addr string, rounds int) error {
	tmp, err := os.MkdirTemp("", "argosy-speed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	urls := filepath.Join(tmp, "urls")
	runs := map[string][]sample{}
	names := []string{"bare", "colly", "argosy"}
	for r := range rounds + 1 {
		dir := filepath.Join(tmp, fmt.Sprint("crawl", r))
		a, err := crawl(argosy, seeds, addr, dir)
		if err != nil {
			return err
		}
		if r == 0 { // the first run warms the web and gives the URLs for the bare loop
			b, err := exec.Command(argosy, "export", "-o", dir, "--format", "csv", "--state", "fetched").Output()
			if err != nil {
				return err
			}
			var list []string
			for l := range strings.Lines(string(b)) {
				u, rest, _ := strings.Cut(l, ",")
				if strings.HasPrefix(u, "http") && strings.Contains(rest, ",200,text/html") {
					list = append(list, u)
				}
			}
			if err := os.WriteFile(urls, []byte(strings.Join(list, "\n")), 0o644); err != nil {
				return err
			}
			_ = os.RemoveAll(dir)
			continue
		}
		_ = os.RemoveAll(dir)
		p, err := measure(self, "-mode", "colly", "-seeds", seeds, "-addr", addr, "-out", filepath.Join(tmp, "bodies"))
		if err != nil {
			return err
		}
		b, err := measure(self, "-mode", "bare", "-urls", urls, "-addr", addr)
		if err != nil {
			return err
		}
		for i, s := range []sample{b, p, a} {
			runs[names[i]] = append(runs[names[i]], s)
			fmt.Printf("round %d  %-7s %6d pages  %.3f CPU-s per 1,000 pages  %5.1f s  %4.0f MiB\n", r, names[i], s.pages, s.cpu, s.wall, s.rss)
		}
	}
	med := map[string]float64{}
	for n, ss := range runs {
		sort.Slice(ss, func(i, j int) bool { return ss[i].cpu < ss[j].cpu })
		med[n] = ss[len(ss)/2].cpu
	}
	fmt.Printf("median   bare %.3f  colly %.3f  argosy %.3f   argosy/colly %.2f  argosy/bare %.2f\n", med["bare"], med["colly"], med["argosy"],
		med["argosy"]/med["colly"], med["argosy"]/med["bare"])
	return nil
}

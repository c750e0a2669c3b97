// Command polite shows that politeness holds at scale: many host names over as many loopback addresses, robots.txt and
// a number of small pages each, crawled with a delay. It prints, as the server saw it, the shortest time between two
// requests to a host, when the hosts were asked first, and what share of the ideal that is after 10 and 20 delays.
//
//	go run ./bench/polite -argosy PATH [-hosts 2000] [-pages 20] [-kill 8s] [-per-ip 2 -ips 100]
//
// The ideal asks every host for robots.txt when the clock starts and for a page whenever a delay is over: n requests a
// host in a span of n delays. Requests are counted against that, and because such a count hides up to a delay of lateness, the
// pace is printed too: how far the hosts have come at the end of the span, the running delay counted by what is over of
// it. Both are taken twice, with a clock that starts with the crawler's process and with one that starts with the first
// request.
//
// With -kill the crawler is killed (SIGKILL) after that time and started again. With -ips fewer than -hosts, hosts share
// addresses, and the most hosts of one address that were being crawled at once is printed.
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
	"strings"
	"sync"
	"time"
)

type host struct {
	mu   sync.Mutex
	hits []time.Time
}

func main() {
	argosy := flag.String("argosy", "argosy", "the argosy binary")
	hosts := flag.Int("hosts", 2000, "host names")
	ips := flag.Int("ips", 0, "addresses (default: one a host)")
	pages := flag.Int("pages", 20, "pages a host, besides robots.txt")
	perIP := flag.Int("per-ip", 16, "leases at once on one address")
	delay := flag.Duration("delay", time.Second, "delay")
	kill := flag.Duration("kill", 0, "kill and restart after this")
	flag.Parse()
	if *ips == 0 {
		*ips = *hosts
	}
	if err := run(*argosy, *hosts, *ips, *pages, *perIP, *delay, *kill); err != nil {
		fmt.Fprintln(os.Stderr, "polite:", err)
		os.Exit(1)
	}
}

// ipOf spreads addresses over 127.1.0.0/16.
func ipOf(i int) string { return fmt.Sprintf("127.1.%d.%d", i/250, 1+i%250) }

func run(argosy string, hosts, ips, pages, perIP int, delay, kill time.Duration) error {
	web := make([]host, hosts)
	port, err := serve(web, ips, pages)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "argosy-polite")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	var seeds strings.Builder
	args := []string{"crawl", "--seeds", filepath.Join(tmp, "seeds"), "--allow-private", "--delay", delay.String(), "--per-ip", fmt.Sprint(perIP), "--quiet", "-o", filepath.Join(tmp, "out")}
	for i := range hosts {
		fmt.Fprintf(&seeds, "http://h%d.polite.test:%s/\n", i, port)
		args = append(args, "--resolve", fmt.Sprintf("h%d.polite.test=%s", i, ipOf(i%ips)))
	}
	if err := os.WriteFile(filepath.Join(tmp, "seeds"), []byte(seeds.String()), 0o644); err != nil {
		return err
	}
	killedAt := time.Now()
	if kill > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), kill)
		err := exec.CommandContext(ctx, argosy, args...).Run()
		killed := ctx.Err() != nil
		killedAt = time.Now()
		cancel()
		if !killed {
			return fmt.Errorf("the crawler ended before it was killed: %w", err)
		}
	}
	cmd := exec.Command(argosy, args...)
	cmd.Stderr = os.Stderr
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return err
	}
	report(web, delay)
	if kill > 0 {
		fmt.Println("  (killed once and started again: no share of an ideal)")
	} else {
		begin(web, pages, delay, began)
	}
	if ips < hosts {
		fmt.Printf("%d addresses, at most %d hosts of one address between their first and their last request of a run at once; allowed %d\n",
			ips, max(crowd(web, ips, time.Time{}, killedAt), crowd(web, ips, killedAt, time.Now())), perIP)
	}
	fmt.Printf("crawler: %.1f CPU-s in its last run\n", (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
	return nil
}

// serve serves the web on a port of all addresses, as long as the program runs, and notes when each host is asked.
func serve(web []host, ips, pages int) (port string, err error) {
	port = "0"
	filler := strings.Repeat("<p>Some text that makes the page as long as small pages are.</p>\n", 50)
	handler := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var n int
		if _, err := fmt.Sscanf(r.Host, "h%d.polite.test", &n); err != nil || n >= len(web) {
			http.Error(rw, "who?", http.StatusMisdirectedRequest)
			return
		}
		h := &web[n]
		h.mu.Lock()
		h.hits = append(h.hits, time.Now())
		h.mu.Unlock()
		if r.URL.Path == "/robots.txt" {
			_, _ = rw.Write([]byte("User-agent: *\nDisallow: /no\n"))
			return
		}
		var b strings.Builder
		b.WriteString("<title>page</title>")
		for i := 1; i < pages; i++ {
			fmt.Fprintf(&b, "<a href=/p%d>%d</a> ", i, i)
		}
		rw.Header().Set("Content-Type", "text/html")
		_, _ = rw.Write([]byte(b.String() + filler))
	})
	listeners := make([]net.Listener, 0, ips)
	for i := range ips {
		l, err := net.Listen("tcp", net.JoinHostPort(ipOf(i), port))
		if err != nil {
			return "", err
		}
		_, port, _ = net.SplitHostPort(l.Addr().String())
		listeners = append(listeners, l)
	}
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	for _, l := range listeners {
		go func() { _ = srv.Serve(l) }() // it ends when the program does
	}
	return port, nil
}

// crowd returns the most hosts of one address that were being crawled at once, between first and last request, in a
// span of time.
func crowd(web []host, ips int, from, to time.Time) (most int) {
	ends := make([][2]time.Time, len(web))
	for i := range web {
		for _, at := range web[i].hits {
			if at.Before(from) || at.After(to) {
				continue
			}
			if ends[i][0].IsZero() {
				ends[i][0] = at
			}
			ends[i][1] = at
		}
	}
	for i := range web {
		n := 0
		for j := i % ips; j < len(web); j += ips {
			if !ends[i][0].IsZero() && !ends[j][0].IsZero() && !ends[j][0].After(ends[i][0]) && !ends[j][1].Before(ends[i][0]) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// report prints what the hosts saw.
func report(web []host, delay time.Duration) {
	limit := delay * 95 / 100
	gap, early, total := time.Hour, 0, 0
	for i := range web {
		hits := web[i].hits
		total += len(hits)
		for j := 1; j < len(hits); j++ {
			g := hits[j].Sub(hits[j-1])
			gap = min(gap, g)
			if g < limit {
				early++
			}
		}
	}
	fmt.Printf("%d hosts, %d requests; shortest time between two requests to a host %s; %d closer than %s\n", len(web), total, gap.Round(time.Millisecond), early, limit)
}

// begin prints when hosts were asked first, and the share of the ideal.
func begin(web []host, pages int, delay time.Duration, process time.Time) {
	var firsts []time.Time
	for i := range web {
		if len(web[i].hits) > 0 {
			firsts = append(firsts, web[i].hits[0])
		}
	}
	if len(firsts) == 0 {
		return
	}
	slices.SortFunc(firsts, time.Time.Compare)
	first := firsts[0]
	at := func(share float64) time.Duration {
		return firsts[int(share*float64(len(firsts)-1))].Sub(first).Round(time.Millisecond)
	}
	fmt.Printf("first request %s after the process's start; first requests to half of the hosts %s later, to 99 in 100 %s, to all %s\n",
		first.Sub(process).Round(time.Millisecond), at(0.5), at(0.99), at(1))
	for _, clock := range []struct {
		name string
		from time.Time
	}{{"the process's start", process}, {"the first request", first}} {
		for _, turns := range []int{10, 20} {
			if turns > pages+1 {
				break
			}
			n, pace := ideal(web, clock.from, delay, turns)
			could := len(web) * turns
			fmt.Printf("  %s after %s: %d of %d requests, %.2f %%; pace %.2f %%\n", time.Duration(turns)*delay, clock.name, n, could, 100*float64(n)/float64(could), 100*pace)
		}
	}
}

// ideal counts the requests of a span of turns delays, no more than the ideal has, and says how fast they came: the
// position of a host is the number of its last request, from 0, and the share of the delay that is over since, as far
// as the span goes; that of the ideal is turns.
func ideal(web []host, from time.Time, delay time.Duration, turns int) (n int, pace float64) {
	end := from.Add(time.Duration(turns) * delay)
	for i := range web {
		last := -1
		for k, at := range web[i].hits {
			if k < turns && at.Before(end) {
				last = k
			}
		}
		if last >= 0 {
			n += last + 1
			pace += (float64(last) + min(1, float64(end.Sub(web[i].hits[last]))/float64(delay))) / float64(turns)
		}
	}
	return n, pace / float64(len(web))
}

// Command gaps shows that the delay holds on the wire where servers end the connections that are kept: a request that came to nothing
// for that is sent again at the site's next turn, not at once. One crawl asks six sites, each of which treats connections its own way:
//
//	cut          HTTP/1.1: the connection ends when the next request comes, without an answer
//	reset        the same, by a reset
//	left         HTTP/1.1: the connection ends behind an answer that promised to keep it
//	goaway       HTTP/2: GOAWAY behind an answer, and nothing further is processed
//	refused      HTTP/2: further requests are refused one by one (REFUSED_STREAM)
//	cut h2       HTTP/2: the connection ends when the next request comes
//
//	go run ./bench/gaps -argosy PATH [-pages 40] [-delay 200ms] [-most 3]
//
// Requests are taken from a packet capture (tshark; root, or who may capture), not from what crawler or servers say of themselves. It
// fails if two of a site are closer than the delay, if the capture has fewer or (but for left) more than the server has read, if a server had nothing
// to cut, or if a page is missing.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

func main() {
	argosy := flag.String("argosy", "argosy", "the argosy binary")
	pages := flag.Int("pages", 40, "pages of a site")
	delay := flag.Duration("delay", 200*time.Millisecond, "delay")
	most := flag.Int("most", 3, "requests that are answered on a connection")
	flag.Parse()
	if err := run(*argosy, *pages, *most, *delay); err != nil {
		fmt.Fprintln(os.Stderr, "gaps:", err)
		os.Exit(1)
	}
}

func run(argosy string, pages, most int, delay time.Duration) error {
	if pages < 2 || most < 1 || delay < time.Millisecond {
		return fmt.Errorf("%d pages, %d requests on a connection, %v: at least 2, 1 and 1ms are needed", pages, most, delay)
	}
	tmp, err := os.MkdirTemp("", "argosy-gaps")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	keys, err := os.Create(filepath.Join(tmp, "keys"))
	if err != nil {
		return err
	}
	defer keys.Close()
	sites, err := serve(pages, most, keys)
	if err != nil {
		return err
	}
	args := []string{"crawl", "--resolve", "*.test=127.0.0.1", "--allow-private", "--insecure", "--per-ip", "0", "--delay", delay.String(),
		"--json", "-o", filepath.Join(tmp, "out")}
	for _, s := range sites {
		args = append(args, s.url())
	}
	capture, err := begin(filepath.Join(tmp, "packets"), sites)
	if err != nil {
		return err
	}
	cmd := exec.Command(argosy, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	seen, ends := capture.end(keys.Name())
	if err != nil {
		return err
	}
	if ends != nil {
		return ends
	}
	var sum struct{ Fetched, Requests int64 }
	if err := json.Unmarshal(out, &sum); err != nil {
		return fmt.Errorf("%q: %w", out, err)
	}
	return judge(sites, seen, pages, delay, sum.Fetched, sum.Requests)
}

// judge prints what the capture shows of each site, and returns what is wrong with it.
func judge(sites []*site, seen map[int][]time.Time, pages int, delay time.Duration, fetched, counted int64) (err error) {
	total := 0
	for _, s := range sites {
		at := seen[s.port]
		slices.SortFunc(at, time.Time.Compare)
		least := time.Duration(1<<63 - 1)
		for i := 1; i < len(at); i++ {
			least = min(least, at[i].Sub(at[i-1]))
		}
		total += len(at)
		s.mu.Lock()
		read, lost, had := s.read, s.lost, len(s.had)
		s.mu.Unlock()
		fmt.Printf("%-8s %3d requests on %3d connections, %3d of them not processed; %d of %d pages; least gap %.3f ms\n", s.name, len(at), s.conns.Load(), lost, had, pages,
			float64(least.Microseconds())/1000)
		switch {
		case len(at) < read, len(at) > read && s.mode != left: // what meets a connection that has just been left, nobody reads
			err = fmt.Errorf("%s: the capture has %d requests, the server has read %d", s.name, len(at), read)
		case had != pages:
			err = fmt.Errorf("%s: %d of %d pages", s.name, had, pages)
		case least < delay:
			err = fmt.Errorf("%s: two requests %v after each other, with a delay of %v", s.name, least, delay)
		case lost == 0 && s.mode != left:
			err = fmt.Errorf("%s: no request met a connection that ended", s.name)
		}
	}
	fmt.Printf("all      %d requests in the capture, %d that the crawler counts; %d pages\n", total, counted, fetched)
	if err == nil && int64(total) != counted {
		err = fmt.Errorf("the crawler counts %d requests, the capture has %d", counted, total)
	}
	return err
}

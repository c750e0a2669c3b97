package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"argosy/bench/process"
	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/verify"
	"argosy/internal/webs"
)

const (
	killPages = 1200                  // of the web
	killHad   = 300                   // that the crawl has
	killTakes = 20 * time.Millisecond // an answer
)

// asked is a request for a page, as its site saw it.
type asked struct {
	life     int       // of the crawl's process, from 0
	answered time.Time // when the answer had been handed to the network; zero: it had not
}

// siteLog is what all sites of a web saw.
type siteLog struct {
	web     http.Handler
	layered bool // each crawler may ask for a URL
	mu      sync.Mutex
	life    int
	all     map[string][]*asked
	n       int
}

func (s *siteLog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	a, at := &asked{life: s.life}, "http://"+r.Host+r.URL.RequestURI()
	s.all[at] = append(s.all[at], a)
	s.n++
	s.mu.Unlock()
	time.Sleep(killTakes)
	s.web.ServeHTTP(w, r)
	if r.Context().Err() == nil && http.NewResponseController(w).Flush() == nil {
		s.mu.Lock()
		a.answered = time.Now()
		s.mu.Unlock()
	}
}

func (s *siteLog) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// killed crawls a made web with five crawlers, kills the crawl again and again with SIGKILL between two markets, and says what was asked for
// twice, and why; what is had twice, or lost, is an error.
func killed(seed uint64, kills int, mode, argosy, tmp string) error {
	dir, err := os.MkdirTemp(tmp, "argosy-kill")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if argosy == "" {
		argosy = filepath.Join(dir, "argosy")
		if out, err := exec.Command("go", "build", "-o", argosy, "./cmd/argosy").CombinedOutput(); err != nil {
			return fmt.Errorf("build: %w\n%s", err, out)
		}
	}
	web := webs.NewTopical(webs.TopicalConfig{Seed: seed, Sites: 8, Pages: killPages / 8, Share: 0.1, Near: 0.4, Told: 0.4})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	site := &siteLog{web: web, all: map[string][]*asked{}}
	srv := &http.Server{Handler: site}
	go func() { _ = srv.Serve(l) }() // until it is closed
	defer srv.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return err
	}
	out := filepath.Join(dir, "out")
	p := &process.Process{Log: filepath.Join(dir, "log"), Args: append([]string{
		argosy, "crawl", "-o", out, "--topic", webs.TopicalWords, "--market", mode, "--crawlers", "5", "--scope", "any", "--max-pages", fmt.Sprint(killHad),
		"--delay", "0", "--per-ip", "0", "--resolve", "*.test=127.0.0.1", "--allow-private=127.0.0.0/8",
	}, web.Seeds(port)...)}
	defer p.End(syscall.SIGKILL)
	var at []time.Time // of the kills
	rng := rand.New(rand.NewPCG(seed, 1))
	for until := time.Now().Add(5 * time.Minute); ; {
		if err := p.Start(); err != nil {
			return err
		}
		most := site.requests() + 5 + rng.IntN(2*killHad/(kills+1))
		ended := false
		for !ended && (len(at) == kills || site.requests() < most) && time.Now().Before(until) {
			select {
			case <-p.Done:
				ended = true
				p.Done <- nil
			case <-time.After(time.Millisecond):
			}
		}
		if ended {
			break
		}
		if time.Now().After(until) {
			return errors.New("the crawl does not end")
		}
		time.Sleep(time.Duration(rng.Int64N(int64(2 * killTakes))))
		at = append(at, time.Now())
		p.End(syscall.SIGKILL)
		site.mu.Lock()
		site.life++
		site.mu.Unlock()
	}
	if err := srv.Close(); err != nil {
		return err
	}
	site.layered = !strings.HasPrefix(mode, string(crawl.MarketLots))
	return site.judge(out, at, filepath.Join(dir, "log"))
}

// judge says what was asked for twice, and whether anything is lost or had twice.
func (s *siteLog) judge(dir string, kills []time.Time, log string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, pages, open, same := 0, 0, 0, 0
	var before []time.Duration // how long before the kill what was asked for again had been answered
	for _, url := range slices.Sorted(maps.Keys(s.all)) {
		asks := s.all[url]
		pages, n = pages+1, n+len(asks)
		for i := 1; i < len(asks); i++ {
			first := asks[i-1]
			switch {
			case first.life == asks[i].life:
				same++
			case first.answered.IsZero() || first.answered.After(kills[first.life]):
				open++
			default:
				before = append(before, kills[first.life].Sub(first.answered))
			}
		}
	}
	slices.Sort(before)
	fmt.Printf("%d kills; %d requests for %d URLs", len(kills), n, pages)
	if !s.layered {
		fmt.Printf("; asked for again: %d that were open when it was killed, %d that had been answered", open, len(before))
		if len(before) > 0 {
			fmt.Printf(" (%d, %d and %d ms before: least, median, most)", before[0].Milliseconds(), before[len(before)/2].Milliseconds(), before[len(before)-1].Milliseconds())
		}
		fmt.Printf(", %d within one life", same)
	}
	fmt.Println()
	ctx := context.Background()
	l, err := ledger.Open(ctx, filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		b, _ := os.ReadFile(log)
		return fmt.Errorf("%w\n%s", err, b)
	}
	defer l.Close()
	had := map[string]int{}
	if err := l.Pages(ctx, 1, func(p *ledger.Page) error {
		if p.State == crawl.Fetched.String() {
			had[fmt.Sprint(p.Owner, p.URL)]++
		}
		return nil
	}); err != nil {
		return err
	}
	for url, n := range had {
		if n > 1 {
			err = errors.Join(err, fmt.Errorf("%s is in the ledger %d times", url, n))
		}
	}
	r, verr := verify.Check(ctx, verify.Place{Dir: dir})
	if verr != nil {
		return errors.Join(err, verr)
	}
	fmt.Printf("%d pages had, each once; %d indexed; %d records of answers that nobody was told of; verify: %v\n", len(had), r.Indexed, r.Orphans, r.OK)
	if !r.OK {
		err = errors.Join(err, fmt.Errorf("verify: %v", r.Details))
	}
	return err
}

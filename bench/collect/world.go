package main

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// host is where all sites are.
const host = "127.0.3.1"

func address(node int) string { return fmt.Sprintf("127.0.3.%d", 11+node) }

func site(i int) string { return fmt.Sprintf("s%d.sites.test", i+1) }

// How a site treats a node.
const (
	good = iota
	slow // it answers after slowness
	shut // it answers 403
)

const slowness = 1500 * time.Millisecond

// treatment is how sites treat nodes, a row a site, before and after the turn.
var treatment = [2][sites][nodes]int{
	{{good, good, shut, slow}, {shut, good, slow, good}, {slow, shut, good, good}, {good, slow, good, shut}, {slow, good, shut, good}},
	{{shut, good, good, slow}, {good, shut, slow, good}, {slow, shut, good, good}, {shut, slow, good, good}, {good, good, shut, slow}},
}

// hit is a request as a site saw it.
type hit struct {
	at     time.Time
	node   int
	uri    string
	phase  int
	status int
}

// world is the sites and the engine.
type world struct {
	db     string
	server *http.Server
	engine *httputil.ReverseProxy
	files  [sites]http.Handler

	mu    sync.Mutex
	phase int
	hits  map[string][]hit // by host
	truth map[[2]string][]string
	words map[string][]string
}

// newWorld indexes a part of PostgreSQL's documentation for each site, and serves them.
func newWorld(dir, db string, omega int) (*world, error) {
	docs, err := filepath.Glob("/usr/share/doc/postgresql-doc-[0-9]*/html/*.html")
	if err != nil || len(docs) == 0 {
		return nil, fmt.Errorf("no documentation of PostgreSQL (bench/engines.sh installs it): %w", err)
	}
	to, err := url.Parse(fmt.Sprintf("http://127.0.0.1:%d", omega))
	if err != nil {
		return nil, err
	}
	w := &world{db: db, hits: map[string][]hit{}, truth: map[[2]string][]string{}, words: map[string][]string{}, engine: httputil.NewSingleHostReverseProxy(to)}
	if err := os.RemoveAll(db); err != nil {
		return nil, err
	}
	for i := range sites {
		root := filepath.Join(dir, "docs", site(i))
		if err := os.MkdirAll(root, 0o755); err != nil {
			return nil, err
		}
		for k := i; k < len(docs); k += 2 * sites { // half of them
			b, err := os.ReadFile(docs[k])
			if err == nil {
				err = os.WriteFile(filepath.Join(root, filepath.Base(docs[k])), b, 0o644)
			}
			if err != nil {
				return nil, err
			}
		}
		w.files[i] = http.FileServer(http.Dir(root))
		if out, err := exec.Command("omindex", "--no-delete", "--db", db, "--url", "http://"+site(i)+"/", root).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("omindex: %w: %s", err, out)
		}
	}
	l, err := net.Listen("tcp", host+":80")
	if err != nil {
		return nil, err
	}
	w.server = &http.Server{Handler: w, ReadHeaderTimeout: time.Minute}
	go func() {
		if err := w.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			panic(err) // a listener on loopback does not fail by itself
		}
	}()
	return w, nil
}

func (w *world) close() { _ = w.server.Close() }

// turn has the sites change their minds.
func (w *world) turn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.phase = 1
	fmt.Println("the sites change their minds")
}

func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	h := hit{at: time.Now(), uri: r.URL.RequestURI(), node: -1, status: http.StatusOK}
	from, _, _ := net.SplitHostPort(r.RemoteAddr)
	for n := range nodes {
		if from == address(n) {
			h.node = n
		}
	}
	of := -1
	for i := range sites {
		if r.Host == site(i) {
			of = i
		}
	}
	w.mu.Lock()
	h.phase = w.phase
	how := good
	if of >= 0 && h.node >= 0 && r.URL.Path != "/robots.txt" {
		how = treatment[w.phase][of][h.node]
	}
	if how == shut {
		h.status = http.StatusForbidden
	}
	w.hits[r.Host] = append(w.hits[r.Host], h)
	w.mu.Unlock()
	switch {
	case r.URL.Path == "/robots.txt":
		http.NotFound(rw, r)
	case of < 0:
		w.engine.ServeHTTP(rw, r)
	case how == shut:
		http.Error(rw, "not you", http.StatusForbidden)
	default:
		if how == slow {
			time.Sleep(slowness)
		}
		w.files[of].ServeHTTP(rw, r)
	}
}

// found lists what the index has for a word on a site, by Xapian's own program.
func (w *world) found(word, of string) ([]string, error) {
	if w.words[word] == nil {
		out, err := exec.Command("quest", "-d", w.db, "-m", "100000", "--default-op=and", word).Output()
		if err != nil {
			return nil, fmt.Errorf("quest: %w", err)
		}
		w.words[word] = []string{}
		for _, line := range strings.Split(string(out), "\n") {
			if u, ok := strings.CutPrefix(line, "url="); ok {
				w.words[word] = append(w.words[word], u)
			}
		}
	}
	var out []string
	for _, u := range w.words[word] {
		if strings.HasPrefix(u, "http://"+of+"/") {
			out = append(out, u)
		}
	}
	return out, nil
}

// pages is how many pages the searches name.
func (w *world) pages() (int, error) {
	all := map[string]bool{}
	for _, s := range subjects {
		for i := range sites {
			us, err := w.found(s, site(i))
			if err != nil {
				return 0, err
			}
			for _, u := range us {
				all[u] = true
			}
		}
	}
	return len(all), nil
}

// served is how many pages the sites have given.
func (w *world) served() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range sites {
		for _, h := range w.hits[site(i)] {
			if h.status == http.StatusOK && h.uri != "/robots.txt" {
				n++
			}
		}
	}
	return n
}

// judge says what was wrong with what the sites and the engine saw; lost is how many leases were lost.
func (w *world) judge(lost int, killed bool) (wrong []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	shortest, repeated := time.Hour, 0
	for _, name := range slices.Sorted(maps.Keys(w.hits)) {
		asked := map[string]bool{}
		for k, h := range w.hits[name] {
			if k > 0 {
				shortest = min(shortest, h.at.Sub(w.hits[name][k-1].at))
			}
			if !strings.HasSuffix(name, "engine.sites.test") || h.uri == "/robots.txt" {
				continue
			}
			if asked[h.uri] {
				repeated++
			}
			asked[h.uri] = true
		}
		if name == "engine.sites.test" {
			fmt.Printf("the engine: %d result pages, %d asked again; leases lost: %d\n", len(asked), repeated, lost)
		}
	}
	fmt.Printf("shortest time between two requests to a site, as it saw them: %d ms\n", shortest.Milliseconds())
	if repeated > lost {
		wrong = append(wrong, fmt.Sprintf("%d result pages were asked again, %d leases were lost", repeated, lost))
	}
	if !killed {
		wrong = append(wrong, w.settled()...)
	}
	return wrong
}

// trial is how many pages it may cost to find out that a site shuts out one more node.
const trial = 5

// settled says of each site and phase who asked it in the phase's first half and in its second. It is not content where more than a fifth of
// the second half, and more than a trial, came from nodes that the site shuts out; nor, once the sites have changed their minds, where less
// than half of it came from nodes that are well treated.
func (w *world) settled() (wrong []string) {
	fmt.Printf("%-14s %-6s %-5s %s\n", "site", "phase", "half", "requests by node: good*, slow~, shut out!")
	for i := range sites {
		for phase := range 2 {
			var of []hit
			for _, h := range w.hits[site(i)] {
				if h.phase == phase && h.uri != "/robots.txt" && h.node >= 0 {
					of = append(of, h)
				}
			}
			for half := range 2 {
				part := of[half*len(of)/2 : (half+1)*len(of)/2]
				var by [nodes]int
				refused, well := 0, 0
				for _, h := range part {
					if by[h.node]++; h.status != http.StatusOK {
						refused++
					}
					if treatment[phase][i][h.node] == good {
						well++
					}
				}
				line := ""
				for n, count := range by {
					line += fmt.Sprintf("%5d%c", count, "*~!"[treatment[phase][i][n]])
				}
				fmt.Printf("%-14s %-6d %-5d %s\n", site(i), phase+1, half+1, line)
				if half == 1 && refused > max(trial, len(part)/5) {
					wrong = append(wrong, fmt.Sprintf("%s: in the second half of phase %d, %d of %d requests came from nodes that it shuts out", site(i), phase+1, refused, len(part)))
				}
				if half == 1 && phase == 1 && 2*well < len(part) {
					wrong = append(wrong, fmt.Sprintf("%s: in the second half of phase %d, only %d of %d requests came from nodes that it treats well", site(i), phase+1, well, len(part)))
				}
			}
		}
	}
	return wrong
}

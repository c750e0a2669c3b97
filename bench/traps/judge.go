package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// web is what one crawl is judged by: sites by the first label of their names.
type web struct {
	name  string
	sites map[string]*site
	args  []string // of argosy crawl, besides the common ones

	failed error // an application gave no answer: what is missing is not the crawl's fault
}

// single returns a web of one site.
func single(name string, parts ...*part) *web {
	return &web{name: name, sites: map[string]*site{name: newSite(name, parts...)}}
}

// tally is what the answers of a part, or of a trap of it, were worth.
type tally struct {
	answers int
	wasted  int // text and outside targets were all known already
}

// maxKills is how often a crawler is killed at most.
const maxKills = 10

// judge serves a web and notes what each answer was worth when it was given.
type judge struct {
	web   *web
	stop  func() // called when there were too many requests
	max   int
	kill  int // the crawler is killed and started again after so many requests, if that is not 0
	die   func()
	spent bool // when it is played: the node's budget for marks is used up
	file  *os.File
	out   *bufio.Writer // to it: every answer, for whom wants to see; nil for none

	mu       sync.Mutex
	requests int
	asked    map[string]bool   // by site and URL
	said     map[string]bool   // by site and text
	known    map[string]bool   // by site and content: shown, or linked to
	had      map[string]bool   // by site and content: shown by a complete answer
	traps    map[string]*tally // by site, part and trap
}

func newJudge(w *web, most int) *judge {
	return &judge{web: w, max: most, asked: map[string]bool{}, said: map[string]bool{}, known: map[string]bool{}, had: map[string]bool{}, traps: map[string]*tally{}}
}

// ServeHTTP answers, and judges the answer.
func (j *judge) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	host, _, _ := strings.Cut(r.Host, ".")
	s := j.web.sites[host]
	if s == nil {
		http.Error(rw, "no such site", http.StatusMisdirectedRequest)
		return
	}
	a := s.ask(r.URL)
	if r.URL.Path != "/robots.txt" {
		j.note(host, s, r.URL.RequestURI(), a)
	}
	if a.kind == "" {
		a.kind = "text/html; charset=utf-8"
	}
	rw.Header().Set("Content-Type", a.kind)
	if a.location != "" {
		rw.Header().Set("Location", a.location)
	}
	if a.next != "" {
		rw.Header().Set("Link", "<"+a.next+">; rel=next")
	}
	if a.status != 0 {
		rw.WriteHeader(a.status)
	}
	_, _ = rw.Write([]byte(a.body))
}

func (j *judge) note(host string, s *site, uri string, a *answer) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.requests++
	if j.requests == j.max {
		j.stop()
	}
	if j.kill > 0 && j.requests%j.kill == 0 && j.requests <= maxKills*j.kill {
		j.die()
	}
	if j.asked[host+uri] {
		return // again, after a kill: what it was worth has been counted
	}
	j.asked[host+uri] = true
	isNew := a.says != "" && !j.said[host+" "+a.says]
	j.said[host+" "+a.says] = true
	for _, t := range append(a.targets, a.real) {
		if t != "" && !j.known[host+" "+t] {
			j.known[host+" "+t] = true
			isNew = true
		}
	}
	if a.real != "" {
		j.had[host+" "+a.real] = true
	}
	if a.trap != "" {
		key := host + " " + a.trap
		for _, p := range s.parts {
			if strings.HasPrefix(uri, p.paths) && len(p.traps) > 0 {
				key = host + " " + p.name + " " + a.trap
			}
		}
		t := j.traps[key]
		if t == nil {
			t = &tally{}
			j.traps[key] = t
		}
		t.answers++
		if !isNew {
			t.wasted++
		}
	}
	if j.out != nil {
		what := "new"
		if !isNew {
			what = "known"
		}
		fmt.Fprintf(j.out, "%d\t%s\t%s\t%s\t%s\t%s\n", j.requests, what, host, uri, a.trap, a.says)
	}
}

// verdict is what one crawl was worth.
type verdict struct {
	seconds float64
	ended   string // "" when the crawl ended by itself, else why it was ended
	code    int
	said    string // what it printed
	more    string // what it says in argosy tasks, where it refers to that
	memory  int64  // peak, bytes
}

// run crawls the web.
func (j *judge) run(argosy, dir string, limit time.Duration, extra []string) (*verdict, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	srv := &http.Server{Handler: j, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(new(bytes.Buffer), "", 0)}
	go func() { _ = srv.Serve(l) }() // it ends by Close
	defer srv.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	args := []string{"crawl"}
	for host := range j.web.sites {
		args = append(args, fmt.Sprintf("http://%s.trap.test:%s/", host, port))
	}
	args = append(args, "--allow-private", "--resolve", "*=127.0.0.1", "--delay", "0", "-o", filepath.Join(dir, "crawl"))
	args = append(append(args, j.web.args...), extra...)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	many := false
	j.mu.Lock()
	j.stop = func() { many = true; cancel() } // with j.mu held
	j.mu.Unlock()
	start := time.Now()
	v := &verdict{}
	for again := true; again; {
		if again, err = j.live(ctx, v, argosy, args); err != nil {
			return nil, err
		}
	}
	v.seconds = time.Since(start).Seconds()
	if strings.Contains(v.said, "tasks --json") { // there is more to say than the end of a run has room for
		b, err := exec.Command(argosy, "tasks", "-o", filepath.Join(dir, "crawl"), "--json").Output()
		if err != nil {
			return nil, fmt.Errorf("tasks --json: %w", err)
		}
		v.more = string(b)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case many:
		v.ended = "after " + strconv.Itoa(j.max) + " requests"
	case ctx.Err() != nil:
		v.ended = "after " + limit.String()
	}
	if j.out != nil {
		_ = j.out.Flush()
	}
	return v, nil
}

// live runs the crawler once; it reports whether it was killed and has to be started again.
func (j *judge) live(ctx context.Context, v *verdict, argosy string, args []string) (killed bool, err error) {
	cmd := exec.CommandContext(ctx, argosy, args...)
	// As a person would end it first, so that it says what it has.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return false, err
	}
	j.mu.Lock()
	j.die = func() { // with j.mu held
		killed = true
		_ = cmd.Process.Kill() // it may have ended by itself
	}
	j.mu.Unlock()
	_ = cmd.Wait() // its code is read below
	j.mu.Lock()
	defer j.mu.Unlock()
	j.die = func() {}
	v.code, v.said, v.memory = cmd.ProcessState.ExitCode(), out.String(), max(v.memory, peak(cmd))
	return killed && ctx.Err() == nil, nil
}

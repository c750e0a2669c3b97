package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"argosy/bench/process"
	"argosy/internal/crawl"
	"argosy/internal/fleet/web"
	"argosy/internal/webs"
)

// What the answers are measured with.
const (
	answerEvery = 15 * time.Millisecond // one request after another, on one connection
	answerDelay = 20 * time.Second      // of the job: links come in, and hardly anything is fetched
	brokenPage  = "/broken"             // of every site: it fails, for the retry
)

// large are the sizes of what is asked for answers.
type large struct {
	urls, sites, nodes, processes int
	least                         int // requests of a phase
}

// listing is a web whose sites name all their pages on their first.
func listing(l large) *webs.Web {
	w := webs.New()
	for s := range l.sites {
		host := fmt.Sprintf("s%d.test", s)
		w.Sites[host] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", "text/html; charset=utf-8")
			switch r.URL.Path {
			case "/":
				var b strings.Builder
				fmt.Fprintf(&b, "<!DOCTYPE html><title>%s</title><a href=%s>broken</a>\n", host, brokenPage)
				for p := range l.urls / l.sites {
					fmt.Fprintf(&b, "<a href=/d%d/e%d/p%d.html>page %d</a>\n", p%7, p%3, p, p)
				}
				_, _ = io.WriteString(rw, b.String())
			case brokenPage:
				panic(http.ErrAbortHandler)
			case "/robots.txt":
				http.NotFound(rw, r)
			default:
				_, _ = io.WriteString(rw, "<!DOCTYPE html><title>"+r.URL.Path+"</title>a page")
			}
		})
	}
	return w
}

// asked are the answers to one kind of request in a phase.
type asked struct {
	took   []time.Duration
	failed int
}

// asker asks the API all the time.
type asker struct {
	f    *fleet
	mu   sync.Mutex
	by   map[string]*asked
	last uint32
}

// aliveness is asked to know how long the machine takes for an answer that nobody has to look anything up for.
const aliveness = "/healthz"

// paths are what is asked, in turn.
var paths = []string{"/jobs", "/nodes", "/tasks", aliveness}

func (a *asker) run(ctx context.Context) {
	client := &http.Client{Timeout: 30 * time.Second}
	for i := 0; ctx.Err() == nil; i++ {
		what := paths[i%len(paths)]
		path := what
		if what == "/tasks" {
			path = fmt.Sprintf("/jobs/1/tasks?limit=1000&after=%d", a.last)
			if a.last += 500; a.last > uint32(a.f.o.sites) {
				a.last = 0
			}
		}
		begin := time.Now()
		err := a.get(ctx, client, path)
		took := time.Since(begin)
		if ctx.Err() != nil {
			return
		}
		a.mu.Lock()
		if a.by[what] == nil {
			a.by[what] = &asked{}
		}
		if err != nil {
			a.by[what].failed++
		} else {
			a.by[what].took = append(a.by[what].took, took)
		}
		a.mu.Unlock()
		if pause(ctx, max(0, answerEvery-took)) != nil {
			return
		}
	}
}

func (a *asker) get(ctx context.Context, c *http.Client, path string) error {
	if path != aliveness {
		path = "/api/v1" + path
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.f.api[0]+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+tokenOfBench)
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return errors.New(res.Status)
	}
	return nil
}

// count is how many requests were answered since take was called last.
func (a *asker) count() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, b := range a.by {
		n += len(b.took) + b.failed
	}
	return n
}

func (a *asker) take() map[string]*asked {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.by
	a.by = map[string]*asked{}
	return out
}

// phase runs fn, goes on asking until it has asked often enough, and prints how long answers took.
func (a *asker) phase(ctx context.Context, name string, least int, fn func() (string, error)) error {
	a.take()
	begin := time.Now()
	said, err := fn()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	took := time.Since(begin)
	for a.count() < least {
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	by := a.take()
	line := fmt.Sprintf("%-8s %6.1f s", name, took.Seconds())
	for _, what := range paths {
		b := by[what]
		if b == nil {
			b = &asked{}
		}
		slices.Sort(b.took)
		line += fmt.Sprintf("  %s %d: p50 %d p99 %d max %d ms", what, len(b.took), at(b.took, 50), at(b.took, 99), at(b.took, 100))
		if b.failed > 0 {
			line += fmt.Sprintf(", %d FAILED", b.failed)
		}
	}
	agents := 0
	for _, p := range a.f.agents {
		agents = max(agents, memoryOf(p, "VmHWM"))
	}
	fmt.Printf("%s  memory %d MB (most %d, an agent's %d)  %s\n", line, memoryOf(a.f.coordinators[0], "VmRSS"), memoryOf(a.f.coordinators[0], "VmHWM"), agents, said)
	return nil
}

// at is a percentile of sorted times, in ms.
func at(ts []time.Duration, percent int) int64 {
	if len(ts) == 0 {
		return -1
	}
	return ts[min(len(ts)-1, len(ts)*percent/100)].Milliseconds()
}

// memoryOf is what a process has in memory, in MB (Linux).
func memoryOf(p *process.Process, field string) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	if err != nil {
		return -1
	}
	_, rest, _ := strings.Cut(string(b), field+":")
	words := strings.Fields(rest)
	if len(words) == 0 {
		return -1
	}
	n, _ := strconv.Atoi(words[0])
	return n / 1024
}

// answers measures how a coordinator answers while much comes in, and while orders are carried out that concern much.
func answers(ctx context.Context, o options, l large, tmp string) (err error) {
	o.sites, o.concurrency = l.sites, 8
	o.limits = fmt.Sprintf("{delay: %s, per_ip: 0, retries: 0, backoff: 1s, recycle_after: 2m}", answerDelay)
	f := &fleet{o: o, s: setting{agents: l.processes, binds: l.nodes / l.processes}, dir: filepath.Join(tmp, "answers")}
	defer f.close()
	if err := f.openWith(ctx, listing(l)); err != nil {
		return err
	}
	if err := f.submit(ctx); err != nil {
		return err
	}
	a := &asker{f: f, by: map[string]*asked{}}
	asking, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { a.run(asking) })
	defer done.Wait()
	defer stop()
	cpu := used(f.coordinators[0])
	phases := []struct {
		name string
		fn   func() (string, error)
	}{
		{"intake", func() (string, error) {
			begin := time.Now()
			err := f.long(ctx, "links come in", func() bool { return f.counts(ctx).Discovered >= int64(l.urls)*99/100 }) // a site may not have answered
			took := time.Since(begin).Seconds()
			return fmt.Sprintf("%d links/s, CPU %.1f s", int(float64(l.urls)/took), used(f.coordinators[0])-cpu), err
		}},
		{"crawl", func() (string, error) {
			err := f.long(ctx, "pages fail", func() bool { return f.counts(ctx).Failed >= int64(l.sites)*9/10 })
			return fmt.Sprintf("%d failed, %s", f.counts(ctx).Failed, f.disk()), err
		}},
		{"retry", func() (string, error) { return f.retryAll(ctx) }},
		{"cancel", func() (string, error) { return f.cancel(ctx) }},
	}
	for _, p := range phases {
		if err := a.phase(ctx, p.name, l.least, p.fn); err != nil {
			return err
		}
		if p.name == "crawl" {
			if err := f.restart(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// long waits for a condition, for as long as half an hour.
func (f *fleet) long(ctx context.Context, what string, ok func() bool) error {
	for end := time.Now().Add(30 * time.Minute); time.Now().Before(end); {
		if ok() {
			return nil
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("it never happened that %s; logs are in %s", what, f.dir)
}

// counts are the job's counts now; zero if nobody answers.
func (f *fleet) counts(ctx context.Context) crawl.JobCounts {
	j, err := f.client.Job(ctx, f.job)
	if err != nil {
		return crawl.JobCounts{}
	}
	return j.Counts
}

// restart kills the coordinator and waits until the one that follows has everything, and takes orders.
func (f *fleet) restart(ctx context.Context) error {
	want := f.counts(ctx).Discovered
	f.coordinators[0].End(syscall.SIGKILL)
	begin := time.Now()
	if err := f.coordinators[0].Start(); err != nil {
		return err
	}
	if err := f.long(ctx, "it has everything again", func() bool { return f.counts(ctx).Discovered >= want }); err != nil {
		return err
	}
	shown := time.Since(begin)
	if _, err := f.client.Order(ctx, f.job, "resume"); err != nil {
		return err
	}
	fmt.Printf("restart after kill -9: %.1f s until it shows %d URLs, %.1f s until it takes orders\n", shown.Seconds(), want, time.Since(begin).Seconds())
	return nil
}

// retryAll tries everything again that has failed.
func (f *fleet) retryAll(ctx context.Context) (string, error) {
	was := f.counts(ctx).Failed
	begin := time.Now()
	_, err := f.client.Release(ctx, f.job, "retry", web.Release{})
	answered := time.Since(begin)
	if err == nil {
		err = f.long(ctx, "nothing has failed any more", func() bool { return f.counts(ctx).Failed < was/10 })
	}
	return fmt.Sprintf("answered in %.2f s, %d pending again in %.1f s", answered.Seconds(), was, time.Since(begin).Seconds()), err
}

// cancel cancels the job and waits for its index.
func (f *fleet) cancel(ctx context.Context) (string, error) {
	was := f.counts(ctx).Pending
	begin := time.Now()
	_, err := f.client.Order(ctx, f.job, "cancel")
	answered := time.Since(begin)
	if err == nil {
		err = f.long(ctx, "nothing is pending", func() bool { return f.counts(ctx).Pending == 0 })
	}
	ended := time.Since(begin)
	if err == nil {
		err = f.ended(ctx)
	}
	return fmt.Sprintf("answered in %.2f s, %d no more pending in %.1f s, index in %.1f s", answered.Seconds(), was, ended.Seconds(), time.Since(begin).Seconds()), err
}

// disk is how much the coordinator's directories take.
func (f *fleet) disk() string {
	var out []string
	for _, name := range []string{"state/frontier", "state/bus", "argosy.db"} {
		var n int64
		_ = filepath.WalkDir(filepath.Join(f.dir, "c0", name), func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				if info, err := d.Info(); err == nil {
					n += info.Size()
				}
			}
			return nil // files come and go meanwhile
		})
		out = append(out, fmt.Sprintf("%s %d MB", filepath.Base(name), n>>20))
	}
	return strings.Join(out, ", ")
}

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/usage"
	"argosy/internal/webs"
)

// open are the sizes of what ten open pages are measured with.
type open struct {
	tasks, nodes, processes, clients, rounds int
	window                                   time.Duration
	latency                                  time.Duration // of each answer: with one request of a node at a time and 5 s, a thousand nodes make two hundred a second
	strategy                                 string
	profile                                  string // what the names of files begin with that tell what the coordinator spends its time on; empty: none is written
}

// openPages are what the pages of the dashboard ask, and how often at most, once something has changed (internal/fleet/dash/src).
var openPages = []struct {
	name string
	asks map[string]time.Duration
}{
	{"overview", map[string]time.Duration{"/series?job=1": 2 * time.Second, "/jobs/1/types": 5 * time.Second, "/jobs/1/statuses": 5 * time.Second, "/jobs/1/fetchers": 5 * time.Second, "/nodes": 30 * time.Second}},
	{"tasks", map[string]time.Duration{"/jobs/1/tasks?sort=pending&limit=50": 3 * time.Second}},
	{"nodes", map[string]time.Duration{"/nodes?limit=100": 2 * time.Second, "/leases?limit=100": 3 * time.Second, "/jobs/1/measurements": 10 * time.Second}},
	{"sites", map[string]time.Duration{"/jobs/1/cells?sites=100": 5 * time.Second, "/jobs/1/timeline?bins=80": 5 * time.Second}},
	{"task", map[string]time.Duration{"/tasks/7": 2 * time.Second, "/tasks/7/explain": 5 * time.Second}},
	{"measurements", map[string]time.Duration{"/jobs/1/measurements": 5 * time.Second}},
	{"pages", map[string]time.Duration{"/jobs/1/pages?limit=50": 4 * time.Second}},
}

// wideWeb is a web of very many sites with a page and some links each, of which begun counts those that were asked for their first. It keeps no connection: nodes keep one for each site that they
// hold, and this one process would have those of all sites of all nodes, which are more files than it may have open.
func wideWeb(sites int, latency time.Duration, begun *atomic.Int64) *webs.Web {
	w := webs.New()
	h := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Connection", "close")
		if r.URL.Path == "/robots.txt" {
			http.NotFound(rw, r)
			return
		}
		if r.URL.Path == "/" { // asked for once: nothing is tried again
			begun.Add(1)
		}
		time.Sleep(latency)
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(rw, "<!DOCTYPE html><title>%s%s</title><a href=/a%d>a</a> <a href=/b%d>b</a>", r.Host, r.URL.Path, len(r.URL.Path), len(r.URL.Path))
	})
	for s := range sites {
		w.Sites[fmt.Sprintf("s%d.test", s)] = h
	}
	return w
}

// viewers are browsers that have pages open.
type viewers struct {
	f    *fleet
	deaf atomic.Bool // what is answered now does not count
	mu   sync.Mutex
	by   map[string]*asked
}

// view holds the stream of events, and asks for what a page shows when something has changed, until ctx ends.
func (v *viewers) view(ctx context.Context, asks map[string]time.Duration) error {
	client := &http.Client{}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.f.api[0]+"/api/v1/events", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+tokenOfBench)
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	a := &asker{f: v.f}
	last := map[string]time.Time{}
	events := bufio.NewReader(res.Body)
	for {
		line, err := events.ReadString('\n')
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("the stream of events ended: %w", err)
		}
		if !strings.HasPrefix(line, "data: ") {
			continue
		}
		for path, every := range asks {
			if time.Since(last[path]) < every {
				continue
			}
			last[path] = time.Now()
			err := a.get(ctx, client, path)
			if ctx.Err() == nil {
				v.note(path, time.Since(last[path]), err)
			}
		}
	}
}

func (v *viewers) note(path string, took time.Duration, err error) {
	if v.deaf.Load() {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.by[path] == nil {
		v.by[path] = &asked{}
	}
	if err != nil {
		v.by[path].failed++
		return
	}
	v.by[path].took = append(v.by[path].took, took)
}

// watched has so many clients watch for as long as fn takes.
func (v *viewers) watched(ctx context.Context, clients int, fn func() error) error {
	watching, stop := context.WithCancel(ctx)
	errs := make(chan error, clients)
	for i := range clients {
		asks := map[string]time.Duration{"/jobs": 1500 * time.Millisecond, aliveness: 1500 * time.Millisecond}
		for path, every := range openPages[i%len(openPages)].asks {
			asks[path] = every
		}
		go func() { errs <- v.view(watching, asks) }()
	}
	err := fn()
	stop()
	for range clients {
		err = errors.Join(err, <-errs)
	}
	return err
}

// window is what was done in one of the times that are measured.
type window struct {
	cpu    float64 // seconds of the coordinator a 1,000 URLs
	cores  float64 // of this machine that the coordinator used,
	others float64 // and the nodes, the sites and who asks
	urls   int64
	alive  float64 // bytes of the coordinator's memory that are no garbage, at the end
}

func (w *window) String() string {
	return fmt.Sprintf("%.3f CPU-s/1000 URLs, %d URLs, %.2f cores beside %.2f of nodes, sites and clients, %.1f MB alive", w.cpu, w.urls, w.cores, w.others, w.alive/1e6)
}

// during measures what the coordinator does in a window, and writes its profile into a file if it is named.
func (f *fleet) during(ctx context.Context, lasts time.Duration, profile string) (w window, err error) {
	beside := func() (seconds float64) {
		for _, p := range f.agents {
			seconds += used(p)
		}
		return seconds + usage.CPU().Seconds()
	}
	begin, n, cpu, others := time.Now(), f.counts(ctx).Fetched, used(f.coordinators[0]), beside()
	if profile == "" {
		err = pause(ctx, lasts)
	} else {
		err = f.profile(ctx, lasts, profile)
	}
	if err != nil {
		return w, err
	}
	cpu, others = used(f.coordinators[0])-cpu, beside()-others
	took := time.Since(begin).Seconds()
	w = window{cores: cpu / took, others: others / took, urls: f.counts(ctx).Fetched - n}
	w.cpu = cpu / float64(max(1, w.urls)) * 1000
	return w, nil
}

// submitWide is submit for very many sites: they follow the job in pieces.
func (f *fleet) submitWide(ctx context.Context, strategy string) (err error) {
	var digest crawl.SeedDigest
	seeds := make([]string, f.o.sites)
	for s := range seeds {
		seeds[s] = fmt.Sprintf("http://s%d.test:%s/", s, f.port)
		digest.Add(seeds[s], false)
	}
	list := digest.List()
	if f.job, err = f.client.Submit(ctx, []byte("name: bench\nplacing: {probe: none, strategy: "+strategy+"}\nlimits: "+f.o.limits+"\n"), &list); err != nil {
		return err
	}
	for from := 0; from < len(seeds); {
		chunk, size := crawl.SeedChunk{Job: f.job, From: int64(from)}, 0
		for from < len(seeds) && chunk.Add(seeds[from], false, &size) {
			from++
		}
		if err := f.client.Sow(ctx, chunk); err != nil {
			return err
		}
	}
	return nil
}

// file names the profile of a window.
func (w *open) file(what string, round int) string {
	if w.profile == "" {
		return ""
	}
	return fmt.Sprintf("%s-%s-%d.pprof", w.profile, what, round+1)
}

// pages measures what open pages cost a coordinator of a large fleet, and how soon they are answered.
func pages(ctx context.Context, o options, w open, tmp string) error {
	o.sites, o.concurrency, o.away = w.tasks, 1, 10*time.Minute // a thousand nodes join for minutes
	o.limits = "{delay: 5s, per_ip: 0, retries: 0}"
	f := &fleet{o: o, s: setting{agents: w.processes, binds: w.nodes / w.processes}, dir: filepath.Join(tmp, "pages")}
	defer f.close()
	var begun atomic.Int64
	if err := f.openWith(ctx, wideWeb(w.tasks, w.latency, &begun)); err != nil {
		return err
	}
	if err := f.submitWide(ctx, w.strategy); err != nil {
		return err
	}
	if err := f.long(ctx, "the fleet is at work", func() bool { return f.counts(ctx).Fetched > int64(2*w.nodes) }); err != nil {
		return err
	}
	v := &viewers{f: f, by: map[string]*asked{}}
	var alone, watched []window
	for round := range w.rounds {
		for i := range 2 {
			var one window
			var err error
			if (round+i)%2 == 0 { // what changes while the crawl goes on is on both sides
				if one, err = f.during(ctx, w.window, w.file("alone", round)); err == nil {
					one.alive, err = f.alive(ctx)
				}
				alone = append(alone, one)
				fmt.Printf("round %d, alone: %v\n", round+1, &one)
			} else {
				err = v.watched(ctx, w.clients, func() (err error) {
					if one, err = f.during(ctx, w.window, w.file("watched", round)); err != nil {
						return err
					}
					v.deaf.Store(true) // the collection is ours
					defer v.deaf.Store(false)
					one.alive, err = f.alive(ctx)
					return err
				})
				watched = append(watched, one)
				fmt.Printf("round %d, %d clients: %v\n", round+1, w.clients, &one)
			}
			if err != nil {
				return err
			}
		}
	}
	v.print(w)
	w.compare(alone, watched)
	fmt.Printf("memory of the coordinator at most: %d MB; %d of %d tasks were begun\n", memoryOf(f.coordinators[0], "VmHWM"), begun.Load(), w.tasks)
	return nil
}

// compare prints what the clients cost, by medians: each window is compared with the other one of its round.
func (w *open) compare(alone, watched []window) {
	var ratios, with, without, kept, more []float64
	for i := range alone {
		a, b := &alone[i], &watched[i]
		ratios, without, with = append(ratios, b.cpu/a.cpu), append(without, a.cpu), append(with, b.cpu)
		kept, more = append(kept, a.alive), append(more, b.alive-a.alive)
	}
	fmt.Printf("medians of %d: CPU-s/1000 URLs %.3f alone, %.3f with %d clients, ratio %.3f (%.3f to %.3f)\n", w.rounds, middle(without), middle(with), w.clients, middle(ratios), slices.Min(ratios), slices.Max(ratios))
	fmt.Printf("alive after a collection: %.1f MB alone, %+.1f MB with the clients (%+.1f to %+.1f)\n", middle(kept)/1e6, middle(more)/1e6, slices.Min(more)/1e6, slices.Max(more)/1e6)
}

// alive has the coordinator collect its garbage, and returns what is left.
func (f *fleet) alive(ctx context.Context) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.api[0]+"/debug/pprof/heap?gc=1&debug=1", nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+tokenOfBench)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), "# HeapAlloc = ")
	text, _, _ := strings.Cut(rest, "\n")
	return strconv.ParseFloat(text, 64)
}

// print tells how soon each question was answered.
func (v *viewers) print(w open) {
	fmt.Printf("%d nodes, %d tasks, %d clients:\n", w.nodes, w.tasks, w.clients)
	var all []time.Duration
	var names []string
	for path, b := range v.by {
		all = append(all, b.took...)
		names = append(names, path)
	}
	slices.Sort(names)
	for _, path := range names {
		b := v.by[path]
		slices.Sort(b.took)
		fmt.Printf("  %-36s %5d: p50 %4d p99 %4d max %4d ms, %d failed\n", path, len(b.took), at(b.took, 50), at(b.took, 99), at(b.took, 100), b.failed)
	}
	slices.Sort(all)
	fmt.Printf("  %-36s %5d: p50 %4d p99 %4d max %4d ms\n", "all", len(all), at(all, 50), at(all, 99), at(all, 100))
}

// middle is the median.
func middle(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	return xs[len(xs)/2]
}

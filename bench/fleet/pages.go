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
	"argosy/internal/webs"
)

// open are the sizes of what ten open pages are measured with.
type open struct {
	tasks, nodes, processes, clients, rounds int
	window                                   time.Duration
	latency                                  time.Duration // of each answer: with one request of a node at a time and 5 s, a thousand nodes make two hundred a second
	strategy                                 string
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
	f  *fleet
	mu sync.Mutex
	by map[string]*asked
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

// cost is what a coordinator has done in a window.
type cost struct {
	cpu  float64 // seconds a 1,000 URLs
	urls int64
}

// during measures what the coordinator does in a window.
func (f *fleet) during(ctx context.Context, window time.Duration) (c cost, err error) {
	n, cpu := f.counts(ctx).Fetched, used(f.coordinators[0])
	if err := pause(ctx, window); err != nil {
		return c, err
	}
	c.urls = f.counts(ctx).Fetched - n
	c.cpu = (used(f.coordinators[0]) - cpu) / float64(max(1, c.urls)) * 1000
	return c, nil
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
	var without, with []float64
	var ratios []float64
	var alive []kept
	for round := range w.rounds {
		alone, err := f.during(ctx, w.window)
		if err != nil {
			return err
		}
		var watched cost
		if err := v.watched(ctx, w.clients, func() (err error) { watched, err = f.during(ctx, w.window); return err }); err != nil {
			return err
		}
		k := kept{begun: begun.Load()}
		if k.bytes, err = f.alive(ctx); err != nil {
			return err
		}
		alive = append(alive, k)
		fmt.Printf("round %d: CPU-s/1000 URLs %.3f alone (%d URLs), %.3f with %d clients (%d URLs); memory %d MB (most %d), alive %.1f MB with %d tasks begun\n", round+1, alone.cpu, alone.urls,
			watched.cpu, w.clients, watched.urls, memoryOf(f.coordinators[0], "VmRSS"), memoryOf(f.coordinators[0], "VmHWM"), k.bytes/1e6, k.begun)
		without, with, ratios = append(without, alone.cpu), append(with, watched.cpu), append(ratios, watched.cpu/alone.cpu)
	}
	v.print(w)
	fmt.Printf("median of %d: CPU-s/1000 URLs %.3f alone, %.3f with %d clients, ratio %.3f\n", w.rounds, middle(without), middle(with), w.clients, middle(ratios))
	none, each := straight(alive)
	fmt.Printf("alive after a collection: %.0f MB with no task begun and %.0f bytes more for each that is: %.0f MB with all %d\n", none/1e6, each, (none+each*float64(w.tasks))/1e6, w.tasks)
	return nil
}

// kept is what a coordinator has in memory that is no garbage, when so many tasks have been begun.
type kept struct {
	begun int64
	bytes float64
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

// straight is the straight line that comes next to what was measured: what it is at none, and how much more each is (least squares).
func straight(all []kept) (none, each float64) {
	var x, y, xx, xy float64
	for _, k := range all {
		b, n := float64(k.begun), float64(len(all))
		x, y, xx, xy = x+b/n, y+k.bytes/n, xx+b*b/n, xy+b*k.bytes/n
	}
	if spread := xx - x*x; spread > 0 {
		each = (xy - x*y) / spread
	}
	return y - each*x, each
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

package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"argosy/bench/process"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/verify"
	"argosy/internal/fleet/web"
	"argosy/internal/testkit"
	"argosy/internal/webs"
)

type options struct {
	argosy       string
	sites, pages int
	delay        time.Duration
	recycle      time.Duration
	away         time.Duration
	latency      time.Duration // of every answer
	text, own    int           // bytes of a page: what it has in common with those of its site, and what it alone says
	concurrency  int           // requests at once of an agent; 0 is 32
	limits       string        // of the job, instead of the faults' own
	placing      string        // of the job; "" has one that measures nothing
}

// setting is what a scenario's fleet is made of.
type setting struct {
	agents  int
	cluster bool   // three NATS servers, PostgreSQL, two coordinators
	apart   bool   // agents in network namespaces of their own
	small   string // size of the first agent's store, a tmpfs
	binds   int    // nodes of an agent's process, each on an address of its own; 0: one. They are niced
	slow    bool   // there is one more site, whose page takes longer than a lease may be silent
	disks   bool   // the coordinator and the first agent have a disk of their own, of which the power can be cut
	again   bool   // the ledger is made anew from archives, which hold what was fetched twice: the index has both
	times   int    // how many times as long the delay is as the options say: what happens takes longer than a crawl; 0: once
}

// slowSite is that site; it counts only where it plays a part.
const slowSite = "slow.test"

// errSkipped says that this machine cannot play a scenario.
var errSkipped = errors.New("skipped")

func isSkipped(err error) bool {
	return errors.Is(err, errSkipped) || errors.Is(err, testkit.ErrMissing)
}

// result is how a crawl ended.
type result struct {
	urls     map[string]string // state and status
	once     string
	verify   string
	sent     time.Duration // the shortest between two requests to a site, by the times at which they were sent
	shortest time.Duration // the same as the sites saw it: on a busy machine they see some late
	extra    int           // page requests beyond one a URL
	lost     int           // leases that died or were recalled
	escaped  int
	pause    time.Duration // the longest that a site waited between two requests
	took     time.Duration
}

// fleet is the processes of a scenario.
type fleet struct {
	o       options
	s       setting
	dir     string
	web     *webs.Web
	webAddr string // as agents reach it
	port    string
	api     []string // of each coordinator
	busPort int
	nats    *testkit.NATS
	pg      string
	line    *line // to the database
	disks   []*disk
	nets    []*namespace

	coordinators []*process.Process
	agents       []*process.Process
	client       *web.Client
	job          uint32
	cleanup      []func()
}

func play(ctx context.Context, o options, s scenario, dir string) (r *result, err error) {
	f := &fleet{o: o, s: s.fleet, dir: dir}
	defer f.close()
	if err := f.open(ctx); err != nil {
		return nil, err
	}
	begin := time.Now()
	if err := f.submit(ctx); err != nil {
		return nil, err
	}
	if err := f.until(ctx, int64(o.sites*o.pages/20)); err != nil {
		return nil, err
	}
	if s.happen != nil {
		if err := s.happen(ctx, f); err != nil {
			return nil, err
		}
	}
	if err := f.ended(ctx); err != nil {
		return nil, err
	}
	took := time.Since(begin)
	for _, a := range f.agents {
		if a.Cmd != nil {
			a.Signal(syscall.SIGCONT)
		}
		a.End(syscall.SIGTERM)
	}
	if r, err = f.judge(ctx); err == nil {
		r.took = took
	}
	return r, err
}

// close ends and removes what open has started and made, last first.
func (f *fleet) close() {
	for i := len(f.cleanup) - 1; i >= 0; i-- {
		f.cleanup[i]()
	}
}

func (f *fleet) open(ctx context.Context) error {
	return f.openWith(ctx, webs.Random(webs.RandomConfig{Sites: f.o.sites, Pages: f.o.pages, Links: 6, Seed: 1, Latency: f.o.latency, Text: f.o.text, Own: f.o.own}))
}

// openWith starts a fleet on a web.
func (f *fleet) openWith(ctx context.Context, w *webs.Web) error {
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return err
	}
	f.web = w
	f.webAddr = "127.0.0.1"
	if f.s.apart {
		if err := f.openNets(); err != nil {
			return err
		}
	}
	if f.s.slow {
		f.web.Sites[slowSite] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" {
				http.NotFound(w, r)
				return
			}
			select {
			case <-r.Context().Done():
			case <-time.After(6 * f.term()):
				_, _ = w.Write([]byte("at last"))
			}
		})
	}
	port, stop, err := f.web.Serve(f.webAddr + ":0")
	if err != nil {
		return err
	}
	f.port = port
	f.cleanup = append(f.cleanup, stop)
	if f.s.small != "" {
		if err := f.mount(filepath.Join(f.dir, "store0"), f.s.small); err != nil {
			return err
		}
	}
	if f.s.disks {
		if err := errors.Join(f.openDisk("c0"), f.openDisk("store0")); err != nil {
			return err
		}
	}
	if f.s.cluster {
		if err := f.openCluster(); err != nil {
			return err
		}
	}
	return f.openFleet(ctx)
}

func (f *fleet) openCluster() error {
	url, stop, err := testkit.Postgres()
	if err != nil {
		return err
	}
	f.cleanup = append(f.cleanup, stop)
	if f.line, f.pg, err = newLine(url); err != nil {
		return err
	}
	f.cleanup = append(f.cleanup, func() { _ = f.line.l.Close() })
	dir := filepath.Join(f.dir, "nats")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	k, err := bus.LoadKeys(filepath.Join(dir, "keys.json"))
	if err == nil {
		err = k.WriteCluster(dir)
	}
	if err != nil {
		return err
	}
	if f.nats, err = testkit.NewNATS(dir, filepath.Join(dir, "accounts.conf"), 3); err != nil {
		return err
	}
	f.cleanup = append(f.cleanup, f.nats.Stop)
	return nil
}

func (f *fleet) openFleet(ctx context.Context) error {
	coordinators, busHost := 1, "127.0.0.1"
	if f.s.cluster {
		coordinators = 2
	}
	if f.s.apart {
		busHost = hostBus
	}
	var err error
	if f.busPort, err = testkit.FreePort(); err != nil {
		return err
	}
	for i := range coordinators {
		port, err := testkit.FreePort()
		if err != nil {
			return err
		}
		f.api = append(f.api, fmt.Sprintf("http://%s:%d", busHost, port))
		args := []string{f.o.argosy, "serve", "-o", filepath.Join(f.dir, fmt.Sprintf("c%d", i)), "--listen", fmt.Sprintf("%s:%d", busHost, port), "--name", fmt.Sprintf("c%d", i),
			"--token-file", f.token()}
		if f.s.cluster {
			nats := filepath.Join(f.dir, "nats")
			args = append(args, "--nats", f.nats.URL, "--nats-creds", nats+"/coordinator.creds", "--signing-key", nats+"/signing.nk", "--ledger", f.pg, "--checkpoint", "2000")
		} else {
			args = append(args, "--bus-listen", fmt.Sprintf("%s:%d", busHost, f.busPort))
		}
		p := &process.Process{Args: args, Log: filepath.Join(f.dir, fmt.Sprintf("c%d.log", i))}
		if err := p.Start(); err != nil {
			return err
		}
		f.coordinators = append(f.coordinators, p)
		f.cleanup = append(f.cleanup, func() { p.End(syscall.SIGTERM) })
	}
	if f.client, err = web.NewClient(strings.Join(f.api, ","), tokenOfBench, nil); err != nil {
		return err
	}
	if err := f.eventually(ctx, "a coordinator leads", func() bool {
		s, err := f.client.Jobs(ctx)
		return err == nil && len(s) == 0
	}); err != nil {
		return err
	}
	for i := range f.s.agents {
		p := &process.Process{Log: filepath.Join(f.dir, fmt.Sprintf("a%d.log", i)), Args: []string{
			f.o.argosy, "agent", "--join", strings.Join(f.api, ","), "--token-file", f.token(), "--name", fmt.Sprintf("n%d", i),
			"--store", filepath.Join(f.dir, fmt.Sprintf("store%d", i)), "--allow-private", "--resolve", "*.test=" + f.webAddr, "--concurrency", strconv.Itoa(max(f.o.concurrency, 1)),
		}}
		if f.s.apart {
			p.Pre = f.nets[i].enter()
		}
		if f.s.binds > 0 {
			var binds []string
			for n := range f.s.binds {
				binds = append(binds, fmt.Sprintf("127.0.%d.%d", i+1, n+1))
			}
			p.Pre, p.Args = []string{"nice", "-n", "10"}, append(p.Args, "--bind", strings.Join(binds, ","))
		}
		if err := p.Start(); err != nil {
			return err
		}
		f.agents = append(f.agents, p)
		f.cleanup = append(f.cleanup, func() { p.End(syscall.SIGKILL) })
	}
	return f.eventually(ctx, "all agents have joined", func() bool {
		ns, err := f.client.Nodes(ctx)
		return err == nil && len(ns) == f.s.agents*max(1, f.s.binds)
	})
}

const tokenOfBench = "a-token-for-this-benchmark-alone"

func (f *fleet) token() string {
	path := filepath.Join(f.dir, "token")
	if _, err := os.Stat(path); err != nil {
		_ = os.WriteFile(path, []byte(tokenOfBench), 0o600)
	}
	return path
}

func (f *fleet) submit(ctx context.Context) (err error) {
	var b strings.Builder
	limits := f.o.limits
	if limits == "" {
		limits = fmt.Sprintf("{delay: %s, per_ip: 0, recycle_after: %s, backoff: 200ms, connect_timeout: 1s}", time.Duration(max(1, f.s.times))*f.o.delay, f.o.recycle)
	}
	fmt.Fprintf(&b, "name: bench\nplacing: %s\nlimits: %s\nseeds:\n", cmp.Or(f.o.placing, "{probe: none}"), limits)
	for s := range f.o.sites {
		fmt.Fprintf(&b, "  - http://s%d.test:%s/\n", s, f.port)
	}
	if f.s.slow {
		fmt.Fprintf(&b, "  - http://%s:%s/\n", slowSite, f.port)
	}
	f.job, err = f.client.Submit(ctx, []byte(b.String()), nil)
	return err
}

// eventually waits for a condition, for as long as five minutes.
func (f *fleet) eventually(ctx context.Context, what string, ok func() bool) error {
	for end := time.Now().Add(2*time.Minute + f.o.away); time.Now().Before(end); {
		if ok() {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Errorf("it never happened that %s; logs are in %s", what, f.dir)
}

// until waits until so many URLs have been fetched, or the job is over.
func (f *fleet) until(ctx context.Context, n int64) error {
	return f.eventually(ctx, fmt.Sprintf("%d URLs are fetched", n), func() bool {
		j, err := f.client.Job(ctx, f.job)
		return err == nil && (j.Counts.Fetched >= n || j.State != "running")
	})
}

func (f *fleet) ended(ctx context.Context) error {
	return f.eventually(ctx, "the job ends", func() bool {
		j, err := f.client.Job(ctx, f.job)
		return err == nil && j.State != "running" && j.Indexed
	})
}

var escapes = regexp.MustCompile(`msg=left .*escaped=(\d+)`)

// judge reads what the crawl has left, and what the sites saw.
func (f *fleet) judge(ctx context.Context) (*result, error) {
	r := &result{urls: map[string]string{}, once: "yes", verify: "clean"}
	place := verify.Place{Dir: filepath.Join(f.dir, "c0"), Ledger: f.pg}
	if f.s.cluster { // the index is with the one that led last
		for i := range f.coordinators {
			d := filepath.Join(f.dir, fmt.Sprintf("c%d", i))
			if _, err := os.Stat(filepath.Join(d, "jobs", fmt.Sprint(f.job), "index.cdxj")); err == nil {
				place.Dir = d
			}
		}
	}
	where := f.pg
	if where == "" {
		where = filepath.Join(place.Dir, "argosy.db")
	}
	l, err := ledger.Open(ctx, where)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	fetched := 0
	sent := map[string][]int64{}
	err = l.Pages(ctx, f.job, func(p *ledger.Page) error {
		if strings.HasPrefix(p.Site, slowSite) {
			fetched++
			return nil
		}
		r.urls[strings.Replace(p.URL, ":"+f.port, "", 1)] = fmt.Sprintf("%s %d %s", p.State, p.Status, p.Reason)
		if p.State == "fetched" {
			fetched++
			sent[p.Site] = append(sent[p.Site], p.FetchedAt)
		}
		return nil
	})
	r.sent = time.Hour
	for _, at := range sent {
		slices.Sort(at)
		for i := 1; i < len(at); i++ {
			r.sent = min(r.sent, time.Duration(at[i]-at[i-1])*time.Millisecond)
		}
	}
	if err != nil {
		return nil, err
	}
	if r.lost, err = l.LeasesLost(ctx, f.job); err != nil {
		return nil, err
	}
	rep, err := verify.Check(ctx, place)
	if err != nil {
		return nil, err
	}
	if !rep.OK {
		r.verify = fmt.Sprintf("%d PROBLEMS, such as %s", rep.Problems, rep.Details[0])
	}
	r.once = onceOnly(filepath.Join(place.Dir, "jobs", fmt.Sprint(f.job), "index.cdxj"), fetched, f.s.again)
	f.seen(r)
	for _, a := range f.agents {
		b, err := os.ReadFile(a.Log)
		if err != nil {
			return nil, err
		}
		for _, m := range escapes.FindAllStringSubmatch(string(b), -1) {
			n, _ := strconv.Atoi(m[1])
			r.escaped += n
		}
	}
	return r, nil
}

// onceOnly says whether an index has so many lines of pages, each URL once, or with again each record.
func onceOnly(path string, want int, again bool) string {
	file, err := os.Open(path)
	if err != nil {
		return "NO: " + err.Error()
	}
	defer file.Close()
	seen := map[string]bool{}
	n := 0
	for sc := bufio.NewScanner(file); sc.Scan(); {
		key, _, _ := strings.Cut(sc.Text(), " ")
		if strings.HasSuffix(key, ")/robots.txt") {
			continue // archived beside the pages, as often as it was asked for
		}
		if seen[sc.Text()] || seen[key] && !again {
			return "NO: twice " + key
		}
		if !seen[key] {
			n++
		}
		seen[key], seen[sc.Text()] = true, true
	}
	if n != want {
		return fmt.Sprintf("NO: %d lines for %d", n, want)
	}
	return "yes"
}

// seen takes from what the sites saw: gaps, pauses and repeats.
func (f *fleet) seen(r *result) {
	r.shortest = time.Hour
	for s := range f.o.sites {
		hits := f.web.Hits(fmt.Sprintf("s%d.test", s))
		asked := map[string]bool{}
		for i, h := range hits {
			if h.Path != "/robots.txt" {
				if asked[h.Path] {
					r.extra++
				}
				asked[h.Path] = true
			}
			if i > 0 {
				gap := h.At.Sub(hits[i-1].At)
				r.shortest, r.pause = min(r.shortest, gap), max(r.pause, gap)
			}
		}
	}
}

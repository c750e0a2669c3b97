// Command collect runs a virtual task with real processes: a coordinator and four nodes, each with a source address of its own, collect what
// Omega (of bench/engines.sh) names on five sites, which treat the nodes differently and change their minds midway.
//
//	bench/engines.sh start DIR
//	go run ./bench/collect -dir DIR [-kill]
//
// It ends with code 1 unless every search has collected what Xapian's own quest finds in the index, each site is asked no sooner than its
// delay, no result page is asked twice but by a lease that was lost, and verify is clean; and, without -kill, unless each site is
// asked by nodes that it does not shut out once a phase has settled, and mostly by those that it treats well in the end. With -kill the coordinator and nodes are killed with SIGKILL in
// the middle, and started again. It prints who fetched what, phase by phase; the curves are in DIR/collect/rates.svg. The sites are on
// port 80 of 127.0.3.1, and the nodes ask from 127.0.3.11 to .14: it wants Linux, and to be root.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"argosy/bench/process"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/verify"
	"argosy/internal/fleet/web"
	"argosy/internal/testkit"
)

const (
	nodes = 4
	sites = 5
	delay = 100 * time.Millisecond
	// Searching takes as long as collecting: what a search has named stays with its node, so that those which were all made at once show nothing of
	// what has been learned since.
	engineDelay = 500 * time.Millisecond
)

// subjects are words of the documentation: each is in pages of every site.
var subjects = []string{
	"vacuum", "trigger", "replication", "cursor", "schema", "partition", "password", "backup", "sequence", "lock", "domain", "language",
	"statistics", "transaction", "operator", "constraint", "owner", "planner", "recovery", "socket",
}

func main() {
	dir := flag.String("dir", "", "directory of bench/engines.sh")
	port := flag.Int("port", 8191, "of its Omega")
	argosy := flag.String("argosy", "", "binary (default: one that is built)")
	kill := flag.Bool("kill", false, "kill processes in the middle")
	flag.Parse()
	b := &bench{dir: filepath.Join(*dir, "collect"), data: filepath.Join(*dir, "omega", "data", "sites"), omega: *port, argosy: *argosy, kill: *kill}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	wrong, err := b.run(ctx)
	for _, w := range wrong {
		fmt.Println("WRONG:", w)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "collect:", err)
	}
	if err != nil || len(wrong) > 0 {
		os.Exit(1)
	}
	fmt.Println("all as it should be")
}

// bench is a run.
type bench struct {
	dir, data, argosy string
	omega             int
	kill              bool

	web         *world
	coordinator *process.Process
	nodes       []*process.Process
	client      *web.Client
	job         uint32
}

func (b *bench) run(ctx context.Context) (wrong []string, err error) {
	if err := os.RemoveAll(b.dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return nil, err
	}
	if b.argosy == "" {
		b.argosy = filepath.Join(b.dir, "argosy")
		if out, err := exec.Command("go", "build", "-o", b.argosy, "./cmd/argosy").CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
	}
	if b.web, err = newWorld(b.dir, b.data, b.omega); err != nil {
		return nil, err
	}
	defer b.web.close()
	defer b.end()
	if err := b.start(ctx); err != nil {
		return nil, err
	}
	begin := time.Now()
	if err := b.crawl(ctx); err != nil {
		return nil, err
	}
	fmt.Printf("%d searches on %d sites by %d nodes in %.0f s\n", len(subjects)*sites, sites, nodes, time.Since(begin).Seconds())
	svg := filepath.Join(b.dir, "rates.svg")
	out, err := exec.Command(b.argosy, "rates", fmt.Sprint(b.job), "--server", b.api(), "--token-file", b.token(), "--svg", svg).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("rates: %w: %s", err, out)
	}
	fmt.Printf("%s(%s)\n", out, svg)
	searches, err := b.client.Tasks(ctx, b.job, "")
	if err != nil {
		return nil, err
	}
	b.end()
	return b.judge(ctx, searches)
}

const token = "a-token-for-this-benchmark-alone"

func (b *bench) token() string { return filepath.Join(b.dir, "token") }

func (b *bench) api() string { return "http://" + b.coordinator.Args[5] }

// start starts the fleet, and submits the job.
func (b *bench) start(ctx context.Context) error {
	if err := os.WriteFile(b.token(), []byte(token), 0o600); err != nil {
		return err
	}
	var ports [2]int
	for i := range ports {
		var err error
		if ports[i], err = testkit.FreePort(); err != nil {
			return err
		}
	}
	b.coordinator = &process.Process{Log: filepath.Join(b.dir, "coordinator.log"), Args: []string{
		b.argosy, "serve", "-o", filepath.Join(b.dir, "fleet"), "--listen", fmt.Sprintf("127.0.0.1:%d", ports[0]),
		"--bus-listen", fmt.Sprintf("127.0.0.1:%d", ports[1]), "--token-file", b.token(), "--socket", "none",
		"--explain-log", filepath.Join(b.dir, "explain.jsonl"),
	}}
	if err := b.coordinator.Start(); err != nil {
		return err
	}
	for i := range nodes {
		p := &process.Process{Log: filepath.Join(b.dir, fmt.Sprintf("n%d.log", i+1)), Args: []string{
			b.argosy, "agent", "--join", b.api(), "--token-file", b.token(), "--name", fmt.Sprintf("n%d", i+1), "--bind", address(i),
			"--store", filepath.Join(b.dir, fmt.Sprintf("store%d", i+1)), "--allow-private", "--resolve", "*.sites.test=" + host,
		}}
		b.nodes = append(b.nodes, p)
		if err := p.Start(); err != nil {
			return err
		}
	}
	var err error
	if b.client, err = web.NewClient(b.api(), token, nil); err != nil {
		return err
	}
	err = b.eventually(ctx, "all nodes have joined", func() bool {
		ns, err := b.client.Nodes(ctx)
		return err == nil && len(ns) == nodes
	})
	if err != nil {
		return err
	}
	b.job, err = b.client.Submit(ctx, []byte(b.file()), nil)
	return err
}

// file is the job.
func (b *bench) file() string {
	var of []string
	for i := range sites {
		of = append(of, site(i))
	}
	var products []string
	for _, s := range subjects {
		products = append(products, "{name: "+s+"}")
	}
	return fmt.Sprintf(`name: collect
placing: {probe: none}
limits: {delay: %v, per_ip: 0, recycle_after: 10s, backoff: 200ms, connect_timeout: 1s}
sites: [{hosts: engine.sites.test, delay: %v}]
virtual:
  products: [%s]
  sites: [%s]
  subset: 3
  pages: 2
  rest: 2s
  engines:
    - {name: ours, like: omega-xml, url: "http://engine.sites.test/cgi-bin/omega?P={query}&B=H{site}&DB=sites&DEFAULTOP=and&FMT=xml&HITSPERPAGE=10&MINHITS=1000000&TOPDOC={page}", step: 10}
`, delay, engineDelay, strings.Join(products, ", "), strings.Join(of, ", "))
}

// crawl lets the job run: halfway the sites change their minds, and processes are killed if they are to be.
func (b *bench) crawl(ctx context.Context) error {
	all, err := b.web.pages()
	if err != nil {
		return err
	}
	for _, step := range []struct {
		share  float64
		happen func() error
	}{
		{0.2, func() error { return b.again(b.coordinator) }}, {0.35, func() error { return b.again(b.nodes[1]) }},
		{0.5, nil}, {0.6, func() error { return b.again(b.coordinator) }}, {0.7, func() error { return b.again(b.nodes[3]) }},
	} {
		err := b.eventually(ctx, fmt.Sprintf("%.0f %% of the pages are there", 100*step.share), func() bool {
			j, err := b.client.Job(ctx, b.job)
			return b.web.served() >= int(step.share*float64(all)) || err == nil && j.State != "running"
		})
		switch {
		case err != nil:
			return err
		case step.happen == nil:
			b.web.turn()
		case b.kill:
			if err := step.happen(); err != nil {
				return err
			}
		}
	}
	return b.eventually(ctx, "the job ends", func() bool {
		j, err := b.client.Job(ctx, b.job)
		return err == nil && j.State != "running" && j.Indexed
	})
}

// again kills a process and starts it again two seconds later.
func (b *bench) again(p *process.Process) error {
	p.End(syscall.SIGKILL)
	fmt.Printf("killed %s\n", strings.TrimSuffix(filepath.Base(p.Log), ".log"))
	time.Sleep(2 * time.Second)
	return p.Start()
}

// end ends all processes.
func (b *bench) end() {
	for _, p := range b.nodes {
		p.End(syscall.SIGTERM)
	}
	b.coordinator.End(syscall.SIGTERM)
}

func (b *bench) eventually(ctx context.Context, what string, ok func() bool) error {
	for end := time.Now().Add(10 * time.Minute); time.Now().Before(end); {
		if ok() {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Errorf("it never happened that %s; logs are in %s", what, b.dir)
}

// judge compares what was collected with what is there, and says what is wrong.
func (b *bench) judge(ctx context.Context, tasks []ledger.Task) (wrong []string, err error) {
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	l, err := ledger.Open(ctx, filepath.Join(b.dir, "fleet", "argosy.db"))
	if err != nil {
		return nil, err
	}
	defer l.Close()
	had, sent := map[string]bool{}, map[string][]int64{}
	err = l.Pages(ctx, b.job, func(p *ledger.Page) error {
		if p.State == "fetched" {
			sent[p.Site] = append(sent[p.Site], p.FetchedAt)
		}
		if p.State == "fetched" && p.Status == 200 && p.Owner == 0 {
			had[p.URL] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for of, at := range sent { // what a site sees of a busy machine comes late now and then, and the next one seems early
		slices.Sort(at)
		for i := 1; i < len(at); i++ {
			if gap := time.Duration(at[i]-at[i-1]) * time.Millisecond; gap < delay-time.Millisecond {
				bad("%s was sent a request %v after another", of, gap)
			}
		}
	}
	searches, named := 0, map[string]bool{}
	for i := range tasks {
		s := tasks[i].Search
		if s == nil {
			continue
		}
		searches++
		want, err := b.web.found(s.Product, s.Site)
		if err != nil {
			return nil, err
		}
		n, missing := int64(len(want)), 0
		for _, u := range want {
			if named[u] = true; !had[u] {
				missing++
			}
		}
		if s.Stated.N != n || s.Found != n || s.Collected != n || missing > 0 || tasks[i].State != "done" {
			bad("%s on %s: %s; the index has %d; stated %d, found %d, collected %d, %d missing: %s", s.Product, s.Site, tasks[i].State, n, s.Stated.N, s.Found, s.Collected, missing, s.Why)
		}
	}
	for u := range had {
		if !named[u] {
			bad("%s was collected, and no search names it", u)
		}
	}
	fmt.Printf("%d searches; %d pages collected, the index names %d\n", searches, len(had), len(named))
	lost, err := l.LeasesLost(ctx, b.job)
	if err != nil {
		return nil, err
	}
	wrong = append(wrong, b.web.judge(lost, b.kill)...)
	place := verify.Place{Dir: filepath.Join(b.dir, "fleet")}
	for i := range nodes {
		place.Stores = append(place.Stores, filepath.Join(b.dir, fmt.Sprintf("store%d", i+1)))
	}
	r, err := verify.Check(ctx, place)
	if err != nil {
		return nil, err
	}
	if !r.OK {
		bad("verify: %d problems: %s", r.Problems, strings.Join(r.Details[:min(3, len(r.Details))], "; "))
	}
	slices.Sort(wrong)
	return wrong, nil
}

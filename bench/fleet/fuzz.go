package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"argosy/bench/process"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/verify"
)

// A node that says what is wrong stands among these.
const (
	liarName      = "liar"
	honestAgents  = 3
	fuzzLatency   = 200 * time.Millisecond // with eight requests at once an agent fetches forty URLs a second, whatever the machine
	fuzzLimits    = "{delay: 0, per_ip: 0, site_connections: 2, recycle_after: 10s}"
	fuzzSites     = 128
	fuzzPerMinute = honestAgents * scaleConcurrency * 60 * int(time.Second/fuzzLatency)
)

// wrong is what a node does that says what is wrong.
type wrong struct {
	lasts time.Duration // as long as it lies
	alone time.Duration // as long as the others are measured without it, before and after
	share float64       // of a core that it has
	forge bool          // it forges measurements, instead of changing every field
}

// fuzz measures what a node that lies costs the others.
func fuzz(ctx context.Context, o options, w wrong, tmp string) (err error) {
	o.sites, o.latency, o.concurrency, o.limits = fuzzSites, fuzzLatency, scaleConcurrency, fuzzLimits
	o.pages = 2 * fuzzPerMinute / fuzzSites * (2 + int((w.lasts+2*w.alone)/time.Minute))
	f := &fleet{o: o, s: setting{agents: honestAgents}, dir: filepath.Join(tmp, "fuzz")}
	defer f.close()
	if err := f.open(ctx); err != nil {
		return err
	}
	if err := f.submit(ctx); err != nil {
		return err
	}
	if err := f.until(ctx, honestAgents*400); err != nil {
		return err
	}
	before, err := f.honest(ctx, w.alone)
	if err != nil {
		return err
	}
	liar, err := f.liar(w)
	if err != nil {
		return err
	}
	during, err := f.honest(ctx, w.lasts)
	cpu := used(liar)
	liar.End(syscall.SIGTERM)
	if err != nil {
		return err
	}
	if err := f.lives(); err != nil {
		return fmt.Errorf("%w: %s", err, f.coordinators[0].Log)
	}
	after, err := f.honest(ctx, w.alone)
	if err != nil {
		return err
	}
	said, err := os.ReadFile(liar.Log)
	if err != nil {
		return err
	}
	fmt.Printf("%s", said)
	fmt.Printf("honest nodes: %.1f URLs/s alone before, %.1f for %s while one lies, which had %.2f cores, %.1f after: %+.1f %%\n",
		before, during, w.lasts, cpu/w.lasts.Seconds(), after, 100*(during/((before+after)/2)-1))
	fmt.Printf("coordinator: memory %d MB at most\n", memoryOf(f.coordinators[0], "VmHWM"))
	if err := f.refusals(ctx); err != nil {
		return err
	}
	if err := f.wholeOf(ctx); err != nil {
		return err
	}
	if during < 0.9*(before+after)/2 {
		return errors.New("honest nodes lost more than a tenth")
	}
	return nil
}

// honest returns how many URLs a second the honest nodes fetch in a while.
func (f *fleet) honest(ctx context.Context, while time.Duration) (float64, error) {
	count := func() (n int64, err error) {
		nodes, err := f.client.Nodes(ctx)
		for i := range nodes {
			if !lies(nodes[i].Node) {
				n += nodes[i].Fetched
			}
		}
		return n, err
	}
	was, err := count()
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := pause(ctx, while); err != nil {
		return 0, err
	}
	is, err := count()
	return float64(is-was) / time.Since(begin).Seconds(), err
}

// liar starts the node that lies, as a process of its own.
func (f *fleet) liar(w wrong) (*process.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process.Process{Log: filepath.Join(f.dir, "liar.Log"), Args: []string{self, liarName, "-api", f.api[0], "-dir", f.dir, "-share", fmt.Sprint(w.share), fmt.Sprintf("-forge=%v", w.forge)}}
	f.cleanup = append(f.cleanup, func() { p.End(syscall.SIGKILL) })
	return p, p.Start()
}

// refusals prints what was refused of the node that lies, as the operator sees it.
func (f *fleet) refusals(ctx context.Context) error {
	c := exec.CommandContext(ctx, f.o.argosy, "nodes", "--server", f.api[0])
	c.Env = append(os.Environ(), "ARGOSY_TOKEN="+tokenOfBench)
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("argosy nodes: %w: %s", err, out)
	}
	fmt.Printf("argosy nodes says:\n%s", out)
	return nil
}

// wholeOf ends the crawl and fails if something is lost that an honest node has fetched, or if frontier and ledger differ.
func (f *fleet) wholeOf(ctx context.Context) error {
	if _, err := f.client.Order(ctx, f.job, "cancel"); err != nil {
		return err
	}
	if err := f.ended(ctx); err != nil {
		return err
	}
	for _, p := range append(f.agents, f.coordinators...) {
		p.End(syscall.SIGTERM)
	}
	dir := filepath.Join(f.dir, "c0")
	l, err := ledger.Open(ctx, filepath.Join(dir, "argosy.db"))
	if err != nil {
		return err
	}
	defer l.Close()
	of := map[string]string{}
	by := map[string]int{}
	if err := l.Pages(ctx, f.job, func(p *ledger.Page) error {
		if p.State == "fetched" {
			of[p.URL] = p.Node
			by[strings.TrimRight(p.Node, "0123456789")]++
		}
		return nil
	}); err != nil {
		return err
	}
	rep, err := verify.Check(ctx, verify.Place{Dir: dir})
	if err != nil {
		return err
	}
	lost := 0
	for _, u := range rep.LostPages {
		if !lies(of[u]) {
			lost++
		}
	}
	fmt.Printf("verify: %d pages of honest nodes, %d of them lost; %d pages that the liar says it has, of which there is no record: %d; frontier and ledger differ in %d URLs; %d orphans\n",
		by["n"], lost, by[liarName], len(rep.LostPages)-lost, rep.Missing, rep.Orphans)
	if lost > 0 || rep.Missing > 0 || !rep.Sinks {
		return fmt.Errorf("something of the honest nodes is lost: %v", rep.Details[:min(3, len(rep.Details))])
	}
	return nil
}

package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"argosy/internal/crawl"
	"argosy/internal/page/archive"
	"argosy/internal/page/fetch"
)

// Inbox gives an agent what is dispatched to its node. Receive calls fn for each message, once, from one goroutine, with how long
// it was on its way as far as that is known, until ctx ends or fn fails.
type Inbox interface {
	Receive(ctx context.Context, node string, fn func(msg []byte, age time.Duration) error) error
}

// Outbox stores an entry with parts in the log. When it returns nil, the parts are stored; a repeat is harmless.
type Outbox interface {
	Report(ctx context.Context, node string, entry []byte) error
}

// Config says how an agent works.
type Config struct {
	Info        crawl.NodeInfo    // what the node is, as it registers
	Concurrency int               // requests at once
	MaxPart     int               // bytes of an encoded entry
	Headers     []fetch.Field     // for the seeds' sites only; redacted in archives unless KeepSecrets
	Cookies     string            // likewise
	Logins      map[string]string // NAME:PASSWORD by site, for HTTP authentication (RFC 7617); redacted likewise
	KeepSecrets bool
	Fetcher     Fetcher                                                            // asks sites; nil: over HTTP, by the agent's client
	FilterSize  int                                                                // hashes of links remembered, two a link
	Store       func(ctx context.Context) (bits int64, seconds float64, err error) // measures BS; nil: not measured
	Usage       func() Usage                                                       // of the processor and memory; nil: not known
	Flush       time.Duration                                                      // how long outcomes may wait to be reported
	Logger      *slog.Logger
}

// filterSize fills two tables of 2^19 places to three quarters: 15 MB.
const filterSize = 3 << 18

// FilterOf is how many hashes each of some nodes in one process remembers: together they take the memory of four alone, whose tables
// are then as full as its.
func FilterOf(nodes int) int {
	size := filterSize
	for ; nodes > 4 && size > 3<<10; nodes = (nodes + 1) / 2 {
		size /= 2
	}
	return size
}

// DefaultConfig returns the configuration of a node.
func DefaultConfig(info crawl.NodeInfo) Config {
	return Config{
		Info: info, Concurrency: 128, MaxPart: 512 << 10, FilterSize: filterSize, Flush: flushAge,
		Logger: slog.New(slog.DiscardHandler),
	}
}

// Stats is what an agent has done since it started, for people who watch.
type Stats struct {
	Requests int64
	Busy     int // requests under way
	Leases   int
	Escaped  int64 // requests that were sent when their lease's term was over: the process had been frozen
}

// Agent runs leases.
type Agent struct {
	cfg      Config
	in       Inbox
	out      Outbox
	client   *fetch.Client // for lookups and measurements
	fetcher  Fetcher
	warc     *archive.Writer
	bs       crawl.Measure // of the store, once it has been measured; mu guards it
	slots    chan struct{} // a token for each request that may be under way
	readers  chan struct{} // a token for each page that may be in the reading at once
	filters  *filters
	seen     *payloads
	wake     chan struct{} // size 1: a lease has something to report now
	flushed  time.Time     // the last message was cut; soon: a lease is low. Only report reads them
	soon     bool
	group    *errgroup.Group
	load     load // of the node; the reporter's
	marks    *Marks
	judges   judges
	visits   visits
	refusals refusals
	watch    watch // for people

	tried   chan struct{} // closed when BS has been measured, or could not be
	changed chan struct{} // size 1: the registration is to be renewed now

	mu       sync.Mutex
	leases   map[uint64]*lease
	over     *recent // leases that have run here
	doubt    uint64  // crawl.Dispatch.Doubt, the last
	drains   bool    // no more leases are taken
	ends     bool    // for good
	requests int64
	escaped  int64
}

// recent remembers a bounded number of ids.
type recent struct {
	in    map[uint64]bool
	order []uint64
}

const recentLeases = 20_000

func (r *recent) add(id uint64) {
	if r.in[id] {
		return
	}
	if len(r.order) == recentLeases {
		delete(r.in, r.order[0])
		r.order = r.order[1:]
	}
	r.in[id] = true
	r.order = append(r.order, id)
}

// New returns an agent; Run makes it work.
func New(c Config, in Inbox, out Outbox, client *fetch.Client, warc *archive.Writer) *Agent {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Fetcher == nil {
		c.Fetcher = OverHTTP(client)
	}
	return &Agent{
		cfg: c, in: in, out: out, client: client, fetcher: c.Fetcher, warc: warc, slots: make(chan struct{}, c.Concurrency), readers: make(chan struct{}, 2*runtime.GOMAXPROCS(0)),
		filters: &filters{max: c.FilterSize, of: map[memory]*filter{}}, seen: newPayloads(50_000), wake: make(chan struct{}, 1), leases: map[uint64]*lease{},
		changed: make(chan struct{}, 1), tried: make(chan struct{}), marks: NewMarks(), over: &recent{in: map[uint64]bool{}},
	}
}

// Stats returns what the agent has done.
func (a *Agent) Stats() Stats {
	a.mu.Lock()
	defer a.mu.Unlock()
	return Stats{Requests: a.requests, Busy: len(a.slots), Leases: len(a.leases), Escaped: a.escaped}
}

// Run works until ctx ends or something that the node cannot do without fails: its archive or the bus. All its
// goroutines are gone when it returns. Leases that are running when ctx ends are given up without a report.
func (a *Agent) Run(ctx context.Context) error {
	var group errgroup.Group
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a.group = &group
	group.Go(func() error {
		err := a.in.Receive(ctx, a.cfg.Info.Node, func(msg []byte, age time.Duration) error {
			return a.receive(ctx, cancel, msg, time.Now().Add(-age))
		})
		cancel(err)
		return err
	})
	group.Go(func() error {
		a.storeBandwidth(ctx)
		return nil
	})
	group.Go(func() error {
		err := a.report(ctx)
		cancel(err)
		return err
	})
	err := group.Wait()
	if cause := context.Cause(ctx); err == nil && cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	if err != nil {
		return fmt.Errorf("node %s: %w", a.cfg.Info.Node, err)
	}
	return nil
}

// receive handles one dispatched message, which was sent at a time.
func (a *Agent) receive(ctx context.Context, fail context.CancelCauseFunc, msg []byte, sent time.Time) error {
	var d crawl.Dispatch
	if err := crawl.Unmarshal(msg, &d); err != nil || d.Version > crawl.WireVersion {
		a.cfg.Logger.Warn("dispatch not understood", "node", a.cfg.Info.Node, "version", d.Version, "error", err)
		return nil
	}
	since := sent.Add(-time.Duration(max(0, min(d.AgeMS, math.MaxInt64/int64(time.Millisecond)))) * time.Millisecond)
	switch d.Kind {
	case crawl.DispatchLease:
		if d.Lease == nil || d.Job == nil || d.Site == nil || d.Lease.Incarnation != a.cfg.Info.Incarnation {
			return nil // for an earlier life
		}
		a.start(ctx, fail, &d, since)
	case crawl.DispatchLeave:
		a.Drain(true)
	case crawl.DispatchReturn:
		a.Drain(false)
	case crawl.DispatchPing:
		a.group.Go(func() error { a.pingNodes(ctx, d.Pings); return nil })
	case crawl.DispatchRefill:
		for i := range d.Refills {
			if l := a.lease(d.Refills[i].Lease); l != nil {
				l.refill(&d.Refills[i], since)
			}
		}
	case crawl.DispatchDrain:
		if l := a.lease(d.LeaseID); l != nil {
			l.end(crawl.EndDrained)
			if d.Hurry {
				l.stop()
			}
		}
	case crawl.DispatchRecall:
		a.filters.drop() // a part may have been lost
		if l := a.lease(d.LeaseID); l != nil {
			l.abandon()
		}
	}
	return nil
}

func (a *Agent) lease(id uint64) *lease {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.leases[id]
}

// start runs a lease whose term began at a time, unless it runs already.
func (a *Agent) start(ctx context.Context, fail context.CancelCauseFunc, d *crawl.Dispatch, since time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over.in[d.Lease.ID] || a.drains {
		return // running or done already; or left to the coordinator, which has been told that we take no more
	}
	if d.Doubt > a.doubt { // links that were stored may be lost
		a.doubt = d.Doubt
		a.filters.drop()
	}
	a.over.add(d.Lease.ID)
	l := newLease(ctx, a, d, since)
	a.leases[d.Lease.ID] = l
	a.group.Go(func() error {
		err := l.run()
		l.cancel()
		if err != nil {
			fail(err)
		}
		return err
	})
}

// remove forgets a lease whose last part is stored, or that was given up.
func (a *Agent) remove(l *lease) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.leases, l.l.ID)
}

// Info is what the node says of itself at this moment.
func (a *Agent) Info() crawl.NodeInfo {
	a.mu.Lock()
	defer a.mu.Unlock()
	info := a.cfg.Info
	info.Draining = a.drains
	if a.bs.Seconds > 0 {
		info.StoreBits = float64(a.bs.Bits) / a.bs.Seconds
	}
	return info
}

// Changed gives a signal whenever Info has changed.
func (a *Agent) Changed() <-chan struct{} { return a.changed }

// End is Drain for good: whoever wants the node to take leases again is too late.
func (a *Agent) End() {
	a.mu.Lock()
	a.ends = true
	a.mu.Unlock()
	a.Drain(true)
}

// Drain ends all leases after what is under way and takes no more, or takes leases again.
func (a *Agent) Drain(on bool) {
	a.mu.Lock()
	on = on || a.ends
	changed := a.drains != on
	a.drains = on
	a.mu.Unlock()
	if changed {
		a.tell()
	}
	if on {
		for _, l := range a.running() {
			l.end(crawl.EndDrained)
		}
	}
}

// Hurry gives up what leases that end have under way with their sites: it is asked for again, by whoever has the site next. What has come
// whole is reported.
func (a *Agent) Hurry() {
	for _, l := range a.running() {
		l.mu.Lock()
		ends := l.ended != ""
		l.mu.Unlock()
		if ends {
			l.stop()
		}
	}
}

func (a *Agent) tell() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// nudge wakes the reporter.
func (a *Agent) nudge() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// slot waits for the right to send a request; false if ctx ended first.
func (a *Agent) slot(ctx context.Context) bool {
	select {
	case a.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (a *Agent) release() { <-a.slots }

// sent counts a request.
func (a *Agent) sent() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests++
}

// escape counts a request that may have been sent when its lease's term was over: the process was frozen between the last look at the
// clock before it was written and the first one after, and somebody else may have had the site by then.
func (a *Agent) escape(l *lease, at time.Time) {
	l.mu.Lock()
	late := l.hold.Escaped(at)
	l.mu.Unlock()
	if late {
		a.mu.Lock()
		a.escaped++
		a.mu.Unlock()
		a.cfg.Logger.Warn("a request was on its way when its lease's term ended", "site", l.l.Site, "lease", l.l.ID)
	}
}

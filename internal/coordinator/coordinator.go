// Package coordinator owns the loop: it applies the log to the frontier and the ledger, runs scheduling cycles,
// dispatches leases once their grant is in the log and applied, refills and recalls them, and ends a job. It takes no
// decision that a pure package could take.
//
// One goroutine (Run) owns frontier and ledger and does everything; another reads the log, a third the registry.
package coordinator

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sort"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"argosy/internal/crawl"
	"argosy/internal/frontier"
	"argosy/internal/ledger"
	"argosy/internal/schedule"
)

// Log is what the coordinator needs of the log. Append stores an entry, or fails when somebody else leads. Read calls
// fn in order, from one goroutine, until ctx ends.
type Log interface {
	Append(ctx context.Context, entry []byte) (uint64, error)
	Read(ctx context.Context, from uint64, fn func(seq uint64, at int64, data []byte) error) error
	Trim(ctx context.Context, seq uint64) error
	Identity() (stream string, last uint64)
}

// Dispatcher sends hints to nodes. A hint that is lost is made up for by a recall.
type Dispatcher interface {
	Dispatch(ctx context.Context, node string, lease uint64, msg []byte) error
	Forget(ctx context.Context, node string, lease uint64) error
}

// Registry tells who is there. Nodes calls fn from one goroutine until ctx ends.
type Registry interface {
	Nodes(ctx context.Context, fn func(info crawl.NodeInfo, gone bool)) error
}

// Places tells where an address is.
type Places interface {
	Place(addr string) schedule.Place
}

// Config says how a coordinator works.
type Config struct {
	Strategy schedule.Strategy
	Seed     uint64
	NodeTTL  time.Duration             // a node that has not renewed for this long is gone
	Idle     bool                      // apply and append, but run no job: for commands on a directory
	Alone    bool                      // every earlier incarnation died with the process that this one replaces
	Probe    schedule.Extent           // pairs that are measured before a site is crawled
	Places   Places                    // nil: nobody knows where a site is
	Explain  func([]schedule.Decision) // gets the decisions of every cycle; nil: they are not recorded
	Logger   *slog.Logger
}

// Coordinator runs one shard.
type Coordinator struct {
	cfg    Config
	log    Log
	out    Dispatcher
	reg    Registry
	f      *frontier.Frontier
	ledger *ledger.Ledger

	learn  *learner
	memory *schedule.Memory // of the last cycle

	epoch    uint64
	leads    bool
	appended uint64 // last entry of our own
	applied  uint64
	target   uint64 // the log's end when we started
	lastAt   int64
	leaseNo  uint64
	addrs    map[uint64][]string // of open leases
	nodes    map[string]*node
	due      dueHeap
	inDue    map[uint32]bool
	wants    map[uint64]int
	unsynced []ledger.Applied
	bytes    int // of the entries in unsynced
	synced   time.Time
	trimmed  uint64
	started  time.Time
	cycleAt  time.Time
	drained  bool // asked to stop
	limited  string

	ranBefore int64 // ms of earlier runs; -1 until it is known
	given     int   // URLs given out in entries that are not applied yet
	judged    time.Time
	published time.Time
	finishing bool
	begun     bool

	commands chan func()
	status   atomic.Pointer[Status]
}

type node struct {
	info crawl.NodeInfo
	seen time.Time
	held map[uint64]bool
}

// Status is what a coordinator says of itself, for people who watch.
type Status struct {
	State   string
	Counts  frontier.Totals
	Sites   int
	Leases  int
	Nodes   int
	Epoch   uint64
	Applied uint64
	Waiting int // tasks that wait for their turn or a node
}

// New returns a coordinator. Run makes it work.
func New(c Config, log Log, out Dispatcher, reg Registry, f *frontier.Frontier, l *ledger.Ledger) *Coordinator {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	co := &Coordinator{
		cfg: c, log: log, out: out, reg: reg, f: f, ledger: l, addrs: map[uint64][]string{}, nodes: map[string]*node{},
		inDue: map[uint32]bool{}, wants: map[uint64]int{}, commands: make(chan func()), ranBefore: -1, learn: newLearner(c.Strategy),
	}
	co.status.Store(&Status{State: "starting"})
	return co
}

// Status returns what the coordinator said last.
func (c *Coordinator) Status() Status { return *c.status.Load() }

// entry is an entry as it was read.
type entry struct {
	seq  uint64
	at   int64
	data []byte
}

type nodeEvent struct {
	info crawl.NodeInfo
	gone bool
}

// Run leads until the job that it runs has ended, ctx ends, or something it cannot do without fails. What has been
// applied is synced when it returns.
func (c *Coordinator) Run(ctx context.Context) error {
	if err := c.rebase(ctx); err != nil {
		return err
	}
	_, seq := c.ledger.Position()
	from := min(c.f.Position().Seq, seq) + 1
	c.applied = from - 1
	entries := make(chan entry, 64)
	events := make(chan nodeEvent)
	group, gctx := errgroup.WithContext(ctx)
	stop, cancel := context.WithCancel(gctx)
	defer cancel()
	group.Go(func() error {
		return c.log.Read(stop, from, func(seq uint64, at int64, data []byte) error {
			select {
			case entries <- entry{seq, at, data}:
				return nil
			case <-stop.Done():
				return stop.Err()
			}
		})
	})
	group.Go(func() error {
		return c.reg.Nodes(stop, func(info crawl.NodeInfo, gone bool) {
			select {
			case events <- nodeEvent{info, gone}:
			case <-stop.Done():
			}
		})
	})
	group.Go(func() error {
		defer cancel()
		err := c.loop(stop, entries, events)
		fin, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		return errors.Join(err, c.sync(fin))
	})
	err := group.Wait()
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		err = nil
	}
	return err
}

// rebase recognises a log that is not the one that the sinks have seen, or that is behind them: a position in it
// would mean something else.
func (c *Coordinator) rebase(ctx context.Context) error {
	stream, last := c.log.Identity()
	c.target = last
	pos := c.f.Position()
	if pos.Stream != stream || pos.Seq > last {
		seq := uint64(0)
		if pos.Stream == stream {
			seq = last
		}
		if pos.Stream != "" {
			c.cfg.Logger.Warn("the log is not the one that was applied", "was", pos.Stream, "at", pos.Seq, "is", stream, "last", last)
		}
		if err := c.f.Rebase(stream, seq); err != nil {
			return err
		}
	}
	was, seq := c.ledger.Position()
	if was != stream || seq > last {
		if was != stream {
			last = 0
		}
		return c.ledger.Rebase(ctx, stream, last)
	}
	return nil
}

const (
	tickEvery = 50 * time.Millisecond
	syncEvery = 300 * time.Millisecond
	syncBytes = 8 << 20
	trimEvery = 1000 // entries
)

// loop applies what comes and acts on it.
func (c *Coordinator) loop(ctx context.Context, entries <-chan entry, events <-chan nodeEvent) error {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for {
		var commands <-chan func() // nobody gives orders before we lead and have applied what we know of
		if c.leads && c.applied >= c.appended {
			commands = c.commands
		}
		select {
		case <-ctx.Done():
			return nil
		case e := <-entries:
			if err := c.applyAll(ctx, e, entries); err != nil {
				return err
			}
		case ev := <-events:
			c.nodeEvent(ev)
		case f := <-commands:
			f()
		case <-tick.C:
		}
		if c.applied < max(c.target, c.appended) {
			continue // nothing is judged or granted before the log has been applied to its end
		}
		if !c.leads {
			if err := c.lead(ctx); err != nil {
				return err
			}
			continue
		}
		done, err := c.act(ctx)
		if err != nil {
			return err
		}
		if done {
			return nil
		}
		if time.Since(c.synced) > syncEvery || c.bytes > syncBytes {
			if err := c.sync(ctx); err != nil {
				return err
			}
		}
	}
}

// applyAll applies an entry and those that have come behind it.
func (c *Coordinator) applyAll(ctx context.Context, e entry, more <-chan entry) error {
	for n := 0; ; n++ {
		if err := c.apply(ctx, e); err != nil {
			return err
		}
		if n >= 256 || c.bytes > 2*syncBytes {
			return nil
		}
		select {
		case e = <-more:
		default:
			return nil
		}
	}
}

func (c *Coordinator) apply(ctx context.Context, e entry) error {
	c.applied, c.lastAt = e.seq, e.at
	en, err := crawl.DecodeEntry(e.data)
	if err != nil {
		return fmt.Errorf("log entry %d: %w", e.seq, err)
	}
	for i := range en.Parts {
		if l := c.f.Lease(en.Parts[i].Lease); l != nil {
			c.learn.part(l, &en.Parts[i], e.at)
		}
	}
	fx, err := c.f.Apply(e.seq, e.at, &en)
	if err != nil {
		return err
	}
	c.unsynced = append(c.unsynced, ledger.Applied{Seq: e.seq, At: e.at, Entry: &en})
	c.bytes += len(e.data)
	return c.effects(ctx, &fx)
}

// sync makes both sinks durable, then lets the log forget what both have.
func (c *Coordinator) sync(ctx context.Context) error {
	c.synced = time.Now()
	if len(c.unsynced) == 0 {
		return nil
	}
	if err := c.ledger.Apply(ctx, c.unsynced); err != nil {
		return err
	}
	if err := c.f.Sync(); err != nil {
		return err
	}
	clear(c.unsynced)
	c.unsynced, c.bytes = c.unsynced[:0], 0
	if c.leads && c.applied > c.trimmed+trimEvery {
		c.trimmed = c.applied
		if err := c.log.Trim(ctx, c.applied); err != nil && ctx.Err() == nil {
			return fmt.Errorf("trim the log: %w", err)
		}
	}
	return nil
}

// append stores an entry of this term.
func (c *Coordinator) append(ctx context.Context, e *crawl.Entry) error {
	e.Version, e.Epoch = crawl.WireVersion, c.epoch
	b, err := crawl.Marshal(e)
	if err != nil {
		return err
	}
	seq, err := c.log.Append(ctx, b)
	if err != nil {
		return err
	}
	c.appended = seq
	return nil
}

// lead opens a term: from here on the log refuses every earlier leader.
func (c *Coordinator) lead(ctx context.Context) error {
	c.epoch = c.f.Epoch() + 1
	c.started = time.Now()
	if err := c.append(ctx, &crawl.Entry{Kind: crawl.EntryTerm}); err != nil {
		return err
	}
	c.leads = true
	var dead []crawl.Recall
	now := time.Now().UnixMilli()
	c.f.Leases(func(l *frontier.Lease) {
		l.Progress = now // a full term for everybody
		if c.cfg.Alone {
			dead = append(dead, crawl.Recall{Lease: l.ID, Reason: crawl.EndDead})
			return
		}
		c.addrs[l.ID] = c.f.Site(l.Site).Addrs
	})
	c.f.Tasks(func(t *frontier.Task) { c.schedule(t) })
	if len(dead) > 0 {
		return c.append(ctx, &crawl.Entry{Kind: crawl.EntryRecall, Recalls: dead})
	}
	return nil
}

// nodeEvent notes that a node is there, or not any more.
func (c *Coordinator) nodeEvent(ev nodeEvent) {
	n := c.nodes[ev.info.Node]
	if ev.gone {
		if n != nil {
			n.seen = time.Time{}
		}
		return
	}
	if n == nil || n.info.Incarnation != ev.info.Incarnation {
		n = &node{held: map[uint64]bool{}}
		c.nodes[ev.info.Node] = n
	}
	n.info, n.seen = ev.info, time.Now()
}

// do runs fn in the coordinator's own goroutine and returns when it has run.
func (c *Coordinator) do(ctx context.Context, fn func() error) error {
	done := make(chan error, 1)
	select {
	case c.commands <- func() { done <- fn() }:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Begin starts the run of a job: it submits it if it is new; otherwise check says whether it is the same job, and
// its limits are brought up to date.
func (c *Coordinator) Begin(ctx context.Context, job *crawl.Job, check func(have *crawl.Job) error) error {
	return c.do(ctx, func() error {
		c.begun = true
		have := c.f.Job(theJob)
		if have == nil {
			return c.append(ctx, &crawl.Entry{Kind: crawl.EntrySubmit, Job: job})
		}
		if err := check(&have.Job); err != nil {
			return err
		}
		if have.Limits == job.Limits {
			return nil
		}
		return c.append(ctx, &crawl.Entry{Kind: crawl.EntryLimits, Job: &crawl.Job{ID: job.ID, Identity: have.Identity, Limits: job.Limits}})
	})
}

// Release appends what a person does to tasks, and returns when it has been applied and synced. The names are those of
// sites; none means all.
func (c *Coordinator) Release(ctx context.Context, kind crawl.EntryKind, sites []string, lost []crawl.Key, why string) (tasks int, err error) {
	err = c.do(ctx, func() error {
		r := &crawl.Release{Job: theJob, Lost: lost, Why: why}
		c.f.Tasks(func(t *frontier.Task) {
			for _, s := range sites {
				if t.Site == s {
					r.Tasks = append(r.Tasks, t.ID)
				}
			}
		})
		sort.Slice(r.Tasks, func(i, j int) bool { return r.Tasks[i] < r.Tasks[j] })
		if tasks = len(r.Tasks); tasks < len(sites) {
			return fmt.Errorf("%w: %d of the sites named are none of this job's", ErrNoTask, len(sites)-tasks)
		}
		return c.append(ctx, &crawl.Entry{Kind: kind, Release: r})
	})
	if err != nil {
		return 0, err
	}
	return tasks, c.do(ctx, func() error { // orders are taken only once everything is applied
		if err := c.sync(ctx); err != nil {
			return err
		}
		return c.ledger.PutTasks(ctx, c.rows(theJob))
	})
}

// ErrNoTask says that a site is not one of the job's.
var ErrNoTask = errors.New("no such task")

// View calls fn with the frontier in the coordinator's own goroutine, once everything in the log is applied. fn must
// not keep it.
func (c *Coordinator) View(ctx context.Context, fn func(*frontier.Frontier) error) error {
	return c.do(ctx, func() error { return fn(c.f) })
}

// Drain stops giving out work and asks every lease to end. Run returns when the last one has.
func (c *Coordinator) Drain(ctx context.Context) error {
	return c.do(ctx, func() error {
		c.drained = true
		c.drainLeases(ctx)
		return nil
	})
}

func (c *Coordinator) drainLeases(ctx context.Context) {
	c.f.Leases(func(l *frontier.Lease) {
		c.send(ctx, l.Node, &crawl.Dispatch{Kind: crawl.DispatchDrain, LeaseID: l.ID})
	})
}

// send dispatches a message. A failure is only noted: what it says is in the log.
func (c *Coordinator) send(ctx context.Context, node string, d *crawl.Dispatch) {
	d.Version = crawl.WireVersion
	b, err := crawl.Marshal(d)
	if err == nil {
		err = c.out.Dispatch(ctx, node, max(d.LeaseID, idOf(d.Lease)), b)
	}
	if err != nil && ctx.Err() == nil {
		c.cfg.Logger.Warn("dispatch failed", "node", node, "error", err)
	}
}

func idOf(l *crawl.Lease) uint64 {
	if l == nil {
		return 0
	}
	return l.ID
}

func secret() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program instead
	return hex.EncodeToString(b[:])
}

// Package coordinator owns the loop: it applies the log to the frontier and the ledger, runs scheduling cycles,
// dispatches leases once their grant is in the log and applied, refills and recalls them, and ends jobs. It takes no
// decision that a pure package could take.
//
// One goroutine (Run) owns frontier and ledger and does everything; another reads the log, a third the registry.
package coordinator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/schedule"
)

// Log is what the coordinator needs of the log. Append stores an entry, or fails when somebody else leads. Read calls
// fn in order, from one goroutine, until ctx ends; node is whose part subject an entry came on, empty for a leader's.
type Log interface {
	Append(ctx context.Context, entry []byte) (uint64, error)
	Read(ctx context.Context, from uint64, fn func(seq uint64, at int64, node string, data []byte) error) error
	Trim(ctx context.Context, seq uint64) error
	// Refresh looks the log up again: its identity, its last sequence, and the last leader's entry.
	Refresh(ctx context.Context) (stream string, last uint64, err error)
}

// Dispatcher sends hints to nodes. A hint that is lost is made up for by another, or by a recall.
type Dispatcher interface {
	Dispatch(ctx context.Context, node string, lease uint64, msg []byte) error
	Forget(ctx context.Context, node string, lease uint64) error
}

// Registry tells who is there. Nodes calls fn from one goroutine until ctx ends.
type Registry interface {
	Nodes(ctx context.Context, fn func(crawl.NodeInfo, crawl.Sign)) error
}

// Places tells where an address is.
type Places interface {
	Place(addr string) schedule.Place
}

// Config says how a coordinator works.
type Config struct {
	Strategy   string                                       // of jobs that name none
	Strategies func(spec string) (schedule.Strategy, error) // makes one of a name with options
	Seed       uint64
	NodeTTL    time.Duration             // a node that has not renewed for this long is gone
	Idle       bool                      // apply and append, but run no job: for commands on a directory
	Alone      bool                      // every earlier incarnation died with the process that this one replaces
	Serve      bool                      // run every job there is, and go on when there is none; else Run ends with the job
	Nodes      int                       // a run of one job waits a moment until so many nodes are there
	Probe      string                    // pairs that are measured before a site is crawled, for jobs that do not say: none, few, all; empty: as the strategy wants
	Shadow     string                    // a strategy that plans beside that of each job, and of which nothing is done; empty: none
	Places     Places                    // nil: nobody knows where a site is
	Explain    func([]schedule.Decision) // gets the decisions of every cycle; nil: they are not recorded
	PingEvery  time.Duration             // delays between nodes are measured this often; 0: never
	Ended      func(job uint32)          // is told that a run of a job has ended and is in the ledger; nil: nobody cares
	TrimFloor  func() uint64             // the log keeps what is not below this; nil: both sinks are enough
	Full       func(was bool) string     // says why there is no room to go on; nil or empty: there is; was: there was none at the last look
	Led        func()                    // is told that a term has begun; nil: nobody cares
	LedgerAway time.Duration             // for how long the ledger's database may be away; 0: for ever
	Logger     *slog.Logger
}

// Coordinator runs one shard.
type Coordinator struct {
	cfg    Config
	log    Log
	out    Dispatcher
	reg    Registry
	f      *frontier.Frontier
	ledger *ledger.Ledger

	epoch    uint64
	leads    bool
	appended uint64 // last entry of our own
	applied  uint64
	target   uint64 // the log's end when we started
	clock    logClock
	leaseNo  uint64
	addrs    map[uint64][]string  // of open leases
	sent     map[uint64]time.Time // when leases that have not reported were dispatched last
	nodes    map[string]*node
	orders   map[string]order // to nodes, by their names
	runs     map[uint32]*run
	learned  *learn.Learner                // from all facts of the fleet
	facts    int                           // taken in since it was written down
	measured map[string]*schedule.Measured // by each node, since Run began
	between  int                           // delays between nodes, likewise
	readers  map[string]*reader            // by strategy
	probing  map[pair]bool                 // pairs that were sent to be probed
	turn     int                           // whose job's turn it is
	wants    map[uint64]int
	unmet    map[uint32]map[uint64]int // by task: wants of leases that nothing could be given to, until there is something
	starved  map[uint64]uint32         // leases that may have lost refills, and how many they have taken in
	refilled time.Time
	unsynced []ledger.Applied
	bytes    int // of the entries in unsynced
	synced   time.Time
	trimmed  uint64
	grown    int // bytes of entries synced since the log was trimmed
	started  time.Time
	begun    bool // a job to run has been named
	met      bool // the nodes that a run waits for have been there, or were waited for long enough
	drained  bool // asked to stop
	judged   time.Time
	billed   time.Time
	bills    map[string]*ledger.Bill // since charged
	atWork   map[int]int64           // ms that so many nodes were at work, since charged
	charged  time.Time
	newcomer bool   // a node has come since
	full     string // why nothing is given out for now
	looked   time.Time
	greet    bool // one has come since nodes were pinged
	refused  map[string]*Refused
	spoiled  map[uint64]bool // leases of which a part is missing
	told     map[uint64]bool // entries that were set aside, of which the log has been told
	changed  bool            // nodes or strategies have changed since they were recorded
	pinged   time.Time

	sick      time.Time // when the log was slow to be written last
	mark      uint64    // an entry that shows that it is not
	marked    time.Time
	published time.Time
	commands  chan func()
	status    atomic.Pointer[Status]
}

// Status is what a coordinator says of itself, for people who watch.
type Status struct {
	State   string
	Counts  crawl.Counts
	Sites   int
	Leases  int
	Nodes   int
	Epoch   uint64
	Applied uint64
	Waiting int // tasks that wait for their turn or a node
}

// StateStarting is the state of a coordinator that has counted nothing yet.
const StateStarting = "starting"

// New returns a coordinator. Run makes it work.
func New(c Config, log Log, out Dispatcher, reg Registry, f *frontier.Frontier, l *ledger.Ledger) *Coordinator {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	co := &Coordinator{
		cfg: c, log: log, out: out, reg: reg, f: f, ledger: l, addrs: map[uint64][]string{}, sent: map[uint64]time.Time{},
		nodes: map[string]*node{}, orders: map[string]order{}, runs: map[uint32]*run{}, readers: map[string]*reader{}, probing: map[pair]bool{}, measured: map[string]*schedule.Measured{}, wants: map[uint64]int{},
		refused: map[string]*Refused{}, spoiled: map[uint64]bool{}, told: map[uint64]bool{},
		unmet: map[uint32]map[uint64]int{}, starved: map[uint64]uint32{}, commands: make(chan func()), bills: map[string]*ledger.Bill{}, atWork: map[int]int64{},
	}
	co.status.Store(&Status{State: StateStarting})
	return co
}

// Status returns what the coordinator said last.
func (c *Coordinator) Status() Status { return *c.status.Load() }

// entry is an entry as it was read.
type entry struct {
	seq  uint64
	at   int64
	node string
	data []byte
}

type nodeEvent struct {
	info crawl.NodeInfo
	sign crawl.Sign
}

// Run leads until the job that it runs has ended, ctx ends, or something it cannot do without fails. What has been
// applied is synced when it returns.
func (c *Coordinator) Run(ctx context.Context) error {
	if err := c.rebase(ctx); err != nil {
		return err
	}
	var err error
	if c.learned, err = c.f.Learner(); err != nil {
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
	group.Go(func() error { return c.read(stop, from, entries) })
	group.Go(func() error {
		return c.reg.Nodes(stop, func(info crawl.NodeInfo, sign crawl.Sign) {
			select {
			case events <- nodeEvent{info, sign}:
			case <-stop.Done():
			}
		})
	})
	group.Go(func() error {
		defer cancel()
		err := c.loop(stop, entries, events)
		fin, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		if errors.Is(err, ledger.ErrAway) {
			return err // what was not written is in the log
		}
		err = errors.Join(err, c.sync(fin))
		if c.leads {
			_ = c.charge(fin) // of a few seconds, at most
		}
		return err
	})
	err = group.Wait()
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		err = nil
	}
	return err
}

func (c *Coordinator) read(ctx context.Context, from uint64, entries chan<- entry) error {
	return c.log.Read(ctx, from, func(seq uint64, at int64, node string, data []byte) error {
		select {
		case entries <- entry{seq, at, node, data}:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// rebase recognises a log that is not the one that the sinks have seen, or that is behind them: a position in it
// would mean something else.
func (c *Coordinator) rebase(ctx context.Context) error {
	stream, last, err := c.log.Refresh(ctx)
	if err != nil {
		return err
	}
	c.target = last
	if err := rebaseFrontier(c.f, stream, last, c.cfg.Logger); err != nil {
		return err
	}
	if err := c.persist(ctx, c.ledger.Refresh); err != nil {
		return err
	}
	was, seq := c.ledger.Position()
	if was != stream || seq > last {
		if was != stream {
			last = 0
		}
		return c.persist(ctx, func(ctx context.Context) error { return c.ledger.Rebase(ctx, stream, last) })
	}
	return nil
}

func rebaseFrontier(f *frontier.Frontier, stream string, last uint64, log *slog.Logger) error {
	pos := f.Position()
	if pos.Stream == stream && pos.Seq <= last {
		return nil
	}
	seq := uint64(0)
	if pos.Stream == stream {
		seq = last
	}
	if pos.Stream != "" {
		log.Warn("the log is not the one that was applied", "was", pos.Stream, "at", pos.Seq, "is", stream, "last", last)
	}
	return f.Rebase(stream, seq)
}

const (
	restMost  = 250 * time.Millisecond  // between two looks at everything
	restLeast = 50 * time.Millisecond   // where something is due, but there is no room for it
	syncEvery = 1200 * time.Millisecond // syncs cost nearly the same whatever is in them; what they have not had is in the log
	syncBytes = 8 << 20
	trimEvery = 1000    // entries
	trimBytes = 4 << 20 // or bytes of them: the embedded bus has what it keeps in memory, for seconds, in blocks of 8 MiB
)

// loop applies what comes and acts on it.
func (c *Coordinator) loop(ctx context.Context, entries <-chan entry, events <-chan nodeEvent) error {
	tick := time.NewTimer(0)
	defer tick.Stop()
	turned := time.Now()
	for {
		var commands <-chan func() // nobody gives orders before we lead and have applied what we know of
		if c.leads && c.applied >= c.appended {
			commands = c.commands
		}
		tick.Reset(c.rest(time.Now()))
		select {
		case <-ctx.Done():
			return nil
		case e := <-entries:
			if err := c.applyAll(ctx, e, entries); err != nil {
				return err
			}
		case ev := <-events:
			c.nodeEvent(ctx, ev)
		case f := <-commands:
			f()
		case <-tick.C:
		}
		if now := time.Now(); max(now.Sub(turned), now.Round(0).Sub(turned.Round(0))) > c.cfg.NodeTTL/3 { // the ledger was away, a huge job was cancelled, the machine slept
			c.sick = now // nodes were not heard meanwhile
		}
		turned = time.Now()
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

// rest is how long nothing needs to be done if nothing comes: until a site may be asked, or asking leases are answered.
// Looking more often than that costs a small fleet more than its pages do.
func (c *Coordinator) rest(now time.Time) time.Duration {
	if !c.leads && c.applied >= c.target {
		return 0
	}
	rest := restMost
	soon := func(d time.Duration) {
		if d <= 0 {
			d = restLeast
		}
		rest = min(rest, d)
	}
	if len(c.wants) > 0 {
		soon(c.refilled.Add(refillEvery).Sub(now))
	}
	if len(c.unsynced) > 0 {
		soon(c.synced.Add(syncEvery).Sub(now))
	}
	for _, r := range c.runs {
		if len(r.due) > 0 {
			soon(max(msec(r.due[0].at-c.clock.ms(now)), r.again.Sub(now)))
		}
	}
	return rest
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

// decode reads an entry. Of what came from a node it leaves what passes the check, and says what it refused: a node's words
// never end a coordinator. A leader's entry that cannot be read does.
func decode(e entry) (*crawl.Entry, []crawl.Refusal, error) {
	if e.node != "" {
		en, refused := crawl.DecodeOfNode(e.data, e.node)
		if en == nil {
			en = &crawl.Entry{Version: crawl.WireVersion} // both sinks still move on
		}
		return en, refused, nil
	}
	en, err := crawl.DecodeEntry(e.data)
	if err != nil {
		return nil, nil, fmt.Errorf("log entry %d: %w", e.seq, err)
	}
	return &en, nil, nil
}

func (c *Coordinator) apply(ctx context.Context, e entry) error {
	c.applied = e.seq
	c.clock.saw(e.at, time.Now())
	en, refused, err := decode(e)
	if err != nil {
		return err
	}
	c.refuse(e.seq, e.node, refused)
	fx, err := c.f.Apply(e.seq, e.at, en)
	if err != nil {
		return err
	}
	c.take(&fx, e.at)
	c.unsynced = append(c.unsynced, ledger.Applied{Seq: e.seq, At: e.at, Entry: en})
	c.bytes += len(e.data)
	if n := c.nodes[e.node]; n != nil {
		n.hear(time.Now(), c.trouble())
	}
	if c.leads && en.Epoch > c.epoch {
		return fmt.Errorf("%w: term %d follows on %d", ErrSucceeded, en.Epoch, c.epoch)
	}
	err = c.effects(ctx, &fx)
	c.unsynced[len(c.unsynced)-1].Lean()
	return err
}

// ErrSucceeded says that another coordinator has begun a later term.
var ErrSucceeded = errors.New("another coordinator leads")

// sync makes both sinks durable, then lets the log forget what both have.
func (c *Coordinator) sync(ctx context.Context) error {
	c.synced = time.Now()
	if len(c.unsynced) == 0 {
		return nil
	}
	if err := c.persist(ctx, func(ctx context.Context) error { return c.ledger.Apply(ctx, c.unsynced) }); err != nil {
		return err
	}
	if err := c.keepLearned(); err != nil {
		return err
	}
	if err := c.f.Sync(); err != nil {
		return err
	}
	c.grown += c.bytes
	clear(c.unsynced)
	c.unsynced, c.bytes = c.unsynced[:0], 0
	if !c.leads {
		return nil
	}
	if c.ledger.HasUnsettled() {
		if err := c.tellAside(ctx); err != nil {
			return err
		}
	}
	keep := c.applied
	if c.cfg.TrimFloor != nil {
		keep = min(keep, c.cfg.TrimFloor())
	}
	if keep > c.trimmed+trimEvery || keep > c.trimmed && c.grown > trimBytes {
		c.trimmed, c.grown = keep, 0
		if err := c.log.Trim(ctx, keep); err != nil && ctx.Err() == nil {
			return fmt.Errorf("trim the log: %w", err)
		}
	}
	return nil
}

// ledgerAgain is how often a database that does not answer is tried; ledgerTry bounds a try: a database that has vanished
// without a word would be waited for until the operating system gives up.
const (
	ledgerAgain = 500 * time.Millisecond
	ledgerTry   = 2 * time.Minute
)

// persist writes to the ledger, waiting while its database is away: the log keeps what the agents report meanwhile.
func (c *Coordinator) persist(ctx context.Context, fn func(context.Context) error) error {
	most := ledgerTry
	if c.cfg.LedgerAway > 0 {
		most = min(most, c.cfg.LedgerAway)
	}
	write := func() error {
		ctx, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		return fn(ctx)
	}
	begin := time.Now()
	err := write()
	if !errors.Is(err, ledger.ErrAway) {
		return err
	}
	c.cfg.Logger.Warn("waiting for the ledger", "error", err)
	for errors.Is(err, ledger.ErrAway) && (c.cfg.LedgerAway == 0 || time.Since(begin) < c.cfg.LedgerAway) {
		select {
		case <-ctx.Done():
			return err
		case <-time.After(ledgerAgain):
		}
		err = write()
	}
	if err == nil {
		c.cfg.Logger.Info("the ledger is there again")
	}
	return err
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
	if c.cfg.Led != nil {
		c.cfg.Led()
	}
	var dead []crawl.Recall
	c.f.Leases(func(l *frontier.Lease) {
		if c.cfg.Alone {
			dead = append(dead, crawl.Recall{Lease: l.ID, Reason: crawl.EndDead})
			return
		}
		c.addrs[l.ID] = c.f.Site(l.Site).Addrs
		if l.Parts == 0 {
			c.sent[l.ID] = time.Time{} // nobody knows whether it was ever dispatched
		}
	})
	c.f.Tasks(func(t *frontier.Task) { c.schedule(t) })
	if err := c.catchUp(ctx); err != nil {
		return err
	}
	if err := errors.Join(c.sync(ctx), c.tellAside(ctx)); err != nil { // the ledger knows first what the log has told
		return err
	}
	if len(dead) > 0 {
		return c.append(ctx, &crawl.Entry{Kind: crawl.EntryRecall, Recalls: dead})
	}
	return nil
}

// Follow applies the log to a frontier, and to nothing else, until elected is closed, ctx ends or reading fails: it
// keeps a standby's view up to date.
func Follow(ctx context.Context, log Log, f *frontier.Frontier, elected <-chan struct{}, logger *slog.Logger) error {
	stream, last, err := log.Refresh(ctx)
	if err != nil {
		return err
	}
	if err := rebaseFrontier(f, stream, last, logger); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-elected:
			cancel()
		case <-ctx.Done():
		}
	}()
	synced := time.Now()
	err = log.Read(ctx, f.Position().Seq+1, func(seq uint64, at int64, node string, data []byte) error {
		en, _, err := decode(entry{seq, at, node, data})
		if err != nil {
			return err
		}
		if _, err := f.Apply(seq, at, en); err != nil {
			return err
		}
		if time.Since(synced) > syncEvery {
			synced = time.Now()
			return f.Sync()
		}
		return nil
	})
	return errors.Join(err, f.Sync())
}

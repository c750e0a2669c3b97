package coordinator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/term"
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
	// At returns the first sequence that the log has, and when it stored the entry at seq, Unix ms; 0: it does not have that one.
	At(ctx context.Context, seq uint64) (first uint64, at int64, err error)
}

// Dispatcher sends hints to nodes. A hint that is lost is made up for by another, or by a recall.
type Dispatcher interface {
	Dispatch(ctx context.Context, node string, lease uint64, msg []byte) error
	Forget(ctx context.Context, node string, lease uint64) error
}

// Registry tells who is there. Nodes calls fn from one goroutine until ctx ends. Deaf reports whether it cannot, for longer than a moment.
type Registry interface {
	Nodes(ctx context.Context, fn func(crawl.NodeInfo, crawl.Sign)) error
	Deaf() bool
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
	Idle       bool                      // apply and append, but run no job: for commands on a directory
	Alone      bool                      // every earlier incarnation died with the process that this one replaces
	Serve      bool                      // run every job there is, and go on when there is none; else Run ends with the job
	Nodes      int                       // a run of one job waits a moment until so many nodes are there
	Probe      string                    // pairs that are measured before a site is crawled, for jobs that do not say: none, few, all; empty: as the strategy wants
	Shadow     string                    // a strategy that plans beside that of each job, and of which nothing is done; empty: none
	Places     Places                    // nil: nobody knows where a site is
	Hold       bool                      // a run of one job does not end when a person pauses it: somebody can say that it goes on
	Remember   bool                      // the last decision about each task is remembered (Explained), but of cycles over very many pairs
	Explain    func([]schedule.Decision) // gets the decisions of every cycle; nil: they are not recorded
	PingEvery  time.Duration             // delays between nodes are measured this often; 0: never
	Ended      func(job uint32)          // is told that a run of a job has ended and is in the ledger; nil: nobody cares
	TrimFloor  func() uint64             // the log keeps what is not below this; nil: both sinks are enough
	Gate       Gate                      // nil: whatever passes the checks is believed, and nothing is counted
	Full       func(was bool) string     // says why there is no room to go on; nil or empty: there is; was: there was none at the last look
	Led        func()                    // is told that a term has begun; nil: nobody cares
	LedgerAway func() time.Duration      // for how long the ledger's database may be away by now; nil, or 0: for ever
	Logger     *slog.Logger
}

// Coordinator runs one shard. It keeps the loop; what the loop works on belongs to owners with one job each.
type Coordinator struct {
	window
	cfg     Config
	reg     Registry
	f       *frontier.Frontier // that the sinks write
	sinks   sinks
	post    post
	open    open
	fleet   fleet
	books   accounts
	jobs    jobs
	lore    lore
	shadows map[uint32]*schedule.Difference // by job, of those whose strategy is another
	disk    disk
	clock   term.Clock
	hearing term.Hearing
	stage   stage
	desk    desk
	decided decided

	batch batch
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
	Written uint64 // the last entry that the ledger has
	Waiting int    // tasks that wait for their turn or a node

	NextSite string // while nothing is out: the first site that may be asked again,
	NextMS   int64  // and when (Unix ms)

	Searches frontier.SearchCounts // of the jobs that run

	Markets int     // that crawlers have held
	Sold    int64   // URLs that changed hands in them
	Paid    float64 // for those
}

// StateStarting is the state of a coordinator that has counted nothing yet.
const StateStarting = "starting"

// New returns a coordinator. Run makes it work.
func New(c Config, log Log, out Dispatcher, reg Registry, f *frontier.Frontier, l *ledger.Ledger) *Coordinator {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	co := &Coordinator{
		cfg: c, reg: reg, f: f, post: post{out, c.Logger, map[uint64]bool{}}, open: newOpen(f.Lease), fleet: newFleet(c.Logger, c.Gate), books: newAccounts(),
		jobs: jobs{f: f, runs: map[uint32]*run{}}, shadows: map[uint32]*schedule.Difference{}, disk: disk{ask: c.Full, logger: c.Logger}, desk: newDesk(),
		lore: lore{strategies: c.Strategies, logger: c.Logger, readers: map[string]*reader{}},
	}
	co.board.init()
	co.log, co.ledger = log, l
	co.desk.waits = co.sinks.waits.what
	co.sinks = sinks{
		log: log, f: f, ledger: l, logger: c.Logger, away: c.LedgerAway, floor: c.TrimFloor, told: map[uint64]bool{}, asks: co.desk.asks,
		beside: func() error { return co.lore.keep(f) },
	}
	co.status.Store(&Status{State: StateStarting})
	return co
}

// Status returns what the coordinator said last.
func (c *Coordinator) Status() Status {
	s := *c.status.Load()
	if why := c.Waits(); why != "" {
		s.State = "waiting: " + why
	}
	return s
}

// Waits says what the coordinator cannot go on without, and waits for: nothing is given out, or soon nothing, and an order may have to
// wait meanwhile; empty: it works.
func (c *Coordinator) Waits() string {
	if why := c.sinks.waits.what(); why != "" || c.reg == nil || !c.reg.Deaf() {
		return why
	}
	return "its bus: the registry of nodes cannot be watched"
}

// entry is an entry as it was read.
type entry struct {
	seq  uint64
	at   int64
	node string
	data []byte
	read time.Time
	gap  error // instead of an entry: those that follow are missing

	decoded *crawl.Entry // nil: not yet
	refused []crawl.Refusal
}

type nodeEvent struct {
	info crawl.NodeInfo
	sign crawl.Sign
}

// Run leads until the job that it runs has ended, ctx ends, or something it cannot do without fails. What has been
// applied is synced when it returns. It runs once.
func (c *Coordinator) Run(ctx context.Context) (err error) {
	defer func() { c.desk.close(err) }()
	err = c.run1(ctx)
	if errors.Is(err, crawl.ErrTrimmed) && !c.sinks.leads { // entries are missing in the middle: with all before them applied, that is seen
		err = c.run1(ctx)
	}
	return err
}

// Rest is for a directory that nobody works in: it answers what the frontier and the ledger hold until ctx ends. Nothing is read of the log,
// which need not be there, nothing is ordered, and nothing changes. It is called instead of Run.
func (c *Coordinator) Rest(ctx context.Context) (err error) {
	defer func() { c.desk.close(err) }()
	if c.lore.learned, err = c.f.Learner(); err != nil {
		return err
	}
	c.recollect(ctx)
	if err := c.remembers(); err != nil {
		return err
	}
	now := time.Now()
	c.sinks.applied = c.f.Position().Seq
	c.show(now, true)
	c.publish(now, nil)
	for {
		select {
		case fn := <-c.desk.orders:
			fn(now)
		case fn := <-c.desk.asks:
			fn()
		case <-ctx.Done():
			return nil
		}
	}
}

func (c *Coordinator) run1(ctx context.Context) error {
	var err error
	if c.lore.learned, err = c.f.Learner(); err != nil {
		return err
	}
	c.show(time.Now(), true) // who asks is answered while the ledger is waited for
	from, err := c.sinks.rebase(ctx)
	if err != nil {
		return err
	}
	c.recollect(ctx)
	switch {
	case c.sinks.remade && c.cfg.Alone:
		c.cfg.Logger.Warn("the ledger was missing: it is made anew from the log")
	case c.sinks.remade:
		c.cfg.Logger.Warn("the ledger was missing: it is made anew from the log, and knows the stores of those nodes only that come back; to name the others, stop this coordinator and run argosy rebuild ledger DIR --store PLACE, with each store")
	}
	entries := make(chan entry, 64)
	events := make(chan nodeEvent, eventsAtOnce)
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
		if errors.Is(err, ledger.ErrAway) || errors.Is(err, ledger.ErrDamaged) || errors.Is(err, frontier.ErrDamaged) {
			return err // what was not written is in the log
		}
		now := time.Now()
		err = errors.Join(err, c.sinks.sync(fin, now))
		c.show(now, true)
		if c.sinks.leads {
			_ = c.books.charge(fin, c.sinks.ledger) // of a few seconds, at most
			if !c.cfg.Idle {
				c.keep(fin, now, true)
			}
		}
		return err
	})
	err = group.Wait()
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		err = nil
	}
	return err
}

// read hands the loop what the log has, in order; also that entries are missing, which it is told when it has applied all before them.
func (c *Coordinator) read(ctx context.Context, from uint64, entries chan<- entry) error {
	hand := func(e entry) error {
		select {
		case entries <- e:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := c.sinks.log.Read(ctx, from, func(seq uint64, at int64, node string, data []byte) error {
		return hand(entry{seq: seq, at: at, node: node, data: data, read: time.Now()})
	})
	if errors.Is(err, crawl.ErrTrimmed) {
		return hand(entry{gap: err})
	}
	return err
}

const (
	restMost  = schedule.RestMost     // between two looks at everything
	restLeast = 50 * time.Millisecond // where something is due, but there is no room for it
)

// eventsAtOnce is how many registrations wait for the loop.
const eventsAtOnce = 256

// loop applies what comes and acts on it. It reads the time once a turn.
func (c *Coordinator) loop(ctx context.Context, entries <-chan entry, events <-chan nodeEvent) error {
	tick := time.NewTimer(0)
	defer tick.Stop()
	c.sinks.heard = time.Now()
	for {
		var orders <-chan func(time.Time) // nobody gives orders before we lead and have applied what we know of
		if c.sinks.leads && !c.sinks.behind() {
			orders = c.desk.orders
		}
		now := time.Now()
		tick.Reset(min(c.rest(now), c.batch.left(now)))
		entries := entries
		if orders != nil && c.desk.waiting.Load() > 0 {
			entries = nil // orders do not wait until nothing else comes; one that is counted is on its way here
		}
		select {
		case <-ctx.Done():
			return nil
		case e := <-entries:
			now = time.Now()
			if c.batches(now, &e) {
				continue
			}
			if err := c.applyAll(ctx, now, append(c.batch.drawn(), e), entries); err != nil {
				return err
			}
		case ev := <-events:
			now = time.Now()
			c.nodeEvent(ctx, now, ev)
			for range len(events) { // a thousand nodes renew two hundred times a second: not a turn for each
				c.nodeEvent(ctx, now, <-events)
			}
		case fn := <-orders: // it may take long
			fn(time.Now())
			c.jobs.stir()
			c.desk.served = true
			now = time.Now()
		case fn := <-c.desk.asks:
			fn()
			continue
		case <-tick.C:
			if now = time.Now(); c.batch.left(now) == 0 {
				if err := c.applyAll(ctx, now, c.batch.drawn(), entries); err != nil {
					return err
				}
			}
		}
		c.hearing.Turn(now)
		c.jobs.now = now
		done, err := c.turn(ctx, now)
		if err != nil || done {
			return err
		}
	}
}

// turn acts on what has been applied. Nothing is judged or granted before the log has been applied to its end.
func (c *Coordinator) turn(ctx context.Context, now time.Time) (done bool, err error) {
	c.show(now, false)
	if c.sinks.applied < max(c.sinks.target, c.sinks.appended) {
		return false, c.sinks.missed(ctx, now)
	}
	if !c.sinks.leads {
		return false, c.lead(ctx, now)
	}
	if err := c.sinks.askedAgain(ctx); err != nil || c.sinks.behind() {
		return false, err
	}
	if c.desk.waiting.Load() > 0 && !c.desk.served { // where each turn gives something out, nothing is ever applied to its end but here
		return false, nil
	}
	c.desk.served = false
	if done, err := c.act(ctx, now); err != nil || done {
		return done, err
	}
	if c.sinks.due(now) {
		if err := c.sinks.sync(ctx, now); err != nil {
			return false, err
		}
	}
	if now.Sub(c.sinks.heard) > restAfter {
		c.sinks.heard = now
		c.f.Rest()
	}
	return false, c.walk(ctx)
}

// restAfter is how long nothing must have come for the frontier to be tidied up.
const restAfter = 15 * time.Second

// walk goes on with retries that are under way, when there is nothing else to do: orders come first, and everything else that is
// appended.
func (c *Coordinator) walk(ctx context.Context) (err error) {
	c.f.Jobs(func(j *frontier.Job) {
		if err == nil && j.Walk != nil && c.desk.waiting.Load() == 0 && !c.sinks.behind() {
			err = c.sinks.append(ctx, &crawl.Entry{Kind: crawl.EntryWalk, Release: &crawl.Release{Job: j.ID}})
		}
	})
	return err
}

// rest is how long nothing needs to be done if nothing comes: until a site may be asked, or asking leases are answered.
// Looking more often than that costs a small fleet more than its pages do. What was due when the last turn began it has seen, and had no room
// for; what has come to be due since is done at once.
func (c *Coordinator) rest(now time.Time) time.Duration {
	if !c.sinks.leads && c.sinks.applied >= c.sinks.target {
		return 0
	}
	rest, turn := restMost, c.jobs.now
	soon := func(in time.Duration, seen bool) {
		if seen {
			in = max(in, restLeast)
		}
		rest = min(rest, max(0, in))
	}
	at := func(t time.Time) { soon(t.Sub(now), !t.After(turn)) }
	if len(c.open.wants) > 0 {
		at(c.open.refilled.Add(refillEvery))
	}
	if len(c.sinks.unsynced) > 0 {
		at(c.sinks.synced.Add(syncEvery))
	}
	if t, stale := c.board.next(); stale {
		at(t)
	}
	for _, r := range c.jobs.runs {
		if len(r.due) > 0 {
			soon(r.waiting(now, c.clock.MS(now)), r.waiting(turn, c.clock.MS(turn)) <= 0)
		}
	}
	return rest
}

// turnBytes bounds how much is applied before anything else is looked at.
const turnBytes = 256 << 10

// applyAll applies entries and those that have come behind them.
func (c *Coordinator) applyAll(ctx context.Context, now time.Time, all []entry, more <-chan entry) error {
	took := 0
	for n := 0; ; n++ {
		if n >= len(all) {
			if n >= 256 || took > turnBytes || c.sinks.bytes > 2*syncBytes {
				return nil
			}
			select {
			case e := <-more:
				all = append(all, e)
			default:
				return nil
			}
		}
		if err := c.apply(ctx, now, all[n]); err != nil {
			return err
		}
		took += len(all[n].data)
		all[n] = entry{} // it may be large
		c.desk.asks.answer()
	}
}

// take reads an entry, and leaves of what a node says what passes the check and what the node's leases can hold.
func (c *Coordinator) take(e entry) (*crawl.Entry, []crawl.Refusal, error) {
	en, refused, err := e.decoded, e.refused, error(nil)
	if en == nil {
		en, refused, err = decode(e)
	}
	if err != nil || e.node == "" {
		return en, nil, err
	}
	foreign, err := c.f.Foreign(e.seq, en)
	refused = append(refused, foreign...)
	c.refuse(e.seq, e.node, refused)
	return en, refused, err
}

// apply applies an entry that was read at a time, or before.
func (c *Coordinator) apply(ctx context.Context, now time.Time, e entry) error {
	if e.gap != nil {
		return e.gap
	}
	c.sinks.applied, c.sinks.heard = e.seq, now
	at := c.f.Steady(e.at)
	c.clock.Saw(at, e.read)
	en, refused, err := c.take(e)
	if err != nil {
		return err
	}
	fx, err := c.sinks.apply(e, en)
	if err != nil {
		return err
	}
	c.fleet.weigh(&e, en, fx.Doubted+len(refused))
	c.lore.take(&fx)
	c.board.touch(en, &fx)
	c.fleet.hear(e.node, now, c.hearing.Trouble())
	if c.sinks.leads && en.Epoch > c.sinks.epoch {
		return fmt.Errorf("%w: term %d follows on %d", ErrSucceeded, en.Epoch, c.sinks.epoch)
	}
	err = c.effects(ctx, now, &fx)
	c.sinks.lean()
	return err
}

// ErrSucceeded says that another coordinator has begun a later term.
var ErrSucceeded = errors.New("another coordinator leads")

// lead opens a term: from here on the log refuses every earlier leader.
func (c *Coordinator) lead(ctx context.Context, now time.Time) error {
	if err := c.sinks.next(ctx); err != nil {
		return err
	}
	c.hearing.Began = now
	if err := c.sinks.append(ctx, &crawl.Entry{Kind: crawl.EntryTerm, Doubt: c.sinks.lost}); err != nil {
		return err
	}
	c.sinks.leads = true
	if c.cfg.Led != nil {
		c.cfg.Led()
	}
	var dead []crawl.Recall
	c.f.Leases(func(l *frontier.Lease) {
		if c.cfg.Alone {
			dead = append(dead, crawl.Recall{Lease: l.ID, Reason: crawl.EndDead})
			return
		}
		c.open.addrs[l.ID] = c.f.Site(l.Site).Addrs
		if l.Parts == 0 {
			c.open.sent[l.ID] = time.Time{} // nobody knows whether it was ever dispatched
		}
	})
	c.f.Tasks(c.jobs.schedule)
	if c.sinks.lost {
		if err := c.sinks.adopt(ctx, now); err != nil {
			return err
		}
	}
	if err := c.sinks.catchUp(ctx); err != nil {
		return err
	}
	if err := errors.Join(c.sinks.sync(ctx, now), c.sinks.tellAside(ctx), c.leftOpen(ctx), c.remembers()); err != nil { // the ledger knows first what the log has told
		return err
	}
	if c.cfg.Serve {
		if err := errors.Join(c.submitAgain(ctx), c.agreed(ctx, now)); err != nil {
			return err
		}
	}
	if len(dead) > 0 {
		return c.sinks.append(ctx, &crawl.Entry{Kind: crawl.EntryRecall, Recalls: dead})
	}
	return nil
}

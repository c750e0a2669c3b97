// Package serve runs a coordinator of a fleet: it opens its directory, its bus and its ledger, leads or stands by, keeps
// checkpoints, writes indexes and admits nodes.
package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"argosy/internal/crawl"
	"argosy/internal/fleet/access"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/gate"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/page/scope"
	"argosy/internal/plan/geo"
	"argosy/internal/plan/schedule"
	"argosy/internal/plan/strategy"
)

// Config says how a coordinator of a fleet runs.
type Config struct {
	Dir        string
	Name       string        // of this coordinator, among several
	BusListen  string        // host:port of the embedded bus; empty: only Pipe leads there
	TLS        *tls.Config   // of the embedded bus; nil: plain TCP
	Bus        bus.Dial      // a bus elsewhere; without a URL the embedded one is used
	SigningKey string        // file: what nodes' credentials for a bus elsewhere are signed with
	Replicas   int           // of the log on a bus elsewhere
	LostAfter  time.Duration // how long that must say that it has no log until it is believed; 0: as the bus has it
	Ledger     string        // postgres:// URL; empty: SQLite in Dir
	Strategy   string
	Strategies func(spec string) (schedule.Strategy, error) // makes one of a name with options
	Probe      string                                       // none, few or all; empty: as the strategy wants
	Shadow     string                                       // a strategy that plans beside those of jobs; empty: none
	PingEvery  time.Duration                                // between measurements of the delays between nodes; 0: none
	GeoIP      []string
	ExplainLog string
	Seed       uint64
	Checkpoint uint64 // entries of the log between two checkpoints, on a bus elsewhere
	Access     Access
	MinFree    int64 // bytes on the directory's disk below which nothing is given out; 0: it is not looked at
	Version    string
	Waiting    func(why error) // is told what the bus, the database or the disk that Open waits for says, again and again; nil: nobody is
	Fatal      func(error)     // must not return: the view on disk cannot be written; nothing is lost by ending the process. nil panics
	Logger     *slog.Logger
}

// DefaultConfig returns the configuration of a coordinator in a directory.
func DefaultConfig(dir string) Config {
	return Config{
		Dir: dir, Name: "coordinator", BusListen: "127.0.0.1:4480", Replicas: 3, Strategy: strategy.Default, Strategies: strategy.Recorded, PingEvery: 10 * time.Minute,
		Checkpoint: 200_000, Access: Access{Rates: access.DefaultRates()}, MinFree: 256 << 20, Version: outdir.Version, Logger: slog.New(slog.DiscardHandler),
	}
}

// Server is a coordinator of a fleet: leading, or standing by.
type Server struct {
	cfg     Config
	opened  outdir.Opened
	keys    *bus.Keys
	server  *bus.Server // nil: the bus is elsewhere
	client  *bus.Client
	f       *frontier.Frontier
	ledger  *ledger.Ledger
	gate    atomic.Pointer[gate.Gate]
	explain *outdir.Explain
	geo     *geo.DB
	floor   atomic.Uint64          // of what may be trimmed
	worked  atomic.Bool            // it has led, or followed the log
	handed  atomic.Int32           // how often the lead was handed over since the ledger was there
	why     atomic.Pointer[string] // it does not lead, as far as it is known

	saidWaits time.Time // when the log last said what is waited for
	serves    bool      // Open has come to its end

	co atomic.Pointer[coordinator.Coordinator] // while it leads

	mu        sync.Mutex
	unindexed map[uint32]bool        // jobs whose index is about to be written
	indexed   map[uint32]crawl.Ended // what had ended of jobs when their indexes were written
	ended     chan uint32
}

// ErrStandby says that this coordinator does not lead.
var ErrStandby = errors.New("this coordinator does not lead")

// Why it does not: another one does, or nobody is known to.
var (
	errOther = fmt.Errorf("%w: it stands by, another one leads", ErrStandby)
	errSoon  = fmt.Errorf("%w yet: it is about to, unless another one does", ErrStandby)
)

// Open opens a coordinator's directory, its bus and its ledger.
func Open(ctx context.Context, c Config) (s *Server, err error) {
	state := outdir.State(c.Dir)
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, err
	}
	s = &Server{cfg: c, unindexed: map[uint32]bool{}, indexed: map[uint32]crawl.Ended{}, ended: make(chan uint32, 64)}
	defer func() {
		if err != nil {
			err = outdir.Mend(c.Dir, errors.Join(err, s.Close()))
			s = nil
		}
	}()
	lock, err := outdir.Lock(c.Dir)
	if err != nil {
		return s, err
	}
	s.opened.Add(lock.Close)
	if err = outdir.OpenFormat(c.Dir, c.Version); err != nil {
		return s, err
	}
	was := outdir.LedgerElsewhere(c.Dir)
	if err = outdir.Claim(c.Dir, was); err != nil {
		return s, err
	}
	s.opened.AddQuiet(s.closeBus)
	if err = s.untilThere(ctx, func() error { return s.openBus(ctx, state) }); err != nil {
		return s, err
	}
	if err = s.untilThere(ctx, func() error { return s.openGate(ctx) }); err != nil {
		return s, err
	}
	s.opened.AddQuiet(func() { s.Gate().Close() })
	s.opened.Add(s.closeFrontier)
	if err = s.untilThere(ctx, func() error { return s.reopen(ctx) }); err != nil {
		return s, err
	}
	if err = s.untilThere(ctx, func() error { return s.openLedger(ctx, was) }); err != nil {
		return s, err
	}
	s.opened.Add(s.ledger.Close)
	if err = outdir.Claim(c.Dir, c.Ledger); err != nil { // not before it is known for the fleet's: the next start believes this note
		return s, err
	}
	if c.ExplainLog != "" {
		if s.explain, err = outdir.OpenExplain(c.ExplainLog); err != nil {
			return s, err
		}
		s.opened.Add(s.explain.Close)
	}
	if len(c.GeoIP) > 0 {
		if s.geo, err = geo.Open(c.GeoIP...); err != nil {
			return s, err
		}
		s.opened.Add(s.geo.Close)
	}
	if c.BusListen != "" || s.elsewhere() { // without a port it is a test's, in simulated time, which would wait for a socket
		control, err := outdir.Listen(c.Dir, s.answer)
		if err != nil {
			return s, err
		}
		s.opened.Add(control.Close)
	}
	s.serves = true
	return s, nil
}

func (s *Server) elsewhere() bool { return s.cfg.Bus.URL != "" }

func (s *Server) openBus(ctx context.Context, state string) (err error) {
	c := s.cfg
	bc := bus.DefaultConfig(outdir.Bus(c.Dir))
	bc.Logger = c.Logger
	if s.elsewhere() {
		if c.SigningKey != "" {
			if s.keys, err = bus.SigningKeys(c.SigningKey); err != nil {
				return err
			}
		}
		bc.Replicas, bc.LostAfter, bc.Keys = c.Replicas, c.LostAfter, s.keys
		s.client, err = bus.Connect(ctx, c.Bus, bc)
		return err
	}
	if s.keys, err = bus.LoadKeys(filepath.Join(state, outdir.KeysFile)); err != nil {
		return err
	}
	bc.Listen, bc.TLS, bc.Keys = c.BusListen, c.TLS, s.keys
	if s.server, err = bus.Serve(bc); err != nil {
		return err
	}
	s.client, err = s.server.Connect(ctx)
	return err
}

// openFrontier opens the view. One that is so old that the log no longer has what follows, or that is not there at all
// while the log begins later, starts from the last checkpoint.
func (s *Server) openFrontier(ctx context.Context) (err error) {
	fc := frontier.DefaultConfig(outdir.Frontier(s.cfg.Dir))
	fc.Table = frontier.LargeTable
	fc.Await, fc.Fatal = func() bool { return s.awaitRoom(ctx) }, s.cfg.Fatal
	if s.f, err = frontier.Open(fc); err != nil || !s.elsewhere() {
		return err
	}
	stream, _, err := s.client.Refresh(ctx)
	if err != nil {
		return err
	}
	first, err := s.client.First(ctx)
	if err != nil {
		return err
	}
	pos := s.f.Position()
	if pos.Stream == stream && pos.Seq+1 >= first || first <= 1 {
		s.floor.Store(first)
		return nil
	}
	if err := s.closeFrontier(); err != nil {
		return err
	}
	seq, err := s.restore(ctx)
	if err != nil {
		return fmt.Errorf("the log begins at entry %d, this directory's view ends at %d: %w", first, pos.Seq, err)
	}
	s.cfg.Logger.Info("view restored from a checkpoint", "seq", seq)
	s.f, err = frontier.Open(fc)
	return err
}

// Close closes everything that is open.
func (s *Server) Close() error {
	return s.opened.Close()
}

func (s *Server) closeBus() {
	if s.client != nil {
		s.client.Close()
	}
	if s.server != nil {
		s.server.Close()
	}
}

func (s *Server) closeFrontier() error {
	if s.f == nil {
		return nil
	}
	err := s.f.Close()
	s.f = nil
	return err
}

var errUnelected = errors.New("the leader's lease was lost")

// standBy follows the log until this process is elected, and then leads.
func (s *Server) standBy(ctx context.Context) error {
	elected := make(chan struct{})
	followed := make(chan error, 1)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	follow, ended := context.WithCancel(ctx)
	defer ended()
	elect, unwilling := context.WithCancel(ctx)
	defer unwilling()
	go func() {
		err := coordinator.Follow(follow, s.client, s.f, elected, s.cfg.Logger)
		if err == nil {
			s.worked.Store(true)
		} else {
			unwilling() // who cannot follow must not lead
		}
		followed <- err
	}()
	led := false
	err := s.client.Elect(elect, s.cfg.Name, func(lctx context.Context) error {
		led = true
		close(elected)
		if err := <-followed; err != nil {
			return err
		}
		s.cfg.Logger.Info("leading", "name", s.cfg.Name)
		err := s.lead(lctx)
		if err == nil && lctx.Err() != nil && ctx.Err() == nil {
			return errUnelected
		}
		return err
	})
	if !led {
		ended()
		if ferr := <-followed; ferr != nil {
			return ferr
		}
		return err
	}
	return err
}

// lead runs a coordinator until ctx ends.
func (s *Server) lead(ctx context.Context) error {
	c := coordinator.Config{
		Strategy: s.cfg.Strategy, Strategies: s.cfg.Strategies, Seed: s.cfg.Seed, Serve: true, Remember: true, Probe: s.cfg.Probe,
		Shadow: s.cfg.Shadow, PingEvery: s.cfg.PingEvery, Explain: s.explain.Sink(), Logger: s.cfg.Logger,
		Ended: func(job uint32) {
			s.mu.Lock()
			s.unindexed[job] = true
			s.mu.Unlock()
			select {
			case s.ended <- job:
			default: // so many at once: indexes looks for it later
			}
		},
	}
	if s.geo != nil {
		c.Places = s.geo
	}
	c.Full, c.Gate = s.full, s.Gate()
	if s.elsewhere() {
		c.TrimFloor, c.LedgerAway = s.floor.Load, s.ledgerAway
	}
	c.Led = func() {
		s.worked.Store(true)
		s.why.Store(nil)
		s.noteStandby("")
		s.handed.Store(0) // the ledger is there: a term begins with it
	}
	co := coordinator.New(c, s.client, s.client, s.client, s.f, s.ledger)
	s.co.Store(co)
	defer s.co.Store(nil)
	group, gctx := errgroup.WithContext(ctx)
	stop, cancel := context.WithCancel(gctx)
	group.Go(func() error {
		defer cancel()
		return co.Run(gctx)
	})
	if s.elsewhere() {
		group.Go(func() error { return s.checkpoints(stop, co) })
	}
	return group.Wait()
}

// A leader waits for its database so long before it lets another one try, which may reach it. One to whom the lead has come back without
// the database having been there keeps it for longer: where nobody reaches the database, handing over mends nothing.
const (
	handsOver      = 30 * time.Second
	handsOverAgain = 10 * time.Minute
)

// ledgerAway is how long the database may be away by now.
func (s *Server) ledgerAway() time.Duration {
	if s.handed.Load() != 0 {
		return handsOverAgain
	}
	return handsOver
}

// lookAgain is how often jobs are looked for that have ended and have no index: their coordinator died meanwhile, or its
// disk was full.
const lookAgain = 5 * time.Second

// indexes writes the index of each job that has ended.
func (s *Server) indexes(ctx context.Context) error {
	t := time.NewTicker(lookAgain)
	defer t.Stop()
	for {
		var jobs []uint32
		select {
		case <-ctx.Done():
			return nil
		case job := <-s.ended:
			jobs = append(jobs, job)
		case <-t.C:
			jobs = s.missing(ctx)
			s.noteLeader()
		}
		for _, job := range jobs {
			if err := s.WriteIndex(ctx, job); err != nil && ctx.Err() == nil {
				s.cfg.Logger.Error("index not written", "job", job, "error", err)
			}
		}
	}
}

// noteLeader notes who leads now, as far as it is known: what was noted while the lead changed may have been known before.
func (s *Server) noteLeader() {
	if s.co.Load() != nil {
		s.noteStandby("")
	} else if name, yes := s.client.AnotherLeads(); yes && s.elsewhere() {
		s.noteStandby(name)
	}
}

// noteStandby notes in the directory who leads (empty: this coordinator): the indexes are in that one's.
func (s *Server) noteStandby(leader string) {
	if err := outdir.NoteStandby(s.cfg.Dir, leader); err != nil {
		s.cfg.Logger.Warn("who leads is not noted", "error", err)
	}
}

// missing returns the jobs that have ended and have no index here.
func (s *Server) missing(ctx context.Context) (out []uint32) {
	co, err := s.Leader()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookAgain)
	defer cancel()
	jobs, err := co.Jobs(ctx)
	if err != nil {
		return nil
	}
	for _, j := range jobs {
		if j.State != crawl.JobRunning && j.State != crawl.JobPaused && !s.Indexed(j.ID) {
			out = append(out, j.ID)
		}
	}
	return append(out, s.outdated(ctx)...)
}

// outdated returns the jobs of which more has ended since their index was written: a node reported late.
func (s *Server) outdated(ctx context.Context) (out []uint32) {
	s.mu.Lock()
	indexed := maps.Clone(s.indexed)
	s.mu.Unlock()
	for job, was := range indexed {
		if now, err := s.ledger.Ended(ctx, job); err == nil && now != was {
			out = append(out, job)
		}
	}
	return out
}

// lastIndexes writes the indexes that are outdated when nobody leads any more.
func (s *Server) lastIndexes(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastIndexing)
	defer cancel()
	for _, job := range s.outdated(ctx) {
		if err := s.WriteIndex(ctx, job); err != nil {
			s.cfg.Logger.Error("index not written", "job", job, "error", err)
		}
	}
}

// lastIndexing bounds how long a coordinator that ends writes indexes.
const lastIndexing = 30 * time.Second

// WriteIndex writes the index of a job.
func (s *Server) WriteIndex(ctx context.Context, job uint32) error {
	path := outdir.JobIndex(s.cfg.Dir, job)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	ended, err := s.ledger.Ended(ctx, job)
	if err != nil {
		return err
	}
	if err := outdir.WriteIndex(ctx, s.ledger, job, path); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.indexed[job] = ended
	delete(s.unindexed, job)
	return nil
}

// Indexed tells whether a job's index is there.
func (s *Server) Indexed(job uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unindexed[job] {
		return false
	}
	_, err := os.Stat(outdir.JobIndex(s.cfg.Dir, job))
	return err == nil
}

// Ledger returns the ledger, which many may read at once.
func (s *Server) Ledger() *ledger.Ledger { return s.ledger }

// Dir returns the coordinator's directory.
func (s *Server) Dir() string { return s.cfg.Dir }

// Leader returns the coordinator, if this process leads.
func (s *Server) Leader() (*coordinator.Coordinator, error) {
	if co := s.co.Load(); co != nil {
		return co, nil
	}
	if s.elsewhere() {
		if _, yes := s.client.AnotherLeads(); yes {
			return nil, errOther
		}
	}
	if why := s.why.Load(); why != nil {
		return nil, fmt.Errorf("%w now: %s (its log says more); it goes on by itself", ErrStandby, *why)
	}
	return nil, errSoon
}

// CheckJob finds mistakes in a job.
func CheckJob(j *crawl.Job) error {
	if err := crawl.CheckWords(j); err != nil {
		return err
	}
	if _, err := scope.Compile(j.Identity, j.Limits, j.Sites...); err != nil {
		return err
	}
	if j.Placing.Strategy != "" {
		if _, err := strategy.New(j.Placing.Strategy); err != nil {
			return fmt.Errorf("placing.%w", err)
		}
	}
	if err := schedule.CheckProbe(j.Placing.Probe); err != nil {
		return fmt.Errorf("placing.probe: %w", err)
	}
	for _, name := range j.Placing.Landmarks {
		if err := bus.CheckNode(name); err != nil {
			return fmt.Errorf("placing.landmarks: %w", err)
		}
	}
	if store := j.Placing.Store; store != "" && access.StoreRule(store) == "" {
		return fmt.Errorf("placing.store: %q: no node's archives can be there: allowed are file:///PATH and s3://BUCKET[/PREFIX][?endpoint=URL]", store)
	}
	return nil
}

// Pipe opens a connection to the embedded bus without a port.
func (s *Server) Pipe() (net.Conn, error) { return s.server.Pipe() }

// BusURL is where nodes find the bus.
func (s *Server) BusURL() string {
	if s.elsewhere() {
		return s.cfg.Bus.URL
	}
	return s.server.URL()
}

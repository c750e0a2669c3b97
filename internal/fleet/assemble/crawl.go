// Package assemble builds a whole crawl in one process: the embedded bus, the frontier, the ledger, the archives, a
// coordinator and its agents, wired as a fleet is. Commands, tests and benchmarks use it; it holds no policy.
package assemble

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"argosy/internal/crawl"
	"argosy/internal/fleet/agent"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/page/archive"
	"argosy/internal/page/fetch"
	"argosy/internal/page/scope"
	"argosy/internal/plan/geo"
	"argosy/internal/plan/schedule"
	"argosy/internal/plan/strategy"
)

// Config says what to crawl and with what.
type Config struct {
	Dir         string
	Job         crawl.Job
	Agents      int      // nodes in this process
	Members     []Member // nodes that differ from each other; overrides Agents
	Concurrency int      // requests at once per node
	Fetch       fetch.Config
	Headers     []fetch.Field     // for the seeds' sites
	Cookies     string            // likewise
	Logins      map[string]string // NAME:PASSWORD, for HTTP authentication (RFC 7617), by site
	KeepSecrets bool
	Had         *agent.Had // answers that are not asked for again; nil: none
	Strategy    string
	Probe       string   // none, few or all; empty: as the strategy wants
	GeoIP       []string // files of MaxMind's format, for strategies that ask where a site is
	ExplainLog  string   // file that every scheduling decision is written to, a JSON object a line; empty: none
	Seed        uint64
	ArchiveSize int64  // bytes after which a WARC file is closed
	MinFree     int64  // bytes that stay free on the disk of Dir: where fewer are, a run ends as one that is interrupted
	Prefix      string // of the names of WARC files; empty: "argosy"
	Operator    string // who crawls, and how to reach them: a label of the archives
	Version     string
	Logger      *slog.Logger
	Hold        bool                                                     // a person who pauses the job can say that it goes on: the run does not end, and decisions are remembered
	Idle        bool                                                     // open, apply the log, but run nothing
	Fatal       func(error)                                              // must not return: the view on disk cannot be written; nothing is lost by ending the process. nil panics
	Seeds       func(from int64, send func(crawl.SeedChunk) error) error // hands over the job's list of seeds, from a number of them on
	Begun       func() error                                             // is called once the job is known to be the directory's, and runs; nil: nobody cares
}

// DefaultConfig returns a Config for a directory.
func DefaultConfig(dir string) Config {
	return Config{
		Dir: dir, Job: crawl.Job{ID: 1, Limits: crawl.DefaultLimits()}, Agents: 1, Concurrency: 128, Strategy: strategy.Default,
		ArchiveSize: 1 << 30, Version: outdir.Version, Logger: slog.New(slog.DiscardHandler),
	}
}

// Crawl is an opened directory. Close closes it.
type Crawl struct {
	cfg    Config
	opened outdir.Opened
	server *bus.Server
	lead   *bus.Client
	f      *frontier.Frontier
	ledger *ledger.Ledger
	co     *coordinator.Coordinator
	nodes  []*node
	told   []int64 // the last problem of each node that a person has been told of

	explain *outdir.Explain
	geo     *geo.DB
	mended  []string

	stop    chan struct{} // closed when another process asks the run to end
	stopped sync.Once
	full    chan error // the bus has no room on its disk
}

// Open opens or creates a crawl's directory and locks it. Files that a dead process left open are mended.
func Open(ctx context.Context, c Config) (cr *Crawl, err error) {
	state := outdir.State(c.Dir)
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, err
	}
	cr = &Crawl{cfg: c, stop: make(chan struct{}), full: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = outdir.Mend(c.Dir, DiskFull(c.Dir, errors.Join(err, cr.Close())))
			cr = nil
		}
	}()
	lock, err := outdir.Lock(c.Dir)
	if err != nil {
		return cr, err
	}
	cr.opened.Add(lock.Close)
	if err = outdir.OpenFormat(c.Dir, c.Version); err != nil {
		return cr, err
	}
	if outdir.Fleet(c.Dir) {
		return cr, fmt.Errorf("%s: %w: it is a coordinator's; ask that one, by the number of a job", c.Dir, outdir.ErrOtherJob)
	}
	if cr.mended, err = archive.Recover(filepath.Join(c.Dir, outdir.WARCDir)); err != nil {
		return cr, err
	}
	bc := bus.DefaultConfig(outdir.Bus(c.Dir))
	bc.MaxDispatch, bc.RecycleAfter, bc.Full = maxDispatch, max(time.Minute, c.Job.Limits.RecycleAfter), cr.noRoom
	if cr.server, err = bus.Serve(bc); err != nil {
		return cr, err
	}
	cr.opened.AddQuiet(cr.server.Close)
	fc := frontier.DefaultConfig(outdir.Frontier(c.Dir))
	fc.Fatal = c.Fatal
	if cr.f, err = frontier.Open(fc); err != nil {
		return cr, err
	}
	cr.opened.Add(cr.f.Close)
	if cr.ledger, err = ledger.Open(ctx, filepath.Join(c.Dir, outdir.LedgerFile)); err != nil {
		return cr, err
	}
	cr.opened.Add(cr.ledger.Close)
	if cr.lead, err = cr.server.Connect(ctx); err != nil {
		return cr, err
	}
	cr.opened.AddQuiet(cr.lead.Close)
	if c.ExplainLog != "" {
		if cr.explain, err = outdir.OpenExplain(c.ExplainLog); err != nil {
			return cr, err
		}
		cr.opened.Add(cr.explain.Close)
	}
	cc := coordinator.Config{
		Strategy: c.Strategy, Strategies: strategy.Recorded, Seed: c.Seed, Alone: true, Idle: c.Idle, Hold: c.Hold, Remember: c.Hold, Nodes: len(c.members()), Logger: c.Logger, Explain: cr.explain.Sink(), Probe: c.Probe,
	}
	if slices.ContainsFunc(c.Members, func(m Member) bool { return m.Echo != "" }) {
		cc.PingEvery = pingEvery
	}
	if len(c.GeoIP) > 0 {
		if cr.geo, err = geo.Open(c.GeoIP...); err != nil {
			return cr, err
		}
		cr.opened.Add(cr.geo.Close)
		cc.Places = cr.geo
	}
	cr.co = coordinator.New(cc, cr.lead, cr.lead, cr.lead, cr.f, cr.ledger)
	if c.Idle {
		return cr, nil
	}
	control, err := outdir.Listen(c.Dir, cr.answer)
	if err != nil {
		return cr, err
	}
	cr.opened.Add(control.Close)
	return cr, cr.openNodes(ctx)
}

func (cr *Crawl) openNodes(ctx context.Context) error {
	c := cr.cfg
	st, err := strategy.New(c.Strategy)
	if err != nil {
		return err
	}
	wants, err := schedule.Wants(st, c.Probe)
	if err != nil {
		return err
	}
	members, speed := cr.members(), &StoreSpeed{}
	for i := range members {
		m := &members[i]
		nc := NodeConfig{
			Info: crawl.NodeInfo{
				Node: m.Name, Labels: m.Labels, Echo: m.Echo, Leases: max(64, 32*c.Concurrency), Concurrency: c.Concurrency, Store: archive.Dir(filepath.Join(c.Dir, outdir.WARCDir)).URL(),
			},
			Fetch: c.Fetch, Headers: c.Headers, Cookies: c.Cookies, Logins: c.Logins, KeepSecrets: c.KeepSecrets, Had: c.Had, Dir: filepath.Join(c.Dir, outdir.WARCDir),
			MeasureBS: wants.Store && (len(members) > 1 || wants.Asked), Speed: speed, ArchiveSize: c.ArchiveSize, Prefix: c.Prefix, Operator: c.Operator, Version: c.Version, Logger: c.Logger,
			IgnoreRobot: c.Job.Identity.IgnoreRobots, UserAgent: c.Job.Identity.UserAgent, Beside: len(members) - 1,
		}
		nc.Fetch.Limits = c.Job.Limits.Fetch
		if m.Bind.IsValid() {
			nc.Fetch.Bind, nc.Info.Source = m.Bind, m.Bind.String()
		}
		if m.Dial != nil {
			nc.Fetch.Dial = m.Dial
		}
		b, err := cr.server.Connect(ctx)
		if err != nil {
			return err
		}
		cr.opened.AddQuiet(b.Close)
		nd, err := openNode(nc, b)
		if err != nil {
			return err
		}
		cr.nodes, cr.told = append(cr.nodes, nd), append(cr.told, 0)
	}
	return nil
}

// maxDispatch bounds the messages to the node that are kept after it got them, in bytes: 32 of the largest. It is in the same process and has read
// a message when the next one comes; what it missed all the same is sent again.
const maxDispatch = 8 << 20

// pingEvery is how often nodes in one process measure the delays between each other, where they can.
const pingEvery = time.Minute

// Mended returns the names of archive files that a dead process had left open.
func (cr *Crawl) Mended() []string { return cr.mended }

// Coordinator returns the crawl's coordinator, for commands on a directory.
func (cr *Crawl) Coordinator() *coordinator.Coordinator { return cr.co }

// Leader returns the crawl's coordinator, as an API asks for it.
func (cr *Crawl) Leader() (*coordinator.Coordinator, error) { return cr.co, nil }

// Ledger returns the ledger, which many may read at once.
func (cr *Crawl) Ledger() *ledger.Ledger { return cr.ledger }

// Dir returns the crawl's directory.
func (cr *Crawl) Dir() string { return cr.cfg.Dir }

// Indexed reports whether there is an index. That of a run before is there while this one works.
func (cr *Crawl) Indexed(uint32) bool {
	_, err := os.Stat(filepath.Join(cr.cfg.Dir, outdir.IndexFile))
	return err == nil
}

// Totals returns what earlier runs have counted. It must not be called once the crawl runs.
func (cr *Crawl) Totals() crawl.Counts {
	if j := cr.f.Job(cr.cfg.Job.ID); j != nil {
		return j.Totals
	}
	return crawl.Counts{}
}

// Topic returns what pages are to be about, nil if that does not matter.
func (cr *Crawl) Topic() *crawl.Topic { return cr.cfg.Job.Identity.Topic }

// Status returns what coordinator and agents say of themselves.
func (cr *Crawl) Status() (coordinator.Status, agent.Stats) {
	var sum agent.Stats
	for _, n := range cr.nodes {
		s := n.agent.Stats()
		sum.Requests += s.Requests
		sum.Busy += s.Busy
		sum.Leases += s.Leases
	}
	return cr.co.Status(), sum
}

// Problems returns what has gone wrong since the last call, as far as it is remembered. One goroutine calls it.
func (cr *Crawl) Problems() (out []agent.Problem) {
	for i, n := range cr.nodes {
		of := n.agent.Problems(cr.told[i])
		if len(of) > 0 {
			cr.told[i] = of[len(of)-1].No
		}
		out = append(out, of...)
	}
	return out
}

// Sites returns how the leases that run get on with their sites, in no particular order.
func (cr *Crawl) Sites() (out []agent.SiteStats) {
	for _, n := range cr.nodes {
		out = append(out, n.agent.Sites()...)
	}
	return out
}

// Run crawls until the job has ended, a limit is reached, or ctx ends: then it drains, so that nothing in flight is
// lost or fetched again, and returns soon. A second channel, hard, makes it leave at once; even that loses nothing.
func (cr *Crawl) Run(ctx context.Context, hard <-chan struct{}) (Summary, error) {
	start := time.Now()
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	group, gctx := errgroup.WithContext(run)
	nodes, stopNodes := context.WithCancel(gctx)
	defer stopNodes()
	for _, n := range cr.nodes {
		group.Go(func() error { return n.run(nodes) })
	}
	group.Go(func() error {
		defer stopNodes()
		return cr.co.Run(gctx)
	})
	var once sync.Once
	watch := func() {
		once.Do(func() { _ = cr.co.Drain(gctx) }) // it fails only when the run has ended already
	}
	group.Go(func() error { return cr.stored(nodes) })
	room := newRoom(cr.cfg.Dir, cr.cfg.MinFree)
	group.Go(func() error {
		room.watch(nodes)
		return nil
	})
	group.Go(func() error {
		if err := cr.begin(gctx); err != nil && gctx.Err() == nil {
			return unlessOver(err)
		}
		sowing, stop := context.WithCancel(nodes)
		defer context.AfterFunc(ctx, stop)()
		if err := cr.sow(sowing); err != nil && sowing.Err() == nil {
			return unlessOver(err)
		}
		stop()
		select {
		case <-ctx.Done():
			watch()
		case <-cr.stop:
			watch()
		case <-room.low:
			watch()
		case <-nodes.Done():
			return nil
		}
		defer cr.hurry()()
		select {
		case <-hard:
			cancel()
		case <-room.gone:
			cancel()
		case <-nodes.Done():
		}
		return nil
	})
	err := group.Wait()
	for _, n := range cr.nodes {
		if cerr := n.close(); err == nil { // otherwise it says the same once more
			err = cerr
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return Summary{}, outdir.Mend(cr.cfg.Dir, DiskFull(cr.cfg.Dir, err))
	}
	sum, err := cr.summary(context.WithoutCancel(ctx), start)
	if err == nil {
		err = cr.WriteIndex(context.WithoutCancel(ctx))
	}
	if err != nil || sum.State != crawl.JobInterrupted {
		return sum, outdir.Mend(cr.cfg.Dir, err)
	}
	return sum, room.err()
}

// stored fails when the bus has no room for what it is sent: nodes would wait for it for ever. It returns when ctx ends.
func (cr *Crawl) stored(ctx context.Context) error {
	select {
	case err := <-cr.full:
		return err
	case <-ctx.Done():
		return nil
	}
}

// noRoom notes that the bus has no room.
func (cr *Crawl) noRoom(err error) {
	select {
	case cr.full <- err:
	default: // it is known
	}
}

// unlessOver returns nil for an error that says no more than that the coordinator has ended: its Run, which may return a moment later,
// says why.
func unlessOver(err error) error {
	if errors.Is(err, coordinator.ErrOver) {
		return nil
	}
	return err
}

// begin starts or goes on with the job. One that has failed altogether is tried again as a whole: the person who gives the
// command again has mended something.
func (cr *Crawl) begin(ctx context.Context) error {
	futile, answered := false, false
	err := cr.co.View(ctx, func(f *frontier.Frontier) error {
		if j := f.Job(cr.cfg.Job.ID); j != nil {
			answered = j.Totals.Fetched > 0
			futile = j.Totals.Fetched == 0 && j.Totals.Failed+j.Totals.Excluded > 0
			return cr.same(&j.Job)
		}
		return nil
	})
	if err == nil && futile {
		_, err = cr.co.Release(ctx, crawl.EntryRetry, nil, crawl.Release{Job: cr.cfg.Job.ID, Why: "nothing had been fetched"})
	}
	if err == nil && answered {
		err = cr.askRefused(ctx)
	}
	if err == nil {
		err = cr.co.Begin(ctx, &cr.cfg.Job, cr.same)
	}
	if err == nil && cr.cfg.Begun != nil {
		err = cr.cfg.Begun()
	}
	return err
}

// sow hands over what is not in yet of the job's list of seeds, until ctx ends.
func (cr *Crawl) sow(ctx context.Context) error {
	if cr.cfg.Job.Identity.List == nil {
		return nil
	}
	var sown, count int64
	err := cr.co.View(ctx, func(f *frontier.Frontier) error {
		if j := f.Job(cr.cfg.Job.ID); j != nil && j.Sowing() {
			sown, count = j.Sown, j.Identity.List.Count
		}
		return nil
	})
	if err != nil || sown == count {
		return err
	}
	return cr.cfg.Seeds(sown, func(c crawl.SeedChunk) error {
		c.Job = cr.cfg.Job.ID
		_, err := cr.co.Sow(ctx, c)
		return err
	})
}

// same refuses to go on with another job in this job's directory, naming what differs.
func (cr *Crawl) same(have *crawl.Job) error {
	a, b := reflect.ValueOf(have.Identity), reflect.ValueOf(cr.cfg.Job.Identity)
	for i := range a.NumField() {
		x, y := a.Field(i), b.Field(i)
		if x.Kind() == reflect.Slice && x.Len() == 0 && y.Len() == 0 || reflect.DeepEqual(x.Interface(), y.Interface()) {
			continue
		}
		if m, ok := x.Interface().(*crawl.Market); ok && m.SameKind(y.Interface().(*crawl.Market)) {
			continue // the others of its parameters may change
		}
		name := strings.Replace(a.Type().Field(i).Name, "List", "Seeds", 1)
		differs := fmt.Sprintf("is %v, not %v", brief(x), brief(y))
		if brief(x) == brief(y) {
			differs = "differs"
		}
		if strings.HasSuffix(name, "s") && x.Kind() == reflect.Slice {
			differs = strings.Replace(differs, "is ", "are ", 1)
		}
		return fmt.Errorf("%s: %w: its %s %s; use another -o, or leave the option as it was", cr.cfg.Dir, outdir.ErrOtherJob, flagName(name), differs)
	}
	if !crawl.SameFilters(have.Sites, cr.cfg.Job.Sites) {
		return fmt.Errorf("%s: %w: its include and exclude of single sites differ; use another -o, or leave them as they were", cr.cfg.Dir, outdir.ErrOtherJob)
	}
	return nil
}

// brief returns a value as people read it.
func brief(v reflect.Value) string {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return "none"
	}
	if _, ok := v.Interface().(fmt.Stringer); v.Kind() == reflect.Pointer && !ok {
		return "another one"
	}
	s := fmt.Sprint(v.Interface())
	if len(s) > 120 {
		s = s[:120] + "…"
	}
	return s
}

// flagName turns the name of a field of Identity into that of its flag.
func flagName(field string) string {
	var out []rune
	for i, r := range field {
		if r >= 'A' && r <= 'Z' {
			if i > 0 && (field[i-1] < 'A' || field[i-1] > 'Z') {
				out = append(out, '-')
			}
			r += 'a' - 'A'
		}
		out = append(out, r)
	}
	return string(out)
}

// WriteIndex writes index.cdxj from the ledger: every capture once, sorted by key and date.
func (cr *Crawl) WriteIndex(ctx context.Context) error {
	return outdir.WriteIndex(ctx, cr.ledger, cr.cfg.Job.ID, filepath.Join(cr.cfg.Dir, outdir.IndexFile))
}

// Close closes everything that is open, in the order in which things depend on each other.
func (cr *Crawl) Close() error {
	return cr.opened.Close()
}

// Check finds mistakes in a configuration before anything is opened.
func Check(c *Config) error {
	if err := crawl.CheckWords(&c.Job); err != nil {
		return err
	}
	if _, err := scope.Compile(c.Job.Identity, c.Job.Limits, c.Job.Sites...); err != nil {
		return err
	}
	st, err := strategy.New(c.Strategy)
	if err != nil {
		return err
	}
	if err := schedule.CheckNames(st, c.Job.Placing.Landmarks, c.planned(), true); err != nil {
		return err
	}
	return schedule.CheckPlaces(st, len(c.GeoIP) > 0 || len(c.Job.Placing.Places) > 0)
}

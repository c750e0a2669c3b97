package coordinator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sort"
	"sync"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
)

// sinks owns the log and what is made of it: the frontier and the ledger, each with a position of its own.
type sinks struct {
	log    Log
	f      *frontier.Frontier
	ledger *ledger.Ledger
	logger *slog.Logger
	away   func() time.Duration // for how long the ledger's database may be away by now; nil, or 0: for ever
	floor  func() uint64        // the log keeps what is not below this; nil: both sinks are enough
	beside func() error         // writes into the frontier what is not in the log, before it is synced

	told map[uint64]bool // entries that were set aside, of which the log has been told
	asks questions       // that are answered while something is waited for

	waits waiting

	lost     bool // the log has lost its end, or is another one
	remade   bool // the ledger was missing: it gets all that the log has
	epoch    uint64
	leads    bool
	appended uint64        // last entry of our own
	waited   time.Duration // in all, for the log to have what was appended
	applied  uint64
	target   uint64 // the log's end when we started
	unsynced []ledger.Applied
	sizes    []int // of the entries in unsynced, bytes
	bytes    int   // of all of them
	synced   time.Time
	heard    time.Time // the last entry, or when the frontier was tidied up
	trimmed  uint64
	grown    int // bytes of entries synced since the log was trimmed
}

// An entry is synced soon after it was applied: syncs cost nearly the same whatever is in them, and what they have not had is in
// the log. The log is trimmed after so many entries, or bytes of them: the embedded bus has what it keeps in memory, for seconds,
// in blocks of 8 MiB.
const (
	syncEvery = 1200 * time.Millisecond
	syncBytes = 8 << 20
	trimEvery = 1000
	trimBytes = 4 << 20
)

// What the ledger gets in one transaction, at most, where that has a time to be over.
const (
	pieceEntries = 50
	pieceBytes   = 512 << 10
)

// A database that does not answer is tried this often. One that has not answered for ledgerSlow is said to be waited for. A try is bounded: a database that has vanished without a word would be
// waited for until the operating system gives up.
const (
	ledgerAgain = 500 * time.Millisecond
	ledgerTry   = 2 * time.Minute
	ledgerSlow  = 3 * time.Second
)

// behind reports whether the log holds an entry of ours that is not applied yet: what it took from a queue is gone from it only
// then.
func (s *sinks) behind() bool { return s.applied < s.appended }

// due reports whether it is time to sync.
func (s *sinks) due(now time.Time) bool { return now.Sub(s.synced) > syncEvery || s.bytes > syncBytes }

// rebase recognises a log that is not the one that the sinks have seen, or that is behind them: a position in it
// would mean something else. It returns the first entry that one of them lacks.
func (s *sinks) rebase(ctx context.Context) (from uint64, err error) {
	stream, last, err := s.log.Refresh(ctx)
	if err != nil {
		return 0, err
	}
	s.target = last
	if err := s.persist(ctx, s.ledger.Refresh); err != nil {
		return 0, err
	}
	was, seq := s.ledger.Position()
	place, lost, err := placeOf(ctx, s.log, s.f, stream, last)
	if err != nil {
		return 0, err
	}
	if was == "" && (lost || place == 0) && hadPages(s.f) {
		return 0, fmt.Errorf("%w: it is empty, and the log is not the one that the frontier has applied", ledger.ErrBehind)
	}
	if s.lost, err = rebaseFrontier(ctx, s.log, s.f, stream, last, s.logger); err != nil {
		return 0, err
	}
	if was != stream || seq > last || s.lost && seq > s.f.Position().Seq {
		s.lost = s.lost || was != ""
		if last = min(last, s.f.Position().Seq); was != stream {
			last = 0
		}
		if err := s.persist(ctx, func(ctx context.Context) error { return s.ledger.Rebase(ctx, stream, last) }); err != nil {
			return 0, err
		}
		_, seq = s.ledger.Position()
	}
	s.applied = min(s.f.Position().Seq, seq)
	first, at, err := s.log.At(ctx, s.applied+1)
	switch {
	case err == nil && at == 0 && first <= s.applied && s.applied < s.target: // entries are missing in the middle: what stands behind them has no meaning without them
		s.logger.Error("the log has lost entries", "from", s.applied+1, "last", s.target)
		s.lost, s.applied = true, s.target
		err := s.persist(ctx, func(ctx context.Context) error { return s.ledger.Rebase(ctx, stream, s.target) })
		return s.target + 1, errors.Join(err, s.f.Rebase(stream, s.target))
	case err != nil:
		return 0, err
	case s.f.Position().Seq+1 < first:
		return 0, fmt.Errorf("%w: it stands at entry %d, and the log begins at %d", frontier.ErrBehind, s.f.Position().Seq, first)
	case seq+1 < first:
		if err := s.persist(ctx, s.ledger.Refresh); err != nil {
			return 0, err
		}
		if _, now := s.ledger.Position(); now > seq { // whoever led before has written, and had the log forget it, since we looked
			return s.rebase(ctx)
		}
		return 0, fmt.Errorf("%w: it stands at entry %d, and the log begins at %d", ledger.ErrBehind, seq, first)
	}
	s.remade = was == "" && hadPages(s.f)
	return s.applied + 1, nil
}

// missAfter is how long nothing must have come of a log that was not read to its end, until it is asked whether it has more.
const missAfter = 10 * time.Second

// missed fails if nothing more comes of a log although it counts further entries: it has lost those at its end, which nobody sees who waits
// for the next one. Nobody has led since, and rebase goes on behind them.
func (s *sinks) missed(ctx context.Context, now time.Time) error {
	if s.leads || now.Sub(s.heard) < missAfter {
		return nil
	}
	s.heard = now
	var first uint64
	var at int64
	err := s.asks.during(func() (err error) { first, at, err = s.log.At(ctx, s.applied+1); return err })
	if err != nil || at != 0 || first > s.applied+1 { // it is away, or entries are on their way; what was trimmed is told by those behind it
		return nil
	}
	return fmt.Errorf("%w: entry %d is wanted, and the log has none up to its end, %d", crawl.ErrTrimmed, s.applied+1, s.target)
}

// hadPages reports whether a frontier knows of URLs that nodes have ended.
func hadPages(f *frontier.Frontier) (had bool) {
	f.Jobs(func(j *frontier.Job) { had = had || j.Totals.Fetched+j.Totals.Failed > 0 })
	return had
}

// placeOf returns where in the log a frontier stands; lost says that the log is not the one that it has applied, or has lost its end.
func placeOf(ctx context.Context, log Log, f *frontier.Frontier, stream string, last uint64) (seq uint64, lost bool, err error) {
	pos := f.Position()
	switch {
	case pos.Stream != stream:
		return 0, true, nil
	case pos.Seq > last:
		return last, true, nil
	}
	first, at, err := log.At(ctx, pos.Seq)
	if err != nil || at == 0 || pos.At == 0 || at == pos.At {
		return pos.Seq, false, err
	}
	return max(first, 1) - 1, true, nil // it has lost its end and gone on; what of it was applied is told by lease and part
}

// rebaseFrontier reports whether the log is not the one that the frontier has applied.
func rebaseFrontier(ctx context.Context, log Log, f *frontier.Frontier, stream string, last uint64, logger *slog.Logger) (lost bool, err error) {
	pos := f.Position()
	seq, lost, err := placeOf(ctx, log, f, stream, last)
	if err != nil || !lost {
		return false, err
	}
	if pos.Stream != "" {
		logger.Error("the log is not the one that was applied", "was", pos.Stream, "at", pos.Seq, "is", stream, "last", last)
	}
	return pos.Stream != "", f.Rebase(stream, seq)
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

// apply applies an entry to the frontier, and keeps it for the ledger until that has it as well.
func (s *sinks) apply(e entry, en *crawl.Entry) (frontier.Effects, error) {
	fx, err := s.f.Apply(e.seq, e.at, en)
	if err != nil {
		return fx, err
	}
	s.unsynced = append(s.unsynced, ledger.Applied{Seq: e.seq, At: e.at, Entry: en})
	s.sizes, s.bytes = append(s.sizes, len(e.data)), s.bytes+len(e.data)
	return fx, nil
}

// lean lets go of what the ledger does not need of the last entry.
func (s *sinks) lean() { s.unsynced[len(s.unsynced)-1].Lean() }

// sync makes both sinks durable, then lets the log forget what both have.
func (s *sinks) sync(ctx context.Context, now time.Time) error {
	s.synced = now
	if len(s.unsynced) == 0 {
		return nil
	}
	for from := 0; from < len(s.unsynced); {
		to := s.piece(from)
		if err := s.persist(ctx, func(ctx context.Context) error { return s.ledger.Apply(ctx, s.unsynced[from:to]) }); err != nil {
			return err
		}
		from = to
	}
	if err := s.beside(); err != nil {
		return err
	}
	if err := s.asks.during(s.f.Sync); err != nil {
		return err
	}
	s.grown += s.bytes
	clear(s.unsynced)
	s.unsynced, s.sizes, s.bytes = s.unsynced[:0], s.sizes[:0], 0
	if !s.leads {
		return nil
	}
	if s.ledger.HasUnsettled() {
		if err := s.tellAside(ctx); err != nil {
			return err
		}
	}
	return s.trim(ctx)
}

// piece returns the end of what the ledger gets at once, from a place on. Who leads next goes on behind the last piece that was written: a
// database that is too slow for all of it, in the time that it has, would get no further otherwise.
func (s *sinks) piece(from int) (to int) {
	size := 0
	if s.away == nil || s.away() == 0 { // it has all the time it takes
		return len(s.unsynced)
	}
	for to = from; to < len(s.unsynced) && (to == from || to-from < pieceEntries && size+s.sizes[to] <= pieceBytes); to++ {
		size += s.sizes[to]
	}
	return to
}

// trim lets the log forget what both sinks have, if that has become much.
func (s *sinks) trim(ctx context.Context) error {
	keep := s.applied
	if s.floor != nil {
		keep = min(keep, s.floor())
	}
	if keep > s.trimmed+trimEvery || keep > s.trimmed && s.grown > trimBytes {
		s.trimmed, s.grown = keep, 0
		err := s.asks.during(func() error { return s.log.Trim(ctx, keep) })
		switch {
		case err == nil:
			return s.f.Trimmed(keep)
		case ctx.Err() == nil:
			return fmt.Errorf("trim the log: %w", err)
		}
	}
	return nil
}

// persist writes to the ledger, waiting while its database is away: the log keeps what the agents report meanwhile.
func (s *sinks) persist(ctx context.Context, fn func(context.Context) error) error {
	most, away := ledgerTry, time.Duration(0)
	if s.away != nil {
		away = s.away()
	}
	if away > 0 {
		most = min(most, away)
	}
	s.waits.begin()
	slow := time.AfterFunc(ledgerSlow, func() { s.waits.say("its ledger: the database has not answered for some seconds") })
	defer func() {
		slow.Stop()
		s.waits.end()
	}()
	write := func() error {
		ctx, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		return s.asks.during(func() error { return fn(ctx) })
	}
	watch := start()
	err := write()
	if !errors.Is(err, ledger.ErrAway) {
		return err
	}
	s.logger.Warn("waiting for the ledger", "error", err)
	for errors.Is(err, ledger.ErrAway) && (away == 0 || watch.took() < away) {
		slow.Stop()
		s.waits.say("its ledger: " + ledger.ErrAway.Error()) // why is in the log of this process: anybody may ask whether it is ready
		if s.asks.during(func() error { return pause(ctx, ledgerAgain) }) != nil {
			return err
		}
		err = write()
	}
	if err == nil {
		s.logger.Info("the ledger is there again")
	}
	return err
}

// waiting is what is waited for, as others see it.
type waiting struct {
	mu  sync.Mutex
	may bool // somebody waits
	why string
}

func (w *waiting) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.may = true
}

// say notes what is waited for, unless the wait is over.
func (w *waiting) say(why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.may {
		w.why = why
	}
}

func (w *waiting) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.may, w.why = false, ""
}

// what returns what is waited for; empty: nothing is.
func (w *waiting) what() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.why
}

// append stores an entry of this term. Whoever gave an order may go away meanwhile: the entry is stored nevertheless, for a log
// that goes on without our knowing where would be taken for another leader's.
func (s *sinks) append(ctx context.Context, e *crawl.Entry) error {
	ctx = context.WithoutCancel(ctx)
	for _, said := range []any{e.Job, e.Seeds, e.Release, e.Edit} { // by people
		if f := crawl.CheckText(said); f != nil {
			return f
		}
	}
	e.Version, e.Epoch = crawl.WireVersion, s.epoch
	b, err := crawl.Marshal(e)
	if err != nil {
		return err
	}
	var seq uint64
	watch := start()
	if err = s.asks.during(func() (err error) { seq, err = s.log.Append(ctx, b); return err }); err == nil {
		s.appended = seq
	}
	s.waited += watch.took()
	return err
}

// tellAside has the log say which entries the ledger has set aside, so that frontier, ledger and standby agree. A page of such an
// entry may have been told of twice, by a leader that died in between: it is fetched twice then.
func (s *sinks) tellAside(ctx context.Context) error {
	var all []crawl.Aside
	err := s.persist(ctx, func(ctx context.Context) (err error) {
		all, err = s.ledger.Unsettled(ctx)
		return err
	})
	for i := 0; i < len(all) && err == nil; i++ {
		a := &all[i]
		if s.told[a.Seq] {
			continue
		}
		s.logger.Error("set aside: an entry that the ledger cannot take", "seq", a.Seq, "node", a.Node, "why", a.Why)
		s.told[a.Seq] = true
		err = s.append(ctx, &crawl.Entry{Kind: crawl.EntryAside, Aside: a})
	}
	return err
}

// catchUp brings the ledger's rows of tasks up to date for jobs that have ended: whoever led before may have died between
// the end of a job and its rows.
func (s *sinks) catchUp(ctx context.Context) error {
	var have map[uint32]ledger.Sums
	err := s.persist(ctx, func(ctx context.Context) (err error) {
		have, err = s.ledger.Sums(ctx)
		return err
	})
	if err != nil {
		return err
	}
	want := map[uint32]ledger.Sums{}
	s.f.Tasks(func(t *frontier.Task) {
		sum, row := want[t.Job], Row(s.f, t)
		sum.Add(&row)
		want[t.Job] = sum
	})
	for id, sum := range want {
		if s.f.Job(id).State == crawl.JobRunning || sum == have[id] {
			continue
		}
		s.logger.Info("the ledger's tasks are brought up to date", "job", id)
		if err := s.persist(ctx, func(ctx context.Context) error { return s.putRows(ctx, id) }); err != nil {
			return err
		}
	}
	return nil
}

// putRows writes what the ledger takes from the view and not from the log: depths that have fallen since pages were reported,
// then the rows of tasks.
func (s *sinks) putRows(ctx context.Context, job uint32) error {
	err := s.ledger.PutDepths(ctx, job, func(set func(crawl.Page, uint16) error) error { return s.f.Nearer(job, set) })
	if err != nil {
		return err
	}
	return s.ledger.PutTasks(ctx, s.rows(job))
}

// rows are the job's tasks as the ledger has them.
func (s *sinks) rows(job uint32) []ledger.Task {
	var out []ledger.Task
	s.f.Tasks(func(t *frontier.Task) {
		if t.Job == job {
			out = append(out, Row(s.f, t))
		}
	})
	sort.Slice(out, func(a, b int) bool { return out[a].ID < out[b].ID })
	return out
}

// until returns until when a site rests, by the log's clock as it is now, Unix ms; 0: it does not.
func until(f *frontier.Frontier, site *crawl.Site) int64 {
	pos := f.Position()
	if at := site.BackoffUntil - pos.Ahead; at > pos.At {
		return at
	}
	return 0
}

// Row is a task of a frontier as the ledger has it.
func Row(f *frontier.Frontier, t *frontier.Task) ledger.Task {
	row := ledger.Task{
		ID: t.ID, For: t.Search, Job: t.Job, Site: t.Site, State: t.Status(), Tally: crawl.TallyOf(t.Counts, t.Reasons), Attempts: t.Attempts, Recalls: t.Recalls,
		History: t.History, Noted: t.Noted, Crawler: t.Crawler(),
	}
	if site := f.Site(t.Site); site != nil && row.State == crawl.TaskWaiting && !f.ByAddress(t) {
		row.Until = until(f, site)
	}
	if s := t.Of; s != nil {
		shared, with := s.SharedWith()
		row.Search = &ledger.Seeker{
			Search: s.Search, No: s.No, EngineName: f.Job(t.Job).Engine(s.Engine).Name, Stated: s.Stated, Found: s.Found, Collected: s.Collected, Lost: s.Lost, Read: s.Read, Subtasks: s.Subtasks,
			Node: s.Node, Why: s.Why, Moved: s.Moved, Shared: shared, With: with, Trail: slices.Clone(s.Trail),
		}
	}
	return row
}

// Follow applies the log to a frontier, and to nothing else, until elected is closed, ctx ends or reading fails: it
// keeps a standby's view up to date.
func Follow(ctx context.Context, log Log, f *frontier.Frontier, elected <-chan struct{}, logger *slog.Logger) error {
	stream, last, err := log.Refresh(ctx)
	if err != nil {
		return err
	}
	if _, err := rebaseFrontier(ctx, log, f, stream, last, logger); err != nil {
		return err
	}
	learned, err := f.Learner()
	if err != nil {
		return err
	}
	k := lore{learned: learned} // of facts that nobody takes in and writes down there would be more and more, all to be read by whoever takes over
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-elected:
			cancel()
		case <-ctx.Done():
		}
	}()
	synced, trimmed, grown := start(), f.Position().Seq, 0
	err = log.Read(ctx, f.Position().Seq+1, func(seq uint64, at int64, node string, data []byte) error {
		en, _, err := decode(entry{seq: seq, node: node, data: data})
		if err != nil {
			return err
		}
		if node != "" {
			if _, err := f.Foreign(seq, en); err != nil {
				return err
			}
		}
		fx, err := f.Apply(seq, at, en)
		if err != nil {
			return err
		}
		k.take(&fx)
		if err := k.keep(f); err != nil {
			return err
		}
		grown += len(data)
		if synced.took() <= syncEvery {
			return nil
		}
		synced = start()
		if err := f.Sync(); err != nil {
			return err
		}
		if seq <= trimmed+trimEvery && grown <= trimBytes {
			return nil
		}
		trimmed, grown = seq, 0
		return forget(ctx, log, f)
	})
	return errors.Join(err, f.Sync())
}

// forget has a standby's frontier let go of what it keeps of entries that the log does not have any more.
func forget(ctx context.Context, log Log, f *frontier.Frontier) error {
	first, _, err := log.At(ctx, f.Position().Seq)
	if err != nil || first == 0 {
		return nil // it is away: the next time
	}
	return f.Trimmed(first - 1)
}

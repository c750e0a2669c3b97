package frontier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
	"argosy/internal/page/scope"
)

// Config says where a frontier lives and how much memory it may take.
type Config struct {
	Dir   string
	FS    vfs.FS // nil is the disk
	Cache int64  // bytes of block cache; memtables come on top
	Table int    // bytes of a table in memory; 0: smallTable

	ReadOnly bool // Apply must not be called; the directory must hold a frontier

	Recent int // records that are at hand, in each of two generations
	Spill  int // URLs after which a long walk commits what it has done so far

	// Await is called by Open, some times a second, where the disk has no room for what the store's own log holds, and reports whether to
	// wait for some. nil does not wait: Open fails with ENOSPC.
	Await func() bool

	// Fatal is called, from any goroutine, when the store cannot go on, such as on a full disk; it must not return. Nothing that
	// was synced is lost. nil panics.
	Fatal func(error)
}

// DefaultConfig returns a Config for one machine that also runs agents.
func DefaultConfig(dir string) Config {
	return Config{Dir: dir, Cache: 20 << 20, Recent: 16_384, Spill: 20_000}
}

// Frontier is the view of one shard's log.
type Frontier struct {
	db  *pebble.DB
	pos Position

	epoch    uint64
	nextTask uint32
	jobs     map[uint32]*Job
	tasks    map[uint32]*Task
	byName   map[taskName]uint32
	searches map[searchName]uint32 // to the tasks that ask for them
	sites    map[string]*crawl.Site
	oneClock map[string]bool // sites that somebody asks who is to keep one clock for all nodes
	leases   map[uint64]*Lease
	open     []*Lease      // of leases, those that are not closed, by their numbers; one who reads it keeps what was read
	closed   []closedLease // oldest first; their secrets are kept for late parts
	passed   []looked      // a buffer of NextAbove
	recent   *recent
	novelty  novelty
	spill    int
	readOnly bool
	verdict  struct { // the last entry that was judged, and is applied next
		seq uint64
		all []foreign
	}
	strays  map[Stray]bool   // that were met
	untold  []Stray          // of them
	spilled func()           // for tests, which cut the power here
	models  map[uint32]*Task // tasks whose model is in memory
	resized []*Task          // those of which the size may have changed since they were weighed

	modelBytes int // that all models take, about
	modelsLeft int // what they took when some were forgotten last

	domains    map[domainName]*domain // of jobs whose hosts are judged
	cutDomains map[uint32]*domain     // of which hosts are refused, by their first tasks
	hostModels []*domain              // whose model is in memory

	resting sync.WaitGroup
	tidying *atomic.Bool    // somebody is at it
	life    context.Context // until it is closed
	end     context.CancelFunc
	tidied  uint64 // bytes that had been written when the view was tidied last
}

// Job is a job as the frontier holds it.
type Job struct {
	crawl.Job
	State     string
	Limit     string   `cbor:",omitempty"` // that has ended it, of crawl.JobLimited
	Joined    []string // where seeds redirected to
	StartMS   int64
	RanMS     int64            // running time of earlier runs and of this one, as of RanAt
	RanAt     int64            `cbor:",omitempty"` // when that was noted: at the last grant, finish, or report some seconds after those; Unix ms
	Sown      int64            // of its list of seeds: taken in
	Aside     int64            // URLs that were pending again because an entry was set aside
	Walk      *Walk            `cbor:",omitempty"` // a retry that is under way
	Again     []crawl.Page     `cbor:",omitempty"` // pages that nodes had ended and searches ask for again: the ledger does not know of it before the log has a retry that names them
	Engines   []crawl.Engine   `cbor:",omitempty"` // that people have given searches since, besides those of the job
	Rounds    uint32           // markets held
	Last      Held             // the last of them
	Accounts  []Account        // of its crawlers
	Otherwise *crawl.Otherwise `cbor:",omitempty"` // what a shadow would have done until the last grant, or until it ended

	Landmarks []crawl.Landmarks `cbor:",omitempty"` // that its strategy, and a shadow, go by

	Totals crawl.Counts `cbor:"-"`
	Ended  crawl.Ended  `cbor:"-"` // by nodes
	Open   int          `cbor:"-"` // leases

	rules    *scope.Rules
	sites    *crawl.Sites
	at       map[string]*crawl.Limits // of sites that were asked for
	apart    bool                     // its seeds are kept under a key of their own
	focus    *focus                   // of a job with a topic, once it is needed
	each     []crawl.Counts           // of its crawlers
	keywords []keyword                // of its crawlers, where seeds are divided by them
	tasks    []*Task                  // in no particular order
}

type closedLease struct {
	id uint64
	at int64
}

var (
	positionKey = []byte("m/position")
	metaJobs    = []byte{'j'}
	metaTasks   = []byte{'t'}
	metaSites   = []byte{'s'}
	metaLeases  = []byte{'l'}
)

func openAll(c Config) (*Frontier, error) {
	fs := c.FS
	if fs == nil {
		fs = vfs.Default
	}
	table := cmp.Or(c.Table, smallTable)
	cache := pebble.NewCache(c.Cache + max(4*smallTable, 2*int64(table)))
	defer cache.Unref()
	o := &pebble.Options{
		FS: fs, Cache: cache, MemTableSize: uint64(table), MemTableStopWritesThreshold: 3,
		FormatMajorVersion: pebble.FormatNewest, Logger: quiet{c.Fatal}, EventListener: &pebble.EventListener{DataCorruption: func(pebble.DataCorruptionInfo) {}}, MaxOpenFiles: 500, ReadOnly: c.ReadOnly, L0CompactionThreshold: 16, L0StopWritesThreshold: 48,
	}
	o.Experimental.TombstoneDenseCompactionThreshold = -1 // all that is given out is deleted from a queue: the whole view would be written anew each few seconds
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		o.Levels[i].BlockSize = 16 << 10
	}
	// What is damaged is an error where it is read, which names what mends it: Pebble's own listener ends the process.
	tidying := &atomic.Bool{}
	o.Levels[len(o.Levels)-1].Compression = func() *sstable.CompressionProfile {
		if tidying.Load() { // there is time
			return sstable.ZstdCompression
		}
		return sstable.SnappyCompression
	}
	db, err := openStore(c, o)
	if err != nil {
		return nil, fmt.Errorf("open frontier %s: %w", c.Dir, unopened(err))
	}
	f := &Frontier{
		db: db, jobs: map[uint32]*Job{}, tasks: map[uint32]*Task{}, byName: map[taskName]uint32{}, searches: map[searchName]uint32{},
		sites: map[string]*crawl.Site{}, oneClock: map[string]bool{}, leases: map[uint64]*Lease{},
		recent: newRecent(c.Recent), spill: c.Spill, readOnly: c.ReadOnly, models: map[uint32]*Task{}, domains: map[domainName]*domain{}, cutDomains: map[uint32]*domain{}, tidying: tidying,
	}
	f.life, f.end = context.WithCancel(context.Background())
	if err := f.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("open frontier %s: %w: %w", c.Dir, ErrDamaged, err), db.Close())
	}
	f.novelty.open(db)
	return f, nil
}

// What a table in memory may take. Its log, and those of four others, stay on the disk. What changes often is merged in it before it is written to
// the disk, and what lies there is written anew the more seldom the larger it is.
const (
	smallTable = 4 << 20
	LargeTable = 8 << 20 // of a process that does nothing else
)

// quiet drops what Pebble has to say, which is no news to a user, but for what it calls fatal.
type quiet struct{ fatal func(error) }

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (q quiet) Fatalf(format string, a ...any) {
	err := fmt.Errorf(format, a...)
	for _, arg := range a { // Pebble formats errors by their texts
		if cause, ok := arg.(error); ok {
			err = cause
		}
	}
	if q.fatal != nil {
		q.fatal(fmt.Errorf("frontier: %w", err))
	}
	panic(err)
}

func (f *Frontier) load() error {
	if err := f.get(positionKey, &f.pos); err != nil && !errors.Is(err, pebble.ErrNotFound) {
		return err
	}
	f.epoch, f.nextTask = f.pos.Epoch, f.pos.Tasks
	err := f.each(metaJobs, func(_, v []byte) error {
		j := &Job{}
		if err := crawl.Unmarshal(v, j); err != nil {
			return err
		}
		f.jobs[j.ID] = j
		return f.loadSeeds(j)
	})
	if err == nil {
		err = f.each(metaTasks, func(_, v []byte) error {
			t := &Task{}
			if err := crawl.Unmarshal(v, t); err != nil {
				return err
			}
			f.tasks[t.ID] = t
			f.byName[t.name()] = t.ID
			f.joinDomain(t)
			f.clocked(t)
			if t.Of != nil {
				f.searches[searchName{t.Job, t.Of.No}] = t.ID
			}
			f.nextTask = max(f.nextTask, t.ID)
			f.jobs[t.Job].has(t)
			return nil
		})
	}
	if err == nil {
		err = f.each(metaSites, func(_, v []byte) error {
			s := &crawl.Site{}
			if err := crawl.Unmarshal(v, s); err != nil {
				return err
			}
			f.sites[s.Name] = s
			return nil
		})
	}
	for _, t := range f.tasks {
		if f.sites[t.Site] == nil { // a long walk was cut short by a crash: the entry will be applied again
			f.sites[t.Site] = &crawl.Site{Name: t.Site}
		}
	}
	if err == nil {
		err = f.each(metaLeases, func(_, v []byte) error {
			l := &Lease{}
			if err := crawl.Unmarshal(v, l); err != nil {
				return err
			}
			f.leases[l.ID] = l
			if l.ClosedAt > 0 {
				f.closed = append(f.closed, closedLease{l.ID, l.ClosedAt})
			} else if t := f.tasks[l.Task]; t != nil {
				f.begin(t, l)
			}
			return nil
		})
	}
	sort.SliceStable(f.closed, func(i, j int) bool { return f.closed[i].at < f.closed[j].at })
	if err == nil && !f.pos.Summed {
		err = f.sum()
	}
	return err
}

// sum finds out what has ended of each task of a view that an older version wrote.
func (f *Frontier) sum() error {
	b := f.db.NewBatch()
	defer b.Close()
	for id, j := range f.jobs {
		err := f.URLs(id, func(u URL) error {
			if t := f.tasks[u.Task]; t != nil {
				t.Ended.Count(crawl.Page{Layer: u.Layer, Key: u.Key}, u.State, u.Reason, 1)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, t := range f.tasks {
			if t.Job == id {
				j.tally(t)
			}
		}
	}
	if f.readOnly {
		return nil
	}
	x := &tx{f: f, b: b}
	for id, t := range f.tasks {
		if err := x.set(taskKey(id), t); err != nil {
			return err
		}
	}
	f.pos.Summed = true
	if err := x.set(positionKey, f.pos); err != nil {
		return err
	}
	return b.Commit(pebble.Sync)
}

// compile builds the job's scope rules, with the places that seeds redirected to.
func (j *Job) compile() error {
	r, err := scope.Compile(j.Identity, j.Limits, j.Sites...)
	if err != nil {
		return err
	}
	for _, s := range j.Joined {
		if u, err := crawl.Parse(s); err == nil {
			r.Join(u)
		}
	}
	j.rules = r
	return nil
}

// get decodes the value of a key into v.
func (f *Frontier) get(key []byte, v any) error {
	b, closer, err := f.db.Get(key)
	if err != nil {
		return err
	}
	defer closer.Close()
	return crawl.Unmarshal(b, v)
}

// each calls fn for every key with a prefix, in order. Key and value are valid only during the call.
func (f *Frontier) each(prefix []byte, fn func(k, v []byte) error) error {
	it, err := f.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: after(prefix)})
	if err != nil {
		return damaged(err)
	}
	for it.First(); it.Valid(); it.Next() {
		if err := fn(it.Key(), it.Value()); err != nil {
			return errors.Join(err, it.Close())
		}
	}
	return damaged(it.Close())
}

// Position returns what has been applied.
func (f *Frontier) Position() Position { return f.pos }

// Epoch returns the last term that the log has seen.
func (f *Frontier) Epoch() uint64 { return f.epoch }

// Rebase moves the view to another stream, or back in its own: what the new one holds from seq+1 on is applied next,
// and repeats are told by lease, attempt and part.
func (f *Frontier) Rebase(stream string, seq uint64) error {
	learner, err := f.Learner()
	if err != nil {
		return err
	}
	gone := foreignPrefix // of another stream it says nothing
	if f.pos.Stream == stream {
		gone = foreignKey(seq + 1)
		f.pos.Judged = min(f.pos.Judged, seq+1) // what follows is judged anew
	} else {
		f.pos.Judged = 0
	}
	if err := f.unkeep(gone, after(foreignPrefix)); err != nil {
		return err
	}
	f.verdict.all = nil
	f.pos.Stream, f.pos.Seq, f.pos.At = stream, seq, 0
	if err := f.KeepLearned(learner); err != nil { // its facts were numbered by the other stream
		return err
	}
	b, err := crawl.Marshal(f.pos)
	if err != nil {
		return err
	}
	return f.db.Set(positionKey, b, pebble.Sync)
}

// Sync makes everything that has been applied durable.
func (f *Frontier) Sync() error { return f.db.LogData(nil, pebble.Sync) }

// Checkpoint makes a copy of the view, as it is now, in a directory that is not there yet. Files that do not change are
// linked, so that it costs next to nothing.
func (f *Frontier) Checkpoint(dir string) error {
	return f.db.Checkpoint(dir, pebble.WithFlushedWAL())
}

// restBytes is how much must have been written since for it to be worth the trouble.
const restBytes = 8 << 20

// Rest has the store tidy up in the background, if much was written since it did: what was written one over the other, and what was
// deleted, goes, and the rest is compressed well. It is for when nothing is to be done.
func (f *Frontier) Rest() {
	written := f.db.Metrics().WAL.BytesIn
	if f.readOnly || written-f.tidied < restBytes || !f.tidying.CompareAndSwap(false, true) {
		return
	}
	f.tidied = written
	f.resting.Go(func() {
		defer f.tidying.Store(false)
		_ = f.db.Compact(f.life, []byte{0}, []byte{0xff}, false) // what fails here fails where it is read
	})
}

// Close closes the view.
func (f *Frontier) Close() error {
	f.novelty.close()
	f.end()
	f.resting.Wait()
	return f.db.Close()
}

// Job returns a job, or nil.
func (f *Frontier) Job(id uint32) *Job { return f.jobs[id] }

// Jobs calls fn for every job, in no particular order.
func (f *Frontier) Jobs(fn func(*Job)) {
	for _, j := range f.jobs {
		fn(j)
	}
}

// Sites returns the number of sites.
func (f *Frontier) Sites() int { return len(f.sites) }

// Task returns a task, or nil.
func (f *Frontier) Task(id uint32) *Task { return f.tasks[id] }

// Tasks calls fn for every task, in no particular order.
func (f *Frontier) Tasks(fn func(*Task)) {
	for _, t := range f.tasks {
		fn(t)
	}
}

// Site returns the record of a site, without the rules of its robots.txt. It is never nil for a task's site.
func (f *Frontier) Site(name string) *crawl.Site { return f.sites[name] }

// Robots returns the rules of a site's robots.txt, as the agent that read it encoded them.
func (f *Frontier) Robots(site string) ([]byte, error) {
	b, closer, err := f.db.Get(robotsKey(site))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	return append([]byte(nil), b...), nil
}

// Held returns the targets that an open lease holds, in the order of their places in the queue.
func (f *Frontier) Held(lease uint64) ([]crawl.Target, error) {
	l := f.Lease(lease)
	if l == nil {
		return nil, nil
	}
	in := f.tasks[l.Task].space()
	var out []crawl.Target
	look := finder{db: f.db}
	err := f.each(heldKey(lease, crawl.Key{})[:9], func(key, _ []byte) error {
		var k crawl.Key
		copy(k[:], key[9:])
		r, err := f.load1(&look, recKey{in, k})
		if err != nil || r == nil || r.State != crawl.Pending {
			return err
		}
		out = append(out, r.target(recKey{in, k}, r.Place))
		return f.led(&look, in, r, &out[len(out)-1])
	})
	sort.Slice(out, func(i, j int) bool { return out[i].Seq < out[j].Seq })
	return out, errors.Join(err, look.close())
}

// load1 returns a URL's record, nil if there is none. It is the one that everybody gets: only a tx changes it.
func (f *Frontier) load1(look *finder, k recKey) (*record, error) {
	if r := f.recent.get(k); r != nil {
		return f.upToDate(r), nil
	}
	b, ok, err := look.get(appendURLKey(look.key[:0], k))
	if !ok || err != nil {
		return nil, err
	}
	r, err := decodeRecord(b)
	if err == nil {
		f.recent.put(k, f.upToDate(r))
	}
	return r, err
}

// URLs calls fn with the state of every URL of a job, in the order of their keys: sites stay together.
func (f *Frontier) URLs(job uint32, fn func(URL) error) error {
	return f.each(jobURLs(job), func(k, v []byte) error {
		r, err := decodeRecord(v)
		if err != nil {
			return err
		}
		f.upToDate(r)
		at, ok := ofURLKey(k)
		if !ok {
			return errRecord
		}
		u := URL{Layer: at.Layer, Key: at.key, State: r.State, Reason: r.Reason, URL: r.URL, Depth: r.Depth, Task: r.Task, Tries: r.Tries, Parent: r.Parent, Anchor: r.Anchor, Score: r.Score, Relevant: r.State == crawl.Fetched && r.Counted&countedRelevant != 0, Digest: r.Digest, Bytes: r.Bytes}
		return fn(u)
	})
}

// Nearer calls fn for every URL of a job whose depth is not the one with which it was reported, because a shorter path to it
// was found since, with its depth now.
func (f *Frontier) Nearer(job uint32, fn func(p crawl.Page, depth uint16) error) error {
	prefix := jobURLs(job)
	prefix[0] = 'd'
	look := finder{db: f.db}
	err := f.each(prefix, func(k, _ []byte) error {
		at, ok := ofURLKey(k)
		if !ok {
			return errRecord
		}
		r, err := f.load1(&look, at)
		if err != nil || r == nil {
			return err
		}
		return fn(crawl.Page{Layer: at.Layer, Key: at.key}, r.Depth)
	})
	return errors.Join(err, look.close())
}

// URL is what the frontier knows of a URL.
type URL struct {
	Key    crawl.Key
	Layer  crawl.Layer
	State  crawl.State
	Reason crawl.Kind
	URL    string // may be empty for a refused one
	Depth  uint16
	Task   uint32
	Tries  uint8
	Parent crawl.Key
	Anchor string
	Digest string // of what was fetched
	Bytes  int64  // of its body

	Score    float32 // of a job with a topic: the page's, once it was fetched, else what is expected of it
	Relevant bool    // it was fetched, and is on the topic
}

// Lock takes a lock file that no two processes can have at once; closing it gives it back.
func Lock(path string) (io.Closer, error) { return vfs.Default.Lock(path) }

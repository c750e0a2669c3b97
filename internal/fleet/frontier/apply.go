package frontier

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/cockroachdb/pebble/v2"

	"argosy/internal/crawl"
	"argosy/internal/page/polite"
	"argosy/internal/plan/learn"
)

// Effects are what an entry means to the coordinator: everything else is in the view.
type Effects struct {
	Granted  []crawl.Lease
	Refilled []crawl.Refill
	Recalled []*Lease
	Ordered  []uint64 // of these, the leases that an order has closed: no entry of the log names them
	Late     []*Lease // closed ones that a node still works on
	Ended    []Ended
	Wants    map[uint64]int    // how many URLs leases asked for in the part just applied
	Starved  map[uint64]uint32 // leases that have had nothing to do for a while, and how many refills they have taken in
	Reported []uint64          // leases of which a part was believed
	Touched  []uint32          // tasks whose counts, leases or state may have changed
	Freed    []uint32          // tasks that a person has released: their sites need not rest any more
	Broken   []uint64          // open leases of which a part is missing: no later one can be believed
	Ignored  []string          // parts that were not believed, and why, the first ones
	Doubted  int               // how many parts these are
	Strange  []Strange         // parts of leases that are not known: the log has lost them, or they ended long ago
	Joined   []*Lease          // of sites that have one clock from now on, those that go by clocks of their own
	Markets  []uint32          // jobs whose crawlers have traded
	Facts    []learn.Fact      // what was measured, by parts that were believed and by nodes
}

// Ended is a lease that a final part ended.
type Ended struct {
	Lease  *Lease
	Reason string
	Tried  int64 // URLs of those that it was given; the others go back
}

// Strange is a lease of which a node reports and which is not known.
type Strange struct {
	Node  string
	Lease uint64
}

// keepClosed is how long a closed lease's secret is kept for late parts, in ms of the log's clock.
const keepClosed = int64(3600 * 1000)

// tx collects what one entry changes and writes it in one batch, the position included.
type tx struct {
	f      *Frontier
	b      *pebble.Batch
	at     int64 // Unix ms: when the log stored the entry, by a clock that is not set back (Steady)
	dated  int64 // and by the one that it had then
	recs   map[recKey]*record
	tasks  map[uint32]*Task
	sites  map[string]*crawl.Site
	leases map[uint64]*Lease
	jobs   map[uint32]*Job
	freed  map[heldBy]bool               // URLs that left their lease in this entry
	has    map[uint64]map[crawl.Key]bool // what leases have by the store, where much of it is asked for: see readHeld
	whole  bool                          // nothing is committed before the entry is applied to its end
	look   finder
	key    [maxKey]byte // room for a key: the batch keeps a copy
	edges  uint64
	fresh  map[recKey][][]byte // edges of this entry

	omitted map[string]map[crawl.Kind]int64 // counts of this entry, by their keys
	calls   map[string]bool                 // what searches have named since this entry, by namedKey
	awaited map[recKey]map[uint32]wait      // by page: searches that wait for it since this entry, or do not any more
	off     map[crawl.Key]int               // of a part's result pages: results that lie elsewhere
	copies  map[crawl.Key]bool              // of a part's pages: they say what one said that was had before
	said    map[string]crawl.Key            // by saidKey: pages of this entry that were the first to say something
	refused []refusedURL                    // by limits, of jobs that collect
	led     map[recKey]recKey               // where pages redirect to since this entry; to nothing: nowhere any more

	fx Effects

	named map[crawl.Key]named              // by page: what it named that was not there
	hosts map[*domain]map[crawl.Key]uint32 // URLs that this entry has refused because of their hosts, with the groups of these
	news  int                              // URLs that this entry has added
	rests map[crawl.Key]crawl.Key          // rests of URLs that this entry has added
	taken []recKey                         // URLs that this entry has made records of, in their order,
	swept map[uint32]int                   // and by task how many of them there were when its sweep began
}

// space is where a URL is found once: a layer of a job.
type space struct {
	job uint32
	crawl.Layer
}

type recKey struct {
	space
	key crawl.Key
}

func (k recKey) compare(o recKey) int {
	return cmp.Or(cmp.Compare(k.job, o.job), cmp.Compare(k.Owner, o.Owner), cmp.Compare(k.Gen, o.Gen), bytes.Compare(k.key[:], o.key[:]))
}

// Apply applies the entry at seq, stored at the time at (Unix ms). Entries must come in order; one that is not after
// the position is skipped. An error means that the view on disk is no longer usable by this process; what was on
// disk before is intact.
func (f *Frontier) Apply(seq uint64, at int64, e *crawl.Entry) (Effects, error) {
	if seq <= f.pos.Seq {
		return Effects{}, nil
	}
	ahead := f.ahead(at)
	urls := urlsOf(e)
	x := &tx{
		f: f, b: f.db.NewBatch(), at: at + ahead, dated: at, recs: make(map[recKey]*record, urls), taken: make([]recKey, 0, urls), tasks: map[uint32]*Task{},
		sites: map[string]*crawl.Site{}, leases: map[uint64]*Lease{}, jobs: map[uint32]*Job{}, freed: map[heldBy]bool{}, named: map[crawl.Key]named{}, look: finder{db: f.db}, edges: seq << 20,
	}
	defer x.b.Close()
	err := x.apply(e)
	if err == nil {
		err = x.refocus()
	}
	if err == nil {
		err = x.settle()
	}
	if err = errors.Join(err, x.look.close()); err != nil {
		return Effects{}, fmt.Errorf("apply entry %d: %w", seq, damaged(err))
	}
	if err := x.countRefused(); err != nil {
		return Effects{}, err
	}
	x.settleSearches()
	if err := errors.Join(x.keepFacts(seq), x.keepForeign(seq)); err != nil {
		return Effects{}, err
	}
	f.pos.Ahead, f.pos.Steady, f.pos.Judged = ahead, x.at, cmp.Or(f.pos.Judged, seq)
	f.pos.Seq, f.pos.At, f.pos.Epoch, f.pos.Tasks, f.pos.Summed = seq, at, f.epoch, f.nextTask, true
	if err := x.set(positionKey, f.pos); err != nil {
		return Effects{}, err
	}
	if err := x.write(); err != nil {
		return Effects{}, fmt.Errorf("apply entry %d: %w", seq, damaged(err))
	}
	for id, t := range x.tasks {
		f.jobs[t.Job].tally(t)
		x.fx.Touched = append(x.fx.Touched, id)
	}
	return x.fx, nil
}

// urlsOf is about how many URLs an entry of a node touches: a map that grows step by step is filled twice.
func urlsOf(e *crawl.Entry) (n int) {
	for i := range e.Parts {
		n += len(e.Parts[i].Outcomes)
		for j := range e.Parts[i].Found {
			n += len(e.Parts[i].Found[j].Links)
		}
	}
	return n
}

func (x *tx) apply(e *crawl.Entry) error {
	f := x.f
	if e.Epoch < f.epoch && e.Kind != crawl.EntryParts && e.Kind != crawl.EntryMeasures && e.Kind != 0 {
		x.fx.Ignored = append(x.fx.Ignored, fmt.Sprintf("entry of epoch %d after %d", e.Epoch, f.epoch))
		return nil
	}
	switch e.Kind {
	case crawl.EntryTerm:
		if f.epoch = e.Epoch; e.Doubt {
			f.pos.Doubt = e.Epoch
		}
		x.forget()
	case crawl.EntrySubmit:
		return x.submit(e.Job)
	case crawl.EntrySeeds:
		return x.sow(e.Seeds)
	case crawl.EntryLimits:
		return x.limits(e.Job)
	case crawl.EntryGrant:
		return x.grant(e)
	case crawl.EntryParts:
		x.whole = true // a part counts once: what was cut short would be taken for a repeat
		for i := range e.Parts {
			if err := x.part(e, &e.Parts[i]); err != nil {
				return err
			}
		}
	case crawl.EntryMeasures:
		x.fx.Facts = learn.OfMeasures(e.Node, e.Measures, x.at)
	case crawl.EntryRecall:
		for _, r := range e.Recalls {
			if err := x.recall(r); err != nil {
				return err
			}
		}
	case crawl.EntryRetry:
		return x.retry(e.Release)
	case crawl.EntryWalk:
		return x.walk(f.jobs[e.Release.Job])
	case crawl.EntryDrop:
		return x.drop(e.Release)
	case crawl.EntryAside:
		return x.aside(e.Aside)
	case crawl.EntryRound:
		return x.round(e.Round)
	case crawl.EntryEdit:
		return x.edit(e.Edit)
	case crawl.EntryState:
		if j := f.jobs[e.State.Job]; j != nil {
			j.State, j.Limit = e.State.State, e.State.Limit
			j.tells(e, x.at)
			x.jobs[j.ID] = j
			if j.State == crawl.JobCancelled {
				j.Walk = nil
				return x.drop(&crawl.Release{Job: j.ID, Why: crawl.JobCancelled})
			}
		}
	}
	return nil
}

// set encodes a value into the batch.
func (x *tx) set(key []byte, v any) error {
	b, err := crawl.Marshal(v)
	if err != nil {
		return err
	}
	return x.b.Set(key, b, nil)
}

// write puts everything that was touched into the batch and commits it without waiting for the disk.
func (x *tx) write() error {
	if err := x.flush(); err != nil {
		return err
	}
	for id, j := range x.jobs {
		if err := x.set(jobKey(id), j.lean()); err != nil {
			return err
		}
	}
	return x.b.Commit(pebble.NoSync)
}

// flush puts everything that was touched but jobs into the batch.
func (x *tx) flush() error {
	if err := x.flushRecords(); err != nil {
		return err
	}
	for id, t := range x.tasks {
		if err := x.flushModel(t); err != nil {
			return err
		}
		if err := x.set(taskKey(id), t); err != nil {
			return err
		}
	}
	for name, s := range x.sites {
		lean := *s
		lean.Robots = nil
		if err := x.set(siteKey(name), &lean); err != nil {
			return err
		}
	}
	for id, l := range x.leases {
		if err := x.set(leaseKey(id), l); err != nil {
			return err
		}
	}
	return nil
}

func (x *tx) flushRecords() error {
	var buf []byte
	keys := make([]recKey, 0, len(x.recs))
	for k, r := range x.recs {
		if r != nil && r.dirty {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, recKey.compare) // neighbours are written sooner one after the other
	for _, k := range keys {
		r := x.recs[k]
		r.dirty = false
		buf = r.encode(buf[:0])
		if err := x.b.Set(appendURLKey(x.key[:0], k), buf, nil); err != nil {
			return err
		}
	}
	return nil
}

// spill commits what a long walk has changed so far, without the position: the entry is applied again after a crash,
// and finds these URLs and leases done. Jobs are not among it: that their limits changed is why they are walked through.
func (x *tx) spill() error {
	if x.whole || len(x.recs) < x.f.spill {
		return nil
	}
	if err := x.flush(); err != nil {
		return err
	}
	if err := x.b.Commit(pebble.NoSync); err != nil {
		return err
	}
	if x.f.spilled != nil {
		x.f.spilled()
	}
	if err := x.b.Close(); err != nil {
		return err
	}
	x.b = x.f.db.NewBatch()
	clear(x.recs)
	return x.look.close() // it does not see what was committed
}

// record returns a URL's record as this entry has left it, nil if there is none.
func (x *tx) record(s space, key crawl.Key) (*record, error) {
	k := recKey{s, key}
	if x.f.novelty.isNew(k) {
		return nil, nil
	}
	if r, ok := x.recs[k]; ok {
		return x.f.upToDate(r), nil
	}
	r, err := x.f.load1(&x.look, k)
	if err != nil {
		return nil, err
	}
	if r != nil {
		x.recs[k] = r
	}
	return r, nil
}

// remember keeps a record at hand that this entry has made.
func (x *tx) remember(k recKey, r *record) {
	x.recs[k] = r
	x.taken = append(x.taken, k)
	x.f.recent.put(k, r)
	x.f.novelty.since.add(k)
}

// task returns the task of a site in a layer of a job, or a crawler's share of it, creating it if need be.
func (x *tx) task(s space, subset uint32, site string) *Task {
	return x.taskNamed(taskName{space: s, subset: subset, site: site})
}

// taskNamed returns a task by its name, creating it if need be.
func (x *tx) taskNamed(n taskName) *Task {
	f := x.f
	id, ok := f.byName[n]
	if !ok {
		f.nextTask++
		id = f.nextTask
		f.byName[n] = id
		f.tasks[id] = &Task{ID: id, Job: n.job, Owner: n.Owner, Gen: n.Gen, Subset: n.subset, Site: n.site, Search: n.search, Since: x.at}
		f.jobs[n.job].tasks = append(f.jobs[n.job].tasks, f.tasks[id])
		x.site(n.site)
		if !n.asks { // of a search its engine says
			x.clocked(f.tasks[id])
		}
		f.joinDomain(f.tasks[id])
	}
	x.tasks[id] = f.tasks[id]
	return f.tasks[id]
}

// free takes a URL out of the lease that holds it, or out of the queue. l is the lease that speaks of it.
func (x *tx) free(t *Task, l *Lease, k crawl.Key, r *record) error {
	if r.lease != 0 {
		return x.unhold(t, x.f.leases[r.lease], k, r)
	}
	if l.ClosedAt == 0 {
		if ok, err := x.holds(l, k); err != nil {
			return err
		} else if ok {
			return x.unhold(t, l, k, r)
		}
	}
	for id := range t.leases { // a late report: another lease may have the URL by now
		if o := x.f.leases[id]; o != l {
			if ok, err := x.holds(o, k); err != nil {
				return err
			} else if ok {
				return x.unhold(t, o, k, r)
			}
		}
	}
	return x.dequeue(t, r.Place)
}

// unhold takes a URL out of the lease that has it.
func (x *tx) unhold(t *Task, l *Lease, k crawl.Key, r *record) error {
	r.lease = 0
	x.back(t, r)
	x.freed[heldBy{l.ID, k}] = true
	l.Held--
	t.Held--
	x.leases[l.ID] = l
	return x.b.Delete(appendHeldKey(x.key[:0], l.ID, k), nil)
}

// enqueue puts a pending URL at the end of its depth's part of the queue, unless limits that are newer than it keep it out.
func (x *tx) enqueue(t *Task, k crawl.Key, r *record) error {
	j := x.f.jobs[t.Job]
	reason := j.beyond(r)
	if reason == "" && x.f.full(j, t) {
		reason = crawl.ReasonSiteBudget
	}
	if reason != "" {
		x.refuse(t, r, reason)
		return nil
	}
	t.Seq++
	r.Place = j.place(r, t.Seq)
	r.dirty = true
	return x.queue(t, k, r.Place)
}

func (x *tx) grant(e *crawl.Entry) error {
	for i := range e.Leases {
		g := &e.Leases[i]
		t := x.f.tasks[g.Task]
		if t == nil || x.f.leases[g.ID] != nil {
			continue
		}
		l := &Lease{
			ID: g.ID, Job: g.Job, Task: g.Task, Site: g.Site, Node: g.Node, Incarnation: g.Incarnation, Epoch: g.Epoch,
			Attempt: g.Attempt, Secret: g.Secret, Quota: int64(g.Quota), BudgetMS: g.BudgetMS, StartMS: x.at,
			Resolve: g.Resolve, Probe: g.Probe, Ping: g.Ping, Progress: x.at, Asks: g.Asked != nil && g.Asked.Asks, Alone: g.Asked != nil && g.Asked.Alone, From: g.From,
		}
		x.f.leases[l.ID] = l
		x.f.begin(t, l)
		t.Last = l.Node
		x.runs(t, l)
		t.Attempts = max(t.Attempts, g.Attempt)
		if l.Probe != "" {
			x.fx.Facts = append(x.fx.Facts, learn.OfProbe(x.worker(l), l.Ping, !g.Early, x.at))
		}
		held, err := x.hold(t, l, g.Targets)
		if err != nil {
			return err
		}
		granted := *g
		granted.Targets = held
		x.fx.Granted = append(x.fx.Granted, granted)
	}
	for i := range e.Refills {
		r := &e.Refills[i]
		l := x.f.Lease(r.Lease)
		if l == nil {
			continue
		}
		l.Progress = x.at // whoever is given something has a term for it
		held, err := x.hold(x.f.tasks[l.Task], l, r.Targets)
		if err != nil {
			return err
		}
		x.fx.Refilled = append(x.fx.Refilled, crawl.Refill{Lease: r.Lease, Targets: held})
	}
	if err := x.decides(e); err != nil {
		return err
	}
	if len(e.Leases) > 0 {
		if j := x.f.jobs[e.Leases[0].Job]; j != nil {
			j.State = crawl.JobRunning
			j.tells(e, x.at)
			x.jobs[j.ID] = j
		}
	}
	return nil
}

// hold moves targets from a task's queue to a lease and returns those it has moved: between the making of a grant and
// its place in the log a URL may have become final, or found its way to another place of the queue.
func (x *tx) hold(t *Task, l *Lease, targets []crawl.Target) ([]crawl.Target, error) {
	x.tasks[t.ID], x.leases[l.ID] = t, l
	held := make([]crawl.Target, 0, len(targets))
	for _, g := range targets {
		r, err := x.record(t.space(), g.Key)
		if err != nil {
			return nil, err
		}
		if r == nil || r.State != crawl.Pending || r.Task != t.ID || g.Layer() != t.space().Layer {
			continue
		}
		if out, err := x.out(t, recKey{t.space(), g.Key}, r); err != nil {
			return nil, err
		} else if !out {
			continue
		}
		if err := x.dequeue(t, r.Place); err != nil {
			return nil, err
		}
		if err := x.b.Set(appendHeldKey(x.key[:0], l.ID, g.Key), nil, nil); err != nil {
			return nil, err
		}
		r.lease = l.ID
		held = append(held, g)
	}
	n := int64(len(held))
	l.Given += n
	l.Held += n
	t.Held += n
	return held, nil
}

// recall takes a lease back: its URLs return to the queue, its site waits a full delay.
func (x *tx) recall(r crawl.Recall) error {
	l := x.f.Lease(r.Lease)
	if l == nil {
		return nil
	}
	t := x.f.tasks[l.Task]
	polite.HoldFrom(x.site(l.Site), x.at, l.From)
	if r.Counts {
		why := r.Reason
		if why == crawl.EndRecalled {
			why = fmt.Sprintf("%s: no progress for %v", why, x.f.jobs[l.Job].Limits.RecycleAfter)
		}
		x.recycle(t, l, why)
	} else if seeker := x.f.Searching(t.Job, t.Search); t.Search > 0 && seeker != nil && t.State == "" && seeker.Of.Node == l.Node && !l.Resolve && l.Probe == "" {
		x.tasks[seeker.ID] = seeker
		x.moves(seeker, fmt.Sprintf("taken back from %s: %s", l.Node, r.Reason))
	}
	x.probed(l, r.Reason)
	x.fx.Recalled = append(x.fx.Recalled, l)
	return x.close(t, l)
}

// close ends a lease and returns what it still holds to the queue, in the places it came from.
func (x *tx) close(t *Task, l *Lease) error {
	l.ClosedAt = x.at
	x.leases[l.ID], x.tasks[t.ID] = l, t
	x.f.closed = append(x.f.closed, closedLease{l.ID, x.at})
	x.f.over(t, l)
	x.forget()
	t.Since = x.at
	x.worked(t, l)
	err := x.f.each(heldKey(l.ID, crawl.Key{})[:9], func(key, _ []byte) error {
		var k crawl.Key
		copy(k[:], key[9:])
		if x.freed[heldBy{l.ID, k}] {
			return nil // by this very entry: the view on disk does not know yet
		}
		if err := x.b.Delete(key, nil); err != nil { // not all at once: each iterator looks at every range that was deleted lately
			return err
		}
		r, err := x.record(t.space(), k)
		if err != nil || r == nil || r.State != crawl.Pending {
			return err
		}
		r.lease = 0
		x.back(t, r)
		if reason := x.f.jobs[t.Job].beyond(r); reason != "" {
			x.refuse(t, r, reason)
			return nil
		}
		return x.queue(t, k, r.Place)
	})
	t.Held -= l.Held
	l.Held = 0
	return err
}

// forget drops the secrets of leases that were closed long ago.
func (x *tx) forget() {
	f := x.f
	for len(f.closed) > 0 && f.closed[0].at < x.at-keepClosed {
		id := f.closed[0].id
		f.closed = f.closed[1:]
		delete(f.leases, id)
		_ = x.b.Delete(leaseKey(id), nil) // a batch in memory: it fails only when it is closed
	}
}

// sortedTasks returns the ids of a job's tasks, or those of ids that are of the job, in order.
func (f *Frontier) sortedTasks(job uint32, ids []uint32) []uint32 {
	var out []uint32
	if len(ids) == 0 {
		for id, t := range f.tasks {
			if t.Job == job {
				out = append(out, id)
			}
		}
	}
	for _, id := range ids {
		if t := f.tasks[id]; t != nil && t.Job == job {
			out = append(out, id)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

package frontier

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"argosy/internal/crawl"
	"argosy/internal/page/yield"
)

// Next returns up to n targets from the head of a task's queue, without taking them out: a grant does that.
func (f *Frontier) Next(task uint32, n int) ([]crawl.Target, error) { return f.NextAbove(task, n, 0) }

// NextAbove returns the same, but for URLs whose score is less than least.
func (f *Frontier) NextAbove(task uint32, n int, least float64) ([]crawl.Target, error) {
	t := f.tasks[task]
	if t == nil || n <= 0 || t.Queued() <= 0 {
		return nil, nil
	}
	if j := f.jobs[t.Job]; j.Identity.Order == crawl.OrderBest && j.At(t.Site).SitePages > 0 {
		all := f.atSite(t)
		if n = min(n, int(j.At(t.Site).SitePages-all.Fetched-all.Held)); n <= 0 {
			return nil, nil
		}
	}
	first := f.firstLeft(t)
	if first >= 0 {
		if n = min(n, first); n == 0 {
			return nil, nil
		}
	}
	ask, err := f.asking(t, n)
	if err != nil {
		return nil, err
	}
	t.memory = memory{} // until the walk has ended
	var out []crawl.Target
	var batch []entry
	for err == nil && len(out) < n {
		if batch = ask.batch(batch[:0], n-len(out)); len(batch) == 0 {
			break
		}
		if err = ask.load(batch); err != nil {
			break
		}
		for i := range batch {
			if batch[i].r == nil {
				continue
			}
			if float64(batch[i].r.Score) < least {
				n = 0 // those behind promise less
				break
			}
			g := batch[i].r.target(recKey{t.space(), batch[i].key}, batch[i].place)
			var add bool
			if add, err = ask.add(&batch[i], &g); err != nil {
				break
			} else if add {
				if err = f.led(&ask.look, t.space(), batch[i].r, &g); err != nil {
					break
				}
				if first >= 0 {
					g.Mark = crawl.MarkMust
				}
				out = append(out, g)
			}
		}
	}
	remembered, passed, walked := ask.walk.end(ask.passed)
	f.passed = passed
	if err = errors.Join(err, ask.look.close(), walked); err != nil {
		return nil, damaged(err)
	}
	t.memory = remembered
	return out, nil
}

// Waiting is a URL of a queue, and why it is not given out now; empty: it is.
type Waiting struct {
	crawl.Target
	Waits string // WaitsFirst or WaitsLike
}

// Why a URL is not given out though its task may be asked.
const (
	WaitsFirst = "first" // the first pages of its host decide whether the host is a copy
	WaitsLike  = "like"  // so many that are like it are out as may be: it waits for their answers
)

// Queue returns up to n URLs from the head of a task's queue: those that are given out now, and between them those that wait for others.
func (f *Frontier) Queue(task uint32, n int) (out []Waiting, err error) {
	t := f.tasks[task]
	if t == nil || t.Queued() <= 0 {
		return nil, nil
	}
	next, err := f.Next(task, n)
	if err != nil {
		return nil, err
	}
	due, waits := map[crawl.Key]bool{}, WaitsLike
	for i := range next {
		due[next[i].Key] = true
	}
	if f.firstLeft(t) >= 0 {
		waits = WaitsFirst
	}
	it, err := f.db.NewIter(&pebble.IterOptions{LowerBound: queueKey(task, t.head), UpperBound: after(queueKey(task, 0)[:5])})
	if err != nil {
		return nil, damaged(err)
	}
	look := finder{db: f.db}
	for ok := it.First(); ok && len(out) < n && err == nil; ok = it.Next() {
		key := recKey{t.space(), crawl.Key(it.Value())}
		var r *record
		if r, err = f.load1(&look, key); err != nil || r == nil {
			continue
		}
		w := Waiting{Target: r.target(key, binary.BigEndian.Uint64(it.Key()[5:]))}
		if !due[w.Key] {
			w.Waits = waits
		}
		out = append(out, w)
	}
	if err = errors.Join(err, look.close(), it.Close()); err != nil {
		return nil, damaged(err)
	}
	return out, nil
}

// asking says which URLs of a queue are given out now.
type asking struct {
	t     *Task
	m     *yield.Model
	given map[uint32]int // by group
	loose int            // of groups that have brought nothing yet, with those that are out
	most  int
	f     *Frontier
	look  finder
	walk  *queueWalk

	passed  []looked // all that were looked at, in a buffer of the frontier's
	waiting int      // of these, for templates that are there
	again   int      // of these, that had no template the last time and were read again
	was     looked   // whose templates want this
	want    yield.Want
	full    bool // there is no room for them, nor will there be in this walk
}

// entry is a queue entry and its URL's record.
type entry struct {
	looked
	r      *record
	passed int // which of those that were looked at
}

func (f *Frontier) asking(t *Task, n int) (*asking, error) {
	m, err := f.model(t)
	if err != nil {
		return nil, err
	}
	walk := f.walk(t)
	return &asking{
		t: t, m: m, given: map[uint32]int{}, loose: m.Loose(), f: f, look: finder{db: f.db}, most: skipAtOnce*n + 256, walk: walk, passed: f.passed[:0],
	}, nil
}

// batch takes up to n entries from a queue that may be given out.
func (a *asking) batch(batch []entry, n int) []entry {
	due, loose := map[uint32]int{}, 0 // of the batch, by group, and of groups that have brought nothing yet
	for len(batch) < n && len(a.passed) < a.most && a.waiting < maxRemembered {
		e, ok := a.walk.next()
		if !ok {
			break
		}
		if len(a.passed) == 0 {
			a.t.head = e.place
		}
		if e.template&noTemplate != 0 && e.template != a.none() {
			if of := a.m.At(e.shape); of != 0 {
				e.template, e.shape = of, 0
			} else if a.again < againAtOnce {
				e.template = 0
				a.again++
			}
		}
		if e.template != 0 {
			w := a.wants(e)
			if a.full || w.Loose && a.loose+loose >= yield.MaxLoose || a.given[w.Group]+due[w.Group] >= w.Room { // or will be when its turn comes
				a.full = true
				a.pass(len(a.passed), e)
				continue
			}
			if due[w.Group]++; w.Loose {
				loose++
			}
		}
		batch = append(batch, entry{looked: e, passed: len(a.passed)})
		a.passed = append(a.passed, looked{place: e.place, key: e.key})
	}
	return batch
}

// none is the template of entries that have none now.
func (a *asking) none() uint32 { return noTemplate | a.m.Templates }

// pass notes an entry that has to wait, which is the n-th of those that were looked at.
func (a *asking) pass(n int, e looked) {
	if n == len(a.passed) {
		a.passed = append(a.passed, e)
	} else {
		a.passed[n] = e
	}
	if e.hasTemplate() {
		a.waiting++
	}
}

// wants says how an entry that had to wait is asked for. Many that stand together have the same templates.
func (a *asking) wants(e looked) *yield.Want {
	if a.was.template != e.template || a.was.via != e.via {
		template := e.template
		if template&noTemplate != 0 {
			template = 0
		}
		a.was, a.want, a.full = e, a.m.Want(template, e.via, crawl.Key{}), false
	}
	return &a.want
}

// Stray is a place in the queue of a task that names a URL which the view does not have: the view is damaged, and goes on without it.
type Stray struct {
	Task uint32
	Key  crawl.Key
}

// maxStrays bounds how many are told of.
const maxStrays = 100

// stray notes a stray that was met.
func (f *Frontier) stray(s Stray) {
	if f.strays[s] || len(f.strays) == maxStrays {
		return
	}
	if f.strays == nil {
		f.strays = map[Stray]bool{}
	}
	f.strays[s] = true
	f.untold = append(f.untold, s)
}

// Strays returns the strays that were met since it was called last, each once.
func (f *Frontier) Strays() []Stray {
	met := f.untold
	f.untold = nil
	return met
}

// load finds the records of entries, nil of those that have none: those that are not at hand in the order of their keys, so that neighbours are read from
// one block.
func (a *asking) load(batch []entry) error {
	var far []*entry
	for i := range batch {
		e := &batch[i]
		if e.r = a.f.recent.get(recKey{a.t.space(), e.key}); e.r == nil {
			far = append(far, e)
		}
	}
	slices.SortFunc(far, func(x, y *entry) int { return bytes.Compare(x.key[:], y.key[:]) })
	for _, e := range far {
		var err error
		if e.r, err = a.f.load1(&a.look, recKey{a.t.space(), e.key}); err != nil {
			return err
		}
		if e.r == nil {
			a.f.stray(Stray{a.t.ID, e.key})
		}
	}
	return nil
}

// add decides whether a URL is given out, and how it is asked for. Entries come in the order of their places.
func (a *asking) add(e *entry, g *crawl.Target) (bool, error) {
	r := e.r
	if a.t.Search > 0 {
		return true, nil // what a search names is wanted, whatever else its template has brought
	}
	var shape uint64
	if r.known(a.m) == 0 {
		r.template, r.views = 0, a.m.Views()
		if e.hasTemplate() {
			r.template = e.template
		}
	}
	if r.template == 0 {
		u, err := crawl.Parse(r.URL)
		if err != nil {
			return true, nil
		}
		r.template, shape = a.m.FindShape(u)
	}
	via := r.ownVia(g.Key)
	w := a.m.Want(r.template, via, g.Key)
	if w.Loose && a.loose >= yield.MaxLoose || a.given[w.Group] >= w.Room {
		was := looked{place: e.place, key: e.key, template: r.template, via: via}
		if r.template == 0 {
			was.template, was.shape = a.none(), shape
		}
		a.pass(e.passed, was)
		return false, nil
	}
	a.given[w.Group]++
	if w.Loose {
		a.loose++
	}
	g.Mark = w.Mark
	if !w.Back || via == 0 {
		return true, nil
	}
	back, err := a.back(r)
	if back {
		parent := r.Parent
		g.Parent = &parent
	}
	return true, err
}

// back reports whether it matters that a URL leads back to the page that has named it: to find out costs a resolving of all its
// links.
func (a *asking) back(r *record) (bool, error) {
	p, err := a.f.load1(&a.look, recKey{a.t.space(), r.Parent})
	if p == nil || err != nil {
		return false, err
	}
	u, err := crawl.Parse(r.URL)
	if err != nil {
		return false, nil
	}
	parent, err := crawl.Parse(p.URL)
	return err == nil && yield.Refines(u, parent), nil
}

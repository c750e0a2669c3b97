package frontier

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"argosy/internal/crawl"
	"argosy/internal/page/yield"
)

// What each task's templates have brought is a yield.Model. Its records stand in the view, change in the batch of the entry
// that changes them, and are read when the task is first worked on; models that are not used are forgotten.
const (
	modelsSize  = 24 << 20 // bytes of models in memory, about
	sweepAtOnce = 2000     // URLs of a site that one entry looks at again, unless nothing is pending
	sweepOfMany = 500      // and where so many wait that each entry would take long:
	manyWait    = 10_000   // so many do
	skipAtOnce  = 4        // queue entries that are looked at for each URL that is wanted
	againAtOnce = 64       // of these that had no template and whose shape has none now, those that are read again: they may have another shape
)

func modelKey(task uint32) []byte { return binary.BigEndian.AppendUint32([]byte{'y'}, task) }

// named is how many URLs a page named that were not there: all of them, and what is known of those of its site.
type named struct {
	all int
	yield.Feeds
}

// restKey is where a task remembers that there is a URL with a rest: without the parts that make no difference.
func restKey(task uint32, rest crawl.Key) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{'c'}, task), rest[:]...)
}

// model returns a task's model.
func (f *Frontier) model(t *Task) (*yield.Model, error) {
	if t.yield == nil || t.used != f.pos.Seq {
		f.resized = append(f.resized, t)
	}
	t.used = f.pos.Seq
	if t.yield != nil {
		return t.yield, nil
	}
	m := yield.New()
	prefix := modelKey(t.ID)
	err := f.each(prefix, func(k, v []byte) error { return m.Load(k[len(prefix):], v) })
	if err != nil {
		return nil, err
	}
	t.yield = m
	f.models[t.ID] = t
	return m, nil
}

// forgetModels drops the models that were not used for longest, while all of them take too much memory. They are as the view
// has them.
func (f *Frontier) forgetModels() {
	f.weighModels()
	if f.modelBytes <= max(modelsSize, f.modelsLeft+modelsSize/8) {
		return
	}
	var idle []*Task
	for _, t := range f.models {
		if t.used < f.pos.Seq && t.Held == 0 {
			idle = append(idle, t)
		}
	}
	slices.SortFunc(idle, func(a, b *Task) int { return cmp.Compare(a.used, b.used) })
	for _, t := range idle {
		if f.modelBytes-t.size < modelsSize/2 {
			break
		}
		delete(f.models, t.ID)
		f.modelBytes -= t.size
		t.yield, t.memory, t.size = nil, memory{}, 0
	}
	f.modelsLeft = f.modelBytes // mostly of tasks that are worked on: to walk over them all again at each entry brings nothing
}

// weighModels brings up to date how much memory all models take: of thousands that are there a few have been used since.
func (f *Frontier) weighModels() {
	for _, t := range f.resized {
		if t.yield != nil {
			size := t.yield.Size() + t.memory.size()
			f.modelBytes += size - t.size
			t.size = size
		}
	}
	clear(f.resized) // what is dropped is not kept by it
	f.resized = f.resized[:0]
}

func (x *tx) flushModel(t *Task) error {
	if t.yield == nil {
		return nil
	}
	prefix := modelKey(t.ID)
	put := func(k, v []byte) error { return x.b.Set(append(append(x.key[:0], prefix...), k...), v, nil) }
	drop := func(k []byte) error {
		p := append(prefix[:5:5], k...)
		return x.b.DeleteRange(p, after(p), nil)
	}
	return t.yield.Flush(put, drop)
}

// template returns the template of a URL that a record is of; u may be zero.
func (x *tx) template(m *yield.Model, r *record, u crawl.URL) uint32 {
	if known := r.known(m); known != 0 {
		return known
	}
	if u.IsZero() {
		var err error
		if u, err = crawl.Parse(r.URL); err != nil {
			return 0
		}
	}
	r.template, r.views = m.Template(u), m.Views()
	return r.template
}

// via returns the template of a page that names others; 0 if it is of another task.
func (x *tx) via(t *Task, parent *record) (uint32, error) {
	if parent.URL == "" || parent.Task != t.ID {
		return 0, nil
	}
	m, err := x.f.model(t)
	if err != nil {
		return 0, err
	}
	x.tasks[t.ID] = t
	return x.template(m, parent, crawl.URL{}), nil
}

// ownVia returns the template that has named a URL, 0 if that is another site's.
func (r *record) ownVia(k crawl.Key) uint32 {
	if !bytes.Equal(r.Parent[:4], k[:4]) {
		return 0
	}
	return r.Via
}

// answer has a task's model judge what a URL has brought.
func (x *tx) answer(t *Task, r *record, o *crawl.Outcome) error {
	m, err := x.f.model(t)
	if err != nil {
		return err
	}
	a := yield.Answer{Template: x.template(m, r, crawl.URL{}), Via: r.ownVia(o.Key), Tried: r.Flags&crawl.FlagTrial != 0}
	if a.Via != 0 {
		a.Lister = yield.Lister(r.Parent)
	}
	if o.Shows != 0 || m.Asks(a.Template) {
		if a.URL, err = crawl.Parse(r.URL); err != nil {
			return nil
		}
	}
	if o.Shows != 0 {
		a.Marked, a.Text, a.Sample, a.Figures, a.Pictures, a.Names, a.Numbers, a.Back = true, o.Shows, o.Sample, o.Figures, o.Pictures, o.Names, o.Numbers, o.Back
		a.Twice, a.Changed = o.Twice, o.Changed
		a.Page, a.Moved, a.Missing = o.HTML || len(o.Sample) > 0, o.Redirect != "" && crawl.Redirects(o.Status), o.Status >= 400
		a.Links, a.Found, a.Feeds = o.Links, x.named[o.Key].all, x.named[o.Key].Feeds
	}
	if m.Names(a.Via) || o.Shows != 0 && (o.Back || m.Beside(a.Template, a.Via) || m.Pairs(a.Template, a.Via)) {
		p, err := x.record(t.space(), r.Parent)
		if err != nil {
			return err
		}
		if p != nil && p.URL != "" {
			a.Parent, _ = crawl.Parse(p.URL) // it was parsed before
		}
	}
	if e := m.Take(&a); e != yield.Nothing {
		x.sweepFrom(t, e == yield.Learned)
	}
	t.Cuts = m.Cuts()
	return nil
}

// mustWait says whether a URL waits, and with which group. next says that it may go on as the next page of a list.
func (x *tx) mustWait(t *Task, m *yield.Model, k crawl.Key, u crawl.URL, r *record, next bool) (yield.Verdict, error) {
	v := m.Judge(u, r.ownVia(k), r.since == 1)
	if v.Wait && !next {
		return v, nil
	}
	if v.Wait {
		follows, err := x.follows(t, m, k, u, r)
		if !follows || err != nil {
			return v, err
		}
		v = yield.Verdict{Try: true, Group: v.Group}
	}
	if rest, changed := m.Rest(u); changed {
		other, err := x.hasRest(t, rest)
		if err != nil {
			return v, err
		}
		there := other != (crawl.Key{}) && other != k
		if there {
			if v = m.Spare(rest.Part, r.ownVia(k)); v.Wait {
				return v, nil
			}
		} else if err := x.keepRest(t, rest.Key, k); err != nil {
			return v, err
		}
	}
	if v.Try {
		r.Flags |= crawl.FlagTrial
		r.dirty = true
	}
	return v, nil
}

// hasRest returns the URL that stands for all with a rest; zero if there is none.
func (x *tx) hasRest(t *Task, rest yield.Rest) (k crawl.Key, err error) {
	if k, ok := x.rests[rest.Key]; ok {
		return k, nil
	}
	v, ok, err := x.look.get(restKey(t.ID, rest.Key))
	if ok {
		copy(k[:], v)
	}
	if ok || err != nil || rest.Bare == (crawl.Key{}) {
		return k, err
	}
	r, err := x.record(t.space(), rest.Bare)
	if err != nil || r == nil {
		return k, err
	}
	if r.State == crawl.Fetched || r.State == crawl.Pending || r.Reason == crawl.ReasonTrapYield && t.yield.OfPart(uint32(r.Place)) {
		return rest.Bare, nil // a URL that waits for its part has another name, too
	}
	return k, nil
}

func (x *tx) keepRest(t *Task, rest, k crawl.Key) error {
	if x.rests == nil {
		x.rests = map[crawl.Key]crawl.Key{}
	}
	x.rests[rest] = k
	return x.b.Set(restKey(t.ID, rest), k[:], nil)
}

// waits decides whether a URL that is new has to wait, and if so takes it in as one that does.
func (x *tx) waits(j *Job, t *Task, k recKey, u crawl.URL, r *record) (bool, error) {
	if r.Flags&(crawl.FlagSeed|crawl.FlagSitemap) != 0 {
		return false, nil
	}
	m, err := x.f.model(t)
	if err != nil {
		return false, err
	}
	v, err := x.mustWait(t, m, k.key, u, r, true)
	if !v.Wait || err != nil {
		return false, err
	}
	if t.Excluded-t.Omitted >= int64(j.Limits.MaxRefusals) {
		t.Overflow++
		return true, nil
	}
	r.Task = t.ID
	t.Discovered++
	x.setAside(t, m, k, u, r, v)
	x.remember(k, r)
	return true, nil
}

// setAside makes a URL wait, as a verdict says.
func (x *tx) setAside(t *Task, m *yield.Model, k recKey, u crawl.URL, r *record, v yield.Verdict) {
	r.State, r.Reason, r.Place, r.dirty = crawl.Excluded, crawl.ReasonTrapYield, uint64(v.Group), true
	t.count(crawl.Excluded, crawl.ReasonTrapYield, 1)
	m.Defer(v, u, k.key)
	x.tasks[t.ID] = t
}

// letGo makes a URL that waits pending again.
func (x *tx) letGo(t *Task, m *yield.Model, k crawl.Key, r *record, flag uint8) error {
	u, err := crawl.Parse(r.URL)
	if err != nil {
		return err
	}
	m.Resume(uint32(r.Place), u, k)
	t.count(crawl.Excluded, crawl.ReasonTrapYield, -1)
	r.State, r.Reason, r.dirty = crawl.Pending, "", true
	r.Flags |= flag
	return x.enqueue(t, k, r)
}

// out decides whether a URL is given to a lease although its template may have been cut since it was queued, and counts it
// as one that is out.
func (x *tx) out(t *Task, k recKey, r *record) (bool, error) {
	if t.Search > 0 {
		return true, nil
	}
	m, err := x.f.model(t)
	if err != nil {
		return false, err
	}
	if t.Cuts > 0 && r.Flags&(crawl.FlagSeed|crawl.FlagSitemap|crawl.FlagTrial) == 0 {
		u, err := crawl.Parse(r.URL)
		if err != nil {
			return false, err
		}
		v, err := x.mustWait(t, m, k.key, u, r, true)
		if err != nil {
			return false, err
		}
		if v.Wait {
			err := x.dequeue(t, r.Place)
			x.setAside(t, m, k, u, r, v)
			return false, err
		}
	}
	if postponed, err := x.postpone(t, m, k, r); postponed || err != nil {
		return false, err
	}
	r.out = x.template(m, r, crawl.URL{})
	m.Out(r.out, 1)
	return true, nil
}

// postpone puts a URL behind all others of its task, once, that is likely to be another name of one that was had: what nothing is known
// of comes first. It reports whether it has.
func (x *tx) postpone(t *Task, m *yield.Model, k recKey, r *record) (bool, error) {
	if x.f.jobs[t.Job].Identity.Order == crawl.OrderBest || r.Depth == 0 || r.isLate() || !m.Likely() || r.Flags&(crawl.FlagSeed|crawl.FlagSitemap|crawl.FlagTrial) != 0 {
		return false, nil
	}
	u, err := crawl.Parse(r.URL)
	if err != nil || !m.Again(u) {
		return false, err
	}
	if err := x.dequeue(t, r.Place); err != nil {
		return false, err
	}
	t.Seq++
	r.Place, r.dirty = late(t.Seq), true
	return true, x.queue(t, k.key, r.Place)
}

// back counts a URL as one that is out no more.
func (x *tx) back(t *Task, r *record) {
	if t.yield != nil && r.out != 0 {
		t.yield.Out(r.out, -1)
		r.out = 0
	}
}

// settle ends an entry: sweeps go on, and what was cut is tried again where it is time, or where nothing else is left.
func (x *tx) settle() error {
	ids := make([]uint32, 0, len(x.tasks))
	for id := range x.tasks {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		t := x.tasks[id]
		if t.Held == 0 && t.yield != nil {
			t.yield.Home()
		}
		if t.State == "" && (t.Cuts > 0 || t.Sweep != nil) {
			if err := x.settleTask(x.f.jobs[t.Job], t); err != nil {
				return err
			}
		}
	}
	if err := x.settleHosts(ids); err != nil {
		return err
	}
	if x.f.pos.Seq%64 == 0 {
		x.f.forgetModels()
		x.f.forgetHosts()
	}
	return nil
}

func (x *tx) settleTask(j *Job, t *Task) error {
	if err := x.sweepTaken(j, t); err != nil {
		return err
	}
	for n := 0; t.Sweep != nil && (n == 0 || t.Pending() == 0); n++ {
		if err := x.step(j, t, t.atOnce()); err != nil {
			return err
		}
	}
	m, err := x.f.model(t)
	if err != nil {
		return err
	}
	for {
		idle := t.Pending() == 0
		keys, some := m.Trials(idle)
		for _, k := range keys {
			r, err := x.record(t.space(), k)
			if err != nil {
				return err
			}
			if r == nil || r.State != crawl.Excluded || r.Reason != crawl.ReasonTrapYield {
				continue
			}
			if err := x.letGo(t, m, k, r, crawl.FlagTrial); err != nil {
				return err
			}
		}
		if idle && !some {
			if some, err = x.goOn(j, t, m); err != nil {
				return err
			}
		}
		if !some || !idle || t.Pending() > 0 {
			t.Cuts = m.Cuts()
			return nil
		}
	}
}

// goOn lets URLs go on when nothing else is left: the next pages of lists and what has a good form, then what was cut with others. It reports whether there may be some.
func (x *tx) goOn(j *Job, t *Task, m *yield.Model) (bool, error) {
	if !m.Begun() {
		return x.hear(j, t, m)
	}
	x.sweepFrom(t, false)
	t.Sweep.Next = true
	return true, x.sweepOn(j, t)
}

// follows reports whether a URL that is to wait is the next page of a list.
func (x *tx) follows(t *Task, m *yield.Model, k crawl.Key, u crawl.URL, r *record) (bool, error) {
	if !m.MayFollow() || r.ownVia(k) == 0 {
		return false, nil
	}
	var parent crawl.URL
	if m.HasBorne(r.Parent) {
		p, err := x.record(t.space(), r.Parent)
		if err != nil {
			return false, err
		}
		if p != nil && p.URL != "" {
			parent, _ = crawl.Parse(p.URL) // it was parsed before
		}
	}
	return m.Follows(u, parent), nil
}

// hear lets URLs go on of a template that was cut with others; it reports whether there is one.
func (x *tx) hear(j *Job, t *Task, m *yield.Model) (bool, error) {
	only := m.Hear()
	if only == 0 {
		return false, nil
	}
	x.sweepFrom(t, false)
	t.Sweep.Only = only
	return true, x.sweepOn(j, t)
}

// sweepOn goes on with a sweep until URLs are pending.
func (x *tx) sweepOn(j *Job, t *Task) error {
	for t.Sweep != nil && t.Pending() == 0 {
		if err := x.step(j, t, t.atOnce()); err != nil {
			return err
		}
	}
	return nil
}

// resume lets URLs go on that wait because their templates brought nothing new: a person wants them.
func (x *tx) resume(r *crawl.Release) error {
	for _, id := range x.f.sortedTasks(r.Job, r.Tasks) {
		t := x.f.tasks[id]
		if t.State == crawl.TaskDropped || t.Cuts == 0 && t.Reasons[string(crawl.ReasonTrapYield)] == 0 {
			continue
		}
		m, err := x.f.model(t)
		if err != nil {
			return err
		}
		m.Release()
		t.Cuts = m.Cuts()
		x.sweepFrom(t, false)
	}
	return x.resumeHosts(r.Job)
}

// Traps returns what waits of a task because its templates brought nothing new. Of a site that has had all the pages that it may
// have it names the largest template, and of one that redirects without end a URL behind too many redirects.
func (f *Frontier) Traps(task uint32) ([]crawl.Trap, error) {
	t := f.tasks[task]
	if t == nil {
		return nil, nil
	}
	budget, chain := t.Reasons[string(crawl.ReasonSiteBudget)], t.Reasons[string(crawl.ReasonRedirects)]
	hosts, err := f.hostTraps(t)
	if err != nil || budget+chain == 0 && t.Reasons[string(crawl.ReasonTrapYield)] == 0 {
		return hosts, err
	}
	m, err := f.model(t)
	if err != nil {
		return nil, err
	}
	out := m.Traps()
	if budget > 0 {
		p, n := m.Largest()
		out = append(out, crawl.Trap{Template: p, Answers: n, Waiting: budget, Budget: true})
	}
	if chain > 0 && t.Chain != "" {
		out = append(out, crawl.Trap{Example: t.Chain, Waiting: chain, Chain: true})
	}
	for i := range out {
		out[i].Site = t.Site
	}
	return append(hosts, out...), nil
}

// notes counts what a page has named that was not there.
func (x *tx) notes(page crawl.Key, all int, feeds *yield.Feeds) {
	if all > 0 {
		was := x.named[page]
		was.all, was.Own, was.Led, was.Same = was.all+all, was.Own+feeds.Own, was.Led+feeds.Led, was.Same+feeds.Same
		x.named[page] = was
	}
}

// ahead says which of the URLs that a page names come before all others. Only pages of templates under suspicion have such ones: what is
// most likely new, and of their own template what leads on.
type ahead struct {
	t     *Task // nil: none do
	via   uint32
	since uint8 // pages ago, along the page's path, that one has named what is most likely new, itself being the first; 0 if none has
}

// leads finds that out: the months of a calendar with events come before its days, the next page of a list before the other orders
// of this one, those first whose path has led to something last.
func (x *tx) leads(t *Task, via uint32, watched bool, page *record, p *crawl.Found) ahead {
	if !watched || !t.yield.Suspects(via) {
		return ahead{}
	}
	a := ahead{t: t, via: via}
	for i := range p.Links {
		u, err := crawl.Parse(p.Links[i].URL)
		if err != nil || u.Site() != t.Site || !t.yield.Bears(u, via) {
			continue
		}
		if r, err := x.record(t.space(), u.Key()); err == nil && r == nil {
			a.since = 1
			return a
		}
	}
	if before := page.Place >> sinceShift; page.isSoon() && before+1 < maxSince {
		a.since = uint8(before) + 2
	}
	return a
}

// of returns how soon a URL comes that the page has named: record.since.
func (a ahead) of(u crawl.URL) uint8 {
	if a.t == nil || u.Site() != a.t.Site {
		return 0
	}
	switch same, first := a.t.yield.LeadsOn(u, a.via); {
	case first, !same && a.since == 1 && a.t.yield.Bears(u, a.via):
		return 1
	case same:
		return a.since
	}
	return 0
}

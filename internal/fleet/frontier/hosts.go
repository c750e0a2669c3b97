package frontier

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"argosy/internal/crawl"
	"argosy/internal/page/scope"
	"argosy/internal/page/yield"
)

// In jobs whose scope takes in all hosts of a domain, or everything, hosts are judged as the URLs of a site are (page/yield): where every
// name of a domain answers with the same site, and names more, new names are refused once those like them have brought nothing new.
// A host's first pages are its answer; its labels, the last first, are the path of its URL.
const (
	manyHosts  = 16  // of a domain, from which on they are judged
	firstPages = 4   // of a host, by which it is judged
	hostModels = 256 // in memory
	hostLabels = 2   // below the domain that tell hosts apart: hosts with more are alike, since names may grow without end
)

// deepHost stands for the labels of a host that has many.
const deepHost = "_"

// firstSeen is what the first pages of a host have shown.
type firstSeen struct {
	By     uint32   `cbor:"1,keyasint,omitempty"` // task of the host that has named it; 0 if that is of another domain
	Pages  int      `cbor:"2,keyasint,omitempty"`
	Text   uint64   `cbor:"3,keyasint,omitempty"`
	Sample []uint32 `cbor:"4,keyasint,omitempty"` // the smallest marks of all of them
	Named  int      `cbor:"5,keyasint,omitempty"` // hosts of its domain that were not there
	Judged bool     `cbor:"6,keyasint,omitempty"`
	Barren bool     `cbor:"7,keyasint,omitempty"` // they showed what other hosts had shown
}

// domainName is a registrable domain in a layer of a job.
type domainName struct {
	space
	name string
}

// domain is the hosts of one.
type domain struct {
	domainName
	first uint32 // the task with whose records its model stands
	hosts int
	model *yield.Model // nil until it is needed
	used  uint64       // entry that needed it last
}

// hostsKey is where the model of a domain stands, by its first task.
func hostsKey(task uint32) []byte { return binary.BigEndian.AppendUint32([]byte{'n'}, task) }

// refusedKey is that of a URL that was refused because of its host.
func refusedKey(task uint32, k crawl.Key) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{'z'}, task), k[:]...)
}

// domainOf returns the domain of a site, nil if hosts are not judged there. add says to make one.
func (f *Frontier) domainOf(j *Job, s space, site string, add bool) *domain {
	if j == nil || j.Identity.Collect != nil || j.Identity.Scope != crawl.ScopeDomain && j.Identity.Scope != crawl.ScopeAny {
		return nil
	}
	name := domainName{s, scope.SiteDomain(site)}
	d := f.domains[name]
	if d == nil && add {
		d = &domain{domainName: name}
		f.domains[name] = d
	}
	return d
}

// joinDomain counts a task's host among those of its domain. Tasks come in the order of their numbers.
func (f *Frontier) joinDomain(t *Task) *domain {
	d := f.domainOf(f.jobs[t.Job], t.space(), t.Site, true)
	if d == nil {
		return nil
	}
	if d.hosts++; d.first == 0 {
		d.first = t.ID
	}
	if t.HostCuts > 0 {
		f.cutDomains[t.ID] = d
	}
	return d
}

// judged returns the domain of a task if its hosts are judged, else nil.
func (f *Frontier) judged(t *Task) *domain {
	if len(f.domains) == 0 || t.Seed {
		return nil
	}
	if d := f.domainOf(f.jobs[t.Job], t.space(), t.Site, false); d != nil && d.hosts >= manyHosts {
		return d
	}
	return nil
}

// firstLeft is how many more of the first pages of a task's host may be given out, -1 if it is not judged or has had them.
func (f *Frontier) firstLeft(t *Task) int {
	done := t.Fetched + t.Failed
	if t.Host.Judged || done >= firstPages || f.judged(t) == nil {
		return -1
	}
	return int(max(0, firstPages-done-t.Held))
}

// hostURL is the URL that stands for a host of the domain.
func (d *domain) hostURL(site string) (crawl.URL, bool) {
	labels := strings.Split(strings.TrimSuffix(strings.TrimSuffix(crawl.HostOf(site), d.name), "."), ".")
	slices.Reverse(labels)
	if len(labels) > hostLabels {
		labels = []string{deepHost}
	}
	u, err := crawl.Parse("http://" + d.name + "/" + strings.Join(labels, "/"))
	return u, err == nil
}

// shown is a template of hosts, or a host's URL, as people write hosts.
func (d *domain) shown(path string) string {
	labels := strings.Split(strings.Trim(path, "/"), "/")
	slices.Reverse(labels)
	switch labels[0] {
	case "":
		return d.name
	case deepHost:
		return "*.*.*." + d.name
	}
	return strings.Join(labels, ".") + "." + d.name
}

// hostModel returns a domain's model.
func (f *Frontier) hostModel(d *domain) (*yield.Model, error) {
	d.used = f.pos.Seq
	if d.model != nil {
		return d.model, nil
	}
	m := yield.New()
	prefix := hostsKey(d.first)
	err := f.each(prefix, func(k, v []byte) error { return m.Load(k[len(prefix):], v) })
	if err != nil {
		return nil, err
	}
	d.model = m
	f.hostModels = append(f.hostModels, d)
	return m, nil
}

// forgetHosts drops the models of domains that were not used for longest, if there are too many.
func (f *Frontier) forgetHosts() {
	if len(f.hostModels) <= hostModels {
		return
	}
	slices.SortFunc(f.hostModels, func(a, b *domain) int { return cmp.Compare(b.used, a.used) })
	for i, d := range f.hostModels[hostModels/2:] {
		if d.used < f.pos.Seq {
			d.model = nil
			continue
		}
		f.hostModels[hostModels/2+i] = d
	}
	f.hostModels = slices.DeleteFunc(f.hostModels, func(d *domain) bool { return d.model == nil })
}

// keepHosts puts what has changed of a domain's model into the batch.
func (x *tx) keepHosts(d *domain, m *yield.Model) error {
	first := x.f.tasks[d.first]
	first.HostCuts = m.Cuts()
	x.tasks[first.ID] = first
	if first.HostCuts > 0 {
		x.f.cutDomains[first.ID] = d
	} else {
		delete(x.f.cutDomains, first.ID)
	}
	prefix := hostsKey(d.first)
	put := func(k, v []byte) error { return x.b.Set(append(prefix[:5:5], k...), v, nil) }
	drop := func(k []byte) error {
		p := append(prefix[:5:5], k...)
		return x.b.DeleteRange(p, after(p), nil)
	}
	return m.Flush(put, drop)
}

// hostWaits reports whether a URL is refused because its host is like those that brought nothing new. t is the task whose page names
// it, own its site's, nil if there is none yet.
func (x *tx) hostWaits(j *Job, t, own *Task, u crawl.URL, r *record) (bool, error) {
	if len(x.f.cutDomains) == 0 || r.Flags&(crawl.FlagSeed|crawl.FlagTrial) != 0 || own != nil && (own.Seed || own.Host.Judged && !own.Host.Barren) {
		return false, nil
	}
	d := x.f.domainOf(j, t.names(), u.Site(), false)
	if d == nil || x.f.cutDomains[d.first] == nil {
		return false, nil
	}
	at, ok := d.hostURL(u.Site())
	m, err := x.f.hostModel(d)
	if err != nil || !ok {
		return false, err
	}
	v := m.Judge(at, d.via(m, t), false)
	if v.Try {
		r.Flags |= crawl.FlagTrial
	}
	if !v.Wait {
		return false, x.keepHosts(d, m)
	}
	if err := x.refuseHost(d, m, v, at, u.Key()); err != nil {
		return false, err
	}
	return true, x.keepHosts(d, m)
}

// refuseHost notes that a URL is refused because its host is like those of a group.
func (x *tx) refuseHost(d *domain, m *yield.Model, v yield.Verdict, host crawl.URL, k crawl.Key) error {
	m.Defer(v, host, k)
	if x.hosts == nil {
		x.hosts = map[*domain]map[crawl.Key]uint32{}
	}
	if x.hosts[d] == nil {
		x.hosts[d] = map[crawl.Key]uint32{}
	}
	x.hosts[d][k] = v.Group
	return x.b.Set(refusedKey(d.first, k), binary.BigEndian.AppendUint32(nil, v.Group), nil)
}

// via returns the template of a task's host in the model of a domain, 0 if the host is of another one.
func (d *domain) via(m *yield.Model, t *Task) uint32 {
	if t == nil || t.space() != d.space {
		return 0
	}
	if at, ok := d.hostURL(t.Site); ok && scope.SiteDomain(t.Site) == d.name {
		return m.Template(at)
	}
	return 0
}

// firstPage takes in what one of the first pages of a host has shown.
func (x *tx) firstPage(t *Task, o *crawl.Outcome) error {
	h := &t.Host
	d := x.f.judged(t)
	if d == nil || h.Judged || o.Shows == 0 {
		return nil
	}
	h.Pages++
	h.Text = h.Text*31 + o.Shows
	h.Sample = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(h.Sample), o.Sample...))))
	h.Sample = h.Sample[:min(len(h.Sample), maxSample)]
	if h.Pages < firstPages {
		return nil
	}
	return x.judgeHost(d, t)
}

// maxSample is how many marks a host is judged by: as many as a page.
const maxSample = 48

// judgeHost judges a host by its first pages. Each of them counts.
func (x *tx) judgeHost(d *domain, t *Task) error {
	h := &t.Host
	h.Judged = true
	m, err := x.f.hostModel(d)
	at, ok := d.hostURL(t.Site)
	if err != nil || !ok {
		return err
	}
	named, empty := min(h.Named, 1), m.Empty(at)
	a := yield.Answer{
		URL: at, Template: m.Template(at), Via: d.via(m, x.f.tasks[h.By]), Host: true, Page: true, Marked: true, Text: h.Text | 1, Sample: h.Sample,
		Links: named, Found: named, Feeds: yield.Feeds{Own: named, Led: named, Same: named},
	}
	event := m.Take(&a)
	h.Barren, h.Sample = m.Empty(at) > empty, nil
	for n := 1; h.Barren && n < h.Pages && event == yield.Nothing; n++ {
		event = m.Take(&a)
	}
	x.tasks[t.ID] = t
	if event == yield.Cut {
		err = x.holdHosts(d, m)
	}
	if event == yield.Lifted && err == nil {
		err = x.letHosts(d)
	}
	if err != nil {
		return err
	}
	return x.keepHosts(d, m)
}

// holdHosts refuses what waits of the hosts of a domain that have brought nothing, or not yet been judged, and are like those that are
// cut.
func (x *tx) holdHosts(d *domain, m *yield.Model) error {
	for _, id := range x.f.sortedTasks(d.job, nil) {
		t := x.f.tasks[id]
		if t.space() != d.space || t.Queued() == 0 || t.Host.Judged && !t.Host.Barren || x.f.judged(t) != d {
			continue
		}
		at, ok := d.hostURL(t.Site)
		group := m.IsCut(at)
		if !ok || group == 0 {
			continue
		}
		prefix := queueKey(t.ID, 0)[:5]
		var keys []crawl.Key
		if err := x.f.each(prefix, func(_, v []byte) error { keys = append(keys, crawl.Key(v)); return nil }); err != nil {
			return err
		}
		for _, k := range keys {
			r, err := x.record(t.space(), k)
			if err != nil {
				return err
			}
			if r == nil || r.State != crawl.Pending || r.Flags&(crawl.FlagSeed|crawl.FlagTrial) != 0 {
				continue
			}
			if err := x.unqueue(recKey{t.space(), k}, r, crawl.ReasonTrapHosts); err != nil {
				return err
			}
			if r.State != crawl.Excluded {
				continue // a lease has it
			}
			if err := x.refuseHost(d, m, yield.Verdict{Wait: true, Group: group}, at, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// letHosts looks again at the URLs of a domain that were refused because of their hosts.
func (x *tx) letHosts(d *domain) error {
	prefix := refusedKey(d.first, crawl.Key{})[:5]
	keys := slices.Collect(maps.Keys(x.hosts[d]))
	if err := x.f.each(prefix, func(k, _ []byte) error { keys = append(keys, crawl.Key(k[5:])); return nil }); err != nil {
		return err
	}
	slices.SortFunc(keys, func(a, b crawl.Key) int { return bytes.Compare(a[:], b[:]) })
	for _, k := range slices.Compact(keys) {
		if err := x.letHost(d, k, 0); err != nil {
			return err
		}
	}
	return nil
}

// letHost looks again at a URL that was refused because of its host.
func (x *tx) letHost(d *domain, k crawl.Key, flag uint8) error {
	r, err := x.record(d.space, k)
	if err != nil || r == nil || r.State != crawl.Excluded || r.Reason != crawl.ReasonTrapHosts {
		return err
	}
	m, err := x.f.hostModel(d)
	if err != nil {
		return err
	}
	at := refusedKey(d.first, k)
	group, ok := x.hosts[d][k]
	if !ok {
		v, closer, err := x.f.db.Get(at)
		switch {
		case err == nil && len(v) == 4:
			group = binary.BigEndian.Uint32(v)
			err = closer.Close()
		case errors.Is(err, pebble.ErrNotFound):
			return nil // it was let go before
		}
		if err != nil {
			return err
		}
	}
	u, err := crawl.Parse(r.URL)
	if err != nil {
		return err
	}
	if host, ok := d.hostURL(u.Site()); ok {
		m.Resume(group, host, k)
	}
	delete(x.hosts[d], k)
	if err := x.b.Delete(at, nil); err != nil {
		return err
	}
	r.Flags |= flag
	return x.readmit(x.f.jobs[d.job], recKey{d.space, k}, r, r)
}

// settleHosts judges hosts that have no more pages, and tries hosts again that were cut, where it is time or nothing else is left.
func (x *tx) settleHosts(ids []uint32) error {
	for _, id := range ids {
		t := x.f.tasks[id]
		if d := x.f.judged(t); d != nil && !t.Host.Judged && t.Host.Pages > 0 && t.Pending() == 0 {
			if err := x.judgeHost(d, t); err != nil {
				return err
			}
		}
	}
	if len(x.f.cutDomains) == 0 {
		return nil
	}
	for _, first := range slices.Sorted(maps.Keys(x.f.cutDomains)) {
		if err := x.tryHosts(x.f.cutDomains[first]); err != nil {
			return err
		}
	}
	return nil
}

// tryHosts lets a domain have its next trials.
func (x *tx) tryHosts(d *domain) error {
	j := x.f.jobs[d.job]
	if j.State == crawl.JobCancelled {
		return nil
	}
	m, err := x.f.hostModel(d)
	for some := true; some && err == nil; {
		idle := x.pending(j) == 0
		var keys []crawl.Key
		keys, some = m.Trials(idle)
		for _, k := range keys {
			if err := x.letHost(d, k, crawl.FlagTrial); err != nil {
				return err
			}
		}
		some = some && idle
	}
	if err != nil {
		return err
	}
	return x.keepHosts(d, m)
}

// pending is how many URLs of a job are pending as this entry has it.
func (x *tx) pending(j *Job) int64 {
	n := j.Totals.Pending()
	for _, t := range x.tasks {
		if t.Job == j.ID {
			n += t.Pending() - t.added.Pending()
		}
	}
	return n
}

// resumeHosts lets the hosts of a job go on that were cut: a person wants them.
func (x *tx) resumeHosts(job uint32) error {
	for _, first := range x.f.sortedTasks(job, nil) {
		d := x.f.cutDomains[first]
		if d == nil {
			continue
		}
		m, err := x.f.hostModel(d)
		if err != nil {
			return err
		}
		m.Release()
		if err := x.keepHosts(d, m); err != nil {
			return err
		}
		if err := x.letHosts(d); err != nil {
			return err
		}
		if err := x.keepHosts(d, m); err != nil {
			return err
		}
	}
	return nil
}

// hostTraps returns which hosts of the domain that began with a task are refused.
func (f *Frontier) hostTraps(t *Task) ([]crawl.Trap, error) {
	d := f.cutDomains[t.ID]
	if d == nil {
		return nil, nil
	}
	m, err := f.hostModel(d)
	if err != nil {
		return nil, err
	}
	out := m.Traps()
	for i := range out {
		out[i].Site, out[i].Hosts, out[i].Template = d.name, true, d.shown(out[i].Template)
	}
	return out, f.exampleHosts(d, out)
}

// exampleHosts puts URLs for examples of hosts.
func (f *Frontier) exampleHosts(d *domain, traps []crawl.Trap) error {
	look, left := finder{db: f.db}, len(traps)
	done := errors.New("enough")
	err := f.each(refusedKey(d.first, crawl.Key{})[:5], func(k, _ []byte) error {
		r, err := f.load1(&look, recKey{d.space, crawl.Key(k[5:])})
		if err != nil || r == nil {
			return err
		}
		u, err := crawl.Parse(r.URL)
		if err != nil {
			return nil
		}
		host, _ := d.hostURL(u.Site())
		for i := range traps {
			if traps[i].Example == host.String() {
				traps[i].Example = r.URL
				left--
			}
		}
		if left == 0 {
			return done
		}
		return nil
	})
	if errors.Is(err, done) {
		err = nil
	}
	return errors.Join(err, look.close())
}

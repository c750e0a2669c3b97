package frontier

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"net/http"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"argosy/internal/crawl"
	"argosy/internal/page/topic"
)

// signs are what the links to a URL say of it, beside their words, in a job with a topic.
type signs struct {
	Off    uint8   // pages in a row on the way to it that are off the topic; the least of several ways
	Named  uint8   // pages on the topic that name it, as far as they are counted
	Page   float32 // score of the page that names it; the best of several
	Around string  // words around the link
}

// focus is a job's topic at work: who judges links, and what is learned of them.
type focus struct {
	judge   *topic.Judge
	links   *topic.Links
	own     []*topic.Links // of crawlers: what each has learned by itself
	lessons []recKey       // pages that were fetched since the model learned
	next    uint64         // number of the next lesson
}

// readSigns are the signs of the links to a URL that waits, and the words that they were read of: whenever the model learns, the URL is
// scored anew. They are half a kilobyte, and stay with a record as long as it is at hand.
type readSigns struct {
	topic.Signs
	anchor, around string
}

// signsOf returns the signs of the links to a URL that waits.
func (o *focus) signsOf(j *Job, r *record, e *topic.Evidence) *topic.Signs {
	if r.read == nil || r.read.anchor != e.Anchor || r.read.around != e.Around {
		r.read = &readSigns{o.links.Read(e, !j.Identity.ByRule), e.Anchor, e.Around}
	}
	return &r.read.Signs
}

// When models learn, and what is scored anew then: a model that has learned from half as many pages more sees the queues anew, in small steps.
// Each step finds no more in bench/topics where that is done whenever the model learns, which costs four times as much.
const (
	lessonsLeast  = 8
	lessonsMost   = 256
	rescoreShare  = 2
	rescoreMost   = 4096 // pages more, after which it is done in any case
	rescoreAtOnce = 400  // URLs of a site that one entry looks at again
)

// linksKey is where a job's model of links is kept, or that of one of its crawlers.
func linksKey(job, crawler uint32) []byte {
	b := binary.BigEndian.AppendUint32([]byte{'w'}, job)
	if crawler > 0 {
		b = binary.BigEndian.AppendUint32(b, crawler)
	}
	return b
}

// lessonKey is where a page is kept that the model has not learned from.
func lessonKey(job uint32, n uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32([]byte{'x'}, job), n)
}

// focused returns a job's topic at work, nil if it has none.
func (f *Frontier) focused(j *Job) (*focus, error) {
	if j.Identity.Topic == nil || j.focus != nil {
		return j.focus, nil
	}
	judge := topic.NewJudge(j.Identity.Topic)
	o := &focus{judge: judge, links: topic.NewLinks(judge)}
	for range j.crawlers() {
		o.own = append(o.own, topic.NewLinks(judge))
	}
	if j.Identity.Fuzzy {
		for c := range 1 + len(o.own) {
			o.of(uint32(c)).ByFuzzyRules()
		}
	}
	for c := range 1 + len(o.own) {
		if err := f.loadLinks(linksKey(j.ID, uint32(c)), o.of(uint32(c))); err != nil {
			return nil, err
		}
	}
	err := f.each(lessonKey(j.ID, 0)[:5], func(key, v []byte) error {
		p, ok := crawl.PageOf(v)
		if !ok {
			return errRecord
		}
		o.lessons = append(o.lessons, recKey{space{j.ID, p.Layer}, p.Key})
		o.next = binary.BigEndian.Uint64(key[5:]) + 1
		return nil
	})
	if err != nil {
		return nil, err
	}
	j.focus = o
	return o, nil
}

// loadLinks reads a model, if it has learned something.
func (f *Frontier) loadLinks(key []byte, m *topic.Links) error {
	b, closer, err := f.db.Get(key)
	switch {
	case errors.Is(err, pebble.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return errors.Join(m.Unmarshal(b), closer.Close())
}

// of returns the model of a crawler; 0: that of all.
func (o *focus) of(crawler uint32) *topic.Links {
	if crawler == 0 || int(crawler) > len(o.own) {
		return o.links
	}
	return o.own[crawler-1]
}

// siteRecord is how a site's pages have turned out.
type siteRecord struct {
	known int     // pages
	rate  float64 // share of them that is on the topic, those aside that say what others said
}

// siteRecord returns that of a task's site; own may be nil: there is no task yet.
func (f *Frontier) siteRecord(own *Task) (s siteRecord) {
	if own == nil {
		return s
	}
	var pages, hits int64
	for _, t := range f.sharers(own) {
		pages, hits = pages+t.Pages, hits+t.Hits()
	}
	if pages > 0 {
		s.known, s.rate = int(pages), float64(hits)/float64(pages)
	}
	return s
}

// evidence is what is known of a URL that was not fetched.
func (r *record) evidence(s siteRecord) topic.Evidence {
	return topic.Evidence{
		URL: r.URL, Anchor: r.Anchor, Around: r.Around, Page: float64(r.Page), Named: int(r.Named), Off: int(r.Off), Seed: r.Flags&crawl.FlagSeed != 0,
		Known: s.known, Rate: s.rate,
	}
}

// score gives a URL that is to be queued its score: seeds come first, then sitemaps, then what is likely to be on the topic. owner is
// the crawler that remembers for itself, 0 if all remember together; own is the site's task, nil if there is none yet.
func (x *tx) score(j *Job, owner uint32, own *Task, r *record) error {
	o, err := x.f.focused(j)
	if o == nil || err != nil || r.first() {
		return err
	}
	e := r.evidence(x.f.siteRecord(own))
	r.Score = float32(o.of(owner).Score(&e, !j.Identity.ByRule))
	return nil
}

// first gives a seed or a sitemap its score; it reports false of other URLs.
func (r *record) first() bool {
	switch {
	case r.Flags&crawl.FlagSeed != 0:
		r.Score = 1
	case r.Flags&crawl.FlagSitemap != 0:
		r.Score = 0.999
	default:
		return false
	}
	return true
}

// offOf returns how many pages in a row are off the topic on the way to what a page names. Sitemaps and robots.txt are not pages, and
// a seed is where somebody wants to begin, whatever it is about.
func offOf(j *Job, parent *record, pk crawl.Key, score float32) uint8 {
	switch {
	case float64(score) >= j.Identity.Topic.Threshold, pk == (crawl.Key{}), parent.Flags&crawl.FlagSeed != 0:
		return 0
	case parent.Flags&crawl.FlagSitemap != 0:
		return parent.Off
	}
	return min(crawl.MaxTunnel, parent.Off+1)
}

// saidKey is where the first page is kept that said something, where pages are remembered together.
func saidKey(at space, said uint64) []byte {
	b := binary.BigEndian.AppendUint32([]byte{'e'}, at.job)
	b = binary.BigEndian.AppendUint32(b, at.Owner)
	return binary.BigEndian.AppendUint64(b, said)
}

// showsCopies takes down which pages of a part say what one said that was had before: a page under many URLs is not many pages on the topic,
// neither where links are learned from nor as one that names others.
func (x *tx) showsCopies(j *Job, t *Task, p *crawl.Part) error {
	x.copies = nil
	if j.Identity.Topic == nil {
		return nil
	}
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		if o.Said == 0 || !relevant(j, o) {
			continue
		}
		k := saidKey(t.space(), o.Said)
		was, ok := x.said[string(k)]
		if !ok {
			b, kept, err := x.look.get(k)
			if err != nil {
				return err
			}
			if ok = kept; ok {
				copy(was[:], b)
			}
		}
		switch {
		case !ok:
			if x.said == nil {
				x.said = map[string]crawl.Key{}
			}
			x.said[string(k)] = o.Key
			if err := x.b.Set(k, o.Key[:], nil); err != nil {
				return err
			}
		case was != o.Key:
			if x.copies == nil {
				x.copies = map[crawl.Key]bool{}
			}
			x.copies[o.Key] = true
		}
	}
	return nil
}

// counted is as what a page of a topic counts.
func (x *tx) counted(j *Job, o *crawl.Outcome) (as uint8) {
	if relevant(j, o) {
		as = countedRelevant
	}
	if x.copies[o.Key] {
		as |= countedCopy
	}
	return as
}

// relevant reports whether an outcome is a page on its job's topic.
func relevant(j *Job, o *crawl.Outcome) bool {
	return j.Identity.Topic != nil && o.State == crawl.Fetched && o.HTML && o.Status == http.StatusOK && float64(o.Score) >= j.Identity.Topic.Threshold
}

// sign notes what a link says of the URL it points to, by the page that names it.
func (x *tx) sign(j *Job, r, parent *record, p *crawl.Found, l *crawl.Link) {
	score := p.Score
	if x.copies[p.Parent] {
		score = 0
	}
	r.Off, r.Page, r.Around = offOf(j, parent, p.Parent, score), score, l.Around
	on := float64(score) >= j.Identity.Topic.Threshold
	if on {
		r.Named = 1
	}
	switch {
	case l.Redirect: // it is the same page, elsewhere
		r.signs, r.Anchor = parent.signs, parent.Anchor
	case l.Resource:
		r.Off = parent.Off
		if on {
			r.Off = 0
		}
	}
}

// sees takes in what another link says of a URL.
func (r *record) sees(o *record) (changed bool) {
	if o.Off < r.Off {
		r.Off, changed = o.Off, true
	}
	if o.Named > 0 && r.Named < math.MaxUint8 {
		r.Named += o.Named
		changed = true
	}
	if o.Page > r.Page {
		r.Page, changed = o.Page, true
		if o.Anchor != "" || o.Around != "" {
			r.Anchor, r.Around = o.Anchor, o.Around
		}
	}
	return changed
}

// namedAgain takes in another link to a URL that waits: its place may be a better one now.
func (x *tx) namedAgain(j *Job, k recKey, old, r *record) error {
	if j.Identity.Topic == nil || old.State != crawl.Pending || !old.sees(r) {
		return nil
	}
	old.dirty = true
	return x.rescore(j, k, old, x.f.siteRecord(x.f.tasks[old.Task]))
}

// rescore gives a URL that waits its score anew, and its place.
func (x *tx) rescore(j *Job, k recKey, r *record, s siteRecord) error {
	o, err := x.f.focused(j)
	if o == nil || err != nil {
		return err
	}
	was := r.Score
	if !r.first() {
		e := r.evidence(s)
		r.Score = float32(o.of(k.Owner).ScoreBy(o.signsOf(j, r, &e), &e, !j.Identity.ByRule))
	}
	if j.Identity.Order != crawl.OrderBest || math.Abs(float64(was-r.Score)) < 0.002 {
		r.Score = was
		return nil
	}
	r.dirty = true
	x.recs[k] = r
	return x.move(k.key, r)
}

// learns notes a page that was fetched, for the model of links to learn from.
func (x *tx) learns(j *Job, k recKey, r *record, o *crawl.Outcome) error {
	if j.Identity.ByRule || crawl.Redirects(o.Status) {
		return nil
	}
	of, err := x.f.focused(j)
	if of == nil || err != nil {
		return err
	}
	r.read = nil
	of.lessons = append(of.lessons, k)
	of.next++
	return x.b.Set(lessonKey(j.ID, of.next), crawl.Page{Layer: k.Layer, Key: k.key}.Bytes(), nil)
}

// refocus ends an entry of jobs with a topic: models learn, queues are looked at anew, and sites that have had what they may have end.
func (x *tx) refocus() error {
	if err := x.study(); err != nil {
		return err
	}
	var ids []uint32
	for id, t := range x.tasks {
		if j := x.f.jobs[t.Job]; j.Identity.Topic != nil || x.f.full(j, t) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		t := x.f.tasks[id]
		if err := errors.Join(x.endFull(t), x.rescoreSome(x.f.jobs[t.Job], t)); err != nil {
			return err
		}
	}
	return nil
}

// endFull refuses what waits of a site that has had all that it may have.
func (x *tx) endFull(t *Task) error {
	j := x.f.jobs[t.Job]
	if !x.f.full(j, t) {
		return nil
	}
	for _, of := range x.f.sharers(t) {
		if err := x.endQueue(j, of); err != nil {
			return err
		}
	}
	return nil
}

// endQueue refuses what waits of a task.
func (x *tx) endQueue(j *Job, t *Task) error {
	if t.Queued() <= 0 {
		return nil
	}
	for k, r := range x.recs { // what this entry has added is not in the store yet
		if r != nil && r.Task == t.ID && r.State == crawl.Pending {
			if err := x.unqueue(k, r, crawl.ReasonSiteBudget); err != nil {
				return err
			}
		}
	}
	return x.trim(j, t)
}

// study has the models of links learn from pages that were fetched, where there are enough of them.
func (x *tx) study() error {
	for _, j := range x.f.jobs {
		o := j.focus
		if o == nil || int64(len(o.lessons)) < max(lessonsLeast, min(lessonsMost, o.links.Seen()/8)) {
			continue
		}
		for _, k := range o.lessons {
			r, err := x.record(k.space, k.key)
			if err != nil {
				return err
			}
			if r == nil || r.State != crawl.Fetched || r.Flags&(crawl.FlagSeed|crawl.FlagSitemap) != 0 {
				continue
			}
			t := x.f.tasks[r.Task]
			e, on := r.evidence(x.f.siteRecord(t)), 0.0
			if r.Counted&(countedRelevant|countedCopy) == countedRelevant {
				on = 1
			}
			o.links.Learn(&e, on)
			if c := t.Crawler(); c > 0 {
				o.of(c).Learn(&e, on)
			}
		}
		o.lessons = o.lessons[:0]
		prefix := lessonKey(j.ID, 0)[:5]
		if err := errors.Join(x.b.DeleteRange(prefix, after(prefix), nil), x.keepLinks(j, o)); err != nil {
			return err
		}
	}
	return nil
}

// keepLinks keeps the models of a job.
func (x *tx) keepLinks(j *Job, o *focus) error {
	for c := range 1 + len(o.own) {
		if err := x.b.Set(linksKey(j.ID, uint32(c)), o.of(uint32(c)).Marshal(), nil); err != nil {
			return err
		}
	}
	return nil
}

// rescoreSome goes on with scoring the URLs of a task anew, if the model has learned since they were scored.
func (x *tx) rescoreSome(j *Job, t *Task) error {
	if j.Identity.Topic == nil || j.Identity.Order != crawl.OrderBest || j.Identity.ByRule {
		return nil
	}
	o, err := x.f.focused(j) // also if this process has not needed it yet: whoever reads the log does the same with each entry
	if err != nil || o.links.Seen() == t.Scored || t.ScoreTo == 0 && o.links.Seen() < t.Scored+min(t.Scored/rescoreShare, rescoreMost) {
		return err
	}
	if err := x.readHeld(t); err != nil {
		return err
	}
	if t.ScoreTo == 0 {
		t.ScoreTo = o.links.Seen()
	}
	prefix := urlKey(recKey{t.space(), crawl.KeyOf(t.Site, "")})
	prefix = prefix[:len(prefix)-12]
	from := t.ScoreAt
	if from == nil {
		from = prefix
	}
	it, err := x.f.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: after(prefix)})
	if err != nil {
		return err
	}
	n, site := rescoreAtOnce, x.f.siteRecord(t)
	for it.First(); it.Valid() && err == nil; it.Next() {
		if n--; n < 0 {
			t.ScoreAt = bytes.Clone(it.Key())
			return it.Close()
		}
		if crawl.State(it.Value()[1]) != crawl.Pending {
			continue
		}
		k, ok := ofURLKey(it.Key())
		if !ok {
			continue
		}
		var r *record
		if r, err = x.stored(k, it.Value()); err == nil && r.State == crawl.Pending && r.Task == t.ID {
			err = x.rescore(j, k, r, site)
		}
	}
	t.Scored, t.ScoreTo, t.ScoreAt = t.ScoreTo, 0, nil
	return errors.Join(err, it.Close())
}

// stored is record for one that was found in the store, with what stands there. Who changes it puts it into x.recs.
func (x *tx) stored(k recKey, value []byte) (*record, error) {
	if r, ok := x.recs[k]; ok {
		return x.f.upToDate(r), nil
	}
	if r := x.f.recent.get(k); r != nil {
		return x.f.upToDate(r), nil
	}
	r, err := decodeRecord(value)
	if err == nil {
		x.f.recent.put(k, x.f.upToDate(r))
	}
	return r, err
}

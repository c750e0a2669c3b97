package frontier

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"argosy/internal/crawl"
)

// The crawlers of a job are numbered from 1. Where all remember together a URL has one record, and its task says whose it is; where each
// remembers for itself the owner of its layer does. Either way a URL changes hands only by an entry of the log.

// Account is what a crawler has bought and sold.
type Account struct {
	Bought int64 // URLs
	Sold   int64
	Paid   float64
	Earned float64
}

// Held is what a job's last market has left behind.
type Held struct {
	RanMS   int64   // how long the job had run
	Visited []int64 // pages of each crawler until then
	Sold    int     // URLs that changed hands
}

// Crawler returns whose URLs the task has, 0 if its job has one crawler only.
func (t *Task) Crawler() uint32 {
	if t.Owner > 0 && t.Search == 0 {
		return t.Owner
	}
	return t.Subset
}

// crawlers returns how many crawlers trade, or work beside each other; 0: there is one.
func (j *Job) crawlers() int {
	if j.Identity.Market == nil {
		return 0
	}
	return j.Identity.Market.Crawlers
}

// crawler returns the counts of one of a job's crawlers.
func (j *Job) crawler(c uint32) *crawl.Counts {
	for int(c) > len(j.each) {
		j.each = append(j.each, crawl.Counts{})
	}
	return &j.each[c-1]
}

// Crawler returns the counts of one of a job's crawlers, from 1.
func (j *Job) Crawler(c uint32) crawl.Counts { return *j.crawler(c) }

// Account returns what a crawler has bought and sold.
func (j *Job) Account(c uint32) Account {
	if int(c) > len(j.Accounts) {
		return Account{}
	}
	return j.Accounts[c-1]
}

func (j *Job) account(c uint32) *Account {
	for int(c) > len(j.Accounts) {
		j.Accounts = append(j.Accounts, Account{})
	}
	return &j.Accounts[c-1]
}

// home returns where the URLs of a crawler are: in which layer, and whose share of it.
func (j *Job) home(c uint32) (s space, subset uint32) {
	if j.Identity.Market.Layered() {
		return space{j.ID, crawl.Layer{Owner: c}}, 0
	}
	return space{job: j.ID}, c
}

// turn returns the crawler whose turn it is at number n.
func (j *Job) turn(n int64) uint32 {
	if j.crawlers() == 0 {
		return 0
	}
	return uint32(n%int64(j.crawlers())) + 1
}

// deals reports whether what a page names is dealt out to all crawlers, as the results of a search are: where crawlers are more than seeds what seeds and
// sitemaps name is.
func (j *Job) deals(parent *record, redirect, sitemap bool) bool {
	seeds := int64(len(j.Identity.Seeds))
	if j.Identity.List != nil {
		seeds = j.Identity.List.Count
	}
	return j.crawlers() > 0 && seeds < int64(j.crawlers()) && !redirect && !sitemap && parent.Flags&(crawl.FlagSeed|crawl.FlagSitemap) != 0
}

// dealt returns the task in whose name a link is taken in: that of the page, or, where it is dealt out, another crawler's.
func (x *tx) dealt(j *Job, t *Task, parent *record, k crawl.Key, l *crawl.Link) (*Task, error) {
	if !j.deals(parent, l.Redirect, l.Sitemap) {
		return t, nil
	}
	to, err := x.seedOf(j, k, l)
	if to == 0 {
		to = j.part(l.URL, l.Anchor, int64(binary.BigEndian.Uint32(k[8:])))
	}
	at, subset := j.home(to)
	return x.task(at, subset, t.Site), err
}

// seedOf returns the crawler whose seed a link leads to, 0 if it leads to none: who remembers for himself would have it again.
func (x *tx) seedOf(j *Job, k crawl.Key, l *crawl.Link) (uint32, error) {
	u, err := crawl.Parse(l.URL)
	if err != nil || !j.Identity.Market.Layered() {
		return 0, nil
	}
	for c := range uint32(j.crawlers()) {
		at, subset := j.home(c + 1)
		if own := x.f.tasks[x.f.byName[taskName{space: at, subset: subset, site: u.Site()}]]; own == nil || !own.Seed {
			continue
		}
		if r, err := x.record(at, k); err != nil || r != nil && r.Flags&crawl.FlagSeed != 0 {
			return c + 1, err
		}
	}
	return 0, nil
}

// sharers returns the tasks that have shares of a task's site, itself among them.
func (f *Frontier) sharers(t *Task) []*Task {
	if t.Subset == 0 {
		return []*Task{t}
	}
	var out []*Task
	for c := range f.jobs[t.Job].crawlers() {
		if id, ok := f.byName[taskName{space: t.space(), subset: uint32(c) + 1, site: t.Site}]; ok {
			out = append(out, f.tasks[id])
		}
	}
	return out
}

// atSite returns the counts of a task's site, with the shares of other crawlers that remember together.
func (f *Frontier) atSite(t *Task) crawl.Counts {
	if t.Subset == 0 {
		return t.Counts
	}
	var all crawl.Counts
	for _, share := range f.sharers(t) {
		all = all.Add(share.Counts)
	}
	return all
}

// Crawlers returns the crawlers of a job's tasks, where it has several.
func (f *Frontier) Crawlers(job uint32) map[uint32]uint32 {
	j := f.jobs[job]
	if j == nil || j.Identity.Market == nil {
		return nil
	}
	of := map[uint32]uint32{}
	for id, t := range f.tasks {
		if t.Job == job && t.Crawler() > 0 {
			of[id] = t.Crawler()
		}
	}
	return of
}

// skips reports whether a crawler that remembers for itself passes a link by, because it promises too little. On the way to its first page on
// the topic it passes none by: what leads there from a seed that is off the topic promises nothing.
func (x *tx) skips(j *Job, t, own *Task, r *record) (bool, error) {
	m := j.Identity.Market
	if !m.Layered() || t == nil || r.Flags&(crawl.FlagSeed|crawl.FlagSitemap) != 0 {
		return false, nil
	}
	if j.Crawler(t.Owner).Relevant == 0 && float64(r.Page) < j.Identity.Topic.Threshold {
		return false, nil
	}
	look := *r
	err := x.score(j, t.Owner, own, &look)
	return err == nil && float64(look.Score) < m.Understanding, err
}

// round takes in a market that was held: what was sold changes hands. One that is told of twice, or late, changes nothing.
func (x *tx) round(m *crawl.Round) error {
	j := x.f.jobs[m.Job]
	if j == nil || j.crawlers() == 0 || m.No != j.Rounds+1 {
		x.fx.Ignored = append(x.fx.Ignored, fmt.Sprintf("market %d of job %d", m.No, m.Job))
		return nil
	}
	x.whole = true
	x.jobs[j.ID] = j
	j.Rounds, j.Last = m.No, Held{RanMS: m.RanMS}
	for i := range m.Crawlers {
		j.Last.Visited = append(j.Last.Visited, m.Crawlers[i].Visited)
	}
	for i := range m.Lots {
		l := &m.Lots[i]
		if !l.Sold() || max(int(l.Buyer), int(l.Seller)) > j.crawlers() || l.Seller == 0 {
			continue
		}
		n := int64(0)
		for _, p := range l.Pages {
			ok, err := x.sell(j, l, p)
			if err != nil {
				return err
			}
			if ok {
				n++
			}
		}
		if n == 0 {
			continue
		}
		b := j.account(l.Buyer)
		b.Bought, b.Paid = b.Bought+n, b.Paid+float64(l.Price)
		s := j.account(l.Seller)
		s.Sold, s.Earned = s.Sold+n, s.Earned+float64(l.Price)
		j.Last.Sold += int(n)
	}
	x.fx.Markets = append(x.fx.Markets, j.ID)
	return nil
}

// sell hands a URL over, if it still waits in its seller's queue.
func (x *tx) sell(j *Job, l *crawl.Lot, p crawl.Page) (bool, error) {
	from, _ := j.home(l.Seller)
	k := recKey{from, p.Key}
	r, err := x.record(from, p.Key)
	if err != nil || r == nil || r.State != crawl.Pending {
		return false, err
	}
	t := x.f.tasks[r.Task]
	if t.Crawler() != l.Seller {
		return false, nil
	}
	if held, err := x.held(t, k.key, r); held || err != nil {
		return false, err
	}
	if err := x.dequeue(t, r.Place); err != nil {
		return false, err
	}
	at, subset := j.home(l.Buyer)
	to := x.task(at, subset, t.Site)
	if !j.Identity.Market.Layered() {
		t.Discovered--
		to.Discovered++
		x.tasks[t.ID] = t
		r.Task, r.Via, r.template, r.dirty = to.ID, 0, 0, true
		return true, x.enqueue(to, k.key, r)
	}
	x.refuse(t, r, crawl.ReasonSold)
	if old, err := x.record(at, p.Key); err != nil || old != nil {
		return false, err // he has it himself
	}
	own := &record{
		State: crawl.Pending, Flags: r.Flags, Hops: r.Hops, Depth: r.Depth, Task: to.ID, URL: r.URL, Parent: r.Parent, Anchor: r.Anchor, signs: r.signs, dirty: true,
	}
	if err := x.score(j, l.Buyer, to, own); err != nil {
		return false, err
	}
	x.remember(recKey{at, p.Key}, own)
	to.Discovered++
	return true, x.enqueue(to, p.Key, own)
}

// Offer is a URL that waits, as a market sees it.
type Offer struct {
	Page   crawl.Page
	URL    string
	Site   string
	Score  float64
	Values []float64 // to each crawler
}

// offerTasks bounds in how many of a crawler's tasks its best URLs are looked for.
const offerTasks = 200

// Offers returns the n best URLs that wait for a crawler, the best first, and what each is worth to all crawlers: what its links promise by
// all that was learned and by what the crawler has learned itself, half and half; where each remembers for itself by the latter, and nothing
// if it knows the URL. Seeds and sitemaps are not traded. learned is how many pages had been learned from.
func (f *Frontier) Offers(job, crawler uint32, n int) (out []Offer, learned int64, err error) {
	j := f.jobs[job]
	o, err := f.focused(j)
	if err != nil {
		return nil, 0, err
	}
	look := finder{db: f.db}
	if out, err = f.best(&look, job, crawler, n, func(r *record) bool { return r.Flags&(crawl.FlagSeed|crawl.FlagSitemap) == 0 }); err != nil {
		return nil, 0, errors.Join(err, look.close())
	}
	for i := range out {
		if err = f.value(&look, j, o, &out[i]); err != nil {
			break
		}
	}
	if err == nil && j.Identity.Market.Speed > 0 {
		f.bySpeed(j, out)
	}
	return out, o.links.Seen(), errors.Join(err, look.close())
}

// best returns the n URLs that promise most of those that wait for a crawler and that are wanted.
func (f *Frontier) best(look *finder, job, crawler uint32, n int, want func(*record) bool) (out []Offer, err error) {
	var tasks []*Task
	for _, t := range f.tasks {
		if t.Job == job && t.Crawler() == crawler && t.State == "" && t.Queued() > 0 {
			tasks = append(tasks, t)
		}
	}
	slices.SortFunc(tasks, func(a, b *Task) int { return cmp.Or(cmp.Compare(a.head, b.head), cmp.Compare(a.ID, b.ID)) })
	for _, t := range tasks[:min(offerTasks, len(tasks))] {
		if out, err = f.offersOf(look, t, n, out, want); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out, func(a, b Offer) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.URL, b.URL))
	})
	return out[:min(n, len(out))], nil
}

// offersOf adds the first n URLs of a task's queue that are wanted.
func (f *Frontier) offersOf(look *finder, t *Task, n int, out []Offer, want func(*record) bool) ([]Offer, error) {
	prefix := queueKey(t.ID, 0)[:5]
	it, err := f.db.NewIter(&pebble.IterOptions{LowerBound: queueKey(t.ID, t.head), UpperBound: after(prefix)})
	if err != nil {
		return nil, err
	}
	for it.First(); it.Valid() && n > 0 && err == nil; it.Next() {
		var r *record
		k := recKey{t.space(), crawl.Key(it.Value())}
		if r, err = f.load1(look, k); err != nil || r == nil || r.State != crawl.Pending || !want(r) {
			continue
		}
		out = append(out, Offer{Page: crawl.Page{Layer: k.Layer, Key: k.key}, URL: r.URL, Site: t.Site, Score: float64(r.Score)})
		n--
	}
	return out, errors.Join(err, it.Close())
}

// value says what a URL is worth to each crawler.
func (f *Frontier) value(look *finder, j *Job, o *focus, of *Offer) error {
	r, err := f.load1(look, recKey{space{j.ID, of.Page.Layer}, of.Page.Key})
	if err != nil || r == nil {
		return err
	}
	of.Values = make([]float64, j.crawlers())
	said := r.evidence(siteRecord{})
	signs, learned := o.signsOf(j, r, &said), !j.Identity.ByRule
	for c := range of.Values {
		at, subset := j.home(uint32(c) + 1)
		e := r.evidence(f.siteRecord(f.tasks[f.byName[taskName{space: at, subset: subset, site: of.Site}]]))
		if own := o.of(uint32(c) + 1); !j.Identity.Market.Layered() {
			of.Values[c] = (of.Score + own.ScoreBy(signs, &e, learned)) / 2
			continue
		} else if of.Page.Owner != uint32(c)+1 {
			known, err := f.load1(look, recKey{at, of.Page.Key})
			if err != nil {
				return err
			}
			if known != nil {
				continue
			}
			of.Values[c] = own.ScoreBy(signs, &e, learned)
		} else {
			of.Values[c] = of.Score
		}
	}
	return nil
}

package frontier

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"argosy/internal/crawl"
	"argosy/internal/page/topic"
)

// Judged is what a job with a topic makes of a URL.
type Judged struct {
	URL     string            `json:"url"`
	State   string            `json:"state"`
	Reason  string            `json:"reason,omitempty"`
	Crawler uint32            `json:"crawler,omitempty"` // whose it is, of several
	Depth   int               `json:"depth"`
	Parent  string            `json:"parent,omitempty"` // the page that named it first
	Anchor  string            `json:"anchor,omitempty"`
	Around  string            `json:"around,omitempty"`
	Page    float64           `json:"page"`  // score of the best page that names it
	Named   int               `json:"named"` // pages on the topic that name it
	Off     int               `json:"off"`   // pages in a row on the way to it that are off the topic
	Score   float64           `json:"score"`
	OnTopic bool              `json:"on_topic"`
	Copy    bool              `json:"copy,omitempty"`  // its text is that of a page that was had before
	Link    topic.LinkVerdict `json:"link"`            // what its links say, by the model as it is now
	Dealt   *Dealt            `json:"dealt,omitempty"` // nil: it came to its crawler with the page that names it, or the job has one crawler
	Worth   []Worth           `json:"worth,omitempty"` // to each crawler, if it waits and may be sold
	Topic   *crawl.Topic      `json:"-"`
	At      crawl.Page        `json:"-"`
}

// Dealt is how a URL came to a crawler that was not found by one.
type Dealt struct {
	By      crawl.Division `json:"by,omitempty"`      // empty: in turn
	Crawler uint32         `json:"crawler,omitempty"` // 0: it went by what the first link to it said, and that is not known any more
	Words   []string       `json:"words,omitempty"`   // of the topic that it names and that are the crawler's
}

// Worth is what a URL is worth to a crawler, as a market would have it now.
type Worth struct {
	Crawler uint32  `json:"crawler"`
	Value   float64 `json:"value"`
	Profile float64 `json:"profile,omitempty"` // the same without regard for speed, where that counts
	SiteMS  float64 `json:"site_ms,omitempty"` // what a page of the site has taken it; 0: it has had none
}

// ErrNoTopic says that a job has no topic.
var ErrNoTopic = errors.New("the crawl has no topic")

// Judge explains what a job makes of a URL; nil if it does not know it.
func (f *Frontier) Judge(job uint32, at crawl.Page) (*Judged, error) {
	j := f.jobs[job]
	if j == nil {
		return nil, fmt.Errorf("no job %d", job)
	}
	o, err := f.focused(j)
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, ErrNoTopic
	}
	look := finder{db: f.db}
	r, at, err := f.judgedOf(&look, j, at)
	if err = errors.Join(err, look.close()); err != nil || r == nil {
		return nil, err
	}
	names := f.Names(job)
	parent, err := names.URL(at.Layer, r.Parent)
	for c := 0; parent == "" && err == nil && at.Owner > 0 && c < j.crawlers(); c++ { // it was dealt out or sold: another one has its parent
		parent, err = names.URL(crawl.Layer{Owner: uint32(c) + 1}, r.Parent)
	}
	if err = errors.Join(err, names.Close()); err != nil {
		return nil, err
	}
	e := r.evidence(f.siteRecord(f.tasks[r.Task]))
	out := &Judged{
		URL: r.URL, State: r.State.String(), Reason: string(r.Reason), Crawler: f.crawlerOf(r), Depth: int(r.Depth), Parent: parent, Anchor: r.Anchor, Around: r.Around,
		Page: float64(r.Page), Named: int(r.Named), Off: int(r.Off), Score: float64(r.Score), OnTopic: r.Counted&countedRelevant != 0, Copy: r.Counted&countedCopy != 0,
		Link: o.of(at.Owner).Explain(&e, !j.Identity.ByRule), Topic: j.Identity.Topic, At: at,
	}
	return out, f.traded(j, o, r, out)
}

// traded says of a URL how it came to its crawler, and what it is worth to all, where there are several.
func (f *Frontier) traded(j *Job, o *focus, r *record, out *Judged) (err error) {
	if j.crawlers() == 0 {
		return nil
	}
	look := finder{db: f.db}
	defer func() { err = errors.Join(err, look.close()) }()
	if out.Dealt, err = f.dealtTo(&look, j, r, out); err != nil {
		return err
	}
	if r.State != crawl.Pending || r.Flags&(crawl.FlagSeed|crawl.FlagSitemap) != 0 || j.Identity.Market.Mode == crawl.MarketAlone {
		return nil
	}
	of := Offer{Page: out.At, URL: r.URL, Site: f.tasks[r.Task].Site, Score: float64(r.Score)}
	if err := f.value(&look, j, o, &of); err != nil {
		return err
	}
	profile := slices.Clone(of.Values)
	if j.Identity.Market.Speed > 0 {
		f.bySpeed(j, []Offer{of})
	}
	for c := range of.Values {
		w := Worth{Crawler: uint32(c) + 1, Value: of.Values[c]}
		if j.Identity.Market.Speed > 0 {
			w.Profile, w.SiteMS = profile[c], f.SiteMS(j, w.Crawler, of.Site)
		}
		out.Worth = append(out.Worth, w)
	}
	return nil
}

// dealtTo says which crawler a seed, or what was dealt out as seeds are, was given; nil if it is neither.
func (f *Frontier) dealtTo(look *finder, j *Job, r *record, of *Judged) (*Dealt, error) {
	d := &Dealt{By: j.Identity.Market.Divide, Crawler: of.Crawler} // seeds are not sold
	if r.Flags&crawl.FlagSeed == 0 || r.Hops > 0 {
		parent, _, err := f.judgedOf(look, j, crawl.Page{Key: r.Parent})
		if err != nil || parent == nil || !j.deals(parent, r.Hops > 0, r.Flags&crawl.FlagSitemap != 0) {
			return nil, err
		}
		if d.By != crawl.DivideTurn && parent.Score != r.Page { // a better page has said something else of it since: what it was dealt by is not known any more
			d.Crawler = 0
			return d, nil
		}
		d.Crawler = j.part(r.URL, r.Anchor, int64(binary.BigEndian.Uint32(of.At.Key[8:])))
	}
	if d.By == crawl.DivideKeyword {
		d.Words = j.keywordsIn(d.Crawler, r.URL, r.Anchor)
	}
	return d, nil
}

// judgedOf returns the record of a URL, and where it is: where each crawler remembers for itself that of the first one that has fetched it,
// else of the first that knows it.
func (f *Frontier) judgedOf(look *finder, j *Job, at crawl.Page) (*record, crawl.Page, error) {
	if at.Owner > 0 || !j.Identity.Market.Layered() {
		r, err := f.load1(look, recKey{space{j.ID, at.Layer}, at.Key})
		return r, at, err
	}
	var first *record
	for c := range uint32(j.crawlers()) {
		owned := crawl.Layer{Owner: c + 1}
		r, err := f.load1(look, recKey{space{j.ID, owned}, at.Key})
		switch {
		case err != nil || r != nil && r.State == crawl.Fetched:
			at.Layer = owned
			return r, at, err
		case r != nil && first == nil:
			first, at.Layer = r, owned
		}
	}
	return first, at, nil
}

// crawlerOf returns whose a URL is, 0 if its job has one crawler only.
func (f *Frontier) crawlerOf(r *record) uint32 {
	if t := f.tasks[r.Task]; t != nil {
		return t.Crawler()
	}
	return 0
}

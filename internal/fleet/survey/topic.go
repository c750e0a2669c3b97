package survey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
)

// Stats are the figures of a topical crawl: the published ones under their names, and those that the field uses. A page is visited if
// it was had as HTML with status 200; it is saved if it is on the topic, whole, and not the same bytes as one saved before.
type Stats struct {
	Topic     string  `json:"topic"`
	Threshold float64 `json:"threshold"`
	State     string  `json:"state"`

	VC   int64 `json:"vc"`   // pages visited
	VUC  int64 `json:"vuc"`  // pages that should have been saved; as published, those visited
	CC   int64 `json:"cc"`   // visited pages on the topic
	DTOC int64 `json:"dtoc"` // pages saved
	RC   int64 `json:"rc"`   // pages on the topic that were had again

	CR  float64 `json:"cr"`  // CC/VC: precision
	RCR float64 `json:"rcr"` // DTOC/VUC: what is published as recall
	RR  float64 `json:"rr"`  // RC/VC: repetition

	Harvest float64   `json:"harvest"` // different pages on the topic a fetch, whatever came of the fetch
	Fetched int64     `json:"fetched"`
	Curve   []Harvest `json:"curve"` // over the crawl, in equal steps
	AUC     float64   `json:"auc"`   // chance that of two pages, one on the topic and one not, the former was expected to be; 0.5 is chance
	Ranked  int64     `json:"ranked"`

	Market *MarketStats `json:"market,omitempty"` // of a crawl with several crawlers
}

// MarketStats are the figures of crawlers that trade, or that work beside each other.
type MarketStats struct {
	Mode     crawl.MarketMode `json:"mode"`
	Markets  int64            `json:"markets"`
	Unknown  int64            `json:"unknown,omitempty"` // of them, those of which the ledger, which was made anew, does not tell: Offered, Worth and TookOver are without them
	Offered  int64            `json:"offered"`           // URLs, in all markets
	Sold     int64            `json:"sold"`              // URLs that changed hands
	Paid     float64          `json:"paid"`
	Worth    float64          `json:"worth"` // of what was got, to those who got it
	TookOver int64            `json:"took_over"`
	Crawlers []CrawlerStats   `json:"crawlers"`
}

// CrawlerStats are the figures of a crawler: they add up to VC, CC and what was sold.
type CrawlerStats struct {
	Visited int64   `json:"visited"` // VC
	Saved   int64   `json:"saved"`   // CC
	Bought  int64   `json:"bought"`  // URLs
	Sold    int64   `json:"sold"`
	Paid    float64 `json:"paid"`
	Earned  float64 `json:"earned"`
}

// Harvest is how a crawl did up to a number of pages.
type Harvest struct {
	Pages    int64 `json:"pages"`
	Relevant int64 `json:"relevant"`
}

// curveSteps is how many steps a curve has.
const curveSteps = 20

// ErrNoTopic says that a crawl has no topic.
var ErrNoTopic = errors.New("the crawl has no topic: argosy crawl --topic gives it one")

// TopicStats reads the figures of a topical crawl from its ledger, and those of its crawlers from its frontier.
func TopicStats(ctx context.Context, dir, place string, job uint32) (*Stats, error) {
	if place == "" {
		place = filepath.Join(dir, outdir.LedgerFile)
	}
	l, err := ledger.Open(ctx, place)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return StatsOf(ctx, l, job, func() (m *MarketStats, err error) {
		return m, assemble.View(ctx, assemble.DefaultConfig(dir), func(f *frontier.Frontier, _ bool) error {
			if j := f.Job(job); j != nil {
				m = MarketOf(j)
			}
			return nil
		})
	})
}

// StatsOf reads the figures of a topical job from a ledger; market returns those of its crawlers, and is called if it has several.
func StatsOf(ctx context.Context, l *ledger.Ledger, job uint32, market func() (*MarketStats, error)) (*Stats, error) {
	d, err := l.Describe(ctx, job)
	switch {
	case err != nil:
		return nil, err
	case d == nil:
		return nil, fmt.Errorf("no job %d", job)
	case d.Identity.Topic == nil:
		return nil, ErrNoTopic
	}
	s := &Stats{Topic: d.Identity.Topic.About, Threshold: d.Identity.Topic.Threshold, State: d.State}
	if d.Identity.Market != nil {
		if s.Market, err = market(); err == nil && s.Market != nil {
			err = s.Market.told(ctx, l, job)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, s.count(ctx, l, job)
}

// count adds up the pages of a job.
func (s *Stats) count(ctx context.Context, l *ledger.Ledger, job uint32) error {
	var pages []bool // on the topic, in the order in which they came
	var ranks []ranked
	digests := map[string]bool{}
	err := l.Pages(ctx, job, func(p *ledger.Page) error {
		if p.State != crawl.Fetched.String() {
			return nil
		}
		s.Fetched++
		if !p.HTML || p.Status != 200 {
			return nil
		}
		s.VC++
		on := p.Score >= s.Threshold
		pages = append(pages, on)
		if p.Expected > 0 && p.Expected < 0.999 { // seeds and sitemaps come first whatever is expected of them
			ranks = append(ranks, ranked{p.Expected, on})
		}
		if !on {
			return nil
		}
		s.CC++
		switch {
		case digests[p.Digest]:
			s.RC++
		case p.Truncated == "":
			s.DTOC++
		}
		digests[p.Digest] = true
		return nil
	})
	if err != nil {
		return err
	}
	s.VUC = s.VC
	if s.VC > 0 {
		s.CR, s.RCR, s.RR = ratio(s.CC, s.VC), ratio(s.DTOC, s.VUC), ratio(s.RC, s.VC)
		s.Harvest = ratio(s.CC-s.RC, s.Fetched)
	}
	s.Curve = curve(pages)
	s.AUC, s.Ranked = auc(ranks), int64(len(ranks))
	return nil
}

// MarketOf returns the figures of a job's crawlers as the frontier has them now; nil if it has one only.
func MarketOf(j *frontier.Job) *MarketStats {
	m := j.Identity.Market
	if m == nil {
		return nil
	}
	out := &MarketStats{Mode: m.Mode, Markets: int64(j.Rounds)}
	for c := range m.Crawlers {
		n, a := j.Crawler(uint32(c)+1), j.Account(uint32(c)+1)
		out.Crawlers = append(out.Crawlers, CrawlerStats{Visited: n.Pages, Saved: n.Relevant, Bought: a.Bought, Sold: a.Sold, Paid: a.Paid, Earned: a.Earned})
		out.Sold, out.Paid = out.Sold+a.Bought, out.Paid+a.Paid
	}
	return out
}

// told adds what the ledger tells of the markets.
func (m *MarketStats) told(ctx context.Context, l *ledger.Ledger, job uint32) error {
	known := int64(0)
	err := l.Markets(ctx, job, func(h ledger.Held) error {
		known++
		m.Offered, m.Worth = m.Offered+h.Offered, m.Worth+h.Worth
		if h.TookOver > 0 {
			m.TookOver++
		}
		return nil
	})
	m.Unknown = max(0, m.Markets-known)
	return err
}

func ratio(a, b int64) float64 { return float64(a) / float64(max(1, b)) }

func curve(on []bool) (out []Harvest) {
	var relevant int64
	step := max(1, (len(on)+curveSteps-1)/curveSteps)
	for i, is := range on {
		if is {
			relevant++
		}
		if (i+1)%step == 0 || i+1 == len(on) {
			out = append(out, Harvest{int64(i + 1), relevant})
		}
	}
	return out
}

type ranked struct {
	expected float64
	on       bool
}

// auc is the area under the receiver's curve, by ranks; ties count half (Mann and Whitney, 1947). 0 where there is one side only.
func auc(r []ranked) float64 {
	slices.SortFunc(r, func(a, b ranked) int { return cmp.Compare(a.expected, b.expected) })
	sum, on := 0.0, 0
	for i := 0; i < len(r); {
		j := i
		for j < len(r) && r[j].expected == r[i].expected {
			j++
		}
		for k := i; k < j; k++ {
			if r[k].on {
				sum += float64(i+j+1) / 2
				on++
			}
		}
		i = j
	}
	off := len(r) - on
	if on == 0 || off == 0 {
		return 0
	}
	return (sum - float64(on)*float64(on+1)/2) / (float64(on) * float64(off))
}

package coordinator

import (
	"argosy/internal/crawl"
	"argosy/internal/predict"
	"argosy/internal/schedule"
)

// learner gives the book what reports tell: how fast a node gets the pages of a site, how soon the site answers it, and
// how many requests give a page. It costs no request of its own.
type learner struct {
	book *predict.Book
	last map[uint32]string // node that had a task last
}

func newLearner(st schedule.Strategy) *learner {
	cfg := predict.Config{}
	if m, ok := st.(schedule.Measurer); ok {
		cfg = m.Measures().Book
	}
	return &learner{book: predict.New(cfg), last: map[uint32]string{}}
}

// node returns a node's number in the book, and says which others it is like.
func (l *learner) node(id string, labels map[string]string) int {
	n := l.book.Node(id)
	if labels["city"] != "" || labels["provider"] != "" {
		l.book.SetGroup(n, labels["city"]+"/"+labels["provider"])
	}
	return n
}

// part takes in what a part says. at is the time at which the log stored it, Unix ms.
func (l *learner) part(node, siteName string, p *crawl.Part, at int64) {
	if len(p.Outcomes) == 0 {
		return
	}
	n, site := l.book.Node(node), l.book.Site(siteName)
	var r predict.Report
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		switch o.State {
		case crawl.Fetched:
			r.All++
			if o.Status < 400 {
				r.Good++
			}
			spent := 0.0
			for _, us := range o.Timing[1:] {
				spent += float64(us) / 1e6
			}
			r.Bits += 8 * float64(o.Bytes)
			r.Seconds += spent
			if ms := float64(o.Timing[1]+o.Timing[4]) / 1000; ms > 0 {
				l.book.Delay(n, site, ms)
			}
		case crawl.Failed:
			r.All++
		}
	}
	if r.All == 0 {
		return
	}
	l.book.Reported(n, site, r, at)
	l.book.Took(predict.Kind{Site: site, Node: n}, r.Seconds, r.Good, [3]float64{0, 0, r.Bits / max(r.Seconds, 1e-3)})
}

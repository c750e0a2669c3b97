package coordinator

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
)

// Forecast compares what a strategy expected of a node and a site with what was measured next.
type Forecast struct {
	At       int64   `json:"at"` // Unix ms
	Node     string  `json:"node"`
	Site     string  `json:"site"`
	What     string  `json:"what"`     // speed: bits a second while pages are had; delay: ms
	Source   string  `json:"source"`   // how the expectation was known: default, predicted or measured
	Expected float64 `json:"expected"` // before it was measured
	Sigma    float64 `json:"sigma"`    // standard deviation of the logarithm of Was around it, as the strategy believed
	Was      float64 `json:"was"`
}

// What a forecast is of.
const (
	speedForecast = "speed"
	delayForecast = "delay"
)

// maxForecasts bounds how many forecasts of each kind a strategy's reader remembers.
const maxForecasts = 500

// forecasts are the last ones of a reader, by what they are of.
type forecasts struct {
	last map[string][]Forecast // rings
	next map[string]int
}

func (f *forecasts) add(v Forecast) {
	if f.last == nil {
		f.last, f.next = map[string][]Forecast{}, map[string]int{}
	}
	if ring := f.last[v.What]; len(ring) < maxForecasts {
		f.last[v.What] = append(ring, v)
		return
	}
	f.last[v.What][f.next[v.What]] = v
	f.next[v.What] = (f.next[v.What] + 1) % maxForecasts
}

// all returns them, the oldest first.
func (f *forecasts) all() []Forecast {
	out := []Forecast{}
	for _, what := range []string{speedForecast, delayForecast} {
		out = append(out, f.last[what][f.next[what]:]...)
		out = append(out, f.last[what][:f.next[what]]...)
	}
	return out
}

// foretold has the readers say what they expect of what a fact tells, before it is learned. Of a delay that is done once for each pair:
// every lease tells one.
func (k *lore) foretold(f *learn.Fact) {
	record := k.learned.Record()
	if f.Kind != learn.Report && f.Kind != learn.Delay || !record.Knows(f.Node) || !record.KnowsSite(f.Site) {
		return
	}
	node, site := record.Node(f.Node), record.Site(f.Site)
	v := Forecast{At: f.At, Node: f.Node, Site: f.Site, What: speedForecast, Was: f.Bits / f.Seconds}
	if f.Kind == learn.Delay {
		v.What, v.Was = delayForecast, 1000*f.Seconds
		if record.Timed(node, site) {
			return
		}
	}
	if !(v.Was > 0) || math.IsInf(v.Was, 0) {
		return
	}
	for _, r := range k.readers {
		e := predict.Figure{}
		if v.What == delayForecast {
			e = r.book.Latency(node, site)
		} else {
			e = r.book.Rate(node, site, f.At)
			e.Sigma = math.Hypot(e.Sigma, math.Sqrt(record.Noise())) // one report differs from what its pair is like on average
		}
		v.Expected, v.Sigma, v.Source = e.Value, e.Sigma, e.Source.String()
		r.told.add(v)
	}
}

// Accuracy says how near forecasts that were known in one way were to what was measured next.
type Accuracy struct {
	What   string  `json:"what"`
	Source string  `json:"source"`
	N      int     `json:"n"`
	Factor float64 `json:"factor"` // by which half of them were off at most; 1 is exact
	Within float64 `json:"within"` // share that was within one sigma; about 0.68 if the strategy knows how sure it is
}

// accuracy sums forecasts up.
func accuracy(all []Forecast) []Accuracy {
	type way struct{ what, source string }
	off, within := map[way][]float64{}, map[way]int{}
	for i := range all {
		f := &all[i]
		w, x := way{f.What, f.Source}, math.Abs(math.Log(f.Was/f.Expected))
		if off[w] = append(off[w], x); x <= f.Sigma {
			within[w]++
		}
	}
	out := make([]Accuracy, 0, len(off))
	for _, what := range []string{speedForecast, delayForecast} {
		for source := predict.Default; source <= predict.Drawn; source++ {
			w := way{what, source.String()}
			if xs := off[w]; len(xs) > 0 {
				slices.Sort(xs)
				out = append(out, Accuracy{w.what, w.source, len(xs), math.Exp(xs[(len(xs)-1)/2]), float64(within[w]) / float64(len(xs))})
			}
		}
	}
	return out
}

// Located is a node or a site on maps.
type Located struct {
	Name     string       `json:"name"`
	Landmark bool         `json:"landmark,omitempty"` // measures for the others
	Spot     predict.Spot `json:"spot"`               // by network coordinates
	Placed   bool         `json:"placed"`             // somebody says where on earth it is
	Lat      float64      `json:"lat"`
	Lon      float64      `json:"lon"`
	Region   string       `json:"region,omitempty"`
}

// Measurements are what the strategy of a job knows by measuring, and how well it foretold it.
type Measurements struct {
	Strategy  string            `json:"strategy"`
	Measured  schedule.Measured `json:"measured"` // besides what leases tell
	Nodes     []Located         `json:"nodes"`
	Sites     []Located         `json:"sites"`     // of the job, those with most URLs
	Forecasts []Forecast        `json:"forecasts"` // the last ones, since the coordinator leads
	Accuracy  []Accuracy        `json:"accuracy"`  // of those
}

// maxLocated bounds how many sites of a job are shown on maps.
const maxLocated = 200

// Measurements returns what the strategy of a job knows by measuring.
func (c *Coordinator) Measurements(ctx context.Context, job uint32) (m Measurements, err error) {
	rows, _, err := c.FindTasks(ctx, TasksQuery{Job: job, Sort: "fetched", Limit: maxLocated})
	if err != nil {
		return m, err
	}
	var sites []string
	for i := range rows {
		if !slices.Contains(sites, rows[i].Site) {
			sites = append(sites, rows[i].Site)
		}
	}
	err = c.desk.ask(ctx, func(time.Time) error {
		j := c.f.Job(job)
		if j == nil {
			return fmt.Errorf("%w: %d", ErrNoJob, job)
		}
		r, err := c.lore.reader(orElse(j.Placing.Strategy, c.cfg.Strategy), &j.Placing)
		if err != nil {
			return err
		}
		m = Measurements{Strategy: r.strategy.Name(), Measured: c.Measured(), Forecasts: r.told.all()}
		book, marks, how := c.lore.shown(r, j)
		m.Measured.Landmarks, m.Measured.Chosen = marks, how
		c.locate(&m, book, j, sites)
		return nil
	})
	m.Accuracy = accuracy(m.Forecasts)
	return m, err
}

// locate says where nodes and sites are.
func (c *Coordinator) locate(m *Measurements, book *predict.Book, j *frontier.Job, sites []string) {
	record := c.lore.learned.Record()
	m.Nodes, m.Sites = []Located{}, []Located{}
	var ofNodes, ofSites []int // their numbers, of those that have one
	for _, id := range slices.Sorted(maps.Keys(c.fleet.nodes)) {
		n := c.fleet.nodes[id]
		v := Located{Name: id, Landmark: slices.Contains(m.Measured.Landmarks, id), Region: n.info.Labels["region"]}
		v.Lat, v.Lon, v.Placed = schedule.Position(n.info.Labels)
		m.Nodes = append(m.Nodes, v)
	}
	for _, name := range sites {
		at := c.place(j, name, c.f.Site(name), c.clock.MS(c.sinks.heard))
		m.Sites = append(m.Sites, Located{Name: name, Placed: at.Located, Lat: at.Lat, Lon: at.Lon, Region: at.Region})
	}
	for i := range m.Nodes {
		if record.Knows(m.Nodes[i].Name) {
			ofNodes = append(ofNodes, record.Node(m.Nodes[i].Name))
		}
	}
	for i := range m.Sites {
		if record.KnowsSite(m.Sites[i].Name) {
			ofSites = append(ofSites, record.Site(m.Sites[i].Name))
		}
	}
	nodeSpots, siteSpots := book.Spots(ofNodes, ofSites)
	for i := range m.Nodes {
		if record.Knows(m.Nodes[i].Name) {
			m.Nodes[i].Spot, nodeSpots = nodeSpots[0], nodeSpots[1:]
		}
	}
	for i := range m.Sites {
		if record.KnowsSite(m.Sites[i].Name) {
			m.Sites[i].Spot, siteSpots = siteSpots[0], siteSpots[1:]
		}
	}
}

// place says where a site is: by its job, else by its address, as far as that is known at a time (Unix ms).
func (c *Coordinator) place(j *frontier.Job, name string, site *crawl.Site, now int64) (at schedule.Place) {
	if c.cfg.Places != nil && site.AddrExpiry > now && len(site.Addrs) > 0 {
		at = c.cfg.Places.Place(site.Addrs[0])
	}
	if p, ok := j.Placing.Place(name); ok {
		at.Lat, at.Lon, at.Located = p.Lat, p.Lon, p.Located()
		if p.Region != "" {
			at.Region = p.Region
		}
	}
	return at
}

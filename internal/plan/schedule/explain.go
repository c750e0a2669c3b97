package schedule

import (
	"cmp"
	"slices"
	"sort"

	"argosy/internal/crawl"
	"argosy/internal/plan/predict"
)

// Decision says why a task went where it went: a record of what the real filters and costs said while the strategy
// ran, not a second computation.
type Decision struct {
	At         int64       `json:"at"` // Unix ms
	Job        uint32      `json:"job,omitempty"`
	Task       uint32      `json:"task"`
	Lease      uint64      `json:"lease,omitempty"`   // that came of it
	Attempt    uint32      `json:"attempt,omitempty"` // of the task, that lease is
	Site       string      `json:"site"`
	Strategy   string      `json:"strategy"`
	Cost       string      `json:"cost,omitempty"`   // name of the cost model
	Unit       string      `json:"unit,omitempty"`   // of the costs
	Solver     string      `json:"solver,omitempty"` // that chose
	Node       string      `json:"node,omitempty"`   // empty: the task waits
	Waits      crawl.Kind  `json:"waits,omitempty"`
	Probe      string      `json:"probe,omitempty"` // bandwidth or delay: the lease measures that, and fetches nothing
	Why        crawl.Kind  `json:"why,omitempty"`   // where no candidates were compared
	Filtered   []Filtered  `json:"filtered,omitempty"`
	Candidates []Candidate `json:"candidates,omitempty"` // the cheapest first
	Omitted    int         `json:"omitted,omitempty"`    // candidates beyond those that are kept
	Measured   *Measured   `json:"measured,omitempty"`   // so far
	Known      []Known     `json:"known,omitempty"`      // what nodes have measured of the site, the latest first
	Passed     *Passed     `json:"passed,omitempty"`     // the cheapest candidate, if it did not get the task
	Shadow     *Shadowed   `json:"shadow,omitempty"`     // where the strategy that plans beside this one differs
}

// What a probe measures.
const (
	ProbeBandwidth = "bandwidth"
	ProbeDelay     = "delay"
)

// Reasons of decisions for which no candidates were compared.
const (
	WhyBound     crawl.Kind = "bound-to"       // its search runs there
	WhyMany      crawl.Kind = "many"           // too many pairs for candidates to be kept
	WhyEarlier   crawl.Kind = "earlier"        // so long ago that nothing of it is kept, or by a version that kept nothing
	WhyAll       crawl.Kind = "probe-all"      // each pair is measured
	WhyFew       crawl.Kind = "probe-few"      // some pairs of each site are
	WhyLandmarks crawl.Kind = "probe-landmark" // each pair of a landmark and a site is
	WhyWorth     crawl.Kind = "probe-worth"    // pairs are that are worth more to know than it costs
)

// Why returns the reason for which a pair is measured before it is used.
func (e Extent) Why() crawl.Kind {
	return map[Extent]crawl.Kind{All: WhyAll, Few: WhyFew, Landmark: WhyLandmarks, Worth: WhyWorth}[e]
}

// Shadowed is what a strategy that plans beside the real one would have done.
type Shadowed struct {
	Strategy string `json:"strategy"`
	Node     string `json:"node,omitempty"` // empty: the task would wait
}

// Known is what a node has measured of a site, and when.
type Known struct {
	Node string `json:"node"`

	predict.Heard
}

// Passed says why the candidate that costs least did not get a task.
type Passed struct {
	Node      string   `json:"node"`
	Places    int      `json:"places"`              // of the node
	Taken     int      `json:"taken"`               // of them, by leases and by this plan
	Held      []string `json:"held,omitempty"`      // sites whose leases and probes ran there before this plan, the first few
	By        []string `json:"by,omitempty"`        // sites that got some in this plan, the first few
	Place     float64  `json:"place,omitempty"`     // price of a place, useful Mbit/s
	Bandwidth float64  `json:"bandwidth,omitempty"` // price of its bandwidth, useful Mbit for one that it carries
}

// Scarce reports whether the node had too little room, or asked a price for it. Otherwise its places say nothing of why.
func (p *Passed) Scarce() bool { return p.Taken >= p.Places || p.Place > 0 || p.Bandwidth > 0 }

// Filtered is a node that a filter took out.
type Filtered struct {
	Node   string     `json:"node"`
	Filter string     `json:"filter"`
	Reason crawl.Kind `json:"reason"`
	Detail string     `json:"detail,omitempty"`
}

// Candidate is a node whose cost was asked for.
type Candidate struct {
	Node  string   `json:"node"`
	Cost  *float64 `json:"cost"` // null: forbidden
	Parts []Part   `json:"parts,omitempty"`
}

// Part is a figure that went into a cost, and how it is known.
type Part struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit,omitempty"`
	Value  float64 `json:"value"`
	Sigma  float64 `json:"sigma,omitempty"`
	Source string  `json:"source"`
}

// keepCandidates bounds a decision.
const keepCandidates = 16

type pairKey struct{ task, node int }

// recorder notes what filters and costs say. A cost that is asked for again replaces what it said before.
type recorder struct {
	s     *Snapshot
	out   map[int][]Filtered
	costs map[pairKey]*Candidate
	order map[int][]int // nodes of each task in the order they were asked for
	open  *Candidate
}

func newRecorder(s *Snapshot) *recorder {
	return &recorder{s: s, out: map[int][]Filtered{}, costs: map[pairKey]*Candidate{}, order: map[int][]int{}}
}

func (r *recorder) filtered(task, node int, filter string, v crawl.Verdict) {
	r.out[task] = append(r.out[task], Filtered{r.s.Nodes[node].ID, filter, v.Reason, v.Detail})
}

func (r *recorder) begin(task, node int) {
	k := pairKey{task, node}
	if r.costs[k] == nil {
		r.order[task] = append(r.order[task], node)
	}
	r.open = &Candidate{Node: r.s.Nodes[node].ID}
	r.costs[k] = r.open
}

func (r *recorder) note(name, unit string, f predict.Figure) {
	if r.open != nil {
		r.open.Parts = append(r.open.Parts, Part{name, unit, f.Value, f.Sigma, f.Source.String()})
	}
}

// add says of a pair that was priced what else counts: what is expected of it by its figures.
func (r *recorder) add(task, node int, name, unit string, x float64) {
	if c := r.costs[pairKey{task, node}]; c != nil {
		c.Parts = append(c.Parts, Part{Name: name, Unit: unit, Value: x, Source: predict.Predicted.String()})
	}
}

func (r *recorder) end(cost float64) {
	if cost-cost == 0 { // finite
		r.open.Cost = &cost
	}
	r.open = nil
}

// decisions gathers what was noted, one for each task.
func (c *Context) decisions(p Plan) []Decision {
	out := make([]Decision, len(c.S.Tasks))
	for t := range out {
		out[t] = Decision{
			At: c.S.Now, Task: c.S.Tasks[t].ID, Site: c.S.Tasks[t].Site, Strategy: c.comp.Preset, Cost: c.comp.Cost.Name,
			Unit: c.comp.Cost.Unit, Solver: c.comp.Solver.Name, Filtered: c.rec.out[t],
		}
		d := &out[t]
		c.priceFull(t)
		for _, n := range c.rec.order[t] {
			d.Candidates = append(d.Candidates, *c.rec.costs[pairKey{t, n}])
		}
		sort.SliceStable(d.Candidates, func(a, b int) bool {
			x, y := d.Candidates[a].Cost, d.Candidates[b].Cost
			return x != nil && (y == nil || *x < *y)
		})
	}
	for _, a := range p.Assignments {
		out[a.Task].Node = c.S.Nodes[a.Node].ID
	}
	for _, ws := range [][]Waiting{p.Waiting, p.Refused} {
		for _, w := range ws {
			out[w.Task].Waits = w.Verdict.Reason
		}
	}
	c.passed(p, out)
	for t := range out {
		out[t].Known = c.heard(t)
		out[t].trim()
	}
	return out
}

// priceFull asks what a task would cost on nodes that have no room left, which many solvers do not look at: the cheapest may be among them.
func (c *Context) priceFull(t int) {
	for _, n := range c.cands[t] {
		if !c.Room(n) && c.rec.costs[pairKey{t, n}] == nil {
			c.Price(t, n)
		}
	}
}

// keepKnown bounds what a decision says of measurements and of those that got places.
const keepKnown = 8

// costsLeast reports whether no candidate costs less than the node that got the task.
func (d *Decision) costsLeast() bool {
	return slices.ContainsFunc(d.Candidates, func(c Candidate) bool {
		return c.Node == d.Node && c.Cost != nil && *c.Cost <= *d.Candidates[0].Cost
	})
}

// passed says of each task that did not go to its cheapest candidate why.
func (c *Context) passed(p Plan, out []Decision) {
	at, held, by := c.numbers(), make([][]string, len(c.S.Nodes)), make([][]string, len(c.S.Nodes))
	for i := range c.S.Running {
		if n, ok := at[c.S.Running[i].Node]; ok && len(held[n]) < keepKnown {
			held[n] = append(held[n], c.S.Running[i].Site)
		}
	}
	for _, a := range p.Assignments {
		if len(by[a.Node]) < keepKnown {
			by[a.Node] = append(by[a.Node], c.S.Tasks[a.Task].Site)
		}
	}
	for t := range out {
		d := &out[t]
		if len(d.Candidates) == 0 || d.Candidates[0].Cost == nil || d.costsLeast() {
			continue
		}
		n := at[d.Candidates[0].Node]
		d.Passed = &Passed{Node: d.Candidates[0].Node, Places: c.S.Nodes[n].Capacity, Taken: c.Load[n], Held: held[n], By: by[n]}
		if c.memory != nil {
			d.Passed.Place, d.Passed.Bandwidth = c.memory.Slots[d.Passed.Node], c.memory.Bandwidth[d.Passed.Node]
		}
	}
}

// heard is what nodes have measured of a task's site, the latest first.
func (c *Context) heard(task int) (out []Known) {
	if !c.known() {
		return nil
	}
	for _, h := range c.book.Heard(c.S.Tasks[task].Book) {
		for i := range c.S.Nodes {
			if c.S.Nodes[i].Book == h.Node {
				out = append(out, Known{c.S.Nodes[i].ID, h})
			}
		}
	}
	return Latest(out)
}

// Latest are the measurements that are shown of many, the latest first.
func Latest(known []Known) []Known {
	slices.SortStableFunc(known, func(a, b Known) int { return cmp.Compare(b.At, a.At) })
	return known[:min(len(known), keepKnown)]
}

// trim keeps the cheapest candidates, and the chosen one wherever it stands.
func (d *Decision) trim() {
	if d.Omitted = len(d.Candidates) - keepCandidates; d.Omitted <= 0 {
		d.Omitted = 0
		return
	}
	kept := d.Candidates[:keepCandidates:keepCandidates]
	for _, c := range d.Candidates[keepCandidates:] {
		if c.Node == d.Node {
			kept = append(kept, c)
			d.Omitted--
		}
	}
	d.Candidates = kept
}

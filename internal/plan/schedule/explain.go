package schedule

import (
	"sort"

	"argosy/internal/crawl"
	"argosy/internal/plan/predict"
)

// Decision says why a task went where it went: a record of what the real filters and costs said while the strategy
// ran, not a second computation.
type Decision struct {
	At         int64       `json:"at"` // Unix ms
	Task       uint32      `json:"task"`
	Site       string      `json:"site"`
	Strategy   string      `json:"strategy"`
	Cost       string      `json:"cost,omitempty"`   // name of the cost model
	Unit       string      `json:"unit,omitempty"`   // of the costs
	Solver     string      `json:"solver,omitempty"` // that chose
	Node       string      `json:"node,omitempty"`   // empty: the task waits
	Waits      crawl.Kind  `json:"waits,omitempty"`
	Filtered   []Filtered  `json:"filtered,omitempty"`
	Candidates []Candidate `json:"candidates,omitempty"` // the cheapest first
	Omitted    int         `json:"omitted,omitempty"`    // candidates beyond those that are kept
}

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
	for t := range out {
		out[t].trim()
	}
	return out
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

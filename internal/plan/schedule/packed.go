package schedule

import (
	"fmt"

	"argosy/internal/crawl"
	"argosy/internal/plan/predict"
)

// packed is a decision as it is kept: each text stands there once. What was measured is not in it, for that is kept elsewhere, nor what a
// shadow would have done.
type packed struct {
	_ struct{} `cbor:",toarray"`

	Texts      []string
	At         int64
	Job, Task  uint32
	Lease      uint64
	Attempt    uint32
	Said       []int // texts of the decision itself
	Filtered   [][4]int
	Candidates []packedCandidate
	Omitted    int
	Passed     *Passed
}

type packedCandidate struct {
	_ struct{} `cbor:",toarray"`

	Node  int
	Cost  *float64
	Parts []packedPart
}

type packedPart struct {
	_ struct{} `cbor:",toarray"`

	Name, Unit, Source int
	Value, Sigma       float64
}

// said are the texts of a decision itself, in the order in which they are kept: append only.
func (d *Decision) said() []*string {
	return []*string{&d.Site, &d.Strategy, &d.Cost, &d.Unit, &d.Solver, &d.Node, (*string)(&d.Waits), &d.Probe, (*string)(&d.Why)}
}

// Pack returns a decision in few bytes, for Unpack.
func (d *Decision) Pack() ([]byte, error) {
	p := packed{At: d.At, Job: d.Job, Task: d.Task, Lease: d.Lease, Attempt: d.Attempt, Omitted: d.Omitted, Passed: d.Passed}
	at := map[string]int{}
	text := func(s string) int {
		i, ok := at[s]
		if !ok {
			i = len(p.Texts)
			at[s], p.Texts = i, append(p.Texts, s)
		}
		return i
	}
	for _, s := range d.said() {
		p.Said = append(p.Said, text(*s))
	}
	for _, f := range d.Filtered {
		p.Filtered = append(p.Filtered, [4]int{text(f.Node), text(f.Filter), text(string(f.Reason)), text(f.Detail)})
	}
	for _, c := range d.Candidates {
		k := packedCandidate{Node: text(c.Node), Cost: c.Cost, Parts: make([]packedPart, len(c.Parts))}
		for i, f := range c.Parts {
			k.Parts[i] = packedPart{Name: text(f.Name), Unit: text(f.Unit), Source: text(f.Source), Value: f.Value, Sigma: f.Sigma}
		}
		p.Candidates = append(p.Candidates, k)
	}
	return crawl.Marshal(&p)
}

// Unpack returns the decision that was packed.
func Unpack(b []byte) (*Decision, error) {
	var p packed
	if err := crawl.Unmarshal(b, &p); err != nil {
		return nil, fmt.Errorf("a decision that was kept: %w", err)
	}
	text := func(i int) string {
		if i < 0 || i >= len(p.Texts) {
			return ""
		}
		return p.Texts[i]
	}
	d := &Decision{At: p.At, Job: p.Job, Task: p.Task, Lease: p.Lease, Attempt: p.Attempt, Omitted: p.Omitted, Passed: p.Passed}
	for i, s := range d.said() {
		if i < len(p.Said) {
			*s = text(p.Said[i])
		}
	}
	for _, f := range p.Filtered {
		d.Filtered = append(d.Filtered, Filtered{text(f[0]), text(f[1]), crawl.Kind(text(f[2])), text(f[3])})
	}
	for _, k := range p.Candidates {
		c := Candidate{Node: text(k.Node), Cost: k.Cost}
		for _, f := range k.Parts {
			c.Parts = append(c.Parts, Part{text(f.Name), text(f.Unit), f.Value, f.Sigma, text(f.Source)})
		}
		d.Candidates = append(d.Candidates, c)
	}
	return d, nil
}

// Knows returns what nodes have measured of a site by now, the latest first.
func Knows(record *predict.Record, site string) (known []Known) {
	if record.KnowsSite(site) {
		for _, h := range record.Heard(record.Site(site)) {
			known = append(known, Known{record.NodeName(h.Node), h})
		}
	}
	return Latest(known)
}

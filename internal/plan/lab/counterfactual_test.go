package lab

import (
	"errors"
	"testing"

	"argosy/internal/plan/sim"
	"argosy/internal/plan/split"
)

// Where each node has one site and next to nothing of the other, assignment has gained: random placement loses half. A node that sticks on
// a site makes recycling worth something. A record of which nothing was had says nothing.
func TestLongCounterfactual(t *testing.T) {
	of := sim.Searched{Pages: map[uint32]float64{}, Quota: 10}
	for k := range uint32(40) {
		site := []string{"s0", "s1"}[k%2]
		for n, node := range []string{"b", "a"} {
			good := 20.0
			if int(k)%2 != n {
				good = 1
			}
			start := int64(k)*10_000 + int64(n)
			of.Runs = append(of.Runs, sim.SearchedRun{Search: k, Node: node, Site: site, Started: start, Ended: start + 5000, Given: 20, Good: good})
		}
		of.Pages[k] = 20
	}
	c, err := Replayed(&of, split.Strategy)
	if err != nil || len(c.Nodes) != 2 || c.Nodes[0].Node != "a" || c.Tried != 4 || c.Pairs != 4 {
		t.Fatalf("%+v, %v", c, err)
	}
	if g := c.Fleet[0]; g.Gain-g.Half < 20 {
		t.Errorf("assignment: %+v", g)
	}
	if g := c.Fleet[2]; g.Gain != 0 {
		t.Errorf("nothing got stuck, and recycling: %+v", g)
	}
	for k := range 10 {
		of.Runs = append(of.Runs, sim.SearchedRun{Search: 0, Node: "b", Site: "s0", Started: int64(k) * 40_000, Ended: int64(k)*40_000 + 1, Given: 20, Stuck: true})
	}
	if c, err = Replayed(&of, split.Strategy); err != nil || c.Fleet[2].Gain <= 0 {
		t.Errorf("recycling: %+v, %v", c.Fleet[2], err)
	}
	for i := range of.Runs {
		of.Runs[i].Good = 0
	}
	if _, err = Replayed(&of, split.Strategy); !errors.Is(err, sim.ErrNothingRecorded) {
		t.Errorf("nothing was had: %v", err)
	}
}

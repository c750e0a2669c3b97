package coordinator

import (
	"testing"

	"argosy/internal/crawl"
)

// A job that asks of a node what no node has says so: else it waits, and nobody knows why.
func TestUnmet(t *testing.T) {
	small := crawl.NodeInfo{Store: "file:///a", Offer: [3]float64{2, 1 << 30, 0}}
	large := crawl.NodeInfo{Store: "file:///b", Offer: [3]float64{8, 1 << 20, 0}, Labels: map[string]string{"type": "x"}}
	all := []crawl.NodeInfo{small, large}
	for want, p := range map[string]crawl.Placing{
		"": {Store: "file:///b", Need: [3]float64{8, 0, 1e12}},
		"no node stores in file:///c, where its pages go":      {Store: "file:///c"},
		"no node holds a task of it: too little CPU":           {Store: "file:///a", Need: [3]float64{4, 0, 0}},
		"no node holds a task of it: too little memory":        {Type: "x", Need: [3]float64{4, 1 << 25, 0}},
		"no node holds a task of it: too little CPU or memory": {Need: [3]float64{4, 1 << 25, 0}},
		"no node stores in file:///a, where its pages go":      {Type: "x", Store: "file:///a"},
	} {
		if got := unmet(&p, all); got != want {
			t.Errorf("%+v: %q, want %q", p, got, want)
		}
	}
	if got := unmet(&crawl.Placing{Type: "y", Store: "file:///c"}, all); got != "" { // that it lacks a type is said elsewhere
		t.Errorf("of another type: %q", got)
	}
	if got := unmet(&crawl.Placing{Store: "file:///c"}, nil); got != "" {
		t.Errorf("without nodes: %q", got)
	}
}

package strategy

import (
	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
)

var packing = Preset{
	Summary: "vector packing of CPU, memory and bandwidth: nodes that work already before idle ones, the first that fits",
	Source:  "Liu Feng, multi-resource packing for distributed crawlers",
	Options: []Option{
		{"cpu", []string{"0.05", "<cores>"}, "need of a task before anything is known of its like", ""},
		{"memory", []string{"32", "<MiB>"}, "the same", ""},
		{"bandwidth", []string{"0.2", "<Mbit/s>"}, "the same", ""},
	},
	build: func(o *options) schedule.Composition {
		first := schedule.Vector{o.number("cpu", 0.001, 1024), o.number("memory", 1, 1<<20) * (1 << 20), o.number("bandwidth", 0.001, 1e6) * 1e6}
		need := func(c *schedule.Context, task int) schedule.Vector {
			v, _ := needOf(c, task, first)
			return v
		}
		held := func(c *schedule.Context, r *schedule.Running) schedule.Vector {
			v, _ := learnedNeed(c, "", r.Book, first)
			return v
		}
		return schedule.Composition{
			Cost: schedule.Cost{Name: "place in the list", Of: func(c *schedule.Context, task, node, load int) float64 {
				v, src := needOf(c, task, first)
				for d, name := range []string{"need CPU", "need memory", "need bandwidth"} {
					c.Note(name, []string{"cores", "bytes", "bits/s"}[d], predict.Figure{Value: v[d], Source: src})
				}
				x := float64(node + c.Class(node)*len(c.S.Nodes))
				c.Know("working", "leases", float64(load))
				return x
			}},
			Solver: schedule.FirstFit(need, held),
		}
	},
}

// needOf is what a task needs: as its job says, else as leases of its like took, else the first value.
func needOf(c *schedule.Context, task int, first schedule.Vector) (schedule.Vector, predict.Source) {
	t := &c.S.Tasks[task]
	if t.Need != (schedule.Vector{}) {
		return t.Need, predict.Stated
	}
	return learnedNeed(c, t.Product, t.Book, first)
}

// learnedNeed is what leases of a product, or of any, took on a site, else anywhere, else the first value.
func learnedNeed(c *schedule.Context, product string, site int, first schedule.Vector) (schedule.Vector, predict.Source) {
	learned, known := c.Book().Need(predict.Kind{Product: product, Site: site, Node: -1})
	if !known {
		learned, known = c.Book().Need(predict.Kind{Product: product, Site: -1, Node: -1})
	}
	if !known {
		return first, predict.Default
	}
	v := schedule.Vector(learned)
	for d := range v {
		if v[d] <= 0 {
			v[d] = first[d]
		}
		if most := largest(c.S.Nodes, d); most > 0 { // its like ran somewhere: what is more than any node has was not measured right
			v[d] = min(v[d], most)
		}
	}
	return v, predict.Predicted
}

// largest is the most of a resource that a node has; 0 where one does not say what it has.
func largest(nodes []schedule.Node, d int) (most float64) {
	for i := range nodes {
		if nodes[i].Offer[d] <= 0 {
			return 0
		}
		most = max(most, nodes[i].Offer[d])
	}
	return most
}

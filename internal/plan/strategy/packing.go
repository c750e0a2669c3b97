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
			Solver: schedule.FirstFit(need),
		}
	},
}

// needOf is what a task needs: as its job says, else as leases of its like took, else the first value.
func needOf(c *schedule.Context, task int, first schedule.Vector) (schedule.Vector, predict.Source) {
	t := &c.S.Tasks[task]
	if t.Need != (schedule.Vector{}) {
		return t.Need, predict.Stated
	}
	learned, known := c.Book().Need(predict.Kind{Product: t.Product, Site: t.Book, Node: -1})
	if !known {
		learned, known = c.Book().Need(predict.Kind{Product: t.Product, Site: -1, Node: -1})
	}
	if !known {
		return first, predict.Default
	}
	v := schedule.Vector(learned)
	for d := range v {
		if v[d] <= 0 {
			v[d] = first[d]
		}
	}
	return v, predict.Predicted
}

package strategy

import (
	"math"
	"slices"

	"argosy/internal/crawl"
	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
)

var feedback = Preset{
	Summary: "the node with the highest completion rate for the site, then the most efficient, first in first out",
	Source:  "Yu Fan et al., dynamic task scheduling for product data, 2014",
	Options: []Option{
		{"load", []string{"off", "on"}, "off is the paper's rule, which sends all tasks of a site to one node; on makes a loaded node dearer"},
		{"full", []string{"1", "<share>"}, "what a node that is full costs where load is on, as a share of completion"},
		{"time", []string{"0.001", "<share>"}, "what a page of s seconds costs, s/(1+s) of this share of completion; 0.001 only breaks ties, as published"},
		{"slow", []string{"3", "<factor>"}, "nodes that take so many times the seconds a page of the best are left out for a product and site"},
		{"modify", []string{"on", "off"}, "on fits pages and time of a task's next lease to what its last one did; off leaves them as the job has them"},
		{"gain", []string{"0.5", "<factor>"}, "how strongly the pages of a next lease follow the completion rate"},
		{"explore", []string{"0", "<share>"}, "share of decisions made at random, so that a node once judged bad is tried again"},
	},
	build: func(o *options) schedule.Composition {
		loaded, slow, explore := o.on("load"), o.number("slow", 1, 1000), o.number("explore", 0, 1)
		full, patience, gain := o.number("full", 0, 1000), o.number("time", 0, 1000), o.number("gain", 0, 1000)
		var modify *schedule.ModifyConfig
		if o.on("modify") {
			cfg := schedule.DefaultModify()
			cfg.Gain = gain
			modify = &cfg
		}
		return schedule.Composition{
			Modify: modify,
			Filters: []schedule.Filter{{Name: "efficiency", Check: func(c *schedule.Context, task, node int) crawl.Verdict {
				s, known := perPage(c, task, node)
				if !known {
					return crawl.Verdict{}
				}
				if best := bestPerPage(c, task); best > 0 && s > slow*best {
					return crawl.Verdict{Reason: schedule.ReasonSlow}
				}
				return crawl.Verdict{}
			}}},
			Cost: schedule.Cost{Name: "completion, then efficiency", Of: func(c *schedule.Context, task, node, load int) float64 {
				rate, src := 1.0, predict.Default // nobody has failed yet
				if r, known := c.Book().Completion(c.S.Nodes[node].Book, c.S.Tasks[task].Rated(), c.S.Now); known {
					rate, src = r, predict.Measured
				}
				c.Note("completion rate", "share", predict.Figure{Value: rate, Source: src})
				seconds, known := perPage(c, task, node)
				src = predict.Measured
				if !known {
					seconds, src = 0, predict.Default
				}
				c.Note("seconds a page", "s", predict.Figure{Value: seconds, Source: src})
				x := -math.Round(rate*100)/100 + patience*seconds/(1+seconds)
				if loaded {
					c.Know("leases held", "", float64(load))
					x += full * float64(load) / float64(max(1, c.S.Nodes[node].Capacity))
				}
				if explore > 0 && c.Rand.Float64() < explore {
					x -= 2
				}
				return x
			}},
			Solver: schedule.Greedy,
		}
	},
}

func perPage(c *schedule.Context, task, node int) (float64, bool) {
	t := &c.S.Tasks[task]
	return c.Book().SecondsPerPage(predict.Kind{Product: t.Product, Site: t.Rated(), Node: c.S.Nodes[node].Book})
}

// bestPerPage is how many seconds a page takes the most efficient of the nodes that may have a task: one that may not is no reason to
// leave another out. It is looked for once a task and cycle.
func bestPerPage(c *schedule.Context, task int) float64 {
	const notYet = -1
	of := schedule.Once(c, "best seconds a page", func() []float64 { return slices.Repeat([]float64{notYet}, len(c.S.Tasks)) })
	if of[task] != notYet {
		return of[task]
	}
	best := 0.0
	for n := range c.S.Nodes {
		if s, known := perPage(c, task, n); known && (best == 0 || s < best) && schedule.May(c, task, n) {
			best = s
		}
	}
	of[task] = best
	return best
}

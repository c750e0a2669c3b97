package strategy

import (
	"argosy/internal/plan/schedule"
)

var makespan = Preset{
	Summary: "tasks that wait, in batches, so that the node that is done last is done soonest: sufferage, then moves and exchanges",
	Source:  "Maheswaran et al. (1999), with local search",
	Options: []Option{
		{"batch", []string{"200", "<number>"}, "tasks planned together at most; 1 takes one after the other: what batches bring", ""},
		{"probes", []string{"3", "<number>"}, "nodes of each site whose bandwidth is probed: those predicted to be the best", ""},
	},
	build: func(o *options) schedule.Composition {
		wants := flowWants()
		wants.Few = o.whole("probes", 0, 100)
		return schedule.Composition{
			Cost: schedule.Cost{Name: "seconds a useful megabit alone", Unit: "s/Mbit", Of: func(c *schedule.Context, task, node, _ int) float64 {
				rate, ok := c.Useful(task, node), c.Success(task, node)
				c.Speed(task, node, rate)
				c.Note("success", "share", ok)
				if b := c.S.Nodes[node].Offer[schedule.Bandwidth]; b > 0 {
					c.Know("the node's bandwidth", "Mbit/s", b/1e6)
					rate.Value = min(rate.Value, b)
				}
				return 1e6 / (rate.Value * ok.Value)
			}},
			Solver: schedule.Shortest(o.whole("batch", 1, 10_000)),
			Wants:  wants,
		}
	},
}

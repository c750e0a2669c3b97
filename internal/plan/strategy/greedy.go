package strategy

import (
	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
)

var greedy = Preset{
	Summary: "the node with the best predicted rate under its load, one task after the other: what flow is without its solver",
	Source:  "control",
	Options: []Option{
		{"probes", []string{"3", "<number>"}, "nodes of each site whose bandwidth is probed: those predicted to be the best", ""},
	},
	build: func(o *options) schedule.Composition {
		wants := flowWants()
		wants.Few = o.whole("probes", 0, 100)
		return schedule.Composition{
			Cost: schedule.Cost{Name: "minus the useful rate", Unit: "Mbit/s", Of: func(c *schedule.Context, task, node, load int) float64 {
				rate, ok := c.Useful(task, node), c.Success(task, node)
				c.Speed(task, node, rate)
				c.Note("success", "share", ok)
				if b := c.S.Nodes[node].Offer[schedule.Bandwidth]; b > 0 {
					share := b / float64(load+1)
					c.Note("share of the node's bandwidth", "Mbit/s", mbps(predict.Figure{Value: share, Source: predict.Stated}))
					rate.Value = min(rate.Value, share)
				}
				return -rate.Value / 1e6 * ok.Value
			}},
			Solver: schedule.Greedy,
			Wants:  wants,
		}
	},
}

package strategy

import (
	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
)

var market = Preset{
	Summary: "tasks are sold to nodes at market-clearing prices; a node values a task by its relevance",
	Source:  "Liu Jia, Du Yajun, market matching between crawler agents, 2016",
	Options: []Option{
		{"mode", []string{"paper", "lots"}, "one task a node and round, numbers made equal; or as many as a node has room for"},
		{"reserve", []string{"zero", "similarity"}, "starting price"},
		{"understanding", []string{"0.2", "<share>"}, "relevance below which a node does not bid"},
	},
	build: func(o *options) schedule.Composition {
		return schedule.Composition{
			Cost: schedule.Cost{Name: "minus valuation", Of: func(c *schedule.Context, task, node, _ int) float64 {
				t := &c.S.Tasks[task]
				if v, ok := t.Values[c.S.Nodes[node].ID]; ok {
					c.Note("similarity", "share", predict.Figure{Value: v, Source: predict.Measured})
					return -v
				}
				f := c.Success(task, node) // without a topic, a page is worth that it is had
				c.Note("success", "share", f)
				return -f.Value
			}},
			Solver: schedule.Market(o.text("mode") == "lots", o.text("reserve") == "similarity", o.number("understanding", 0, 1)),
		}
	},
}

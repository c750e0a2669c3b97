package strategy

import (
	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
)

var bandwidth = Preset{
	Summary: "measured crawl and storage bandwidth, batches of as many tasks as there are nodes",
	Source:  "Chinese patent on task allocation by measured bandwidth for multi-agent collection",
	Options: []Option{
		{"leftover", []string{"single", "wait"}, "tasks that do not fill a batch: one by one, or wait for more", ""},
		{"method", []string{"jv", "patent"}, "how a batch is solved: exactly, or by the patent's lines, which get stuck and then fall back", ""},
		{"probe", []string{"all", "few"}, "pairs that BC is measured for: every one, or the five most worth it of each site", ""},
	},
	build: func(o *options) schedule.Composition {
		wants := schedule.Measures{Crawl: schedule.All, Store: true}
		if o.text("probe") == "few" {
			wants.Crawl, wants.Few = schedule.Few, 5
		}
		return schedule.Composition{
			Cost: schedule.Cost{Name: "(n+1)/(BC+BS)", Unit: "s/Mbit", Of: func(c *schedule.Context, task, node, load int) float64 {
				bc, bs := c.Crawl(task, node), c.Store(node)
				c.Know("tasks held", "", float64(load))
				c.Note("BC", "Mbit/s", mbps(bc))
				c.Note("BS", "Mbit/s", mbps(bs))
				return float64(load+1) / (mbps(bc).Value + mbps(bs).Value)
			}},
			Solver: schedule.Batches(o.text("method") == "patent", o.text("leftover") == "wait"),
			Wants:  wants,
		}
	},
}

func mbps(f predict.Figure) predict.Figure {
	f.Value /= 1e6
	return f
}

package strategy

import (
	"strconv"

	"argosy/internal/plan/netcoord"
	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
)

var nearest = Preset{
	Summary: "one of the k nearest nodes by measured or predicted HTTP delay",
	Source:  "Liu Shuang et al., GNP network coordinates for crawler scheduling, 2010",
	Options: []Option{
		{"top", []string{"3", "1", "auto", "<number>"}, "how many of the nearest are picked from at random; auto adapts to load and takes the least loaded", ""},
		{"landmarks", []string{"city+provider", "kcentre", "<node+node…>"}, "one node for each value of the labels, the greedy k-centre rule, or nodes by id", ""},
		{"count", []string{"9", "<number>"}, "landmarks at most", ""},
		{"dim", []string{"8", "<number>"}, "dimensions of the network's space", ""},
	},
	build: func(o *options) schedule.Composition {
		top := 0
		if t := o.text("top"); t != "auto" {
			n, err := strconv.Atoi(t)
			if err != nil || n < 1 || n > 1000 {
				o.fail("strategy nearest: option top=%s: allowed are auto and numbers from 1 to 1000", t)
			}
			top = n
		}
		marks := schedule.Landmarks{Count: o.whole("count", 3, 64)}
		switch names := o.list("landmarks"); {
		case o.text("landmarks") == "city+provider":
			marks.Labels = names
		case o.text("landmarks") != "kcentre":
			marks.Given = o.distinct("landmarks", names)
			if o.strict && len(names) > marks.Count {
				o.fail("strategy nearest: option landmarks names %d nodes and count=%d: want as many at most", len(names), marks.Count)
			}
		}
		book := predict.Config{Landmarks: marks.Count, Coordinates: netcoord.Paper()}
		book.Coordinates.Dim = o.whole("dim", 1, 16)
		book.Summary = netcoord.StatisticalMean
		return schedule.Composition{
			Cost: schedule.Cost{Name: "delay", Unit: "ms", Of: func(c *schedule.Context, task, node, _ int) float64 {
				f := c.Latency(task, node)
				c.Note("delay", "ms", f)
				return f.Value
			}},
			Solver: schedule.Nearest(top),
			Wants:  schedule.Measures{Delay: schedule.Landmark, Landmark: marks, Book: book},
		}
	},
}

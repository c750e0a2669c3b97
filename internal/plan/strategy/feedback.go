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
		{"load", []string{"off", "on"}, "off is the paper's rule, which sends all tasks of a site to one node; on makes a loaded node dearer", ""},
		{"full", []string{"1", "<share>"}, "what a node that is full costs where load is on, as a share of completion", "load=on"},
		{"time", []string{"0.001", "<share>"}, "what a page of s seconds costs, s/(1+s) of this share of completion; 0.001 only breaks ties, as published", ""},
		{"slow", []string{"3", "<factor>"}, "nodes that take so many times the seconds a page of the best are left out for a product and site", ""},
		{"modify", []string{"on", "off"}, "on fits pages and time of a task's next lease to what its last one did; off leaves them as the job has them", ""},
		{"gain", []string{"0.5", "<factor>"}, "with modify=on: how strongly the pages of a next lease follow the completion rate", "modify=on"},
		{"unknown", []string{"best", "expected"}, "a node that was not tried for a site is thought to have all pages in no time, as published, or 0.8 of them, each in the time of the best of the others; and what is known of one counts as much as that after three pages", ""},
		{"first", []string{"0", "<pages>"}, "with modify=on: pages of a first lease on a node for a site; each later one has at most as many more as are known of the pair; 0: as many as any", "modify=on"},
		{"explore", []string{"0", "<share>"}, "share of decisions made at random, so that a node once judged bad is tried again", ""},
	},
	build: func(o *options) schedule.Composition {
		loaded, slow, explore := o.on("load"), o.number("slow", 1, 1000), o.number("explore", 0, 1)
		full, patience, gain := o.number("full", 0, 1000), o.number("time", 0, 1000), o.number("gain", 0, 1000)
		expects, first := o.text("unknown") == "expected", o.whole("first", 0, 1000)
		var modify *schedule.ModifyConfig
		if o.on("modify") {
			cfg := schedule.DefaultModify()
			cfg.Gain, cfg.First = gain, first
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
				var prior unknown
				if expects {
					prior = expected(c, task)
				}
				rate, seconds := completion(c, task, node, prior), pace(c, task, node, prior)
				c.Note("completion rate", "share", rate)
				c.Note("seconds a page", "s", seconds)
				x := -math.Round(rate.Value*100)/100 + patience*seconds.Value/(1+seconds.Value)
				if loaded {
					c.Know("leases held", "", float64(load))
					x += full * float64(load) / float64(max(1, c.S.Nodes[node].Capacity))
				}
				if explore > 0 && c.Share(task, node) < explore {
					x -= 2
				}
				return x
			}},
			Solver: schedule.Greedy,
		}
	},
}

// unknown is what a node is thought to be like that was not tried: what is known of one counts as much as that after so many pages. The
// zero value is the published rule, by which nobody has failed yet.
type unknown struct{ pages, share, seconds float64 }

// What is expected of a node that was not tried, chosen in the lab's worlds of three policies: a share as what requests are thought to give
// before there were any, and the pace of the best node that the site has had, or nobody would find out who else has it.
const (
	expectedPages = 3
	expectedShare = 0.8
	firstSeconds  = 0.5 // that a page is thought to take at most of a node that was not tried
)

// expected is what is expected of a node that was not tried for a task's site.
func expected(c *schedule.Context, task int) unknown {
	of := schedule.Once(c, "expected", func() map[int]unknown { return map[int]unknown{} })
	site := c.S.Tasks[task].Rated()
	u, known := of[site]
	if !known {
		first := unknown{expectedPages, expectedShare, firstSeconds}
		u = first
		for n := range c.S.Nodes {
			f := first.learns(c, predict.Kind{Site: site, Node: c.S.Nodes[n].Book}, predict.Figure{Value: firstSeconds})
			u.seconds = min(u.seconds, f.Value)
		}
		of[site] = u
	}
	return u
}

// completion is what share of a task's pages a node has.
func completion(c *schedule.Context, task, node int, prior unknown) predict.Figure {
	good, all := c.Book().Served(c.S.Nodes[node].Book, c.S.Tasks[task].Rated(), c.S.Now)
	switch {
	case all == 0 && prior.pages == 0:
		return predict.Figure{Value: 1, Source: predict.Default}
	case all == 0:
		return predict.Figure{Value: prior.share, Source: predict.Default}
	}
	return predict.Figure{Value: (good + prior.pages*prior.share) / (all + prior.pages), Source: predict.Measured}
}

// pace is how many seconds a page of a task takes a node: as its leases for product and site have shown, and, where something is expected of
// nodes that were not tried, those for the site's other products before there were any.
func pace(c *schedule.Context, task, node int, prior unknown) predict.Figure {
	t := &c.S.Tasks[task]
	k := predict.Kind{Site: t.Rated(), Node: c.S.Nodes[node].Book}
	at := predict.Figure{Value: prior.seconds, Source: predict.Default}
	if prior.pages > 0 && t.Product != "" {
		at = prior.learns(c, k, at)
	}
	k.Product = t.Product
	return prior.learns(c, k, at)
}

// learns is a figure of seconds a page with what leases of a kind have shown.
func (u unknown) learns(c *schedule.Context, k predict.Kind, of predict.Figure) predict.Figure {
	seconds, pages := c.Book().Efforts(k, c.S.Now)
	if pages <= 0 {
		return of
	}
	return predict.Figure{Value: (seconds + u.pages*of.Value) / (pages + u.pages), Source: predict.Measured}
}

func perPage(c *schedule.Context, task, node int) (float64, bool) {
	t := &c.S.Tasks[task]
	return c.Book().SecondsPerPage(predict.Kind{Product: t.Product, Site: t.Rated(), Node: c.S.Nodes[node].Book}, c.S.Now)
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

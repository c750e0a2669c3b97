package strategy

import (
	"math"

	"argosy/internal/plan/netcoord"
	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
)

var flow = Preset{
	Summary: "all signals: predicted seconds with their uncertainty, success and price, all waiting tasks at once under capacities",
	Source:  "Argosy",
	Options: []Option{
		{"probes", []string{"worth", "<number>"}, "nodes of each site whose bandwidth is probed: those whose figure is worth more than its probe costs, or so many, those predicted to be the best", ""},
		{"explore", []string{"worth", "<factor>"}, "worth adds to what a lease brings what it teaches, for as long as that is of use; a factor draws unsure speeds from their distributions, so far; 0 takes all as expected; with solver=greedy a lease is taken for what it brings", ""},
		{"move", []string{"0.1", "<share>"}, "what it costs to give a site to another node than the one that had it last, as a share of the time it takes", ""},
		{"loss", []string{"40", "<number>"}, "pages' worth of time that it costs to lose a page which another node would get; nothing, where a site has no end", ""},
		{"price", []string{"0", "<weight>"}, "seconds a megabit that one unit of price is worth", ""},
		{"candidates", []string{"16", "<number>"}, "nodes kept of each task, the cheapest; 0 keeps all", "solver=flow"},
		{"predict", []string{"on", "off"}, "off takes pairs that were not measured for the default: what prediction brings", ""},
		{"solver", []string{"flow", "greedy"}, "greedy gives each task its cheapest node, one after the other: what the solver brings", ""},
		{"fair", []string{"300", "<seconds>"}, "seconds of waiting after which a site counts double; 0: how long it waits counts nothing", "solver=flow"},
		{"width", []string{"0.02", "<share>"}, "how sharply sites choose when nodes are priced: within which share of their best value they are undecided", "solver=flow"},
	},
	build: func(o *options) schedule.Composition {
		explore, learn := 0.0, o.text("explore") == "worth"
		if !learn {
			explore = o.number("explore", 0, 3)
		}
		cost := flowCost{explore, o.number("move", 0, 10), o.number("loss", 0, 1000), o.number("price", 0, 1e6)}
		wants := flowWants()
		wants.Prices = cost.price > 0
		if o.text("probes") == "worth" {
			wants.Crawl = schedule.Worth
		} else {
			wants.Few = o.whole("probes", 0, 100)
		}
		wants.Book.Alone = !o.on("predict")
		// Candidates: 16, for with 8 kept a hundred nodes collect 6 % less of ten thousand sites in the first ten minutes (BenchmarkFleet), and
		// the time that they save is a fifteenth.
		solver := schedule.Flow(schedule.FlowConfig{
			Candidates: o.whole("candidates", 0, 10_000), Fair: o.number("fair", 0, 1e6), Width: o.number("width", 0.005, 1), Refresh: 10_000, Learn: learn,
		})
		if o.text("solver") == "greedy" {
			solver = schedule.Greedy
			if o.strict && o.given["explore"] == "worth" {
				o.fail("strategy %s: option explore=worth says nothing with solver=greedy, which takes a lease for what it brings: it goes with solver=flow", o.preset)
			}
		}
		return schedule.Composition{
			Cost:   schedule.Cost{Name: "seconds a useful megabit", Unit: "s/Mbit", Of: cost.seconds},
			Solver: solver,
			Wants:  wants,
		}
	},
}

// flowWants is what flow lives on.
func flowWants() schedule.Measures {
	book := predict.Config{Landmarks: 9, Coordinates: netcoord.WithHeights()}
	book.Coordinates.Rounds = 0
	return schedule.Measures{Delay: schedule.Worth, Crawl: schedule.Few, Store: true, Landmark: schedule.Landmarks{Count: 9}, Book: book}
}

// flowCost are the weights of flow's cost.
type flowCost struct{ explore, move, loss, price float64 }

// seconds is what a megabit of pages costs: fetching it, as often as it takes for one to succeed, with a charge for
// those that are lost, for moving and for the node's price. Storing goes on beside it: it takes of what a node carries.
func (f flowCost) seconds(c *schedule.Context, task, node, load int) float64 {
	t, n := &c.S.Tasks[task], &c.S.Nodes[node]
	rate, ok := c.Useful(task, node), c.Success(task, node)
	c.Speed(task, node, rate)
	c.Note("success", "share", ok)
	speed, share := rate.Value/1e6, ok.Value
	if f.explore > 0 {
		a, b := normals(c.Chance(task, node))
		speed *= math.Exp(f.explore * rate.Sigma * a)
		share = min(1, max(0.02, share+0.3*f.explore*ok.Sigma*b))
		c.Note("speed", "Mbit/s", predict.Figure{Value: speed, Source: predict.Drawn})
		c.Note("success", "share", predict.Figure{Value: share, Source: predict.Drawn})
	}
	loss := f.loss
	if math.IsInf(t.Bits, 1) { // there is always another page
		loss = 0
	}
	lost := 0.0
	if loss > 0 {
		best := c.BestSuccess(task)
		if less := best.Value - share; less > max(best.Sigma, ok.Sigma) {
			lost = max(0, less-math.Hypot(best.Sigma, ok.Sigma)) // nothing for what may be chance
		}
	}
	x := (1 + loss*lost) / (speed * share)
	if t.Last != "" && t.Last != n.ID {
		x *= 1 + f.move
		c.Know("charge for moving", "share", f.move)
	}
	if f.price > 0 {
		p := n.Prices.Use
		if !n.Reserved || load == 0 && n.Running == 0 {
			p = n.Prices.Surcharge
		}
		c.Know("price", "", p)
		x += f.price * p
	}
	return x
}

// normals are two standard normal numbers that a number stands for.
func normals(x uint64) (a, b float64) { return quantiles[x%draws], quantiles[x/draws%draws] }

// draws is how many normal numbers there are to draw from, each as likely as the other.
const draws = 4096

// quantiles are those of the standard normal distribution.
var quantiles = func() (q [draws]float64) {
	for k := range q {
		q[k] = math.Sqrt2 * math.Erfinv((2*float64(k)+1)/draws-1)
	}
	return q
}()

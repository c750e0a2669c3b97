package sim

import (
	"math"
	"math/rand/v2"
)

// Terms say what a made world is like, one for each way in which worlds differ. The zero value of a field leaves it out.
type Terms struct {
	Nodes, Sites, Minutes int

	Capacity float64 // bandwidth of all nodes together, of what random placement would ask for; 0 is no limit
	Strong   int     // nodes that are stronger than the others
	Factor   float64 // how much stronger: their paths and their bandwidth
	Spread   float64 // standard deviation of the logarithm of nodes' bandwidths
	Stores   float64 // standard deviation of the logarithm of nodes' bandwidths to their storage, half of their own in the middle
	Places   int     // leases at once of each node; 0 is enough for all sites
	Limits   bool    // sites have limits of their own
	Tells    float64 // standard deviation of the logarithm of a path's speed around what its delay says
	Blind    bool    // delay says nothing of speed
	Noise    float64 // standard deviation of the logarithm of a lease's speed around its path's
	Drift    float64 // standard deviation of the change of a path's ln speed and ln delay in an hour
	Blocked  float64 // share of pairs that are shut out for good
	Bans     float64 // pairs that are shut out each minute, for five minutes
	Gap      float64 // mean of the seconds between two requests to a site; most sites ask for less, some for much more
	Sizes    float64 // standard deviation of the logarithm of what sites hold
}

// Made makes the world of some terms and a seed.
func Made(t Terms, seed uint64) World {
	r := rand.New(rand.NewPCG(seed, 0x6d616465))
	w := Throughput(madeFleet(t, r), 2, t.Minutes, seed)
	w.Noise = t.Noise
	asked := 198.8 * MBMin / float64(len(w.Nodes))
	for i := range w.Nodes {
		w.Nodes[i].Bandwidth = t.Capacity * asked
		if t.Spread > 0 {
			w.Nodes[i].Bandwidth *= math.Exp(t.Spread*r.NormFloat64() - t.Spread*t.Spread/2)
		}
		if t.Stores > 0 {
			w.Nodes[i].Store = w.Nodes[i].Bandwidth / 2 * math.Exp(t.Stores*r.NormFloat64())
		}
		if t.Places > 0 {
			w.Nodes[i].Slots = t.Places
		}
	}
	for _, i := range r.Perm(len(w.Nodes))[:min(t.Strong, len(w.Nodes))] {
		w.Nodes[i].Bandwidth *= t.Factor
		for j := range w.Speed[i] {
			w.Speed[i][j] *= t.Factor
		}
	}
	if t.Gap > 0 {
		for j := range w.Sites {
			w.Sites[j].Gap = t.Gap * r.ExpFloat64()
		}
	}
	if t.Blocked > 0 || t.Bans > 0 {
		w.Success = shutOut(&w, t, r)
	}
	if t.Drift > 0 {
		drift(&w, t.Drift, r)
	}
	if t.Sizes > 0 {
		w = Skewed(w, t.Sizes)
	}
	return w
}

// madeFleet puts nodes and sites into cities and networks.
func madeFleet(t Terms, r *rand.Rand) Matrices {
	var nodes, sites []host
	used := 3 + r.IntN(4) // cities that have nodes
	for range t.Nodes {
		nodes = append(nodes, host{r.IntN(used), r.IntN(len(networks)), 1 + r.ExpFloat64()})
	}
	for range t.Sites {
		h := host{r.IntN(len(cities)), r.IntN(len(networks) - 1), 1 + 4*r.ExpFloat64()}
		if r.Float64() < 0.6 { // most large sites are where nodes are
			h.city = r.IntN(used)
		}
		sites = append(sites, h)
	}
	m := connect(nodes, sites, t.Tells, r)
	if t.Blind {
		for i := range m.Speed {
			for j := range m.Speed[i] {
				m.Speed[i][j] = 3e5 * math.Exp(max(t.Tells, 0.5)*r.NormFloat64())
			}
		}
	}
	if t.Limits {
		limits(&m, r)
	}
	return m
}

// shutOut blocks pairs for good, and schedules bans.
func shutOut(w *World, t Terms, r *rand.Rand) [][]float64 {
	out := make([][]float64, len(w.Nodes))
	for i := range out {
		out[i] = make([]float64, len(w.Sites))
		for j := range out[i] {
			out[i][j] = 0.98
			if r.Float64() < t.Blocked {
				out[i][j] = 0.02
			}
		}
	}
	for k := range int(t.Bans * float64(t.Minutes)) {
		i, j := r.IntN(len(w.Nodes)), r.IntN(len(w.Sites))
		before := out[i][j]
		at := int64(float64(k) / t.Bans * 60_000)
		w.Changes = append(w.Changes,
			Change{At: at, Apply: func(w *World) { w.Success[i][j] = 0 }},
			Change{At: at + 300_000, Apply: func(w *World) { w.Success[i][j] = before }})
	}
	sortChanges(w)
	return out
}

// drift lets every path's speed and delay wander, twelve times an hour; a path that gets longer gets slower.
func drift(w *World, sigma float64, r *rand.Rand) {
	const steps = 12
	sd := sigma / math.Sqrt(steps)
	w.Drifts = true
	for k := int64(1); k*3_600_000/steps < w.Horizon; k++ {
		by := make([][]float64, len(w.Nodes))
		for i := range by {
			by[i] = make([]float64, len(w.Sites))
			for j := range by[i] {
				by[i][j] = math.Exp(sd * r.NormFloat64())
			}
		}
		w.Changes = append(w.Changes, Change{At: k * 3_600_000 / steps, Apply: func(w *World) {
			for i := range by {
				for j, f := range by[i] {
					w.Speed[i][j] *= f
					w.Delay[i][j] /= f
				}
			}
		}})
	}
	sortChanges(w)
}

// Kind is a kind of worlds: one for each seed.
type Kind struct {
	Name  string
	About string
	Tuned bool // constants of strategies were chosen on worlds of this kind, with the seeds of the other half
	World func(seed uint64) World
	Terms *Terms // that its worlds are made of; nil where there are none, or others for each seed
}

// base is the world that kinds differ from in one thing each.
var base = Terms{Nodes: 20, Sites: 100, Minutes: 30, Capacity: 2, Limits: true, Tells: 0.3, Noise: 0.2}

// Kinds lists the kinds of made worlds. Each takes one thing away from the base or adds one; the last draws everything.
func Kinds() []Kind {
	kind := func(name, about string, tuned bool, change func(t *Terms)) Kind {
		t := base
		change(&t)
		return Kind{name, about, tuned, func(seed uint64) World { return Made(t, seed) }, &t}
	}
	strong := func(n int, by float64) func(t *Terms) {
		return func(t *Terms) { t.Strong, t.Factor, t.Limits = n, by, false }
	}
	return []Kind{
		kind("equal", "20 equal nodes, 100 sites, half an hour, twice the bandwidth that random placement asks for", true, func(*Terms) {}),
		kind("one-x3", "one node with 3 times the speed and bandwidth of the others, sites without limits", false, strong(1, 3)),
		kind("one-x10", "one node with 10 times", true, strong(1, 10)),
		kind("one-x30", "one node with 30 times", false, strong(1, 30)),
		kind("one-x100", "one node with 100 times", false, strong(1, 100)),
		kind("fifth-x2", "a fifth of the nodes with twice", false, strong(4, 2)),
		kind("fifth-x5", "a fifth of the nodes with 5 times", true, strong(4, 5)),
		kind("fifth-x10", "a fifth of the nodes with 10 times", false, strong(4, 10)),
		kind("lognormal", "bandwidths of nodes log-normal, sigma 1", true, func(t *Terms) { t.Spread = 1 }),
		kind("stores", "half of the bandwidth to storage, log-normal, sigma 0.7", false, func(t *Terms) { t.Stores = 0.7 }),
		kind("few-nodes", "4 nodes, 60 sites", false, func(t *Terms) { t.Nodes, t.Sites = 4, 60 }),
		kind("many-nodes", "60 nodes, 100 sites", false, func(t *Terms) { t.Nodes = 60 }),
		kind("scarce", "0.7 of the bandwidth that random placement asks for", false, func(t *Terms) { t.Capacity = 0.7 }),
		kind("ample", "6 times the bandwidth", false, func(t *Terms) { t.Capacity = 6 }),
		kind("few-places", "80 places for 100 sites", true, func(t *Terms) { t.Places = 4 }),
		kind("one-x100-places", "one node of 100 times, 8 places a node, no limit of bandwidth", false, func(t *Terms) {
			t.Strong, t.Factor, t.Limits, t.Places, t.Capacity = 1, 100, false, 8, 0
		}),
		kind("noisy", "leases' speeds e^N(0, 1) around their paths'", false, func(t *Terms) { t.Noise = 1 }),
		kind("blind", "delay tells nothing of speed", true, func(t *Terms) { t.Blind, t.Tells = true, 0.7 }),
		kind("told", "delay tells nearly all of speed", false, func(t *Terms) { t.Tells = 0.05 }),
		kind("drift", "paths wander, by a factor e in an hour", true, func(t *Terms) { t.Drift, t.Minutes = 1, 60 }),
		kind("drift-fast", "paths wander, by a factor e squared in an hour", false, func(t *Terms) { t.Drift, t.Minutes = 2, 60 }),
		kind("blocked", "three pairs of ten shut out for good", true, func(t *Terms) { t.Blocked = 0.3 }),
		kind("bans", "20 pairs a minute shut out for five minutes", false, func(t *Terms) { t.Bans = 20 }),
		kind("polite", "sites ask for pauses, 1.5 s on average", false, func(t *Terms) { t.Gap, t.Limits = 1.5, false }),
		kind("sizes", "sites hold very different amounts and end", false, func(t *Terms) { t.Sizes = 1.5 }),
		kind("short", "six minutes", false, func(t *Terms) { t.Minutes = 6 }),
		kind("brief", "one minute, sites that hold what random placement collects in about as long", false, func(t *Terms) { t.Minutes, t.Sizes = 1, 0.5 }),
		kind("brief-few", "the same, 4 nodes, 20 sites", false, func(t *Terms) { t.Nodes, t.Sites, t.Minutes, t.Sizes = 4, 20, 1, 0.5 }),
		kind("long", "two hours", false, func(t *Terms) { t.Minutes = 120 }),
		{"arrivals", "tasks of 20 pages come to 12 nodes and 60 sites that change their mind 60 times, load 0.6", false,
			func(seed uint64) World { return Changing(12, 60, 60, 0.6, 1, seed) }, nil},
		{"arrivals-hot", "the same, 240 times, load 0.95", true, func(seed uint64) World { return Changing(12, 60, 240, 0.95, 1, seed) }, nil},
		{"drawn", "everything drawn: nodes, inequality, places, capacity, noise, drift, blocking, politeness, sizes", false,
			func(seed uint64) World { return Made(Drawn(seed), seed) }, nil},
	}
}

// KindTerms returns what the worlds of a kind are made of.
func KindTerms(name string) (Terms, bool) {
	for _, k := range Kinds() {
		if k.Name == name && k.Terms != nil {
			return *k.Terms, true
		}
	}
	return Terms{}, false
}

// KindNames lists the kinds that have terms.
func KindNames() (out []string) {
	for _, k := range Kinds() {
		if k.Terms != nil {
			out = append(out, k.Name)
		}
	}
	return out
}

// Drawn draws terms: each way in which worlds differ is there or not by chance.
func Drawn(seed uint64) Terms {
	r := rand.New(rand.NewPCG(seed, 0x647261776e))
	maybe := func(p, x float64) float64 {
		if r.Float64() < p {
			return x
		}
		return 0
	}
	between := func(lo, hi float64) float64 { return lo * math.Exp(r.Float64()*math.Log(hi/lo)) }
	t := Terms{
		Nodes: int(between(3, 50)), Sites: int(between(30, 200)), Minutes: int(between(8, 60)), Capacity: between(0.7, 6),
		Limits: r.Float64() < 0.5, Tells: between(0.05, 1), Blind: r.Float64() < 0.2, Noise: between(0.05, 1),
		Drift: maybe(0.3, between(0.3, 2)), Blocked: maybe(0.3, between(0.05, 0.5)), Bans: maybe(0.2, between(2, 40)),
		Gap: maybe(0.3, between(0.2, 4)), Sizes: maybe(0.3, between(0.3, 2)), Spread: maybe(0.4, between(0.2, 1.2)),
		Stores: maybe(0.2, between(0.2, 1)),
	}
	if r.Float64() < 0.5 {
		t.Strong, t.Factor = 1+r.IntN(1+t.Nodes/4), between(2, 100)
	}
	if r.Float64() < 0.3 {
		t.Places = 1 + int(between(0.4, 2)*float64(t.Sites)/float64(t.Nodes))
	}
	return t
}

package predict

import (
	"math"
	"slices"
	"sort"

	"argosy/internal/plan/netcoord"
)

// model is a log-linear picture of all pairs: ln rate = mean + node + site − slope·(ln delay − typical). What it leaves
// over at a site is carried to nodes that are near the one where it was seen.
type model struct {
	fitted  bool
	mean    float64
	node    []float64
	site    []float64
	slope   float64
	typical float64 // mean of ln delay
	spread  float64 // standard deviation of a pair around the picture
	space   *netcoord.Space
	marks   []int // nodes
	of      []int // landmarks that the space is of: those of the last Fit
	near    [][]float64
	nodes   []netcoord.Coord
	sites   []netcoord.Coord
	delays  []uint32    // of each site, at the last Fit
	due     [][]float64 // of each site that is to be placed when it is asked for next: its delays to landmarks at the last Fit; else nil
	told    []int       // delays that landmarks had told of each site of those that it is placed by; 0: by none
	served  float64     // share of all requests that give a page; 0 before there were any
	differs float64     // how nodes differ in that (fitServed)
	clump   float64
	more    []float64  // share that each node has more than others of the same sites
	pairs   int        // that the factors were fitted to
	ridges  [2]float64 // of nodes' and of sites' factors
}

func (m *model) nodeAt(n int) netcoord.Coord {
	if n < len(m.nodes) {
		return m.nodes[n]
	}
	return netcoord.Coord{}
}

// siteAt is the coordinate of a site, as of the last Fit: it is made when somebody asks for it, which few do between two of them, from
// delays that were kept then and from nothing else, so that nothing hangs on who asks when, and a restart places sites where they were.
func (b *Book) siteAt(s int) netcoord.Coord {
	m := &b.model
	if s >= len(m.sites) {
		return netcoord.Coord{}
	}
	if d := m.due[s]; d != nil {
		m.sites[s], m.due[s] = m.space.Place(d), nil
	}
	return m.sites[s]
}

const (
	firstSpread = 0.8 // before anything says otherwise
	firstSlope  = 0.5 // a path twice as long is slower by a third
	ridge       = 1.0 // observations that say a factor is 1, before the factors have shown how they differ
)

// Rate returns the speed to expect of a pair.
func (b *Book) Rate(node, site int, at int64) Figure {
	var one [1]Figure
	b.Rates(site, at, []int32{int32(node)}, one[:])
	return one[0]
}

// Rates fills out with the speeds to expect of a site and each of the nodes.
func (b *Book) Rates(site int, at int64, nodes []int32, out []Figure) {
	b.rates(site, at, nodes, out, true)
}

// Others is Rates of a pair as if nobody had measured its own speed: what all others say of it.
func (b *Book) Others(node, site int) Figure {
	var one [1]Figure
	b.rates(site, 0, []int32{int32(node)}, one[:], false)
	return one[0]
}

// rates is Rates, of pairs whose own measurements count or not.
func (b *Book) rates(site int, at int64, nodes []int32, out []Figure, count bool) {
	if b.truth != nil {
		for k, node := range nodes {
			rate, _, _ := b.truth(int(node), site)
			out[k] = Figure{rate, 0, Stated}
		}
		return
	}
	src := Default
	if b.model.fitted {
		src = Predicted
	}
	pairs := b.site[site].pairs
	v := b.view(site)
	noise, drift := b.aging.fit()
	spread := firstSpread
	if b.model.fitted {
		spread = b.model.spread
	}
	b.leftOver(pairs, &v, spread, noise)
	next := 0
	for k, node := range nodes {
		var p *pair
		if next > 0 && pairs[next-1].node >= node { // out of order
			next = 0
		}
		for next < len(pairs) && pairs[next].node < node {
			next++
		}
		x := 0.0
		if next < len(pairs) && pairs[next].node == node {
			p, x = &pairs[next], b.seen[next]
		}
		if p == nil || x != x {
			x = b.picture(int(node), &v, p)
		}
		x, sd := b.carry(node, x, spread)
		f := Figure{x, sd, src}
		switch {
		case !count || p == nil:
		case p.rate.weight > 0:
			own := 1 / p.rate.variance(noise, drift, at)
			prior := 1 / (sd * sd)
			f = Figure{(b.lnRate(p)*own + x*prior) / (own + prior), 1 / math.Sqrt(own+prior), Measured}
		case p.least.at > 0:
			f.Value, f.Sigma = p.least.above(x, sd, noise, drift, at)
		}
		f.Value = math.Exp(f.Value)
		out[k] = f
	}
}

// Blind reports whether nothing is known of any pair's speed yet, so that all are the default.
func (b *Book) Blind() bool { return b.truth == nil && !b.cfg.Alone && !b.model.fitted }

// Own is what a pair's own leases have had on average, useful bits a second; 0: they have had pages, but told no speed, as where the node was at its own
// limit. false: they have had none, or the book is told.
func (b *Book) Own(node, site int) (float64, bool) {
	p := b.look(node, site)
	switch {
	case b.truth != nil || p == nil || p.served.good <= 0:
		return 0, false
	case p.rate.weight == 0:
		return 0, true
	}
	return math.Exp(b.lnRate(p)+b.Noise()/2) * p.served.good / p.served.all, true
}

// view is what the model says of a site, for any node.
type view struct {
	base  float64 // ln rate, without node and delay
	slope float64
	ms    float64 // ln delay at which the slope counts nothing
	place netcoord.Coord
	known bool // place is
}

func (b *Book) view(site int) view {
	m := &b.model
	v := view{place: b.siteAt(site)}
	v.known = v.place.Known()
	if !m.fitted {
		v.base, v.slope, v.ms = math.Log(b.cfg.DefaultRate), firstSlope, math.Log(b.cfg.DefaultMS)
		return v
	}
	v.base, v.slope, v.ms = m.mean, m.slope, m.typical
	if site < len(m.site) {
		v.base += m.site[site]
	}
	return v
}

// picture is the model's ln rate of a node and a site. p is what was measured of them, or nil.
func (b *Book) picture(node int, v *view, p *pair) float64 {
	x := v.base
	if m := &b.model; m.fitted && node < len(m.node) {
		x += m.node[node]
	}
	if p != nil && p.timed {
		return x - v.slope*(b.ln(p)-v.ms)
	}
	if v.known && node < len(b.model.nodes) {
		if n := &b.model.nodes[node]; n.Known() {
			x -= v.slope * (math.Log(max(netcoord.Distance(*n, v.place), 0.1)) - v.ms)
		}
	}
	return x
}

// left is what the picture leaves over at a pair whose speed was measured.
type left struct {
	node   int32
	over   float64
	weight float64 // by how sure it is
}

// leftOver finds what the picture says of a site's pairs whose speed was measured (seen; NaN of others), and what it leaves over there (over).
// spread is that of pairs around the picture, noise the variance of one measurement.
func (b *Book) leftOver(pairs []pair, v *view, spread, noise float64) {
	b.seen, b.over = b.seen[:0], b.over[:0]
	alike := spread * spread
	for i := range pairs {
		p, x := &pairs[i], math.NaN()
		if b.model.fitted && p.rate.weight > 0 && int(p.node) < len(b.model.near) {
			x = b.picture(int(p.node), v, p)
			b.over = append(b.over, left{p.node, b.lnRate(p) - x, alike / (alike + noise/p.rate.weight)})
		}
		b.seen = append(b.seen, x)
	}
}

// carry moves what is left over at measured pairs to a node, by how near it is to theirs.
func (b *Book) carry(node int32, x, sd float64) (float64, float64) {
	if int(node) >= len(b.model.near) {
		return x, sd
	}
	const alone = 0.7 // weight of what the picture says by itself
	sum, weight := 0.0, alone
	near := b.model.near[node]
	for i := range b.over {
		if o := &b.over[i]; o.node != node {
			w := near[o.node] * o.weight
			sum += w * o.over
			weight += w
		}
	}
	return x + sum/weight, sd * math.Sqrt(max(0.3, alone/weight))
}

// lnDelay is the logarithm of what Latency says of a node and a site of which p was measured, or nil.
func (b *Book) lnDelay(node, site int, p *pair) (float64, bool) {
	if p != nil && p.timed && b.truth == nil {
		return b.ln(p), true
	}
	if b.truth != nil {
		_, _, ms := b.truth(node, site)
		return math.Log(ms), ms > 0
	}
	n, s := b.model.nodeAt(node), b.siteAt(site)
	if n.Known() && s.Known() {
		return math.Log(max(netcoord.Distance(n, s), 0.1)), true
	}
	return 0, false
}

// Fit brings the model up to date, if enough was measured since it was fitted last. It is part of no prediction, so
// that one cycle sees one model.
func (b *Book) Fit() {
	grown := b.observed - b.fitted
	if b.cfg.Alone || grown == 0 || b.model.fitted && grown < max(10, b.fitted/20) {
		return
	}
	b.fitted = b.observed
	b.fitModulus()
	b.fitCoordinates()
	b.fitFactors()
	b.fitServed()
	b.fitNear()
}

// Fitted is a number that changes when the model was fitted anew.
func (b *Book) Fitted() int { return b.fitted }

// fitModulus chooses the modulus once there are samples enough; from then on it stays, for summaries must be comparable.
func (b *Book) fitModulus() {
	if b.modulus > 0 {
		return
	}
	var all [][]float64
	n := 0
	for s := range b.site {
		for i := range b.site[s].pairs {
			if d := b.site[s].pairs[i].delay; d != nil {
				all = append(all, d.ms)
				n += len(d.ms)
			}
		}
	}
	if n < modulusSamples {
		return
	}
	b.modulus = netcoord.Modulus(all)
	b.epoch++
}

// modulusSamples is how many delays it takes to choose a modulus; with fewer it is netcoord.DefaultModulus.
const modulusSamples = 100

// SetLandmarks says which nodes measure sites for all others. Without it they are chosen by the greedy k-centre rule.
func (b *Book) SetLandmarks(nodes []int) { b.model.marks = append([]int(nil), nodes...) }

// fitCoordinates places landmarks and nodes when there are other landmarks, or when a tenth of the delays between them is new, and sites
// when a tenth of theirs to landmarks is: every lease tells one.
func (b *Book) fitCoordinates() {
	m := &b.model
	fresh := b.fleet - b.placed
	moved := fresh > 0 && fresh >= b.placed/10 || m.space != nil && !slices.Equal(m.marks, m.of)
	if moved {
		b.placed = b.fleet
		moved = b.fitFleet()
	}
	if m.space == nil {
		return
	}
	if moved { // where sites lay says nothing in another space
		m.sites, m.delays, m.due, m.told = nil, nil, nil, nil
	}
	if n := len(b.site) - len(m.sites); n > 0 {
		m.sites, m.delays = append(m.sites, make([]netcoord.Coord, n)...), append(m.delays, make([]uint32, n)...)
		m.due, m.told = append(m.due, make([][]float64, n)...), append(m.told, make([]int, n)...)
	}
	for s := range b.site {
		if d := b.site[s].delays; d > m.delays[s]+m.delays[s]/10 {
			m.delays[s] = d
			b.fitSite(s)
		}
	}
}

// fitSite keeps what landmarks have measured of a site, by which it is to be placed, unless that is what they had when it was placed last:
// most delays are those of other nodes.
func (b *Book) fitSite(s int) {
	m := &b.model
	known, told := 0, 0
	for _, l := range m.of {
		if p := b.look(l, s); p != nil && p.delay != nil {
			known, told = known+1, told+p.delay.version
		}
	}
	if known < 3 || told <= m.told[s]+m.told[s]/10 {
		return
	}
	d := make([]float64, len(m.of))
	for k, l := range m.of {
		d[k] = math.NaN()
		if p := b.look(l, s); p != nil && p.delay != nil {
			d[k] = b.summary(p.delay)
		}
	}
	m.due[s], m.told[s] = d, told
}

// fitFleet places the landmarks and then the other nodes. It tells whether it could. It looks at nodes by their names: which of some that are as good become
// landmarks, and from where the space is fitted, does not hang on who was numbered first.
func (b *Book) fitFleet() bool {
	m := &b.model
	all := b.apart()
	if len(m.marks) == 0 {
		for _, k := range netcoord.Spread(b.Apart(all), min(b.cfg.Landmarks, len(all))) {
			m.marks = append(m.marks, all[k])
		}
	}
	if len(m.marks) < 3 {
		return false
	}
	space, err := netcoord.Fit(b.cfg.Coordinates, b.Apart(m.marks))
	if err != nil {
		return false // nothing was measured between them yet
	}
	m.space, m.of = space, slices.Clone(m.marks)
	m.nodes = make([]netcoord.Coord, len(b.node))
	for _, i := range all {
		d := make([]float64, len(m.marks))
		for k, l := range m.marks {
			d[k] = b.between(i, l)
		}
		m.nodes[i] = space.Place(d)
	}
	for k, l := range m.marks {
		m.nodes[l] = space.Landmarks[k]
	}
	return true
}

// apart are the nodes whose delay to or from another was measured, in the order of their names.
func (b *Book) apart() (all []int) {
	told := map[int]bool{}
	for i := range b.node {
		for to := range b.node[i].delay {
			told[i], told[to] = true, true
		}
	}
	return in(b.nodes.names, told).order
}

// fitNear says how near nodes are: by their coordinates, else by their group. It is as near from either side.
func (b *Book) fitNear() {
	n := len(b.node)
	if len(b.model.near) != n {
		all := make([]float64, n*n)
		b.model.near = make([][]float64, n)
		for i := range b.model.near {
			b.model.near[i] = all[i*n : (i+1)*n : (i+1)*n]
		}
	}
	near := b.model.near
	for i := range near {
		x := b.model.nodeAt(i)
		near[i][i] = 1
		for j := range i {
			at, y := 0.0, b.model.nodeAt(j)
			if x.Known() && y.Known() {
				at = math.Exp(-netcoord.Distance(x, y) / nearMS)
			} else if b.groups[i] != "" && b.groups[i] == b.groups[j] {
				at = 0.5
			}
			near[i][j], near[j][i] = at, at
		}
	}
}

// nearMS is the distance at which a node's experience counts for another at a third.
const nearMS = 15

// Probes returns the pairs of a site that are most worth a bandwidth probe: of those that were not measured, the n
// with the most to gain, taking what is sure and a share of what is not. The few that are predicted to be the best are
// worth more than any model of all.
func (b *Book) Probes(site int, at int64, nodes []int32, n int) []int32 {
	out := make([]Figure, len(nodes))
	b.Rates(site, at, nodes, out)
	type option struct {
		node  int32
		value float64
	}
	var options []option
	for k, f := range out {
		if f.Source != Measured {
			options = append(options, option{nodes[k], math.Log(f.Value) + f.Sigma/2})
		}
	}
	sort.SliceStable(options, func(a, c int) bool { return options[a].value > options[c].value })
	var best []int32
	for _, o := range options[:min(n, len(options))] {
		best = append(best, o.node)
	}
	return best
}

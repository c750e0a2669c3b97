package predict

// How much of what nodes had of a site differs by chance, and how much by the node: learned from the reports, so that nobody
// is moved after chance. Which URLs of a site are missing has nothing to do with who asks; a site that shuts nodes out differs
// from node to node and from one site to another.

// clump learns how far reports of one pair are from each other, against independent requests: what is missing of a site lies
// together in its queue. Sums of squares and of the variances that chance alone would give.
type clump struct{ square, chance float64 }

// clumpStart is what the first value, that requests are independent, is worth: variance of so many pages; clumpKeep is after how
// much of it half is forgotten.
const (
	clumpStart = 5
	clumpKeep  = 2000
)

// add takes in a report of a pair of which enough is known.
func (c *clump) add(s share, r Report) {
	if s.all < 5 || r.All <= 0 {
		return
	}
	off, chance := s.off(r)
	c.square += min(off*off, farOff*farOff*chance*c.of()) // a change is not a clump
	c.chance += chance
	if c.chance > clumpKeep {
		c.square, c.chance = c.square/2, c.chance/2
	}
}

// of is how many requests tell as much as one independent request would, at least 1.
func (c clump) of() float64 { return max(1, (clumpStart+c.square)/(clumpStart+c.chance)) }

// off is how many good requests more than expected a report has, and the variance of that by chance.
func (s share) off(r Report) (off, chance float64) {
	p := (s.good + 0.5) / (s.all + 1)
	return r.Good - p*r.All, p * (1 - p) * r.All * (1 + r.All/s.all)
}

// How nodes differ in what they have of one site, and how each does everywhere: the variance of their shares as a share of that of
// single requests. The first value stands for pairs, or nodes, whose requests have so much variance in sum.
const (
	firstDiffers = 0.05
	firstPairs   = 0.1
	leastDiffers = 0.002 // of pairs
	leastNodes   = 1e-5
	mostDiffers  = 0.6
)

// moments learn by how much figures differ beyond chance, from the squares of what they are off.
type moments struct{ square, of float64 }

// add takes in what one is off, its variance by chance, and the variance of a single request; how sure it is says how much it
// counts.
func (m *moments) add(off, chance, single float64) {
	sure := single / (single + chance/firstDiffers)
	m.square += sure * sure * (off*off - chance)
	m.of += sure * sure * single
}

func (m moments) differs(least float64) float64 {
	return min(mostDiffers, max(least, (firstDiffers*firstPairs+m.square)/(firstPairs+m.of)))
}

// fitServed finds how much the shares of pages that nodes had of one site differ beyond chance, and what each node has more or
// less than others of the same sites.
func (b *Book) fitServed() {
	m := &b.model
	m.clump = b.clump.of()
	var all share
	means := make([]share, len(b.site))
	for s := range b.site {
		for i := range b.site[s].pairs {
			x := &b.site[s].pairs[i].served
			means[s].good, means[s].all = means[s].good+x.good, means[s].all+x.all
		}
		all.good, all.all = all.good+means[s].good, all.all+means[s].all
	}
	if m.served = 0; all.all > 0 {
		m.served = (all.good + firstServed) / (all.all + 1)
	}
	var pairs moments
	nodes := make([]struct{ off, chance, single, squares, all float64 }, len(b.node))
	for s := range b.site {
		site := means[s]
		p := (site.good + m.served) / (site.all + 1)
		single := p * (1 - p)
		for i := range b.site[s].pairs {
			x := &b.site[s].pairs[i]
			n := x.served.all
			if rest := 1 - n/site.all; n > 0 && rest > 0.1 { // else there is nobody to compare it with
				pairs.add(x.served.good/n-p, m.clump*single*rest/n, single*rest)
				o := &nodes[x.node]
				o.off, o.all = o.off+x.served.good-n*p, o.all+n
				o.chance, o.single, o.squares = o.chance+n*m.clump*single*rest, o.single+n*single*rest, o.squares+n*n*single*rest
			}
		}
	}
	m.differs = pairs.differs(leastDiffers)
	var of moments
	for i := range nodes {
		if o := &nodes[i]; o.all > 0 {
			of.add(o.off/o.all, (o.chance+m.differs*o.squares)/(o.all*o.all), o.single/o.all)
		}
	}
	m.more = make([]float64, len(nodes))
	for i := range nodes {
		if o := &nodes[i]; o.all > 0 {
			sure := of.differs(leastNodes) * o.single / o.all
			m.more[i] = o.off / o.all * sure / (sure + (o.chance+m.differs*o.squares)/(o.all*o.all))
		}
	}
}

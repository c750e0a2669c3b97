package sim

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"argosy/internal/crawl"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/predict"
)

// pieces are a recording's pairs, piece by piece of its time.
type pieces struct {
	start, length int64 // ms
	n             int
	nodes         map[string]int
	at            map[string]int // sites
	sites         []pieceSite
	pairs         map[[2]int]*piecePair
	page          float64 // bits
	leases        []RecordedLease
	probed        rooted
	book          *predict.Book
	waited        waited
	uneven        float64 // variance of what a request tells of its pair's speed
	answers       float64 // share of an httpping that an answer takes, in the middle of the sites that tell
}

type pieceSite struct {
	name              string
	wait              float64 // that probes of it take longer than leases for as many bits, in units of waited; NaN: as those of all sites
	probed            rooted
	came              int64
	turn              int // its place in the order in which sites were given out first
	task              uint32
	began             int64   // when it began to, Unix ms
	looked            uint32  // leases before it was there, which have looked up its addresses
	resolver          string  // node that looked up its addresses before it was there; empty: it is not known
	width             int     // pages that it is asked for at once
	paced             bool    // its pauses are the limit of most of its requests
	varies            float64 // standard deviation of the logarithm of its requests' times
	answers           float64 // share of an httpping that an answer takes, over a connection that is open
	wall, worked      float64 // seconds of leases
	asked, good, bits float64
	leases            []RecordedLease
	parts             []portion
}

// portion is what some parts of a lease have told of a site: the bits that were had, and those that would have been, had no page been missing.
type portion struct {
	at        int64
	all, bits float64
}

type piecePair struct {
	probed        rooted
	bits, seconds []float64 // that pages would have had if all had been had, and the work they took
	parts, probes []learn.Fact
	told          []figure // in the order of time, but for probes, which come last
	asked, good   float64
	tells         float64 // s that it must have worked in a piece for that to tell its speed
	delay         float64 // s
}

// figure is one figure of a pair's speed: that of some parts, or of a probe.
type figure struct {
	piece int     // in the middle of which it was measured
	ln    float64 // of bits/s
}

// rooted is what bandwidth probes have fetched, in how many seconds, and when the first of them, Unix ms.
type rooted struct {
	bits, seconds, probes float64
	first                 int64
}

func (s *rooted) add(f *learn.Fact) {
	if s.probes == 0 {
		s.first = f.At
	}
	s.bits, s.seconds, s.probes = s.bits+f.Bits, s.seconds+f.Seconds, s.probes+1
}

// waited is how long a probe waits that takes as long as these, over a pair of such a speed, s.
func (s *rooted) waited(speed float64) float64 { return (s.seconds - s.bits/speed) / s.probes }

// root is the mean of what they found at the root, bits; 0 if there were none.
func (s *rooted) root() float64 { return s.bits / max(1, s.probes) / crawl.ProbeTries }

// usuallyVaries is how far the times of requests to a site lie apart where nobody has told, as a logarithm: about as exponentially distributed ones do.
const usuallyVaries = 0.8

// paces is by how much a site's leases must last longer than they work for its pauses to be the limit.
const paces = 1.1

// gap is the pause with which requests to a site, as long as its leases' were on average, take all the time that those leases took, s: no shorter than
// its job asks for, unless it was asked faster, as one may be that the job has a rule of its own for.
func (s *pieceSite) gap(delay float64) float64 {
	if s.asked == 0 || delay == 0 && s.wall < paces*s.worked {
		return 0
	}
	low, high := delay, s.wall/s.asked
	if low > high {
		low = 0
	}
	for range 40 {
		if gap := (low + high) / 2; s.spaced(gap, s.varies) < s.wall {
			low = gap
		} else {
			high = gap
		}
	}
	return low
}

// unlike is the spread of the times of a site's requests with which they, as far apart as its pause asks for, take the time that its leases took. What was
// told of it is the spread of their logarithms, and most of that may be of those that come at once: where pages are missing, or small, and where links
// have changed. More of it would have the pause and the requests add up to more than they did.
func (s *pieceSite) unlike(gap float64) float64 {
	if s.asked == 0 || gap <= 0 || s.spaced(gap, s.varies) <= s.wall {
		return s.varies
	}
	low, high := 0.0, s.varies
	for range 40 {
		if varies := (low + high) / 2; s.spaced(gap, varies) < s.wall {
			low = varies
		} else {
			high = varies
		}
	}
	return low
}

// spaced is the time that a site's leases take where requests start so far apart, s, and their times lie so far apart.
func (s *pieceSite) spaced(gap, varies float64) (sum float64) {
	for i := range s.leases {
		if l := &s.leases[i]; l.Asked > 0 {
			sum += l.Asked * spaced(gap, l.Worked/l.Asked, varies)
		}
	}
	return sum
}

// works is the share of their time that leases work for a site that wants no pause: they begin, and wait for their last part to be taken.
func (s *pieceSite) works(delay float64) float64 {
	if s.worked <= 0 || s.gap(delay) > 0 {
		return 0
	}
	return min(1, s.worked/s.wall)
}

// finds is how a site's pages became known: its first one at the beginning; from a lease's beginning on, or from its first page on, those that
// the lease was given until it ended, for most links stand on the pages that are had first; at the end of the recording those that are left.
func (s *pieceSite) finds(left float64) (out []Finds) {
	asked, known := 0.0, 1.0
	out = append(out, Finds{asked, known})
	for i := range s.leases {
		l := &s.leases[i]
		known = max(known, asked+l.Given)
		out = append(out, Finds{max(asked, 1), known})
		asked += l.Asked
	}
	return append(out, Finds{max(asked, 1), max(known, asked+left)})
}

// hadSteps is in how many steps of a site's requests it is told what was had of it.
const hadSteps = 50

// had is which share of a site's size was had after each step of its requests, of which so many times as many as were made are to be made: at first
// nearly all are pages, and large ones, and what is missing comes last. nil: nobody told.
func (s *pieceSite) had(whole float64) []float64 {
	slices.SortFunc(s.parts, func(a, b portion) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.all, b.all), cmp.Compare(a.bits, b.bits))
	})
	all, bits := 0.0, 0.0
	for i := range s.parts {
		all, bits = all+s.parts[i].all, bits+s.parts[i].bits
	}
	if all <= 0 || bits <= 0 {
		return nil
	}
	out := make([]float64, hadSteps+1)
	k, asked, had := 0, 0.0, 0.0
	for step := 1; step < hadSteps; step++ {
		want := float64(step) / hadSteps * all * whole
		for k < len(s.parts) && asked+s.parts[k].all <= want {
			asked, had = asked+s.parts[k].all, had+s.parts[k].bits
			k++
		}
		now := had + (want-asked)*bits/all
		if k < len(s.parts) {
			now = had + (want-asked)*s.parts[k].bits/s.parts[k].all
		}
		out[step] = min(1, now/(bits*whole))
	}
	out[hadSteps] = 1
	return out
}

// first is 1 if a site's first lease had its first page alone: it ended before the links of that were known. Else it is 0.
func (s *pieceSite) first() float64 {
	if len(s.leases) > 1 && s.leases[0].Asked == 1 {
		return 1
	}
	return 0
}

// success is the share of requests to a site that give a page, for all nodes but those that are beyond chance treated
// otherwise (three standard deviations): which URLs are missing has nothing to do with who asks.
func (s *pieceSite) success(x *piecePair) float64 {
	if s.asked == 0 {
		return 1
	}
	all := s.good / s.asked
	if x == nil || x.asked == 0 {
		return all
	}
	if beyondChance(x.good, x.asked, (s.good+0.5)/(s.asked+1)) {
		return x.good / x.asked
	}
	return all
}

// beyondChance reports whether so many of all are others than so large a share gives by chance: by three standard deviations.
func beyondChance(good, all, share float64) bool {
	return math.Abs(good-share*all) > 3*math.Sqrt(share*(1-share)*all)+0.5
}

func (r *Recording) pieces() *pieces {
	start, end := r.span()
	if end <= start {
		return nil
	}
	p := &pieces{start: start, nodes: map[string]int{}, at: map[string]int{}, pairs: map[[2]int]*piecePair{}, leases: r.Leases, answers: r.answers()}
	for i, n := range r.Nodes {
		p.nodes[n.ID] = i
	}
	p.number(r)
	bits, good := 0.0, 0.0
	for i := range r.Leases {
		l := &r.Leases[i]
		s := &p.sites[p.at[l.Site]]
		s.wall += max(0, float64(l.Ended-l.Started)/1000)
		s.leases = append(s.leases, *l)
		s.worked, s.asked, s.good, s.bits = s.worked+l.Worked, s.asked+l.Asked, s.good+l.Good, s.bits+l.Bits
		bits, good = bits+l.Bits, good+l.Good
	}
	if good > 0 {
		p.page = bits / good
	}
	p.n = min(mostPieces, max(1, int((end-start)/pieceMS)), max(1, maxPieces/max(1, len(r.Leases))))
	p.length = (end-start)/int64(p.n) + 1
	p.learn(r, func(*learn.Fact) float64 { return 0 })
	for i := range r.Facts {
		p.comes(&r.Facts[i])
		p.take(r.Facts[i])
	}
	p.remember(r.Before)
	for j := range p.sites {
		s := &p.sites[j]
		gap := s.gap(r.Delay)
		if s.width = 1; gap == 0 {
			s.width = max(1, r.Widths)
		}
		s.paced = gap > 0 && (r.Delay > 0 || gap*s.asked > s.worked)
	}
	p.speak(max(1, r.Widths))
	p.learn(r, p.waitOf)
	return p
}

// learn has a book tell what a recording says of its pairs, where probes wait so long, s.
func (p *pieces) learn(r *Recording, waits func(f *learn.Fact) float64) {
	learner := learn.New()
	for _, f := range slices.Concat(r.Before, r.Facts) {
		if f.Kind == learn.Crawl {
			f.Seconds = predict.Worked(f.Seconds, waits(&f))
		}
		learner.Take(f)
	}
	p.book = learner.Record().Book(predict.Config{})
	p.book.Fit()
}

// remember has what was learned before tell of the pairs that were not tried since. Who knew them chose others, so that those that were
// tried tell nothing of them.
func (p *pieces) remember(before []learn.Fact) {
	tried := maps.Clone(p.pairs)
	for _, f := range before {
		node, known := p.nodes[f.Node]
		site, there := p.at[f.Site]
		if known && there && tried[[2]int{node, site}] == nil {
			p.take(f)
		}
	}
}

// number numbers sites as their tasks were: a strategy that goes by the order of sites, or of those that it thinks alike, decides as it did then.
func (p *pieces) number(r *Recording) {
	var names []string
	tasks, came := map[string]uint32{}, r.comes()
	for i := range r.Leases {
		l := &r.Leases[i]
		if _, known := tasks[l.Site]; !known {
			names = append(names, l.Site)
			tasks[l.Site] = l.Task
		}
		tasks[l.Site] = min(tasks[l.Site], l.Task)
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(tasks[a], tasks[b]) })
	for j, name := range names {
		p.at[name] = j
		varies, known := r.Varies[name]
		if !known {
			varies = usuallyVaries
		}
		p.sites = append(p.sites, pieceSite{name: name, came: came[name].at, turn: came[name].turn, resolver: came[name].by, task: tasks[name], looked: came[name].looked, began: came[name].began, varies: varies, answers: cmp.Or(r.Answers[name], p.answers)})
	}
}

// answers is which share of an httpping an answer takes, in the middle of the sites that tell; 1 if none does.
func (r *Recording) answers() float64 {
	all := slices.Sorted(maps.Values(r.Answers))
	if len(all) == 0 {
		return 1
	}
	return all[(len(all)-1)/2]
}

// speak has all pairs' parts tell their speeds, where sites are asked so many pages at once.
func (p *pieces) speak(width int) {
	started := map[[2]int][]int64{}
	for i := range p.leases {
		l := &p.leases[i]
		if n, ok := p.nodes[l.Node]; ok {
			pair := [2]int{n, p.at[l.Site]}
			started[pair] = append(started[pair], l.Started)
		}
	}
	told := map[[2]int][]group{}
	for pair, x := range p.pairs {
		told[pair] = x.groups(started[pair], float64(whole*width))
	}
	p.uneven = uneven(told)
	larger := larger(told)
	for pair, x := range p.pairs {
		s := &p.sites[pair[1]]
		for i := range told[pair] {
			x.share(p, s, &told[pair][i], larger)
		}
		x.parts, x.tells = nil, min(telling, slices.Max(x.seconds))
	}
	p.waits()
	for pair, x := range p.pairs {
		wait := p.waitAt(pair[1], x.delay)
		for i := range x.probes {
			f := &x.probes[i]
			k := p.piece(f.At)
			worked := predict.Worked(f.Seconds, wait)
			x.bits[k], x.seconds[k] = x.bits[k]+f.Bits, x.seconds[k]+worked
			x.told = append(x.told, figure{k, math.Log(f.Bits / worked)})
		}
		x.probes, x.tells = nil, min(telling, slices.Max(x.seconds))
		slices.SortStableFunc(x.told, func(a, b figure) int { return cmp.Compare(a.piece, b.piece) })
	}
}

// pieceMS is how long a piece of a recording is, if there are not too many: a second is how often leases tell what they have done.
const (
	pieceMS    = 1_000
	mostPieces = 400
)

// comes has a site be there when it was measured.
func (p *pieces) comes(f *learn.Fact) {
	if j, there := p.at[f.Site]; there {
		if at, ok := probed(f); ok {
			p.sites[j].came = min(p.sites[j].came, at)
		}
	}
}

// take takes in a fact that was learned.
func (p *pieces) take(f learn.Fact) {
	if f.Kind == learn.Crawl {
		p.probed.add(&f)
	}
	i, known := p.nodes[f.Node]
	j, there := p.at[f.Site]
	if !known || !there || f.Kind != learn.Report && f.Kind != learn.Crawl && f.Kind != learn.Refused {
		return
	}
	x := p.pairs[[2]int{i, j}]
	if x == nil {
		x = &piecePair{bits: make([]float64, p.n), seconds: make([]float64, p.n), delay: p.delay(f.Node, j)}
		p.pairs[[2]int{i, j}] = x
	}
	if f.Kind == learn.Crawl {
		x.probed.add(&f)
		p.sites[j].probed.add(&f)
		x.probes = append(x.probes, f)
		return
	}
	x.asked, x.good = x.asked+f.All, x.good+f.Good
	if f.Kind == learn.Report {
		x.parts = append(x.parts, f)
	}
}

// whole is how many times as many pages as a site is asked for at once those of some parts must be for what they say of a pair's speed: a
// page is told with the part in which it ends, however long it was under way in those before.
const whole = 4

// group is some parts of a lease that tell one speed.
type group struct {
	parts                   []learn.Fact
	bits, good, all, worked float64
	few                     bool // pages, for what they say of the pair's speed
}

// groups are the parts of a pair's leases. Those of a lease that hold few pages tell together.
func (x *piecePair) groups(started []int64, pages float64) (out []group) {
	for lease, from := 0, 0; from < len(x.parts); {
		for lease+1 < len(started) && started[lease+1] < x.parts[from].At {
			lease++
		}
		end := from
		for end < len(x.parts) && (lease+1 >= len(started) || x.parts[end].At <= started[lease+1]) {
			end++
		}
		for from < end {
			to, all := from, 0.0
			for to < end && all < pages {
				all += x.parts[to].All
				to++
			}
			if rest := held(x.parts[to:end]); rest < pages {
				to = end
			}
			g := group{parts: x.parts[from:to], few: held(x.parts[from:to]) < pages}
			for i := range g.parts {
				f := &g.parts[i]
				g.bits, g.good, g.all, g.worked = g.bits+f.Bits, g.good+f.Good, g.all+f.All, g.worked+f.Seconds
			}
			out = append(out, g)
			from = to
		}
	}
	return out
}

// held is how many pages parts tell of.
func held(parts []learn.Fact) (all float64) {
	for i := range parts {
		all += parts[i].All
	}
	return all
}

// fewGroups is how many must be more than one of their pair to tell how much longer larger pages take.
const fewGroups = 20

// larger is how much longer pages take that are larger: to the power of that of their size, as the groups of one pair tell. 0 is where delays are
// all that they take, 1 where nothing but their bits counts.
func larger(told map[[2]int][]group) float64 {
	size, long, n := 0.0, 0.0, 0
	pairs := slices.SortedFunc(maps.Keys(told), func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	for _, pair := range pairs { // in order, for sums depend on it
		of := told[pair]
		var xs, ys []float64
		for i := range of {
			if g := &of[i]; g.bits > 0 && g.good > 0 && g.worked > 0 {
				xs, ys = append(xs, math.Log(g.bits/g.good)), append(ys, math.Log(g.worked/g.good))
			}
		}
		if len(xs) < 2 {
			continue
		}
		x, _ := spreadOf(xs)
		y, _ := spreadOf(ys)
		for i := range xs {
			size, long, n = size+(xs[i]-x)*(xs[i]-x), long+(xs[i]-x)*(ys[i]-y), n+1
		}
	}
	if n < fewGroups || size <= 0 {
		return 1
	}
	return min(1, max(0, long/size))
}

// share has some parts tell one speed: that of as many pages as were asked for, whichever were missing. Pages that are few may all be small, or all be
// large, and take nearly as long as others. A site whose pauses are the limit is asked as often, however large its pages are: what tells then is how
// long each took.
func (x *piecePair) share(p *pieces, s *pieceSite, g *group, larger float64) {
	page := s.bits / s.good
	if g.all <= 0 || g.worked <= 0 || !(page > 0) {
		return
	}
	each := page
	if g.bits > 0 && g.good > 0 {
		switch each = g.bits / g.good; {
		case g.few && g.bits < page: // what is next to nothing takes as long as its answer
			each = page
		case g.few:
			each *= math.Pow(page/each, 1-larger)
		}
		x.told = append(x.told, figure{p.piece((g.parts[0].At + g.parts[len(g.parts)-1].At) / 2), math.Log(each * g.all / g.worked)})
	}
	if s.paced {
		each = page
	}
	if at := g.parts[0].At; at >= p.start {
		s.parts = append(s.parts, portion{at, each * g.all, g.bits})
	}
	for i := range g.parts {
		f := &g.parts[i]
		k := p.piece(f.At)
		x.seconds[k], x.bits[k] = x.seconds[k]+f.Seconds, x.bits[k]+each*g.all*f.Seconds/g.worked
	}
}

// piece is the piece that a time is in.
func (p *pieces) piece(at int64) int { return int(min(max((at-p.start)/p.length, 0), int64(p.n-1))) }

// telling is for how long a pair must have worked in a piece for that to tell its speed, s; of one that worked less in all of them the longest
// tells.
const telling = 0.5

// had is a pair's speed in a piece, 0 if it was not tried then.
func (x *piecePair) had(k int) float64 {
	if x.bits[k] > 0 && x.seconds[k] > 0 && x.seconds[k] >= x.tells {
		return x.bits[k] / x.seconds[k]
	}
	return 0
}

// over is a pair's speed over some pieces, 0 if it was not tried in them.
func (x *piecePair) over(from, to int) float64 {
	bits, seconds := 0.0, 0.0
	for k := from; k <= to; k++ {
		bits, seconds = bits+x.bits[k], seconds+x.seconds[k]
	}
	if seconds <= 0 {
		return 0
	}
	return bits / seconds
}

// nearest is the speed in the nearest piece in which a pair was tried, and that piece; 0 if it never was.
func (x *piecePair) nearest(k int) (speed float64, piece int) {
	for d := range x.bits {
		for _, at := range [2]int{k - d, k + d} {
			if at >= 0 && at < len(x.bits) && x.had(at) > 0 {
				return x.had(at), at
			}
		}
	}
	return 0, 0
}

package solve

import (
	"fmt"
	"math"
	"sort"
	"strings"
)

// Bin is one bin of a vector packing: what it still holds in each dimension, and whether it is in use already.
type Bin struct {
	Capacity []float64
	Working  bool
}

// Packing is the outcome of a packing rule.
type Packing struct {
	Bin      []int // of each item, -1 if it found no place
	Used     int   // bins that hold at least one of the items
	Opened   int   // of those, the ones that were not working before
	Bound    int   // no packing of all items uses fewer bins
	TooBig   []int // items that no bin could hold even if it were empty
	Waiting  []int // items that would fit a bin but found none with room
	Rule     string
	Searched bool // small problems: all packings were looked through, so Used is the least possible
}

// Packing rules. The first is the published one; the portfolio takes the best of all of them and then tries to empty
// bins, so it is never worse than any.
const (
	RuleWorkingFirst = "working-first"
	RulePortfolio    = "portfolio"
)

// rule is one way to pack. Items come in an order and choose a bin, or bins are filled one after the other with the
// item that suits what is left of them best.
type rule struct {
	name  string
	order func(size []float64) float64             // larger first; nil keeps the order of arrival
	bin   func(need, left, all []float64) float64  // larger is better, among bins in use; nil takes the first that fits
	item  func(need, left, mean []float64) float64 // set: fill bin by bin, the best item first
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

func largest(x []float64) (s float64) {
	for _, v := range x {
		s = max(s, v)
	}
	return s
}

func product(x []float64) float64 {
	s := 1.0
	for _, v := range x {
		s *= max(v, 1e-6) // a dimension that is not needed says nothing of the others
	}
	return s
}

func square(x []float64) (s float64) {
	for _, v := range x {
		s += v * v
	}
	return s
}

func dot(a, b []float64) (s float64) {
	for d := range a {
		s += a[d] * b[d]
	}
	return s
}

func minusLeft(need, left, _ []float64) (s float64) {
	for d := range need {
		s -= (left[d] - need[d]) * (left[d] - need[d])
	}
	return s
}

// rules are those of Panigrahy, Talwar, Uyeda and Wieder, Heuristics for Vector Bin Packing (2011), and of Grandl et
// al., Multi-resource Packing for Cluster Schedulers (2014). Sizes are fractions of the mean capacity.
var rules = []rule{
	{name: RuleWorkingFirst},
	{name: "ffd-sum", order: sum},
	{name: "ffd-max", order: largest},
	{name: "ffd-product", order: product},
	{name: "ffd-square", order: square},
	{name: "best-fit", order: sum, bin: minusLeft},
	{name: "best-fit-arrival", bin: minusLeft},
	{name: "tetris", order: sum, bin: func(need, left, all []float64) float64 { return -dot(left, all) }},
	{name: "dot-product", item: func(need, left, mean []float64) float64 {
		s := 0.0
		for d := range need {
			s += mean[d] * need[d] * left[d]
		}
		return s
	}},
	{name: "l2-norm", item: func(need, left, mean []float64) float64 {
		s := 0.0
		for d := range need {
			s -= mean[d] * (left[d] - need[d]) * (left[d] - need[d])
		}
		return s
	}},
}

// PackRules names the packing rules.
func PackRules() []string {
	out := []string{RulePortfolio}
	for _, r := range rules {
		out = append(out, r.name)
	}
	return out
}

// Pack places items in bins by a rule so that no bin is exceeded in any dimension. The paper's rule, working-first,
// takes the items as they come, looks first through the bins in use and then through the idle ones, in their order,
// and takes the first that fits.
func Pack(bins []Bin, items [][]float64, name string) (Packing, error) {
	p, err := newPacker(bins, items)
	if err != nil {
		return Packing{}, err
	}
	var best Packing
	switch i := ruleAt(name); {
	case name == RulePortfolio:
		best = p.portfolio()
	case i >= 0:
		best = p.pack(rules[i])
	default:
		return Packing{}, fmt.Errorf("rule %q: allowed are %s", name, strings.Join(PackRules(), ", "))
	}
	best.Rule = name
	if name != RulePortfolio {
		best.Bound = p.bound()
	}
	return best, nil
}

func ruleAt(name string) int {
	for i, r := range rules {
		if r.name == name {
			return i
		}
	}
	return -1
}

// packer holds a problem with sizes as fractions of the mean capacity of a bin.
type packer struct {
	bins  []Bin
	order []int       // bins in use first, each kind in the order given
	full  [][]float64 // capacity of each bin
	need  [][]float64
	mean  []float64 // need of all items in each dimension
	cant  []bool    // items that no bin holds
	alike bool      // bins in use count no more than idle ones

	stop    func() bool // nil: nothing is broken off
	work    int         // since stop was asked
	stopped bool
}

// askEvery is the work between two questions whether to stop, in numbers compared: some hundredths of a second.
const askEvery = 1 << 24

// over reports whether the packing has to be broken off, work being what has been done since over was called last. Small
// problems are over before it asks.
func (p *packer) over(work int) bool {
	if p.stop == nil || p.stopped {
		return p.stopped
	}
	if p.work += work; p.work >= askEvery {
		p.work, p.stopped = 0, p.stop()
	}
	return p.stopped
}

// look is the work of holding an item against every bin.
func (p *packer) look() int { return len(p.bins) * len(p.mean) }

const slackness = 1e-9 // of the mean capacity: what sums of decimals may be off

func newPacker(bins []Bin, items [][]float64) (*packer, error) {
	if len(bins) == 0 {
		return nil, fmt.Errorf("no nodes")
	}
	dims := len(bins[0].Capacity)
	if dims == 0 {
		return nil, fmt.Errorf("node 1: no capacity")
	}
	p := &packer{bins: bins, mean: make([]float64, dims), cant: make([]bool, len(items))}
	unit := make([]float64, dims)
	for i, b := range bins {
		if err := vector("node", i, b.Capacity, dims); err != nil {
			return nil, err
		}
		for d, c := range b.Capacity {
			unit[d] += c / float64(len(bins))
		}
	}
	scale := func(x []float64) []float64 {
		out := make([]float64, dims)
		for d := range out {
			if out[d] = x[d]; unit[d] > 0 {
				out[d] /= unit[d]
			}
		}
		return out
	}
	for _, b := range bins {
		p.full = append(p.full, scale(b.Capacity))
	}
	for j, x := range items {
		if err := vector("task", j, x, dims); err != nil {
			return nil, err
		}
		p.need = append(p.need, scale(x))
		p.cant[j] = true
		for i := range p.full {
			if fits(p.need[j], p.full[i]) {
				p.cant[j] = false
				break
			}
		}
		if !p.cant[j] {
			for d, v := range p.need[j] {
				p.mean[d] += v
			}
		}
	}
	for _, working := range []bool{true, false} {
		for i, b := range bins {
			if b.Working == working {
				p.order = append(p.order, i)
			}
		}
	}
	return p, nil
}

// mostAmount is the most of a resource that there may be: sums of a million are still numbers.
const mostAmount = math.MaxFloat64 / 1e6

func vector(what string, i int, x []float64, dims int) error {
	if len(x) != dims {
		return fmt.Errorf("%s %d: %d dimensions, node 1 has %d", what, i+1, len(x), dims)
	}
	for _, v := range x {
		if v < 0 || v != v || v > mostAmount {
			return fmt.Errorf("%s %d: %g is not an amount: allowed are 0 to %.3g", what, i+1, v, mostAmount)
		}
	}
	return nil
}

func fits(need, left []float64) bool {
	for d, v := range need {
		if v > left[d]+slackness {
			return false
		}
	}
	return true
}

// state is a packing in the making.
type state struct {
	p    *packer
	left [][]float64
	bin  []int
	held []int // items in each bin
}

func (p *packer) start() *state {
	s := &state{p: p, bin: make([]int, len(p.need)), held: make([]int, len(p.bins)), left: make([][]float64, len(p.bins))}
	for i := range s.left {
		s.left[i] = append([]float64(nil), p.full[i]...)
	}
	for j := range s.bin {
		s.bin[j] = -1
	}
	return s
}

func (s *state) put(j, i int) {
	s.bin[j] = i
	s.held[i]++
	for d, v := range s.p.need[j] {
		s.left[i][d] -= v
	}
}

func (s *state) take(j int) {
	i := s.bin[j]
	s.bin[j] = -1
	s.held[i]--
	for d, v := range s.p.need[j] {
		s.left[i][d] += v
	}
}

func (p *packer) pack(r rule) Packing {
	s := p.start()
	if r.item != nil {
		s.fillBins(r)
	} else {
		s.placeItems(r)
	}
	return s.packing()
}

func (s *state) placeItems(r rule) {
	p := s.p
	items := make([]int, 0, len(p.need))
	for j := range p.need {
		if !p.cant[j] {
			items = append(items, j)
		}
	}
	if r.order != nil {
		size := make([]float64, len(p.need))
		for j, x := range p.need {
			size[j] = r.order(x)
		}
		sort.SliceStable(items, func(a, b int) bool { return size[items[a]] > size[items[b]] })
	}
	used := 0 // bins of p.order that are in use, a prefix but for idle ones that did not fit
	open := make([]bool, len(p.bins))
	for _, i := range p.order {
		if open[i] = p.bins[i].Working && !p.alike; open[i] {
			used++
		}
	}
	for _, j := range items {
		if p.over(p.look()) {
			return
		}
		at, best := -1, math.Inf(-1)
		for _, i := range p.order[:used] {
			if !open[i] || !fits(p.need[j], s.left[i]) {
				continue
			}
			if r.bin == nil {
				at = i
				break
			}
			if v := r.bin(p.need[j], s.left[i], p.need[j]); v > best {
				at, best = i, v
			}
		}
		for k := 0; at < 0 && k < len(p.order); k++ {
			if i := p.order[k]; !open[i] && fits(p.need[j], s.left[i]) {
				at = i
				open[i] = true
				used = max(used, k+1)
			}
		}
		if at >= 0 {
			s.put(j, at)
		}
	}
}

func (s *state) fillBins(r rule) {
	p := s.p
	items := make([]int, 0, len(p.need))
	for j := range p.need {
		if !p.cant[j] {
			items = append(items, j)
		}
	}
	for _, i := range p.order {
		for len(items) > 0 {
			if p.over(len(items) * len(p.mean)) {
				return
			}
			at, best := -1, math.Inf(-1)
			for k, j := range items {
				if fits(p.need[j], s.left[i]) {
					if v := r.item(p.need[j], s.left[i], p.mean); v > best {
						at, best = k, v
					}
				}
			}
			if at < 0 {
				break
			}
			s.put(items[at], i)
			items = append(items[:at], items[at+1:]...)
		}
	}
}

func (s *state) packing() Packing {
	r := Packing{Bin: s.bin}
	for i, n := range s.held {
		if n > 0 {
			r.Used++
			if !s.p.bins[i].Working {
				r.Opened++
			}
		}
	}
	for j, i := range s.bin {
		switch {
		case s.p.cant[j]:
			r.TooBig = append(r.TooBig, j)
		case i < 0:
			r.Waiting = append(r.Waiting, j)
		}
	}
	return r
}

// better orders packings: more items placed, then fewer bins, then fewer new ones.
func (a Packing) better(b Packing) bool {
	if len(a.Waiting) != len(b.Waiting) {
		return len(a.Waiting) < len(b.Waiting)
	}
	if a.Used != b.Used {
		return a.Used < b.Used
	}
	return a.Opened < b.Opened
}

// portfolio takes the best of all rules, with unequal bins also of those with the largest first. The published one is always carried through, the others until it has to stop.
func (p *packer) portfolio() Packing {
	stop := p.stop
	p.stop = nil
	best := p.pack(rules[0])
	p.stop = stop
	for _, r := range rules[1:] {
		if p.over(0) {
			break
		}
		if got := p.pack(r); got.better(best) {
			best = got
		}
	}
	for _, large := range p.largeFirst() {
		for _, r := range rules {
			if p.over(0) {
				break
			}
			if got := large.pack(r); got.better(best) {
				best = got
			}
		}
		p.stopped = p.stopped || large.stopped
	}
	bound := p.bound()
	if len(best.Waiting) == 0 && best.Used > bound {
		if got := p.empty(best); got.better(best) {
			best = got
		}
	}
	if len(best.Waiting) == 0 && best.Used > bound {
		best = p.search(best, bound)
	} else if len(best.Waiting) == 0 {
		best.Searched = true
	}
	best.Bound = bound
	return best
}

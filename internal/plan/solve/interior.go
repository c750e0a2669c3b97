package solve

import "math"

// MaxShares solves a program of time shares by a primal-dual interior point method with predictor and corrector (Mehrotra,
// 1992), until value and bound are within gap of each other, as a share, or stop, which is asked before each step, says so
// (nil: never). The rows of items are eliminated, so that a step costs what a dense system of as many rows as the bins
// have does, beside one pass over all pairs for each of its columns. Whatever ends it, bound and value hold.
func MaxShares(p Shares, gap float64, stop func() bool) (Optimum, error) {
	if err := p.check(); err != nil {
		return Optimum{}, err
	}
	s := newInterior(&p)
	best := Optimum{Bound: math.Inf(1), Y: make([]float64, len(p.Bin)), Prices: Prices{Cap: make([]float64, len(p.Cap)), Places: make([]float64, len(p.Cap))}}
	best.Bound = p.Bound(best.Prices)
	if len(s.of) == 0 {
		best.Bound = 0
		return best, nil
	}
	const most = 200
	for best.Steps < most && best.Gap() > gap && (stop == nil || !stop()) {
		if !s.step() {
			break
		}
		best.Steps++
		s.compare(&best)
	}
	return best, nil
}

// interior is the state of the method, in scaled figures: values of at most 1, rows of bins with right sides of 1. A row
// has a slack and a price; pairs that could bring nothing are left out.
type interior struct {
	p     *Shares
	scale float64 // of values

	of    []int32   // listed pair of each kept one
	bin   []int32   // of each kept pair
	start []int32   // of each kept item
	item  []int32   // of each kept item, its number
	v, u  []float64 // value, use of the bin's capacity
	w     []float64 // use of the bin's places

	capRow, placeRow []int32 // of each bin, its row or -1
	rows             int     // of bins
	sized            []bool  // of each kept item
	amount           []float64
	worth            []float64 // right side of an item's size row, 0 where it has none

	x, z []float64 // of pairs: share, reduced cost
	s, y [3][]float64

	dx, dz []float64
	ds, dy [3][]float64

	m   []float64 // the system of the rows of bins
	rhs []float64
	fac []factor // of each item

	four     []float64 // vectors that are taken off the system together
	gathered int
	mu       float64
}

// The three sorts of rows.
const (
	ofBins = iota
	ofAmounts
	ofSizes
)

// factor is the Cholesky factor of an item's two rows.
type factor struct{ a, b, c float64 } // [a 0; b c]

func newInterior(p *Shares) *interior {
	s := &interior{p: p, capRow: make([]int32, len(p.Cap)), placeRow: make([]int32, len(p.Cap)), start: []int32{0}}
	for i := range p.Cap {
		s.capRow[i], s.placeRow[i] = -1, -1
		if !math.IsInf(p.Cap[i], 1) && p.Cap[i] > 0 {
			s.capRow[i] = int32(s.rows)
			s.rows++
		}
		if c := p.places(i); !math.IsInf(c, 1) && c > 0 {
			s.placeRow[i] = int32(s.rows)
			s.rows++
		}
	}
	for j := range p.items() {
		if p.amount(j) <= 0 || p.size(j) <= 0 {
			continue
		}
		before := len(s.of)
		for k := p.Start[j]; k < p.Start[j+1]; k++ {
			b := p.Bin[k]
			if p.Value[k] > 0 && p.places(int(b)) > 0 && (p.Cap[b] > 0 || p.Use[k] == 0) {
				s.of = append(s.of, k)
				s.scale = max(s.scale, p.Value[k])
			}
		}
		if len(s.of) == before {
			continue
		}
		s.item = append(s.item, int32(j))
		s.start = append(s.start, int32(len(s.of)))
		s.amount = append(s.amount, p.amount(j))
		s.sized = append(s.sized, !math.IsInf(p.size(j), 1))
		s.worth = append(s.worth, p.size(j))
	}
	s.fill()
	return s
}

// fill makes the arrays and the first point, which is strictly inside on both sides.
func (s *interior) fill() {
	n, m := len(s.of), len(s.item)
	s.bin, s.v, s.u, s.w = make([]int32, n), make([]float64, n), make([]float64, n), make([]float64, n)
	s.x, s.z, s.dx, s.dz = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for k, size := range []int{ofBins: s.rows, ofAmounts: m, ofSizes: m} {
		s.s[k], s.y[k], s.ds[k], s.dy[k] = make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size)
	}
	s.four = make([]float64, 4*s.rows)
	s.m, s.rhs, s.fac = make([]float64, s.rows*s.rows), make([]float64, s.rows), make([]factor, m)
	for k, from := range s.of {
		b := s.p.Bin[from]
		s.bin[k], s.v[k] = b, s.p.Value[from]/s.scale
		if s.capRow[b] >= 0 {
			s.u[k] = s.p.Use[from] / s.p.Cap[b]
		}
		if s.placeRow[b] >= 0 {
			s.w[k] = 1 / s.p.places(int(b))
		}
	}
	load := make([]float64, s.rows)
	for j := range m {
		if s.sized[j] {
			s.worth[j] /= s.scale
		}
		lo, hi := s.start[j], s.start[j+1]
		each, top := s.amount[j]/float64(2*(hi-lo)), 0.0
		for k := lo; k < hi; k++ {
			top = max(top, s.v[k])
		}
		if s.sized[j] {
			each = min(each, s.worth[j]/(2*top*float64(hi-lo)))
		}
		s.y[ofAmounts][j] = 1.1*top + 1e-3
		for k := lo; k < hi; k++ {
			s.x[k] = each
			s.rowsOf(k, func(r int32, a float64) { load[r] += a * each })
		}
	}
	for r := range load {
		s.y[ofBins][r] = 0.1
	}
	for k := range s.x {
		f := 1.0
		s.rowsOf(int32(k), func(r int32, _ float64) { f = min(f, 0.5/max(0.5, load[r])) })
		s.x[k] *= f
	}
	s.settle()
}

// rowsOf visits the bin rows of a pair.
func (s *interior) rowsOf(k int32, visit func(r int32, a float64)) {
	b := s.bin[k]
	if r := s.capRow[b]; r >= 0 {
		visit(r, s.u[k])
	}
	if r := s.placeRow[b]; r >= 0 {
		visit(r, s.w[k])
	}
}

// settle sets slacks and reduced costs of the first point.
func (s *interior) settle() {
	for r := range s.s[ofBins] {
		s.s[ofBins][r] = 1
	}
	for j := range s.item {
		sum, worth := 0.0, 0.0
		for k := s.start[j]; k < s.start[j+1]; k++ {
			sum += s.x[k]
			worth += s.x[k] * s.v[k]
			s.rowsOf(k, func(r int32, a float64) { s.s[ofBins][r] -= a * s.x[k] })
			s.z[k] = s.y[ofAmounts][j] - s.v[k]
			s.rowsOf(k, func(r int32, a float64) { s.z[k] += a * s.y[ofBins][r] })
		}
		s.s[ofAmounts][j] = s.amount[j] - sum
		if s.sized[j] {
			s.s[ofSizes][j] = s.worth[j] - worth
			s.y[ofSizes][j] = 0.1
			for k := s.start[j]; k < s.start[j+1]; k++ {
				s.z[k] += 0.1 * s.v[k]
			}
		}
	}
}

// inside is how much of the way to the border a step goes: what is nearer slows the next steps down.
const inside = 0.9

// step goes one step towards the optimum; false where rounding lets none be taken any more.
func (s *interior) step() bool {
	s.mu = s.product(0, 0) / float64(s.count())
	if !(s.mu > 1e-18) {
		return false
	}
	if !s.factorise() {
		return false
	}
	s.direct(0, false)
	px, py := s.longest()
	aim := s.product(px, py) / float64(s.count()) / s.mu
	s.direct(aim*aim*aim*s.mu, true)
	px, py = s.longest()
	px, py = min(1, inside*px), min(1, inside*py)
	if !(px > 1e-10) && !(py > 1e-10) {
		return false
	}
	for k := range s.x {
		s.x[k] += px * s.dx[k]
		s.z[k] += py * s.dz[k]
	}
	for sort := range s.s {
		for r := range s.s[sort] {
			s.s[sort][r] += px * s.ds[sort][r]
			s.y[sort][r] += py * s.dy[sort][r]
		}
	}
	return true
}

func (s *interior) count() int {
	n := len(s.x) + s.rows + len(s.item)
	for _, yes := range s.sized {
		if yes {
			n++
		}
	}
	return n
}

// product is the sum of all complementary products after a step.
func (s *interior) product(px, py float64) (sum float64) {
	for k := range s.x {
		sum += (s.x[k] + px*s.dx[k]) * (s.z[k] + py*s.dz[k])
	}
	for sort := range s.s {
		for r := range s.s[sort] {
			sum += (s.s[sort][r] + px*s.ds[sort][r]) * (s.y[sort][r] + py*s.dy[sort][r])
		}
	}
	return sum
}

// longest is how far the direction can be followed until something is 0.
func (s *interior) longest() (px, py float64) {
	px, py = 2, 2
	for k := range s.x {
		if s.dx[k] < 0 {
			px = min(px, -s.x[k]/s.dx[k])
		}
		if s.dz[k] < 0 {
			py = min(py, -s.z[k]/s.dz[k])
		}
	}
	for sort := range s.s {
		for r := range s.s[sort] {
			if s.ds[sort][r] < 0 {
				px = min(px, -s.s[sort][r]/s.ds[sort][r])
			}
			if s.dy[sort][r] < 0 {
				py = min(py, -s.y[sort][r]/s.dy[sort][r])
			}
		}
	}
	return min(px, 1), min(py, 1)
}

// factorise makes the system of the rows of bins, what the items' rows take from it taken off, and its factor.
func (s *interior) factorise() bool {
	clear(s.m)
	n := s.rows
	for r := range n {
		s.m[r*n+r] = s.s[ofBins][r] / s.y[ofBins][r]
	}
	var row []int32
	var ea, eb []float64
	for j := range s.item {
		faa, fab, fbb := s.s[ofAmounts][j]/s.y[ofAmounts][j], 0.0, 1.0
		if s.sized[j] {
			fbb = s.s[ofSizes][j] / s.y[ofSizes][j]
		}
		row, ea, eb = row[:0], ea[:0], eb[:0]
		for k := s.start[j]; k < s.start[j+1]; k++ {
			d, v := s.x[k]/s.z[k], s.v[k]
			faa += d
			if s.sized[j] {
				fab += d * v
				fbb += d * v * v
			}
			c, p := s.capRow[s.bin[k]], s.placeRow[s.bin[k]]
			if c >= 0 {
				a := d * s.u[k]
				s.m[int(c)*n+int(c)] += a * s.u[k]
				if p >= 0 {
					s.m[int(p)*n+int(c)] += a * s.w[k]
				}
				row, ea, eb = append(row, c), append(ea, a), append(eb, a*v)
			}
			if p >= 0 {
				a := d * s.w[k]
				s.m[int(p)*n+int(p)] += a * s.w[k]
				row, ea, eb = append(row, p), append(ea, a), append(eb, a*v)
			}
		}
		f := &s.fac[j]
		f.a = math.Sqrt(faa)
		f.b = fab / f.a
		f.c = math.Sqrt(max(fbb-f.b*f.b, 1e-300))
		for i := range ea {
			ea[i] /= f.a
		}
		s.less(row, ea)
		if s.sized[j] {
			for i := range eb {
				eb[i] = (eb[i] - f.b*ea[i]) / f.c
			}
			s.less(row, eb)
		}
	}
	s.flush()
	return cholesky(s.m, n)
}

// less takes the product of a sparse vector with itself off the lower half of the system. Rows rise. Vectors that are
// not sparse are gathered and taken off four at a time, which spares most of the traffic with the memory.
func (s *interior) less(row []int32, e []float64) {
	if len(row)*len(row)*4 > s.rows*s.rows {
		dense := s.four[s.gathered*s.rows : (s.gathered+1)*s.rows]
		for i, r := range row {
			dense[r] = e[i]
		}
		if s.gathered++; s.gathered == 4 {
			s.flush()
		}
		return
	}
	for i, r := range row {
		a := e[i]
		if a == 0 {
			continue
		}
		line := s.m[int(r)*s.rows : (int(r)+1)*s.rows]
		for k, c := range row[:i+1] {
			line[c] -= a * e[k]
		}
	}
}

// flush takes the gathered vectors off.
func (s *interior) flush() {
	n := s.rows
	a, b, c, d := s.four[:n], s.four[n:2*n], s.four[2*n:3*n], s.four[3*n:4*n]
	for r := range n {
		p, q, v, w := a[r], b[r], c[r], d[r]
		line := s.m[r*n : r*n+r+1]
		a, b, c, d := a[:len(line)], b[:len(line)], c[:len(line)], d[:len(line)]
		for k := range line {
			line[k] -= p*a[k] + q*b[k] + v*c[k] + w*d[k]
		}
	}
	clear(s.four)
	s.gathered = 0
}

// cholesky replaces the lower half of a symmetric matrix by its factor. What rounding made too small is taken for a row
// that is settled. It fails on what is not a number.
func cholesky(m []float64, n int) bool {
	for r := range n {
		a := m[r*n : r*n+r+1]
		for c := range r {
			b := m[c*n : c*n+c+1]
			x := a[c]
			for k := range c {
				x -= a[k] * b[k]
			}
			a[c] = x / b[c]
		}
		x, whole := a[r], a[r]
		for k := range r {
			x -= a[k] * a[k]
		}
		if math.IsNaN(x) {
			return false
		}
		if x <= 1e-14*whole || x <= 0 {
			x = 1e128
		}
		a[r] = math.Sqrt(x)
	}
	return true
}

// backsolve solves with a factor, in place.
func backsolve(m, x []float64) {
	n := len(x)
	for r := range n {
		line := m[r*n : r*n+r+1]
		y := x[r]
		for k := range r {
			y -= line[k] * x[k]
		}
		x[r] = y / line[r]
	}
	for r := n - 1; r >= 0; r-- {
		line := m[r*n : r*n+r+1]
		x[r] /= line[r]
		for k := range r {
			x[k] -= line[k] * x[r]
		}
	}
}

// direct finds the direction in which all complementary products become aim; with correct what the last direction
// would leave over is taken off.
func (s *interior) direct(aim float64, correct bool) {
	want := func(own, price, down, dprice float64) float64 {
		if correct {
			return (aim-down*dprice)/price - own
		}
		return aim/price - own
	}
	right := s.rhs
	for r := range right { // what is missing in a row, by rounding, is made up for
		right[r] = want(s.s[ofBins][r], s.y[ofBins][r], s.ds[ofBins][r], s.dy[ofBins][r]) + s.s[ofBins][r] - 1
	}
	t := s.dx // the pairs' part, until they get their direction
	for j := range s.item {
		ra := want(s.s[ofAmounts][j], s.y[ofAmounts][j], s.ds[ofAmounts][j], s.dy[ofAmounts][j]) + s.s[ofAmounts][j] - s.amount[j]
		rb := 0.0
		if s.sized[j] {
			rb = want(s.s[ofSizes][j], s.y[ofSizes][j], s.ds[ofSizes][j], s.dy[ofSizes][j]) + s.s[ofSizes][j] - s.worth[j]
		}
		for k := s.start[j]; k < s.start[j+1]; k++ {
			t[k] = want(s.x[k], s.z[k], s.dx[k], s.dz[k])
			g := t[k] + s.x[k]
			ra += g
			if s.sized[j] {
				rb += g * s.v[k]
			}
			if r := s.capRow[s.bin[k]]; r >= 0 {
				right[r] += g * s.u[k]
			}
			if r := s.placeRow[s.bin[k]]; r >= 0 {
				right[r] += g * s.w[k]
			}
		}
		s.ds[ofAmounts][j] = want(s.s[ofAmounts][j], s.y[ofAmounts][j], s.ds[ofAmounts][j], s.dy[ofAmounts][j])
		if s.sized[j] {
			s.ds[ofSizes][j] = want(s.s[ofSizes][j], s.y[ofSizes][j], s.ds[ofSizes][j], s.dy[ofSizes][j])
		}
		s.dy[ofAmounts][j], s.dy[ofSizes][j] = ra, rb
		qa, qb := s.fac[j].solve(ra, rb, s.sized[j])
		for k := s.start[j]; k < s.start[j+1]; k++ {
			q := s.x[k] / s.z[k] * (qa + qb*s.v[k])
			if r := s.capRow[s.bin[k]]; r >= 0 {
				right[r] -= q * s.u[k]
			}
			if r := s.placeRow[s.bin[k]]; r >= 0 {
				right[r] -= q * s.w[k]
			}
		}
	}
	for r := range right {
		s.ds[ofBins][r] = want(s.s[ofBins][r], s.y[ofBins][r], s.ds[ofBins][r], s.dy[ofBins][r])
	}
	copy(s.dy[ofBins], right)
	backsolve(s.m, s.dy[ofBins])
	s.spread(t)
}

// solve solves an item's two rows.
func (f factor) solve(a, b float64, sized bool) (x, y float64) {
	a /= f.a
	if sized {
		y = (b - f.b*a) / f.c / f.c
	}
	return (a - f.b*y) / f.a, y
}

// spread goes from the prices of bins to those of items, and to pairs and slacks.
func (s *interior) spread(t []float64) {
	price := s.dy[ofBins]
	for r := range price {
		s.ds[ofBins][r] -= s.s[ofBins][r] / s.y[ofBins][r] * price[r]
	}
	for j := range s.item {
		ra, rb := s.dy[ofAmounts][j], s.dy[ofSizes][j]
		for k := s.start[j]; k < s.start[j+1]; k++ {
			g := 0.0
			if r := s.capRow[s.bin[k]]; r >= 0 {
				g += s.u[k] * price[r]
			}
			if r := s.placeRow[s.bin[k]]; r >= 0 {
				g += s.w[k] * price[r]
			}
			s.dz[k] = g
			d := s.x[k] / s.z[k]
			ra -= d * g
			if s.sized[j] {
				rb -= d * g * s.v[k]
			}
		}
		qa, qb := s.fac[j].solve(ra, rb, s.sized[j])
		s.dy[ofAmounts][j], s.dy[ofSizes][j] = qa, qb
		s.ds[ofAmounts][j] -= s.s[ofAmounts][j] / s.y[ofAmounts][j] * qa
		if s.sized[j] {
			s.ds[ofSizes][j] -= s.s[ofSizes][j] / s.y[ofSizes][j] * qb
		} else {
			s.dy[ofSizes][j], s.ds[ofSizes][j] = 0, 0
		}
		for k := s.start[j]; k < s.start[j+1]; k++ {
			s.dz[k] += qa + qb*s.v[k]
			s.dx[k] = t[k] - s.x[k]/s.z[k]*s.dz[k]
		}
	}
}

// compare takes over the point's bound and value where they are better than the best.
func (s *interior) compare(best *Optimum) {
	p := s.p
	at := Prices{Cap: make([]float64, len(p.Cap)), Places: make([]float64, len(p.Cap))}
	for i := range p.Cap {
		if r := s.capRow[i]; r >= 0 {
			at.Cap[i] = max(0, s.y[ofBins][r]) * s.scale / p.Cap[i]
		} else if p.Cap[i] == 0 {
			at.Cap[i] = math.MaxFloat64 / 1e200
		}
		if r := s.placeRow[i]; r >= 0 {
			at.Places[i] = max(0, s.y[ofBins][r]) * s.scale / p.places(i)
		} else if p.places(i) == 0 {
			at.Places[i] = math.MaxFloat64 / 1e200
		}
	}
	if p.Size != nil {
		at.Size = make([]float64, p.items())
		for j, from := range s.item {
			if s.sized[j] {
				at.Size[from] = max(0, s.y[ofSizes][j])
			}
		}
	}
	if b := p.Bound(at); b < best.Bound {
		best.Bound, best.Prices = b, at
	}
	y := make([]float64, len(p.Bin))
	for k, from := range s.of {
		y[from] = max(0, s.x[k])
	}
	if v := p.repair(y); v > best.Value {
		best.Value, best.Y = v, y
	}
}

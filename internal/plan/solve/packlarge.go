package solve

import "slices"

// largeFirst returns the same problem with other orders of its bins, where they are not all alike: those that hold most come first,
// whether they are in use or not, for few large ones hold what many small ones do. Bins hold most by what all items need of each dimension
// together, or by the dimension that they have least of for that.
func (p *packer) largeFirst() []*packer {
	if !slices.ContainsFunc(p.full, func(f []float64) bool { return !same(f, p.full[0]) }) {
		return nil
	}
	weight := p.weights()
	least := func(f []float64) float64 {
		room := -1.0
		for d, v := range f {
			if weight[d] > 0 && (room < 0 || v*weight[d] < room) {
				room = v * weight[d]
			}
		}
		return room
	}
	var out []*packer
	for _, of := range []func(f []float64) float64{func(f []float64) float64 { return dot(f, weight) }, least} {
		room := make([]float64, len(p.full))
		for i, f := range p.full {
			room[i] = of(f)
		}
		large := *p
		large.alike, large.order = true, slices.Clone(p.order)
		slices.SortStableFunc(large.order, func(a, b int) int {
			switch {
			case room[a] > room[b]:
				return -1
			case room[a] < room[b]:
				return 1
			}
			return 0
		})
		out = append(out, &large)
	}
	return out
}

// weights say how scarce each dimension is: what all items need of what all bins have.
func (p *packer) weights() []float64 {
	weight, total := make([]float64, len(p.mean)), make([]float64, len(p.mean))
	for _, f := range p.full {
		for d, v := range f {
			total[d] += v
		}
	}
	for d, v := range p.mean { // a dimension that is asked for more of counts for more
		if total[d] > 0 {
			weight[d] = v / total[d]
		}
	}
	return weight
}

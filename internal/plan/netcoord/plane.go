package netcoord

import "math"

// Plane returns where hosts lie on the plane that shows most of how they differ: their two principal axes around their middle, ms.
// Heights are not part of it. A host that is not known lies in the middle.
func Plane(hosts []Coord) [][2]float64 {
	out := make([][2]float64, len(hosts))
	rows, which := centred(hosts)
	for axis := range 2 {
		v := principal(rows)
		if v == nil {
			break // they do not differ any more
		}
		for i, row := range rows {
			at := dot(row, v)
			out[which[i]][axis] = at
			for d := range row { // what is left for the next axis
				row[d] -= at * v[d]
			}
		}
	}
	return out
}

// centred returns the places of the hosts that are known, around their middle, and which hosts these are.
func centred(hosts []Coord) (rows [][]float64, which []int) {
	dim := 0
	for i := range hosts {
		if hosts[i].Known() {
			dim = max(dim, len(hosts[i].X))
		}
	}
	middle := make([]float64, dim)
	for i := range hosts {
		if !hosts[i].Known() {
			continue
		}
		row := make([]float64, dim)
		copy(row, hosts[i].X)
		for d := range row {
			middle[d] += row[d]
		}
		rows, which = append(rows, row), append(which, i)
	}
	for _, row := range rows {
		for d := range row {
			row[d] -= middle[d] / float64(len(rows))
		}
	}
	return rows, which
}

// turns is how often the direction of an axis is improved: each time what is not along it shrinks by how much less it differs there.
const turns = 60

// principal returns the direction along which rows differ most, of length 1; nil if they do not differ. Its largest part is positive, so that
// a map does not turn over when hosts move a little.
func principal(rows [][]float64) []float64 {
	var v []float64
	longest := 1e-9
	for _, row := range rows { // the one farthest out is not across the axis
		if l := math.Sqrt(dot(row, row)); l > longest {
			longest, v = l, append(v[:0], row...)
		}
	}
	if v == nil {
		return nil
	}
	for range turns {
		next := make([]float64, len(v))
		for _, row := range rows {
			at := dot(row, v)
			for d := range next {
				next[d] += at * row[d]
			}
		}
		length := math.Sqrt(dot(next, next))
		if length == 0 {
			return nil
		}
		for d := range next {
			next[d] /= length
		}
		v = next
	}
	most := 0
	for d := range v {
		if math.Abs(v[d]) > math.Abs(v[most]) {
			most = d
		}
	}
	if v[most] < 0 {
		for d := range v {
			v[d] = -v[d]
		}
	}
	return v
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

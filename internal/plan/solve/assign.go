package solve

// Assignment is a matching of rows and columns of least cost, among those that match as many as can be matched.
//
// U and V certify it: U[i]+V[j] ≤ cost[i][j] for every pair, with equality where i is matched to j; V[j] ≤ 0 for every
// column, with equality where j is free (columns ≥ rows; for fewer columns the same holds with the parts exchanged).
// Weak duality does the rest: no full matching can cost less than ΣU+ΣV.
type Assignment struct {
	Col   []int // column of each row, -1 where it has none
	Total float64
	U, V  []float64
	// Unmatched counts rows (columns, if there are fewer) that forbidden pairs leave without a partner. The
	// certificate covers U and V as they are, with a charge of Penalty for each of them.
	Unmatched int
	Penalty   float64
}

// Assign solves the linear assignment problem by shortest augmenting paths: column reduction, augmenting row
// reduction, then one Dijkstra search for each row that is left (Jonker and Volgenant, Computing 38, 1987).
// Rectangular matrices and forbidden pairs (+Inf) are allowed.
func Assign(m Matrix) (Assignment, error) {
	if m.Cols > 0 && m.Rows > 2*m.Cols*m.Cols {
		return m.assignTall()
	}
	if m.Rows > m.Cols {
		t, r, err := m.checkTurned()
		if err != nil {
			return Assignment{}, err
		}
		return assignWide(t, r).swap(m), nil
	}
	r, err := m.check()
	if err != nil {
		return Assignment{}, err
	}
	a := assignWide(m, r)
	a.total(m)
	return a, nil
}

// swap turns the solution of the transposed problem into that of m.
func (a Assignment) swap(m Matrix) Assignment {
	b := Assignment{Col: make([]int, m.Rows), U: a.V, V: a.U, Unmatched: a.Unmatched, Penalty: a.Penalty}
	for i := range b.Col {
		b.Col[i] = -1
	}
	for j, i := range a.Col {
		if i >= 0 {
			b.Col[i] = j
		}
	}
	b.total(m)
	return b
}

func (a *Assignment) total(m Matrix) {
	for i, j := range a.Col {
		if j >= 0 {
			a.Total += m.At(i, j)
		}
	}
}

package netcoord_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"argosy/internal/plan/netcoord"
)

// Hosts that lie on a plane, however it lies in space, keep their distances on the map; those that are not known lie in the middle.
func TestPlaneKeepsDistances(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		n := 3 + r.IntN(20)
		hosts := make([]netcoord.Coord, n)
		for i := range hosts {
			a, b := 200*r.Float64(), 50*r.Float64()
			hosts[i] = netcoord.Coord{X: []float64{7, a, 0.6*b + 3, 0.8 * b, -2}, Fitted: 3, Height: r.Float64()}
		}
		unknown := r.IntN(n)
		hosts[unknown].Fitted = 0
		at := netcoord.Plane(hosts)
		if at[unknown] != [2]float64{} {
			t.Fatalf("a host that is not known lies at %v", at[unknown])
		}
		for i := range hosts {
			for j := range hosts {
				if i == unknown || j == unknown {
					continue
				}
				want := 0.0
				for d := range hosts[i].X {
					want += (hosts[i].X[d] - hosts[j].X[d]) * (hosts[i].X[d] - hosts[j].X[d])
				}
				got := math.Hypot(at[i][0]-at[j][0], at[i][1]-at[j][1])
				if math.Abs(got-math.Sqrt(want)) > 1e-6*(1+math.Sqrt(want)) {
					t.Fatalf("hosts %d and %d are %.6f apart on the map, and %.6f in space", i, j, got, math.Sqrt(want))
				}
			}
		}
	}
	if at := netcoord.Plane([]netcoord.Coord{{}, {X: []float64{1, 2}, Fitted: 1}}); at[0] != at[1] {
		t.Errorf("one host alone: %v", at)
	}
}

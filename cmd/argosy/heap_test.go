package main

import "testing"

// What is alive and what is not heap find room below the limit, with a quarter of it more; a small process has its floor.
func TestFleetLimit(t *testing.T) {
	const mb = 1 << 20
	if got := fleetLimit(20*mb, 10*mb); got != heapFloor {
		t.Errorf("a small one has %d MB", got/mb)
	}
	for _, live := range []uint64{100, 300, 3000} {
		for _, beside := range []uint64{10, 80, 500} {
			if got := fleetLimit(live*mb, beside*mb); uint64(got) < (live+live/4+beside)*mb {
				t.Errorf("%d MB alive and %d beside: %d MB", live, beside, got/mb)
			}
		}
	}
}

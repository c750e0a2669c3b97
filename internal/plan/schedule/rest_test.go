package schedule

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Cycles that are not quick take a tenth of the time, unless that would have somebody wait for longer than it may; quick ones keep nobody
// waiting for more than a moment, and one that gave something out is never followed later than one that did not.
func TestRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		took := time.Duration(rapid.Int64Range(1, int64(2*time.Second)).Draw(t, "took"))
		nodes := rapid.IntRange(1, 5000).Draw(t, "nodes")
		gave, vain := Rest(took, nodes, true), Rest(took, nodes, false)
		most := min(RestMost, cycleRest+time.Duration(nodes)*nodeRest)
		if gave > vain || gave > most || vain > RestMost {
			t.Fatalf("after %v: %v, and %v after one in vain", took, gave, vain)
		}
		if vain < RestMost && vain < 9*took || took > quickCycle && gave < most && gave < 9*took {
			t.Fatalf("after %v: %v, and %v after one in vain: more than a tenth of the time", took, gave, vain)
		}
		if took <= quickCycle && gave > 2*quickCycle {
			t.Fatalf("after a quick one, of %v: %v", took, gave)
		}
	})
}

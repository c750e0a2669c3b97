package learn

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"argosy/internal/testkit/seeds"
)

// oddFacts are facts in no order of time, many of them twice, of nodes that come back under their names, and some of what nobody can measure.
func oddFacts(seed uint64) (out []Fact) {
	r := rand.New(rand.NewPCG(seed, 9))
	at := int64(1.7e12)
	for range 400 {
		if at += int64(1e5 * r.NormFloat64() * math.Exp(2*r.NormFloat64())); r.IntN(50) == 0 {
			at = []int64{0, -5, 1e13, 1, 1.7e12}[r.IntN(5)]
		}
		odd := r.IntN(6) == 0
		figure := func() float64 {
			if odd && r.IntN(2) == 0 {
				return []float64{0, math.NaN(), -1, 7e17, 1e-6, math.Inf(1)}[r.IntN(6)]
			}
			return math.Exp(3 * r.NormFloat64())
		}
		f := Fact{
			At: at, Kind: Kind(r.IntN(int(Lost) + 2)), Node: fmt.Sprint("n", r.IntN(5)), Site: []string{"", "a", "b", "ü", "c", "\x00"}[r.IntN(6)], To: []string{"", "n1", "n7"}[r.IntN(3)],
			Product: []string{"", "p"}[r.IntN(2)], Bits: figure(), Seconds: figure(), Good: figure(), All: figure(), Limited: r.IntN(2) == 0, CPU: figure(), Memory: figure(), Pages: figure(),
		}
		out = append(out, f)
		if r.IntN(5) == 0 {
			out = append(out, f)
		}
	}
	return out
}

// Whatever facts come, in whatever order, a learner that was written down and read again at any of them knows the same, byte for byte.
func TestOddFactsAfterARestart(t *testing.T) {
	t.Parallel()
	written := func(l *Learner) (record, tally []byte) {
		record, err := l.Encode()
		tally, err2 := l.Tally().Encode()
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		return record, tally
	}
	for seed := range seeds.Of(36, 3000) {
		facts, live, again := oddFacts(seed), New(), New()
		for i, f := range facts {
			if i%(7+int(seed%90)) == 0 {
				var err error
				if again, err = Resume(written(again)); err != nil {
					t.Fatalf("seed %d, fact %d: %v", seed, i, err)
				}
			}
			live.Take(f)
			again.Take(f)
		}
		record, tally := written(live)
		if r, y := written(again); !bytes.Equal(r, record) || !bytes.Equal(y, tally) {
			t.Errorf("seed %d: what was learned is another after restarts", seed)
		}
	}
}

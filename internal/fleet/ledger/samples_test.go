package ledger_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"argosy/internal/fleet/ledger"
)

// What is written of samples is there again: what is new is added, and the whole takes the place of what there was.
func TestSamples(t *testing.T) {
	both(t, func(t *testing.T, open func() *ledger.Ledger) {
		l, ctx := open(), t.Context()
		at := func(ms ...int64) (out []ledger.Sample) {
			for _, v := range ms {
				out = append(out, ledger.Sample{At: v, Fetched: v + 1, Pages: v + 2, Failed: v + 3, Excluded: v + 4, Discovered: v + 5, Bytes: v << 40, Held: v + 6})
			}
			return out
		}
		for _, put := range []map[uint32]ledger.Samples{
			{0: {All: at(1, 2), Whole: true}, 7: {All: at(1, 2, 3), Whole: true}},
			{0: {All: at(3)}, 7: {All: at(3, 4)}}, // one again
			{7: {All: at(1, 3, 5), Whole: true}},
		} {
			if err := l.PutSamples(ctx, put); err != nil {
				t.Fatal(err)
			}
		}
		got, err := open().Samples(ctx)
		if d := cmp.Diff(map[uint32][]ledger.Sample{0: at(1, 2, 3), 7: at(1, 3, 5)}, got); err != nil || d != "" {
			t.Error(d, err)
		}
	})
}

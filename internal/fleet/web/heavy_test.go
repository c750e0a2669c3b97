package web

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Who goes on asking for what takes long waits the first time only, and gets what was found a moment ago; who comes back later waits.
func TestHeavyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &api{heavy: map[string]*kept{}}
		walks := 0
		ask := func() (n int, took time.Duration) {
			begin := time.Now()
			v, err := heavy(t.Context(), a, "key", func(context.Context) (int, error) {
				walks++
				time.Sleep(100 * time.Millisecond)
				return walks, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return v.Body, time.Since(begin)
		}
		for i, want := range []struct {
			after time.Duration
			n     int
			took  time.Duration
		}{
			{0, 1, 100 * time.Millisecond}, {time.Second, 1, 0}, {5 * time.Second, 1, 0}, {time.Second, 2, 0}, {5 * time.Second, 2, 0}, {time.Minute, 4, 100 * time.Millisecond},
		} {
			time.Sleep(want.after)
			if n, took := ask(); n != want.n || took != want.took {
				t.Errorf("question %d: answer %d after %s, want %d after %s", i, n, took, want.n, want.took)
			}
		}
	})
}

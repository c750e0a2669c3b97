package web

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Who goes on asking for what takes long waits the first time only, and gets what was found a moment ago; who comes back later waits. What
// is soon made again is waited for.
func TestHeavyAnswers(t *testing.T) {
	long, short := 500*time.Millisecond, heavyWait/2
	synctest.Test(t, func(t *testing.T) {
		a := &api{heavy: map[string]*kept{}}
		walks, works := 0, long
		ask := func() (n int, took time.Duration) {
			begin := time.Now()
			v, err := heavy(t.Context(), a, "key", func(context.Context) (int, error) {
				walks++
				time.Sleep(works)
				return walks, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return v.Body, time.Since(begin)
		}
		for i, want := range []struct {
			after, works time.Duration
			n            int
			took         time.Duration
		}{
			{0, long, 1, long}, {time.Second, long, 1, 0}, {15 * time.Second, long, 1, heavyWait}, {time.Second, long, 2, 0}, {time.Minute, long, 3, long},
			{15 * time.Second, short, 4, short},
		} {
			time.Sleep(want.after)
			synctest.Wait() // the last walk may just have ended
			works = want.works
			if n, took := ask(); n != want.n || took != want.took {
				t.Errorf("question %d: answer %d after %s, want %d after %s", i, n, took, want.n, want.took)
			}
		}
	})
}

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
			{0, long, 1, long}, {time.Second, long, 1, 0}, {55 * time.Second, long, 1, heavyWait}, {time.Second, long, 2, 0}, {time.Minute, long, 3, long},
			{55 * time.Second, short, 4, short},
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

// All walks together take a hundredth of the time, however many answers are asked for; one that takes very long is kept for a minute.
func TestHeavyAnswersShareTheirTime(t *testing.T) {
	for _, c := range []struct {
		keys   int
		works  time.Duration
		lowest int // walks in ten minutes
		most   int
	}{{1, 100 * time.Millisecond, 50, 70}, {4, 100 * time.Millisecond, 50, 70}, {4, 5 * time.Second, 30, 40}, {1, time.Millisecond, 200, 300}} {
		synctest.Test(t, func(t *testing.T) {
			a := &api{heavy: map[string]*kept{}}
			walks := 0
			for begin := time.Now(); time.Since(begin) < 10*time.Minute; time.Sleep(time.Second) {
				for key := range c.keys {
					_, _ = heavy(t.Context(), a, string(rune('a'+key)), func(context.Context) (int, error) {
						time.Sleep(c.works)
						walks++
						return walks, nil
					})
				}
			}
			time.Sleep(c.works) // the last one ends
			if walks < c.lowest || walks > c.most {
				t.Errorf("%d answers that take %s each: %d walks in ten minutes, want %d to %d", c.keys, c.works, walks, c.lowest, c.most)
			}
		})
	}
}

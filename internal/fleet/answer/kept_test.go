package answer

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Who goes on asking for what takes long waits the first time only, and gets what was found a moment ago; who comes back later waits. What
// is soon made again is waited for.
func TestKeptAnswers(t *testing.T) {
	long, short := 500*time.Millisecond, keptWait/2
	synctest.Test(t, func(t *testing.T) {
		a := &Kept{}
		walks, works := 0, long
		ask := func() (n int, took time.Duration) {
			begin := time.Now()
			v, err := Shown(t.Context(), a, "key", func(context.Context) (int, error) {
				walks++
				time.Sleep(works)
				return walks, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return v, time.Since(begin)
		}
		for i, want := range []struct {
			after, works time.Duration
			n            int
			took         time.Duration
		}{
			{0, long, 1, long}, {time.Second, long, 1, 0}, {55 * time.Second, long, 1, keptWait}, {time.Second, long, 2, 0}, {time.Minute, long, 3, long},
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

// A walk that fails is made again soon, however long it took.
func TestKeptAnswersThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &Kept{}
		fails := errors.New("no such table")
		ask := func() error {
			_, err := Shown(t.Context(), a, "key", func(context.Context) (int, error) {
				time.Sleep(time.Second)
				return 0, fails
			})
			return err
		}
		if ask() == nil {
			t.Fatal("no error")
		}
		fails = nil
		time.Sleep(keptLeast + time.Millisecond)
		if err := ask(); err != nil {
			t.Errorf("%v is told on", err)
		}
	})
}

// All walks together take a hundredth of the time, however many answers are asked for; one that takes very long is kept for a minute.
func TestKeptAnswersShareTheirTime(t *testing.T) {
	for _, c := range []struct {
		keys   int
		works  time.Duration
		lowest int // walks in ten minutes
		most   int
	}{{1, 100 * time.Millisecond, 50, 70}, {4, 100 * time.Millisecond, 50, 70}, {4, 5 * time.Second, 30, 40}, {1, time.Millisecond, 200, 300}} {
		synctest.Test(t, func(t *testing.T) {
			a := &Kept{}
			var walks atomic.Int64 // those of several keys overlap
			for begin := time.Now(); time.Since(begin) < 10*time.Minute; time.Sleep(time.Second) {
				for key := range c.keys {
					_, _ = Shown(t.Context(), a, string(rune('a'+key)), func(context.Context) (int, error) {
						time.Sleep(c.works)
						return int(walks.Add(1)), nil
					})
				}
			}
			time.Sleep(c.works) // the last one ends
			if n := int(walks.Load()); n < c.lowest || n > c.most {
				t.Errorf("%d answers that take %s each: %d walks in ten minutes, want %d to %d", c.keys, c.works, n, c.lowest, c.most)
			}
		})
	}
}

// A walk that takes long is not kept longer because there are short ones, as it would be if all had the same share, nor are these kept as long
// as it is.
func TestKeptAnswersByWhatTheyTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &Kept{}
		var mu sync.Mutex
		walks, spent := map[string]int{}, time.Duration(0)
		ask := func(key string, works time.Duration) {
			_, _ = Shown(t.Context(), a, key, func(context.Context) (int, error) {
				time.Sleep(works)
				mu.Lock()
				defer mu.Unlock()
				walks[key]++
				spent += works
				return 0, nil
			})
		}
		begin := time.Now()
		for ; time.Since(begin) < time.Hour; time.Sleep(time.Second) {
			ask("dear", 200*time.Millisecond)
			for i := range 5 {
				ask(strconv.Itoa(i), 4*time.Millisecond)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if walks["dear"] < 80 || walks["0"] < 5*walks["dear"] || spent > 40*time.Second {
			t.Errorf("walks %v, %s in an hour", walks, spent)
		}
	})
}

// What is made for somebody who has gone ends; what others wait for goes on.
func TestKeptAnswersThatNobodyWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &Kept{}
		ended := 0
		ask := func(patience time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			_, err := Sought(ctx, a, "key", func(ctx context.Context) (int, error) {
				select {
				case <-time.After(time.Second):
				case <-ctx.Done():
					ended++
				}
				return 0, ctx.Err()
			})
			return err
		}
		if err := ask(time.Second / 2); err == nil {
			t.Error("answered before it was made")
		}
		synctest.Wait()
		if ended != 1 || len(a.by) != 0 {
			t.Errorf("%d walks ended, %d answers kept", ended, len(a.by))
		}
		go func() { _ = ask(time.Second / 2) }()
		synctest.Wait()
		if err := ask(time.Minute); err != nil || ended != 1 {
			t.Errorf("%v, %d walks ended", err, ended)
		}
	})
}

// What people look for is kept for so many words; where all of them are being looked for, others are told to come back.
func TestManyAreLookedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &Kept{}
		look := func(key string, works time.Duration) error {
			_, err := Sought(t.Context(), a, key, func(context.Context) (int, error) { time.Sleep(works); return 0, nil })
			return err
		}
		_, _ = Shown(t.Context(), a, "shown", func(context.Context) (int, error) { return 0, nil })
		for i := range 3 * maxSought {
			if err := look(strconv.Itoa(i), time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		if len(a.by) != maxSought+1 || a.by["shown"] == nil || a.by[strconv.Itoa(3*maxSought-1)] == nil {
			t.Errorf("%d are kept", len(a.by))
		}
		for i := range maxSought {
			go func() { _ = look("long "+strconv.Itoa(i), time.Second) }()
		}
		synctest.Wait()
		if err := look("one more", time.Second); err == nil {
			t.Error("there was room")
		}
		time.Sleep(2 * time.Second)
		if err := look("one more", time.Second); err != nil {
			t.Error(err)
		}
	})
}

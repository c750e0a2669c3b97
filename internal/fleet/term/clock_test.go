package term

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Whatever the difference between the clocks and however long entries travel, the log's time is never believed to be
// later than it is, and soon no earlier than by the shortest way that an entry took.
func TestLogClock(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 0))
		skew := time.Duration(rng.IntN(20_000)-10_000) * time.Millisecond
		now := time.UnixMilli(1_700_000_000_000)
		var k Clock
		last := now
		ways := map[time.Time]time.Duration{}
		for i := range 400 {
			now = now.Add(time.Duration(rng.IntN(3000)) * time.Millisecond)
			way := min(now.Sub(last), time.Duration(rng.IntN(800))*time.Millisecond) // entries are read in order
			last = now
			k.Saw(now.Add(-way).Add(skew).UnixMilli(), now)
			truth := now.Add(skew).UnixMilli()
			got := k.MS(now)
			if got > truth {
				t.Fatalf("seed %d: %d ms after the truth", seed, got-truth)
			}
			ways[now] = way
			shortest := time.Hour
			for at, w := range ways {
				if now.Sub(at) < clockSpan {
					shortest = min(shortest, w)
				}
			}
			if behind := time.Duration(truth-got) * time.Millisecond; behind > shortest {
				t.Fatalf("seed %d: after %d entries %v before the truth, one took %v", seed, i, behind, shortest)
			}
			if back := k.Local(got); back.UnixMilli() != now.UnixMilli() {
				t.Fatalf("seed %d: %v comes back as %v", seed, now, back)
			}
		}
	}
}

// A message is as old as it took longer than the fastest, whatever the clocks say.
func TestAges(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	skew := -5 * time.Minute
	var a Ages
	for i, c := range []struct{ pause, way, want time.Duration }{
		{0, 300 * time.Millisecond, 0},
		{time.Second, 100 * time.Millisecond, 0},
		{time.Second, 100 * time.Millisecond, 0},
		{40 * time.Second, 30 * time.Second, 30*time.Second - 100*time.Millisecond},
		{30 * time.Minute, 25 * time.Minute, 25*time.Minute - 100*time.Millisecond},
		{time.Second, 100 * time.Millisecond, 0},
	} {
		now = now.Add(c.pause)
		if got := a.Of(now.Add(-c.way).Add(skew).UnixMilli(), now); got != c.want {
			t.Errorf("message %d: %v, want %v", i, got, c.want)
		}
	}
}

// A log that another server dates, whose clock is behind, is believed at once; one that is ahead after an entry.
func TestLogClockSetBack(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	var k Clock
	skew := 5 * time.Second
	for i := range 300 {
		if i == 100 {
			skew = -5 * time.Second
		}
		now = now.Add(time.Second)
		if i == 200 {
			skew = time.Hour
		}
		k.Saw(now.Add(skew).UnixMilli(), now)
		if got := k.MS(now) - now.UnixMilli(); got != skew.Milliseconds() {
			t.Fatalf("after %d entries the log's clock is %d ms ahead, %v is true", i+1, got, skew)
		}
	}
}

// A log's clock that is set on, and again, makes nothing older that stands in the log.
func TestLogClockSetOn(t *testing.T) {
	now, skew := time.UnixMilli(1_700_000_000_000), time.Duration(0)
	var k Clock
	dated := map[int64]time.Time{}
	for i := range 120 {
		now = now.Add(time.Second)
		switch i {
		case 40:
			skew += time.Hour
		case 80:
			skew += 20 * time.Second
		}
		at := now.Add(skew).UnixMilli()
		k.Saw(at, now)
		dated[at] = now
		for at, want := range dated {
			if got := k.Local(at); !got.Equal(want) {
				t.Fatalf("after %d entries one that came %v ago is taken for %v old", i+1, now.Sub(want), now.Sub(got))
			}
		}
	}
}

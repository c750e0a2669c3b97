package main

import (
	"runtime/debug"
	"testing"
)

// What is alive and what is not heap find room below the limit, with a quarter of it more at least and half of it at most, and never more than
// 64 MiB beyond that quarter; a small process has its floor.
func TestFleetLimit(t *testing.T) {
	const mb = 1 << 20
	if got := fleetLimit(taken{live: 20 * mb, beside: 10 * mb}); got != heapFloor {
		t.Errorf("a small one has %d MB", got/mb)
	}
	for _, live := range []uint64{100, 300, 3000} {
		for _, beside := range []uint64{10, 80, 500} {
			room := fleetLimit(taken{live: live * mb, beside: beside * mb})/mb - int64(live+beside)
			if least, most := int64(live/4), int64(min(live/2, live/4+64))+heapFloor/4/mb; room < least || room > most {
				t.Errorf("%d MB alive and %d beside: room for %d MB, want %d to %d", live, beside, room, least, most)
			}
		}
	}
}

// A crawl collects its heap as seldom as its memory in all allows, and leaves a quarter of what is alive free in any case.
func TestCrawlLimit(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct{ live, other, limit uint64 }{
		{live: 80, limit: 160}, {live: 80, other: 100, limit: 180}, {live: 80, other: 200, limit: 160}, {live: 80, other: 400, limit: 160},
		{live: 160, other: 100, limit: 240},
	} {
		if got := crawlLimit(taken{live: c.live * mb, other: c.other * mb}); got != int64(c.limit*mb) {
			t.Errorf("%d MB alive, %d beside Go: %d MB, want %d", c.live, c.other, got/mb, c.limit)
		}
	}
}

// A coordinator collects its heap seldom, unless its user says how often, and only as long as it runs.
func TestCollectSeldom(t *testing.T) {
	percent := func() int {
		was := debug.SetGCPercent(100)
		debug.SetGCPercent(was)
		return was
	}
	t.Setenv("GOGC", "")
	was := percent()
	stop := collectSeldom()
	if got := percent(); got != coordinatorGarbage {
		t.Errorf("garbage may be %d %% of what is alive", got)
	}
	if stop(); percent() != was {
		t.Errorf("%d %% afterwards, %d before", percent(), was)
	}
	t.Setenv("GOGC", "50")
	stop = collectSeldom()
	defer stop()
	if percent() != was {
		t.Errorf("%d %% although GOGC says something", percent())
	}
}

package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// What begins after questions beside a crawl, with clocks of its own, asks no site sooner than the delay allows.
func TestAskerRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ask := newAsker(nil, 2*time.Second, "a")
		begun := time.Now()
		if err := ask.rest(t.Context()); err != nil || time.Since(begun) != 0 {
			t.Errorf("nobody was asked: %v, after %s", err, time.Since(begun))
		}
		for _, site := range []string{"a.test", "b.test", "a.test"} {
			if err := ask.turn(site)(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(300 * time.Millisecond) // of the bubble's clock
		}
		last := ask.last["a.test"]
		if err := ask.rest(t.Context()); err != nil || time.Since(last) != 2*time.Second {
			t.Errorf("%v, %s after the last request", err, time.Since(last))
		}
		ask.last["a.test"] = time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := ask.rest(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
}

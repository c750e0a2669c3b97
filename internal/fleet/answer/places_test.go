package answer

import (
	"context"
	"errors"
	"testing"
)

// There are as many places as there are, and who waits for one may leave.
func TestPlaces(t *testing.T) {
	places := make(Places, 2)
	ctx, cancel := context.WithCancel(t.Context())
	leave, err := places.Take(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := places.Try(); !ok {
		t.Fatal("one of two places is taken, and there is none")
	}
	if _, ok := places.Try(); ok {
		t.Error("a third place")
	}
	cancel()
	if _, err := places.Take(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a third place: %v", err)
	}
	leave()
	if _, err := places.Take(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("who has gone takes a place: %v", err)
	}
	if _, ok := places.Try(); !ok {
		t.Error("a place that was given back is not there")
	}
}

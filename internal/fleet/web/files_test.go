package web

import (
	"context"
	"errors"
	"testing"
)

// Job files are read one at a time, and who waits for another's may leave.
func TestOneJobFileAtATime(t *testing.T) {
	a := &api{files: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := a.readJob(ctx, []byte("seeds: [http://a.test/]")); err != nil {
		t.Fatal(err)
	}
	a.files <- struct{}{}
	cancel()
	if _, err := a.readJob(ctx, []byte("seeds: [http://a.test/]")); !errors.Is(err, context.Canceled) {
		t.Errorf("two job files are read at once: %v", err)
	}
}

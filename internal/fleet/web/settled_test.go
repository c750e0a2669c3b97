package web_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/web"
)

// An order that may be done nevertheless says so, and is not given to another coordinator; one that was refused says why.
func TestSettled(t *testing.T) {
	for _, err := range []error{context.DeadlineExceeded, fmt.Errorf("append: %w", bus.ErrAway), fmt.Errorf("ledger: database or disk is full (13)")} {
		said, ok := web.Settled("cancel job 1", err).(huma.StatusError)
		if !ok || said.GetStatus() != http.StatusInternalServerError || !strings.HasPrefix(said.Error(), "cancel job 1: it may stand in the log") {
			t.Errorf("%v: %v", err, said)
		}
	}
	if err := web.Settled("cancel job 1", coordinator.ErrNoJob); err != coordinator.ErrNoJob {
		t.Error(err)
	}
}

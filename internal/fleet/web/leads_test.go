package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/serve"
	"argosy/internal/fleet/web"
)

// relieved is a house whose coordinator leads, or stands by.
type relieved struct {
	web.House
	by atomic.Bool
}

func (r *relieved) Leader() (*coordinator.Coordinator, error) {
	if r.by.Load() {
		return nil, serve.ErrStandby
	}
	return r.House.Leader()
}

// Who listens hears at once, and not with the next beat, that the coordinator leads now, or does not any more.
func TestEventsTellWhoLeads(t *testing.T) {
	t.Parallel()
	s, _, _ := lead(t)
	house := &relieved{House: s}
	srv := httptest.NewServer(web.Handler(house, web.Config{UserAgent: "t", Version: "v", Who: s.Gate().Who}))
	defer srv.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // less than a beat
	defer cancel()
	resp := listens(t, ctx, srv.URL)
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	hears := func(leads bool) {
		t.Helper()
		for lines.Scan() {
			var e web.Event
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if ok && json.Unmarshal([]byte(data), &e) == nil && e.Now.Leads == leads {
				return
			}
		}
		t.Fatalf("it is not told that it leads: %v, or not any more: %v", leads, lines.Err())
	}
	hears(true)
	house.by.Store(true)
	hears(false)
	house.by.Store(false)
	hears(true)
}

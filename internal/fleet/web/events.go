package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"argosy/internal/fleet/access"
	"argosy/internal/fleet/answer"
	"argosy/internal/fleet/coordinator"
)

const (
	eventEvery = 500 * time.Millisecond // at most
	beatEvery  = 15 * time.Second       // where nothing happens, so that proxies and browsers know that we are there
	lookEvery  = time.Second            // whether who listens still may, as a token may be revoked, a session end; and who leads
	maxStreams = 256
)

// Event is what a stream of events says: what has changed since the last one, and how far everything is.
type Event struct {
	coordinator.Changes
	Now Status `json:"now"`
}

func (a *api) registerEvents(h huma.API, get func(id, path, what string) huma.Operation) {
	op := get("events", "/events", "Server-sent events: what has changed, at most twice a second (data: an Event as JSON)")
	event := h.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Event](), true, "Event")
	op.Responses = map[string]*huma.Response{"200": {Description: "events", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: event}}}}
	h.OpenAPI().AddOperation(&op)
	h.Adapter().Handle(&op, h.Middlewares().Handler(func(hc huma.Context) {
		r, w := humago.Unwrap(hc)
		defer a.streams.Add(-1)
		if a.streams.Add(1) > maxStreams {
			answer.Refuse(w, http.StatusServiceUnavailable, fmt.Sprintf("%d clients hold a stream of events already", maxStreams))
			return
		}
		a.stream(w, r)
	}))
}

// stream sends events until the client is gone. It reads what the coordinator keeps for it, so that nobody waits for a slow client.
func (a *api) stream(w http.ResponseWriter, r *http.Request) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Time{}) // that of the server is for requests
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	var of *coordinator.Coordinator
	var watch *coordinator.Watch
	defer func() {
		if watch != nil {
			watch.Close()
		}
	}()
	for a.may(r) {
		co := a.leader()
		if co != of {
			if watch != nil {
				watch.Close()
				watch = nil
			}
			if of = co; of != nil {
				watch = of.Watch()
			}
		}
		e := Event{Now: a.statusNow()}
		var ready <-chan struct{}
		if watch != nil {
			e.Changes, ready = watch.Take(), watch.Ready()
		}
		data, err := json.Marshal(&e)
		if err != nil {
			return
		}
		_ = c.SetWriteDeadline(time.Now().Add(beatEvery))
		if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil || c.Flush() != nil {
			return
		}
		if !a.wait(r, of, ready) {
			return
		}
	}
}

// leader returns the coordinator, nil while another process leads.
func (a *api) leader() *coordinator.Coordinator {
	co, err := a.s.Leader()
	if err != nil {
		return nil
	}
	return co
}

// wait waits until there is something to say of a coordinator, nil while none leads here: false if there is nobody any more who may hear it.
func (a *api) wait(r *http.Request, of *coordinator.Coordinator, ready <-chan struct{}) bool {
	sent := time.Now()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-r.Context().Done():
			return false
		case <-a.cfg.Ending:
			return false
		case <-look.C:
			if !a.may(r) {
				return false
			}
			if time.Since(sent) >= beatEvery || a.leader() != of {
				return true
			}
		case <-ready: // what comes in the meantime goes along
			select {
			case <-r.Context().Done():
				return false
			case <-time.After(eventEvery - time.Since(sent)):
				return true
			}
		}
	}
}

// may reports whether who listens still may.
func (a *api) may(r *http.Request) bool { return a.who(r, false).Role.May(access.ToRead) }

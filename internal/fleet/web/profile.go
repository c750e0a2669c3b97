package web

import (
	"net/http"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"time"

	"argosy/internal/fleet/answer"
)

const (
	profileTime     = 30 * time.Second // of a profile of the processor
	maxProfileTime  = time.Minute
	processorWanted = "profile" // as go tool pprof calls that of the processor
)

// profiles are those that are told.
var profiles = []string{"heap", "allocs", "goroutine", "threadcreate"}

// profile answers with what this process spends its time or memory on, as go tool pprof reads it.
func (a *api) profile(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if name == processorWanted {
		a.processor(w, r)
		return
	}
	if !slices.Contains(profiles, name) {
		answer.Refuse(w, http.StatusNotFound, "allowed are profile, heap, allocs, goroutine and threadcreate")
		return
	}
	debug, _ := strconv.Atoi(r.URL.Query().Get("debug")) // 1: as text
	w.Header().Set("Content-Type", "application/octet-stream")
	if debug > 0 {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	}
	if name == "heap" && r.URL.Query().Get("gc") == "1" { // what is alive, and not what is garbage already
		runtime.GC()
	}
	_ = pprof.Lookup(name).WriteTo(w, min(max(debug, 0), 1)) // who asks is gone
}

// processor answers with a profile of the processor over so many seconds. There is one at a time.
func (a *api) processor(w http.ResponseWriter, r *http.Request) {
	span := profileTime
	if text := r.URL.Query().Get("seconds"); text != "" {
		n, err := strconv.Atoi(text)
		if span = time.Duration(n) * time.Second; err != nil || span <= 0 || span > maxProfileTime {
			answer.Refuse(w, http.StatusUnprocessableEntity, "seconds: allowed are 1 to 60")
			return
		}
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	if err := pprof.StartCPUProfile(w); err != nil {
		answer.Refuse(w, http.StatusConflict, "another profile is being made: try again in a minute")
		return
	}
	defer pprof.StopCPUProfile()
	select {
	case <-r.Context().Done():
	case <-a.cfg.Ending:
	case <-time.After(span):
	}
}

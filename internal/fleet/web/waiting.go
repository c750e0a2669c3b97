package web

import (
	"encoding/json"
	"net/http"
)

// Waiting answers while a coordinator starts and cannot go on: it lives, is not ready, and says why.
func Waiting(why string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", alive)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { unready(w, why) })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusServiceUnavailable)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"title": http.StatusText(http.StatusServiceUnavailable), "status": http.StatusServiceUnavailable,
			"detail": "this coordinator is there, and waits: " + why,
		})
	})
	return mux
}

// alive says that the process answers.
func alive(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	_, _ = w.Write([]byte("ok\n"))
}

// unready says why nobody is to be sent here.
func unready(w http.ResponseWriter, why string) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write([]byte("not ready: " + why + "\n"))
}

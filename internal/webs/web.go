// Package webs makes webs of sites out of code, served on loopback: the web of argosy demo, random webs for tests, and
// what they saw of the crawler. It depends on nothing of the crawler, so that it can be its judge.
package webs

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Web is a set of sites by host name, without port, behind one handler.
type Web struct {
	Sites map[string]http.Handler

	mu   sync.Mutex
	seen map[string][]Hit
}

// Hit is a request as a site saw it.
type Hit struct {
	At   time.Time
	Path string
}

// New returns an empty web.
func New() *Web { return &Web{Sites: map[string]http.Handler{}, seen: map[string][]Hit{}} }

// ServeHTTP notes the request and lets its site answer.
func (w *Web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	w.mu.Lock()
	w.seen[host] = append(w.seen[host], Hit{time.Now(), r.URL.RequestURI()})
	site := w.Sites[host]
	w.mu.Unlock()
	if site == nil {
		http.Error(rw, "no such site", http.StatusMisdirectedRequest)
		return
	}
	site.ServeHTTP(rw, r)
}

// Hits returns what a site has seen.
func (w *Web) Hits(host string) []Hit {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Hit(nil), w.seen[host]...)
}

// MinGap returns the shortest time between two requests to a site, and how many it has seen.
func (w *Web) MinGap(host string) (gap time.Duration, n int) {
	hits := w.Hits(host)
	gap = time.Hour
	for i := 1; i < len(hits); i++ {
		gap = min(gap, hits[i].At.Sub(hits[i-1].At))
	}
	return gap, len(hits)
}

// Serve serves the web on a loopback address ("127.0.0.1:0" picks a port) until stop is called, and returns the port.
func (w *Web) Serve(addr string) (port string, stop func(), err error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", nil, err
	}
	srv := &http.Server{Handler: w, ReadHeaderTimeout: time.Minute, ErrorLog: quiet()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			panic(err) // a listener on loopback does not fail by itself
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if srv.Shutdown(ctx) != nil {
			_ = srv.Close()
		}
		<-done
	}, nil
}

// page writes an HTML page.
func page(rw http.ResponseWriter, title, body string) {
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = rw.Write([]byte("<!DOCTYPE html>\n<html lang=\"en\"><head><title>" + title + "</title></head>\n<body><h1>" + title + "</h1>\n" +
		strings.TrimSpace(body) + "\n</body></html>\n"))
}

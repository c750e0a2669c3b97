package agent

import (
	"context"
	"net/netip"
	"slices"
	"sync"

	"argosy/internal/crawl"
	"argosy/internal/page/fetch"
)

// Accept is the field of this name in requests for pages.
const Accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// hadMost is how many bytes of bodies are kept beside a crawl at most; one longer than hadEach is asked for again.
const (
	hadMost = 64 << 20
	hadEach = 1 << 20
)

// Had are answers that were had before a crawl began, by URL: it takes each once instead of asking again. The zero value has none; it is safe
// for concurrent use.
type Had struct {
	mu    sync.Mutex
	of    map[string]had
	bytes int64
}

type had struct {
	resp   *fetch.Response
	fields []fetch.Field // of its request
}

// Put keeps the answer to a request, if it is whole, not too long, and one that a crawl would not ask for again because it failed; it reports
// whether it does. Then the answer is released by whoever takes it.
func (h *Had) Put(req *fetch.Request, resp *fetch.Response) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := req.URL.String()
	if _, ok := h.of[at]; ok || resp.Status < 200 || resp.Status >= 400 || resp.Truncated != "" || resp.Size > hadEach || h.bytes+resp.Size > hadMost {
		return false
	}
	if h.of == nil {
		h.of = map[string]had{}
	}
	h.of[at] = had{resp, req.Fields}
	h.bytes += resp.Size
	return true
}

// take returns the answer to a request, nil if it was not had.
func (h *Had) take(req *fetch.Request, limits *crawl.FetchLimits) *fetch.Response {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := req.URL.String()
	was, ok := h.of[at]
	if !ok || was.resp.Size > limits.MaxBody || !slices.Equal(was.fields, req.Fields) {
		return nil
	}
	delete(h.of, at)
	h.bytes -= was.resp.Size
	return was.resp
}

// WithHad returns a fetcher that has a fetcher ask for what was not had.
func WithHad(f Fetcher, h *Had) Fetcher { return withHad{f, h} }

type withHad struct {
	Fetcher
	had *Had
}

func (w withHad) Open(limits crawl.FetchLimits, addrs []netip.Addr) Session {
	return hadSession{w.Fetcher.Open(limits, addrs), w.had, limits}
}

type hadSession struct {
	Session
	had    *Had
	limits crawl.FetchLimits
}

func (s hadSession) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	if resp := s.had.take(req, &s.limits); resp != nil {
		return resp, nil
	}
	return s.Session.Do(ctx, req)
}

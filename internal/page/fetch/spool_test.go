package fetch_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/page/fetch"
)

// failing is a spool whose disk is full after so many writes.
type failing struct {
	writes int
	why    error
	after  bool // a write came after the one that failed
}

func (f *failing) Write(p []byte) (int, error) {
	if f.writes < 0 {
		f.after = true
	}
	if f.writes--; f.writes < 0 {
		return 0, f.why
	}
	return len(p), nil
}

func (f *failing) Open(int64) (io.ReadCloser, error) { return nil, f.why }
func (f *failing) Close() error                      { return nil }

// A piece of a body that cannot be written fails the page with the reason, whichever piece it is, and nothing is written after it.
func TestSpoolThatCannotBeWritten(t *testing.T) {
	const size = 2 << 20
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, size)) }))
	defer srv.Close()
	u, err := crawl.Parse(srv.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space")
	for writes := range size / (128 << 10) { // of 128 KiB: what has come with the head makes one more
		f := &failing{writes: writes, why: full}
		cl := client(t, func(c *fetch.Config) {
			c.Limits.MaxBody = 8 << 20
			c.Spool = func() (fetch.Spool, error) { return f, nil }
		})
		s := cl.Open(nil)
		r, err := s.Do(context.Background(), &fetch.Request{URL: u})
		if !errors.Is(err, full) || crawl.KindOf(err) != crawl.KindArchive || f.after {
			t.Errorf("write %d fails: %v (%v), another one came: %v", writes, err, crawl.KindOf(err), f.after)
		}
		r.Release()
		s.Close()
	}
}

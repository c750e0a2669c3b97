package fetch

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"argosy/internal/crawl"
)

// Ping is one httpping: the response time of an HTTP request on a connection of its own, as the coordinates paper
// measures delay, with the time to set up the connection apart from the time the server took.
type Ping struct {
	Connect time.Duration // TCP, one round trip
	TLS     time.Duration
	Server  time.Duration // from the request to the first byte of the response
	Status  int
}

// Total is what the paper calls the delay: everything but the resolving of the name.
func (p Ping) Total() time.Duration { return p.Connect + p.TLS + p.Server }

// Turn waits for a site's turn; every request of a probe begins with it, so that probes keep the site's clock.
type Turn func(ctx context.Context) error

// HTTPPing measures the delay to a URL's site once.
func (c *Client) HTTPPing(ctx context.Context, u crawl.URL, fields []Field, turn Turn) (Ping, error) {
	if err := turn(ctx); err != nil {
		return Ping{}, err
	}
	s := c.Open(nil)
	defer s.Close()
	var sc Scratch
	r, err := s.Do(ctx, &Request{URL: u, Fields: fields}, &sc)
	if err != nil {
		return Ping{}, err
	}
	t := r.Timing
	return Ping{t.Connect, t.TLS, t.Send + t.FirstByte, r.Status}, nil
}

// Transfer is one try of a bandwidth probe.
type Transfer struct {
	Bits    int64
	Seconds float64
}

// Rate returns total bits over total seconds of all tries, bits/s; 0 of none.
func Rate(ts []Transfer) float64 {
	bits, seconds := 0.0, 0.0
	for _, t := range ts {
		bits += float64(t.Bits)
		seconds += t.Seconds
	}
	if seconds == 0 {
		return 0
	}
	return bits / seconds
}

// ProbeTries is how many times BC and BS are measured, ProbeStore how much BS writes, as the bandwidth patent says.
const (
	ProbeTries = 3
	ProbeStore = 100_000
)

// ProbeCrawl measures BC: it fetches a page a number of times, each on the site's clock, and says how many bits came in
// how many seconds, connection included.
func (c *Client) ProbeCrawl(ctx context.Context, u crawl.URL, fields []Field, tries int, turn Turn) ([]Transfer, error) {
	var out []Transfer
	for range tries {
		if err := turn(ctx); err != nil {
			return out, err
		}
		s := c.Open(nil)
		var sc Scratch
		r, err := s.Do(ctx, &Request{URL: u, Fields: fields}, &sc)
		s.Close()
		if err != nil {
			return out, err
		}
		t := r.Timing
		spent := t.Connect + t.TLS + t.Send + t.FirstByte + t.Body
		out = append(out, Transfer{8 * int64(len(r.Head)+len(r.Raw)), max(spent.Seconds(), 1e-6)})
	}
	return out, nil
}

// ProbeStoreDir measures BS of a directory: it writes the standard object and makes it durable, a number of times.
func ProbeStoreDir(dir string, tries int) (out []Transfer, err error) {
	b := make([]byte, ProbeStore)
	if _, err := rand.Read(b); err != nil {
		return nil, err
	}
	for k := range tries {
		path := filepath.Join(dir, fmt.Sprintf(".argosy-probe-%d-%d", os.Getpid(), k))
		start := time.Now()
		if err := writeDurably(path, b); err != nil {
			_ = os.Remove(path)
			return out, err
		}
		out = append(out, Transfer{8 * ProbeStore, max(time.Since(start).Seconds(), 1e-6)})
		if err := os.Remove(path); err != nil {
			return out, err
		}
	}
	return out, nil
}

func writeDurably(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

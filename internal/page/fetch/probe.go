package fetch

import (
	"context"
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
	r, err := s.Do(ctx, &Request{URL: u, Fields: fields})
	defer r.Release()
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

// ProbeCrawl measures BC: it fetches a page a number of times, each on the site's clock, and says how many bits came in
// how many seconds, connection included.
func (c *Client) ProbeCrawl(ctx context.Context, u crawl.URL, fields []Field, tries int, turn Turn) ([]Transfer, error) {
	var out []Transfer
	for range tries {
		if err := turn(ctx); err != nil {
			return out, err
		}
		s := c.Open(nil)
		r, err := s.Do(ctx, &Request{URL: u, Fields: fields})
		s.Close()
		if err != nil {
			r.Release()
			return out, err
		}
		t := r.Timing
		spent := t.Connect + t.TLS + t.Send + t.FirstByte + t.Body
		out = append(out, Transfer{8 * (int64(len(r.Head)) + r.Wire), max(spent.Seconds(), 1e-6)})
		r.Release()
	}
	return out, nil
}

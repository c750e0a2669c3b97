package webs

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"
)

// End is a node or a site of a made-up world: where it is, and how it is connected.
type End struct {
	Name     string
	Lat, Lon float64
	Rate     float64       // bits/s, which all its connections share
	Access   time.Duration // of its own line, both ways
}

// Links make connections from nodes to sites, or to each other, as slow as if they went around the world: with the delay of the way,
// jitter, the bandwidth that each end has for all of its connections, and losses, which cost a connection time and speed.
type Links struct {
	Loss   float64 // share of packets
	Jitter float64 // mean of what comes on top of a delay, as a share of it

	// Open opens a connection to where all sites really are.
	Open func(ctx context.Context) (net.Conn, error)

	mu    sync.Mutex
	rng   *rand.Rand
	ends  map[string]*line
	addrs map[netip.Addr]*line
}

// line is an end, and until when it has something to carry.
type line struct {
	End
	free time.Time
}

// NewLinks returns links between no ends. Two with the same seed lose the same packets of the same traffic.
func NewLinks(seed uint64) *Links {
	return &Links{rng: rand.New(rand.NewPCG(seed, 18)), ends: map[string]*line{}, addrs: map[netip.Addr]*line{}}
}

// Add adds an end and returns the address by which it is reached: one of 127.64.0.0/10, at which nobody listens.
func (l *Links) Add(e End) netip.Addr {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.ends) + 1
	at := netip.AddrFrom4([4]byte{127, 64, byte(n >> 8), byte(n)})
	l.ends[e.Name] = &line{End: e}
	l.addrs[at] = l.ends[e.Name]
	return at
}

// Dial returns what opens a node's connections. Addresses that belong to no end are refused.
func (l *Links) Dial(node string) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, _, addr string) (net.Conn, error) {
		at, err := netip.ParseAddrPort(addr)
		if err != nil {
			return nil, err
		}
		l.mu.Lock()
		from, to := l.ends[node], l.addrs[at.Addr().Unmap()]
		l.mu.Unlock()
		if from == nil || to == nil {
			return nil, fmt.Errorf("no way leads from %s to %s", node, addr)
		}
		if !sleep(l.delay(from, to), ctx.Done()) {
			return nil, ctx.Err()
		}
		c, err := l.Open(ctx)
		if err != nil {
			return nil, err
		}
		return &link{Conn: c, of: l, from: from, to: to, closed: make(chan struct{})}, nil
	}
}

// RTT is the time that a packet takes from one end to another and back, without jitter.
func RTT(a, b End) time.Duration {
	const kmPerMS = 100 // there and back, light in glass
	const detour = 1.5  // ways are not straight
	return a.Access + b.Access + time.Duration(detour*kilometres(a, b)/kmPerMS*float64(time.Millisecond))
}

// kilometres is the length of the great circle between two ends.
func kilometres(a, b End) float64 {
	const radius, rad = 6371, math.Pi / 180
	dLat, dLon := (b.Lat-a.Lat)*rad, (b.Lon-a.Lon)*rad
	h := math.Pow(math.Sin(dLat/2), 2) + math.Cos(a.Lat*rad)*math.Cos(b.Lat*rad)*math.Pow(math.Sin(dLon/2), 2)
	return 2 * radius * math.Asin(math.Min(1, math.Sqrt(h)))
}

// delay is one round trip, with jitter; a lost packet is sent again after a second, as TCP begins.
func (l *Links) delay(a, b *line) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := RTT(a.End, b.End)
	d += time.Duration(l.Jitter * l.rng.ExpFloat64() * float64(d))
	if l.rng.Float64() < l.Loss {
		d += time.Second
	}
	return d
}

// Sizes in bytes: of what a connection takes at once, so that others of its ends get their turn, and of a packet.
const (
	piece  = 8 << 10
	packet = 1460
)

// take takes both ends for some bytes of a connection, which was busy until busy, and returns when they are there.
func (l *Links) take(a, b *line, busy time.Time, size int) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	there := now
	for _, end := range []*line{a, b} {
		end.free = after(end.free, now).Add(seconds(8 * float64(size) / end.Rate))
		there = after(there, end.free)
	}
	if l.Loss > 0 { // what TCP makes of losses (Mathis et al., 1997)
		rtt := RTT(a.End, b.End).Seconds()
		most := 8 * packet / rtt * math.Sqrt(1.5/l.Loss)
		there = after(there, after(busy, now).Add(seconds(8*float64(size)/most)))
	}
	return there
}

func after(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// sleep waits; false if it was given up before.
func sleep(d time.Duration, over <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-over:
		return false
	}
}

// link is a node's connection to a site.
type link struct {
	net.Conn
	of       *Links
	from, to *line

	mu     sync.Mutex
	asked  bool // something was sent since something came
	closed chan struct{}
	once   sync.Once
	busy   time.Time // the reader's own
}

// Write implements net.Conn. What is sent is small and takes no time; what comes in answer does.
func (c *link) Write(b []byte) (int, error) {
	c.mu.Lock()
	c.asked = true
	c.mu.Unlock()
	return c.Conn.Write(b)
}

// Read implements net.Conn. It takes the time that the way takes, deadlines or not.
func (c *link) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b[:min(len(b), piece)])
	if n == 0 {
		return n, err
	}
	c.mu.Lock()
	asked := c.asked
	c.asked = false
	c.mu.Unlock()
	c.busy = c.of.take(c.from, c.to, c.busy, n)
	wait := time.Until(c.busy)
	if asked {
		wait += c.of.delay(c.from, c.to)
	}
	if !sleep(wait, c.closed) {
		return 0, net.ErrClosed
	}
	return n, err
}

// Close implements net.Conn.
func (c *link) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

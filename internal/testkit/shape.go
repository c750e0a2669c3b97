package testkit

import (
	"bytes"
	"net"
	"sync"
	"time"
)

// Shape makes links between nodes and sites slow, each in its own way: at the server's end of a connection, whose site is
// the host of the requests on it.
type Shape struct {
	// Link says what the link of a node and a site is like now: bits/s, 0 for no limit, and the time that an answer takes to
	// begin. It is called from many goroutines.
	Link func(node, site string) (speed float64, delay time.Duration)

	mu    sync.Mutex
	until map[[2]string]time.Time // links are busy until then: connections of a pair share it
}

// Conn is the server's end of a connection from a node.
func (s *Shape) Conn(c net.Conn, node string) net.Conn { return &shaped{Conn: c, s: s, node: node} }

type shaped struct {
	net.Conn
	s    *Shape
	node string

	mu      sync.Mutex
	site    string
	began   bool // an answer
	request []byte
}

// Read implements net.Conn. It notes the host of a request.
func (c *shaped) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.began {
		c.began, c.request = false, c.request[:0]
	}
	if len(c.request) < 4096 {
		c.request = append(c.request, b[:n]...)
		if _, after, ok := bytes.Cut(c.request, []byte("\r\nHost: ")); ok {
			if host, _, ok := bytes.Cut(after, []byte("\r\n")); ok {
				c.site = string(host)
				if h, _, err := net.SplitHostPort(c.site); err == nil {
					c.site = h
				}
			}
		}
	}
	return n, err
}

// Write implements net.Conn. It takes the time that the link takes.
func (c *shaped) Write(b []byte) (int, error) {
	c.mu.Lock()
	site, first := c.site, !c.began
	c.began = true
	c.mu.Unlock()
	const piece = 4 << 10 // so that others of the link get their turn
	for done := 0; done < len(b); {
		k := min(piece, len(b)-done)
		time.Sleep(c.s.take(c.node, site, k, first))
		first = false
		n, err := c.Conn.Write(b[done : done+k])
		done += n
		if err != nil {
			return done, err
		}
	}
	return len(b), nil
}

// take takes a link for some bytes and returns how long that takes.
func (s *Shape) take(node, site string, size int, first bool) time.Duration {
	speed, delay := s.Link(node, site)
	if !first {
		delay = 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.until == nil {
		s.until = map[[2]string]time.Time{}
	}
	link := [2]string{node, site}
	free := s.until[link]
	if free.Before(now) {
		free = now
	}
	if speed > 0 {
		free = free.Add(time.Duration(float64(size) * 8 / speed * float64(time.Second)))
	}
	s.until[link] = free
	return free.Sub(now) + delay
}

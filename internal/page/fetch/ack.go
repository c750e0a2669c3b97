package fetch

import (
	"net"
	"sync/atomic"
	"time"
)

// heldBack is how long the rest of a response is waited for before its server is taken for one that waits for an
// acknowledgement: ours are delayed by 40 ms at least where there is nothing to send (Linux, TCP_DELACK_MIN).
const heldBack = 30 * time.Millisecond

// promptConn acknowledges at once what it has read, from when its server has been seen to hold a response back. One that
// writes head and body apart, and leaves Nagle's algorithm on, sends the body when the head has been acknowledged (RFC 1122,
// section 4.2.3.4), and we, having nothing to send, acknowledge late (section 4.2.3.2): each page then takes 40 ms. That
// it happened to a connection once is the sign; others are spared the system call.
type promptConn struct {
	net.Conn
	ack    func() // acknowledges what has been read
	reads  atomic.Int32
	prompt atomic.Bool
}

// promptly returns a connection that acknowledges at once if it must; nc itself where the system gives no means to.
func promptly(nc net.Conn) net.Conn {
	if ack := quickAck(nc); ack != nil {
		return &promptConn{Conn: nc, ack: ack}
	}
	return nc
}

// Write implements net.Conn.
func (c *promptConn) Write(b []byte) (int, error) {
	c.reads.Store(0)
	return c.Conn.Write(b)
}

// Read implements net.Conn.
func (c *promptConn) Read(b []byte) (int, error) {
	first := c.reads.Add(1) == 1
	if c.prompt.Load() {
		n, err := c.Conn.Read(b)
		c.ack()
		return n, err
	}
	if first { // how long the server thinks says nothing
		return c.Conn.Read(b)
	}
	begin := time.Now()
	n, err := c.Conn.Read(b)
	if n > 0 && time.Since(begin) > heldBack {
		c.prompt.Store(true)
	}
	return n, err
}

package fetch

import (
	"crypto/tls"
	"net"
	"sync/atomic"
	"time"
)

// endWait bounds how long the last word of a connection is waited for that cannot be written to: what it said before is there already, and
// the end of it is only to be read.
const endWait = time.Second

// cause returns why a connection cannot be written to, of which nobody reads: the alert that waits there, or what is known, err. A server
// that refuses our certificate says so and ends the connection, perhaps before a request is written.
func cause(nc net.Conn, err error) error {
	_ = nc.SetReadDeadline(time.Now().Add(endWait))
	var space [512]byte
	for total := 0; total < 1<<20; {
		n, last := nc.Read(space[:])
		switch {
		case isAlert(last):
			return last
		case last != nil:
			return err
		}
		total += n
	}
	return err
}

// alerted is a TLS connection under HTTP/2, which one goroutine reads while others write. It keeps the alert that has ended it: who writes
// may know sooner than who reads that there is an end, and not why.
type alerted struct {
	*tls.Conn
	reading atomic.Bool   // somebody has begun to read
	over    chan struct{} // closed when there is nothing more to read
	err     error         // why; to be read after over
}

func newAlerted(tc *tls.Conn) *alerted { return &alerted{Conn: tc, over: make(chan struct{})} }

// Read is called by one goroutine only.
func (c *alerted) Read(b []byte) (int, error) {
	c.reading.Store(true)
	n, err := c.Conn.Read(b)
	if err != nil && c.err == nil {
		c.err = err
		close(c.over)
	}
	return n, err
}

// Write fails with the alert that has ended the connection, if one has.
func (c *alerted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	switch {
	case err == nil || isTimeout(err):
		return n, err
	case !c.reading.Load():
		return n, cause(c.Conn, err)
	}
	timer := time.NewTimer(endWait)
	defer timer.Stop()
	select {
	case <-c.over:
	case <-timer.C:
	}
	if alert := c.alert(); alert != nil {
		err = alert
	}
	return n, err
}

// alert returns the alert that has ended the connection as far as it has been read, or nil.
func (c *alerted) alert() error {
	select {
	case <-c.over:
		if isAlert(c.err) {
			return c.err
		}
	default:
	}
	return nil
}

package fetch

import (
	"net"
	"syscall"
)

// socket returns the socket of a connection, nil if it is not one of TCP.
func socket(nc net.Conn) syscall.RawConn {
	tc, ok := nc.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tc.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// quickAck returns how a connection is made to acknowledge at once; nil if it is not one of TCP.
func quickAck(nc net.Conn) func() {
	raw := socket(nc)
	if raw == nil {
		return nil
	}
	set := func(fd uintptr) { // the system may forget it: it is asked for after each read
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1)
	}
	return func() { _ = raw.Control(set) }
}

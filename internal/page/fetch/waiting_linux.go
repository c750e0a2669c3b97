package fetch

import (
	"net"
	"syscall"
)

// waiting returns how to see, without waiting, whether bytes lie ready at a connection or its other side has ended it; nil if it is not
// one of TCP.
func waiting(nc net.Conn) func() bool {
	raw := socket(nc)
	if raw == nil {
		return nil
	}
	return func() (some bool) {
		err := raw.Control(func(fd uintptr) {
			var one [1]byte
			_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
			some = err != syscall.EAGAIN && err != syscall.EINTR
		})
		return some || err != nil
	}
}

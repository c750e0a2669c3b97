//go:build !linux

package fetch

import "net"

// waiting returns how to see whether bytes lie ready at a connection; nil where there is no such thing.
func waiting(net.Conn) func() bool { return nil }

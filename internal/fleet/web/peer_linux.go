package web

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// peer names who is at the other end of a socket; false if it may not be there: it is neither this user nor the system's.
func peer(c *net.UnixConn) (string, bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return "", false
	}
	var cred *syscall.Ucred
	var gerr error
	if err := raw.Control(func(fd uintptr) {
		cred, gerr = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil || gerr != nil {
		return "", false
	}
	if int(cred.Uid) != os.Getuid() && cred.Uid != 0 {
		return "", false
	}
	return fmt.Sprintf("uid %d on this machine", cred.Uid), true
}

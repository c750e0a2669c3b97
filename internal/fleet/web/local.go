package web

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Without a token commands reach a coordinator of the same user on the same machine: over a Unix socket in a directory that nobody
// else can enter, named after the port of the API.

// LocalSocket returns where the socket of the coordinator lies whose API is at a port of this machine.
func LocalSocket(port string) string {
	return filepath.Join(os.TempDir(), "argosy-"+strconv.Itoa(os.Getuid()), port+".sock")
}

// errNotOurs says that others could enter the directory of a socket.
var errNotOurs = errors.New("its directory is not this user's alone")

// ListenLocal opens a socket for commands of the same user. What a process that was killed has left there is removed.
func ListenLocal(path string) (net.Listener, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if !ours(dir) {
		return nil, fmt.Errorf("socket %s: %w: it must belong to this user, with mode 0700", path, errNotOurs)
	}
	if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
		_ = c.Close()
		return nil, fmt.Errorf("socket %s: another coordinator listens there", path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// dialLocal reaches a socket that nobody has named, if only this user can have put it there.
func dialLocal(network, path string) (net.Conn, error) {
	if !ours(filepath.Dir(path)) {
		return nil, errNotOurs
	}
	return net.DialTimeout(network, path, 5*time.Second)
}

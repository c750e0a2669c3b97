//go:build linux || darwin

package fetch

import "golang.org/x/sys/unix"

// reserve returns so many bytes of memory outside the heap, which take room only as they are written to, and how that
// room is given back. Their addresses never are: what still points there by mistake does no harm.
func reserve(n int64) (mem []byte, free func()) {
	b, err := unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return make([]byte, n), func() {}
	}
	return b, func() { _ = unix.Madvise(b, unix.MADV_DONTNEED) } // it fails for no memory of ours
}

//go:build linux || darwin

package fetch

import "syscall"

// reserve returns so many bytes of memory outside the heap, which take room only as they are written to, and how that
// room is given back. Their addresses never are: what still points there by mistake does no harm.
func reserve(n int64) (mem []byte, free func()) {
	const dontNeed = 4 // MADV_DONTNEED, which package syscall names on one of these systems only
	b, err := syscall.Mmap(-1, 0, int(n), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		return make([]byte, n), func() {}
	}
	return b, func() { _ = syscall.Madvise(b, dontNeed) } // it fails for no memory of ours
}

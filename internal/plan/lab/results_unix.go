//go:build unix

package lab

import (
	"os"
	"syscall"
)

// alone holds a file for this process until it is closed; it fails if another does.
func alone(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

package main

import (
	"os/exec"
	"syscall"
)

// peak returns the most memory that a process had, in bytes.
func peak(cmd *exec.Cmd) int64 {
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss << 10 // Linux counts in KiB
	}
	return 0
}

//go:build linux || darwin || freebsd

// Package usage says what this process uses of its machine.
package usage

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// CPU is the processor time of this process so far.
func CPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Memory is how many bytes of this process are resident; 0 where that is not known (only Linux says so).
func Memory() int64 {
	b, err := os.ReadFile("/proc/self/statm") // proc(5): total and resident size, in pages
	if err != nil {
		return 0
	}
	if f := strings.Fields(string(b)); len(f) > 1 {
		if n, err := strconv.ParseInt(f[1], 10, 64); err == nil {
			return n * int64(os.Getpagesize())
		}
	}
	return 0
}

// Free is how many bytes this process may still write where a path lies.
func Free(path string) (bytes int64, known bool) {
	var fs syscall.Statfs_t
	if syscall.Statfs(path, &fs) != nil {
		return 0, false
	}
	return int64(fs.Bavail) * int64(fs.Bsize), true
}

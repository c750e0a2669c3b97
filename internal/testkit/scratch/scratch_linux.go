package scratch

import (
	"errors"
	"syscall"
)

// free is how many bytes can be written where a path lies; 0 when it is not there.
func free(path string) int64 {
	var fs syscall.Statfs_t
	if syscall.Statfs(path, &fs) != nil {
		return 0
	}
	return int64(fs.Bavail) * int64(fs.Bsize)
}

// alive reports whether a process with that number runs.
func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

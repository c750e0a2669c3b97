//go:build linux && (amd64 || arm64)

package durable

import (
	"os"
	"syscall"
)

// syncWrite is SYNC_FILE_RANGE_WRITE of linux/fs.h: writing begins, and is not waited for.
const syncWrite = 2

// BeginSync has the kernel begin to write a part of a file to the disk, where it can, and does not wait for it: a sync of the file still makes it
// durable, and tells what came of it.
func BeginSync(f *os.File, from, n int64) {
	_ = syscall.SyncFileRange(int(f.Fd()), from, n, syncWrite)
}

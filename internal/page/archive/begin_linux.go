package archive

import (
	"os"

	"golang.org/x/sys/unix"
)

// beginSync has the kernel begin to write a part of a file to the disk, and does not wait for it. What comes of it the sync of the file tells.
func beginSync(f *os.File, from, n int64) {
	_ = unix.SyncFileRange(int(f.Fd()), from, n, unix.SYNC_FILE_RANGE_WRITE)
}

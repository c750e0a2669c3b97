// Package durable replaces files so that there is a whole one at any time: the one before or the new one, also after a power cut.
package durable

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// newSuffix is added to the name of a file that is being written. What a process leaves of it when it dies is overwritten the next time.
const newSuffix = ".tmp"

// Write puts what write writes in place of the file at path, which need not be there. It is on disk when Write returns; if write or
// the disk fails, the file is as it was. No two calls may write one path at the same time.
func Write(path string, perm os.FileMode, write func(io.Writer) error) error {
	f, err := os.OpenFile(path+newSuffix, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, perm)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 256<<10)
	if err := errors.Join(write(w), w.Flush(), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path+newSuffix))
	}
	if err := os.Rename(path+newSuffix, path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// WriteFile is Write of bytes.
func WriteFile(path string, b []byte, perm os.FileMode) error {
	return Write(path, perm, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// SyncDir makes the names in a directory durable. Windows has no such call: its names are.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

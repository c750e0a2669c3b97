package frontier

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
)

// ErrDamaged says that what lies on the disk is not what was written.
var ErrDamaged = errors.New("the frontier is damaged")

// ErrBehind says that the frontier lacks entries which the log no longer has: it was deleted, or restored from a copy that is too old.
var ErrBehind = errors.New("the frontier lacks what the log has forgotten")

// damaged adds ErrDamaged to an error that says so: files that cannot be read, or are not there.
func damaged(err error) error {
	if pebble.IsCorruptionError(err) || errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, errRecord) {
		return asDamaged(err)
	}
	return err
}

func asDamaged(err error) error {
	why, _, _ := strings.Cut(err.Error(), "\n") // Pebble adds lines for its developers
	return fmt.Errorf("%w: %s", ErrDamaged, why)
}

// unopened is damaged for a store that could not be opened: unless the system said no, or the store is another's or not there, its files
// contradict each other.
func unopened(err error) error {
	var no syscall.Errno
	if errors.As(err, &no) || errors.Is(err, errNoRoom) || errors.Is(err, pebble.ErrDBDoesNotExist) || strings.Contains(err.Error(), "lock held by") {
		return damaged(err)
	}
	return asDamaged(err)
}

// Package oserror tells the errors of files apart through everything that wraps them.
package oserror

import (
	"errors"
	"os"
)

// What files' errors are.
var (
	ErrInvalid    = os.ErrInvalid
	ErrPermission = os.ErrPermission
	ErrExist      = os.ErrExist
	ErrNotExist   = os.ErrNotExist
	ErrClosed     = os.ErrClosed
)

// IsPermission reports whether permission is denied.
func IsPermission(err error) bool { return errors.Is(err, ErrPermission) }

// IsExist reports whether a file is there already.
func IsExist(err error) bool { return errors.Is(err, ErrExist) }

// IsNotExist reports whether a file is not there.
func IsNotExist(err error) bool { return errors.Is(err, ErrNotExist) }

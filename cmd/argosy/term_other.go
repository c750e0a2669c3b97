//go:build !unix

package main

import (
	"errors"
	"os"
)

// terminalSize returns the columns and lines of a terminal; here nobody knows, and plain lines are printed.
func terminalSize(*os.File) (width, height int, ok bool) { return 0, 0, false }

// rawTerminal is not to be had here.
func rawTerminal(*os.File) (restore func(), err error) { return nil, errors.ErrUnsupported }

//go:build !unix

package lab

import "os"

// alone does nothing where files are held in other ways.
func alone(*os.File) error { return nil }

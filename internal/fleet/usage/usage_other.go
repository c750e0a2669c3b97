//go:build !(linux || darwin || freebsd)

// Package usage says what this process uses of its machine.
package usage

import "time"

// CPU is not known here.
func CPU() time.Duration { return 0 }

// Memory is not known here.
func Memory() int64 { return 0 }

// Free is not known here.
func Free(string) (bytes int64, known bool) { return 0, false }

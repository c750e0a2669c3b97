//go:build !unix

package web

import "time"

// cpuTime is not known here.
func cpuTime() time.Duration { return 0 }

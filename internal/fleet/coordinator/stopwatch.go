package coordinator

import "time"

// stopwatch tells how long something takes. What is decided by it is only how soon it is done again; everything else goes by the time of the
// turn, which the loop passes down.
type stopwatch struct{ began time.Time }

func start() stopwatch { return stopwatch{time.Now()} }

func (w stopwatch) took() time.Duration { return time.Since(w.began) }

// end is the time at which it was looked at.
func (w stopwatch) end() time.Time { return w.began.Add(w.took()) }

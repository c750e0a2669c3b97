package sim

import (
	"context"
	"runtime"
	"runtime/pprof"
	"syscall"
	"testing"
	"time"

	"argosy/internal/plan/strategy"
)

// BenchmarkFleet runs random and flow in one world of 100 nodes and 10,000 sites, without the bound, and prints how many
// times the processor time of random flow takes: flow decides 10 to 20 times a second of the world's. Profiles of it carry the
// strategy as a label.
func BenchmarkFleet(b *testing.B) {
	minutes := 60
	if testing.Short() {
		minutes = 10
	}
	w := Made(Terms{Nodes: 100, Sites: 10_000, Minutes: minutes, Capacity: 2, Limits: true, Tells: 0.3, Noise: 0.2}, 1)
	w.Cycle = 1000
	for b.Loop() {
		var took [2]time.Duration
		for k, spec := range []string{"random", "flow"} {
			st, err := strategy.New(spec)
			if err != nil {
				b.Fatal(err)
			}
			runtime.GC()
			began := processor(b)
			var r Result
			pprof.Do(b.Context(), pprof.Labels("strategy", spec), func(context.Context) { r, err = RunBound(w, st, 1, false) })
			if err != nil {
				b.Fatal(err)
			}
			took[k] = processor(b) - began
			b.ReportMetric(took[k].Seconds(), spec+"-CPU-s")
			b.ReportMetric(r.Bits/1e12, spec+"-Tbit")
			b.ReportMetric(float64(r.Leases), spec+"-leases")
		}
		b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "flow/random")
	}
}

// processor is the processor time that this process has used.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

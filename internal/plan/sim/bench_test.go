package sim

import (
	"context"
	"fmt"
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
	w.Cycle, w.Part = 1000, 0 // what a run of so many leases takes is to be what planning takes
	compareCost(b, w)
}

// BenchmarkThousand does the same with 1,000 nodes and 100,000 sites, and prints how much memory the process has had at most until each
// strategy ended: ten minutes, or two of -short. The nodes stand in fifty places, and those of one place have the same paths, for there
// is no room for a hundred million different ones.
func BenchmarkThousand(b *testing.B) {
	minutes := 10
	if testing.Short() {
		minutes = 2
	}
	w := Made(Terms{Nodes: 50, Sites: 100_000, Minutes: minutes, Capacity: 2, Limits: true, Tells: 0.3, Noise: 0.2}, 1)
	const twins = 20
	places := w.Nodes
	speed, delay, between := w.Speed, w.Delay, w.Between
	w.Nodes, w.Speed, w.Delay, w.Between = nil, nil, nil, nil
	for i := range twins * len(places) {
		at := i % len(places)
		n := places[at]
		n.ID = fmt.Sprintf("node%04d", i)
		n.Bandwidth /= twins
		w.Nodes, w.Speed, w.Delay = append(w.Nodes, n), append(w.Speed, speed[at]), append(w.Delay, delay[at])
		row := make([]float64, twins*len(places))
		for k := range row {
			row[k] = 2 + between[at][k%len(places)]
		}
		w.Between = append(w.Between, row)
	}
	w.Cycle, w.Part = 1000, 0 // what a run of so many leases takes is to be what planning takes
	compareCost(b, w)
}

// compareCost runs random and flow in a world and reports what each took.
func compareCost(b *testing.B, w World) {
	for b.Loop() {
		var took [2]time.Duration
		for k, spec := range []string{"flow", "random"} { // flow first: the peak is the process's, and random, which tries all pairs, remembers more
			st, err := strategy.New(spec)
			if err != nil {
				b.Fatal(err)
			}
			runtime.GC()
			began := used(b)
			var r Result
			pprof.Do(b.Context(), pprof.Labels("strategy", spec), func(context.Context) { r, err = RunBound(w, st, 1, false) })
			if err != nil {
				b.Fatal(err)
			}
			ended := used(b)
			took[k] = processor(ended) - processor(began)
			b.ReportMetric(took[k].Seconds(), spec+"-CPU-s")
			b.ReportMetric(float64(ended.Maxrss)/1024, spec+"-peak-MiB")
			b.ReportMetric(r.Bits/1e12, spec+"-Tbit")
			b.ReportMetric(float64(r.Leases), spec+"-leases")
		}
		b.ReportMetric(took[0].Seconds()/took[1].Seconds(), "flow/random")
	}
}

// used is what this process has used.
func used(b *testing.B) (u syscall.Rusage) {
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u
}

// processor is the processor time of that.
func processor(u syscall.Rusage) time.Duration { return time.Duration(u.Utime.Nano() + u.Stime.Nano()) }

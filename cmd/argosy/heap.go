package main

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// heapFloor is what a process may take in any case.
const heapFloor = 160 << 20

// crawlLimit is how much memory a crawl may take before its heap is collected more often than Go does by itself: a quarter as much again as
// what is alive in it.
func crawlLimit(live, _ uint64) int64 { return int64(max(heapFloor, live*5/4+heapFloor/4)) }

// fleetLimit is that of a coordinator or an agent: half as much again as what is alive, or 64 MiB and a quarter if that is less, and what is not
// heap: stacks and buffers of many connections. The limit is one of all memory; where it leaves little room beside what is alive a heap is
// collected all the time, as that of a coordinator of a thousand nodes was, for a quarter of what it did.
func fleetLimit(live, beside uint64) int64 {
	return int64(max(heapFloor, live+min(live/2, live/4+64<<20)+heapFloor/4+beside))
}

// boundHeap keeps the process near what is alive in its heap, by a limit that is made of that and of what is not heap, in bytes. The function
// it returns ends it.
func boundHeap(limit func(live, beside uint64) int64) (stop func()) {
	was := debug.SetMemoryLimit(heapFloor)
	t := time.NewTicker(2 * time.Second)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		read := []metrics.Sample{
			{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
			{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
		}
		for {
			select {
			case <-done:
				return
			case <-t.C:
			}
			metrics.Read(read)
			beside := read[1].Value.Uint64()
			for _, of := range read[2:] {
				beside -= min(beside, of.Value.Uint64())
			}
			debug.SetMemoryLimit(limit(read[0].Value.Uint64(), beside))
		}
	}()
	return func() {
		t.Stop()
		close(done)
		<-ended
		debug.SetMemoryLimit(was)
	}
}

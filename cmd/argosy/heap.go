package main

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	machine "argosy/internal/fleet/usage"
)

// heapFloor is what a process may take in any case.
const heapFloor = 160 << 20

// crawlMost is what a crawl may take in all, in bytes, before it collects its heap more often than for what is alive in it: less than the 300 MiB
// that are promised, by what comes between two looks.
const crawlMost = 280 << 20

// taken is what a process has, in bytes.
type taken struct {
	live   uint64 // in its heap
	beside uint64 // of the Go runtime, and not heap
	other  uint64 // resident, and not of the Go runtime: its program, and what the stores take; 0 where that is not known
}

// crawlLimit is how much memory the Go runtime of a crawl may take before its heap is collected more often than Go does by itself: a quarter as
// much again as what is alive in it, or what the crawl may take in all and nothing else has.
func crawlLimit(m taken) int64 {
	most := uint64(heapFloor)
	if m.other > 0 {
		most = max(most, crawlMost-min(m.other, crawlMost))
	}
	return int64(max(most, m.live*5/4+heapFloor/4))
}

// fleetLimit is that of a coordinator or an agent: half as much again as what is alive, or 64 MiB and a quarter if that is less, and what is not
// heap: stacks and buffers of many connections. The limit is one of all memory; where it leaves little room beside what is alive a heap is
// collected all the time, as that of a coordinator of a thousand nodes was, for a quarter of what it did.
func fleetLimit(m taken) int64 {
	return int64(max(heapFloor, m.live+min(m.live/2, m.live/4+64<<20)+heapFloor/4+m.beside))
}

// coordinatorGarbage is how much garbage a coordinator leaves, in percent of what is alive, where its limit has room for that: below heapFloor its heap
// is collected a third as often as Go does by itself.
const coordinatorGarbage = 400

// collectSeldom has the heap grow as far as its limit allows, unless GOGC says something else. The function it returns ends it.
func collectSeldom() (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	was := debug.SetGCPercent(coordinatorGarbage)
	return func() { debug.SetGCPercent(was) }
}

// boundHeap keeps the process near what is alive in its heap, by a limit that is made of what it has. The function it returns ends it.
func boundHeap(limit func(taken) int64) (stop func()) {
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
			m := taken{live: read[0].Value.Uint64(), beside: read[1].Value.Uint64()}
			mapped := m.beside - min(m.beside, read[2].Value.Uint64())
			for _, of := range read[2:] {
				m.beside -= min(m.beside, of.Value.Uint64())
			}
			if resident := uint64(machine.Memory()); resident > mapped {
				m.other = resident - mapped
			}
			debug.SetMemoryLimit(limit(m))
		}
	}()
	return func() {
		t.Stop()
		close(done)
		<-ended
		debug.SetMemoryLimit(was)
	}
}

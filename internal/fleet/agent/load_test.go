package agent

import (
	"testing"
	"time"
)

// Work is the union of what a lease's workers do: two at once count once, pauses not at all.
func TestEffortIsTheUnionOfWork(t *testing.T) {
	at := time.Unix(1000, 0)
	after := func(s int) time.Time { return at.Add(time.Duration(s) * time.Second) }
	var e effort
	e.add(1, after(0))
	e.add(1, after(2))
	e.add(-1, after(3))
	e.add(-1, after(5)) // nobody works
	e.add(1, after(60))
	if d := e.take(after(61)); d != 6*time.Second {
		t.Errorf("worked %v, want 6s", d)
	}
	e.add(-1, after(64))
	if d := e.take(after(100)); d != 3*time.Second {
		t.Errorf("worked %v since, want 3s", d)
	}
}

// A node is the limit when its line, or all its processors, are nearly full over a window; its leases share by work.
func TestLoadSaysWhatTheNodeLimits(t *testing.T) {
	at := time.Unix(1000, 0)
	for _, c := range []struct {
		name    string
		cpu     time.Duration
		bits    int64
		offer   [3]float64
		limited bool
	}{
		{"idle", 100 * time.Millisecond, 1e6, [3]float64{2, 0, 1e7}, false},
		{"line full", 100 * time.Millisecond, 2e7, [3]float64{2, 0, 1e7}, true},
		{"line not stated", 100 * time.Millisecond, 2e9, [3]float64{2, 0, 0}, false},
		{"processors full", 3900 * time.Millisecond, 1e6, [3]float64{2, 0, 1e7}, true},
	} {
		var used Usage
		var o load
		usage := func() Usage { return used }
		o.sample(at, usage, c.offer, 4)
		used = Usage{CPU: c.cpu, Memory: 400}
		o.bits, o.work = c.bits, time.Second
		o.sample(at.Add(500*time.Millisecond), usage, c.offer, 4) // too short to tell
		if o.limited || o.cores != 0 {
			t.Errorf("%s: judged by half a second", c.name)
		}
		o.sample(at.Add(2*time.Second), usage, c.offer, 4)
		if o.limited != c.limited || o.cores != min(2, c.cpu.Seconds()) || o.memory != 100 {
			t.Errorf("%s: limited %v, %v cores, %v bytes", c.name, o.limited, o.cores, o.memory)
		}
	}
}

// A lease tells of its work a while after it was done, the first time of next to none: what the processor did meanwhile is shared out when
// there is work to share it by, and no lease uses more than there is.
func TestProcessorTimeIsSharedByEnoughWork(t *testing.T) {
	at := time.Unix(1000, 0)
	var used Usage
	usage := func() Usage { return used }
	var o load
	o.sample(at, usage, [3]float64{2}, 4)
	for _, window := range []struct {
		cpu, work time.Duration
		cores     float64
	}{{30 * time.Millisecond, 35 * time.Microsecond, 0}, {50 * time.Millisecond, 4 * time.Second, 0.02}, {10 * time.Millisecond, 0, 0.02}, {900 * time.Millisecond, 100 * time.Millisecond, 2}} {
		at = at.Add(time.Second)
		used.CPU += window.cpu
		o.work += window.work
		o.sample(at, usage, [3]float64{2}, 4)
		if off := o.cores - window.cores; off > 1e-4 || off < -1e-4 {
			t.Errorf("%v of processor time in %v of work: %v cores a lease, want %v", window.cpu, window.work, o.cores, window.cores)
		}
	}
}

// A node without leases is not measured; the next window begins with a lease, and counts nothing of the time before.
func TestLoadOfAnIdleNode(t *testing.T) {
	at, looks := time.Unix(1000, 0), 0
	used := Usage{CPU: time.Second}
	usage := func() Usage { looks++; return used }
	o := load{cores: 1, limited: true}
	for s := range 100 {
		o.sample(at.Add(time.Duration(s)*time.Second), usage, [3]float64{1}, 0)
	}
	if looks != 0 || o.limited || o.cores != 1 {
		t.Errorf("looked %d times: %+v", looks, o)
	}
	o.sample(at.Add(100*time.Second), usage, [3]float64{1}, 1)
	used.CPU, o.work = 1950*time.Millisecond, time.Second
	o.sample(at.Add(101*time.Second), usage, [3]float64{1}, 0) // it has ended, and its work counts
	if looks != 2 || !o.limited || o.cores != 0.95 {
		t.Errorf("looked %d times: %+v", looks, o)
	}
}

// A clock that was read before that of the last call does not take time back: what is told is never negative, and nothing is lost.
func TestEffortWithClocksReadEarlier(t *testing.T) {
	var e effort
	t0 := time.Unix(1000, 0)
	at := func(ms int) time.Time { return t0.Add(time.Duration(ms) * time.Millisecond) }
	e.add(1, at(2))
	if d := e.take(at(1)); d != 0 {
		t.Errorf("%v of work before it began", d)
	}
	if d := e.take(at(5)); d != 3*time.Millisecond {
		t.Errorf("%v of work, not 3 ms", d)
	}
}

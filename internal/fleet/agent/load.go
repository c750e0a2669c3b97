package agent

import (
	"runtime"
	"time"
)

// effort adds up the time in which a lease works: at least one of its workers asks the site, or reads and stores what came.
// Workers that wait for the site's turn, or for one of the node's slots, do not. The lease's mutex guards it.
type effort struct {
	active int
	since  time.Time
	done   time.Duration // since the last part
}

// add notes that so many workers more are at work. Workers and the reporter read their clocks before they take their turn, so that
// now may lie before what was noted last.
func (e *effort) add(workers int, now time.Time) {
	if now.Before(e.since) {
		now = e.since
	}
	if e.active > 0 {
		e.done += now.Sub(e.since)
	}
	e.active += workers
	e.since = now
}

// take returns the time since the last call.
func (e *effort) take(now time.Time) time.Duration {
	e.add(0, now)
	d := e.done
	e.done = 0
	return d
}

// Usage is what a node uses of its machine.
type Usage struct {
	CPU    time.Duration // so far
	Memory int64         // bytes resident; 0 is not known
}

// load is what the node used in the last window, shared out among its leases by their work. The reporter owns it.
type load struct {
	at      time.Time
	cpu     time.Duration
	bits    int64         // received since at
	spent   time.Duration // processor time that was not shared out yet,
	work    time.Duration // and the work of all leases that was told of meanwhile
	limited bool          // the line or the processor was nearly full
	cores   float64       // used by a lease while it works
	memory  float64       // bytes of a lease
}

const (
	loadWindow = time.Second
	leastWork  = loadWindow / 10 // of all leases, for processor time to be shared out by it: leases tell of their work a while after it was done
	nearlyFull = 0.9             // share of the line, or of the processors, from which the node itself is the limit
)

// sample closes a window if it is long enough. offer is what the node has: cores (0: those of the machine) and bits/s (0: not
// stated); leases is how many it runs. While nobody works nothing is looked up: a window begins with the next lease.
func (o *load) sample(now time.Time, usage func() Usage, offer [3]float64, leases int) {
	if leases == 0 && o.work < leastWork {
		o.at, o.limited, o.spent, o.work = time.Time{}, false, 0, 0
		return
	}
	wall := now.Sub(o.at)
	if wall < loadWindow {
		return
	}
	var u Usage
	if usage != nil {
		u = usage()
	}
	if !o.at.IsZero() {
		cores := offer[0]
		if cores <= 0 {
			cores = float64(runtime.GOMAXPROCS(0))
		}
		used := u.CPU - o.cpu
		o.limited = used.Seconds() >= nearlyFull*cores*wall.Seconds() || offer[2] > 0 && float64(o.bits) >= nearlyFull*offer[2]*wall.Seconds()
		o.memory = float64(u.Memory) / float64(max(1, leases))
		if o.spent += used; o.work >= leastWork {
			o.cores = min(cores, o.spent.Seconds()/o.work.Seconds())
			o.spent, o.work = 0, 0
		}
	}
	o.at, o.cpu, o.bits = now, u.CPU, 0
}

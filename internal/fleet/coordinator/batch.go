package coordinator

import (
	"time"

	"argosy/internal/crawl"
)

// batchFor is how long a fleet's reports wait for others at most, if no lease waits for what comes of them. A process that is woken for a
// moment is costly: the threads of its runtime wake each other, and one looks around every 20 µs for the first milliseconds.
const batchFor = 100 * time.Millisecond

// batch is what was read of the log and waits to be applied with what comes behind it.
type batch struct {
	entries []entry
	until   time.Time
	bytes   int
}

// left is how long a batch may wait still; an empty one is no reason to wake up soon.
func (b *batch) left(now time.Time) time.Duration {
	if len(b.entries) == 0 {
		return restMost
	}
	return max(0, b.until.Sub(now))
}

// batches decodes an entry and adds it to the batch, if it may wait; false: the batch is to be applied now, and this behind it.
func (c *Coordinator) batches(now time.Time, e *entry) bool {
	b := &c.batch
	if !c.cfg.Serve || !c.sinks.leads || c.sinks.behind() || e.gap != nil || e.node == "" || b.bytes > turnBytes || b.left(now) == 0 || len(c.open.unmet) > 0 {
		return false
	}
	e.decoded, e.refused, _ = decode(*e) // of a node's words, which never fails
	if !c.mayWait(e.decoded) {
		return false
	}
	if len(b.entries) == 0 {
		b.until = now.Add(batchFor)
	}
	b.entries, b.bytes = append(b.entries, *e), b.bytes+len(e.data)
	return true
}

// mayWait reports whether all leases of which an entry says something go on without us: they have left what refills do not wait for either.
func (c *Coordinator) mayWait(en *crawl.Entry) bool {
	for i := range en.Parts {
		p := &en.Parts[i]
		l := c.f.Lease(p.Lease)
		if l == nil || p.Final || p.Starved || runsShort(l.Held-int64(len(p.Outcomes)), int64(p.Want)) {
			return false
		}
	}
	return en.Kind == crawl.EntryParts
}

// drawn returns what is in a batch, to be applied, and empties it.
func (b *batch) drawn() []entry {
	all := b.entries
	*b = batch{}
	return all
}

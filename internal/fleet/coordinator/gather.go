package coordinator

import (
	"time"

	"argosy/internal/crawl"
)

// gatherFor is how long a fleet's reports wait for others at most, if no lease waits for what comes of them. A process that is woken for a
// moment is costly: the threads of its runtime wake each other, and one looks around every 20 µs for the first milliseconds.
const gatherFor = 100 * time.Millisecond

// gathering is what was read of the log and waits to be applied with what comes behind it.
type gathering struct {
	entries []entry
	until   time.Time
	bytes   int
}

// left is how long what has gathered may wait still; if nothing has, that is no reason to wake up soon.
func (g *gathering) left(now time.Time) time.Duration {
	if len(g.entries) == 0 {
		return restMost
	}
	return max(0, g.until.Sub(now))
}

// gather decodes an entry and has it wait for others, if it may; false: all that waits is to be applied now, and this behind it.
func (c *Coordinator) gather(now time.Time, e *entry) bool {
	g := &c.reports
	if !c.cfg.Serve || !c.sinks.leads || c.sinks.behind() || e.gap != nil || e.node == "" || g.bytes > turnBytes || g.left(now) == 0 || len(c.open.unmet) > 0 {
		return false
	}
	e.decoded, e.refused, _ = decode(*e) // of a node's words, which never fails
	if !c.mayWait(e.decoded) {
		return false
	}
	if len(g.entries) == 0 {
		g.until = now.Add(gatherFor)
	}
	g.entries, g.bytes = append(g.entries, *e), g.bytes+len(e.data)
	return true
}

// mayWait reports whether all leases of which an entry says something go on without us: they have left what refills do not wait for either.
func (c *Coordinator) mayWait(en *crawl.Entry) bool {
	for i := range en.Parts {
		p := &en.Parts[i]
		l := c.f.Lease(p.Lease)
		if l == nil || p.Final || p.Starved || l.Held-int64(len(p.Outcomes)) <= int64(p.Want)/3 {
			return false
		}
	}
	return en.Kind == crawl.EntryParts
}

// drawn returns what has gathered, to be applied.
func (g *gathering) drawn() []entry {
	all := g.entries
	*g = gathering{}
	return all
}

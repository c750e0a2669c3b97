package agent

import (
	"testing"
	"time"

	"argosy/internal/fleet/term"
)

// A lease that gets fewer URLs than it likes to hold does not ask for more after each page.
func TestLow(t *testing.T) {
	for _, c := range []struct{ want, last, connections, low int }{
		{want: 4096, last: 4096, connections: 8, low: 1024},
		{want: 4096, last: 64, connections: 8, low: 32},
		{want: 4096, last: 2, connections: 8, low: 8},
		{want: 10, last: 10, connections: 8, low: 2},
		{want: 4, last: 1, connections: 1, low: 1},
	} {
		l := &lease{}
		l.rep.want, l.rep.last, l.job.Limits.SiteConnections = c.want, c.last, c.connections
		if got := l.low(); got != c.low {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// What a lease says that has few URLs left waits for the next message, or for lowPace after the last one; what workers wait for does not.
func TestLowLeasesShareMessages(t *testing.T) {
	flushed := time.Unix(1_000, 0)
	for _, c := range []struct {
		low, urgent bool
		after       time.Duration
		due, joins  bool
	}{
		{low: true, after: lowPace - 1, joins: true},
		{low: true, after: lowPace, due: true, joins: true},
		{urgent: true, due: true},
		{after: lowPace},
	} {
		now := flushed.Add(c.after)
		l := &lease{a: &Agent{cfg: Config{Flush: flushAge}, flushed: flushed}, hold: term.Hold(term.Spans{Term: time.Hour}, now)}
		l.rep.items, l.rep.since, l.rep.low, l.rep.urgent = []item{{}}, now, c.low, c.urgent
		if due, joins := l.due(now), l.joins(now); due != c.due || joins != c.joins {
			t.Errorf("%+v: due %v, joins %v", c, due, joins)
		}
	}
}

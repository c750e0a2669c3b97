package agent

import "testing"

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

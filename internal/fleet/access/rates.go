package access

import "fmt"

// Said is how much a node has said.
type Said struct {
	Messages, Bytes, Links, Leases, Labels, Measures, Doubted int64
}

// Rates are how much a node may say in a second, over time, and Burst for how many seconds at once. An honest node is far below: it
// waits for the acknowledgement of what it has said before.
type Rates struct {
	Said
	Burst int64 // seconds
}

// DefaultRates are those of a coordinator. Two messages come with each lease, one that says that it was received and one that reports
// of it: on many sites that fail at once a node has hundreds of leases a second. Measurements are those that no lease asked for, each try
// by itself: a node measures the delay to 32 others, in two figures and three tries, as often as the operator says. What is doubted, parts
// that are not believed and what is refused, an honest node says when the log has lost its leases, once or twice of each.
func DefaultRates() Rates {
	return Rates{Said{Messages: 5000, Bytes: 16 << 20, Links: 200_000, Leases: 2000, Labels: 256, Measures: 200, Doubted: 1000}, 10}
}

// field is one of the things that are counted.
type field struct {
	name string
	of   func(*Said) *int64
}

var fields = []field{
	{"messages", func(s *Said) *int64 { return &s.Messages }},
	{"bytes", func(s *Said) *int64 { return &s.Bytes }},
	{"links", func(s *Said) *int64 { return &s.Links }},
	{"leases", func(s *Said) *int64 { return &s.Leases }},
	{"labels", func(s *Said) *int64 { return &s.Labels }},
	{"measurements", func(s *Said) *int64 { return &s.Measures }},
	{"parts that are not believed", func(s *Said) *int64 { return &s.Doubted }},
}

// Meter counts what a node says against its rates. The zero Meter has counted nothing.
type Meter struct {
	level Said  // what has not run off yet
	at    int64 // Unix ms
}

// Add counts. It returns what is too much, in words; empty: nothing is. now is Unix ms; a clock that goes back lets nothing run off.
func (m *Meter) Add(r Rates, s Said, now int64) string {
	gone := max(0, now-m.at)
	if m.at == 0 {
		gone = 0
	}
	m.at = max(m.at, now)
	excess := ""
	for _, f := range fields {
		rate, level := *f.of(&r.Said), f.of(&m.level)
		if rate <= 0 {
			continue
		}
		full := rate * r.Burst
		if gone >= 1000*r.Burst {
			*level = 0
		} else {
			*level = max(0, *level-rate*gone/1000)
		}
		add := min(max(0, *f.of(&s)), 1<<50)
		*level = min(*level+add, 1<<51)
		if *level > full && excess == "" {
			excess = fmt.Sprintf("more than %d %s a second", rate, f.name)
		}
	}
	return excess
}

// Quiet reports whether a meter has nothing left to remember. now is Unix ms.
func (m *Meter) Quiet(r Rates, now int64) bool { return now-m.at >= 1000*r.Burst }

// Penalty is how long a node stays out that has said too much for so many times, in ms: ten seconds, twice as long each time, at most
// ten minutes.
func Penalty(times int) int64 { return min(int64(10_000)<<min(max(times-1, 0), 10), 600_000) }

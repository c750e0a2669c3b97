package coordinator

import (
	"sync"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
)

// Sample is how far all jobs were at a time.
type Sample struct {
	At         int64 `json:"at"` // Unix ms
	Fetched    int64 `json:"fetched"`
	Pages      int64 `json:"pages"`
	Failed     int64 `json:"failed"`
	Excluded   int64 `json:"excluded"`
	Discovered int64 `json:"discovered"`
	Bytes      int64 `json:"bytes"`
	Held       int64 `json:"held"`
	Leases     int   `json:"leases"`
	Nodes      int   `json:"nodes"`
	Waiting    int   `json:"waiting"` // tasks
}

// maxSamples bounds a series: when there are so many, every second one is dropped, and from then on they are taken half as often.
const maxSamples = 600

// series is what there was to see since the coordinator began.
type series struct {
	mu    sync.Mutex
	all   []Sample
	every time.Duration
	last  time.Time
}

// due reports whether a sample is to be taken.
func (s *series) due(now time.Time) bool { return now.Sub(s.last) >= max(s.every, time.Second) }

// add takes in a sample.
func (s *series) add(now time.Time, v Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.every = now, max(s.every, time.Second)
	if len(s.all) == maxSamples {
		kept := s.all[:0]
		for i := 0; i < maxSamples; i += 2 {
			kept = append(kept, s.all[i])
		}
		s.all, s.every = kept, 2*s.every
	}
	s.all = append(s.all, v)
}

// Series returns what there was to see since the coordinator began, the oldest first.
func (c *Coordinator) Series() []Sample {
	c.series.mu.Lock()
	defer c.series.mu.Unlock()
	return append([]Sample{}, c.series.all...)
}

// sample notes how far all jobs are.
func (c *Coordinator) sample(now time.Time, st *Status) {
	if !c.series.due(now) {
		return
	}
	var sum crawl.Counts
	c.f.Jobs(func(j *frontier.Job) { sum = sum.Add(j.Totals) })
	c.series.add(now, Sample{
		At: now.UnixMilli(), Fetched: sum.Fetched, Pages: sum.Pages, Failed: sum.Failed, Excluded: sum.Excluded, Discovered: sum.Discovered,
		Bytes: sum.Bytes, Held: sum.Held, Leases: st.Leases, Nodes: st.Nodes, Waiting: st.Waiting,
	})
}

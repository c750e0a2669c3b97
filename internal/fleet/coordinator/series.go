package coordinator

import (
	"context"
	"slices"
	"sync"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
)

// Sample is how far a job, or all jobs, were at a time.
type Sample = ledger.Sample

const (
	// maxSamples bounds a series: when there are so many, every second one is dropped, and from then on they are taken half as often.
	maxSamples = 600
	// maxTracks bounds how many jobs have a series, 40 KB each: those that got on last.
	maxTracks = 100
	// keepEvery is how often what is new of series is written into the ledger: as much of them is lost with a coordinator that is killed.
	keepEvery = time.Minute
)

// series is what there was to see of jobs: what the ledger has of it, and what came since the coordinator began.
type series struct {
	mu   sync.Mutex
	of   map[uint32]*track // by job; 0: all jobs together
	last time.Time
	kept time.Time // when what is new was written last
}

// track is what there was to see of one job.
type track struct {
	all   []Sample
	every time.Duration
	last  time.Time
	kept  int64 // the time of the last sample that the ledger has; 0: it has none of these, or others
}

// due reports whether a sample is to be taken.
func (t *track) due(now time.Time) bool { return now.Sub(t.last) >= max(t.every, time.Second) }

// add takes in a sample.
func (t *track) add(now time.Time, v Sample) {
	t.last, t.every = now, max(t.every, time.Second)
	if len(t.all) == maxSamples {
		kept := t.all[:0]
		for i := 0; i < maxSamples; i += 2 {
			kept = append(kept, t.all[i])
		}
		t.all, t.every, t.kept = kept, 2*t.every, 0
	}
	t.all = append(t.all, v)
}

// see notes how far a job is, while it gets on: one at rest has no more samples than there were changes.
func (s *series) see(now time.Time, job uint32, runs bool, sum crawl.Counts) {
	v := Sample{
		At: now.UnixMilli(), Fetched: sum.Fetched, Pages: sum.Pages, Failed: sum.Failed, Excluded: sum.Excluded, Discovered: sum.Discovered,
		Bytes: sum.Bytes, Held: sum.Held,
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.of[job]
	if t != nil && !t.due(now) {
		return
	}
	if t != nil && !runs {
		was := t.all[len(t.all)-1]
		if was.At = v.At; was == v {
			return
		}
	}
	if t == nil {
		if !runs {
			return
		}
		t = s.room(job)
	}
	t.add(now, v)
}

// room begins the series of a job, instead of that of the one that has rested longest where there are too many.
func (s *series) room(job uint32) *track {
	if s.of == nil {
		s.of = map[uint32]*track{}
	}
	if len(s.of) > maxTracks {
		oldest := uint32(0)
		for id, t := range s.of {
			if id != 0 && (oldest == 0 || t.last.Before(s.of[oldest].last)) {
				oldest = id
			}
		}
		delete(s.of, oldest)
	}
	t := &track{}
	s.of[job] = t
	return t
}

// Series returns what there was to see of a job (0: of all together), the oldest first, of what is later than a time in Unix ms.
func (w *window) Series(job uint32, after int64) []Sample {
	w.series.mu.Lock()
	defer w.series.mu.Unlock()
	t := w.series.of[job]
	if t == nil {
		return []Sample{}
	}
	from, _ := slices.BinarySearchFunc(t.all, after+1, func(v Sample, at int64) int { return int(v.At - at) })
	return append([]Sample{}, t.all[from:]...)
}

// recollect takes in what the ledger has kept.
func (s *series) recollect(of map[uint32][]Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for job, all := range of {
		if s.of[job] != nil || len(all) == 0 {
			continue
		}
		last := all[len(all)-1]
		t := s.room(job)
		t.all, t.last, t.kept = all[max(0, len(all)-maxSamples):], time.UnixMilli(last.At), last.At
		gaps := make([]int64, 0, len(all))
		for i := 1; i < len(all); i++ {
			gaps = append(gaps, all[i].At-all[i-1].At)
		}
		if slices.Sort(gaps); len(gaps) > 0 { // most are as long as the last time that there were too many; some lasted until a restart
			t.every = time.Duration(gaps[len(gaps)/2]) * time.Millisecond
		}
	}
}

// fresh returns what the ledger has not kept yet: of all jobs together only with that of one of them.
func (s *series) fresh() map[uint32]ledger.Samples {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[uint32]ledger.Samples{}
	for job, t := range s.of {
		from := slices.IndexFunc(t.all, func(v Sample) bool { return v.At > t.kept })
		if from >= 0 {
			out[job] = ledger.Samples{All: slices.Clone(t.all[from:]), Whole: t.kept == 0}
		}
	}
	if _, ok := out[0]; ok && len(out) == 1 {
		clear(out)
	}
	return out
}

// wrote notes what the ledger has kept, unless there are others in its place meanwhile.
func (s *series) wrote(of map[uint32]ledger.Samples) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for job, v := range of {
		if t := s.of[job]; t != nil && (v.Whole || t.kept > 0) {
			t.kept = v.All[len(v.All)-1].At
		}
	}
}

// keep writes what is new of series into the ledger, from time to time, or at once.
func (c *Coordinator) keep(ctx context.Context, now time.Time, atOnce bool) {
	if !atOnce && now.Sub(c.series.kept) < keepEvery {
		return
	}
	c.series.kept = now
	of := c.series.fresh()
	if len(of) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, chargeEvery)
	defer cancel()
	err := c.sinks.ledger.PutSamples(ctx, of)
	if err == nil {
		c.series.wrote(of)
	} else if ctx.Err() == nil {
		c.cfg.Logger.Warn("how far jobs are was not written", "error", err)
	}
}

// recollect reads what earlier coordinators have seen. Without it charts begin later.
func (c *Coordinator) recollect(ctx context.Context) {
	of, err := c.sinks.ledger.Samples(ctx)
	if err != nil {
		c.cfg.Logger.Warn("how far jobs were is not known", "error", err)
	}
	c.series.recollect(of)
}

// sample notes how far jobs are.
func (c *Coordinator) sample(now time.Time) {
	if now.Sub(c.series.last) < time.Second {
		return
	}
	c.series.last = now
	var sum crawl.Counts
	c.f.Jobs(func(j *frontier.Job) {
		sum = sum.Add(j.Totals)
		c.series.see(now, j.ID, j.State == crawl.JobRunning, j.Totals)
	})
	c.series.see(now, 0, true, sum)
}

// endingLeast is how many samples it takes to say when a job will end.
const endingLeast = 10

// Ending projects when nothing of a job will be pending, in Unix ms, from how the end came nearer in the last third of its series; false
// while it does not come nearer, or nobody can tell.
func (w *window) Ending(job uint32) (at int64, ok bool) {
	all := w.Series(job, 0)
	n := len(all)
	if n < endingLeast {
		return 0, false
	}
	left := func(s *Sample) int64 { return s.Discovered - s.Fetched - s.Failed - s.Excluded }
	last, from := &all[n-1], &all[n-max(endingLeast, n/3)]
	fall, ms := left(from)-left(last), last.At-from.At
	if left(last) <= 0 || fall <= 0 || ms <= 0 {
		return 0, false
	}
	return last.At + int64(float64(left(last))/float64(fall)*float64(ms)), true
}

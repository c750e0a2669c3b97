package schedule

import (
	"math"
	"time"

	"argosy/internal/crawl"
)

// ModifyConfig are the constants of the modify stage.
type ModifyConfig struct {
	Target             float64 // completion rate at which the quota stays as it is
	Gain               float64 // how strongly the quota follows the rate
	MinPages, MaxPages int
	MinTime, MaxTime   time.Duration
	Safety             float64 // time budget over the time that the pages are expected to take
	First              int     // pages of a lease on a pair of which nothing is known; 0: as many as on any (Shape)
}

// DefaultModify are the constants that a job gets that states none. The paper gives directions, not numbers.
func DefaultModify() ModifyConfig {
	return ModifyConfig{Target: 0.8, Gain: 0.5, MinPages: 5, MaxPages: 5000, MinTime: 10 * time.Second, MaxTime: 30 * time.Minute, Safety: 1.5}
}

// Searches are the constants for a search, whose quota counts result pages: of those one is a subtask's worth of asking, and it is
// the least that a search which brings nothing costs.
func (c ModifyConfig) Searches() ModifyConfig {
	c.MinPages, c.MaxPages = 1, mostResultPages
	return c
}

// mostResultPages bounds a subtask of a search.
const mostResultPages = 1000

// Subtask is what one lease of a task did: the paper's subtask record.
type Subtask struct {
	Quota     int // pages it might fetch
	Budget    time.Duration
	Exist     int // pages that there were to collect
	Collected int
	Took      time.Duration
	Out       bool // its time was over before its pages were: it was one of as many as there were to collect
	Rated     bool // Rate is the completion rate, else it is Collected of Exist
	Rate      float64
}

// Modify chooses page quota q and time budget b of a task's next lease from what its last one did, Q pages (its quota, or, where its time was
// over first, those that it came to) at the completion rate r: fewer
// pages after a low rate and more after a high one; less time where pages come fast and more where they come slowly.
//
// The two are chosen together, so that
//
//	W(q, b) = w·n - n²/2Q, with n = min(q, ⌊b / (Safety·s)⌋) and w = 1 + Gain·(r - Target),
//
// is largest; of those that are as good as each other it takes the least time, then the fewest pages. n are the pages that the lease comes to
// in its time, if each takes s seconds: those that a collected page took, times r. Each is worth w, the more the better its site answers this
// node, less n/Q: what is learned while a lease lasts changes only the next one. Where nothing was collected s is not known, and the time
// stays as it was; where not even MinPages fit, it is MaxTime. Both keep within the bounds of cfg.
func Modify(cfg ModifyConfig, s Subtask) (quota int, budget time.Duration) {
	if s.Out && s.Exist > 0 {
		s.Quota = s.Exist
	}
	if s.Quota <= 0 {
		s.Quota = cfg.MinPages
	}
	rate := s.Rate
	switch {
	case s.Rated:
	case s.Exist <= 0:
		return clampInt(s.Quota, cfg), clampTime(s.Budget, cfg)
	default:
		rate = float64(s.Collected) / float64(min(s.Exist, s.Quota))
	}
	quota = clampInt(int(math.Ceil(float64(s.Quota)*(1+cfg.Gain*(min(rate, 1)-cfg.Target))-0.5-1e-9)), cfg)
	if s.Collected == 0 {
		return quota, clampTime(s.Budget, cfg) // nothing says how long a page takes
	}
	perPage := cfg.Safety * s.Took.Seconds() / float64(s.Collected) * min(1, max(rate, 0.1))
	if top := cfg.MaxTime.Seconds(); perPage*float64(quota) > top {
		quota = clampInt(int(top/perPage+1e-9), cfg)
	}
	return quota, clampTime(time.Duration(math.Ceil(min(perPage*float64(quota), cfg.MaxTime.Seconds())-1e-9))*time.Second, cfg)
}

// Shape is Modify of a lease on a pair of which so many pages are known to have been asked for, and so many of them had. s is what the last
// lease of the task did; where there was none, Exist is 0, and quota and budget are the job's.
//
// Where cfg.First is set, the pair speaks for itself: its own completion rate counts, on whichever node the last lease was, and there are at most
// as many pages as are known of it, and First more. A pair that is good has all that a task wants after a few leases, since what is known
// doubles with each; one that is bad costs no more pages than it takes to see that.
func Shape(cfg ModifyConfig, s Subtask, good, all float64) (quota int, budget time.Duration) {
	switch {
	case cfg.First <= 0:
		return Modify(cfg, s)
	case all < 1:
		return min(max(1, s.Quota), cfg.First), clampTime(s.Budget, cfg)
	case !s.Rated:
		s.Rated, s.Rate = true, good/all
	}
	quota, budget = Modify(cfg, s)
	return min(quota, cfg.First+int(min(all, float64(cfg.MaxPages)))), budget
}

func clampInt(n int, cfg ModifyConfig) int { return min(cfg.MaxPages, max(cfg.MinPages, n)) }

func clampTime(d time.Duration, cfg ModifyConfig) time.Duration {
	return min(cfg.MaxTime, max(cfg.MinTime, d)).Round(time.Second)
}

// RecycleConfig are the constants of the recycle stage, with the paper's values as defaults.
type RecycleConfig struct {
	After time.Duration // without a sign of progress, 1 min
	Limit int           // recycles, 5
}

// DefaultRecycle are the paper's constants.
func DefaultRecycle() RecycleConfig { return RecycleConfig{After: time.Minute, Limit: 5} }

// Verdicts of Recycle.
const (
	Recalled crawl.Kind = "recycle" // the lease is taken back, the task goes to another node
	Manual   crawl.Kind = "manual"  // a person decides
)

// Recycle judges a lease by when its last sign of progress was; OK means that it goes on.
func Recycle(cfg RecycleConfig, silent time.Duration) crawl.Verdict {
	if silent > cfg.After {
		return crawl.Verdict{Reason: Recalled, Detail: "no progress for " + silent.Round(time.Second).String()}
	}
	return crawl.Verdict{}
}

// AfterFailure says what becomes of a task that failed after it had been recycled so many times: another node, or, once
// the limit was reached before, a person.
func AfterFailure(cfg RecycleConfig, recycled int) crawl.Kind {
	if recycled >= cfg.Limit {
		return Manual
	}
	return Recalled
}

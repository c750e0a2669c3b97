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
}

// DefaultModify are the constants that a job gets that states none. The paper gives directions, not numbers.
func DefaultModify() ModifyConfig {
	return ModifyConfig{Target: 0.8, Gain: 0.5, MinPages: 5, MaxPages: 5000, MinTime: 10 * time.Second, MaxTime: 30 * time.Minute, Safety: 1.5}
}

// Subtask is what one lease of a task did: the paper's subtask record.
type Subtask struct {
	Quota     int // pages it might fetch
	Budget    time.Duration
	Exist     int // pages that there were to collect
	Collected int
	Took      time.Duration
	Rated     bool // Rate is the completion rate, else it is Collected of Exist
	Rate      float64
}

// Modify chooses page quota and time budget of a task's next lease from what its last one did: fewer pages after a low
// completion rate and more after a high one; less time where pages come fast and more where they come slowly. The two
// are chosen together: a larger quota would cost efficiency if its time did not grow with it, so the time follows the
// pages that are expected to be collected, and when that does not fit into the longest time the quota gives way.
func Modify(cfg ModifyConfig, s Subtask) (quota int, budget time.Duration) {
	if s.Quota <= 0 {
		s.Quota = cfg.MinPages
	}
	if s.Exist <= 0 {
		return clampInt(s.Quota, cfg), clampTime(s.Budget, cfg)
	}
	rate := float64(s.Collected) / float64(min(s.Exist, s.Quota))
	if s.Rated {
		rate = s.Rate
	}
	quota = clampInt(int(math.Round(float64(s.Quota)*(1+cfg.Gain*(min(rate, 1)-cfg.Target)))), cfg)
	if s.Collected == 0 {
		return quota, clampTime(s.Budget, cfg) // nothing says how long a page takes
	}
	perPage := s.Took.Seconds() / float64(s.Collected)
	seconds := perPage * float64(quota) * min(1, max(rate, 0.1)) * cfg.Safety
	if top := cfg.MaxTime.Seconds(); seconds > top {
		quota = clampInt(int(float64(quota)*top/seconds), cfg)
		seconds = top
	}
	return quota, clampTime(time.Duration(seconds*float64(time.Second)), cfg)
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

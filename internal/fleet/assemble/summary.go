package assemble

import (
	"context"
	"strconv"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/verdict"
	"argosy/internal/plan/schedule"
)

// Summary is what a run ends with.
type Summary struct {
	Job     string  `json:"job"`
	State   string  `json:"state"`
	Limited string  `json:"limited,omitempty"` // the limit that has ended it
	Seconds float64 `json:"seconds"`
	crawl.JobCounts
	Requests  int64                 `json:"requests"`
	Nodes     int                   `json:"nodes"`
	Strategy  string                `json:"strategy"`
	Out       string                `json:"out"`
	Traps     []crawl.Trap          `json:"traps,omitempty"`
	Topic     string                `json:"topic,omitempty"` // what pages were to be about
	Threshold float64               `json:"threshold,omitempty"`
	Market    *crawl.Market         `json:"market,omitempty"`
	Stuck     *coordinator.Stuck    `json:"stuck,omitempty"`
	GaveWay   []coordinator.GaveWay `json:"gave_way,omitempty"` // domains whose pages had to promise more than others
	Succeeded int64                 `json:"succeeded"`          // of the fetched: with a status below 400
	Moved     int64                 `json:"moved"`              // of these: redirects
	Troubles  []verdict.Trouble     `json:"troubles,omitempty"` // the first of them
	Troubled  map[string]int64      `json:"troubled,omitempty"` // sites by reason (Trouble.Reason), all of them
	Losses    []verdict.Loss        `json:"losses,omitempty"`
	Unmatched []string              `json:"unmatched,omitempty"` // hosts of site rules that no site matches

	Searches *frontier.SearchCounts `json:"searches,omitempty"` // of a virtual task
	Fields   bool                   `json:"-"`                  // its job takes fields out of pages

	Measured schedule.Measured `json:"measured"` // in this run
}

func (cr *Crawl) summary(ctx context.Context, start time.Time) (Summary, error) {
	j := cr.f.Job(cr.cfg.Job.ID)
	if j == nil {
		return Summary{State: crawl.JobInterrupted, Out: cr.cfg.Dir}, nil
	}
	_, stats := cr.Status()
	state := j.State
	if state == crawl.JobRunning {
		state = crawl.JobInterrupted
	}
	judge := &verdict.Judge{Ledger: cr.ledger, Frontier: cr.f, Logins: cr.cfg.Logins, Last: cr.last}
	traps, err := judge.Traps(j.ID)
	if err != nil {
		return Summary{}, err
	}
	troubles, succeeded, moved, err := judge.Troubles(ctx, j.ID)
	if err != nil {
		return Summary{}, err
	}
	losses, err := judge.Losses(ctx, j, troubles)
	shown, troubled := verdict.Tally(troubles)
	sum := Summary{
		Job: strconv.Itoa(int(j.ID)), State: state, Seconds: float64(time.Since(start).Milliseconds()) / 1e3, JobCounts: cr.f.Counts(j.ID), Requests: stats.Requests,
		Nodes: len(cr.nodes), Strategy: cr.cfg.Strategy, Out: cr.cfg.Dir, Traps: traps, Measured: cr.co.Measured(), Succeeded: succeeded, Moved: moved, Losses: losses,
		Troubles: shown, Troubled: troubled,
	}
	if state == crawl.JobLimited {
		sum.Limited = j.Limit
	}
	if len(j.Sites) > 0 {
		sum.Unmatched = crawl.Unmatched(j.Sites, func(yield func(string) bool) {
			more := true
			cr.f.Tasks(func(t *frontier.Task) { more = more && (t.Job != j.ID || yield(t.Site)) })
		})
	}
	if j.Identity.Collect != nil {
		counts := cr.f.SearchCounts(j.ID)
		sum.Searches, sum.Fields = &counts, len(j.Identity.Collect.Fields) > 0
	}
	if t := j.Identity.Topic; t != nil {
		sum.Topic, sum.Threshold = t.About, t.Threshold
		sum.Market, sum.Stuck, sum.GaveWay = j.Identity.Market, cr.co.Stuck(j.ID), cr.co.GaveWay(j.ID)
	}
	return sum, err
}

// last is what has gone wrong at a site last, of what is to be tried again; empty if nothing is remembered.
func (cr *Crawl) last(site string) (why crawl.Kind) {
	for _, n := range cr.nodes {
		for _, p := range n.agent.Problems(0) {
			if p.Site == site && p.Again {
				why = p.Kind
			}
		}
	}
	return why
}

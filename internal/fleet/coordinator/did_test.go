package coordinator

import (
	"log/slog"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/schedule"
	"argosy/internal/plan/strategy"
)

// What the last leases of a job's tasks did is known while the job runs, and no longer: a coordinator that has had many jobs does not
// remember them all.
func TestLastLeasesAreForgottenWithTheirJob(t *testing.T) {
	k := &lore{strategies: strategy.New, logger: slog.New(slog.DiscardHandler), learned: learn.New(), readers: map[string]*reader{}, probing: map[pair]bool{}, measured: map[string]*schedule.Measured{}}
	r, err := k.reader("feedback", &crawl.Placing{})
	if err != nil {
		t.Fatal(err)
	}
	for job := range uint32(50) {
		for task := range uint32(10) {
			lease := &frontier.Lease{ID: uint64(job*10 + task), Job: job, Task: job*10 + task, Site: "a.test", Node: "n", Given: 20, Quota: 20, Collected: 17}
			k.take(&frontier.Effects{Ended: []frontier.Ended{{Lease: lease, Tried: 20}}}, 1000)
		}
		if s := r.did[job][job*10+3]; s.Collected != 17 || s.Exist != 20 {
			t.Fatalf("job %d runs: %+v", job, s)
		}
		if job != 7 {
			k.forget(job)
		}
	}
	if len(r.did) != 1 || len(r.did[7]) != 10 {
		t.Errorf("of one job that runs %d are remembered, and %d of its tasks", len(r.did), len(r.did[7]))
	}
}

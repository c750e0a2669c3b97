package mend

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
)

// An answer is the page of the job that had it, where several jobs have fetched a URL.
func TestEveryJobHasItsOwnAnswers(t *testing.T) {
	const url = "http://a.test/"
	at := func(dates ...int64) captures {
		c := captures{}
		for _, date := range dates {
			c[url] = append(c[url], capture{Outcome: crawl.Outcome{URL: url, Digest: "d", Date: date}})
		}
		c.sort()
		return c
	}
	for name, c := range map[string]struct {
		had  captures
		want []int64 // of the jobs that began at 200, 100 and 10, in this order
	}{
		"each once":                   {at(11, 110, 210), []int64{210, 110, 11}},
		"in any order of files":       {at(210, 11, 110), []int64{210, 110, 11}},
		"tried again":                 {at(11, 12, 110, 120, 210), []int64{210, 120, 12}},
		"the last job's is lost":      {at(11, 110), []int64{110, 110, 11}},
		"a job's in between is lost":  {at(11, 210), []int64{210, 11, 11}},
		"a clock is slow":             {at(9, 99, 199), []int64{199, 199, 99}},
		"all but the last one's lost": {at(210), []int64{210, 210, 210}},
	} {
		var got []int64
		for _, begun := range []int64{200, 100, 10} {
			o, ok := c.had.outcome(&frontier.Job{StartMS: begun}, &frontier.URL{URL: url, State: crawl.Fetched, Digest: "d"})
			if !ok {
				t.Fatalf("%s: no answer for the job of %d", name, begun)
			}
			got = append(got, o.Date)
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: jobs have %v, want %v", name, got, c.want)
				break
			}
		}
	}
	both := at(110, 120) // of jobs that ran at once
	u := &frontier.URL{URL: url, State: crawl.Fetched, Digest: "d"}
	first, _ := both.outcome(&frontier.Job{StartMS: 100}, u)
	if second, _ := both.outcome(&frontier.Job{StartMS: 99}, u); first.Date != 120 || second.Date != 110 {
		t.Errorf("jobs that ran at once have %d and %d", first.Date, second.Date)
	}
	other := at(11)
	if _, ok := other.outcome(&frontier.Job{}, &frontier.URL{URL: url, State: crawl.Fetched, Digest: "other"}); ok {
		t.Error("an answer of other bytes was taken")
	}
}

// A job whose list of seeds was in the frontier alone does not keep the others of a fleet from beginning again.
func TestJobsWithLostSeeds(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(outdir.OpenFormat(dir, "test"), os.MkdirAll(outdir.State(dir), 0o700), outdir.Claim(dir, "")); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	err = l.Restore(t.Context(), "log", 1, func(to *ledger.Restorer) error {
		for id, state := range map[uint32]string{1: crawl.JobRunning, 2: crawl.JobRunning, 3: crawl.JobCancelled} {
			j := crawl.Job{ID: id, Name: "j", Identity: crawl.Identity{Seeds: []string{"http://a.test/"}}}
			if id > 1 {
				j.Identity = crawl.Identity{List: &crawl.SeedList{Count: 400_000}}
			}
			if err := to.Job(1, &j, state); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := frontier.Open(frontier.DefaultConfig(outdir.Frontier(dir))) // as a command that only reads makes it where there is none
	if err == nil {
		err = f.Close()
	}
	if _, lost := Ledger(t.Context(), dir, "", nil); err != nil || lost == nil || !strings.Contains(lost.Error(), "rebuild frontier") {
		t.Errorf("a ledger with jobs was rebuilt from a frontier without any: %v, %v", err, lost)
	}
	r, err := Frontier(t.Context(), dir, "")
	if err != nil || r.Jobs != 1 || len(r.Ended) != 1 || r.Ended[0] != (EndedJob{2, "j", 400_000}) {
		t.Errorf("%+v, %v", r, err)
	}
}

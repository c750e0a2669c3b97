package coordinator

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/crawl"
)

// A person's text that is not UTF-8 is refused before it is in the log. One that is in the log all the same ends no coordinator: it
// would end every one that comes after, too.
func TestTextThatIsNotUTF8(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, dir)
		s.start()
		job := crawl.Job{Name: "caf\xe9", Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, UserAgent: "t", Seeds: []string{"http://a.test/"}}}
		_, err := s.co.Submit(t.Context(), job)
		var fault *crawl.Fault
		if !errors.As(err, &fault) || fault.Error() != "name: not UTF-8" {
			t.Errorf("submit: %v", err)
		}
		job.Name = "café"
		id, err := s.co.Submit(t.Context(), job)
		s.fail(err)
		_, err = s.co.Release(t.Context(), crawl.EntryRetry, nil, crawl.Release{Job: id, Why: "caf\xe9"})
		if !errors.As(err, &fault) {
			t.Errorf("retry: %v", err)
		}
		job.ID, job.Name = id+1, "caf\xe9"
		b, err := crawl.Marshal(&crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntrySubmit, Epoch: s.co.sinks.epoch, Job: &job})
		s.fail(err)
		s.log.add("", b)
		time.Sleep(2 * time.Second)
		s.halt()
		s.start()
		jobs, err := s.co.Jobs(t.Context())
		if err != nil || len(jobs) != 2 {
			t.Errorf("%d jobs after a restart: %v", len(jobs), err)
		}
		time.Sleep(2 * time.Second)
		s.halt()
	})
}

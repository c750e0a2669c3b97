package assemble_test

import (
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/verify"
	"argosy/internal/page/archive"
	"argosy/internal/testkit/fleettest"
)

// A node that is asked again for what it has archived, because that was lost, archives it whole: not as a revisit of the record that
// is gone. So it does with the robots.txt of its site.
func TestNodeArchivesWholeWhatWasLost(t *testing.T) {
	t.Parallel()
	_, port := serveWeb(t, 31, 30)
	f := newFleet(t, nil)
	dir := t.TempDir()
	f.Join("a", func(c *assemble.AgentConfig) { c.Store, c.Node.ArchiveSize = archive.Dir(dir).URL(), 20_000 })
	id := f.Submit(fleettest.Job(port, 0))
	if v := f.Await(id); v.State != crawl.JobDone || v.Counts.Failed != 0 {
		t.Fatalf("%s: %+v", v.State, v.Counts)
	}
	s, err := archive.OpenStore(archive.Dir(dir).URL())
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.List(t.Context())
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".open") {
			continue // it is written to
		}
		if err := s.Remove(t.Context(), file); err != nil {
			t.Fatal(err)
		}
	}
	r, err := verify.Check(t.Context(), verify.Place{Dir: f.Dir, Running: true})
	if err != nil || r.Lost == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := f.Leader().Release(t.Context(), crawl.EntryRetry, nil, crawl.Release{Job: id, Lost: r.Again(id), Why: "lost"}); err != nil {
		t.Fatal(err)
	}
	f.Await(id)
	if r, err = verify.Check(t.Context(), verify.Place{Dir: f.Dir, Running: true}); err != nil || !r.OK {
		t.Errorf("%d lost, %v, %v", r.Lost, r.Details, err)
	}
}

package assemble_test

import (
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/verify"
	"argosy/internal/fleet/web"
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
	if _, err := f.Leader().Release(t.Context(), crawl.EntryRetry, nil, r.Again(id)); err != nil {
		t.Fatal(err)
	}
	f.Await(id)
	if r, err = verify.Check(t.Context(), verify.Place{Dir: f.Dir, Running: true}); err != nil || !r.OK {
		t.Errorf("%d lost, %v, %v", r.Lost, r.Details, err)
	}
}

// Pages of a job are asked again by how they were answered, over the API too: the counts are what they were, and both answers are kept.
func TestRetryByStatusOverTheAPI(t *testing.T) {
	t.Parallel()
	_, port := serveWeb(t, 3, 5)
	f := newFleet(t, withToken(t))
	f.Join("a", nil)
	cl := f.client()
	id := f.Submit(fleettest.Job(port, 0))
	was := f.Await(id)
	before, err := verify.Check(t.Context(), verify.Place{Dir: f.Dir, Running: true})
	if err != nil || !before.OK {
		t.Fatalf("%v, %v", before.Details, err)
	}
	for _, bad := range []web.Release{
		{Status: "2yy"}, {Status: "200", Cut: true}, {Status: "200", NamedTasks: web.NamedTasks{Tasks: []uint32{1}}}, {Cut: true, Lost: [][]byte{crawl.Page{}.Bytes()}},
	} {
		if d, err := cl.Release(t.Context(), id, "retry", bad); err == nil {
			t.Errorf("%+v is taken: %+v", bad, d)
		}
	}
	if d, err := cl.Release(t.Context(), id, "retry", web.Release{Status: "418"}); err != nil || d.Tasks != 0 || d.Pending != 0 {
		t.Errorf("what nothing was answered with: %+v, %v", d, err)
	}
	if _, err := cl.Release(t.Context(), id, "retry", web.Release{Status: "2xx"}); err != nil {
		t.Fatal(err)
	}
	now := f.Await(id)
	if now.State != crawl.JobDone || now.Counts.Fetched != was.Counts.Fetched || now.Counts.Discovered != was.Counts.Discovered || now.Counts.Pending != 0 {
		t.Errorf("%s: %+v, was %+v", now.State, now.Counts, was.Counts)
	}
	after, err := verify.Check(t.Context(), verify.Place{Dir: f.Dir, Running: true})
	if err != nil || !after.OK || after.Pages != before.Pages || after.Beside < before.Beside+was.Counts.Fetched/2 {
		t.Errorf("%d pages and %d captures beside them, were %d and %d: %v, %v", after.Pages, after.Beside, before.Pages, before.Beside, after.Details, err)
	}
}

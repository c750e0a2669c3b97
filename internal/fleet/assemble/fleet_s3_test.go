package assemble_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/serve"
	"argosy/internal/fleet/verify"
	"argosy/internal/page/archive"
	"argosy/internal/testkit"
	"argosy/internal/testkit/fleettest"
)

// s3 starts a server of S3-compatible storage with one bucket and returns the URL of a store in it. ARGOSY_TEST_S3 names
// another one, with credentials in the environment.
func s3(t *testing.T) string {
	t.Helper()
	if u := os.Getenv("ARGOSY_TEST_S3"); u != "" {
		return u
	}
	u, stop, err := testkit.S3()
	if errors.Is(err, testkit.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	t.Setenv("AWS_ACCESS_KEY_ID", "argosy")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "argosy-secret")
	return u
}

// Archives in S3-compatible storage: a page counts when its object is complete, verify reads them all there, and a lost
// object's pages are named and fetched again.
func TestS3(t *testing.T) {
	store := s3(t)
	w, port := serveWeb(t, 29, 60)
	f := newFleet(t, func(c *serve.Config) { c.Access.Stores = []string{"s3://*?endpoint=" + archive.ForeignEndpoint(store)} })
	for _, n := range []string{"a", "b"} {
		f.Join(n, func(c *assemble.AgentConfig) { c.Store = store })
	}
	id := f.Submit(fleettest.Job(port, 0))
	if v := f.Await(id); v.State != crawl.JobDone || v.Counts.Failed != 0 {
		t.Fatalf("%s: %+v", v.State, v.Counts)
	}
	if u := fleettest.Twice(w, fleettest.Sites); u != "" {
		t.Errorf("%s was fetched twice", u)
	}
	if _, err := verify.Check(t.Context(), verify.Place{Dir: f.Dir}); err == nil || !strings.Contains(err.Error(), "--store") {
		t.Errorf("credentials are sent to where a node says: %v", err)
	}
	t.Setenv("AWS_ENDPOINT_URL", archive.ForeignEndpoint(store))
	f.Halt()
	fleettest.Judge(t, f.Dir, port)
	f.Start()
	f.Leader()

	s, err := archive.OpenStore(store)
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.List(t.Context())
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	if err := s.Remove(t.Context(), files[0]); err != nil {
		t.Fatal(err)
	}
	r, err := verify.Check(t.Context(), verify.Place{Dir: f.Dir, Running: true})
	if err != nil || r.OK || r.Lost == 0 || len(r.LostKeys[id]) != r.Lost {
		t.Fatalf("verify does not see what is lost: %+v, %v", r, err)
	}
	if _, err := f.Leader().Release(t.Context(), crawl.EntryRetry, nil, r.Again(id)); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "what was lost is fetched again", func() bool {
		v := f.Job(id)
		r, err := verify.Check(t.Context(), verify.Place{Dir: f.Dir, Running: true})
		return v.State == crawl.JobDone && err == nil && r.OK
	})
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "argosy-spool-*", "*", "*")); len(left) > 0 && strings.Contains(left[0], t.Name()) {
		t.Errorf("the spool is not empty: %v", left)
	}
}

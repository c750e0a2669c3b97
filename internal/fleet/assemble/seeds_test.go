package assemble_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/testkit/fleettest"
)

// Seeds that follow a job over HTTP: nothing is fetched until all are in, pieces may come twice, but neither too early nor too many.
func TestSeedsFollowAJob(t *testing.T) {
	t.Parallel()
	_, port := serveWeb(t, 28, 30)
	f := newFleet(t, withToken(t))
	f.Join("a", nil)
	f.Leader()
	cl := f.client()
	ctx := t.Context()
	var d crawl.SeedDigest
	seeds := make([]string, fleettest.Sites)
	for i := range seeds {
		seeds[i] = fmt.Sprintf("http://s%d.test:%s/", i, port)
		d.Add(seeds[i], false)
	}
	list := d.List()
	file := []byte("limits: {delay: 0, per_ip: 0}")
	if _, err := cl.Submit(ctx, append(file, "\nseeds: [a.test]"...), &list); err == nil || !strings.Contains(err.Error(), "follow the job") {
		t.Error(err)
	}
	id, err := cl.Submit(ctx, file, &list)
	if err != nil {
		t.Fatal(err)
	}
	sow := func(from, to int, want string) {
		t.Helper()
		err := cl.Sow(ctx, crawl.SeedChunk{Job: id, From: int64(from), URLs: seeds[from:to]})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d to %d: %v, want %q", from, to, err, want)
		}
	}
	sow(2, 4, "0 seeds of job 1 are in")
	sow(0, 2, "")
	sow(0, 2, "")
	if err := cl.Sow(ctx, crawl.SeedChunk{Job: id, From: 2, URLs: make([]string, fleettest.Sites)}); err == nil || !strings.Contains(err.Error(), "no seed") {
		t.Error(err)
	}
	if err := cl.Sow(ctx, crawl.SeedChunk{Job: id, From: 2, URLs: append(seeds[2:], seeds...)}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d seeds", fleettest.Sites)) {
		t.Error(err)
	}
	if err := cl.Sow(ctx, crawl.SeedChunk{Job: id, From: 2, URLs: []string{"ftp://a.test/"}}); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Error(err)
	}
	v, err := cl.Job(ctx, id)
	if err != nil || v.Sown != 2 || v.Counts.Discovered != 2 || v.Counts.Held != 0 || v.State != crawl.JobRunning {
		t.Errorf("%v: %+v", err, v)
	}
	sow(2, fleettest.Sites, "")
	if v := f.Await(id); v.State != crawl.JobDone || v.Counts.Fetched < fleettest.Sites {
		t.Errorf("%+v", v)
	}
	sow(0, 1, "")
}

// A crawl that is cut short while its seeds come in goes on with those that are missing.
func TestSeedsAreGoneOnWith(t *testing.T) {
	t.Parallel()
	_, port := serveWeb(t, 29, 20)
	dir := t.TempDir()
	c := fleettest.Crawl(dir, port, 0, 1)
	whole := fleettest.Crawl(t.TempDir(), port, 0, 1)
	seeds := c.Job.Identity.Seeds
	var d crawl.SeedDigest
	for _, s := range seeds {
		d.Add(s, false)
	}
	list := d.List()
	c.Job.Identity.Seeds, c.Job.Identity.List = nil, &list
	var asked []int64
	fail := errors.New("the file cannot be read")
	c.Seeds = func(from int64, send func(crawl.SeedChunk) error) error {
		asked = append(asked, from)
		for i := from; i < list.Count; i++ {
			if len(asked) == 1 && i == 3 {
				return fail
			}
			if err := send(crawl.SeedChunk{From: i, URLs: seeds[i : i+1]}); err != nil {
				return err
			}
		}
		return nil
	}
	run := func(ctx context.Context) (assemble.Summary, error) {
		cr, err := assemble.Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := cr.Run(ctx, nil)
		if err := cr.Close(); err != nil {
			t.Error(err)
		}
		return sum, err
	}
	if _, err := run(t.Context()); !errors.Is(err, fail) {
		t.Errorf("%v, want %v", err, fail)
	}
	stop, cancel := context.WithCancel(t.Context()) // an interrupt at once: no seed need be in, and none is lost
	cancel()
	if _, err := run(stop); err != nil {
		t.Error(err)
	}
	want := runConfig(t, whole)
	got, err := run(t.Context())
	if err != nil || asked[1] != 3 || got.State != crawl.JobDone || got.Counts != want.Counts {
		t.Errorf("asked from %v: %+v, want %+v", asked, got.Counts, want.Counts)
	}
}

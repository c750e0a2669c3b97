package assemble_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/access"
	"argosy/internal/fleet/recorded"
	"argosy/internal/fleet/serve"
	"argosy/internal/fleet/web"
	"argosy/internal/plan/sim"
	"argosy/internal/testkit"
)

// operators is the operator's token of a fleet in a test.
const operators = "0123456789abcdef0123456789abcdef"

// withToken has a coordinator know it.
func withToken(t *testing.T) func(*serve.Config) {
	return func(c *serve.Config) {
		tok, err := access.FileToken(access.Operator, operators)
		if err != nil {
			t.Fatal(err)
		}
		c.Access.Tokens = []access.Token{tok}
	}
}

// Orders over the API, as the commands give them; mistakes are the asker's and say what is allowed.
func TestAPI(t *testing.T) {
	t.Parallel()
	_, port := serveWeb(t, 27, 30)
	f := newFleet(t, withToken(t))
	f.Join("a", nil)
	f.Leader()
	srv := httptest.NewServer(web.Handler(f.Server, web.Config{UserAgent: "t"}))
	defer srv.Close()
	cl, err := web.NewClient("http://127.0.0.1:1,"+srv.URL, operators, nil) // the first is away
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for file, want := range map[string]string{
		"seeds: []":                                            "no seed",
		"seeds: [http://s0.test/]\nspeed: 3":                   "line 2",
		"seeds: [http://s0.test/]\nlimits: {delay: x}":         "is not a span",
		"seeds: [http://s0.test/]\nlimits:\n  per_site: 0":     "allowed are 1 to 1000",
		"seeds: [http://s0.test/]\nplacing: {strategy: quick}": "quick",
		"seeds: [http://s0.test/]\ninclude: ['(']":             "include",
		"seeds: [ftp://s0.test/]":                              "http and https",
	} {
		if _, err := cl.Submit(ctx, []byte(file), nil); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want something of %q in one line", file, err, want)
		}
	}
	id, err := cl.Submit(ctx, []byte("name: one\nseeds: [http://s0.test:"+port+"/]\nlimits: {delay: 0, per_ip: 0}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the job ends", func() bool {
		j, err := cl.Job(ctx, id)
		return err == nil && j.State == crawl.JobDone && j.Indexed
	})
	ts, err := cl.Tasks(ctx, id, "done")
	if err != nil || len(ts) != 1 || ts[0].Fetched == 0 {
		t.Errorf("%+v, %v", ts, err)
	}
	told, err := cl.Recording(ctx, id)
	if err != nil || len(told.Leases) == 0 || len(told.Facts) == 0 {
		t.Errorf("%+v, %v", told, err)
	}
	if read, err := recorded.Read(ctx, f.Server.Ledger(), id, recorded.MaxFacts); err != nil || !reflect.DeepEqual(read, told) {
		t.Errorf("the ledger tells a replay %+v, the coordinator %+v, %v", read, told, err)
	}
	if _, err := recorded.Read(ctx, f.Server.Ledger(), id, 1); !errors.Is(err, recorded.ErrTooLong) {
		t.Errorf("more facts than wanted: %v", err)
	}
	idle, err := cl.Submit(ctx, []byte("seeds: [http://s0.test:"+port+"/]\nplacing: {store: 's3://nowhere'}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the ledger knows the job that waits", func() bool {
		_, err := f.Server.Ledger().Job(ctx, idle)
		return err == nil
	})
	if _, err := recorded.Read(ctx, f.Server.Ledger(), idle, recorded.MaxFacts); !errors.Is(err, sim.ErrNothingRecorded) {
		t.Errorf("a job that waits: %v", err)
	}
	if _, err := cl.Order(ctx, idle, "cancel"); err != nil {
		t.Fatal(err)
	}
	if _, err := cl.Tasks(ctx, 99, ""); err == nil {
		t.Error("a job that is not there has tasks")
	}
	if _, err := cl.Release(ctx, id, "drop", web.Release{NamedTasks: web.NamedTasks{Sites: []string{"nobody.test"}}}); err == nil {
		t.Error("a site that is none of the job's was dropped")
	}
	if _, err := cl.SetLimits(ctx, id, []byte("seeds: [http://s0.test/]")); err == nil {
		t.Error("a job's seeds were changed")
	}
	j, err := cl.SetLimits(ctx, id, []byte("limits: {delay: 5ms}\nplacing: {strategy: random}"))
	if err != nil || j.Limits.Delay != 5*time.Millisecond || j.Strategy != "random" {
		t.Errorf("%+v, %v", j, err)
	}
	j, err = cl.SetLimits(ctx, id, []byte("limits: {recycle_after: 2m}\nsites: [{hosts: [s0.test], header_timeout: 3m}]"))
	if err != nil || len(j.Notes) != 1 || !strings.HasPrefix(j.Notes[0], "s0.test: header_timeout 3m0s: ") {
		t.Errorf("%q, %v", j.Notes, err)
	}
	if err := cl.Drain(ctx, "a", false); err != nil {
		t.Error(err)
	}
	testkit.Eventually(t, "the node drains", func() bool {
		ns, err := cl.Nodes(ctx)
		return err == nil && len(ns) == 1 && ns[0].State == "draining"
	})
	if err := cl.Drain(ctx, "nobody", false); err == nil {
		t.Error("a node that is not there drains")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/api/v1/openapi.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+operators)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 || !bytes.Contains(b, []byte(`"/api/v1/jobs/{id}/pause"`)) {
		t.Errorf("OpenAPI: %d, %v", resp.StatusCode, err)
	}
}

// client returns a client of the fleet's API that an operator uses.
func (f *fleet) client() *web.Client {
	f.T.Helper()
	srv := httptest.NewServer(web.Handler(f.Server, web.Config{UserAgent: "t"}))
	f.T.Cleanup(srv.Close)
	cl, err := web.NewClient(srv.URL, operators, nil)
	if err != nil {
		f.T.Fatal(err)
	}
	return cl
}

// A drop is of the tasks that it names, each once, and of nothing else; what was dropped is not retried without a word.
func TestDropNamesTasks(t *testing.T) {
	t.Parallel()
	f := newFleet(t, withToken(t))
	f.Leader()
	cl := f.client()
	ctx := t.Context()
	id, err := cl.Submit(ctx, []byte("seeds: [http://a.test/, http://b.test/, http://c.test/]"), nil) // no node fetches them
	if err != nil {
		t.Fatal(err)
	}
	ts, err := cl.Tasks(ctx, id, "")
	if err != nil || len(ts) != 3 {
		t.Fatalf("%+v, %v", ts, err)
	}
	a := ts[0]
	for name, r := range map[string]web.Release{
		"names nothing":          {},
		"is of what was cut":     {Cut: true},
		"is of a lost page":      {Lost: [][]byte{make([]byte, 16)}},
		"is of a site elsewhere": {NamedTasks: web.NamedTasks{Sites: []string{a.Site, "nobody.test"}}},
	} {
		if d, err := cl.Release(ctx, id, "drop", r); err == nil {
			t.Errorf("a drop that %s: %+v", name, d)
		}
	}
	both := web.Release{NamedTasks: web.NamedTasks{Sites: []string{a.Site, a.Site}, Tasks: []uint32{a.ID}}}
	if d, err := cl.Release(ctx, id, "drop", both); err != nil || d.Tasks != 1 || d.Pending != 2 {
		t.Errorf("a site that is named three times: %+v, %v", d, err)
	}
	if _, err := cl.Release(ctx, id, "retry", both); err == nil || !strings.Contains(err.Error(), "for good") {
		t.Errorf("a retry of what was dropped: %v", err)
	}
	if d, err := cl.Release(ctx, id, "retry", web.Release{}); err != nil || d.Tasks != 2 || d.Pending != 2 {
		t.Errorf("a retry of all: %+v, %v", d, err)
	}
}

// Who asks a coordinator over the wrong line is told what is wrong with it, and that it is for him to mend.
func TestAPIOverTLS(t *testing.T) {
	t.Parallel()
	server, trusted := selfSigned(t)
	f := newFleet(t, withToken(t))
	f.Leader()
	srv := httptest.NewUnstartedServer(web.Handler(f.Server, web.Config{}))
	srv.TLS, srv.Config.ErrorLog = server, log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	plain := strings.Replace(srv.URL, "https", "http", 1)
	for _, c := range []struct {
		urls string
		tls  *tls.Config
		want string // empty: an answer
	}{
		{srv.URL, trusted, ""},
		{srv.URL, nil, "--ca"},
		{plain, trusted, "https://"},
		{plain + "," + srv.URL, trusted, ""}, // of several the first that can be asked
	} {
		cl, err := web.NewClient(c.urls, operators, c.tls)
		if err != nil {
			t.Fatal(err)
		}
		nodes, err := cl.Nodes(t.Context())
		var refused *web.Error
		switch {
		case c.want == "" && (err != nil || nodes == nil):
			t.Errorf("%s: %v, %v", c.urls, nodes, err)
		case c.want != "" && (!errors.As(err, &refused) || !refused.Usage() || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want a refusal that says %q", c.urls, err, c.want)
		}
	}
}

package assemble_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/access"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/verify"
	"argosy/internal/fleet/web"
	"argosy/internal/plan/schedule"
	"argosy/internal/testkit"
	"argosy/internal/testkit/fleettest"
)

const shownToken = "a token of sixteen characters"

// asker asks an API as an operator and decodes what it answers.
func asker(t *testing.T, h http.Handler) func(method, path, body string, to any) {
	return func(method, path, body string, to any) {
		t.Helper()
		r := httptest.NewRequest(method, "/api/v1"+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+shownToken)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 200 {
			t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		if to != nil {
			if err := json.Unmarshal(w.Body.Bytes(), to); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A crawl that is paused over the API waits until it goes on, and what is shown of it then is what the site has said.
func TestShownCrawl(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	first := make(chan struct{}, 100)
	srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/robots.txt":
			w.WriteHeader(http.StatusNotFound)
			return
		case "/font":
			w.Header().Set("Content-Type", "application/octet-stream")
			fmt.Fprint(w, "wOFF and so on")
			return
		case "/gone":
			w.WriteHeader(http.StatusNotFound)
		case "/":
			for i := range 5 {
				fmt.Fprintf(w, `<a href="/p%d">p</a>`, i)
			}
			fmt.Fprint(w, `<a href="/gone">gone</a><script>fetch("http://127.0.0.1/api/v1/status")</script><img src=x onerror=alert(1)><a href="/font">a font</a>`)
			first <- struct{}{}
		}
		fmt.Fprintf(w, "<title>&lt;script&gt;of %s</title><p>Hello from %s", r.URL.Path, r.URL.Path)
	})}
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	dir := t.TempDir()
	cfg := fleettest.Crawl(dir, port, 20*time.Millisecond, 2)
	cfg.Job.Identity.Seeds = []string{"http://shown.test:" + port + "/"}
	cfg.Hold, cfg.Probe = true, "none" // so that the first lease is one that was decided
	cr, err := assemble.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	who := func(token string) (access.Who, bool) {
		return access.Who{Role: access.Operator, Name: "t"}, token == shownToken
	}
	ask := asker(t, web.Handler(cr, web.Config{Kind: web.KindCrawl, Who: who}))
	type end struct {
		sum assemble.Summary
		err error
	}
	ran := make(chan end, 1)
	go func() {
		sum, err := cr.Run(t.Context(), nil)
		ran <- end{sum, err}
	}()
	<-first
	ask("POST", "/jobs/1/pause", "{}", nil)
	var leases []coordinator.LeaseView
	testkit.Eventually(t, "all leases have ended", func() bool {
		ask("GET", "/leases", "", &leases)
		return len(leases) == 0
	})
	var task coordinator.TaskView
	ask("GET", "/tasks/1", "", &task)
	if task.Waits != "job" || len(task.Queue) == 0 || len(task.Queue) != int(task.Pending) || task.Robots != "all allowed" {
		t.Fatalf("while it is paused: %+v", task)
	}
	testkit.Eventually(t, "it says that it is paused", func() bool {
		var st web.Status
		ask("GET", "/status", "", &st)
		return st.State == crawl.JobPaused
	})
	if s, _ := cr.Status(); s.State != crawl.JobPaused || s.Counts.Discovered == 0 || s.Counts.Pending() != task.Pending {
		t.Errorf("while it is paused: %+v", s)
	}
	var why web.Explained
	if ask("GET", "/tasks/1/explain", "", &why); !why.Known || why.Decision.Task != 1 || why.Decision.Node == "" {
		t.Errorf("why: %+v", why)
	}
	judgeDecisions(t, ask, why.Decision)
	select {
	case e := <-ran:
		t.Fatalf("it ended while it was paused: %+v", e)
	default:
	}
	ask("POST", "/jobs/1/resume", "{}", nil)
	e := <-ran
	if e.err != nil || e.sum.State != crawl.JobDone || e.sum.Fetched != 8 {
		t.Fatalf("%+v", e)
	}
	if err := cr.Close(); err != nil {
		t.Fatal(err)
	}
	err = assemble.Show(t.Context(), assemble.DefaultConfig(dir), func(_ context.Context, cr *assemble.Crawl) error {
		h := web.Handler(cr, web.Config{Kind: web.KindOver, Who: who})
		judgeShown(t, h, port)
		judgeReplay(t, h, port)
		judgeBeside(t, dir)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	judgeLost(t, dir)
}

// judgeLost looks at a directory until that is interrupted, which is no error, then without its archives, then without what it knew of its
// URLs, which is named with the command that makes it anew.
func judgeLost(t *testing.T, dir string) {
	t.Helper()
	archives, err := filepath.Glob(filepath.Join(dir, outdir.WARCDir, "*"))
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	for _, path := range archives {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	err = assemble.Show(ctx, assemble.DefaultConfig(dir), func(_ context.Context, cr *assemble.Crawl) error {
		var list web.PageList
		ask := asker(t, web.Handler(cr, web.Config{Kind: web.KindOver, Who: func(string) (access.Who, bool) { return access.Who{Role: access.Operator, Name: "t"}, true }}))
		ask("GET", "/jobs/1/pages?state=fetched&limit=1", "", &list)
		var v web.PageView
		if ask("GET", "/jobs/1/page?key="+list.Pages[0].Key, "", &v); !strings.Contains(v.Trouble, v.WARC+":") || strings.Contains(v.Trouble, ".open") {
			t.Errorf("its archive is gone: %q", v.Trouble)
		}
		var nodes []coordinator.NodeView
		if ask("GET", "/nodes", "", &nodes); len(nodes) == 0 || nodes[0].SeenMS > time.Hour.Milliseconds() {
			t.Errorf("nodes: %+v", nodes)
		}
		interrupt()
		return nil
	})
	if err != nil {
		t.Errorf("interrupted: %v", err)
	}
	if err := os.RemoveAll(outdir.State(dir)); err != nil {
		t.Fatal(err)
	}
	const want = "argosy rebuild frontier"
	if err := assemble.Show(t.Context(), assemble.DefaultConfig(dir), func(context.Context, *assemble.Crawl) error { return nil }); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("its state is gone: %v", err)
	}
	if err := assemble.View(t.Context(), assemble.DefaultConfig(dir), func(*frontier.Frontier, bool) error { return nil }); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("its state is gone, and it is read: %v", err)
	}
}

// judgeBeside reads a directory that another process shows: nothing runs there, and all of it can be read and verified.
func judgeBeside(t *testing.T, dir string) {
	t.Helper()
	if outdir.Running(dir) {
		t.Error("a directory that is shown seems to be one in which a crawl runs")
	}
	err := assemble.View(t.Context(), assemble.DefaultConfig(dir), func(f *frontier.Frontier, running bool) error {
		if n := f.Counts(1); running || n.Fetched != 8 {
			t.Errorf("read beside: running %v, %+v", running, n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if r, err := verify.Check(t.Context(), verify.Place{Dir: dir}); err != nil || !r.OK || r.Running || !r.Sinks {
		t.Errorf("verified beside: %+v, %v", r, err)
	}
	if err := assemble.Stop(t.Context(), dir); !errors.Is(err, assemble.ErrNotRunning) {
		t.Errorf("stop: %v", err)
	}
	if _, err := assemble.Open(t.Context(), assemble.DefaultConfig(dir)); !errors.Is(err, outdir.ErrShown) {
		t.Errorf("a crawl that would go on there: %v", err)
	}
}

// A crawl that is cancelled while it is paused ends.
func TestCancelledWhilePaused(t *testing.T) {
	t.Parallel()
	first := make(chan struct{}, 100)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<a href="/a">a</a><a href="/b">b</a>`)
		first <- struct{}{}
	}))
	defer srv.Close()
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	cfg := fleettest.Crawl(t.TempDir(), port, time.Minute, 1)
	cfg.Job.Identity.Seeds = []string{"http://paused.test:" + port + "/"}
	cfg.Hold = true
	cr, err := assemble.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ask := asker(t, web.Handler(cr, web.Config{Kind: web.KindCrawl, Who: func(string) (access.Who, bool) { return access.Who{Role: access.Operator, Name: "t"}, true }}))
	ran := make(chan assemble.Summary, 1)
	go func() {
		sum, err := cr.Run(t.Context(), nil)
		if err != nil {
			t.Error(err)
		}
		ran <- sum
	}()
	<-first
	ask("POST", "/jobs/1/pause", "{}", nil)
	testkit.Eventually(t, "it says that it is paused", func() bool {
		var st web.Status
		ask("GET", "/status", "", &st)
		return st.State == crawl.JobPaused
	})
	var job web.Job
	if ask("POST", "/jobs/1/cancel", "{}", &job); job.State != crawl.JobCancelled {
		t.Errorf("the answer says that it is %s", job.State)
	}
	if sum := <-ran; sum.State != crawl.JobCancelled {
		t.Errorf("it ended as %s", sum.State)
	}
	if err := cr.Close(); err != nil {
		t.Error(err)
	}
}

// judgeShown compares what is shown of the crawl of TestShownCrawl with what the site says.
func judgeShown(t *testing.T, h http.Handler, port string) {
	t.Helper()
	ask := asker(t, h)
	var list web.PageList
	ask("GET", "/jobs/1/pages?limit=4", "", &list)
	if len(list.Pages) != 4 || !list.More {
		t.Fatalf("%d pages, more %v", len(list.Pages), list.More)
	}
	ask("GET", "/jobs/1/pages?skip=4&limit=4", "", &list)
	if len(list.Pages) != 4 || list.More {
		t.Errorf("the rest: %d pages, more %v", len(list.Pages), list.More)
	}
	for q, want := range map[string]int{"class=4": 1, "class=2": 7, "find=SCRIPT": 7, "find=/P3": 1, "find=%25": 0, "mime=text/": 7, "mime=image/": 0, "site=shown.test:" + port: 8, "site=other": 0, "state=failed": 0} {
		if ask("GET", "/jobs/1/pages?"+q, "", &list); len(list.Pages) != want {
			t.Errorf("pages with %s: %d, want %d", q, len(list.Pages), want)
		}
	}
	ask("GET", "/jobs/1/pages?find=/p3", "", &list)
	var p web.PageView
	ask("GET", "/jobs/1/page?key="+url.QueryEscape(list.Pages[0].Key), "", &p)
	if p.Trouble != "" || !strings.Contains(p.Text, "Hello from /p3") || !strings.HasPrefix(p.Request, "GET /p3 HTTP/1.1\r\nHost: shown.test") || !strings.HasPrefix(p.Response, "HTTP/1.1 200 OK\r\n") || p.Title != "<script>of /p3" {
		t.Errorf("%+v, %+v", p, p.Page)
	}
	var whole, some, named web.Paths
	ask("GET", "/jobs/1/tree", "", &whole)
	ask("GET", "/jobs/1/tree?limit=1&under="+url.QueryEscape(whole.Roots[0].URL), "", &some)
	ask("GET", "/jobs/1/tree?find=/P3", "", &named)
	if under := whole.Roots[0].Under; len(some.Roots) != 1 || some.Roots[0].URL != under[0].URL || some.Folded != len(under)-1 || len(named.Roots) != 1 || len(named.Roots[0].Under) != 1 {
		t.Errorf("search paths: of %d under the root %+v, %d more; of one name %+v", len(under), some.Roots, some.Folded, named.Roots)
	}
	var types []ledger.Share
	if ask("GET", "/jobs/1/types", "", &types); len(types) != 2 || types[0].Name != "text/html" || types[0].URLs != 7 {
		t.Errorf("types: %+v", types)
	}
	judgeTraces(t, h)
	var line web.Timeline
	ask("GET", "/jobs/1/timeline?bins=10", "", &line)
	sum := ledger.Bin{}
	for _, b := range line.Bins {
		sum.URLs, sum.Errors, sum.Pages = sum.URLs+b.URLs, sum.Errors+b.Errors, sum.Pages+b.Pages
	}
	if sum.URLs != 8 || sum.Errors != 1 || sum.Pages != 6 || len(line.Bins) > 10 {
		t.Errorf("over time: %+v", line)
	}
	var cells []ledger.Cell
	ask("GET", "/jobs/1/cells", "", &cells)
	n := int64(0)
	for _, c := range cells {
		n += c.URLs
	}
	if n != 8 {
		t.Errorf("cells: %+v", cells)
	}
	var state struct{ State string }
	for _, path := range []string{"/jobs/1/resume", "/jobs/1/retry", "/jobs/1/seeds", "/jobs"} { // whoever asks: it is over
		r := httptest.NewRequest(http.MethodPost, "/api/v1"+path, strings.NewReader(`{"seeds": ["http://a.test/"]}`))
		r.Header.Set("Authorization", "Bearer "+shownToken)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusConflict && w.Code != http.StatusUnprocessableEntity {
			t.Errorf("POST %s: %d %s", path, w.Code, w.Body)
		}
	}
	if ask("GET", "/jobs/1", "", &state); state.State != crawl.JobDone {
		t.Errorf("the job is %s", state.State)
	}
	var orders []ledger.Order
	if ask("GET", "/orders", "", &orders); len(orders) != 2 || orders[0].What != "resume job 1" || orders[1].Who != "t" {
		t.Errorf("orders: %+v", orders)
	}
}

// judgeReplay shows the first page of the crawl of TestShownCrawl, and follows its links, as a browser does that has no session.
func judgeReplay(t *testing.T, h http.Handler, port string) {
	t.Helper()
	ask := asker(t, h)
	var list web.PageList
	ask("GET", "/jobs/1/pages?find=hello%20is%20not%20in%20the%20title", "", &list)
	if len(list.Pages) != 0 {
		t.Error("the text of pages is looked through")
	}
	ask("GET", "/jobs/1/pages?limit=100", "", &list)
	var first web.PageView
	for _, p := range list.Pages {
		if p.URL == "http://shown.test:"+port+"/" {
			ask("GET", "/jobs/1/page?key="+p.Key, "", &first)
		}
	}
	get := func(at string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:1"+at, nil))
		return w
	}
	w := get(first.Replay)
	body := w.Body.String()
	if csp := w.Header().Get("Content-Security-Policy"); w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" || !strings.HasPrefix(csp, "sandbox; default-src 'none'; img-src 'self' http://127.0.0.1:1 data:;") || strings.Contains(csp, "script-src") {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	if strings.Contains(body, "<script") || strings.Contains(body, "onerror") || strings.Contains(body, `="http`) || !strings.Contains(body, "Hello from /") {
		t.Errorf("the page is shown as %s", body)
	}
	followed := 0
	for _, part := range strings.Split(body, `<a href="`)[1:] {
		to, _, _ := strings.Cut(part, `"`)
		w := get(strings.ReplaceAll(to, "&amp;", "&"))
		if strings.HasSuffix(to, "font") {
			judgeFont(t, h, strings.ReplaceAll(to, "&amp;", "&"))
			continue
		}
		if followed++; w.Code != 200 || !strings.Contains(w.Body.String(), "Hello from /") {
			t.Errorf("%s: %d %s", to, w.Code, w.Body)
		}
	}
	if followed != 6 {
		t.Errorf("%d links", followed)
	}
	judgeSlow(t, h, first.Replay)
	ticket, _, _ := strings.Cut(first.Replay, "?")
	part := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:1"+ticket+"?u="+url.QueryEscape("http://elsewhere.test/f.woff2"), nil)
	part.Header.Set("Sec-Fetch-Dest", "font")
	part.Header.Set("Origin", "null")
	w = httptest.NewRecorder()
	if h.ServeHTTP(w, part); w.Code != http.StatusNoContent || w.Header().Get("Access-Control-Allow-Origin") != "null" { // the console says nothing
		t.Errorf("a font that is not archived: %d %v", w.Code, w.Header())
	}
	for at, want := range map[string]int{
		ticket + "?u=" + url.QueryEscape("http://elsewhere.test/"): 404, ticket + "?u=%00": 404, ticket: 404, ticket + "A?u=http://shown.test/": 403,
	} {
		if w := get(at); w.Code != want || strings.Contains(w.Header().Get("Content-Type"), "html") {
			t.Errorf("%s: %d", at, w.Code)
		}
	}
}

// judgeFont has a font from its archived copy. Pages in a sandbox may use it, and pages of other sites, which have an origin, may not.
func judgeFont(t *testing.T, h http.Handler, at string) {
	t.Helper()
	for origin, want := range map[string]string{"null": "null", "http://evil.test": "", "": ""} {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:1"+at, nil)
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header(); w.Code != 200 || w.Body.String() != "wOFF and so on" || got.Get("Content-Type") != "font/sfnt" || got.Get("Access-Control-Allow-Origin") != want || got.Get("Vary") != "Origin" {
			t.Errorf("a font for %q: %d %v", origin, w.Code, got)
		}
	}
}

// judgeTraces compares what traces tell of the crawl of TestShownCrawl with what it has fetched.
func judgeTraces(t *testing.T, h http.Handler) {
	t.Helper()
	get := func(at string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, at, nil)
		r.Header.Set("Authorization", "Bearer "+shownToken)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	asked := 0
	for line := range strings.Lines(get("/traces/1").Body.String()) {
		var v struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Spans []struct {
						TraceID, SpanID, Name, StartTimeUnixNano, EndTimeUnixNano string
						Events                                                    []struct {
							Name       string
							Attributes []struct {
								Key   string
								Value struct{ IntValue string }
							}
						}
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		s := v.ResourceSpans[0].ScopeSpans[0].Spans[0]
		if len(s.TraceID) != 32 || len(s.SpanID) != 16 || s.Name != "lease" || s.StartTimeUnixNano > s.EndTimeUnixNano {
			t.Errorf("a span: %+v", s)
		}
		if len(s.Events) == 0 || s.Events[0].Name != "grant" { // what was decided is not remembered of a crawl that is over
			t.Fatalf("events: %+v", s.Events)
		}
		for _, e := range s.Events[1:] {
			n, err := strconv.Atoi(e.Attributes[0].Value.IntValue)
			if err != nil || e.Attributes[0].Key != "argosy.requests" {
				t.Errorf("an event: %+v, %v", e, err)
			}
			asked += n
		}
	}
	if asked != 8 {
		t.Errorf("traces tell of %d requests, want 7", asked)
	}
	for at, want := range map[string]int{
		"/traces/9": 404, "/traces/x": 422, "/traces/1?since=x": 422, "/debug/pprof/nope": 404, "/debug/pprof/profile?seconds=0": 422, "/debug/pprof/heap": 200, "/debug/pprof/goroutine?debug=1": 200,
	} {
		if w := get(at); w.Code != want || w.Body.Len() == 0 {
			t.Errorf("%s: %d, %d bytes, want %d", at, w.Code, w.Body.Len(), want)
		}
	}
}

// slow is a client that takes nothing until it may, and says when it is asked to.
type slow struct {
	httptest.ResponseRecorder
	asked, may chan struct{}
}

func (s *slow) Write(b []byte) (int, error) {
	s.asked <- struct{}{}
	<-s.may
	return s.ResponseRecorder.Write(b)
}

// Clients that take nothing hold few archived pages in memory: the others wait, and are told so.
func judgeSlow(t *testing.T, h http.Handler, page string) {
	t.Helper()
	const clients, most = 12, 4
	ctx, cancel := context.WithCancel(t.Context())
	asked, may, codes := make(chan struct{}, 10*clients), make(chan struct{}), make(chan int, clients)
	for range clients {
		go func() {
			w := &slow{*httptest.NewRecorder(), asked, may}
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:1"+page, nil).WithContext(ctx))
			codes <- w.Code
		}()
	}
	for range most {
		<-asked
	}
	cancel()
	go func() {
		for range asked { // of those who wait, to be told
		}
	}()
	close(may)
	got := map[int]int{}
	for range clients {
		got[<-codes]++
	}
	close(asked)
	if got[http.StatusOK] != most || got[http.StatusServiceUnavailable] != clients-most {
		t.Errorf("of %d clients: %v", clients, got)
	}
}

// judgeDecisions compares what was decided in the crawl of TestShownCrawl, wherever it is told.
func judgeDecisions(t *testing.T, ask func(method, path, body string, to any), last *schedule.Decision) {
	t.Helper()
	var of web.Explained
	ask("GET", fmt.Sprintf("/tasks/1/explain?attempt=%d", last.Attempt), "", &of)
	if !of.Known || of.Decision.Lease == 0 || of.Decision.Lease != last.Lease || of.Decision.Job != 1 || len(of.Attempts) == 0 {
		t.Errorf("attempt %d: %+v", last.Attempt, of)
	}
	of = web.Explained{}
	if ask("GET", "/tasks/1/explain?attempt=77", "", &of); of.Known {
		t.Error("an attempt that was not made is explained")
	}
	var ds []schedule.Decision
	if ask("GET", "/decisions?job=1&task=1&only=leases&limit=1", "", &ds); len(ds) != 1 || ds[0].Lease != last.Lease {
		t.Errorf("decisions: %+v", ds)
	}
	if ask("GET", "/decisions?only=probes", "", &ds); len(ds) != 0 {
		t.Errorf("probes: %+v", ds)
	}
	var plans []coordinator.PlanView
	if ask("GET", "/plans?job=1", "", &plans); len(plans) == 0 || plans[len(plans)-1].Leases != 1 || plans[len(plans)-1].Tasks != 1 {
		t.Errorf("plans: %+v", plans)
	}
}

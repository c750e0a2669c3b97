package web_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"argosy/internal/fleet/access"
	"argosy/internal/fleet/web"
)

// An order that is sent again with its key is done once; its key is good for no other order, and for nobody else.
func TestIdempotencyKeys(t *testing.T) {
	s, h, _ := lead(t)
	other := token(t, s, access.Wanted{Role: access.Operator})
	send := func(tok, key, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/api/v1/jobs", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+tok)
		r.Header.Set("Idempotency-Key", key)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	const job = `{"seeds": ["http://a.test/"]}`
	first, again := send(operators, "k", job), send(operators, "k", job)
	if first.Code != 200 || again.Code != 200 || !strings.Contains(first.Body.String(), `"job":1`) || again.Body.String() != first.Body.String() || again.Header().Get("Idempotency-Replayed") != "true" {
		t.Errorf("%d %s, again %d %s", first.Code, first.Body, again.Code, again.Body)
	}
	if w := send(operators, "k", `{"seeds": ["http://b.test/"]}`); w.Code != 422 || !strings.Contains(w.Body.String(), "another order") {
		t.Errorf("another order with the same key: %d %s", w.Code, w.Body)
	}
	if w := send(other, "k", job); w.Code != 200 || !strings.Contains(w.Body.String(), `"job":2`) {
		t.Errorf("somebody else with the same key: %d %s", w.Code, w.Body)
	}
	if w := send(operators, "", job); !strings.Contains(w.Body.String(), `"job":3`) {
		t.Errorf("without a key: %s", w.Body)
	}
	done := make(chan string, 8)
	for range cap(done) {
		go func() { done <- send(operators, "at once", job).Body.String() }()
	}
	for range cap(done) {
		if got := <-done; !strings.Contains(got, `"job":4`) {
			t.Errorf("at once: %s", got)
		}
	}
	if w := send(operators, strings.Repeat("x", 300), job); w.Code != 422 {
		t.Errorf("a long key: %d", w.Code)
	}
}

// A key counts after a restart as well, or where another coordinator led when it was used: the log has it. One whose order was not done is free.
func TestKeysOutliveAnswers(t *testing.T) {
	t.Parallel()
	s, h, _ := lead(t)
	send := func(h http.Handler, key, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+operators)
		r.Header.Set("Idempotency-Key", key)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	const job, other = `{"seeds": ["http://a.test/"]}`, `{"seeds": ["http://b.test/"]}`
	if w := send(h, "k", "/api/v1/jobs", job); w.Code != 200 {
		t.Fatal(w.Code, w.Body)
	}
	if w := send(h, "gone", "/api/v1/jobs/2/pause", ""); w.Code != 404 {
		t.Fatal(w.Code, w.Body)
	}
	anew := web.Handler(s, web.Config{UserAgent: "t", Version: "v"}) // which knows no answers
	if w := send(anew, "k", "/api/v1/jobs", job); w.Code != 409 || !strings.Contains(w.Body.String(), "submit a job of 1 seed,") || !strings.Contains(w.Body.String(), "argosy jobs") {
		t.Errorf("the same again: %d %s", w.Code, w.Body)
	}
	if w := send(anew, "k", "/api/v1/jobs", other); w.Code != 422 || !strings.Contains(w.Body.String(), "another order") {
		t.Errorf("another order with the same key: %d %s", w.Code, w.Body)
	}
	if w := send(anew, "l", "/api/v1/jobs", other); w.Code != 200 || !strings.Contains(w.Body.String(), `"job":2`) {
		t.Errorf("with a key of its own: %d %s", w.Code, w.Body)
	}
	if w := send(anew, "gone", "/api/v1/jobs/2/pause", ""); w.Code != 200 {
		t.Errorf("with the key of an order that was not done: %d %s", w.Code, w.Body)
	}
	if w := send(web.Handler(s, web.Config{UserAgent: "t", Version: "v"}), "gone", "/api/v1/jobs/2/pause", ""); w.Code != 409 {
		t.Errorf("which is done by now: %d %s", w.Code, w.Body)
	}
}

// Metrics have the form that Prometheus reads: each has its help and its type once, before its samples, and no sample stands twice.
func TestMetrics(t *testing.T) {
	_, h, _ := lead(t)
	if w := ask(h, "POST", "/api/v1/jobs", operators, `{"seeds": ["http://a.test/"], "name": "a \"name\""}`); w.Code != 200 {
		t.Fatal(w.Body)
	}
	w := ask(h, "GET", "/metrics", operators, "")
	line := regexp.MustCompile(`^([a-z_]+)(\{([a-z_]+="([^"\\]|\\.)*",?)+\})? -?[0-9.e+]+$`)
	kinds, seen := map[string]string{}, map[string]bool{}
	for _, l := range strings.Split(strings.TrimSuffix(w.Body.String(), "\n"), "\n") {
		if f := strings.Fields(l); f[0] == "#" {
			if f[1] == "TYPE" {
				if kinds[f[2]] != "" {
					t.Errorf("%s has two types", f[2])
				}
				kinds[f[2]] = f[3]
			}
			continue
		}
		m := line.FindStringSubmatch(l)
		if m == nil || kinds[m[1]] == "" || strings.HasSuffix(m[1], "_total") != (kinds[m[1]] == "counter") {
			t.Errorf("line %q", l)
			continue
		}
		if sample := l[:strings.LastIndexByte(l, ' ')]; seen[sample] {
			t.Errorf("%s stands twice", sample)
		} else {
			seen[sample] = true
		}
		if strings.Contains(l, "a.test") {
			t.Errorf("%q names a site", l)
		}
	}
	for _, want := range []string{`argosy_job_urls{job_id="1",state="pending"}`, "argosy_leads", "argosy_applied_entry", "argosy_log_age_seconds", `argosy_sink_lag_entries{sink="ledger"}`} {
		if !seen[want] {
			t.Errorf("%s is missing in\n%s", want, w.Body)
		}
	}
	if w := ask(h, "GET", "/readyz", "", ""); w.Code != 200 {
		t.Errorf("readyz: %d %s", w.Code, w.Body)
	}
}

// A ticket in an address shows what is archived and nothing else; the answer is an opaque origin without scripts, whatever it is.
func TestArchiveWithoutTicket(t *testing.T) {
	_, h, _ := lead(t)
	for _, at := range []string{"/archive/x?u=http://a.test/", "/archive/" + strings.Repeat("A", 70) + "?u=http://a.test/"} {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+at, nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 403 || !strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "sandbox; default-src 'none';") || bytes.Contains(w.Body.Bytes(), []byte("<")) {
			t.Errorf("%s: %d %s", at, w.Code, w.Header())
		}
	}
}

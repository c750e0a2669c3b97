package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"argosy/internal/fleet/access"
	"argosy/internal/fleet/web"
	"argosy/internal/testkit"
)

// described is an operation of the description of the API.
type described struct{ method, path string }

// operations are those of the description of the API, with values in their paths. Those that nobody needs a token for, by the
// description, are not among them.
func operations(t *testing.T, h http.Handler, values map[string]string, token string) (all []described) {
	t.Helper()
	var api struct {
		Paths map[string]map[string]struct {
			Security *[]any
		}
	}
	if err := json.Unmarshal(ask(h, "GET", "/api/v1/openapi.json", operators, "").Body.Bytes(), &api); err != nil {
		t.Fatal(err)
	}
	for path, ops := range api.Paths {
		for method, op := range ops {
			if op.Security != nil && len(*op.Security) == 0 {
				continue
			}
			at := strings.ReplaceAll(path, "/tokens/{id}", "/tokens/"+token)
			for name, value := range values {
				at = strings.ReplaceAll(at, "{"+name+"}", value)
			}
			if strings.Contains(at, "{") {
				t.Fatalf("%s: what is its value?", at)
			}
			all = append(all, described{strings.ToUpper(method), at})
		}
	}
	if len(all) < 40 {
		t.Fatalf("%d operations", len(all))
	}
	return all
}

// sent is what an operator sends with an order that wants more than {}.
func sent(path string) string {
	for end, body := range map[string]string{
		"/v1/jobs": `{"seeds": ["http://b.test/"]}`, "/seeds": "http://c.test/", "/limits": `{"limits": {"max_pages": 7}}`, "/tokens": `{"role": "operator"}`,
		"/join": `{"node": "n", "wire": 1, "version": "t", "store": "file:///data"}`, "/edit": `{"words": "milk"}`,
	} {
		if strings.HasSuffix(path, end) {
			return body
		}
	}
	return "{}"
}

// stranger is somebody who may not order anything, and perhaps not read anything.
type stranger struct {
	name  string
	host  string // that is asked for; empty: an address
	head  map[string]string
	reads bool
	want  int // the answer to an order
}

func (s *stranger) ask(h http.Handler, method, path string) *httptest.ResponseRecorder {
	host := s.host
	if host == "" {
		host = "127.0.0.1:8480"
	}
	r := httptest.NewRequest(method, "http://"+host+path, strings.NewReader(sent(path)))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", "as the operator's")
	for k, v := range s.head {
		r.Header.Set(k, v)
	}
	if strings.HasSuffix(path, "/events") { // who listens is gone at once
		ctx, cancel := context.WithCancel(r.Context())
		cancel()
		r = r.WithContext(ctx)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// sends are the fields that a browser sends with its session, and what else, by name and value.
func (b *browser) sends(more ...string) map[string]string {
	head := map[string]string{"Cookie": b.cookies[0].Name + "=" + b.cookies[0].Value, "Argosy-Page": b.page, "Sec-Fetch-Site": "same-origin"}
	for i := 0; i < len(more); i += 2 {
		head[more[i]] = more[i+1]
	}
	return head
}

// Whoever is no operator orders nothing, and whoever is nobody reads nothing, at any endpoint of the description; nothing of the
// coordinator is another afterwards.
func TestStrangers(t *testing.T) {
	t.Parallel()
	s, _, _ := lead(t)
	door := web.NewDoor()
	h := web.Handler(s, web.Config{UserAgent: "t", Version: "v", Door: door})
	old := token(t, s, access.Wanted{Role: access.Operator, TTL: time.Second})
	op, watcher := &browser{t: t, h: h, host: "127.0.0.1:8480"}, &browser{t: t, h: h, host: "127.0.0.1:8480"}
	op.ask("POST", "/api/v1/session", `{"code":"`+door.Code(access.Who{Role: access.Operator, Name: "op"})+`"}`, nil)
	watcher.ask("POST", "/api/v1/session", `{"code":"`+door.Code(access.Who{Role: access.Observer, Name: "o"})+`"}`, nil)
	if op.page == "" || watcher.page == "" {
		t.Fatal("no session")
	}
	if w := op.ask("POST", "/api/v1/jobs", sent("/v1/jobs"), map[string]string{"Idempotency-Key": "as the operator's"}); w.Code != 200 {
		t.Fatal(w.Body)
	}
	revoked, joins := token(t, s, access.Wanted{Role: access.Operator}), token(t, s, access.Wanted{Role: access.Join})
	observes := token(t, s, access.Wanted{Role: access.Observer})
	if w := ask(h, "POST", "/api/v1/tokens/"+access.IDOf(revoked)+"/revoke", operators, "{}"); w.Code != 200 {
		t.Fatal(w.Body)
	}
	bearer := func(text string) map[string]string { return map[string]string{"Authorization": "Bearer " + text} }
	strangers := []stranger{
		{"nobody", "", nil, false, 401},
		{"an observer", "", bearer(observes), true, 403},
		{"who may join", "", bearer(joins), false, 403},
		{"an operator whose token is revoked", "", bearer(revoked), false, 401},
		{"half a token", "", bearer(operators[:16]), false, 401},
		{"an observer's browser", "", watcher.sends(), true, 403},
		{"a page of another site, in the operator's browser", "", op.sends("Sec-Fetch-Site", "cross-site", "Origin", "http://evil.test"), false, 401},
		{"a page at another port", "", op.sends("Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:9999"), false, 401},
		{"a page at another port, in a browser that says no more", "", op.sends("Sec-Fetch-Site", "", "Origin", "http://127.0.0.1:9999"), false, 401},
		{"an archived page", "", op.sends("Sec-Fetch-Site", "cross-site", "Origin", "null"), false, 401},
		{"a form elsewhere", "", op.sends("Argosy-Page", "", "Origin", "http://evil.test", "Content-Type", "application/x-www-form-urlencoded"), false, 401},
		{"another port's server, which has the cookie", "", op.sends("Argosy-Page", ""), false, 401},
		{"a name that leads here by now", "evil.test:8480", op.sends("Origin", "http://evil.test:8480"), false, 401},
		{"a name that leads here by now, without an origin", "evil.test:8480", op.sends(), false, 401},
		{"a page elsewhere that wants a socket", "", op.sends("Sec-Fetch-Site", "cross-site", "Origin", "http://evil.test", "Upgrade", "websocket", "Connection", "Upgrade"), false, 401},
	}
	testkit.Eventually(t, "a token has expired", func() bool { return ask(h, "GET", "/api/v1/status", old, "").Code == 401 })
	strangers = append(strangers, stranger{"an operator whose token has expired", "", bearer(old), false, 401})
	co, err := s.Leader()
	if err != nil {
		t.Fatal(err)
	}
	is := func() (out string) {
		for _, path := range []string{"jobs", "nodes", "names", "tokens", "orders", "session"} {
			out += ask(h, "GET", "/api/v1/"+path, operators, "").Body.String()
		}
		return regexp.MustCompile(`"ran_ms":\d+`).ReplaceAllString(out, "") // goes on of its own accord
	}
	all := operations(t, h, map[string]string{"id": "1", "task": "1", "node": "n", "job": "1", "market": "1"}, access.IDOf(joins))
	before, applied := is(), co.Status().Applied
	for _, who := range strangers {
		for _, o := range all {
			who.try(t, h, o)
		}
	}
	if after := is(); after != before || co.Status().Applied != applied {
		t.Errorf("%d entries of the log, %d before; it was\n%s\nand is\n%s", co.Status().Applied, applied, before, after)
	}
	if w := op.ask("GET", "/api/v1/session", "", nil); w.Code != 200 {
		t.Errorf("the operator's session: %d", w.Code)
	}
}

// try does what somebody may not, by all methods.
func (s *stranger) try(t *testing.T, h http.Handler, o described) {
	t.Helper()
	for _, method := range []string{o.method, "PUT", "PATCH", "DELETE", "OPTIONS"} {
		w := s.ask(h, method, o.path)
		for field := range w.Header() {
			if strings.HasPrefix(field, "Access-Control-") || field == "Idempotency-Replayed" {
				t.Errorf("%s: %s %s: %s", s.name, method, o.path, field)
			}
		}
		may := s.reads && (method == "GET" && !strings.HasSuffix(o.path, "/names") && !strings.HasSuffix(o.path, "/tokens") && !strings.HasSuffix(o.path, "/orders") || method == "POST" && o.path == "/api/v1/session/code")
		if refused := w.Code == s.want; refused == may {
			t.Errorf("%s: %s %s: %d: %s", s.name, method, o.path, w.Code, w.Body)
		}
	}
}

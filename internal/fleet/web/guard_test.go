package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"argosy/internal/fleet/access"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/serve"
	"argosy/internal/fleet/web"
	"argosy/internal/testkit"
)

// Tokens that lie in files of the coordinator.
const (
	operators = "0123456789abcdef0123456789abcdef"
	joiners   = "fedcba9876543210fedcba9876543210"
)

// logs collects what is logged.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// lead starts a coordinator that leads, and its API.
func lead(t *testing.T) (*serve.Server, http.Handler, *logs) {
	t.Helper()
	log := &logs{}
	c := serve.DefaultConfig(t.TempDir())
	c.BusListen, c.MinFree, c.Logger = "127.0.0.1:0", 0, slog.New(slog.NewTextHandler(log, nil))
	tok, err := access.FileToken(access.Operator, operators)
	if err != nil {
		t.Fatal(err)
	}
	join, err := access.FileToken(access.Join, joiners)
	if err != nil {
		t.Fatal(err)
	}
	c.Access.Tokens = []access.Token{tok, join}
	s, err := serve.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-done, s.Close()); err != nil {
			t.Error(err)
		}
	})
	testkit.Eventually(t, "a coordinator leads", func() bool {
		co, err := s.Leader()
		if err == nil {
			_, err = co.Jobs(t.Context())
		}
		return err == nil
	})
	return s, web.Handler(s, web.Config{UserAgent: "t", Version: "v", Logger: c.Logger}), log
}

// token makes a token of a role.
func token(t *testing.T, s *serve.Server, w access.Wanted) string {
	t.Helper()
	_, text, err := s.Gate().Make(t.Context(), w, access.Who{Role: access.Operator, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func ask(h http.Handler, method, path, token, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Every endpoint that there is, asked by every role: who may is answered, who may not is refused, and what the description of the API
// names besides this table fails the test.
func TestRolesAndEndpoints(t *testing.T) {
	s, h, log := lead(t)
	tokens := map[access.Role]string{access.Nobody: "", access.Operator: operators}
	for _, r := range []access.Role{access.Join, access.Observer} {
		tokens[r] = token(t, s, access.Wanted{Role: r})
	}
	second := token(t, s, access.Wanted{Role: access.Operator})
	table := []struct{ method, path, at, may string }{ // may: roles besides the operator
		{"GET", "/healthz", "", "nobody join observer"},
		{"GET", "/api/v1/openapi.json", "", "observer"},
		{"GET", "/api/v1/openapi.yaml", "", "observer"},
		{"GET", "/api/v1/status", "", "observer"},
		{"GET", "/api/v1/jobs", "", "observer"},
		{"GET", "/api/v1/jobs/{id}", "/api/v1/jobs/7", "observer"},
		{"GET", "/api/v1/jobs/{id}/tasks", "/api/v1/jobs/7/tasks", "observer"},
		{"GET", "/api/v1/nodes", "", "observer"},
		{"GET", "/api/v1/reservation", "", "observer"},
		{"POST", "/api/v1/jobs", "", ""},
		{"POST", "/api/v1/jobs/{id}/seeds", "/api/v1/jobs/7/seeds", ""},
		{"POST", "/api/v1/jobs/{id}/pause", "/api/v1/jobs/7/pause", ""},
		{"POST", "/api/v1/jobs/{id}/resume", "/api/v1/jobs/7/resume", ""},
		{"POST", "/api/v1/jobs/{id}/cancel", "/api/v1/jobs/7/cancel", ""},
		{"POST", "/api/v1/jobs/{id}/limits", "/api/v1/jobs/7/limits", ""},
		{"POST", "/api/v1/jobs/{id}/retry", "/api/v1/jobs/7/retry", ""},
		{"POST", "/api/v1/jobs/{id}/drop", "/api/v1/jobs/7/drop", ""},
		{"POST", "/api/v1/nodes/{node}/drain", "/api/v1/nodes/x/drain", ""},
		{"POST", "/api/v1/nodes/{node}/return", "/api/v1/nodes/x/return", ""},
		{"POST", "/api/v1/nodes/{node}/revoke", "/api/v1/nodes/x/revoke", ""},
		{"POST", "/api/v1/nodes/{node}/release", "/api/v1/nodes/x/release", ""},
		{"GET", "/api/v1/names", "", ""},
		{"GET", "/api/v1/tokens", "", ""},
		{"POST", "/api/v1/tokens", "", ""},
		{"POST", "/api/v1/tokens/{id}/revoke", "/api/v1/tokens/x/revoke", ""},
		{"POST", "/api/v1/keys/rotate", "", ""},
		{"GET", "/api/v1/orders", "", ""},
		{"GET", "/api/v1/join", "", "nobody join observer"},
		{"POST", "/api/v1/join", "", "nobody join observer"}, // what it says of a petition is tried below
		{"GET", "/", "", "nobody join observer"},
		{"GET", "/dash/app.js", "", "nobody join observer"},
		{"GET", "/readyz", "", "nobody join observer"},
		{"GET", "/metrics", "", "observer"},
		{"GET", "/debug/pprof/heap", "", ""},
		{"GET", "/traces/{job}", "/traces/7", "observer"},
		{"POST", "/archive/x", "", ""},
		{"GET", "/api/v1/jobs/{id}/runs", "/api/v1/jobs/7/runs", "observer"},
		{"GET", "/api/v1/jobs/{id}/measurements", "/api/v1/jobs/7/measurements", "observer"},
		{"POST", "/api/v1/jobs/{id}/tasks/{task}/edit", "/api/v1/jobs/7/tasks/7/edit", ""},
		{"GET", "/api/v1/jobs/{id}/markets", "/api/v1/jobs/7/markets", "observer"},
		{"GET", "/api/v1/jobs/{id}/markets/{market}", "/api/v1/jobs/7/markets/1", "observer"},
		{"GET", "/api/v1/jobs/{id}/tree", "/api/v1/jobs/7/tree", "observer"},
		{"GET", "/api/v1/jobs/{id}/statistics", "/api/v1/jobs/7/statistics", "observer"},
		{"GET", "/api/v1/jobs/{id}/types", "/api/v1/jobs/7/types", "observer"},
		{"GET", "/api/v1/jobs/{id}/statuses", "/api/v1/jobs/7/statuses", "observer"},
		{"GET", "/api/v1/jobs/{id}/fetchers", "/api/v1/jobs/7/fetchers", "observer"},
		{"GET", "/api/v1/jobs/{id}/timeline", "/api/v1/jobs/7/timeline", "observer"},
		{"GET", "/api/v1/jobs/{id}/cells", "/api/v1/jobs/7/cells", "observer"},
		{"GET", "/api/v1/jobs/{id}/believed", "/api/v1/jobs/7/believed", "observer"},
		{"GET", "/api/v1/jobs/{id}/recording", "/api/v1/jobs/7/recording", "observer"},
		{"GET", "/api/v1/jobs/{id}/pages", "/api/v1/jobs/7/pages", "observer"},
		{"GET", "/api/v1/jobs/{id}/page", "/api/v1/jobs/7/page?key=00", "observer"},
		{"GET", "/api/v1/tasks/{task}", "/api/v1/tasks/7", "observer"},
		{"GET", "/api/v1/tasks/{task}/explain", "/api/v1/tasks/7/explain", "observer"},
		{"GET", "/api/v1/leases", "", "observer"},
		{"GET", "/api/v1/decisions", "", "observer"},
		{"GET", "/api/v1/plans", "", "observer"},
		{"GET", "/api/v1/series", "", "observer"},
		{"GET", "/api/v1/strategies", "", "observer"},
		{"GET", "/api/v1/session", "", "observer"},
		{"POST", "/api/v1/session/code", "", "observer"},
		{"GET", "/nothing", "", ""},
		{"DELETE", "/api/v1/jobs", "", ""},
		{"GET", "//api/v1/jobs", "", "observer"}, // is sent to what it means
		{"GET", "/api/v1/../v1/jobs", "", "observer"},
	}
	if got := ask(h, "GET", "/api/v1/jobs", joiners, "").Code; got != http.StatusForbidden {
		t.Errorf("the token in a file that lets nodes join reads jobs: %d", got)
	}
	if got := ask(h, "POST", "/api/v1/join", "", `{"node":"n","store":"`+strings.Repeat("x", 20<<10)+`"}`).Code; got != http.StatusRequestEntityTooLarge {
		t.Errorf("a petition without end, of nobody: %d", got)
	}
	known := map[string]bool{"GET /api/v1/events": true, "POST /api/v1/session": true, "POST /api/v1/session/end": true} // TestEvents, TestSession
	for _, c := range table {
		known[c.method+" "+c.path] = true
		if c.at == "" {
			c.at = c.path
		}
		for role, tok := range tokens {
			got := ask(h, c.method, c.at, tok, "{}").Code
			may := role == access.Operator || strings.Contains(c.may, role.String())
			if c.path == "/api/v1/join" && c.method == "POST" {
				if got != http.StatusUnprocessableEntity { // it names no node
					t.Errorf("%s %s as %v: %d", c.method, c.at, role, got)
				}
				continue
			}
			refused := got == http.StatusUnauthorized || got == http.StatusForbidden
			want := http.StatusForbidden
			if role == access.Nobody {
				want = http.StatusUnauthorized
			}
			if refused == may || refused && got != want {
				t.Errorf("%s %s as %v: %d, may %v", c.method, c.at, role, got, may)
			}
		}
	}
	var api struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(ask(h, "GET", "/api/v1/openapi.json", second, "").Body.Bytes(), &api); err != nil || len(api.Paths) < 20 {
		t.Fatalf("%d paths, %v", len(api.Paths), err)
	}
	for path, methods := range api.Paths {
		for m := range methods {
			if !known[strings.ToUpper(m)+" "+path] {
				t.Errorf("%s %s is not in the table", m, path)
			}
		}
	}
	for _, secret := range append([]string{operators, second}, tokens[access.Join], tokens[access.Observer]) {
		if strings.Contains(log.String(), secret) || strings.Contains(log.String(), secret[len(secret)-20:]) {
			t.Error("a token was logged")
		}
	}
}

// Where a request comes from says nothing: without a token nobody is let in over the network, loopback or not.
func TestLoopbackIsNobody(t *testing.T) {
	_, h, _ := lead(t)
	for _, c := range []struct {
		name, from, host string
		header           map[string]string
		want             int
	}{
		{"loopback", "127.0.0.1:1", "127.0.0.1:8480", nil, 401},
		{"loopback, by name", "[::1]:1", "localhost:8480", nil, 401},
		{"elsewhere", "192.0.2.1:1", "c:8480", nil, 401},
		{"a wrong token", "127.0.0.1:1", "127.0.0.1:8480", map[string]string{"Authorization": "Bearer " + operators[1:] + "x"}, 401},
		{"another scheme", "127.0.0.1:1", "127.0.0.1:8480", map[string]string{"Authorization": "Basic " + operators}, 401},
		{"an empty token", "127.0.0.1:1", "127.0.0.1:8480", map[string]string{"Authorization": "Bearer "}, 401},
		{"the token", "192.0.2.1:1", "c:8480", map[string]string{"Authorization": "Bearer " + operators}, 200},
		{"the token, the scheme in small letters", "192.0.2.1:1", "c:8480", map[string]string{"Authorization": "bearer " + operators}, 200},
		{"the token, through a proxy", "127.0.0.1:1", "c", map[string]string{"Authorization": "Bearer " + operators, "X-Forwarded-For": "192.0.2.1"}, 200},
	} {
		r := httptest.NewRequest(http.MethodGet, "/api/v1/status", nil)
		r.RemoteAddr, r.Host = c.from, c.host
		for k, v := range c.header {
			r.Header.Set(k, v)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s: %d, want %d", c.name, w.Code, c.want)
		}
	}
}

// Over this machine's own socket the same user needs no token, unless a proxy, or a page elsewhere, stands before it; and what the
// user orders is written down.
func TestSocket(t *testing.T) {
	_, h, _ := lead(t)
	path := filepath.Join(t.TempDir(), "x", "api.sock")
	for range 2 { // the second time over what the first has left
		l, err := web.ListenLocal(path)
		if err != nil {
			t.Fatal(err)
		}
		l.(*net.UnixListener).SetUnlinkOnClose(false) // as SIGKILL leaves it
		srv := &http.Server{Handler: h, ConnContext: web.ConnContext}
		go func() { _ = srv.Serve(l) }()
		if _, err := web.ListenLocal(path); err == nil {
			t.Error("two coordinators listen on one socket")
		}
		cl, err := web.NewClient("unix:"+path, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cl.Nodes(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := cl.MakeToken(t.Context(), web.NewToken{Role: "observer"}); err != nil {
			t.Error(err)
		}
		orders, err := cl.Orders(t.Context(), ledger.OrderQuery{Limit: 1})
		if err != nil || len(orders) != 1 || !strings.HasPrefix(orders[0].Who, "uid ") || orders[0].What != "make a token: observer" {
			t.Errorf("%+v, %v", orders, err)
		}
		wrong, err := web.NewClient("unix:"+path, "not-the-token-at-all", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := wrong.Nodes(t.Context()); err == nil {
			t.Error("a wrong token was taken for none")
		}
		through := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", path) }}}
		for _, c := range []struct {
			field, value string
			want         int
		}{
			{"", "", 200}, {"X-Forwarded-For", "192.0.2.1", 401}, {"X-Real-Ip", "192.0.2.1", 401}, {"Via", "1.1 x", 401}, {"Forwarded", "for=x", 401},
			{"Origin", "http://evil.example", 401}, {"Sec-Fetch-Site", "cross-site", 401}, {"Connection", "close", 401},
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/api/v1/status", nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.field != "" {
				r.Header.Set(c.field, c.value)
			}
			resp, err := through.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != c.want {
				t.Errorf("%s: %d, want %d", c.field, resp.StatusCode, c.want)
			}
		}
		through.CloseIdleConnections()
		_ = srv.Close()
	}

	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := web.ListenLocal(filepath.Join(open, "api.sock")); err == nil {
		t.Error("a socket was made where others can enter")
	}
}

// A node joins with a token that lets nodes join, once, and then with its key alone. Others cannot take its name; what is wrong with a
// petition is said by a rule.
func TestJoinOverHTTP(t *testing.T) {
	s, h, log := lead(t)
	srv := httptest.NewServer(h)
	defer srv.Close()
	key := func() bus.NodeKey {
		k, err := bus.NewNodeKey()
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	join := func(tok, node string, k bus.NodeKey, change func(*bus.Petition)) (bus.Pass, access.Rule, string) {
		t.Helper()
		cl, err := web.NewClient(srv.URL, tok, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := bus.Petition{Node: node, Wire: bus.Wire, Version: "test", Store: "file:///data"}
		if change != nil {
			change(&p)
		}
		pass, err := cl.Join(t.Context(), k, p)
		var refused *web.Error
		if err != nil && !errors.As(err, &refused) {
			t.Fatal(err)
		}
		if refused == nil {
			return pass, "", ""
		}
		return pass, refused.Rule, refused.Detail
	}
	once := token(t, s, access.Wanted{Role: access.Join, Uses: 1, TTL: time.Hour})
	many := token(t, s, access.Wanted{Role: access.Join})
	watcher := token(t, s, access.Wanted{Role: access.Observer})
	a, b := key(), key()
	for _, c := range []struct {
		name, token, node string
		key               bus.NodeKey
		change            func(*bus.Petition)
		want              access.Rule
	}{
		{"without a token", "", "a", a, nil, access.RuleToken},
		{"a wrong token", "argosy_join_00000000_x", "a", a, nil, access.RuleToken},
		{"an observer", watcher, "a", a, nil, access.RuleToken},
		{"a token that lets it", once, "a", a, nil, ""},
		{"again", once, "a", a, nil, ""},
		{"again, with its key alone", "", "a", a, nil, ""},
		{"its name, with another key", many, "a", b, nil, access.RuleTaken},
		{"its name, as an operator", operators, "a", b, nil, access.RuleTaken},
		{"a second name for one use", once, "b", a, nil, access.RuleSpent},
		{"a second node for one use", once, "b", b, nil, access.RuleSpent},
		{"of 0.1.0", operators, "old", b, func(p *bus.Petition) { p.Wire = 0 }, access.RuleOld},
		{"a store that is not allowed", many, "c", b, func(p *bus.Petition) { p.Store = "s3://loot?endpoint=http://evil.example" }, access.RuleStore},
		{"with the other token", many, "b", b, nil, ""},
		{"with the token in a file", joiners, "d", a, nil, ""},
	} {
		pass, rule, line := join(c.token, c.node, c.key, c.change)
		if rule != c.want || c.want == "" && (pass.Login.JWT == "" || pass.Login.Key == "" || pass.Login.Seed != "") {
			t.Errorf("%s: %q (%s), want %q", c.name, rule, line, c.want)
		}
	}
	if err := s.Gate().RevokeNode(t.Context(), "b", access.Who{Name: "me"}); err != nil {
		t.Fatal(err)
	}
	if _, rule, _ := join(many, "b", b, nil); rule != access.RuleRevoked {
		t.Errorf("a revoked node: %q", rule)
	}
	if _, rule, _ := join(many, "b2", b, nil); rule != access.RuleRevoked {
		t.Errorf("a revoked node, with another name: %q", rule)
	}
	c := key()
	if _, rule, _ := join(many, "b", c, nil); rule != access.RuleTaken {
		t.Errorf("the name of a revoked node: %q", rule)
	}
	if err := s.Gate().ReleaseNode(t.Context(), "b", access.Who{Name: "me"}); err != nil {
		t.Fatal(err)
	}
	if _, rule, line := join(many, "b", c, nil); rule != "" {
		t.Errorf("the name after it was released: %q (%s)", rule, line)
	}
	if _, rule, _ := join(many, "b3", b, nil); rule != access.RuleRevoked {
		t.Errorf("a revoked node, after its name was released: %q", rule)
	}
	if st := log.String(); strings.Contains(st, once[20:]) || strings.Contains(st, many[20:]) {
		t.Error("a token was logged")
	}
}

// Somebody who has read another node's petition cannot use it for a key of his own, or for another name; and old answers are worth
// nothing.
func TestProofs(t *testing.T) {
	s, _, _ := lead(t)
	g := s.Gate()
	mine, err := bus.NewNodeKey()
	if err != nil {
		t.Fatal(err)
	}
	yours, err := bus.NewNodeKey()
	if err != nil {
		t.Fatal(err)
	}
	who := access.Who{Role: access.Operator, Name: "me"}
	challenge, err := g.Challenge()
	if err != nil {
		t.Fatal(err)
	}
	good, err := mine.Petition(bus.Petition{Node: "n", Wire: bus.Wire}, challenge)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*bus.Petition){
		"another name":             func(p *bus.Petition) { p.Node = "m" },
		"another key":              func(p *bus.Petition) { p.Key = yours.Public() },
		"no key":                   func(p *bus.Petition) { p.Key = "" },
		"a key that is not one":    func(p *bus.Petition) { p.Key = "U*.>" },
		"another challenge":        func(p *bus.Petition) { p.Challenge, _ = g.Challenge() },
		"a challenge of his own":   func(p *bus.Petition) { *p, _ = mine.Petition(*p, "z.00.00") },
		"no challenge":             func(p *bus.Petition) { *p, _ = mine.Petition(*p, "") },
		"a proof that is cut":      func(p *bus.Petition) { p.Proof = p.Proof[:40] },
		"a challenge of next year": func(p *bus.Petition) { *p, _ = mine.Petition(*p, "zz"+challenge) },
	} {
		p := good
		change(&p)
		var refused *access.Refusal
		if _, _, err := g.Admit(t.Context(), p, who, ""); !errors.As(err, &refused) || refused.Rule != access.RuleProof {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := g.Admit(t.Context(), good, who, ""); err != nil {
		t.Error(err)
	}
}

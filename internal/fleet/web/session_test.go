package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"argosy/internal/fleet/access"
	"argosy/internal/fleet/web"
)

// browser is who asks as a browser does.
type browser struct {
	t       *testing.T
	h       http.Handler
	host    string
	cookies []*http.Cookie
	page    string // the key of its page
}

func (b *browser) ask(method, path, body string, head map[string]string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest(method, "http://"+b.host+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if b.page != "" {
		r.Header.Set("Argosy-Page", b.page)
	}
	for k, v := range head {
		r.Header.Set(k, v)
	}
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	b.h.ServeHTTP(w, r)
	if got := w.Result().Cookies(); len(got) > 0 {
		b.cookies = got
	}
	var me web.Me
	if path == "/api/v1/session" && json.Unmarshal(w.Body.Bytes(), &me) == nil && me.Page != "" {
		b.page = me.Page
	}
	return w
}

// A code lets one browser in, once; its cookie is out of reach of scripts and of other sites, and does what its role may.
func TestSession(t *testing.T) {
	s, _, log := lead(t)
	door := web.NewDoor()
	h := web.Handler(s, web.Config{UserAgent: "t", Version: "v", Door: door})
	b := &browser{t: t, h: h, host: "127.0.0.1:8480"}
	if got := b.ask("GET", "/api/v1/status", "", nil).Code; got != 401 {
		t.Fatalf("without a cookie: %d", got)
	}
	if got := b.ask("POST", "/api/v1/session", `{"code":"wrong"}`, nil).Code; got != 401 {
		t.Errorf("a wrong code: %d", got)
	}
	code := door.Code(access.Who{Role: access.Observer, Name: "o"})
	link := door.Link("http://127.0.0.1:8480", access.Who{Role: access.Operator, Name: "op"})
	base, second, _ := strings.Cut(link, "#code=")
	if base != "http://127.0.0.1:8480/" || strings.Contains(second, "/") {
		t.Errorf("the link is %s", link)
	}
	w := b.ask("POST", "/api/v1/session", `{"code":"`+code+`"}`, nil)
	if w.Code != 200 || len(b.cookies) != 1 || !b.cookies[0].HttpOnly || b.cookies[0].SameSite != http.SameSiteStrictMode || b.cookies[0].Name != "argosy_8480" {
		t.Fatalf("%d %s %v", w.Code, w.Body, b.cookies)
	}
	if strings.Contains(w.Body.String(), b.cookies[0].Value) {
		t.Error("scripts can read the session")
	}
	if w := b.ask("GET", "/api/v1/session", "", nil); w.Code != 200 || b.page == "" || strings.Contains(w.Body.String(), b.page) {
		t.Errorf("the key of the page is told twice, or never: %d %s", w.Code, w.Body)
	}
	if got := (&browser{t: t, h: h, host: b.host}).ask("POST", "/api/v1/session", `{"code":"`+code+`"}`, nil).Code; got != 401 {
		t.Errorf("a code for the second time: %d", got)
	}
	for _, c := range []struct {
		name, method, path string
		head               map[string]string
		host               string
		want               int
	}{
		{"reads", "GET", "/api/v1/status", nil, "", 200},
		{"orders, as an observer", "POST", "/api/v1/jobs/1/pause", nil, "", 403},
		{"from a page of another site", "GET", "/api/v1/status", map[string]string{"Sec-Fetch-Site": "cross-site"}, "", 401},
		{"from a page at another port", "GET", "/api/v1/status", map[string]string{"Sec-Fetch-Site": "same-site"}, "", 401},
		{"with the cookie alone, which other ports get as well", "GET", "/api/v1/status", map[string]string{"Argosy-Page": ""}, "", 401},
		{"with the key of another page", "GET", "/api/v1/status", map[string]string{"Argosy-Page": strings.Repeat("A", 32)}, "", 401},
		{"ends the session from a page of another site", "POST", "/api/v1/session/end", map[string]string{"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}, "", 403},
		{"ends the session with the cookie alone", "POST", "/api/v1/session/end", map[string]string{"Argosy-Page": ""}, "", 403},
		{"at a name of somebody else's", "GET", "/api/v1/status", nil, "evil.example:8480", 401},
		{"at this machine's loopback name", "GET", "/api/v1/status", nil, "localhost:8480", 200},
		{"the page at a name of somebody else's", "GET", "/", nil, "evil.example:8480", 421},
		{"the page", "GET", "/", nil, "", 200},
	} {
		other := *b
		if c.host != "" {
			other.host = c.host
		}
		if got := other.ask(c.method, c.path, "{}", c.head).Code; got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	op := &browser{t: t, h: h, host: b.host}
	if got := op.ask("POST", "/api/v1/session", `{"code":"`+second+`"}`, map[string]string{"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}).Code; got != 403 {
		t.Errorf("a page of another site lets its visitor in: %d", got)
	}
	if got := op.ask("POST", "/api/v1/session", `{"code":"`+second+`"}`, nil).Code; got != 200 {
		t.Fatalf("the operator: %d", got)
	}
	for origin, want := range map[string]int{"": 404, "http://127.0.0.1:8480": 404, "http://evil.example": 401, "http://127.0.0.1:9999": 401, "https://127.0.0.1:8480": 401, "null": 401} { // there is no job 9
		head := map[string]string{}
		if origin != "" {
			head["Origin"] = origin
		}
		if got := op.ask("POST", "/api/v1/jobs/9/pause", "{}", head).Code; got != want {
			t.Errorf("an order with the origin %q: %d, want %d", origin, got, want)
		}
	}
	if got := op.ask("POST", "/api/v1/jobs/9/pause", "{}", map[string]string{"Sec-Fetch-Site": ""}).Code; got != 401 {
		t.Errorf("an order of which nothing says where it comes from: %d", got)
	}
	behind := map[string]string{"Origin": "https://127.0.0.1:8480", "X-Forwarded-Proto": "https"} // of a proxy that speaks TLS
	if got := op.ask("POST", "/api/v1/jobs/9/pause", "{}", behind).Code; got != 404 {
		t.Errorf("through a proxy with TLS: %d", got)
	}
	cookie := op.cookies
	op.ask("POST", "/api/v1/session/end", "{}", nil)
	op.cookies = cookie
	if got := op.ask("GET", "/api/v1/status", "", nil).Code; got != 401 {
		t.Errorf("after leaving: %d", got)
	}
	if strings.Contains(log.String(), second) || strings.Contains(log.String(), cookie[0].Value) {
		t.Error("a code or a cookie was logged")
	}
}

// A session that a token began ends with it.
func TestSessionOfToken(t *testing.T) {
	s, h, _ := lead(t)
	text := token(t, s, access.Wanted{Role: access.Observer, Label: "ci"})
	b := &browser{t: t, h: h, host: "[::1]:8480"}
	if w := b.ask("POST", "/api/v1/session", `{"token":"`+text+`"}`, nil); w.Code != 200 || !strings.Contains(w.Body.String(), `"role":"observer"`) {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if got := b.ask("GET", "/api/v1/status", "", nil).Code; got != 200 {
		t.Fatalf("with its cookie: %d", got)
	}
	var code web.Code
	if err := json.Unmarshal(b.ask("POST", "/api/v1/session/code", "{}", nil).Body.Bytes(), &code); err != nil {
		t.Fatal(err)
	}
	second := &browser{t: t, h: h, host: "localhost"}
	if w := second.ask("POST", "/api/v1/session", `{"code":"`+code.Code+`"}`, nil); w.Code != 200 || second.ask("GET", "/api/v1/status", "", nil).Code != 200 {
		t.Fatalf("another browser: %d %s", w.Code, w.Body)
	}
	unused := &browser{t: t, h: h, host: b.host}
	if err := json.Unmarshal(b.ask("POST", "/api/v1/session/code", "{}", nil).Body.Bytes(), &code); err != nil {
		t.Fatal(err)
	}
	if err := s.Gate().RevokeToken(t.Context(), access.IDOf(text), access.Who{Role: access.Operator, Name: "test"}); err != nil {
		t.Fatal(err)
	}
	if got := b.ask("GET", "/api/v1/status", "", nil).Code; got != 401 {
		t.Errorf("after its token was revoked: %d", got)
	}
	if got := unused.ask("POST", "/api/v1/session", `{"code":"`+code.Code+`"}`, nil).Code; got != 401 {
		t.Errorf("a code that was made before its token was revoked: %d", got)
	}
	if got := second.ask("GET", "/api/v1/status", "", nil).Code; got != 401 {
		t.Errorf("another browser, after the token was revoked: %d", got)
	}
	if got := (&browser{t: t, h: h, host: b.host}).ask("POST", "/api/v1/session", `{"token":"`+joiners+`"}`, nil).Code; got != 401 {
		t.Errorf("a token for nodes lets a browser in: %d", got)
	}
}

// listens asks for the stream of events as an operator does.
func listens(t *testing.T, ctx context.Context, at string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at+"/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+operators)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// A stream of events says at once how far everything is, then what changes; who is gone is forgotten.
func TestEvents(t *testing.T) {
	t.Parallel()
	_, h, _ := lead(t)
	srv := httptest.NewServer(h)
	defer srv.Close()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	resp := listens(t, ctx, srv.URL)
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatalf("%d %s", resp.StatusCode, got)
	}
	lines := bufio.NewScanner(resp.Body)
	next := func() (e web.Event) {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				if err := json.Unmarshal([]byte(data), &e); err != nil {
					t.Fatal(err)
				}
				return e
			}
		}
		t.Fatal("the stream ended", lines.Err())
		return e
	}
	if e := next(); !e.Now.Leads || e.Now.Kind != web.KindFleet {
		t.Errorf("at first: %+v", e)
	}
	if w := ask(h, "POST", "/api/v1/jobs", operators, `{"seeds": ["http://a.test/"]}`); w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	for e := next(); len(e.Jobs) == 0 || e.Jobs[0] != 1; e = next() {
	}
	if got := ask(h, "GET", "/api/v1/events", "", "").Code; got != 401 {
		t.Errorf("a stream for nobody: %d", got)
	}
}

// A stream of events ends with the token that opened it.
func TestEventsEndWithTheirToken(t *testing.T) {
	t.Parallel()
	s, h, _ := lead(t)
	srv := httptest.NewServer(h)
	defer srv.Close()
	text := token(t, s, access.Wanted{Role: access.Observer})
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+text)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := s.Gate().RevokeToken(t.Context(), access.IDOf(text), access.Who{Role: access.Operator, Name: "test"}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Errorf("the stream goes on: %v", err)
	}
}

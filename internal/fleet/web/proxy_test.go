package web_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"argosy/internal/fleet/access"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/web"
	"argosy/internal/testkit"
)

// behindNginx starts nginx with its defaults before a server, where nginx is there.
func behindNginx(t *testing.T, to string) string {
	t.Helper()
	bin, err := exec.LookPath("nginx")
	if err != nil {
		if bin, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			t.Skip("there is no nginx here")
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	_ = l.Close()
	dir := t.TempDir()
	conf := "daemon off; pid pid; error_log err; events {}\nhttp { access_log off;"
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		conf += fmt.Sprintf(" %s_temp_path %s/%s;", kind, dir, kind)
	}
	conf += fmt.Sprintf("\nserver { listen %s; location / { proxy_pass %s; } } }\n", at, to)
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(bin, "-p", dir, "-e", "err", "-c", path)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
	})
	testkit.Eventually(t, "nginx listens", func() bool {
		c, err := net.Dial("tcp", at)
		return err == nil && c.Close() == nil
	})
	return "http://" + at
}

// Behind nginx with its defaults the API is as closed as without: who has no token is nobody, and what a node says of its echo is not
// believed, for nobody sees where it comes from.
func TestNginxWithItsDefaults(t *testing.T) {
	s, h, _ := lead(t)
	srv := httptest.NewServer(h)
	defer srv.Close()
	front := behindNginx(t, srv.URL)
	for path, want := range map[string]int{"/healthz": 200, "/api/v1/jobs": 401, "/api/v1/tokens": 401, "/api/v1/openapi.json": 401} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, front+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, resp.StatusCode, want)
		}
	}
	client := func(tok string) *web.Client {
		cl, err := web.NewClient(front, tok, nil)
		if err != nil {
			t.Fatal(err)
		}
		return cl
	}
	if _, err := client(operators).Nodes(t.Context()); err != nil {
		t.Error(err)
	}
	key, err := bus.NewNodeKey()
	if err != nil {
		t.Fatal(err)
	}
	p := bus.Petition{Node: "n", Wire: bus.Wire, Echo: "http://127.0.0.1:22/"}
	if _, err := client("").Join(t.Context(), key, p); err == nil {
		t.Error("a node joined without a token")
	}
	pass, err := client(token(t, s, access.Wanted{Role: access.Join, Uses: 1})).Join(t.Context(), key, p)
	if err != nil || pass.Echo != "" {
		t.Errorf("echo %q, %v", pass.Echo, err)
	}
	if n := s.Gate().Names(); len(n) != 1 || n[0].Addr != "" {
		t.Errorf("%+v", n)
	}
}

// A browser gets in through nginx with its defaults, which asks us by an address of its own, where the name that it asks for was given as
// ours; a page that merely leads here through the same nginx does not.
func TestBrowserBehindNginx(t *testing.T) {
	t.Parallel()
	s, _, _ := lead(t)
	door := web.NewDoor()
	srv := httptest.NewServer(web.Handler(s, web.Config{UserAgent: "t", Version: "v", Door: door, Hosts: []string{"argosy.example"}}))
	defer srv.Close()
	front := behindNginx(t, srv.URL)
	send := func(method, path, body string, head ...string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, front+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(head); i += 2 {
			r.Header.Set(head[i], head[i+1])
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp
	}
	enters := func(head ...string) *http.Response {
		return send("POST", "/api/v1/session", `{"code":"`+door.Code(access.Who{Role: access.Operator, Name: "op"})+`"}`, head...)
	}
	for name, head := range map[string][]string{
		"a name that leads here by now":           {"Origin", "https://evil.example", "Sec-Fetch-Site", "same-origin"},
		"a page of another site":                  {"Origin", "https://argosy.example", "Sec-Fetch-Site", "cross-site"},
		"a page at another port":                  {"Origin", "http://argosy.example:81", "Sec-Fetch-Site", "same-site"},
		"a page that the browser says nothing of": {"Origin", "http://argosy.example"},
		"a page that its sandbox makes opaque":    {"Origin", "null", "Sec-Fetch-Site", "same-origin"},
	} {
		if got := enters(head...).StatusCode; got != 403 {
			t.Errorf("%s: %d, want 403", name, got)
		}
	}
	ours := []string{"Origin", "https://argosy.example", "Sec-Fetch-Site", "same-origin"}
	let := enters(ours...)
	var me web.Me
	if err := json.NewDecoder(let.Body).Decode(&me); err != nil || let.StatusCode != 200 || me.Page == "" || len(let.Cookies()) != 1 || !let.Cookies()[0].Secure {
		t.Fatalf("%d %+v %v %v", let.StatusCode, me, let.Cookies(), err)
	}
	with := []string{"Cookie", let.Cookies()[0].Name + "=" + let.Cookies()[0].Value, "Argosy-Page", me.Page}
	if got := send("GET", "/api/v1/jobs", "", append(with, "Sec-Fetch-Site", "same-origin")...).StatusCode; got != 200 {
		t.Errorf("it reads: %d", got)
	}
	if got := send("POST", "/api/v1/jobs/9/pause", "{}", append(with, ours...)...).StatusCode; got != 404 { // there is no job 9
		t.Errorf("it orders: %d", got)
	}
	if got := send("POST", "/api/v1/jobs/9/pause", "{}", append(with, "Origin", "https://evil.example", "Sec-Fetch-Site", "same-origin")...).StatusCode; got != 401 {
		t.Errorf("a page elsewhere orders: %d", got)
	}
}

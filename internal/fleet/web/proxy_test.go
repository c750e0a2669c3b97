package web_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
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

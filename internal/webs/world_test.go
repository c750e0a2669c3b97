package webs_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"argosy/internal/webs"
)

// Every site of the world and every node's echo is reached by its address, and a site answers with a page that leads on.
func TestWorld(t *testing.T) {
	w := webs.NewWorld(1)
	port, stop, err := w.Serve("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	w.Links.Loss = 0
	get := func(host, path string) string {
		client := &http.Client{Transport: &http.Transport{DialContext: w.Links.Dial("frankfurt"), DisableKeepAlives: true}}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+net.JoinHostPort(w.Addrs[host].String(), port)+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host + ":" + port
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 {
			t.Errorf("%s%s: %s, %v", host, path, resp.Status, err)
		}
		return string(b)
	}
	if b := get("zurich.demo", "/"); !strings.Contains(b, `<a href="/page/4.html">`) || b != get("zurich.demo", "/") {
		t.Errorf("the page of zurich: %.200s", b)
	}
	if b := get(webs.EchoOf("london"), "/"); b != "here\n" {
		t.Errorf("the echo of london: %q", b)
	}
	for _, s := range w.Sites {
		if !w.Addrs[s.Name].IsLoopback() || w.Web.Sites[s.Name] == nil {
			t.Errorf("%s lies at %v", s.Name, w.Addrs[s.Name])
		}
	}
	if len(w.Seeds(port)) != len(w.Sites) || len(w.Sites) != 36 {
		t.Errorf("%d sites", len(w.Sites))
	}
}

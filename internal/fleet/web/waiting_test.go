package web_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"argosy/internal/fleet/web"
)

// A coordinator that waits for its database at its start lives, is not ready, and says what it waits for to whoever asks.
func TestWaiting(t *testing.T) {
	srv := httptest.NewServer(web.Waiting("the database does not answer"))
	defer srv.Close()
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 503, "/api/v1/jobs": 503, "/": 503} {
		resp, err := srv.Client().Get(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, resp.StatusCode, want)
		}
	}
	cl, err := web.NewClient(srv.URL, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cl.Jobs(t.Context()); err == nil || !strings.Contains(err.Error(), "waits: the database does not answer") {
		t.Errorf("%v", err)
	}
}

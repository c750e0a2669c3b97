package web_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Events come through nginx with its defaults, which gather answers, as they are sent: the first at once, and one for each thing that happens.
func TestEventsThroughNginx(t *testing.T) {
	_, h, _ := lead(t)
	srv := httptest.NewServer(h)
	defer srv.Close()
	front := behindNginx(t, srv.URL)
	resp := listens(t, t.Context(), front)
	defer resp.Body.Close()
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		t.Fatalf("%s, %s", resp.Status, kind)
	}
	events := make(chan string)
	go func() {
		defer close(events)
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				events <- data
			}
		}
	}()
	await := func(what string) {
		t.Helper()
		select {
		case _, ok := <-events:
			if !ok {
				t.Fatalf("%s: the stream has ended", what)
			}
		case <-time.After(10 * time.Second): // less than one comes after where nothing happens
			t.Fatalf("%s: no event has come", what)
		}
	}
	await("the first")
	job, err := http.NewRequestWithContext(t.Context(), http.MethodPost, front+"/api/v1/jobs", strings.NewReader(`{"seeds": ["http://a.test/"]}`))
	if err != nil {
		t.Fatal(err)
	}
	job.Header.Set("Authorization", "Bearer "+operators)
	done, err := http.DefaultClient.Do(job)
	if err != nil {
		t.Fatal(err)
	}
	if _ = done.Body.Close(); done.StatusCode != http.StatusOK {
		t.Fatal(done.Status)
	}
	await("of a job")
}

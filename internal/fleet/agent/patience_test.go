package agent

import (
	"testing"
	"time"

	"argosy/internal/crawl"
)

// A site that has never answered is given the whole time to do so once.
func TestPatience(t *testing.T) {
	u, err := crawl.Parse("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		fails   int
		latency time.Duration
		told    crawl.Heard
		most    time.Duration
	}{
		{0, 0, 0, 10 * time.Second},
		{1, 0, 0, 30 * time.Second},
		{2, 0, 0, 10 * time.Second},
		{3, 0, 0, 10 * time.Second},
		{0, time.Second, 0, 15 * time.Second}, // robots.txt has been answered
		{2, time.Second, 0, 30 * time.Second},
		{0, time.Second, crawl.HeardPage, 30 * time.Second},
	} {
		l := &lease{job: crawl.Job{Limits: crawl.DefaultLimits()}, fails: c.fails, latency: c.latency, told: c.told}
		if got := l.patience(u); got != c.most {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

package fetch

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"argosy/internal/crawl"
)

func TestProbes(t *testing.T) {
	var asked atomic.Int64
	body := strings.Repeat("x", 50_000)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		fmt.Fprint(w, body)
	}))
	defer srv.Close()
	c, err := NewClient(Config{Limits: crawl.DefaultLimits().Fetch, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	if err != nil {
		t.Fatal(err)
	}
	u, err := crawl.Parse(srv.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	turns := 0
	turn := func(context.Context) error { turns++; return nil }
	p, err := c.HTTPPing(context.Background(), u, nil, turn)
	if err != nil || p.Status != 200 || p.Connect <= 0 || p.Server <= 0 || p.Total() < p.Connect+p.Server {
		t.Errorf("%+v, %v", p, err)
	}
	got, err := c.ProbeCrawl(context.Background(), u, nil, crawl.ProbeTries, turn)
	if err != nil || len(got) != 3 || got[0].Bits < 400_000 || Rate(got) <= 0 {
		t.Errorf("%v, %v", got, err)
	}
	if turns != 4 || asked.Load() != 4 {
		t.Errorf("%d turns for %d requests", turns, asked.Load())
	}
	stop := func(context.Context) error { return context.Canceled }
	if got, err := c.ProbeCrawl(context.Background(), u, nil, 3, stop); err == nil || len(got) != 0 || asked.Load() != 4 {
		t.Error("a probe without a turn has asked")
	}
}

// Total bits over total seconds: a fast try must not count more than the time it took.
func TestRate(t *testing.T) {
	if r := Rate([]Transfer{{100, 1}, {100, 9}}); r != 20 {
		t.Errorf("%v", r)
	}
	if Rate(nil) != 0 {
		t.Error("nothing has a rate")
	}
}

package serve_test

import (
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/serve"
)

// A placing that no node could ever be of is refused, with what is allowed.
func TestPlacingThatNothingCanMeet(t *testing.T) {
	for _, c := range []struct {
		of   crawl.Placing
		want string
	}{
		{crawl.Placing{Landmarks: []string{"n1", "b-2_c"}, Store: "s3://bucket/x?endpoint=http://s3.test:9000"}, ""},
		{crawl.Placing{Store: "file:///var/crawl"}, ""},
		{crawl.Placing{Landmarks: []string{"n1", "../x"}}, `placing.landmarks: node name "../x": allowed are`},
		{crawl.Placing{Landmarks: []string{""}}, `placing.landmarks: node name "": allowed are`},
		{crawl.Placing{Store: "ftp://x"}, `placing.store: "ftp://x": no node's archives`},
		{crawl.Placing{Store: "/var/crawl"}, `placing.store: "/var/crawl": no node's archives`},
	} {
		err := serve.CheckJob(&crawl.Job{Identity: crawl.Identity{Seeds: []string{"http://a.test/"}, Scope: crawl.ScopeSite}, Limits: crawl.DefaultLimits(), Placing: c.of})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.of, err, c.want)
		}
	}
}

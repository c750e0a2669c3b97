package verdict

import (
	"strings"
	"testing"
	"time"

	"argosy/internal/crawl"
)

// A site that has had itself left alone until the end of a crawl is told of, with what waits; one that was not asked yet is not.
func TestHeld(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		site *crawl.Site
		last crawl.Kind
		why  crawl.Kind
		says string
	}{
		{nil, "", "", ""},
		{&crawl.Site{LastStart: 5000}, "", "", ""},
		{&crawl.Site{Name: "a", LastStart: 5000, BackoffUntil: 3_605_000}, "", crawl.KindStatus, "not before 1970-01-01 "},
		{&crawl.Site{Name: "a", LastStart: 5000, BackoffUntil: 10_000, Fails: 1}, "", crawl.KindConnect, ""},
		{&crawl.Site{Name: "a", LastStart: 5000, BackoffUntil: 10_000, Fails: 1}, crawl.KindSlow, crawl.KindSlow, ""},
		{&crawl.Site{Name: "a", LastStart: 10_000, BackoffUntil: 5000, Fails: 1}, crawl.KindReset, crawl.KindReset, ""},
		{&crawl.Site{Name: "a", BackoffUntil: 10_000, Fails: 1, ResolveFails: 1, ResolveWhy: crawl.KindNoHost, Trouble: "no such host"}, "", crawl.KindNoHost, "no such host"},
		{&crawl.Site{Name: "a", RobotsTries: 1, RobotsWhy: crawl.ReasonRobotsDown, Trouble: "answers 503"}, crawl.KindTimeout, crawl.ReasonRobotsDown, "answers 503"},
	} {
		got := held(nil, c.site, c.last, 7, 0)
		if c.why == "" {
			if len(got) > 0 {
				t.Errorf("%+v: %+v", c.site, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Site != "a" || got[0].Why != string(c.why) || !strings.HasPrefix(got[0].Detail, c.says) || got[0].URLs != 7 {
			t.Errorf("%+v: %+v", c.site, got)
		}
	}
	const hour = 3_600_000
	site := &crawl.Site{Name: "a", LastStart: 30 * hour, BackoffUntil: 32 * hour} // since then the log's clock was set back by an hour
	if got, want := held(nil, site, "", 7, hour)[0].Detail, "not before "+time.UnixMilli(31*hour).Format("2006-01-02 15:04"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

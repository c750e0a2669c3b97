package polite

import (
	"slices"
	"testing"
	"time"

	"argosy/internal/crawl"
)

func TestDelay(t *testing.T) {
	lim := crawl.DefaultLimits()
	free := lim
	free.Delay = 0
	for _, c := range []struct {
		name           string
		lim            crawl.Limits
		crawl, latency time.Duration
		want           time.Duration
	}{
		{"the job's", lim, 0, 0, time.Second},
		{"Crawl-delay is longer", lim, 5 * time.Second, 0, 5 * time.Second},
		{"Crawl-delay is shorter", lim, 100 * time.Millisecond, 0, time.Second},
		{"Crawl-delay is capped", lim, time.Hour, 0, 30 * time.Second},
		{"a slow site is asked slowly", lim, 0, 3 * time.Second, 3 * time.Second},
		{"but not for ever", lim, 0, time.Hour, 30 * time.Second},
		{"one's own server", free, 0, time.Second, 0},
		{"one's own server with a Crawl-delay", free, time.Second, 0, time.Second},
	} {
		if got := Delay(c.lim, c.crawl, c.latency); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestBackoff(t *testing.T) {
	for fails, want := range []time.Duration{0, 5, 10, 20, 40, 80, 160, 320, 600, 600} {
		if got := Backoff(5*time.Second, fails); got != want*time.Second {
			t.Errorf("after %d failures: %s, want %s", fails, got, want*time.Second)
		}
	}
	if Backoff(5*time.Second, 1000) != MaxBackoff {
		t.Error("back-off overflows")
	}
}

// A part says ages; the record has times that never move a site's turn to an earlier moment.
func TestFold(t *testing.T) {
	lim := crawl.DefaultLimits()
	s := &crawl.Site{Name: "a", LastStart: 5_000}
	Fold(s, &crawl.SiteChange{SinceStartMS: 400, BackoffMS: 2_000, Fails: 1}, 10_000)
	if s.LastStart != 9_600 || s.BackoffUntil != 12_000 || ReadyAt(lim, s) != 12_000 {
		t.Errorf("%+v, ready at %d", s, ReadyAt(lim, s))
	}
	if at := ReadyAt(lim, &crawl.Site{LastStart: 9_600}); at != 9_600+lim.Delay.Milliseconds()+1 || lim.Delay == 0 {
		t.Errorf("ready at %d", at)
	}
	Fold(s, &crawl.SiteChange{SinceStartMS: 5_000}, 10_500)
	if s.LastStart != 9_600 || s.BackoffUntil != 12_000 {
		t.Errorf("an older start moved the record: %+v", s)
	}
	Fold(s, &crawl.SiteChange{SinceStartMS: -1}, 13_000)
	if s.LastStart != 9_600 || ReadyAt(lim, s) != 12_000 {
		t.Errorf("a part without a request moved the record: %+v", s)
	}
	Hold(s, 20_000)
	if ReadyAt(lim, s) != 21_001 {
		t.Errorf("after a hold the site is ready at %d", ReadyAt(lim, s))
	}
}

func TestRobotsTries(t *testing.T) {
	s := &crawl.Site{Name: "a"}
	down := &crawl.SiteChange{SinceStartMS: -1, Robots: &crawl.RobotsChange{State: crawl.RobotsUnavailable, TTLMS: 10, Why: crawl.ReasonRobotsDown}}
	Fold(s, down, 0)
	Fold(s, down, 100)
	if st := State(crawl.DefaultLimits(), s, 105); st.RobotsTries != 2 || st.RobotsTTLMS != 5 || st.RobotsState != crawl.RobotsUnavailable {
		t.Errorf("%+v", st)
	}
	Fold(s, &crawl.SiteChange{SinceStartMS: -1, Robots: &crawl.RobotsChange{State: crawl.RobotsRules, TTLMS: 1000, DelayMS: 250}}, 200)
	if s.RobotsTries != 0 || s.CrawlDelayMS != 250 || s.RobotsExpiry != 1200 {
		t.Errorf("%+v", s)
	}
}

func TestResolve(t *testing.T) {
	lim := crawl.DefaultLimits()
	s := &crawl.Site{Name: "a"}
	for range lim.Retries {
		Fold(s, &crawl.SiteChange{SinceStartMS: -1, ResolveFailed: crawl.KindDNS}, 0)
	}
	if State(lim, s, 0).ResolveWhy != "" {
		t.Error("given up too early")
	}
	Fold(s, &crawl.SiteChange{SinceStartMS: -1, ResolveFailed: crawl.KindDNS}, 0)
	if State(lim, s, 0).ResolveWhy != crawl.KindDNS {
		t.Error("not given up after the last try")
	}
	Fold(s, &crawl.SiteChange{SinceStartMS: -1, Addrs: []string{"192.0.2.1"}, AddrTTLMS: 50}, 0)
	if st := State(lim, s, 49); st.ResolveWhy != "" || len(st.Addrs) != 1 {
		t.Errorf("%+v", st)
	}
	if st := State(lim, s, 50); len(st.Addrs) != 0 {
		t.Errorf("expired addresses are used: %+v", st)
	}
	Fold(s, &crawl.SiteChange{SinceStartMS: -1, ResolveFailed: crawl.KindDenied}, 60)
	if State(lim, s, 60).ResolveWhy != crawl.KindDenied {
		t.Error("a denied address is looked up again")
	}
}

// How long a site is tried again is said to the second, but not as nothing where it is less than that.
func TestPatience(t *testing.T) {
	for backoff, want := range map[time.Duration]time.Duration{
		5 * time.Second: 35 * time.Second, 1200 * time.Millisecond: 8 * time.Second, 40 * time.Millisecond: 280 * time.Millisecond, 0: 0,
	} {
		if got := Patience(crawl.Limits{Retries: 3, Backoff: backoff}); got != want {
			t.Errorf("%v: %v, want %v", backoff, got, want)
		}
	}
}

// A site that has never answered is not waited for long where what is wrong is settled, or where it only ends its connections; it is tried as often
// as the job says, but for what is settled, and where it says nothing. One that has answered is left alone for longer each time.
func TestAgain(t *testing.T) {
	lim := crawl.DefaultLimits()
	for _, c := range []struct {
		why      crawl.Kind
		answered bool
		want     []time.Duration // the waits, until it is given up
	}{
		{crawl.KindRefused, false, []time.Duration{500 * time.Millisecond, time.Second}},
		{crawl.KindReset, false, []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}},
		{crawl.KindTimeout, false, []time.Duration{5 * time.Second, 10 * time.Second}}, // it had the whole limit once
		{crawl.KindReset, true, []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second}},
		{crawl.KindTimeout, true, []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second}},
		{crawl.KindRefused, true, []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second}},
		{crawl.KindConnect, false, []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second}}, // the network may be away
		{crawl.ReasonRobotsDown, false, []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second}},
		{crawl.KindDenied, false, nil},
	} {
		var got []time.Duration
		for fails := 1; ; fails++ {
			wait, again := Again(lim, c.why, fails, c.answered)
			if !again {
				break
			}
			got = append(got, wait)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, answered %v: %v, want %v", c.why, c.answered, got, c.want)
		}
	}
	lim.Retries = 5
	if _, again := Again(lim, crawl.KindTimeout, 5, false); !again {
		t.Error("more tries than usual are not had")
	}
	lim.Backoff = 10 * time.Millisecond
	if wait, again := Again(lim, crawl.KindReset, 1, false); !again || wait != lim.Backoff {
		t.Errorf("a shorter back-off is not kept: %v, %v", wait, again)
	}
}

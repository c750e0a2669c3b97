package config_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"argosy/internal/config"
	"argosy/internal/crawl"
)

// A market as flags and job files say it; what is not said is as published, or in lots without a bound.
func TestMarket(t *testing.T) {
	paper, lots := crawl.DefaultMarket(crawl.MarketPaper), crawl.DefaultMarket(crawl.MarketLots)
	if paper.Alpha != 5 || paper.Beta != 5 || paper.Delta1 != 0.5 || paper.Delta2 != 0.1 || paper.Delta3 != 10*time.Second || paper.Delta4 != 50_000 ||
		paper.Understanding != 0.2 || paper.Lifetime != 600*time.Second || paper.Interval != 120*time.Second || paper.Crawlers != 5 {
		t.Errorf("not as published: %+v", paper)
	}
	set := func(m crawl.Market, change func(*crawl.Market)) *crawl.Market { change(&m); return &m }
	for spec, want := range map[string]*crawl.Market{
		"paper":      &paper,
		"lots":       &lots,
		"crawlers=7": set(lots, func(m *crawl.Market) { m.Crawlers = 7 }),
		"paper,alpha=10, interval=30s,space=3M,reserve=similarity": set(paper, func(m *crawl.Market) {
			m.Alpha, m.Interval, m.Space, m.Similarity = 10, 30*time.Second, 3<<20, true
		}),
		"paper,divide=keyword,speed=0.5":  set(paper, func(m *crawl.Market) { m.Divide, m.Speed = crawl.DivideKeyword, 0.5 }),
		"lots,divide=turn":                &lots,
		"lots,beta=50,turn=4,lifetime=1h": set(lots, func(m *crawl.Market) { m.Beta, m.Turn, m.Lifetime = 50, 4, time.Hour }),
		"independent,delta1=1":            set(crawl.DefaultMarket(crawl.MarketAlone), func(m *crawl.Market) { m.Delta1 = 1 }),
	} {
		m, err := config.ReadMarket(spec)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		got, err := m.Made()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; want %+v", spec, got, err, want)
		}
	}
	for _, spec := range []string{
		"", "fair", "paper,alpha", "paper,gamma=1", "paper,alpha=-1", "lots,turn=0", "paper,turn=5", "lots,understanding=0.5", "paper,lifetime=soon", "paper,beta=0",
		"paper,delta1=0", "paper,speed=1.5", "independent,speed=0.5", "lots,divide=fair", "crawlers=101", "paper,interval=0s", "paper,understanding=2",
	} {
		m, err := config.ReadMarket(spec)
		if err == nil {
			_, err = m.Made()
		}
		if err == nil {
			t.Errorf("%q is taken", spec)
		}
	}
	if m, err := (&config.Market{}).Made(); m != nil || err != nil {
		t.Errorf("no market is %+v, %v", m, err)
	}
}

// A market that goes on keeps what is not said anew, and is written down as it is read.
func TestMarketOver(t *testing.T) {
	for _, c := range []struct{ was, now, want string }{
		{"paper,interval=1s,lifetime=20s", "alpha=10", "paper,alpha=10,lifetime=20s,interval=1s"},
		{"paper,interval=1s,crawlers=2", "paper,interval=2s,space=3M", "paper,crawlers=2,interval=2s,space=3145728"},
		{"crawlers=3,beta=2.5", "lots,turn=4", "lots,crawlers=3,beta=2.5,turn=4"},
		{"beta=5", "reserve=similarity", "beta=5,reserve=similarity"},
		{"paper,alpha=10", "lots,beta=5", "lots,beta=5"},
		{"alpha=10", "paper", "paper"},
	} {
		was, err := config.ReadMarket(c.was)
		if err != nil {
			t.Fatal(err)
		}
		now, err := config.ReadMarket(c.now)
		if err != nil {
			t.Fatal(err)
		}
		got := now.Over(was)
		again, err := config.ReadMarket(got.String())
		if got.String() != c.want || err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%s over %s: %s, want %s (%v)", c.now, c.was, got, c.want, err)
		}
	}
}

// What is wrong with a market is said in one line: which parameter, and what is allowed.
func TestMarketMistakes(t *testing.T) {
	for spec, want := range map[string]string{
		"lots,alpha=0.5":       `alpha: "0.5": want a whole number`,
		"lots,turn=NaN":        `turn: "NaN": want a whole number`,
		"lots,beta=x":          `beta: "x": want a number`,
		"paper,beta=Inf":       "market: beta: +Inf: allowed are more than 0 to 2147483648",
		"lots,beta=NaN":        "market: beta: NaN: allowed are 0 to 2147483648",
		"lots,mode=paper":      `"lots,mode=paper": mode is given twice`,
		"lots,interval=soon":   `interval: "soon": want a span of time such as 90s or 2m`,
		"lots,delta4=5Q":       `delta4: "5Q": want a number of bytes, with K, M, G or T`,
		"paper,lifetime=0s":    "market: lifetime: 0 seconds: allowed are more than 0 to 31622400",
		"crawlers=0":           "crawlers: 0: the minimum is 1",
		"lots,alpha: 1, b=c":   `"lots,alpha: 1, b=c": want a mode, and parameters as NAME=VALUE, with commas between`,
		"paper,turn=5":         "market: turn: it is of the mode lots only",
		"independent,reserve=": `"independent,reserve=": want a mode, and parameters as NAME=VALUE, with commas between`,
	} {
		m, err := config.ReadMarket(spec)
		if err == nil {
			_, err = m.Made()
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
	for text, want := range map[string]string{
		"lifetime: 5x":   `line 2: "5x" is not a span of time; want one such as 90s or 2m`,
		"space: 5Q":      `line 2: "5Q" is not a size; allowed are numbers of bytes, with K, M, G or T`,
		"crawlers: many": `line 2: a text stands where a whole number is wanted`,
		"alpha: 1e99":    `line 2: 1e99 is out of range`,
		"beta: [1]":      `line 2: a list stands where a number is wanted`,
	} {
		_, err := config.ReadJob(strings.NewReader("market:\n  " + text + "\n"))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

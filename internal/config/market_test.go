package config_test

import (
	"reflect"
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
		"paper,delta1=0", "crawlers=101", "paper,interval=0s", "paper,understanding=2",
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

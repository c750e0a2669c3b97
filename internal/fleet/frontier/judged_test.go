package frontier

import (
	"math"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
)

// What explain says a URL is worth to crawlers is what a market would be offered; how it was dealt out is what was done.
func TestJudgeTellsOfCrawlers(t *testing.T) {
	for _, by := range []crawl.Division{crawl.DivideTurn, crawl.DivideKeyword, crawl.DivideLikeness} {
		w := tradedWith(t, vfs.NewMem(), func(m *crawl.Market) { m.Divide, m.Speed, m.Crawlers = by, 0.5, 4 },
			"http://s.test/asynchronous-1", "http://s.test/iterators-2", "http://s.test/asynchronous-3", "http://s.test/iterators-4")
		for _, site := range []uint32{1, 2} { // two crawlers have had pages of the site, one of them quickly
			_, subset := w.f.jobs[1].home(site)
			task := w.f.tasks[w.f.byName[taskName{space: space{job: 1}, subset: subset, site: "s.test"}]]
			task.Timed, task.TimedUS = 1, int64(site)*50_000
		}
		waits := 0
		for c := uint32(1); c <= 4; c++ {
			offers, _, err := w.f.Offers(1, c, 100)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range offers {
				waits++
				v, err := w.f.Judge(1, o.Page)
				if err != nil {
					t.Fatal(err)
				}
				if v.Dealt == nil || v.Dealt.By != by || v.Dealt.Crawler != c || v.Crawler != c {
					t.Errorf("%q: %s is crawler %d's, and was dealt: %+v", by, o.URL, c, v.Dealt)
				}
				if named := by == crawl.DivideKeyword && len(o.URL) > 20; named != (len(v.Dealt.Words) == 1) {
					t.Errorf("%q: %s names %q", by, o.URL, v.Dealt.Words)
				}
				if len(v.Worth) != len(o.Values) {
					t.Fatalf("%q: worth %+v, offered as %v", by, v.Worth, o.Values)
				}
				for i, x := range v.Worth {
					slower := map[uint32]float64{2: 0.75}[x.Crawler] // half of it goes by speed, and it took twice as long
					if slower == 0 {
						slower = 1
					}
					if x.Value != o.Values[i] || x.Profile == 0 || math.Abs(x.Value/x.Profile-slower) > 1e-9 {
						t.Errorf("%q: %s is worth %+v, offered as %v", by, o.URL, x, o.Values)
					}
				}
			}
		}
		if waits < 10 {
			t.Errorf("%q: %d URLs wait", by, waits)
		}
		if err := w.f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A seed is dealt out, and not sold: nothing is said of what it is worth. What a better page names later is not said to have gone by that page's words.
func TestJudgeTellsOfSeeds(t *testing.T) {
	w := tradedWith(t, vfs.NewMem(), func(m *crawl.Market) { m.Divide, m.Crawlers = crawl.DivideLikeness, 4 })
	defer func() {
		if err := w.f.Close(); err != nil {
			t.Error(err)
		}
	}()
	key := func(url string) crawl.Page {
		u, err := crawl.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		return crawl.Page{Key: u.Key()}
	}
	v, err := w.f.Judge(1, key("http://s.test/x"))
	if err != nil || v.Dealt == nil || v.Dealt.Crawler != v.Crawler || v.Crawler == 0 || v.Worth != nil {
		t.Errorf("a seed: %+v, %v", v, err)
	}
	at := key("http://s.test/p7")
	r, err := w.f.load1(&finder{db: w.f.db}, recKey{space{job: 1}, at.Key})
	if err != nil {
		t.Fatal(err)
	}
	r.Page, r.Anchor = 0.9, "what a better page says"
	if v, err = w.f.Judge(1, at); err != nil || v.Dealt == nil || v.Dealt.Crawler != 0 {
		t.Errorf("named by a better page: %+v, %v", v.Dealt, err)
	}
}

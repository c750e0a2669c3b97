package frontier

import (
	"math"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/page/topic"
)

// divided is a job whose crawlers divide what is found for three words.
func divided(t *testing.T, by crawl.Division, crawlers int) *Job {
	t.Helper()
	about, err := topic.Words("solar wind turbine", "en")
	if err != nil {
		t.Fatal(err)
	}
	m := crawl.DefaultMarket(crawl.MarketPaper)
	m.Crawlers, m.Divide = crawlers, by
	j := &Job{}
	j.Identity.Topic, j.Identity.Market = about, &m
	return j
}

// Each word of the topic is one crawler's, in what order the topic has them; what names none is divided in turn; crawlers beyond the words share them.
func TestSeedsAreDividedByKeyword(t *testing.T) {
	urls := []string{"http://a.test/solar", "http://b.test/wind", "http://c.test/turbine"}
	j := divided(t, crawl.DivideKeyword, 3)
	has := map[uint32]bool{}
	for i, url := range urls {
		c := j.part(url, "", 0)
		has[c] = true
		if again := j.part(url+"/more", "", int64(i)); again != c {
			t.Errorf("%s is crawler %d's, what is below it %d's", url, c, again)
		}
	}
	if len(has) != 3 {
		t.Errorf("three words are those of crawlers %v", has)
	}
	if a, b := j.part("http://x.test/", "of the wind", 0), j.part(urls[1], "", 0); a != b {
		t.Errorf("an anchor's word is crawler %d's, the address's %d's", a, b)
	}
	for n := range int64(7) {
		if c := j.part("http://x.test/", "", n); c != uint32(n%3)+1 {
			t.Errorf("what names no word, number %d, is crawler %d's", n, c)
		}
	}
	for _, crawlers := range []int{1, 2, 5, 20, 100} {
		j, has := divided(t, crawl.DivideKeyword, crawlers), map[uint32]bool{}
		for i := range 3000 {
			has[j.part(urls[i%3]+string(rune('0'+i/3%10))+"/"+string(rune('a'+i/30%26))+"/"+urls[i%3][14:], "", 0)] = true
		}
		for c := range has {
			if c < 1 || int(c) > crawlers {
				t.Errorf("crawler %d of %d", c, crawlers)
			}
		}
		if crawlers <= 20 && len(has) != crawlers {
			t.Errorf("%d of %d crawlers have a part", len(has), crawlers)
		}
	}
}

// Two URLs fall to one crawler as often as the resemblance of their words says: J of all words they share, else by chance.
func TestSeedsAreDividedByLikeness(t *testing.T) {
	const crawlers, pairs = 5, 4000
	word := func(n int) string {
		return string([]byte{byte('a' + n%26), byte('a' + n/26%26), byte('a' + n/676%26), byte('a' + n/17576%26)})
	}
	j, same, n := divided(t, crawl.DivideLikeness, crawlers), 0, 0
	next := func() string { n++; return word(n * 7919) }
	for range pairs {
		shared := next() + "/" + next()
		a, b := "http://"+shared+"/"+next(), "http://"+shared+"/"+next() // two words of four
		if j.part(a, "", 0) == j.part(b, "", 1) {
			same++
		}
	}
	want := 0.5 + 0.5/crawlers
	if got := float64(same) / pairs; math.Abs(got-want) > 4*math.Sqrt(want*(1-want)/pairs) {
		t.Errorf("%.3f of the pairs fall to one crawler, want %.3f", got, want)
	}
	if j.part("http://a.test/", "", 0) != j.part("https://a.test/", "", 3) {
		t.Error("two ways to write an address are not alike")
	}
}

// What a URL is worth falls with how many times as long pages take than those of the fastest; computed by hand.
func TestWorthBySpeed(t *testing.T) {
	for _, c := range []struct {
		share    float64
		ms, want []float64
	}{
		{1, []float64{100, 200, 400}, []float64{0.8, 0.4, 0.2}},
		{0.5, []float64{100, 200, 400}, []float64{0.8, 0.6, 0.5}},
		{0.5, []float64{0, 200, 400}, []float64{0.8, 0.8, 0.6}}, // who was never there is as fast as the fastest
		{1, []float64{0, 0, 0}, []float64{0.8, 0.8, 0.8}},
	} {
		values := []float64{0.8, 0.8, 0.8}
		weighBySpeed(values, c.ms, c.share)
		for i := range values {
			if math.Abs(values[i]-c.want[i]) > 1e-12 {
				t.Errorf("share %v, %v ms: %v, want %v", c.share, c.ms, values, c.want)
				break
			}
		}
	}
	j, task := divided(t, crawl.DivideTurn, 2), &Task{}
	answer := &crawl.Outcome{Status: 200, Timing: [6]int32{1000, 2000, 0, 0, 7000, 10_000}}
	if task.timed(j, answer); task.Timed != 0 {
		t.Error("it is counted though nobody asks for it")
	}
	j.Identity.Market.Speed = 0.5
	task.timed(j, answer)
	task.timed(j, &crawl.Outcome{Timing: [6]int32{1000}}) // no answer
	if task.Timed != 1 || task.TimedUS != 20_000 {
		t.Errorf("%d pages took %d µs", task.Timed, task.TimedUS)
	}
}

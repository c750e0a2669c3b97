package coordinator

import (
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
)

// A domain gives way once it has had more than its share, the more of them the more, with all its hosts together, as long as what the others
// have is on the topic.
func TestSpread(t *testing.T) {
	t.Parallel()
	site := func(id uint32, name string, pages, relevant int64) *frontier.Task {
		return &frontier.Task{ID: id, Site: name, Counts: crawl.Counts{Fetched: pages, Relevant: relevant}}
	}
	for _, c := range []struct {
		name                string
		one, two, other     int64 // pages of two hosts of a domain, and of another site,
		relevant            int64 // of which so many are on the topic
		least, most, other1 float64
	}{
		{"few pages", 50, 0, 5, 5, 1, 1, 1},
		{"as many as others", 25, 0, 75, 20, 1, 1, 1700},
		{"half, and others have some", 30, 30, 60, 30, 6, 8, 8},
		{"most, and others have some", 80, 80, 40, 20, 20000, 23000, 1},
		{"most, and others have none", 80, 80, 160, 0, 1, 1.1, 7},
		{"all", 80, 80, 0, 0, 1e8, 1e9, 1},
	} {
		s := newSpread()
		a := site(1, "a.spam.test", c.one, c.one)
		b, o := site(2, "b.spam.test:8080", c.two, c.two), site(3, "other.test", c.other, c.relevant)
		for range 2 { // counted twice, but once
			s.take(a)
			s.take(b)
			s.take(o)
		}
		if x, y := s.by(a), s.by(b); x != y || x < c.least || x > c.most {
			t.Errorf("%s: divided by %v and %v, want %v to %v", c.name, x, y, c.least, c.most)
		}
		if x := s.by(o); x > c.other1 {
			t.Errorf("%s: the other one is divided by %v", c.name, x)
		}
	}
}

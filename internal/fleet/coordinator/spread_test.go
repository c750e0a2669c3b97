package coordinator

import (
	"math"
	"testing"

	"argosy/internal/fleet/frontier"
)

// spreadOf counts pages of tasks, in order: each with so many more pages, of which so many are on the topic.
type spreadOf struct {
	*spread
	tasks map[uint32]*frontier.Task
}

func newSpreadOf(sites ...string) *spreadOf {
	s := &spreadOf{tasks: map[uint32]*frontier.Task{}}
	s.spread = newSpread(func(id uint32) *frontier.Task { return s.tasks[id] })
	for i, name := range sites {
		s.tasks[uint32(i)+1] = &frontier.Task{ID: uint32(i) + 1, Site: name}
	}
	return s
}

func (s *spreadOf) had(id uint32, pages, relevant int64) {
	t := s.tasks[id]
	t.Fetched, t.Relevant = t.Fetched+pages, t.Relevant+relevant
	s.take(t)
	s.take(t) // counted twice, but once
}

// A domain gives way once it has had more than its share, the more of them the more, with all its hosts together, as long as what the others
// bring is on the topic.
func TestSpread(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                string
		one, two, other     int64 // pages of two hosts of a domain, and of another site,
		relevant            int64 // of which so many are on the topic
		least, most, other1 float64
	}{
		{"few pages", 50, 0, 5, 5, 1, 1, 1},
		{"as many as others", 25, 0, 75, 20, 1, 1, 1700},
		{"half, and others have some", 30, 30, 60, 30, 6, 8, 8},
		{"most, and others have some", 60, 60, 44, 20, 700, 900, 1},
		{"more than what is not due to others", 80, 80, 50, 0, 4e8, 5e8, 1},
		{"most, and others have none", 80, 80, 160, 0, 1, 1.1, 7},
		{"all", 80, 80, 0, 0, 4e8, 3e17, 1}, // it is nothing that the other one has had
	} {
		s := newSpreadOf("a.spam.test", "b.spam.test:8080", "other.test")
		s.had(3, c.other, c.relevant)
		s.had(1, c.one, c.one)
		s.had(2, c.two, c.two)
		if x, y := s.by(s.tasks[1]), s.by(s.tasks[2]); x != y || x < c.least || x > c.most {
			t.Errorf("%s: divided by %v and %v, want %v to %v", c.name, x, y, c.least, c.most)
		}
		if x := s.by(s.tasks[3]); x > c.other1 {
			t.Errorf("%s: the other one is divided by %v", c.name, x)
		}
	}
}

// Of several seeds' domains one by way of which most was found gives way, with all of that, as others do.
func TestSpreadOfASeed(t *testing.T) {
	t.Parallel()
	s := newSpreadOf("honest.test", "spam.test", "spam1.test", "spam2.test", "spam3.test")
	for id := uint32(3); id <= 5; id++ {
		s.tasks[id].From = 2
	}
	for range 20 {
		s.had(1, 4, 2)
		for id := uint32(3); id <= 5; id++ {
			s.had(id, 2, 2)
		}
	}
	if x := s.by(s.tasks[4]); x < 2 {
		t.Errorf("six in ten pages are by way of a seed's domain, divided by %v", x)
	}
	if x := s.by(s.tasks[1]); x > 10 {
		t.Errorf("the other seed is divided by %v", x)
	}
}

// Where two of four seeds are of one spam, each of which leaves to the other what is due to others, the other two have their shares all the same: of
// what is due to others each seed's domain has as much. One that has no more URLs keeps nobody from going on.
func TestSpreadOfSeeds(t *testing.T) {
	t.Parallel()
	s := newSpreadOf("a.test", "b.test", "spam.test", "spam1.test", "found.test")
	s.tasks[5].From = 3
	for id := uint32(1); id <= 5; id++ {
		s.had(id, 1, 1)
	}
	for n := int64(5); n < 2000; n++ {
		id, best := uint32(0), 0.0
		for c := uint32(1); c <= 5; c++ {
			if c == 2 {
				continue // it has none left
			}
			promise := 0.9 // of spam
			if c == 1 {
				promise = 0.01
			}
			if x := frontier.Lowered(promise-1e-6*float64(s.tasks[c].Fetched), s.by(s.tasks[c])); x > best {
				id, best = c, x
			}
		}
		if s.had(id, 1, min(1, int64(id/3))); n >= 2*spreadFrom {
			if got, want := s.tasks[1].Fetched, spreadDue(n)/4; got < want-1 || got > want+2 {
				t.Fatalf("of %d pages an honest seed has %d, want %d", n, got, want)
			}
		}
	}
}

// What was found by way of a domain gives way with it. Who named it does not, nor a seed's: what was found by way of that is the web itself.
func TestSpreadOfManyDomains(t *testing.T) {
	t.Parallel()
	s := newSpreadOf("seed.test", "honest.test", "spam0.test", "spam1.test", "spam2.test", "spam3.test", "found.test")
	for id, from := range map[uint32]uint32{2: 1, 3: 2, 4: 3, 5: 4, 6: 3, 7: 2} {
		s.tasks[id].From = from
	}
	for range 20 {
		s.had(1, 2, 1)
		s.had(2, 1, 1)
		s.had(7, 1, 1)
		for id := uint32(3); id <= 6; id++ {
			s.had(id, 3, 3)
		}
	}
	by := func(id uint32) float64 { return s.by(s.tasks[id]) }
	if by(1) != 1 || by(2) != 1 {
		t.Errorf("a seed's domain and the one that has named the others are divided by %v and %v", by(1), by(2))
	}
	if by(4) < 3*by(7) || by(5) < 3*by(7) || by(6) < 3*by(7) {
		t.Errorf("%v, %v and %v by way of the same, and %v by way of who has named that", by(4), by(5), by(6), by(7))
	}
	gave := s.gaveWay()
	if len(gave) != 1 || gave[0] != (GaveWay{"spam0.test", 3, 240, 240}) {
		t.Errorf("gave way: %+v", gave)
	}
}

// What is due to others they have though they bring nothing: nobody knows before. It is a quarter of the pages at first, and less of many.
func TestSpreadLooksElsewhere(t *testing.T) {
	t.Parallel()
	for _, rich := range []uint32{1, 3} { // a seed's domain, and what it has led to
		s := newSpreadOf("seed.test", "other.test", "found.test", "found2.test")
		s.tasks[3].From, s.tasks[4].From = 1, 1
		others := int64(0)
		for n := int64(0); n < 10_000; n++ {
			if id := rich + uint32(n%2)*(rich/3); s.by(s.tasks[2])*1e6 < s.by(s.tasks[id]) {
				others++
				s.had(2, 1, 0)
			} else {
				s.had(id, 1, 1)
			}
			if want := min(n/4, int64(5*math.Sqrt(float64(n)))); n >= 2*spreadFrom && (others < want-1 || others > want+2) {
				t.Fatalf("task %d: others have %d of %d pages, want %d", rich, others, n, want)
			}
		}
	}
}

// A domain that has brought nothing on the topic leaves others a half, until it has.
func TestSpreadBesideWords(t *testing.T) {
	t.Parallel()
	s := newSpreadOf("stuffed.test", "honest.test")
	others := int64(0)
	for n := int64(0); n < 400; n++ {
		if s.by(s.tasks[2])*1e6 < s.by(s.tasks[1]) {
			others++
			s.had(2, 1, 0)
		} else {
			s.had(1, 1, 0)
		}
		if want := (n + 1) / 2; n >= 2*spreadBarren && (others < want-1 || others > want) {
			t.Fatalf("others have %d of %d pages, want %d", others, n+1, want)
		}
	}
	if s.had(1, 0, 1); s.by(s.tasks[1]) > 1e3 {
		t.Errorf("divided by %v although it has a page on the topic", s.by(s.tasks[1]))
	}
}

// Nobody gives way for long to sites that cannot be reached: what has failed was looked at.
func TestSpreadBesideNobody(t *testing.T) {
	t.Parallel()
	s := newSpreadOf("large.test", "nobody.test")
	s.had(1, 90, 5)
	if x := s.by(s.tasks[1]); x < 1e6 {
		t.Errorf("divided by %v while nobody has looked at the other one", x)
	}
	s.tasks[2].Failed = 60
	s.take(s.tasks[2])
	if x := s.by(s.tasks[1]); x > 1.5 {
		t.Errorf("divided by %v though 60 pages of the other one could not be had", x)
	}
}

// A site that is about the topic gives way only as long as others bring pages on it: what they have brought long ago does not count.
func TestSpreadEnds(t *testing.T) {
	t.Parallel()
	s := newSpreadOf("rich.test", "small.test")
	s.had(2, 40, 20)
	s.had(1, 100, 80)
	if x := s.by(s.tasks[1]); x < 50 {
		t.Errorf("divided by %v while others bring pages on the topic", x)
	}
	for range 60 {
		s.had(2, 1, 0)
		s.had(1, 2, 2)
	}
	if x := s.by(s.tasks[1]); x > 1.2 {
		t.Errorf("divided by %v though others bring none any more", x)
	}
}

// Nobody gives way to pages on the topic where others have brought none.
func TestSpreadToNobody(t *testing.T) {
	t.Parallel()
	s := newSpreadOf("large.test", "other.test")
	s.had(2, 1, 0)
	for range 40 {
		s.had(1, 3, 0)
	}
	if gave := s.gaveWay(); len(gave) > 0 {
		t.Errorf("gave way to pages of others that nobody has had: %+v", gave)
	}
	s.had(2, 2, 1)
	if gave := s.gaveWay(); len(gave) != 1 {
		t.Errorf("gave way: %+v, want the large domain", gave)
	}
}

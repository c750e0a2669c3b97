package frontier

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
	"argosy/internal/page/topic"
	"argosy/internal/testkit/seeds"
)

// topical is a made-up site: pages on the topic mostly lie behind pages on the topic, and their links name a word that is not the topic's.
type topical struct {
	on    []bool
	links [][]int
	words []string // of the links to a page
	same  []bool   // all these pages say the same; nil: none
}

func newTopical(seed uint64, pages int) *topical {
	rng := rand.New(rand.NewPCG(seed, 1))
	w := &topical{on: make([]bool, pages), links: make([][]int, pages), words: make([]string, pages)}
	for i := range pages {
		w.on[i] = i > 0 && rng.IntN(10) == 0
		w.words[i] = fmt.Sprintf("word%d", rng.IntN(50))
		if w.on[i] && rng.IntN(4) > 0 {
			w.words[i] = "await"
		}
	}
	for i := range pages {
		for range 6 {
			j := rng.IntN(pages)
			for try := 0; w.on[i] && !w.on[j] && try < 4; try++ {
				j = rng.IntN(pages)
			}
			w.links[i] = append(w.links[i], j)
		}
		if i+1 < pages {
			w.links[i] = append(w.links[i], i+1)
		}
	}
	return w
}

func (w *topical) url(i int) string { return fmt.Sprintf("http://s.test/p%d", i) }

// played is what a crawl of a made-up site came to.
type played struct {
	order []int
	f     *Frontier
}

// harvest is how many of the first n pages are on the topic.
func (p *played) harvest(w *topical, n int) (on int) {
	for _, i := range p.order[:min(n, len(p.order))] {
		if w.on[i] {
			on++
		}
	}
	return on
}

// play crawls the site through the view alone, in leases of eight; with restarts the view is closed and opened before each.
func (w *topical) play(t *testing.T, restarts bool, change func(*crawl.Job)) *played {
	t.Helper()
	about, err := topic.Words("asynchronous iterators", "en")
	if err != nil {
		t.Fatal(err)
	}
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{
		Scope: crawl.ScopeSite, Seeds: []string{w.url(0)}, Topic: about, Order: crawl.OrderBest, Tunnel: -1,
	}}
	change(job)
	mem := vfs.NewMem()
	p := &played{f: open(t, mem)}
	walk := &walk{t: t, f: p.f}
	walk.apply(&crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
	walk.apply(&crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: job})
	for lease := uint64(1); ; lease++ {
		if restarts {
			if err := p.f.Close(); err != nil {
				t.Fatal(err)
			}
			p.f = open(t, mem)
			walk.f = p.f
		}
		targets, err := p.f.Next(1, 8)
		if err != nil {
			t.Fatal(err)
		}
		if len(targets) == 0 {
			break
		}
		walk.apply(&crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{{
			ID: lease, Job: 1, Task: 1, Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 100, Targets: targets,
		}}})
		part := crawl.Part{Lease: lease, Attempt: 1, Epoch: 1, Secret: "s", No: 1, Final: true}
		for _, g := range targets {
			i, err := strconv.Atoi(strings.TrimPrefix(g.URL, "http://s.test/p"))
			if err != nil {
				t.Fatal(err)
			}
			p.order = append(p.order, i)
			found, score := crawl.Found{Parent: g.Key, Score: 0.05}, float32(0.05)
			if w.on[i] {
				found.Score, score = 0.8, 0.8
			}
			for _, j := range w.links[i] {
				found.Links = append(found.Links, crawl.Link{URL: w.url(j), Anchor: w.words[j]})
			}
			o := crawl.Outcome{Key: g.Key, URL: g.URL, State: crawl.Fetched, Status: 200, HTML: true, Depth: g.Depth, Score: score}
			if w.on[i] {
				o.Said = uint64(i) + 2
			}
			if w.same != nil && w.same[i] {
				o.Said = 1
			}
			part.Found, part.Outcomes = append(part.Found, found), append(part.Outcomes, o)
		}
		walk.apply(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{part}})
	}
	return p
}

func soft(*crawl.Job) {}

// Best first finds more pages on the topic than breadth first at equal numbers of pages, more with what it learns than by rules, and
// every page once in the end.
func TestBestFirst(t *testing.T) {
	breadth, rules, learned := 0, 0, 0
	for seed := range seeds.Of(2, 50) {
		w := newTopical(seed, 1200)
		n := 300
		b := w.play(t, false, func(j *crawl.Job) { j.Identity.Order = crawl.OrderBreadth })
		r := w.play(t, false, func(j *crawl.Job) { j.Identity.ByRule = true })
		l := w.play(t, false, soft)
		for name, p := range map[string]*played{"breadth": b, "rules": r, "learned": l} {
			if got := slices.Compact(slices.Sorted(slices.Values(p.order))); len(p.order) != 1200 || len(got) != 1200 {
				t.Fatalf("seed %d, %s: %d pages, %d different", seed, name, len(p.order), len(got))
			}
			if c := p.f.Job(1).Totals; c.Pending() != 0 || c.Relevant == 0 || c.Relevant != int64(p.harvest(w, 1200)) {
				t.Errorf("seed %d, %s: counts %+v", seed, name, c)
			}
		}
		breadth, rules, learned = breadth+b.harvest(w, n), rules+r.harvest(w, n), learned+l.harvest(w, n)
	}
	t.Logf("of the first 300 pages of each site on the topic: %d breadth first, %d by rules, %d learned", breadth, rules, learned)
	if 10*rules < 15*breadth || 10*learned < 12*rules {
		t.Errorf("breadth first %d, by rules %d, learned %d", breadth, rules, learned)
	}
}

// A house of mirrors, one page on the topic under hundreds of URLs, does not keep a crawl from others once it is known that they say the same:
// who does not know has more of it, and fewer other pages. All of them are on the topic, and counted so.
func TestMirrorsAreOnePage(t *testing.T) {
	found := func(seed uint64, told bool) (others, copies int) {
		w := newTopical(seed, 1200)
		same := make([]bool, len(w.on))
		for i := 3; i < len(w.on); i += 3 {
			same[i], w.on[i], w.words[i] = true, true, "mirror"
			for k := range w.links[i] {
				w.links[i][k] -= w.links[i][k] % 3
			}
		}
		if told {
			w.same = same
		}
		p := w.play(t, false, soft)
		for _, i := range p.order[:300] {
			if same[i] {
				copies++
			} else if w.on[i] {
				others++
			}
		}
		want := int64(0)
		if told {
			want = int64(len(w.on)-1)/3 - 1 // all but the first
		}
		if task := p.f.Task(1); task.Copies != want || task.Hits() != task.Relevant-want {
			t.Errorf("told %v: %d pages on the topic, %d of them copies, want %d", told, task.Relevant, task.Copies, want)
		}
		return others, copies
	}
	for seed := range seeds.Of(2, 50) {
		fooled, many := found(seed, false)
		others, few := found(seed, true)
		if t.Logf("seed %d: %d others and %d copies, %d and %d who does not know", seed, others, few, fooled, many); others < 2*fooled || 2*few > many {
			t.Errorf("seed %d: %d others and %d copies, %d and %d who does not know", seed, others, few, fooled, many)
		}
	}
}

// A view that is opened anew before every lease gives the same order as one that stays open, and the same model.
func TestScoresSurviveRestarts(t *testing.T) {
	for seed := range seeds.Of(2, 50) {
		survives(t, newTopical(seed, 500))
	}
}

func survives(t *testing.T, w *topical) {
	t.Helper()
	a, b := w.play(t, false, soft), w.play(t, true, soft)
	if !slices.Equal(a.order, b.order) {
		t.Error("another order with restarts")
	}
	for _, p := range []*played{a, b} {
		if _, err := p.f.focused(p.f.Job(1)); err != nil {
			t.Fatal(err)
		}
	}
	x, y := a.f.Job(1).focus, b.f.Job(1).focus
	if x.links.Seen() < 400 || !bytes.Equal(x.links.Marshal(), y.links.Marshal()) || !slices.Equal(x.lessons, y.lessons) {
		t.Errorf("another model with restarts: %d and %d pages learned", x.links.Seen(), y.links.Seen())
	}
}

// A site's budget goes to its best pages; what is left is refused by name, and a higher budget lets it go on.
func TestBudgetGoesToTheBest(t *testing.T) {
	w := newTopical(4, 800)
	p := w.play(t, false, func(j *crawl.Job) { j.Limits.SitePages = 100 })
	c, task := p.f.Job(1).Totals, p.f.Task(1)
	if c.Fetched != 100 || c.Pending() != 0 || task.Reasons[string(crawl.ReasonSiteBudget)] != c.Excluded {
		t.Errorf("counts %+v, reasons %v", c, task.Reasons)
	}
	first := w.play(t, false, func(j *crawl.Job) { j.Limits.SitePages, j.Identity.Order = 100, crawl.OrderBreadth })
	if p.harvest(w, 100) <= first.harvest(w, 100) {
		t.Errorf("%d on the topic among the best hundred, %d among the first hundred", p.harvest(w, 100), first.harvest(w, 100))
	}
	walk := &walk{t: t, f: p.f, seq: p.f.Position().Seq}
	walk.limit(func(l *crawl.Limits) { l.SitePages = 0 })
	if c := p.f.Job(1).Totals; c.Pending() == 0 || c.Excluded != 0 {
		t.Errorf("without a budget: %+v", c)
	}
}

// chain plays pages in a row, of which some are on the topic, and returns those that were had.
func chain(t *testing.T, tunnel int, on ...bool) []int {
	t.Helper()
	w := &topical{on: on, links: make([][]int, len(on)), words: make([]string, len(on))}
	for i := range len(on) - 1 {
		w.links[i] = []int{i + 1}
	}
	return w.play(t, false, func(j *crawl.Job) { j.Identity.Tunnel = tunnel }).order
}

// So many pages in a row may be off the topic on the way to a page; one that is on it begins the count anew.
func TestTunnel(t *testing.T) {
	for _, c := range []struct {
		tunnel int
		on     []bool
		had    int
	}{
		{0, []bool{false, true, true}, 3},
		{0, []bool{false, false, true}, 2},
		{0, []bool{true, true, false, true}, 3},
		{1, []bool{false, true, false, true, false, false, true}, 6},
		{2, []bool{false, false, true, false, false, true}, 6},
		{2, []bool{false, false, false, true}, 4},
		{2, []bool{false, false, false, false, true}, 4},
		{-1, []bool{false, false, false, false, false, false, true}, 7},
	} {
		if had := chain(t, c.tunnel, c.on...); len(had) != c.had {
			t.Errorf("tunnel %d, %v: had %v, want %d pages", c.tunnel, c.on, had, c.had)
		}
	}
}

// A page that was refused because too many pages on the way to it were off the topic is had once a shorter way is found.
func TestAShorterTunnel(t *testing.T) {
	w := &topical{on: []bool{3: true, 5: true, 6: true}, links: [][]int{{1, 5}, {2}, {4}, {4}, nil, {6}, {3}}, words: make([]string, 7)}
	p := w.play(t, false, func(j *crawl.Job) { j.Identity.Tunnel = 1; j.Identity.Order = crawl.OrderBreadth })
	if !slices.Contains(p.order, 4) || len(p.order) != 7 || p.f.Job(1).Totals.Excluded != 0 {
		t.Errorf("had %v, counts %+v", p.order, p.f.Job(1).Totals)
	}
}

// Depth first goes to the deepest page that is known; of equal depth the last comes first.
func TestDepthFirst(t *testing.T) {
	j := &Job{Job: crawl.Job{Identity: crawl.Identity{Order: crawl.OrderDepth}}}
	a, b, c := j.place(&record{Depth: 1}, 7), j.place(&record{Depth: 2}, 3), j.place(&record{Depth: 2}, 4)
	if !(c < b && b < a) {
		t.Errorf("places %x, %x, %x", a, b, c)
	}
}

// What is said of links travels through the store; records without it are as they were.
func TestRecordsWithSigns(t *testing.T) {
	plain := record{State: crawl.Pending, URL: "http://s.test/", Depth: 3, Score: 0.25}
	if b := plain.encode(nil); b[0] != recordVersion {
		t.Errorf("version %d of a record without signs", b[0])
	}
	full := plain
	full.signs = signs{Off: 4, Page: 0.5, Around: "words around"}
	for _, r := range []record{plain, full} {
		got, err := decodeRecord(r.encode(nil))
		if err != nil || *got != r {
			t.Errorf("%+v, %v; want %+v", got, err, r)
		}
	}
	if _, err := decodeRecord(full.encode(nil)[:len(plain.encode(nil))+2]); err == nil {
		t.Error("a record cut short is taken")
	}
}

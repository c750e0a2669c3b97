package sim

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"argosy/internal/plan/learn"
	"argosy/internal/plan/predict"
	"argosy/internal/plan/strategy"
)

const second = 1000

// paths are of eight nodes to twelve sites, bits/s; a path's delay falls as its speed rises.
func paths() (speed [8][12]float64) {
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range speed {
		for j := range speed[i] {
			speed[i][j] = 1e6 * math.Exp(0.7*rng.NormFloat64())
		}
	}
	return speed
}

// recorded has each node work for a third of the sites in turn, over paths whose speed is another from half of the time on if moved.
func recorded(moved bool) (r Recording, speed [8][12]float64) {
	speed = paths()
	r = Recording{Strategy: "roundrobin", Left: map[string]float64{}, Lease: LeaseShape{Bits: 1000, Seconds: 5}, Widths: 1}
	for i := range speed {
		r.Nodes = append(r.Nodes, RecordedNode{ID: fmt.Sprint("n", i), Leases: 64})
	}
	for turn := range 12 {
		for j := range 12 {
			i := (2*j + 3*(turn%3)) % len(speed)
			bits, at := speed[i][j], int64(1e12+turn*5*second)
			if moved && turn >= 6 {
				bits = speed[(i+3)%len(speed)][(j+5)%12]
			}
			l := RecordedLease{Node: fmt.Sprint("n", i), Site: fmt.Sprint("s", j), Started: at, Ended: at + 5*second, Worked: 5, Asked: 50, Good: 50, Bits: 5 * bits}
			r.Leases = append(r.Leases, l)
			r.Facts = append(r.Facts, learn.Fact{At: at + second, Kind: learn.Delay, Node: l.Node, Site: l.Site, Seconds: 1e5 / bits})
			for k := range 5 {
				r.Facts = append(r.Facts, learn.Fact{At: at + int64(k+1)*second, Kind: learn.Report, Node: l.Node, Site: l.Site, Bits: bits, Seconds: 1, Good: 10, All: 10})
			}
		}
	}
	return r, speed
}

func tried(r *Recording) map[[2]int]bool {
	out := map[[2]int]bool{}
	for _, l := range r.Leases {
		var i, j int
		fmt.Sscanf(l.Node+l.Site, "n%ds%d", &i, &j)
		out[[2]int{i, j}] = true
	}
	return out
}

// Where neither speed nor delay of a pair is known, both are drawn, and go together as those that are known do: else a strategy that
// goes by delays would replay as if it drew lots.
func TestDrawnDelaysGoWithSpeeds(t *testing.T) {
	r, _ := recorded(false)
	known := tried(&r)
	var ms, bits []float64
	for seed := range uint64(8) {
		w, g, err := r.World(seed)
		if err != nil {
			t.Fatal(err)
		}
		if g.Tried != len(known) || g.Tried == g.Pairs {
			t.Fatalf("%+v", g)
		}
		for i := range w.Nodes {
			for j := range w.Sites {
				if !known[[2]int{i, j}] {
					ms, bits = append(ms, math.Log(w.Delay[i][j])), append(bits, math.Log(w.Speed[i][j]))
				}
			}
		}
	}
	if c := correlation(ms, bits); c > -0.5 {
		t.Errorf("correlation %.2f", c)
	}
}

// What a probe has told of a pair that no lease had is replayed, by as much faster as leases are than probes of the same pairs.
func TestProbesAreReplayed(t *testing.T) {
	r, speed := recorded(false)
	known, before := tried(&r), []learn.Fact(nil)
	for i := range speed {
		for j := range speed[i] {
			before = append(before, learn.Fact{At: 1e12, Kind: learn.Crawl, Node: fmt.Sprint("n", i), Site: fmt.Sprint("s", j), Bits: speed[i][j], Seconds: 1 / 0.7})
		}
	}
	r.Facts = append(before, r.Facts...)
	w, g, err := r.World(1)
	if err != nil {
		t.Fatal(err)
	}
	if g.Tried != g.Pairs {
		t.Errorf("%+v", g)
	}
	for i := range speed {
		for j := range speed[i] {
			if x := w.Speed[i][j] / speed[i][j]; !known[[2]int{i, j}] && math.Abs(x-1) > 0.05 {
				t.Errorf("n%d, s%d: %.2f of what it was", i, j, x)
			}
		}
	}
}

// What a node had that died stands still until nothing was heard of it for long enough, and so does what it was given since; a node that leaves
// gives back what it has.
func TestDeadNodesAreReplayed(t *testing.T) {
	had := map[bool]float64{}
	for _, dies := range []bool{false, true} {
		r, _ := recorded(false)
		r.Held = 70 * second
		for i := range r.Nodes {
			if r.Nodes[i].Came = 1e12; i < 6 {
				if r.Nodes[i].Gone = 1e12 + 20*second; dies {
					r.Nodes[i].Died = 1e12 + 5*second
				}
			}
		}
		w, _, err := r.World(1)
		if err != nil {
			t.Fatal(err)
		}
		st, err := strategy.New("roundrobin")
		if err != nil {
			t.Fatal(err)
		}
		x, err := Replay(w, st)
		if err != nil {
			t.Fatal(err)
		}
		had[dies] = x.Seconds
	}
	if late := had[true] - had[false]; late < 30 || late > 160 {
		t.Errorf("all is had after %v s where six of eight nodes leave, %v s where they die", had[false], had[true])
	}
}

// A node that a site refuses has its probes answered at once, and with next to nothing: its replayed probe takes no longer, and one of another
// node fetches what the site's root page is.
func TestRefusedProbesAreReplayed(t *testing.T) {
	r, _ := recorded(false)
	const root, refused = 3 * 200_000, 3 * 1000
	for i, n := range r.Nodes {
		bits, seconds := float64(root), 0.6
		if i == 1 {
			bits, seconds = refused, 0.3
		}
		r.Facts = append([]learn.Fact{{At: 1e12, Kind: learn.Crawl, Node: n.ID, Site: "s0", Bits: bits, Seconds: seconds}}, r.Facts...)
	}
	w, _, err := r.World(1)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]float64{0: root / 3, 1: refused / 3} {
		if got := w.root(i, 0); math.Abs(got-want) > 1 {
			t.Errorf("node %d: %v bits a root page, want %v", i, got, want)
		}
	}
	if got := w.root(1, 1); got < 1e5 {
		t.Errorf("a pair that was not probed: %v bits a root page", got)
	}
	if took := crawlSeconds(&w, 1, 0); took > 2 {
		t.Errorf("the probe that was refused takes %v s", took)
	}
}

// A pair whose probes were refused is shut out in the replay, too, and nobody learns a speed of it there.
func TestRefusalsAreReplayed(t *testing.T) {
	r, _ := recorded(false)
	known := tried(&r)
	node := slices.IndexFunc(r.Nodes, func(n RecordedNode) bool {
		var i int
		fmt.Sscanf(n.ID, "n%d", &i)
		return !known[[2]int{i, 0}]
	})
	r.Facts = append(r.Facts, learn.Fact{At: 1e12, Kind: learn.Refused, Node: r.Nodes[node].ID, Site: "s0", All: 3})
	w, _, err := r.World(1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range w.Nodes {
		if got, want := w.Success[i][0], 1.0; i == node && got != 0 || i != node && got != want {
			t.Errorf("%s has %v of its pages of s0", w.Nodes[i].ID, got)
		}
	}
}

// Pairs that probes alone have told of are as fast as they are, also where leases came before the probes: what probes wait is known from
// the pairs that both have told of.
func TestReplayedProbesDoNotWait(t *testing.T) {
	for _, waits := range []waited{{0, false}, {0.1, false}, {2, true}} {
		r, speed := recorded(false)
		const bits = 3e5
		for i := range speed {
			for j, s := range speed[i] {
				r.Facts = append(r.Facts, learn.Fact{At: 1e12 + 59*second, Kind: learn.Crawl, Node: fmt.Sprint("n", i), Site: fmt.Sprint("s", j), Bits: bits, Seconds: bits/s + waits.of(1e5/s)},
					learn.Fact{At: 1e12 + 59*second, Kind: learn.Delay, Node: fmt.Sprint("n", i), Site: fmt.Sprint("s", j), Seconds: 1e5 / s})
			}
		}
		w, guess, err := r.World(1)
		if err != nil || guess.Tried != guess.Pairs {
			t.Fatalf("%d of %d pairs were tried (%v)", guess.Tried, guess.Pairs, err)
		}
		leased := tried(&r)
		for i := range speed {
			for j, want := range speed[i] {
				if got := w.Speed[i][j]; !leased[[2]int{i, j}] && math.Abs(got/want-1) > 0.02 {
					t.Errorf("probes wait %+v: the pair of node %d and site %d has %.3g bits/s, want %.3g", waits, i, j, got, want)
				}
			}
		}
	}
}

// A probe that a site refuses tells that, and no speed: where it was asked three times it is known that it has nothing for the node. What a node
// that has died is sent to measure tells nothing at all, and takes the site until nothing was heard of the node for long enough.
func TestWhatProbesTell(t *testing.T) {
	for name, c := range map[string]struct {
		success float64
		dies    int64
		rates   bool // a speed is known after it
		refused bool // and that the site shuts the node out
	}{
		"served": {1, 0, true, false}, "shut out": {0, 0, false, true}, "on a dead node": {1, 1, false, false}, "under way as it dies": {1, 10 * second, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := World{
				Horizon: 60 * second, Page: 1e6, Root: 1e7, Held: 20 * second, Sites: []Site{{Name: "s0"}}, Nodes: []Node{{ID: "n0", Slots: 2, Dies: c.dies}},
				Speed: [][]float64{{1e6}}, Success: [][]float64{{c.success}},
			}
			e := newEngine(w, strategyOf(t, "flow"), 1, false)
			e.start()
			e.now = second
			e.queue = nil
			e.probe(0, 0)
			if c.dies > e.now {
				e.push(c.dies, evDie, 0, 0)
			}
			ended := int64(0)
			for len(e.queue) > 0 && ended == 0 {
				ev := heap.Pop(&e.queue).(event)
				if e.now = ev.at; ev.kind == evCycle {
					continue
				}
				if err := e.handle(ev); err != nil {
					t.Fatal(err)
				}
				if e.held(0) == 0 {
					ended = e.now
				}
			}
			if want := max(second, c.dies) + w.Held; c.dies > 0 && ended != want {
				t.Errorf("it ends at %d ms, want %d", ended, want)
			}
			if got := e.book.Rate(0, 0, e.now).Source == predict.Measured; got != c.rates {
				t.Errorf("a speed is known: %v, want %v", got, c.rates)
			}
			if _, all := e.book.Served(0, 0, e.now); all > 0 != c.refused {
				t.Errorf("%v requests are known, want %v", all, c.refused)
			}
		})
	}
}

// crawlSeconds is how long a probe of a pair takes alone.
func crawlSeconds(w *World, node, site int) float64 {
	return 3 * w.root(node, site) / w.Speed[node][site]
}

// Where the pairs that were tried before and after a time have all moved, those that were not tried since may have, too, and before it not. What one
// pair alone moves by, and what a change is told in more figures than one, changes nothing of that.
func TestMovesHappenTogether(t *testing.T) {
	var told [][]figure
	for i := range 20 {
		var of []figure
		for k := range 30 {
			ln := 0.05 * float64((i+k)%3)
			switch to := float64(i%5) - 2; {
			case k == 15 && i%2 == 0: // half of the way is told first
				ln += to / 2
			case k >= 15:
				ln += to
			}
			if i == 3 && k > 7 {
				ln += 5
			}
			of = append(of, figure{k, ln})
		}
		told = append(told, of)
	}
	forgets, level := moves(told, 30, 4, 1)
	if before, then, after := forgets[12], forgets[18]-forgets[12], forgets[29]-forgets[18]; then < 1 || before > 0.1 || after > 0.1 {
		t.Errorf("what is forgotten grows by %.2f, %.2f and %.2f", before, then, after)
	}
	if math.Abs(level[29]) > 0.3 {
		t.Errorf("all are faster by %.2f", level[29])
	}
}

// Sites whose servers differ a hundredfold, each as fast for every node: what was tried of a site tells what its other pairs are like.
func TestUnequalSitesAreReplayed(t *testing.T) {
	r := Recording{Strategy: "random", Left: map[string]float64{}, Lease: LeaseShape{Bits: 1000, Seconds: 5}, Widths: 1}
	for i := range 4 {
		r.Nodes = append(r.Nodes, RecordedNode{ID: fmt.Sprint("n", i), Leases: 64})
	}
	speed := func(j int) float64 { return 1e5 * math.Pow(100, float64(j)/11) }
	for turn := range 2 { // of the four nodes two
		for j := range 12 {
			l := RecordedLease{Node: fmt.Sprint("n", (j+turn)%4), Site: fmt.Sprint("s", j), Started: 1e12 + int64(turn*5*second), Worked: 5, Asked: 50, Good: 50, Bits: 5 * speed(j)}
			l.Ended = l.Started + 5*second
			r.Leases = append(r.Leases, l)
			r.Facts = append(r.Facts, learn.Fact{At: l.Ended, Kind: learn.Report, Node: l.Node, Site: l.Site, Bits: l.Bits, Seconds: 5, Good: 50, All: 50})
		}
	}
	for seed := range uint64(4) {
		w, _, err := r.World(seed)
		if err != nil {
			t.Fatal(err)
		}
		for i := range w.Nodes {
			for j := range w.Sites {
				var site int
				fmt.Sscanf(w.Sites[j].Name, "s%d", &site)
				if off := math.Abs(math.Log(w.Speed[i][j] / speed(site))); off > 0.5 {
					t.Errorf("seed %d, %s at %s: e^%.2f off what the site gives all nodes", seed, w.Nodes[i].ID, w.Sites[j].Name, off)
				}
			}
		}
	}
}

// A part of a report tells of the pages that have ended in it: one without any and one with many are one speed.
func TestPartsTellTogether(t *testing.T) {
	r, speed := recorded(false)
	for i := range r.Facts { // what four parts of five have brought is told with the last
		f := &r.Facts[i]
		if f.Kind != learn.Report {
			continue
		}
		if f.Bits, f.Good, f.All = 5*f.Bits, 50, 50; f.At%(5*second) != 0 {
			f.Bits, f.Good, f.All = 0, 0, 0
		}
	}
	r.Widths = 4
	w, _, err := r.World(1)
	if err != nil {
		t.Fatal(err)
	}
	known := tried(&r)
	for i := range speed {
		for j := range speed[i] {
			if x := w.Speed[i][j] / speed[i][j]; known[[2]int{i, j}] && math.Abs(x-1) > 0.02 {
				t.Errorf("n%d, s%d: %.2f of what it was", i, j, x)
			}
		}
	}
}

// The pause of a site is what makes its requests, of which some take longer than it and some do not, last as long as they did.
func TestPausesAreFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, mean := range []float64{0.05, 0.2, 1} {
		const pause, requests, varies = 0.2, 2000, 0.6
		s := pieceSite{asked: requests, varies: varies}
		for range requests {
			took := mean * math.Exp(varies*rng.NormFloat64()-varies*varies/2)
			s.worked, s.wall = s.worked+took, s.wall+max(pause, took)
		}
		s.leases = []RecordedLease{{Asked: requests, Worked: s.worked}}
		for _, asks := range []float64{0.05, 5} { // its job; of the second one a rule says that this site may be asked more often
			if got := s.gap(asks); math.Abs(got-pause) > 0.03 {
				t.Errorf("requests of %v s on average, %v s apart: %.3f s", mean, pause, got)
			}
		}
		if got := s.gap(0.22); got < 0.22 && s.wall/requests > 0.22 {
			t.Errorf("requests of %v s on average: %.3f s, where the job asks for 0.22", mean, got)
		}
	}
}

// A probe takes as long as it did: it waits for each answer, and for the site's pauses, and tells of both what a recorded one told.
func TestReplayedProbesTakeTheirTime(t *testing.T) {
	for _, c := range []struct{ wait, gap, want float64 }{{0, 0, 3}, {0.9, 0, 3.9}, {0, 2, 6}, {0.9, 1.2, 3.9}, {0.9, 5, 15}, {-1.5, 0, 1.5}} {
		w := World{
			Horizon: 60 * second, Page: 1e5, Root: 1e6, Sites: []Site{{Name: "s0", Gap: c.gap}}, Nodes: []Node{{ID: "n0", Slots: 2}}, Speed: [][]float64{{1e6}}, Waits: [][]float64{{c.wait}},
		}
		e := newEngine(w, strategyOf(t, "flow"), 1, false)
		e.start()
		e.probe(0, 0)
		for e.held(0) > 0 {
			ev := heap.Pop(&e.queue).(event)
			if e.now = ev.at; ev.kind == evCycle || ev.kind == evReady {
				continue
			}
			if err := e.handle(ev); err != nil {
				t.Fatal(err)
			}
		}
		if got := float64(e.now) / second; math.Abs(got-c.want) > 0.01 {
			t.Errorf("waiting %v s, %v s apart: it takes %v s, want %v", c.wait, c.gap, got, c.want)
		}
		if got, want := e.learned.Record().Book(predict.Config{}).Crawl(0, 0, e.now).Value, 3e6/(3+c.wait); math.Abs(got/want-1) > 0.01 {
			t.Errorf("waiting %v s, %v s apart: BC is %.4g bits/s, want %.4g", c.wait, c.gap, got, want)
		}
	}
}

// A run ends when what is wanted has been told of, as a recording tells of it, and not when it is had.
func TestTargetsAreToldOf(t *testing.T) {
	for part, want := range map[int64]int64{0: 10 * second, 1000: 3 * second, 4000: 4 * second} {
		w := World{
			Horizon: 60 * second, Page: 1e4, Nodes: []Node{{ID: "n", Slots: 1}}, Sites: []Site{{Name: "s"}}, Speed: [][]float64{{1e6}},
			Lease: LeaseShape{Bits: math.MaxFloat64, Seconds: 10}, Part: part, Target: 2.5e6,
		}
		x, err := RunBound(w, strategyOf(t, "random"), 1, false)
		if err != nil || math.Abs(float64(x.Reached-want)) > 10 {
			t.Errorf("told every %d ms: reached after %d ms, want %d (%v)", part, x.Reached, want, err)
		}
	}
}

// How far pairs move is found whatever the noise: of normal moves their variance, and none where nothing moves.
func TestMovesAreAsFarAsTheyAre(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, want := range []float64{0, 0.5, 2} {
		const noise, pairs, n, change = 0.1, 400, 20, 12
		var told [][]figure
		for range pairs {
			var of []figure
			moved := math.Sqrt(want) * rng.NormFloat64()
			for k := range n {
				ln := noise * rng.NormFloat64()
				if k >= change {
					ln += moved
				}
				of = append(of, figure{k, ln})
			}
			told = append(told, of)
		}
		forgets, level := moves(told, n, 3, 2)
		then := 4 * (1 - math.Exp(forgets[change-1]-forgets[change]))
		if rest := forgets[n-1] - forgets[change] + forgets[change-1]; math.Abs(then-want) > 0.2*want+0.02 || rest > 0.05 || math.Abs(level[n-1]) > 0.1 {
			t.Errorf("links move by a variance of %v: found %.3f, %.3f forgotten at other times, and all faster by %.2f", want, then, rest, level[n-1])
		}
	}
}

// Pairs that nobody tried since all links changed may have changed, too, also where the last of them was asked a moment before that.
func TestChangesAreFoundWhereTheyAre(t *testing.T) {
	r, speed := recorded(true)
	const changed = 30
	late := func(site string) bool { return site == "s3" || site == "s7" }
	r.Leases = slices.DeleteFunc(r.Leases, func(l RecordedLease) bool { return late(l.Site) && l.Started >= 1e12+changed*second })
	r.Facts = slices.DeleteFunc(r.Facts, func(f learn.Fact) bool { return late(f.Site) && f.At > 1e12+changed*second })
	for i := range r.Leases { // the first turn begins three seconds earlier
		if l := &r.Leases[i]; l.Started == 1e12 {
			l.Started -= 3 * second
		}
	}
	const seeds = 20
	var before, after float64
	n := 0.0
	for seed := range uint64(seeds) {
		w, _, err := r.World(seed)
		if err != nil {
			t.Fatal(err)
		}
		w.copied()
		at := func(until int64) (off float64) {
			for _, c := range w.Changes {
				if c.At <= until*second {
					c.Apply(&w)
				}
			}
			for j := range w.Sites {
				for i := range w.Nodes {
					if turn := (i - 2*j) & 7; late(w.Sites[j].Name) && (turn == 6) { // asked last before the change: the third turn's node
						off += math.Abs(math.Log(w.Speed[i][j] / speed[i][j]))
						if until > changed {
							n++
						}
					}
				}
			}
			return off
		}
		before += at(changed + 3 - 1)
		after += at(changed + 3 + 4)
	}
	if before/n > 0.02 || after/n < 0.2 {
		t.Errorf("ln speeds are %.3f off what they were before the change, %.3f after it (%v pairs)", before/n, after/n, n)
	}
}

// While nobody looks a pair is what it was until links change, what it will be from then on, and in between two changes anything.
func TestPairsMoveWhenLinksDo(t *testing.T) {
	const n, seeds = 30, 400
	x := &piecePair{bits: make([]float64, n), seconds: make([]float64, n)}
	set := func(k int, ln float64) { x.bits[k], x.seconds[k] = math.Exp(ln), 1 }
	set(2, 10)
	set(27, 14)
	for _, c := range []struct {
		changes       []int
		middle, sigma float64 // of pieces 12 to 17: mean and standard deviation
	}{{nil, 10, 0}, {[]int{20}, 10, 0}, {[]int{5}, 14, 0}, {[]int{8, 20}, 12, 1}} {
		d := &drawing{p: &pieces{n: n}, forgets: make([]float64, n), level: make([]float64, n)}
		for _, at := range c.changes {
			for k := at; k < n; k++ {
				d.forgets[k] += 20 // all
			}
		}
		sum, square := 0.0, 0.0
		for seed := range uint64(seeds) {
			d.rng = rand.New(rand.NewPCG(seed, 1))
			l := line{d: d, mean: 12, spread: 1, ln: make([]float64, n), most: 30}
			l.fill(x, 0)
			if math.Abs(l.ln[2]-10) > 1e-9 || math.Abs(l.ln[27]-14) > 1e-9 || math.Abs(l.ln[0]-10) > 1e-9 || math.Abs(l.ln[29]-14) > 1e-9 {
				t.Fatalf("changes at %v: %v at both ends", c.changes, l.ln)
			}
			for k := 13; k < 17; k++ {
				if l.ln[k] != l.ln[12] {
					t.Fatalf("changes at %v: it moves where nothing changes: %v", c.changes, l.ln[12:17])
				}
			}
			sum, square = sum+l.ln[12]/seeds, square+l.ln[12]*l.ln[12]/seeds
		}
		if sd := math.Sqrt(max(0, square-sum*sum)); math.Abs(sum-c.middle) > 0.2 || math.Abs(sd-c.sigma) > 0.15 {
			t.Errorf("changes at %v: %.2f ± %.2f in the middle, want %v ± %v", c.changes, sum, sd, c.middle, c.sigma)
		}
	}
}

// Links that have become faster for all are found so, also where only the fastest were looked at, which are as fast as any after they have changed; and where
// nothing is faster, those are not taken for links that have become slower.
func TestFasterForAllIsFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, want := range []float64{-0.5, 0, 0.7} {
		const pairs, n, change = 300, 24, 12
		var told [][]figure
		for range pairs {
			before, after := rng.NormFloat64(), rng.NormFloat64()+want
			if before < 0.5 { // nobody looks at it
				continue
			}
			told = append(told, changing(rng, before, after, n, change))
		}
		if _, level := moves(told, n, 3, 1); math.Abs(level[n-1]-want) > 0.25 || level[change-1] != 0 {
			t.Errorf("all are faster by %.2f, want %v", level[n-1], want)
		}
	}
}

package schedule

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/plan/predict"
)

// fleet is a snapshot of nodes and waiting sites with a book that knows nothing yet.
func fleet(nodes, sites int) *Snapshot {
	s := &Snapshot{Now: 1000, PerSite: 1, Book: predict.New(predict.Config{}), LeaseSeconds: 30}
	for i := range nodes {
		id := fmt.Sprintf("n%02d", i)
		s.Nodes = append(s.Nodes, Node{ID: id, Capacity: sites, Book: s.Book.Node(id)})
	}
	for j := range sites {
		name := fmt.Sprintf("s%02d", j)
		s.Tasks = append(s.Tasks, Task{ID: uint32(j + 1), Site: name, Book: s.Book.Site(name)})
	}
	return s
}

// Every pair is probed once, a site by one node at a time, and no node by many more sites at a time than its share.
func TestProbesOfAllPairsAreSpread(t *testing.T) {
	for _, size := range [][2]int{{3, 7}, {5, 20}, {8, 3}, {1, 4}} {
		s := fleet(size[0], size[1])
		done := map[[2]int]bool{}
		probed := func(site, node int, _ bool) bool { return done[[2]int{site, node}] }
		for round := range size[0] {
			p, _ := PlanProbes(s, Probing{Measures: Measures{Crawl: All, Asked: true}, Done: probed})
			if err := Verify(s, p); err != nil {
				t.Fatal(err)
			}
			of := make([]int, size[0])
			for _, a := range p.Assignments {
				of[a.Node]++
				pair := [2]int{s.Tasks[a.Task].Book, s.Nodes[a.Node].Book}
				if done[pair] {
					t.Fatalf("%v is probed twice", pair)
				}
				done[pair] = true
			}
			if len(p.Assignments) != size[1] {
				t.Errorf("%v, round %d: %d probes", size, round, len(p.Assignments))
			}
			for n, k := range of {
				if k > (size[1]+size[0]-1)/size[0]+1 {
					t.Errorf("%v, round %d: node %d probes %d sites at once", size, round, n, k)
				}
			}
		}
		if p, _ := PlanProbes(s, Probing{Measures: Measures{Crawl: All, Asked: true}, Done: probed}); len(done) != size[0]*size[1] || len(p.Assignments) > 0 {
			t.Errorf("%v: %d pairs probed, then %d more", size, len(done), len(p.Assignments))
		}
	}
}

// The mean of what a log-normal figure is above a threshold, against draws.
func TestImprovement(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, x := range [][3]float64{{1, 0.5, 1}, {0.5, 0.8, 1}, {2, 0.3, 1}, {1, 0, 2}, {3, 0, 2}} {
		sum := 0.0
		const n = 400_000
		for range n {
			sum += max(0, x[0]*math.Exp(x[1]*r.NormFloat64())-x[2]) / n
		}
		if got := improvement(x[0], x[1], x[2], 0); math.Abs(got-sum) > 0.005 {
			t.Errorf("%v: %.4f, mean of draws %.4f", x, got, sum)
		}
	}
}

// What is said to be next to nothing, or not above a threshold, without its being worked out, is so; and a figure given by its mean is the
// same as by its median.
func TestImprovementIsLeftOut(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	left, all := 0, 0
	for range 200_000 {
		m, sigma, a, least := math.Exp(2*r.NormFloat64()), 0.02+r.Float64(), math.Exp(2*r.NormFloat64()), 0.3*r.Float64()*r.Float64()
		d := math.Log(m/a) / sigma
		x := beyond(m*math.Exp(sigma*sigma/2), d, sigma, a)
		nothing := a * math.Exp(-hopeless*hopeless/2)
		switch got := improvement(m, sigma, a, least); {
		case got == 0 && x > max(least, nothing):
			t.Fatalf("%g, %g, %g: nothing above %g, but it is %g", m, sigma, a, least, x)
		case got == 0:
			left++
		case got != x:
			t.Fatalf("%g, %g, %g: %g, want %g", m, sigma, a, got, x)
		}
		mean := improvementOfMean(m*math.Exp(sigma*sigma/2), sigma, a)
		if same := improvement(m, sigma, a, 0); math.Abs(mean-same) > 1e-9*(mean+same)+nothing {
			t.Fatalf("%g, %g, %g: %g by the median, %g by the mean", m, sigma, a, same, mean)
		}
		if r := m / a; r < 1 && lnAtMost(r) < math.Log(r)*(1+1e-12) {
			t.Fatalf("the logarithm of %g is %g, which is above %g", r, math.Log(r), lnAtMost(r))
		}
		all++
	}
	if left < all/10 || left > all*9/10 {
		t.Errorf("%d of %d are left out", left, all)
	}
}

// The mean of a figure above a bound, where no more than another counts, is that of draws.
func TestBetween(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, x := range [][4]float64{{1, 0.5, 1, 2}, {1, 0.8, 0, 1.5}, {2, 0.3, 2.5, 2.2}, {1, 0, 0.5, 0.7}, {1, 0.7, 0.4, math.Inf(1)}} {
		sum := 0.0
		const n = 400_000
		for range n {
			sum += max(0, min(x[0]*math.Exp(x[1]*r.NormFloat64()), x[3])-x[2]) / n
		}
		if got := between(x[0], x[1], x[2], x[3], 0); math.Abs(got-sum) > 0.006 {
			t.Errorf("%v: %.4f, mean of draws %.4f", x, got, sum)
		}
	}
}

// A pair is probed when it costs less than a lease on it would, and what it brings meanwhile.
func TestProbesAreWorthIt(t *testing.T) {
	none := func(int, int, bool) bool { return false }
	s := fleet(2, 2)
	s.LeaseSeconds = 0.1
	if p, _ := PlanProbes(s, Probing{Measures: Measures{Crawl: Worth}, Done: none}); len(p.Assignments) != 0 {
		t.Errorf("%v where a lease takes no longer than a probe", p.Assignments)
	}
	s.LeaseSeconds = 30
	if p, _ := PlanProbes(s, Probing{Measures: Measures{Crawl: Worth}, Done: none}); len(p.Assignments) != 2 {
		t.Errorf("nothing is known: %v, but the nodes may differ", p.Assignments)
	}
	few := fleet(2, 20)
	for n := range few.Nodes {
		few.Nodes[n].Offer[Bandwidth] = 1e6
	}
	if p, _ := PlanProbes(few, Probing{Measures: Measures{Crawl: Worth}, Done: none}); len(p.Assignments) != 2 {
		t.Errorf("nothing is known of how fast paths are: %v, but the nodes' own bandwidth is what they would tell", p.Assignments)
	}
	for _, site := range []int{0, 1} { // node 0 is known everywhere, of node 1 it is known that it is slower
		for range 4 {
			s.Book.Reported(0, site, predict.Report{Bits: 1e8, Seconds: 10, Good: 100, All: 100}, 900)
		}
	}
	for range 4 {
		s.Book.Reported(1, 0, predict.Report{Bits: 4e7, Seconds: 10, Good: 40, All: 40}, 900)
	}
	s.Book.Fit()
	p, _ := PlanProbes(s, Probing{Measures: Measures{Crawl: Worth}, Done: none})
	if len(p.Assignments) != 1 || p.Assignments[0] != (Assignment{Task: 1, Node: 1}) {
		t.Errorf("%v, want site 2 probed by node 2", p.Assignments)
	}
	s.Tasks[1].Gap = 1 // slower than any node: knowing the node brings nothing
	if p, _ := PlanProbes(s, Probing{Measures: Measures{Crawl: Worth}, Done: none}); len(p.Assignments) != 0 {
		t.Errorf("%v of a site whose pauses are the limit", p.Assignments)
	}
	s.Tasks[1].Gap = 0
	s.Tasks[1].Bits = 1e6 // the site has next to nothing left
	if p, _ := PlanProbes(s, Probing{Measures: Measures{Crawl: Worth}, Done: none}); len(p.Assignments) != 0 {
		t.Errorf("%v of a site that is nearly done", p.Assignments)
	}
	s.LeaseSeconds, s.Tasks[1].Bits = 1, 5e7 // and where it has several short leases left
	if p, _ := PlanProbes(s, Probing{Measures: Measures{Crawl: Worth}, Done: none}); len(p.Assignments) != 0 {
		t.Errorf("%v of a site that is done in a few seconds", p.Assignments)
	}
}

// A probe costs the place that it takes, and the bandwidth of its node: where a lease there brings more, or all bandwidth is sold at what it brings,
// none is made.
func TestProbesPayForWhatIsScarce(t *testing.T) {
	none := func(int, int, bool) bool { return false }
	s := fleet(3, 9)
	for _, price := range []struct {
		place     float64 // Mbit/s, where pairs are thought to have eight
		bandwidth float64 // useful Mbit for one that a node carries
		want      int
	}{{0, 0, 9}, {300, 0, 0}, {0, 0.9999, 0}} {
		s.Memory = &Memory{Slots: map[string]float64{}, Bandwidth: map[string]float64{}}
		for i := range s.Nodes {
			s.Memory.Slots[s.Nodes[i].ID], s.Memory.Bandwidth[s.Nodes[i].ID] = price.place, price.bandwidth
		}
		if p, _ := PlanProbes(s, Probing{Measures: Measures{Crawl: Worth}, Done: none}); len(p.Assignments) != price.want {
			t.Errorf("%d probes where a place is worth %v Mbit/s and bandwidth %v, want %d", len(p.Assignments), price.place, price.bandwidth, price.want)
		}
	}
}

// What a crawl that has just begun would only have of a probe in half an hour is not measured: most are over by then.
func TestProbesAreOfUseAsLongAsCrawlsGoOn(t *testing.T) {
	s := fleet(2, 2)
	s.LeaseSeconds = 500
	for j := range s.Tasks {
		s.Tasks[j].Bits = math.Inf(1)
		for range 4 {
			s.Book.Reported(0, j, predict.Report{Bits: 8e7, Seconds: 10, Good: 10, All: 10}, 900)
		}
	}
	s.Book.Crawled(0, 0, 3*2e8, 75, false, 900) // root pages are large
	s.Book.Fit()
	for _, ran := range []struct {
		seconds float64
		want    int
	}{{0, 0}, {1800, 2}} {
		s.Ran = ran.seconds
		if p, _ := PlanProbes(s, Probing{Measures: Measures{Crawl: Worth}, Done: func(int, int, bool) bool { return false }}); len(p.Assignments) != ran.want {
			t.Errorf("%d probes after %v s, want %d", len(p.Assignments), ran.seconds, ran.want)
		}
	}
}

// Where all nodes seem alike each probes as many sites as the others.
func TestProbesThatAreWorthItAreSpread(t *testing.T) {
	s := fleet(4, 20)
	p, _ := PlanProbes(s, Probing{Measures: Measures{Crawl: Worth}, Done: func(int, int, bool) bool { return false }})
	of := make([]int, len(s.Nodes))
	for _, a := range p.Assignments {
		of[a.Node]++
	}
	for n, k := range of {
		if k != 5 {
			t.Errorf("node %d probes %d of 20 sites: %v", n, k, of)
		}
	}
}

// What a probe costs goes by what probes have fetched: where root pages are small it is worth it to try another node before a lease of some
// seconds, and where they are large it is not.
func TestProbesCostWhatTheyFetch(t *testing.T) {
	for root, want := range map[float64]int{2e4: 1, 5e5: 0} {
		s := fleet(4, 8)
		s.LeaseSeconds = 5
		for j := range 8 {
			s.Book.Crawled(j%4, j, crawl.ProbeTries*root, crawl.ProbeTries*root/(5e5*math.Exp(float64(j%3-1)/2)), false, 900)
		}
		s.Book.Fit()
		s.Tasks = s.Tasks[:1]
		if p, _ := PlanProbes(s, Probing{Measures: Measures{Crawl: Worth}, Done: func(int, int, bool) bool { return false }}); len(p.Assignments) != want {
			t.Errorf("root pages of %.0f bits: %d probes, want %d", root, len(p.Assignments), want)
		}
	}
}

// One node measures nothing by itself: there is nothing to choose.
func TestOneNodeIsNotProbed(t *testing.T) {
	none := func(int, int, bool) bool { return false }
	if p, _ := PlanProbes(fleet(1, 4), Probing{Measures: Measures{Crawl: All, Delay: All}, Done: none}); len(p.Assignments) > 0 {
		t.Errorf("%v", p.Assignments)
	}
}

// Delays come before bandwidth; landmarks take turns with the sites, so that none of them is asked by two at a time.
func TestPingsOfLandmarksAreSpread(t *testing.T) {
	s := fleet(5, 8)
	done := map[[3]int]bool{}
	key := func(site, node int, ping bool) [3]int {
		if ping {
			return [3]int{site, node, 1}
		}
		return [3]int{site, node, 0}
	}
	by := Probing{
		Measures: Measures{Delay: Landmark, Crawl: All}, Marks: []int{0, 2, 3},
		Done: func(site, node int, ping bool) bool { return done[key(site, node, ping)] },
	}
	for round := range 3 {
		p, ping := PlanProbes(s, by)
		of := make([]int, 5)
		for k, a := range p.Assignments {
			if !ping[k] {
				t.Errorf("round %d: bandwidth before delay", round)
			}
			of[a.Node]++
			done[key(s.Tasks[a.Task].Book, s.Nodes[a.Node].Book, true)] = true
		}
		if len(p.Assignments) != 8 || of[1]+of[4] > 0 || max(of[0], of[2], of[3]) > 4 {
			t.Errorf("round %d: %v", round, of)
		}
	}
	if p, ping := PlanProbes(s, by); len(p.Assignments) != 8 || ping[0] {
		t.Errorf("then %d probes, the first a ping: %v", len(p.Assignments), ping)
	}
}

// Where many more tasks wait than a cycle looks at, some are crawled before all were pinged by all landmarks, the more the longer that would
// take; a strategy that measures by a published rule measures what that says.
func TestPagesComeBeforeAllIsMeasured(t *testing.T) {
	none := func(int, int, bool) bool { return false }
	for _, c := range []struct {
		waits, want int
		delay       Extent
	}{{0, 40, Worth}, {120, 40, Worth}, {600, 20, Worth}, {9960, 5, Worth}, {1e9, 1, Worth}, {9960, 40, Landmark}} {
		p, ping := PlanProbes(fleet(9, 40), Probing{Measures: Measures{Delay: c.delay}, Marks: []int{0, 3, 6}, Done: none, Waits: c.waits})
		if len(p.Assignments) != c.want || len(ping) != c.want {
			t.Errorf("%d more wait: %d of 40 are pinged, want %d", c.waits, len(p.Assignments), c.want)
		}
	}
}

// What is measured because it is worth it takes a tenth of a site's pages at most, but for a few probes a node; a site that promises nothing is
// not asked.
func TestMeasuringIsBounded(t *testing.T) {
	const nodes, sites, rounds = 3, 40, 5
	for _, known := range []float64{0, 5, 10_000} {
		s, spent, done := fleet(nodes, sites), Allowance{}, map[[2]int]bool{}
		for i := range s.Tasks {
			s.Tasks[i].Known = known
		}
		by := Probing{Measures: Measures{Crawl: Worth}, Spent: &spent, Done: func(site, node int, _ bool) bool { return done[[2]int{site, node}] }}
		all := 0
		for range rounds {
			p, _ := PlanProbes(s, by)
			for _, a := range p.Assignments {
				spent.Take(&s.Tasks[a.Task])
				done[[2]int{s.Tasks[a.Task].Book, s.Nodes[a.Node].Book}] = true
			}
			all += len(p.Assignments)
		}
		switch most := nodes * measuredEarly; {
		case known == 0 && all > 0, known == 5 && all != most, known > 5 && all <= most:
			t.Errorf("%d probes of sites of %v pages, %d without any", all, known, most)
		}
	}
}

// A site of a page or two is not probed more often than it has pages, however many nodes have probes to give.
func TestSmallSitesAreHardlyProbed(t *testing.T) {
	for known := range 6 {
		var spent Allowance
		site, probes := Task{Known: float64(known)}, 0
		for ; probes < 100 && spent.lets(&site, 50, 0); probes++ {
			spent.Take(&site)
		}
		if probes != known {
			t.Errorf("%d probes of a site of %d pages", probes, known)
		}
	}
}

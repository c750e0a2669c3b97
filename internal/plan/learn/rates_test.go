package learn

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"testing"

	"argosy/internal/crawl"
)

// judged is what the definition says, page by page.
type judged struct {
	by       []string                // of each page: who has collected it
	missed   map[string]map[int]bool // by node: pages that nobody else had when it failed first
	was      []string                // of each page that is to be fetched once more: who had it, and fetches it
	runs     string
	leases   map[string]int64
	ms, page map[string]int64
}

func (j *judged) share(node string) (s Share) {
	for p, by := range j.by {
		mine := by == node
		if mine {
			s.Collected++
		}
		open := by == "" && j.runs == node && j.missed[node] == nil
		if mine || open || j.missed[node][p] {
			s.Existing++
		}
	}
	s.Leases, s.Pages, s.Seconds = j.leases[node], j.page[node], float64(j.ms[node])/1000
	return s
}

// Whatever nodes do for the searches of a site, in whatever order, the rates are what the definition says, page by page; a page that
// nobody failed with counts once.
func TestRatesAreAsDefined(t *testing.T) {
	nodes := []string{"a", "b", "c"}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var of []Trailed
		var truth []*judged
		for k := range 1 + rng.IntN(3) {
			pages, stated := 1+rng.IntN(40), crawl.Stated{Kind: crawl.StatedMissing}
			if k != 1 {
				stated = crawl.Stated{N: int64(pages), Kind: crawl.StatedExact}
			}
			j := &judged{by: make([]string, pages), was: make([]string, pages), missed: map[string]map[int]bool{}, leases: map[string]int64{}, ms: map[string]int64{}, page: map[string]int64{}}
			s := Trailed{Site: "site", Stated: stated, Found: int64(pages)}
			for at := range int64(rng.IntN(90)) {
				n := nodes[rng.IntN(len(nodes))]
				switch p := rng.IntN(pages); rng.IntN(7) {
				case 0:
					j.runs = n
					s.Trail.Add(Step{At: at, Node: n, Runs: true})
				case 1:
					if rng.IntN(4) > 0 {
						continue
					}
					if j.missed[n] == nil {
						j.missed[n] = map[int]bool{}
						for p, by := range j.by {
							j.missed[n][p] = by == n || by == ""
						}
					}
					s.Trail.Add(Step{At: at, Node: n, Failed: true})
				case 2:
					j.leases[n]++
					j.ms[n] += 500
					s.Trail.Add(Step{At: at, Node: n, Leases: 1, MS: 500})
				case 3:
					if n = j.by[p]; n != "" {
						j.by[p], j.was[p] = "", n
						j.page[n]--
						s.Trail.Add(Step{At: at, Node: n, Had: -1, Pages: -1})
					}
				default:
					if n = cmp.Or(j.was[p], n); j.by[p] == "" {
						j.by[p] = n
						j.page[n]++
						s.Trail.Add(Step{At: at, Node: n, Had: 1, Pages: 1})
					}
				}
			}
			of, truth = append(of, s), append(truth, j)
		}
		got := map[string]Share{}
		for _, r := range Rates(of) {
			got[r.Node] = r.Share
			if c, known := r.Completion(); known != r.Known || c < 0 || c > 1 {
				t.Errorf("seed %d, %s: completion %v, %v", seed, r.Node, c, known)
			}
		}
		for _, n := range nodes {
			want := Share{}
			for k, j := range truth {
				s := j.share(n)
				if want.Leases, want.Pages, want.Seconds = want.Leases+s.Leases, want.Pages+s.Pages, want.Seconds+s.Seconds; k != 1 {
					want.Existing, want.Collected = want.Existing+s.Existing, want.Collected+s.Collected
				}
			}
			g := got[n]
			if want.Known = want.Existing > 0; want.Known != g.Known || want.Existing != g.Existing || want.Collected != g.Collected || want.Leases != g.Leases || want.Pages != g.Pages || want.Seconds != g.Seconds {
				t.Fatalf("seed %d, node %s:\n got %+v\nwant %+v\n%+v", seed, n, g, want, of)
			}
		}
	}
}

// A trail stays short, and its sums stay what they are.
func TestTrailIsBounded(t *testing.T) {
	var trail Trail
	for i := range int64(10_000) {
		trail.Add(Step{At: i * i, Node: fmt.Sprint("n", i%7), Runs: i%5 == 0, Had: 1, MS: 3, Leases: 1})
		if i%1000 == 0 {
			trail.Add(Step{At: i * i, Node: fmt.Sprint("n", i/1000), Failed: true})
		}
	}
	had := int64(0)
	for _, s := range trail {
		had += s.Had
	}
	if len(trail) > maxSteps || had != 10_000 {
		t.Errorf("%d steps, %d pages", len(trail), had)
	}
	for i := 1; i < len(trail); i++ {
		if trail[i].At < trail[i-1].At {
			t.Errorf("step %d at %d, the one before at %d", i, trail[i].At, trail[i-1].At)
		}
	}
}

// However many nodes a search goes through, its trail stays short, says who has it now, and counts all that was had.
func TestTrailOfManyNodes(t *testing.T) {
	var trail Trail
	for i := range int64(500) {
		node := fmt.Sprint("n", i)
		trail.Add(Step{At: 3 * i, Node: node, Runs: true})
		trail.Add(Step{At: 3*i + 1, Node: node, Had: 1, Pages: 1, Leases: 1, MS: 3})
		trail.Add(Step{At: 3*i + 2, Node: node, Failed: true})
		if len(trail) > maxSteps {
			t.Fatalf("%d steps after %d nodes", len(trail), i+1)
		}
	}
	trail.Add(Step{At: 1501, Node: "last", Runs: true})
	had, named := int64(0), int64(0)
	for _, s := range trail {
		had += s.Had
	}
	shares := trail.Shares(600, true)
	for _, s := range shares {
		if named += s.Collected; s.Node == "" {
			t.Errorf("%+v has no name", s)
		}
	}
	if had != 500 || named == 0 || named > maxSteps {
		t.Errorf("%d pages in %d steps, %d of them by name", had, len(trail), named)
	}
	if k := len(shares) - 1; shares[0].Node != "last" || shares[0].Existing != 100 || shares[k].Existing < 1 {
		t.Errorf("%+v", shares)
	}
}

package predict

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// served gives a book reports of nodes and sites, whose shares of pages had are as told.
func served(seed uint64, nodes, sites int, share func(node, site int) float64) *Book {
	r := rand.New(rand.NewPCG(seed, 11))
	b := New(Config{})
	for n := range nodes {
		b.Node(fmt.Sprint("n", n))
	}
	for s := range sites {
		b.Site(fmt.Sprint("s", s))
	}
	for k := range 40 * sites {
		n, s := r.IntN(nodes), k%sites
		rep := Report{Seconds: 1, All: float64(4 + r.IntN(5))}
		for range int(rep.All) {
			if r.Float64() < share(n, s) {
				rep.Good++
			}
		}
		rep.Bits = 1e6 * rep.Good
		b.Reported(n, s, rep, 1000)
	}
	b.Fit()
	return b
}

// Nodes whose shares differ by chance alone are hardly told apart; those that a site, or all sites, treat otherwise are.
func TestChanceIsNotADifference(t *testing.T) {
	const nodes, sites = 4, 20
	for seed := range uint64(10) {
		chance := served(seed, nodes, sites, func(_, site int) float64 { return 0.7 + 0.01*float64(site) })
		sum := 0.0
		for s := range sites {
			low, high := 1.0, 0.0
			for n := range nodes {
				f := chance.Success(n, s, 1000)
				low, high = min(low, f.Value), max(high, f.Value)
			}
			if sum += high - low; high-low > 0.12 {
				t.Errorf("seed %d, site %d: shares from %.3f to %.3f by chance", seed, s, low, high)
			}
			if want := 0.7 + 0.01*float64(s); high < want-0.1 || low > want+0.1 {
				t.Errorf("seed %d, site %d: shares from %.3f to %.3f, not %.2f", seed, s, low, high, want)
			}
		}
		if sum/sites > 0.08 {
			t.Errorf("seed %d: shares differ by %.3f on average by chance", seed, sum/sites)
		}
		bad := func(node, site int) bool { return node == 3 || (node+site)%5 == 0 }
		real := served(seed, nodes, sites, func(node, site int) float64 {
			if bad(node, site) {
				return 0.1
			}
			return 0.95
		})
		for s := range sites {
			for n := range nodes {
				if f := real.Success(n, s, 1000); bad(n, s) != (f.Value < 0.5) {
					t.Errorf("seed %d, node %d and site %d: %.3f", seed, n, s, f.Value)
				}
			}
		}
		fresh := real.Site("new")
		if a, b := real.Success(0, fresh, 1000).Value, real.Success(3, fresh, 1000).Value; b > a-0.2 {
			t.Errorf("seed %d: at a new site %.3f of a good node and %.3f of a bad one", seed, a, b)
		}
	}
}

// What is missing of a site may lie together: that is not a change, and tells no more than so many single requests.
func TestClumps(t *testing.T) {
	var c clump
	s := share{good: 50, all: 60}
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		rep := Report{All: 12, Good: 12}
		if r.IntN(6) == 0 { // all at once
			rep.Good = 0
		}
		c.add(s, rep)
	}
	if of := c.of(); of < 4 || of > 12 {
		t.Errorf("a request of a clump of twelve counts as one of %.1f", of)
	}
	if rep := (Report{All: 12}); !s.surprised(rep, 1) || s.surprised(rep, c.of()) {
		t.Error("a clump among clumps is taken for a change, or a change for chance")
	}
}

// A share of which nobody has told anything is a default, also once the book has been fitted.
func TestNothingServedIsADefault(t *testing.T) {
	b := New(Config{})
	node, site := b.Node("n"), b.Site("s")
	b.Fit()
	if f := b.Success(node, site, 1000); f.Source != Default || f.Value != firstServed {
		t.Errorf("%+v", f)
	}
}

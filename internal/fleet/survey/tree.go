package survey

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/frontier"
)

// Branch is a page in the search path tree: under the page that named it first.
type Branch struct {
	URL      string    `json:"url"`
	State    string    `json:"state"`
	Reason   string    `json:"reason,omitempty"`
	Anchor   string    `json:"anchor,omitempty"` // words of the link to it
	Score    float64   `json:"score"`            // of a page that was fetched how much it is on the topic, else what is expected
	OnTopic  bool      `json:"on_topic,omitempty"`
	Relevant int       `json:"relevant"`          // pages on the topic in this branch
	Pages    int       `json:"pages"`             // fetched in this branch
	Crawler  uint32    `json:"crawler,omitempty"` // whose page it is, of several that share what is found
	Folded   int       `json:"folded,omitempty"`  // branches under it that are left out
	Under    []*Branch `json:"under,omitempty"`
}

// Paths are the trees of a crawl, one for each seed: how each page was reached.
type Paths struct {
	Roots   []*Branch
	Topic   bool // the crawl has one: pages have scores
	Running bool
}

// SearchTree returns how the pages of a crawl were reached. all takes in what was not fetched, too.
func SearchTree(ctx context.Context, dir string, job uint32, all bool) (p Paths, err error) {
	var tree Tree
	err = assemble.View(ctx, assemble.DefaultConfig(dir), func(f *frontier.Frontier, runs bool) error {
		j := f.Job(job)
		if j == nil {
			return fmt.Errorf("no job %d", job)
		}
		p.Topic, p.Running = j.Identity.Topic != nil, runs
		return f.URLs(job, func(u frontier.URL) error {
			if u.URL == "" || !all && u.State != crawl.Fetched {
				return nil
			}
			b := tree.Add(u)
			if t := f.Task(u.Task); t != nil {
				b.Crawler = t.Crawler()
			}
			return nil
		})
	})
	if err == nil {
		p.Roots = tree.Roots()
	}
	return p, err
}

// Tree is made of URLs, in whatever order they come.
type Tree struct {
	nodes map[crawl.Page]*leaf
	order []*leaf
	had   map[crawl.Key][]*leaf // the same URL, of several crawlers that remember for themselves
}

type leaf struct {
	branch *Branch
	at     crawl.Page
	parent crawl.Key
	depth  uint16
	up     *leaf // nil: nothing is above it
	walk   int   // of which search for loops it was met first; 0: of none yet
}

// Add adds a URL.
func (t *Tree) Add(u frontier.URL) *Branch {
	if t.nodes == nil {
		t.nodes, t.had = map[crawl.Page]*leaf{}, map[crawl.Key][]*leaf{}
	}
	b := &Branch{URL: u.URL, State: u.State.String(), Reason: string(u.Reason), Anchor: u.Anchor, Score: float64(u.Score), OnTopic: u.Relevant}
	n := &leaf{branch: b, at: crawl.Page{Layer: u.Layer, Key: u.Key}, parent: u.Parent, depth: u.Depth}
	t.nodes[n.at] = n
	t.order = append(t.order, n)
	if u.Layer != (crawl.Layer{}) {
		t.had[u.Key] = append(t.had[u.Key], n)
	}
	return b
}

// Roots returns the trees: one for each URL that no other one has named, those with most on the topic first. Every URL is in one of them.
func (t *Tree) Roots() (roots []*Branch) {
	for _, n := range t.order {
		n.up = t.above(n)
	}
	for i, n := range t.order {
		n.cut(i + 1)
	}
	for _, n := range t.order {
		if n.up != nil {
			n.up.branch.Under = append(n.up.branch.Under, n.branch)
		} else {
			roots = append(roots, n.branch)
		}
	}
	for _, r := range roots {
		r.count()
	}
	slices.SortFunc(roots, byRelevance)
	return roots
}

// above returns the page that named a URL. Where each crawler remembers for itself that may be another one's: what was dealt out or sold was
// found elsewhere, and the crawler's own copy of that page, if it has one, came later: it is not less deep.
func (t *Tree) above(n *leaf) *leaf {
	if n.parent == (crawl.Key{}) {
		return nil
	}
	own := t.nodes[crawl.Page{Layer: n.at.Layer, Key: n.parent}]
	if own != nil && own.depth < n.depth {
		return own
	}
	for _, other := range t.had[n.parent] {
		if other.depth < n.depth {
			return other
		}
	}
	if own == n {
		return nil
	}
	return own // a redirect to the page, or a shorter way to it was found since
}

// cut takes from the loop that the way up from a URL leads into, if it does, the page that is least deep: nothing is above it. The time
// that all calls take together grows as the number of URLs; walk is another one for each.
func (n *leaf) cut(walk int) {
	for n != nil && n.walk == 0 {
		n.walk = walk
		n = n.up
	}
	if n == nil || n.walk != walk {
		return // it has ended, or comes to where another walk was
	}
	least := n
	for at := n.up; at != n; at = at.up {
		if at.depth < least.depth {
			least = at
		}
	}
	least.up = nil
}

// TreePart says which part of trees is asked for. Empty fields ask for all.
type TreePart struct {
	Under   string // URL of a page: what stands under it
	Crawler uint32 // whose page that is
	Find    string // pages with this in their URL or in the words of the link to them, in whatever case, and those above them
	Skip    int    // not the first so many of what stands uppermost
	Most    int    // branches in all
}

// Of returns the part of trees, and how many of what stands uppermost are left out behind it. There is none where no page has such a URL. It
// takes the trees apart.
func (p TreePart) Of(roots []*Branch) (part []*Branch, folded int) {
	if p.Under != "" {
		roots = under(roots, p.Under, p.Crawler)
	}
	if p.Find != "" {
		roots = naming(roots, strings.ToLower(p.Find))
	}
	roots = roots[min(p.Skip, len(roots)):]
	part = Prune(roots, p.Most)
	return part, len(roots) - len(part)
}

// under returns what stands under a page; the walk does not recurse, since a chain may be as long as a crawl.
func under(roots []*Branch, url string, crawler uint32) []*Branch {
	for level := roots; len(level) > 0; {
		var next []*Branch
		for _, b := range level {
			if b.URL == url && (crawler == 0 || b.Crawler == crawler) {
				return b.Under
			}
			next = append(next, b.Under...)
		}
		level = next
	}
	return nil
}

// naming leaves the branches with a text in lower case, and those above them.
func naming(roots []*Branch, text string) []*Branch {
	var all []*Branch // each behind the one above it
	for level := roots; len(level) > 0; {
		all = append(all, level...)
		var next []*Branch
		for _, b := range level {
			next = append(next, b.Under...)
		}
		level = next
	}
	kept := make(map[*Branch]bool)
	some := func(bs []*Branch) []*Branch {
		return slices.DeleteFunc(bs, func(b *Branch) bool { return !kept[b] })
	}
	for _, b := range slices.Backward(all) {
		b.Under = some(b.Under)
		kept[b] = len(b.Under) > 0 || strings.Contains(strings.ToLower(b.URL), text) || strings.Contains(strings.ToLower(b.Anchor), text)
	}
	return some(roots)
}

// Prune leaves so many branches of trees, level by level, those with most on the topic first. Folded says how many are left out under each.
func Prune(roots []*Branch, most int) []*Branch {
	kept := roots[:min(len(roots), most)]
	most -= len(kept)
	for level := kept; len(level) > 0; {
		var next []*Branch
		for _, b := range level {
			n := min(len(b.Under), most)
			b.Folded = len(b.Under) - n
			b.Under = b.Under[:n]
			most -= n
			next = append(next, b.Under...)
		}
		level = next
	}
	return kept
}

func byRelevance(a, b *Branch) int {
	return cmp.Or(cmp.Compare(b.Relevant, a.Relevant), cmp.Compare(b.Score, a.Score), cmp.Compare(a.URL, b.URL))
}

// count adds up a branch, deepest first and without calling itself: a chain may be as long as a crawl.
func (b *Branch) count() {
	stack, done := []*Branch{b}, []*Branch{}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = append(stack[:len(stack)-1], n.Under...)
		done = append(done, n)
	}
	for i := len(done) - 1; i >= 0; i-- {
		n := done[i]
		if n.State == crawl.Fetched.String() {
			n.Pages++
		}
		if n.OnTopic {
			n.Relevant++
		}
		for _, u := range n.Under {
			n.Pages += u.Pages
			n.Relevant += u.Relevant
		}
		slices.SortFunc(n.Under, byRelevance)
	}
}

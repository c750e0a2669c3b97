package topic

import "math/rand/v2"

// Beside is how many other pages tell what sets examples apart, where nobody says otherwise. Of 10, 20, 30 and 40 pages more told more, 40 hardly
// more than 20 (go run ./bench/judge -beside N).
const Beside = 24

// Walk chooses pages of a site that are not examples of a topic, to tell what sets the examples apart: any links of pages that it has been told of.
// What examples name is on their topic more often than not, and is chosen when nothing else is left; so is what has a query. It chooses the same of
// the same links, and is not safe for concurrent use.
type Walk struct {
	rng  *rand.Rand
	had  map[string]bool // chosen, an example, or waiting
	near map[string]bool // named by an example
	pool [2][]string     // what waits, and what waits until nothing else does
}

// NewWalk returns a walk that knows of no page.
func NewWalk() *Walk {
	return &Walk{rng: rand.New(rand.NewPCG(1, 1)), had: map[string]bool{}, near: map[string]bool{}}
}

// Example takes in an example, which is never chosen, and what it links to; all examples before anything else.
func (w *Walk) Example(at string, links []string) {
	w.had[at] = true
	for _, l := range links {
		w.near[l] = true
	}
	w.wait(1, links)
}

// Named takes in what a page of the walk links to. late says of a link that it is to wait until no other is left.
func (w *Walk) Named(links []string, late func(link string) bool) {
	for _, l := range links {
		if at := 0; !w.near[l] {
			if late(l) {
				at = 1
			}
			w.wait(at, []string{l})
		}
	}
}

// walkMost bounds what waits: pages may have links without end.
const walkMost = 10_000

func (w *Walk) wait(at int, links []string) {
	for _, l := range links {
		if !w.had[l] && len(w.pool[at]) < walkMost {
			w.had[l] = true
			w.pool[at] = append(w.pool[at], l)
		}
	}
}

// Next returns the next page; ok is false if there is none.
func (w *Walk) Next() (link string, ok bool) {
	for at := range w.pool {
		if n := len(w.pool[at]); n > 0 {
			i := w.rng.IntN(n)
			link = w.pool[at][i]
			w.pool[at][i] = w.pool[at][n-1]
			w.pool[at] = w.pool[at][:n-1]
			return link, true
		}
	}
	return "", false
}

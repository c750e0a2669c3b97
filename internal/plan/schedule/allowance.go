package schedule

import "argosy/internal/crawl"

const (
	// measuredShare is how many pages of a site pay for each request that measures it: a site is asked a tenth more at most.
	measuredShare = 10
	// measuredEarly is how many probes each node may make of sites that do not have so many pages, or whose pages nobody knows yet: as many as it
	// takes to tell a node's speed within a factor that is half that of a single probe.
	measuredEarly = 4
	// probeCosts is how many requests a probe, or the measurement of a delay, makes at most, besides the one for robots.txt, which the site's pages need
	// as well.
	probeCosts = max(crawl.ProbeTries, crawl.PingTries)
)

// Allowance counts what measuring has asked of sites, where a strategy measures what is worth it. What a measurement is worth is an expectation;
// that sites are hardly asked more than for their pages is a promise. The zero value has counted nothing.
type Allowance struct {
	of    map[int]int // requests of each site that was measured, by its number in the book
	early int         // of all of them, those that no site's pages paid for
}

// Take counts a measurement of a task's site.
func (a *Allowance) Take(t *Task) {
	if a.of == nil {
		a.of = map[int]int{}
	}
	if !a.pays(t) {
		a.early += probeCosts
	}
	a.of[t.Book] += probeCosts
}

// pays reports whether a site's pages pay for one measurement more.
func (a *Allowance) pays(t *Task) bool {
	return float64(a.of[t.Book]+probeCosts)*measuredShare <= t.Known
}

// lets reports whether a site may be measured once more by a fleet of so many nodes, after so many measurements that are planned but not counted
// yet and that no pages pay for. A site that promises nothing is not asked for this, and one of a page or two not more often than it has pages.
func (a *Allowance) lets(t *Task, nodes, planned int) bool {
	if a.pays(t) {
		return true
	}
	small := float64(a.of[t.Book]/probeCosts+1) > t.Known
	return !small && a.early+probeCosts*(planned+1) <= probeCosts*measuredEarly*nodes
}

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
	early := 1
	if a.Pays(t) {
		early = 0
	}
	a.Count(t.Book, 1, early)
}

// Count counts so many measurements of a site, by its number in the book, and so many that no site's pages paid for.
func (a *Allowance) Count(site, probes, early int) {
	if a.of == nil {
		a.of = map[int]int{}
	}
	if probes > 0 {
		a.of[site] += probeCosts * probes
	}
	a.early += probeCosts * early
}

// Counted returns how many measurements of each site were counted, and how many that no site's pages paid for.
func (a *Allowance) Counted() (probes map[int]int, early int) {
	probes = make(map[int]int, len(a.of))
	for site, requests := range a.of {
		probes[site] = requests / probeCosts
	}
	return probes, a.early / probeCosts
}

// Pays reports whether a site's pages pay for one measurement more.
func (a *Allowance) Pays(t *Task) bool {
	return float64(a.of[t.Book]+probeCosts)*measuredShare <= t.Known
}

// lets reports whether a site may be measured once more by a fleet of so many nodes, after so many measurements that are planned but not counted
// yet and that no pages pay for. A site that promises nothing is not asked for this, and one of a page or two not more often than it has pages.
func (a *Allowance) lets(t *Task, nodes, planned int) bool {
	if a.Pays(t) {
		return true
	}
	small := float64(a.of[t.Book]/probeCosts+1) > t.Known
	return !small && a.early+probeCosts*(planned+1) <= probeCosts*measuredEarly*nodes
}

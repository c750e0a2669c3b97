package predict

import "cmp"

// work is what leases of one kind took, as means that forget.
type work struct {
	seconds, pages float64
	need           [3]float64
	weight         float64
	at             int64 // of the last one, Unix ms; 0: not known
}

// told is what is left at a time of what leases have told of seconds and pages.
func (w *work) told(at int64) float64 {
	if w.at == 0 {
		return 1
	}
	return fade(at - w.at)
}

// Kind names leases that are alike, for what they take: a product on a site and a node, or a type of task anywhere.
type Kind struct {
	Product    string
	Site, Node int // -1: any
}

// Took records what a lease took that ended at a time: seconds, pages, and CPU (cores), memory (bytes) and bandwidth (bits/s) where known.
func (rec *Record) Took(k Kind, seconds, pages float64, need [3]float64, at int64) {
	w := rec.works[k]
	if w == nil {
		w = &work{}
		rec.works[k] = w
	}
	keep := 0.8 * w.told(at)
	w.seconds, w.pages, w.at = w.seconds*keep+seconds, w.pages*keep+pages, max(w.at, at)
	for d, x := range need {
		w.need[d] = (w.need[d]*w.weight + x) / (w.weight + 1)
	}
	w.weight = min(w.weight+1, 20)
}

// stale is what is left of a figure when it says nothing any more: three half-lives, an hour and a half, without another lease. Who is left out
// for having been slow has no leases that would show that he is not any more.
const stale = 1.0 / 8

// SecondsPerPage is the efficiency of the feedback paper; known is false before anything was collected, and once it is stale.
func (rec *Record) SecondsPerPage(k Kind, at int64) (s float64, known bool) {
	w := rec.works[k]
	if w == nil || w.pages <= 0 || w.told(at) < stale {
		return 0, false
	}
	return w.seconds / w.pages, true
}

// Efforts returns how many seconds are remembered of leases of a kind, the old ones less, and how many pages they brought.
func (rec *Record) Efforts(k Kind, at int64) (seconds, pages float64) {
	if w := rec.works[k]; w != nil {
		left := w.told(at)
		return w.seconds * left, w.pages * left
	}
	return 0, 0
}

// Need returns what a lease of a kind takes.
func (rec *Record) Need(k Kind) (need [3]float64, known bool) {
	if w := rec.works[k]; w != nil && w.weight > 0 {
		return w.need, true
	}
	return need, false
}

// compare orders kinds by product, site and node.
func (k Kind) compare(o Kind) int {
	return cmp.Or(cmp.Compare(k.Product, o.Product), cmp.Compare(k.Site, o.Site), cmp.Compare(k.Node, o.Node))
}

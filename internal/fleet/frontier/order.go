package frontier

import "argosy/internal/crawl"

// A place in a queue is a rank, by the job's order, in its first 16 bits, and below that when the URL came.
const (
	rankShift = 48
	cameMask  = 1<<rankShift - 1
	lastRank  = 1<<16 - 1

	// The first rank is that of URLs that come before others: above their numbers stands how long ago something was found.
	sinceShift = rankShift - 4
	maxSince   = 4
)

// rank returns how soon a URL's turn is by its job's order: small ones come first.
func (j *Job) rank(r *record) uint64 {
	switch j.Identity.Order {
	case crawl.OrderDepth:
		return lastRank - uint64(r.Depth)
	case crawl.OrderBest:
		return lastRank - uint64(max(0, min(1, r.Score))*lastRank)
	}
	return uint64(r.Depth)
}

// place composes the place in its task's queue of a URL that came as number seq.
func (j *Job) place(r *record, seq uint64) uint64 {
	if r.since > 0 && j.Identity.Order != crawl.OrderBest {
		return uint64(r.since-1)<<sinceShift | seq&(1<<sinceShift-1)
	}
	if j.Identity.Order == crawl.OrderDepth {
		seq = cameMask - seq // last come, first served
	}
	return j.rank(r)<<rankShift | seq&cameMask
}

// isSoon reports whether a URL in a queue, or one that was in it, comes before others: see ahead.
func (r *record) isSoon() bool { return r.Depth > 0 && r.Place>>rankShift == 0 }

// late returns the place of a URL that comes behind all others, as number seq.
func late(seq uint64) uint64 { return lastRank<<rankShift | seq&cameMask }

// isLate reports whether a URL in a queue, or one that was in it, comes behind all others.
func (r *record) isLate() bool { return r.Depth > 0 && r.Place>>rankShift == lastRank }

// moved returns the place of a URL whose rank may have changed since it came.
func (j *Job) moved(r *record) uint64 {
	if j.Identity.Order != crawl.OrderBest && (r.isSoon() || r.isLate()) {
		return r.Place
	}
	return j.rank(r)<<rankShift | r.Place&cameMask
}

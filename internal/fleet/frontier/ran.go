package frontier

import "argosy/internal/crawl"

// ranEvery is how often reports say that a job has run on, in ms of the log's clock; ranMost, how much one of them can say: while nothing is
// reported it need not have run.
const (
	ranEvery = 5_000
	ranMost  = 60_000
)

// countRan counts the time for which a job has run since that was noted last. Grants note it exactly; where leases are long they are rare, and
// a coordinator that dies would forget what came since.
func (x *tx) countRan(j *Job) {
	if since := x.at - j.RanAt; j.State == crawl.JobRunning && j.RanAt > 0 && since >= ranEvery {
		j.ran(j.RanMS+min(since, ranMost), x.at)
		x.jobs[j.ID] = j
	}
}

// tells takes in what a grant, or a state, says of a job besides what it is about.
func (j *Job) tells(e *crawl.Entry, at int64) {
	if j.ran(e.Ran.Milliseconds(), at); e.Otherwise != nil {
		j.Otherwise = e.Otherwise
	}
	if len(e.Landmarks) > 0 {
		j.Landmarks = e.Landmarks
	}
}

// ran notes how long a job had run at a time.
func (j *Job) ran(ms, at int64) { j.RanMS, j.RanAt = ms, at }

package frontier

import (
	"maps"
	"slices"

	"argosy/internal/crawl"
	"argosy/internal/page/yield"
)

// Task is one site of a job, in a layer of it, and its counts.
type Task struct {
	ID    uint32 `cbor:"1,keyasint"`
	Job   uint32 `cbor:"2,keyasint"`
	Site  string `cbor:"3,keyasint"`
	State string `cbor:"4,keyasint,omitempty"` // "", crawl.TaskManual or crawl.TaskDropped
	crawl.Counts
	Sitemaps int64 `cbor:"31,keyasint,omitempty"` // admitted
	Omitted  int64 `cbor:"30,keyasint,omitempty"` // of the excluded: what pages named and nobody keeps a record of

	Reasons  map[string]int64 `cbor:"14,keyasint,omitempty"` // of failed and excluded
	Seq      uint64           `cbor:"15,keyasint,omitempty"` // URLs queued so far
	Attempts uint32           `cbor:"16,keyasint,omitempty"`
	Recalls  int              `cbor:"17,keyasint,omitempty"` // without progress in between
	Avoid    []string         `cbor:"18,keyasint,omitempty"` // nodes it was recalled from, last first
	Since    int64            `cbor:"19,keyasint,omitempty"` // waiting since, Unix ms
	Cookies  []crawl.Cookie   `cbor:"20,keyasint,omitempty"`
	Gates    *crawl.Gates     `cbor:"23,keyasint,omitempty"`
	Seed     bool             `cbor:"21,keyasint,omitempty"`
	History  []string         `cbor:"22,keyasint,omitempty"` // why it was recalled or failed, last few,
	Noted    []int64          `cbor:"32,keyasint,omitempty"` // and when that was, Unix ms; of an older version's lines nothing says so
	Owner    uint32           `cbor:"40,keyasint,omitempty"`
	Gen      uint32           `cbor:"41,keyasint,omitempty"`
	Cuts     int              `cbor:"50,keyasint,omitempty"` // groups of templates of which URLs wait
	Sweep    *sweep           `cbor:"51,keyasint,omitempty"` // under way over its URLs
	Chain    string           `cbor:"52,keyasint,omitempty"` // URL behind too many redirects that was refused last
	Scored   int64            `cbor:"71,keyasint,omitempty"` // pages that the model had learned from when the queue was scored last,
	ScoreTo  int64            `cbor:"72,keyasint,omitempty"` // and when the walk began that is under way
	ScoreAt  []byte           `cbor:"73,keyasint,omitempty"` // key of the next URL of that walk

	Subset uint32 `cbor:"74,keyasint,omitempty"` // crawler of the job whose URLs these are, where all remember together; 0: there is one

	Host     firstSeen `cbor:"75,keyasint,omitzero"`  // what the first pages of its host have shown, where hosts are judged
	HostCuts int       `cbor:"76,keyasint,omitempty"` // of the first task of a domain: groups of hosts that are refused

	From uint32 `cbor:"78,keyasint,omitempty"` // task whose page named its site first; 0: a seed's

	Timed   int64 `cbor:"79,keyasint,omitempty"` // where crawlers are valued by their speed: pages that were answered,
	TimedUS int64 `cbor:"80,keyasint,omitempty"` // and how long they took together

	Copies int64 `cbor:"81,keyasint,omitempty"` // of the pages on the topic: they say what one said that was had before

	Last string `cbor:"29,keyasint,omitempty"` // node that had it last
	Did  Did    `cbor:"82,keyasint,omitzero"`  // what its last lease did

	Ended crawl.Ended `cbor:"60,keyasint"` // by nodes

	Search uint32   `cbor:"100,keyasint,omitempty"` // of a job that collects: the search that it is for,
	Shut   []string `cbor:"102,keyasint,omitempty"` // and of what a search has named: nodes that the site refuses, of those in Avoid
	Of     *Search  `cbor:"101,keyasint,omitempty"` // that search, in the task that asks for its result pages

	leases map[uint64]bool
	head   uint64       // no entry of the queue is before this place
	added  crawl.Counts // what stands in the job's totals
	summed crawl.Ended  // and in what has ended of the job
	yield  *yield.Model // nil until it is needed
	used   uint64       // entry that needed it last
	size   int          // what it takes, as it counts in the frontier's modelBytes

	memory memory
}

// Did is what a lease of a task did that its holder has ended. The next one may be fitted to it: it stands in the view so that a coordinator that
// begins anew fits it as the one before would have.
type Did struct {
	Quota     int64 `cbor:"1,keyasint,omitempty"` // pages that it might fetch
	BudgetMS  int64 `cbor:"2,keyasint,omitempty"`
	Tried     int64 `cbor:"3,keyasint,omitempty"` // URLs of those that it was given; the others have gone back
	Collected int64 `cbor:"4,keyasint,omitempty"`
	TookMS    int64 `cbor:"5,keyasint,omitempty"`
	Out       bool  `cbor:"6,keyasint,omitempty"` // its time was over before its pages were
	Known     bool  `cbor:"7,keyasint,omitempty"` // there was one
}

// space returns where the task's URLs are found.
func (t *Task) space() space { return space{t.Job, crawl.Layer{Owner: t.Owner, Gen: t.Gen}} }

// names returns where the URLs are found that the task's pages name: of result pages, with those of all searches of the job.
func (t *Task) names() space {
	if t.Of != nil {
		return space{job: t.Job}
	}
	return t.space()
}

// name is what tells the task from others.
func (t *Task) name() taskName { return taskName{t.space(), t.Subset, t.Site, t.Search, t.Of != nil} }

// has takes in a task that was read from the store.
func (j *Job) has(t *Task) {
	j.tasks = append(j.tasks, t)
	j.tally(t)
}

// tally brings a job's totals up to what its task counts now.
func (j *Job) tally(t *Task) {
	j.Totals = j.Totals.Add(t.Counts).Sub(t.added)
	if c := t.Crawler(); c > 0 {
		s := j.crawler(c)
		*s = s.Add(t.Counts).Sub(t.added)
	}
	j.Ended = j.Ended.Plus(t.Ended).Minus(t.summed)
	t.added, t.summed = t.Counts, t.Ended
}

// Queued returns how many URLs wait in the queue.
func (t *Task) Queued() int64 { return t.Pending() - t.Held }

// leaseIDs are the leases that the task has, in order.
func (t *Task) leaseIDs() []uint64 { return slices.Sorted(maps.Keys(t.leases)) }

// Leases returns how many leases the task has.
func (t *Task) Leases() int { return len(t.leases) }

// Status returns the task's state as a word.
func (t *Task) Status() string {
	switch {
	case t.State != "":
		return t.State
	case len(t.leases) > 0:
		return crawl.TaskCrawling
	case t.Of != nil && t.Pending() > 0 && t.Recalls > 0:
		return crawl.TaskFailed
	case t.Pending() > 0:
		return crawl.TaskWaiting
	case t.Of != nil && t.Of.Left() > 0:
		return crawl.TaskSleeping
	}
	return crawl.TaskDone
}

func (t *Task) count(state crawl.State, reason crawl.Kind, n int64) {
	switch state {
	case crawl.Fetched:
		t.Fetched += n
		return
	case crawl.Failed:
		t.Failed += n
	case crawl.Excluded:
		t.Excluded += n
	default:
		return
	}
	if t.Reasons == nil {
		t.Reasons = map[string]int64{}
	}
	if t.Reasons[string(reason)] += n; t.Reasons[string(reason)] == 0 {
		delete(t.Reasons, string(reason))
	}
}

// weigh counts what a final URL weighs, or with n = -1 what it weighed.
func (t *Task) weigh(r *record, n int64) {
	t.Bytes += n * r.Bytes
	if r.Counted&countedPage != 0 {
		t.Pages += n
	}
	if r.Counted&countedRelevant != 0 {
		t.Relevant += n
	}
	if r.Counted&countedDuplicate != 0 {
		t.Duplicates += n
	}
	if r.Counted&countedCopy != 0 {
		t.Copies += n
	}
}

// Hits returns how many pages on the topic were had that say different things.
func (t *Task) Hits() int64 { return t.Relevant - t.Copies }

// maxHistory is how many lines are kept of what has become of a task: more leases than a limit of recalls usually allows.
const maxHistory = 10

// note remembers why a task was recalled or failed.
func (x *tx) note(t *Task, why string) {
	for len(t.Noted) < len(t.History) {
		t.Noted = append([]int64{0}, t.Noted...)
	}
	t.History, t.Noted = append(t.History, why), append(t.Noted, x.at)
	over := max(0, len(t.History)-maxHistory)
	t.History, t.Noted = t.History[over:], t.Noted[over:]
}

// last returns what was noted last; empty: nothing was.
func (t *Task) last() string {
	if len(t.History) == 0 {
		return ""
	}
	return t.History[len(t.History)-1]
}

// How many nodes are remembered as those that a task was recalled from, and, of one that fetches what a search has named, with those that its
// site refuses: as many have to be refused, or all that there are, before a person is asked.
const (
	mostAvoided = 5
	mostRefused = 64
)

// avoid puts a node in front of those the task was recalled from.
func (t *Task) avoid(node string) {
	out, most := []string{node}, mostAvoided
	if t.Search > 0 && t.Of == nil {
		most = mostRefused
	}
	for _, n := range t.Avoid {
		if n != node && len(out) < most {
			out = append(out, n)
		}
	}
	t.Avoid = out
}

// has notes that a node has had an answer of the task's site: the task need not avoid it any more. Of what a search has named only one
// below 400 tells that, and only of that node: another one may be shut out.
func (t *Task) has(l *Lease, status int) {
	switch {
	case t.Search == 0:
		t.Avoid = nil
	case status < 400:
		of := func(node string) bool { return node == l.Node }
		t.Avoid, t.Shut = slices.DeleteFunc(t.Avoid, of), slices.DeleteFunc(t.Shut, of)
	}
}

// shut notes that the task's site refuses a node.
func (t *Task) shut(node string) {
	t.avoid(node)
	if !slices.Contains(t.Shut, node) && len(t.Shut) < mostRefused {
		t.Shut = append(t.Shut, node)
	}
}

// forgive lets every node have the task again.
func (t *Task) forgive() { t.Recalls, t.Avoid, t.Shut = 0, nil, nil }

// attempt is the number by which a person is told of a lease: of a search those that asked its engine are counted, and not those that
// looked up its address.
func (t *Task) attempt(l *Lease) uint32 {
	if t.Of != nil && !l.Resolve {
		return uint32(t.Of.Subtasks)
	}
	return l.Attempt
}

// Lease is a lease as the frontier holds it: its URLs are elsewhere.
type Lease struct {
	ID          uint64 `cbor:"1,keyasint"`
	Job         uint32 `cbor:"2,keyasint"`
	Task        uint32 `cbor:"3,keyasint"`
	Site        string `cbor:"4,keyasint"`
	Node        string `cbor:"5,keyasint"`
	Incarnation string `cbor:"6,keyasint"`
	Epoch       uint64 `cbor:"7,keyasint"`
	Attempt     uint32 `cbor:"8,keyasint"`
	Secret      string `cbor:"9,keyasint"`
	Parts       uint32 `cbor:"10,keyasint,omitempty"` // applied
	Given       int64  `cbor:"11,keyasint,omitempty"`
	Quota       int64  `cbor:"12,keyasint"`
	BudgetMS    int64  `cbor:"13,keyasint"`
	StartMS     int64  `cbor:"14,keyasint"`
	ClosedAt    int64  `cbor:"15,keyasint,omitempty"`
	Resolve     bool   `cbor:"16,keyasint,omitempty"`
	Held        int64  `cbor:"17,keyasint,omitempty"`
	Probe       string `cbor:"18,keyasint,omitempty"`
	Ping        bool   `cbor:"31,keyasint,omitempty"`
	Collected   int64  `cbor:"30,keyasint,omitempty"`  // answers with a status below 400
	Asks        bool   `cbor:"100,keyasint,omitempty"` // for result pages of a search
	From        string `cbor:"101,keyasint,omitempty"` // as in crawl.Lease
	Answered    bool   `cbor:"102,keyasint,omitempty"` // by the site, whatever it said; of what a search has named
	Alone       bool   `cbor:"103,keyasint,omitempty"` // as in crawl.Asked
	Brought     bool   `cbor:"105,keyasint,omitempty"` // it has ended a URL

	task *Task       // of an open one
	site *crawl.Site // likewise

	Progress int64 `cbor:"104,keyasint,omitempty"` // when it last showed a sign of progress, Unix ms of the log's clock; 0: an older version took no note
}

// TaskOf returns the task of an open lease.
func (l *Lease) TaskOf() *Task { return l.task }

// SiteOf returns what is known of the site of an open lease.
func (l *Lease) SiteOf() *crawl.Site { return l.site }

// Facts are what parts of the lease are believed by.
func (l *Lease) Facts() crawl.Facts {
	return crawl.Facts{Node: l.Node, Incarnation: l.Incarnation, Epoch: l.Epoch, Attempt: l.Attempt, Secret: l.Secret, Parts: l.Parts}
}

// Counts adds up the tasks of a job.
func (f *Frontier) Counts(job uint32) (c crawl.JobCounts) {
	sites := map[string]bool{}
	for _, t := range f.tasks {
		if t.Job != job {
			continue
		}
		sites[t.Site] = true
		c.Add(t.Counts, t.Reasons)
		c.Task(t.Status(), 1)
	}
	c.Sites = int64(len(sites))
	return c
}

type taskName struct {
	space
	subset uint32
	site   string
	search uint32 // that it is for; 0: none
	asks   bool   // for its result pages
}

package crawl

import "maps"

// Counts are what a task, or several, counts of URLs. Discovered = Fetched + Failed + Excluded + Pending().
type Counts struct {
	Discovered int64 `cbor:"5,keyasint,omitempty" json:"discovered"`
	Fetched    int64 `cbor:"6,keyasint,omitempty" json:"fetched"`
	Failed     int64 `cbor:"7,keyasint,omitempty" json:"failed"`
	Excluded   int64 `cbor:"8,keyasint,omitempty" json:"excluded"`
	Held       int64 `cbor:"9,keyasint,omitempty" json:"held,omitempty"`      // of the pending: in leases
	Pages      int64 `cbor:"10,keyasint,omitempty" json:"pages"`              // of the fetched: HTML with status 200
	Duplicates int64 `cbor:"11,keyasint,omitempty" json:"duplicates"`         // of the fetched
	Bytes      int64 `cbor:"12,keyasint,omitempty" json:"bytes"`              // of bodies, as transferred
	Overflow   int64 `cbor:"13,keyasint,omitempty" json:"overflow"`           // refusals that are not remembered one by one
	Relevant   int64 `cbor:"70,keyasint,omitempty" json:"relevant,omitempty"` // of the pages: on the job's topic
}

// Pending returns how many URLs have no final state.
func (c Counts) Pending() int64 { return c.Discovered - c.Fetched - c.Failed - c.Excluded }

// Add returns the sums of two counts.
func (c Counts) Add(o Counts) Counts { return c.plus(o, 1) }

// Sub returns the differences of two counts.
func (c Counts) Sub(o Counts) Counts { return c.plus(o, -1) }

func (c Counts) plus(o Counts, n int64) Counts {
	return Counts{
		Discovered: c.Discovered + n*o.Discovered, Fetched: c.Fetched + n*o.Fetched, Failed: c.Failed + n*o.Failed, Excluded: c.Excluded + n*o.Excluded,
		Held: c.Held + n*o.Held, Pages: c.Pages + n*o.Pages, Duplicates: c.Duplicates + n*o.Duplicates, Bytes: c.Bytes + n*o.Bytes, Overflow: c.Overflow + n*o.Overflow,
		Relevant: c.Relevant + n*o.Relevant,
	}
}

// Tally is what people see of the counts of a task, or of several.
type Tally struct {
	Counts
	Pending int64            `json:"pending"`
	Reasons map[string]int64 `json:"reasons,omitempty"` // of the failed and the excluded
}

// TallyOf returns a tally with reasons of its own.
func TallyOf(c Counts, reasons map[string]int64) Tally {
	return Tally{c, c.Pending(), maps.Clone(reasons)}
}

// Add counts another one in.
func (t *Tally) Add(c Counts, reasons map[string]int64) {
	t.Counts = t.Counts.Add(c)
	t.Pending = t.Counts.Pending()
	for reason, n := range reasons {
		if t.Reasons == nil {
			t.Reasons = map[string]int64{}
		}
		t.Reasons[reason] += n
	}
}

// JobCounts are what people see of the tasks of a job.
type JobCounts struct {
	Tally
	Sites int64 `json:"sites"` // each once, however many tasks it has
	Tasks int64 `json:"tasks"` // the sum of those in each state, which follow

	Waiting  int64 `json:"waiting"`
	Crawling int64 `json:"crawling"`
	Sleeping int64 `json:"sleeping,omitempty"`
	Returned int64 `json:"returned,omitempty"` // in TaskFailed: each waits for another node
	Done     int64 `json:"done"`
	Manual   int64 `json:"manual"`
	Dropped  int64 `json:"dropped,omitempty"`
}

// Task counts a task of a state in, or with n = -1 out.
func (c *JobCounts) Task(state string, n int64) {
	c.Tasks += n
	switch state {
	case TaskWaiting:
		c.Waiting += n
	case TaskCrawling:
		c.Crawling += n
	case TaskSleeping:
		c.Sleeping += n
	case TaskFailed:
		c.Returned += n
	case TaskManual:
		c.Manual += n
	case TaskDropped:
		c.Dropped += n
	default:
		c.Done += n
	}
}

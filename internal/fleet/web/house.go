package web

import (
	"time"

	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/ledger"
)

// House is whose API it is: a fleet's coordinator (serve.Server), a crawl in this process, or one that is over (assemble.Crawl).
type House interface {
	// Leader returns the coordinator, or an error while another process leads.
	Leader() (*coordinator.Coordinator, error)
	// Indexed reports whether a job's index is there.
	Indexed(job uint32) bool
	// Ledger returns the ledger, which many may read at once.
	Ledger() *ledger.Ledger
	// Dir returns the directory in which everything lies.
	Dir() string
}

// Kinds of a house, as Status says them.
const (
	KindFleet = "fleet"
	KindCrawl = "crawl" // one job, in the process that answers
	KindOver  = "over"  // nothing runs
)

// heavyLeast is for how long an answer is kept at least that takes a walk over a job's pages, heavyMost at most. In between it is heavyTimes
// as long as the walk took, times the answers that are asked for beside it: all walks together take a hundredth of a core, until they are so
// long that heavyMost comes first. For heavyStale longer an answer is given where the next one is not made within heavyWait: pages ask every 5 s.
const (
	heavyLeast = 2 * time.Second
	heavyMost  = time.Minute
	heavyTimes = 100
	heavyStale = 10 * time.Second
	heavyWait  = 100 * time.Millisecond
)

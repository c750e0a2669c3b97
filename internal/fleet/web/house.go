package web

import (
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

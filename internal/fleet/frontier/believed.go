package frontier

import (
	"fmt"

	"argosy/internal/crawl"
)

// maxIgnored bounds of how many parts of an entry it is said why they were not believed.
const maxIgnored = 10

// believed returns the lease that a part is of; nil if the part is not to be applied.
func (x *tx) believed(e *crawl.Entry, p *crawl.Part) *Lease {
	l, why := x.f.leases[p.Lease], "unknown lease"
	if l != nil {
		why = crawl.Believe(e, p, l.Facts())
	}
	switch {
	case why == "":
		return l
	case why == crawl.Repeat:
		return nil
	case why == crawl.Gap && l.ClosedAt == 0:
		x.fx.Broken = append(x.fx.Broken, l.ID)
	case why == crawl.Gap && !p.Final: // it was recalled, and its node does not know that
		x.fx.Late = append(x.fx.Late, l)
	}
	if l == nil {
		x.fx.Strange = append(x.fx.Strange, Strange{e.Node, p.Lease})
	}
	if x.fx.Doubted++; x.fx.Doubted <= maxIgnored {
		x.fx.Ignored = append(x.fx.Ignored, fmt.Sprintf("part %d of lease %d from %s: %s", p.No, p.Lease, e.Node, why))
	}
	return nil
}

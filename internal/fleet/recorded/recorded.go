// Package recorded reads a crawl or a fleet from its ledger for the simulator: what its nodes were, what its leases did, and
// what was learned of them.
package recorded

import (
	"context"
	"errors"
	"fmt"

	"argosy/internal/fleet/ledger"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/sim"
)

// MaxFacts bounds what is kept of a recording, about 150 bytes each.
const MaxFacts = 4_000_000

// ErrTooLong says that a recording holds more facts than are wanted.
var ErrTooLong = errors.New("more facts than can be replayed")

// ErrOlder says that a version which did not record what a replay needs has written a ledger.
var ErrOlder = errors.New("it was recorded by a version that did not keep what a replay needs")

// Read returns what a ledger has recorded of a job, if that is at most so many facts. Of the delays that requests tell one for each pair
// and second is kept.
func Read(ctx context.Context, l *ledger.Ledger, job uint32, most int) (r sim.Recording, err error) {
	j, err := l.Job(ctx, job)
	if err != nil {
		return r, fmt.Errorf("job %d: %w", job, err)
	}
	r.Strategy, r.Left, r.Widths = j.Strategy, map[string]float64{}, j.Limits.SiteConnections
	r.Delay = j.Limits.Delay.Seconds()
	r.Lease = sim.LeaseShape{Bits: float64(j.Limits.LeasePages), Seconds: j.Limits.LeaseTime.Seconds()}
	fleet, err := l.Fleet(ctx)
	if err != nil {
		return r, err
	}
	died, held, err := l.Died(ctx, job)
	if err != nil {
		return r, err
	}
	r.Held = held
	known := map[string]bool{}
	for _, n := range fleet {
		known[n.Info.Node] = true
		r.Nodes = append(r.Nodes, sim.RecordedNode{
			ID: n.Info.Node, Labels: n.Info.Labels, Leases: n.Info.Leases, Requests: n.Info.Concurrency, Bandwidth: n.Info.Offer[2], Came: n.Came, Gone: n.Gone, Died: died[n.Info.Node],
		})
	}
	err = l.Spans(ctx, job, func(s *ledger.Span) error {
		if !known[s.Node] {
			return ErrOlder
		}
		r.Left[s.Site] = float64(s.Pending)
		r.Leases = append(r.Leases, sim.RecordedLease{
			Node: s.Node, Site: s.Site, Started: s.Started, Ended: s.Ended, Worked: float64(s.WorkedUS) / 1e6,
			Given: float64(s.Given), Asked: float64(s.Asked), Good: float64(s.Good), Bits: float64(s.Bits),
		})
		return nil
	})
	if err != nil {
		return r, err
	}
	if len(r.Leases) == 0 {
		return r, ErrOlder
	}
	last := map[[2]string]int64{}
	err = l.Facts(ctx, job, func(f learn.Fact) error {
		if f.Kind == learn.Delay {
			pair := [2]string{f.Node, f.Site}
			if last[pair] == f.At/1000 {
				return nil
			}
			last[pair] = f.At / 1000
		}
		if len(r.Facts) == most {
			return fmt.Errorf("%w (%d)", ErrTooLong, most)
		}
		r.Facts = append(r.Facts, f)
		return nil
	})
	return r, err
}

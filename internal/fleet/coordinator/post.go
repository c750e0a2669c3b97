package coordinator

import (
	"context"
	"log/slog"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/term"
)

// post sends messages to nodes. What they say is in the log: one that is lost is made up for.
type post struct {
	out    Dispatcher
	logger *slog.Logger
	ending map[uint64]bool // open leases that were asked to end
}

// forget takes back what was sent of a lease and not read yet. It would expire by itself.
func (p *post) forget(ctx context.Context, node string, lease uint64) {
	_ = p.out.Forget(ctx, node, lease)
}

// send dispatches a message. A failure is only noted: what it says is in the log.
func (p *post) send(ctx context.Context, node string, d *crawl.Dispatch) {
	d.Version = crawl.WireVersion
	if d.Kind == crawl.DispatchDrain {
		p.ending[d.LeaseID] = true
	}
	lease := max(d.LeaseID, idOf(d.Lease))
	if d.Kind == crawl.DispatchRecall {
		lease = 0 // not among the lease's messages: those are being deleted
	}
	b, err := crawl.Marshal(d)
	if err == nil {
		err = p.out.Dispatch(ctx, node, lease, b)
	}
	if err != nil && ctx.Err() == nil {
		p.logger.Warn("dispatch failed", "node", node, "error", err)
	}
}

// sendTerm dispatches what begins a lease's term, or renews it, with how old that is at this very moment, for a turn of the loop may be long;
// progress is the zero time where the lease is over.
func (p *post) sendTerm(ctx context.Context, node string, progress time.Time, d *crawl.Dispatch) {
	if !progress.IsZero() {
		d.AgeMS = term.Age(time.Now(), progress).Milliseconds()
	}
	p.send(ctx, node, d)
}

func idOf(l *crawl.Lease) uint64 {
	if l == nil {
		return 0
	}
	return l.ID
}

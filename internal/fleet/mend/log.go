package mend

import (
	"context"
	"errors"
	"fmt"
	"os"

	"argosy/internal/crawl"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
)

// told is what the log of a directory still tells that neither frontier nor archives have: it forgets what both sinks have applied, in
// large steps.
type told struct {
	rounds   []toldRound
	outcomes map[toldPage]*crawl.Outcome
	leases   map[uint64]*toldLease
}

type toldRound struct {
	at    int64
	round *crawl.Round
}

type toldPage struct {
	job  uint32
	page crawl.Page
}

type toldLease struct {
	job   uint32
	facts crawl.Facts
}

// errRead says that all of the log was read that was asked for.
var errRead = errors.New("enough")

// readLog returns what the log of a crawl's directory tells up to an entry. That of a fleet is not read: its bus asks for keys.
func readLog(ctx context.Context, dir string, to uint64) (*told, error) {
	t := &told{outcomes: map[toldPage]*crawl.Outcome{}, leases: map[uint64]*toldLease{}}
	if _, err := os.Stat(outdir.Bus(dir)); err != nil || outdir.Fleet(dir) {
		return t, nil
	}
	s, err := bus.Serve(bus.DefaultConfig(outdir.Bus(dir)))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	c, err := s.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	first, err := c.First(ctx)
	if err != nil {
		return nil, err
	}
	_, last, err := c.Refresh(ctx)
	if to = min(to, last); err != nil || to == 0 || first > to {
		return t, err
	}
	err = c.Read(ctx, first, func(seq uint64, at int64, node string, data []byte) error {
		if e, err := crawl.DecodeEntry(data); err == nil && node != bus.Nobody {
			e.Node = node
			t.entry(at, &e)
		}
		if seq >= to {
			return errRead
		}
		return nil
	})
	if errors.Is(err, errRead) {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	return t, ctx.Err()
}

// entry takes in an entry: of parts, those of leases that were granted in what is left of the log.
func (t *told) entry(at int64, e *crawl.Entry) {
	switch e.Kind {
	case crawl.EntryRound:
		t.rounds = append(t.rounds, toldRound{at, e.Round})
	case crawl.EntryGrant:
		for i := range e.Leases {
			l := &e.Leases[i]
			t.leases[l.ID] = &toldLease{l.Job, crawl.Facts{Node: l.Node, Incarnation: l.Incarnation, Epoch: l.Epoch, Attempt: l.Attempt, Secret: l.Secret}}
		}
	case crawl.EntryParts:
		for i := range e.Parts {
			p := &e.Parts[i]
			l := t.leases[p.Lease]
			if l == nil || crawl.Believe(e, p, l.facts) != "" {
				continue
			}
			l.facts.Parts = p.No
			for k := range p.Outcomes {
				o := &p.Outcomes[k]
				t.outcomes[toldPage{l.job, crawl.Page{Layer: o.Layer(), Key: o.Key}}] = o
			}
		}
	}
}

// adds completes an outcome that was put together from the frontier and the archives by what the log tells of it, if that is of the
// same bytes.
func (t *told) adds(job uint32, o *crawl.Outcome) {
	said := t.outcomes[toldPage{job, crawl.Page{Layer: o.Layer(), Key: o.Key}}]
	if said == nil || said.State != o.State || said.Digest != o.Digest {
		return
	}
	full := *said
	full.Record, full.Text, full.Revisit, full.Depth = o.Record, o.Text, o.Revisit, o.Depth
	*o = full
}

// markets writes the markets that the log tells of.
func (t *told) markets(to *ledger.Restorer) error {
	for _, r := range t.rounds {
		if err := to.Market(r.at, r.round); err != nil {
			return err
		}
	}
	return nil
}

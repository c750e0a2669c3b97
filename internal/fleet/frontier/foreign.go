package frontier

import (
	"fmt"
	"slices"

	"argosy/internal/crawl"
)

// Foreign takes out of a node's entry the outcomes of what its leases cannot hold, and says which: URLs that their tasks do not have,
// keys of other URLs, pages of another layer, and what is archived beside pages but lies on another site. Measurements of what a lease
// was not sent to measure are taken out likewise. It is called before the
// entry is applied, so that frontier and ledger hear of the same pages; a record that is there stays, so that it makes no difference
// whether the frontier has applied the entry before.
func (f *Frontier) Foreign(e *crawl.Entry) (refused []crawl.Refusal, err error) {
	look := finder{db: f.db}
	defer func() {
		if bad := look.close(); err == nil {
			err = damaged(bad)
		}
	}()
	for i := range e.Parts {
		p := &e.Parts[i]
		l := f.leases[p.Lease]
		if l == nil || f.tasks[l.Task] == nil {
			continue // no part of it is believed
		}
		if k := slices.IndexFunc(p.Measures, func(m crawl.Measure) bool { return l.Probe == "" || m.URL != l.Probe }); k >= 0 {
			p.Measures = nil
			refused = append(refused, crawl.Refusal{Lease: p.Lease, No: p.No, Fault: &crawl.Fault{Field: fmt.Sprintf("measures[%d].url", k), Rule: crawl.RuleHeld}})
		}
		t := f.tasks[l.Task]
		kept := p.Outcomes
		for k := range p.Outcomes {
			o := &p.Outcomes[k]
			field, late, err := f.foreign(&look, t, l, o)
			switch {
			case err != nil:
				return refused, err
			case field == "":
				if len(kept) < len(p.Outcomes) {
					kept = append(kept, *o)
				}
				continue
			case len(kept) == len(p.Outcomes):
				kept = slices.Clone(p.Outcomes[:k])
			}
			if !late {
				refused = append(refused, crawl.Refusal{Lease: p.Lease, No: p.No, Fault: &crawl.Fault{Field: fmt.Sprintf("outcomes[%d].%s", k, field), Rule: crawl.RuleHeld}})
			}
		}
		p.Outcomes = kept
	}
	return refused, nil
}

// foreign returns which field of an outcome is none of a lease's; empty: it may be one. late says that the URL was the lease's, and has
// gone to another task since.
func (f *Frontier) foreign(look *finder, t *Task, l *Lease, o *crawl.Outcome) (field string, late bool, err error) {
	if o.State == crawl.Beside {
		u, err := crawl.Parse(o.URL)
		switch {
		case err != nil || u.String() != o.URL || !crawl.StandsBeside(l.Site, u):
			return "url", false, nil
		case u.Key() != o.Key:
			return "key", false, nil
		}
		return "", false, nil
	}
	if o.Layer() != t.space().Layer {
		return "layer", false, nil
	}
	r, err := f.load1(look, recKey{t.space(), o.Key})
	switch {
	case err != nil:
		return "", false, err
	case r == nil:
		return "key", false, nil
	case r.URL != o.URL:
		return "url", false, nil
	case r.Task != t.ID:
		return "key", true, nil
	}
	return "", false, nil
}

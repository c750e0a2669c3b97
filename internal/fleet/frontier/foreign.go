package frontier

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"argosy/internal/crawl"
)

// foreign is what of a node's entry its lease cannot hold.
type foreign struct {
	Part  int    `cbor:"1,keyasint"`
	No    int    `cbor:"2,keyasint"`           // outcome of the part; allMeasures: all that it measured
	Field string `cbor:"3,keyasint,omitempty"` // that says so; empty: it was the lease's, and is not any more
}

const allMeasures = -1

var foreignPrefix = []byte{'f'}

// foreignKey is where it stands what was foreign in an entry that was applied.
func foreignKey(seq uint64) []byte { return binary.BigEndian.AppendUint64([]byte{'f'}, seq) }

// Foreign takes out of a node's entry, which stands at seq, the outcomes of what its leases cannot hold, and says which: URLs that their
// tasks do not have, keys of other URLs, pages of another layer, and what is archived beside pages but lies on another site.
// Measurements of what a lease was not sent to measure are taken out likewise. It is called before the entry is applied, so that
// frontier and ledger hear of the same pages. Of an entry that was applied before, what was foreign then is: tasks, leases and URLs
// have changed since, and a ledger that is behind gets what it would have got. An entry that an older version applied, which kept nothing,
// is judged as things are by now.
func (f *Frontier) Foreign(seq uint64, e *crawl.Entry) (refused []crawl.Refusal, err error) {
	var all []foreign
	applied := seq <= f.pos.Seq
	if applied {
		err = f.get(foreignKey(seq), &all)
		switch none := errors.Is(err, pebble.ErrNotFound); {
		case err != nil && !none:
			return nil, damaged(err)
		case !none || f.pos.Judged > 0 && seq >= f.pos.Judged:
			return takeOut(e, all), nil
		}
	}
	if all, err = f.judge(e); err != nil {
		return nil, err
	}
	if !applied {
		f.verdict.seq, f.verdict.all = seq, all
	}
	return takeOut(e, all), nil
}

// judge finds what is foreign in an entry, part by part.
func (f *Frontier) judge(e *crawl.Entry) (all []foreign, err error) {
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
			all = append(all, foreign{i, allMeasures, fmt.Sprintf("measures[%d].url", k)})
		}
		for k := range p.Outcomes {
			field, late, err := f.foreign(&look, f.tasks[l.Task], l, &p.Outcomes[k])
			switch {
			case err != nil:
				return nil, err
			case late:
				all = append(all, foreign{i, k, ""})
			case field != "":
				all = append(all, foreign{i, k, fmt.Sprintf("outcomes[%d].%s", k, field)})
			}
		}
	}
	return all, nil
}

// takeOut takes out of an entry what is foreign in it, and says what of that is refused.
func takeOut(e *crawl.Entry, all []foreign) (refused []crawl.Refusal) {
	for len(all) > 0 && all[0].Part < len(e.Parts) {
		p, out := &e.Parts[all[0].Part], map[int]bool{}
		for part := all[0].Part; len(all) > 0 && all[0].Part == part; all = all[1:] {
			if out[all[0].No] = true; all[0].Field != "" {
				refused = append(refused, crawl.Refusal{Lease: p.Lease, No: p.No, Fault: &crawl.Fault{Field: all[0].Field, Rule: crawl.RuleHeld}})
			}
		}
		if out[allMeasures] {
			p.Measures = nil
		}
		var kept []crawl.Outcome
		for k := range p.Outcomes {
			if !out[k] {
				kept = append(kept, p.Outcomes[k])
			}
		}
		p.Outcomes = kept
	}
	return refused
}

// keepForeign keeps what was foreign in the entry that is applied, for as long as the log has that.
func (x *tx) keepForeign(seq uint64) error {
	all := x.f.verdict.all
	if x.f.verdict.seq != seq || len(all) == 0 {
		return nil
	}
	return x.set(foreignKey(seq), all)
}

// Trimmed lets go of what is kept of entries up to seq, which the log does not have any more.
func (f *Frontier) Trimmed(seq uint64) error {
	return f.unkeep(foreignPrefix, foreignKey(seq+1))
}

// unkeep forgets what was foreign in entries, by their keys.
func (f *Frontier) unkeep(from, to []byte) error {
	it, err := f.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
	if err != nil {
		return damaged(err)
	}
	for it.First(); it.Valid() && err == nil; it.Next() { // there are few: a range that is deleted costs every later reader
		err = f.db.Delete(it.Key(), pebble.NoSync)
	}
	return errors.Join(err, damaged(it.Close()))
}

// foreign returns which field of an outcome is none of a lease's; empty: it may be one. late says that the URL was the lease's, and has
// gone to another task since, or its search was changed.
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
	in := t.space()
	if own := in.Layer; o.Layer() != own {
		if in.Layer = o.Layer(); in.Owner != own.Owner || in.Gen > own.Gen || l.ClosedAt == 0 {
			return "layer", false, nil
		}
	}
	r, err := f.load1(look, recKey{in, o.Key})
	switch {
	case err != nil:
		return "", false, err
	case r == nil:
		return "key", false, nil
	case r.URL != o.URL:
		return "url", false, nil
	case r.Task != t.ID, in != t.space():
		return "key", true, nil
	}
	return "", false, nil
}

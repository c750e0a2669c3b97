package frontier

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"argosy/internal/crawl"
	"argosy/internal/plan/learn"
)

// Facts of measurements stand in the view beside what they were reported with, so that a coordinator that starts again knows
// what the last one had learned, at the very position of the view: a checkpoint of the record, and the facts after it.

// knowledge is a checkpoint of what was learned.
type knowledge struct {
	Seq    uint64 `cbor:"1,keyasint"` // facts up to this entry are in it
	Record []byte `cbor:"2,keyasint"`
	Tally  []byte `cbor:"3,keyasint,omitempty"`
}

var (
	knowledgeKey = []byte("m/knowledge")
	factPrefix   = []byte{'k'}
)

func factKey(seq uint64) []byte { return binary.BigEndian.AppendUint64([]byte{'k'}, seq) }

// worker is whose lease it is, for facts.
func (x *tx) worker(l *Lease) learn.Worker {
	w := learn.Worker{Node: l.Node, Site: l.Site, Probes: l.Probe != "" || l.Resolve}
	if j := x.f.jobs[l.Job]; j != nil {
		w.Product = j.Placing.Product
	}
	return w
}

// keepFacts puts the entry's facts into its batch.
func (x *tx) keepFacts(seq uint64) error {
	if len(x.fx.Facts) == 0 {
		return nil
	}
	return x.set(factKey(seq), x.fx.Facts)
}

// probed tells what has come of a lease that ends, if it was there to measure.
func (x *tx) probed(l *Lease, reason string) {
	switch {
	case l.Probe == "":
	case slices.Contains(crawl.Concludes, reason):
		x.fx.Facts = append(x.fx.Facts, learn.Ended(x.worker(l), l.Ping, x.at))
	default:
		x.fx.Facts = append(x.fx.Facts, learn.OfLoss(x.worker(l), x.at))
	}
}

// sealed closes a lease that its holder has ended.
func (x *tx) sealed(t *Task, l *Lease, reason string) error {
	x.probed(l, reason)
	x.hasRead(t, l, reason)
	tried := l.Given - l.Held
	if l.Given > 0 && !l.Resolve {
		t.Did = Did{Quota: l.Quota, BudgetMS: l.BudgetMS, Tried: tried, Collected: l.Collected, TookMS: x.at - l.StartMS, Out: reason == crawl.EndBudget, Known: true}
	}
	x.fx.Ended = append(x.fx.Ended, Ended{l, reason, tried})
	return x.close(t, l)
}

// Learner returns what was learned up to the view's position: the last checkpoint, and every fact since. A checkpoint that is
// damaged is dropped: measurements are made again, and no page depends on them.
func (f *Frontier) Learner() (*learn.Learner, error) {
	var k knowledge
	learner := learn.New()
	switch err := f.get(knowledgeKey, &k); {
	case errors.Is(err, pebble.ErrNotFound):
	case err != nil:
		return nil, err
	default:
		if was, err := learn.Resume(k.Record, k.Tally); err == nil {
			learner = was
		}
	}
	return learner, f.each(factPrefix, func(key, value []byte) error {
		if binary.BigEndian.Uint64(key[1:]) <= k.Seq {
			return nil
		}
		var facts []learn.Fact
		if err := crawl.Unmarshal(value, &facts); err != nil {
			return err
		}
		for _, fact := range facts {
			learner.Take(fact)
		}
		return nil
	})
}

// KeepLearned writes a checkpoint of a learner that has taken in all facts up to the view's position, and forgets those.
// It is durable with the next Sync.
func (f *Frontier) KeepLearned(learner *learn.Learner) error {
	record, err := learner.Encode()
	if err != nil {
		return err
	}
	tally, err := learner.Tally().Encode()
	if err != nil {
		return err
	}
	value, err := crawl.Marshal(knowledge{Seq: f.pos.Seq, Record: record, Tally: tally})
	if err != nil {
		return err
	}
	b := f.db.NewBatch()
	defer b.Close()
	if err := b.Set(knowledgeKey, value, nil); err != nil {
		return err
	}
	drop := func(key, _ []byte) error { return b.Delete(key, nil) } // one by one: a range that is deleted costs every later reader
	if err := f.each(factPrefix, drop); err != nil {
		return err
	}
	return b.Commit(pebble.NoSync)
}

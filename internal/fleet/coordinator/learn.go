package coordinator

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
)

// reader is how one strategy reads what the fleet has learned: through a book of its own configuration.
type reader struct {
	strategy schedule.Strategy
	book     *predict.Book

	modify *schedule.ModifyConfig

	wants schedule.Measures

	key string // of it among readers

	marks  []string          // landmarks
	how    string            // they were chosen
	chosen string            // what of: nodes and, while those decide, delays between them
	basis  []byte            // room for that: a thousand nodes have their names written down in every cycle
	kept   *crawl.Landmarks  // the choice as grants tell it, where delays made it
	was    []crawl.Landmarks // choices of earlier leaders, until one of them is gone on with

	before *predict.Book // see shown; nil: a cycle was planned, or nobody has looked

	told forecasts
}

// lore owns what the fleet has learned, and how strategies read it.
type lore struct {
	strategies func(spec string) (schedule.Strategy, error)
	logger     *slog.Logger
	learned    *learn.Learner     // from all facts of the fleet
	facts      int                // taken in since it was written down
	readers    map[string]*reader // by strategy, and what jobs say of landmarks
}

// reader returns a strategy's reader; the first call makes it. Jobs that name landmarks, or the only store that nodes may write to, have one
// of their own where landmarks count: among others' nodes others would be chosen, and a book is fitted anew for each.
func (k *lore) reader(spec string, of *crawl.Placing) (*reader, error) {
	r, err := k.readerOf(spec, spec)
	if err != nil || r.wants.Delay == schedule.None || of.Store == "" && len(of.Landmarks) == 0 {
		return r, err
	}
	return k.readerOf(spec, fmt.Sprintf("%s %q %q", spec, of.Store, of.Landmarks))
}

// readerOf returns the reader of that key.
func (k *lore) readerOf(spec, key string) (*reader, error) {
	if r := k.readers[key]; r != nil {
		return r, nil
	}
	st, err := k.strategies(spec)
	if err != nil {
		return nil, err
	}
	wants, err := schedule.Wants(st, "")
	if err != nil {
		return nil, err
	}
	r := &reader{key: key, strategy: st, book: k.learned.Record().Book(wants.Book), wants: wants}
	if m, ok := st.(schedule.Modifier); ok {
		if cfg, yes := m.Modifies(); yes {
			r.modify = &cfg
		}
	}
	k.readers[key] = r
	return r, nil
}

// landmarks chooses the nodes that measure for all others, by their places: those that the job names, else those that the
// strategy chooses. They stay the same while the nodes do, but for delays that tell better.
func (k *lore) landmarks(r *reader, given []string, nodes []schedule.Node, now int64) []int {
	of := r.wants.Landmark
	if r.wants.Delay == schedule.None || r.wants.Delay == schedule.Worth && len(nodes) <= of.Count {
		r.marks, r.how, r.chosen, r.kept = nil, "", "", nil // nobody measures for others
		return nil
	}
	if len(given) > 0 {
		of = schedule.Landmarks{Given: given, Count: of.Count}
	}
	from := r.basis[:0]
	for _, id := range given {
		from = append(append(from, ' '), id...)
	}
	for i := range nodes {
		from = append(append(from, '\n'), nodes[i].ID...)
	}
	names := len(from)
	if r.how == learn.ByOrder {
		from = strconv.AppendInt(append(from, '\n'), int64(k.learned.Tally().Sum().Between), 10)
	}
	r.basis = from
	if string(from) != r.chosen {
		marks, how := r.choose(of, nodes, from[:names], now)
		ids, numbers := make([]string, len(marks)), make([]int, len(marks))
		for k, i := range marks {
			ids[k], numbers[k] = nodes[i].ID, nodes[i].Book
		}
		r.chosen = string(from)
		if !slices.Equal(ids, r.marks) || how != r.how {
			r.marks, r.how = ids, how
			r.book.SetLandmarks(numbers)
			k.logger.Info("landmarks", "nodes", ids, "chosen", how)
		}
	}
	var places []int
	for i := range nodes {
		if slices.Contains(r.marks, nodes[i].ID) {
			places = append(places, i)
		}
	}
	return places
}

// shape changes a lease's quota and budget by what the last one of its task did. Of a search the quota counts result pages, and the
// completion rate is that of what it has named: how much of what was tried to be had was collected.
func (r *reader) shape(lease *crawl.Lease, t *frontier.Task, w *schedule.Task, node int, now int64) {
	if r.modify == nil {
		return
	}
	cfg := *r.modify
	if w.Bound != "" || t.Of != nil { // it has no other node to go to; a search learns of its pair by what it names
		cfg.First = 0
	}
	s, ok := schedule.Subtask{Quota: lease.Quota, Budget: msec(lease.BudgetMS)}, t.Did.Known
	if d := &t.Did; ok {
		s = schedule.Subtask{Quota: int(d.Quota), Budget: msec(d.BudgetMS), Exist: int(d.Tried), Collected: int(d.Collected), Took: msec(d.TookMS), Out: d.Out}
	}
	if t.Of != nil {
		cfg = cfg.Searches()
		tried := t.Of.Collected + t.Of.Lost
		if s.Rated = tried > 0; s.Rated {
			s.Rate = float64(t.Of.Collected) / float64(tried)
		}
		ok = ok && s.Rated
	}
	if !ok && cfg.First == 0 {
		return // nothing says whether it is worth it
	}
	good, all := r.book.Served(node, w.Rated(), now)
	var budget time.Duration
	lease.Quota, budget = schedule.Shape(cfg, s, good, all)
	lease.BudgetMS = budget.Milliseconds()
}

// isProbed reports whether something of a pair was measured, or was tried to be, or was sent to be measured.
func (k *lore) isProbed(site, node int, ping bool) bool {
	return k.hasMeasured(site, node, ping) || k.learned.Record().WasTried(node, site, ping) || k.learned.Tally().Sent(node, site, ping)
}

func (k *lore) hasMeasured(site, node int, ping bool) bool {
	if ping {
		return k.learned.Record().Timed(node, site)
	}
	return k.learned.Record().Probed(node, site)
}

// Measured counts what the fleet has measured, besides what leases tell. It is called when Run has ended.
func (c *Coordinator) Measured() (sum schedule.Measured) {
	if c.lore.learned == nil { // it has not come so far
		return sum
	}
	return c.lore.learned.Tally().Sum()
}

// learnEvery is after how many facts what was learned is written down, so that a restart reads back at most as many.
const learnEvery = 20_000

// take takes in what an entry has measured.
func (k *lore) take(fx *frontier.Effects) {
	for _, fact := range fx.Facts {
		k.foretold(&fact)
		k.learned.Take(fact)
	}
	k.facts += len(fx.Facts)
}

// keep writes down what was learned when enough has come since it was written last.
func (k *lore) keep(f *frontier.Frontier) error {
	if k.facts < learnEvery {
		return nil
	}
	k.facts = 0
	return f.KeepLearned(k.learned)
}

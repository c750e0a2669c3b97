package ledger

import (
	"sync/atomic"

	"argosy/internal/crawl"
)

// remade says whether a ledger was made anew. Then records of which the log had not told yet count beside the pages, until it does.
type remade struct{ state atomic.Int32 }

// States of remade; 0: it is not known.
const (
	remadeNot = 1
	remadeYes = 2
)

func (r *remade) is() bool { return r.state.Load() != remadeNot }

// named is the record of a page.
type named struct {
	job uint32
	at  crawl.Location
}

// nameOnce forgets beside the pages the records of those that have been written since.
func (w *writer) nameOnce() error {
	rows := w.named
	w.named = nil
	if len(rows) == 0 {
		return nil
	}
	if w.remade.state.Load() == 0 {
		var some bool // the lease of these is known to nobody
		if err := w.tx.QueryRowContext(w.ctx, `SELECT EXISTS (SELECT 1 FROM captures WHERE lease = 0)`).Scan(&some); err != nil {
			return err
		}
		if !some {
			w.remade.state.Store(remadeNot)
			return nil
		}
		w.remade.state.Store(remadeYes)
	}
	for _, n := range rows {
		err := w.exec(`DELETE FROM captures WHERE job = ? AND warc = ? AND warc_at = ? AND EXISTS (SELECT 1 FROM pages WHERE pages.job = captures.job
AND pages.owner = captures.owner AND pages.gen = captures.gen AND pages.key = captures.key AND pages.warc = captures.warc AND pages.warc_at = captures.warc_at)`,
			n.job, n.at.File, n.at.Offset)
		if err != nil {
			return err
		}
	}
	return nil
}

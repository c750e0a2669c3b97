package coordinator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
)

// gapped is a log that lacks entries in the middle: whoever reads it is told so where they are missing.
type gapped struct {
	*memory
	from, to uint64
}

func (g gapped) lacks(seq uint64) bool { return seq >= g.from && seq < g.to }

func (g gapped) Read(ctx context.Context, from uint64, fn func(uint64, int64, string, []byte) error) error {
	for _, e := range g.entries {
		switch {
		case e.seq < from:
			continue
		case g.lacks(e.seq):
			return fmt.Errorf("%w: entry %d is wanted, %d is the first", crawl.ErrTrimmed, e.seq, g.to)
		}
		if err := fn(e.seq, e.at, e.node, e.data); err != nil {
			return err
		}
		from = e.seq + 1
	}
	return g.memory.Read(ctx, from, fn)
}

func (g gapped) At(ctx context.Context, seq uint64) (uint64, int64, error) {
	if g.lacks(seq) {
		return g.first, 0, nil
	}
	return g.memory.At(ctx, seq)
}

// A coordinator that reads on until entries are missing in the middle of its log has applied all before them by then, sees that they are
// missing, and leads, whichever of its goroutines comes first.
func TestGapBehindEntries(t *testing.T) {
	const before, missing, behind = 40, 3, 5
	for range 20 {
		log := newMemory()
		b, err := crawl.Marshal(&crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntryMark})
		if err != nil {
			t.Fatal(err)
		}
		for range before + missing + behind {
			log.add("", b)
		}
		dir := t.TempDir()
		f, err := frontier.Open(frontier.DefaultConfig(filepath.Join(dir, "frontier")))
		if err != nil {
			t.Fatal(err)
		}
		l, err := ledger.Open(t.Context(), filepath.Join(dir, "ledger.db"))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Rebase("log", 0), l.Rebase(t.Context(), "log", 0)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		co := New(Config{Serve: true, Led: cancel}, gapped{log, before + 1, before + missing + 1}, nil, nowhere{}, f, l)
		err = co.Run(ctx)
		if err != nil && !errors.Is(err, context.Canceled) || !co.sinks.leads || !co.sinks.lost {
			t.Errorf("leads %v, knows of the gap %v, with %d entries applied: %v", co.sinks.leads, co.sinks.lost, f.Position().Seq, err)
		}
		cancel()
		if err := errors.Join(l.Close(), f.Close()); err != nil {
			t.Error(err)
		}
	}
}

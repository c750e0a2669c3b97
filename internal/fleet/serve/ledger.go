package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
)

// ErrOtherLedger says that a ledger is not that of this fleet.
var ErrOtherLedger = errors.New("this fleet's ledger is another one")

// ledgerRecord is the record on the bus of which ledger is the fleet's. Coordinators that share a bus must share a ledger: else the one that
// leads writes what the other one lacks, and the log forgets it.
const ledgerRecord = "ledger"

// openLedger opens the fleet's ledger, and refuses any other: a coordinator that is pointed at another fleet's would take that fleet's jobs
// for its own. was is where the directory's ledger was before.
func (s *Server) openLedger(ctx context.Context, was string) error {
	path := s.cfg.Ledger
	if path == "" {
		path = filepath.Join(s.cfg.Dir, outdir.LedgerFile)
	}
	k, err := s.knownLedgers(ctx)
	if err != nil {
		return err
	}
	k.before = was == k.place
	own := s.cfg.Ledger == ""
	if own && was != "" && k.want.ID == "" {
		return s.otherLedger(k.place, outdir.Ledger{Place: was})
	}
	if _, err := os.Stat(path); own && k.want.ID != "" && !k.here && errors.Is(err, os.ErrNotExist) {
		return s.otherLedger(k.place, k.want) // before there is an empty one
	}
	if s.ledger, err = ledger.OpenNow(ctx, path); err != nil || own && !s.elsewhere() && k.want.ID == "" { // that nobody else has
		return err
	}
	if err = s.claimLedger(ctx, k); err != nil {
		err = errors.Join(err, s.ledger.Close())
	}
	return err
}

// claimAgain notes on a bus that has lost it which ledger is the fleet's.
func (s *Server) claimAgain(ctx context.Context) error {
	if !s.elsewhere() {
		return nil
	}
	k, err := s.knownLedgers(ctx)
	if err != nil {
		return err
	}
	return s.claimLedger(ctx, k)
}

// knownLedgers reads what directory and bus know of the fleet's ledger.
func (s *Server) knownLedgers(ctx context.Context) (k ledgers, err error) {
	if k.place = ledger.WithoutPassword(s.cfg.Ledger); s.cfg.Ledger == "" {
		k.place = "that in the directory of coordinator " + s.cfg.Name
	}
	known, err := outdir.KnownLedger(s.cfg.Dir)
	if err != nil {
		return k, err
	}
	if s.elsewhere() {
		if k.records, err = s.client.Fleet(ctx); err != nil {
			return k, err
		}
		var b []byte
		if b, k.rev, err = k.records.Get(ctx, ledgerRecord); err == nil {
			k.recorded = outdir.ParseLedger(string(b))
		} else if !errors.Is(err, bus.ErrNoRecord) {
			return k, err
		}
	}
	if k.want = k.recorded; k.want.ID == "" {
		k.want = known
	}
	k.here = known.ID == k.want.ID && known.Place == k.place
	return k, nil
}

// ledgers is what is known of a fleet's ledger.
type ledgers struct {
	place    string        // of the one that was opened
	want     outdir.Ledger // the fleet's; the zero value: nobody has noted it
	here     bool          // that was at the place, as this directory knows, even if nothing is there any more
	before   bool          // the directory's was at the place, by what older versions note
	records  *bus.Records  // on the bus; nil: that is this directory's
	recorded outdir.Ledger // there
	rev      uint64
}

// claimLedger checks that the ledger is the fleet's, and notes that it is.
func (s *Server) claimLedger(ctx context.Context, k ledgers) error {
	id, err := s.ledger.Identity(ctx)
	if err != nil {
		return err
	}
	empty, err := s.ledger.Empty(ctx)
	if err != nil {
		return err
	}
	switch {
	case k.want.ID != "" && id != k.want.ID && !(id == "" && k.here):
		return s.otherLedger(k.place, k.want)
	case k.want.ID == "" && s.cfg.Ledger != "" && !empty && !k.before:
		stream, _, err := s.client.Refresh(ctx)
		if err != nil {
			return err
		}
		if at, _ := s.ledger.Position(); at == "" || at != stream && at != s.f.Position().Stream {
			return fmt.Errorf("%w: %s holds another fleet's jobs: give another database; if that fleet is gone for good and its jobs are to begin again here: argosy rebuild frontier %s --ledger URL",
				ErrOtherLedger, k.place, s.cfg.Dir)
		}
	}
	if k.want.ID == "" {
		k.want.ID = rand.Text()
	}
	is := outdir.Ledger{Place: k.place}
	if is.ID, err = s.ledger.Identify(ctx, k.want.ID); err != nil {
		return err
	}
	if k.records != nil && is != k.recorded {
		_, err := k.records.Put(ctx, ledgerRecord, []byte(is.String()), k.rev)
		if errors.Is(err, bus.ErrChanged) { // another coordinator was first, with this ledger or with another one
			var b []byte
			if b, _, err = k.records.Get(ctx, ledgerRecord); err == nil && outdir.ParseLedger(string(b)).ID != is.ID {
				err = s.otherLedger(k.place, outdir.ParseLedger(string(b)))
			}
		}
		if err != nil {
			return err
		}
	}
	return outdir.NoteLedger(s.cfg.Dir, is)
}

// otherLedger says that the fleet's ledger is not the one at a place.
func (s *Server) otherLedger(place string, is outdir.Ledger) error {
	how := "start this coordinator with that one"
	if s.cfg.Ledger == "" {
		how = "no --ledger was given"
	}
	return fmt.Errorf("%w: %s, and not %s: %s", ErrOtherLedger, is.Place, place, how)
}

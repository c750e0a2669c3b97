package frontier

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// roomEvery is how long a store waits before it writes again what a full disk has not taken. Pebble by itself tries for ever without a pause.
const roomEvery = 200 * time.Millisecond

// errNoRoom says that the disk has no room for what the store's own log holds. It is ENOSPC to those who ask.
var errNoRoom = fmt.Errorf("there is no room to write what its log holds: %w", syscall.ENOSPC)

// Open opens or creates a frontier and loads what it keeps in memory: jobs, tasks, sites and leases, but no URLs. A store that is damaged may
// also panic; that is an error as well.
func Open(c Config) (f *Frontier, err error) {
	defer func() {
		if what := recover(); what != nil {
			err = fmt.Errorf("open frontier %s: %w: %v", c.Dir, ErrDamaged, what)
		}
	}()
	return openAll(c)
}

// errFull says that the disk has no room for what an open store writes. It is ENOSPC to those who ask.
var errFull = fmt.Errorf("frontier: there is no room to write what has come: %w", syscall.ENOSPC)

// openStore opens a store. Where the disk has no room for what its log holds it fails, or waits for some, as c.Await says.
func openStore(c Config, o *pebble.Options) (*pebble.DB, error) {
	full := make(chan struct{}, 1)
	var begun atomic.Bool
	o.FS = vfs.OnDiskFull(o.FS, func() {
		if begun.Load() {
			if c.Fatal != nil { // before Pebble hears of it: it would panic with its locks held, or try for ever to write a table
				c.Fatal(errFull)
			}
		} else {
			select {
			case full <- struct{}{}:
			default:
			}
		}
		time.Sleep(roomEvery)
	})
	type opened struct {
		db  *pebble.DB
		err error
	}
	done := make(chan opened, 1)
	go func() {
		db, err := pebble.Open(c.Dir, o)
		begun.Store(true)
		done <- opened{db, err}
	}()
	for {
		select {
		case r := <-done:
			return r.db, r.err
		case <-full:
			if c.Await != nil && c.Await() {
				continue
			}
			go func() { // it cannot be told to end; once there is room it does
				if r := <-done; r.err == nil {
					_ = r.db.Close() // nothing was written to it
				}
			}()
			return nil, errNoRoom
		}
	}
}

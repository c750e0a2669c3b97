package coordinator

import (
	"sync"
	"sync/atomic"

	"argosy/internal/fleet/ledger"
)

// window is what others see of a coordinator without waiting for its loop, which writes it. Its methods have nothing that is the loop's own.
type window struct {
	log      Log
	ledger   *ledger.Ledger
	board    board
	known    reading // of the ledger, for those who ask
	status   atomic.Pointer[Status]
	watchers watchers
	series   series
	gave     sync.Map // by job for a topic that has ended: the domains that gave way
	stuck    sync.Map // by job of which no crawler could go on: what they lacked
}

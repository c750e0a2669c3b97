package coordinator

import (
	"maps"
	"slices"
	"time"

	"argosy/internal/fleet/frontier"
)

// open owns what is known of open leases besides what the frontier knows: what they ask for, and what was sent to them.
type open struct {
	lease    func(uint64) *frontier.Lease // of the frontier; nil: it is not open
	addrs    map[uint64][]string          // of the site of each open lease
	given    map[string]time.Time         // when the last lease was given out at a place (places), if that is not long ago
	sent     map[uint64]time.Time         // when leases that have not reported were dispatched last
	wants    map[uint64]int               // URLs
	unmet    map[uint32]map[uint64]int    // by task: wants of leases that nothing could be given to, until there is something
	starved  map[uint64]uint32            // leases that may have lost refills, and how many they have taken in
	spoiled  map[uint64]bool              // leases of which a part is missing
	ordered  []uint64                     // leases that an order has closed, of which the log does not tell yet
	refilled time.Time
}

func newOpen(lease func(uint64) *frontier.Lease) open {
	return open{
		lease: lease, addrs: map[uint64][]string{}, given: map[string]time.Time{}, sent: map[uint64]time.Time{}, wants: map[uint64]int{}, unmet: map[uint32]map[uint64]int{},
		starved: map[uint64]uint32{}, spoiled: map[uint64]bool{},
	}
}

// forget lets go of a lease that is no longer open.
func (o *open) forget(l *frontier.Lease) {
	delete(o.addrs, l.ID)
	delete(o.wants, l.ID)
	if delete(o.unmet[l.Task], l.ID); len(o.unmet[l.Task]) == 0 {
		delete(o.unmet, l.Task)
	}
	delete(o.starved, l.ID)
	delete(o.sent, l.ID)
	delete(o.spoiled, l.ID)
}

// old forgets what was given out before a time.
func (o *open) old(before time.Time) {
	maps.DeleteFunc(o.given, func(_ string, at time.Time) bool { return at.Before(before) })
}

// await keeps what a lease asked for until its task has something: it may come from other sites' pages, or from pages of
// its own that tell of it while others are under way.
func (o *open) await(l *frontier.Lease, n int) {
	if o.unmet[l.Task] == nil {
		o.unmet[l.Task] = map[uint64]int{}
	}
	o.unmet[l.Task][l.ID] = n
}

// has notes that a task has something to give: leases that asked in vain ask again.
func (o *open) has(task uint32) {
	maps.Copy(o.wants, o.unmet[task])
	delete(o.unmet, task)
}

// traded has leases of a job ask again that asked in vain: its crawlers may do more after a market.
func (o *open) traded(of func(task uint32) bool) {
	for id := range o.unmet {
		if of(id) {
			o.has(id)
		}
	}
}

// take takes in what an applied entry says of leases.
func (o *open) take(fx *frontier.Effects) {
	for _, id := range fx.Reported {
		delete(o.sent, id)
	}
	for id, n := range fx.Wants {
		o.wants[id] = n
		if l := o.lease(id); l != nil {
			delete(o.unmet[l.Task], id)
		}
	}
	maps.Copy(o.starved, fx.Starved)
}

// broken returns the leases of which a part is missing, in order, once.
func (o *open) broken() []uint64 {
	ids := slices.Sorted(maps.Keys(o.spoiled))
	clear(o.spoiled)
	return ids
}

// asking returns the leases that ask for URLs, in order.
func (o *open) asking() []uint64 { return slices.Sorted(maps.Keys(o.wants)) }

// refillEvery is how long a lease that asks for URLs in good time may wait until others ask too.
const refillEvery = 500 * time.Millisecond

// runsShort reports whether a lease that asks for so many URLs does not wait for others: it has left less than a third of them, or nothing.
func runsShort(held, want int64) bool { return held <= 0 || held < want/3 }

// refillDue reports whether leases that asked for URLs are to be answered now: answers to many share an entry and its way
// to the disk, but a lease that runs short does not wait for others.
func (o *open) refillDue(now time.Time) bool {
	if now.Sub(o.refilled) >= refillEvery {
		return len(o.wants) > 0
	}
	for id, n := range o.wants {
		if l := o.lease(id); l == nil || runsShort(l.Held, int64(n)) {
			return true
		}
	}
	return false
}

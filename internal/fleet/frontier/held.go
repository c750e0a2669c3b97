package frontier

import (
	"argosy/internal/crawl"
)

// heldBy is a URL that a lease has.
type heldBy struct {
	lease uint64
	key   crawl.Key
}

// held reports whether a lease of a task has a URL.
func (x *tx) held(t *Task, k crawl.Key, r *record) (bool, error) {
	if r.lease != 0 {
		return true, nil
	}
	for id := range t.leases {
		if ok, err := x.holds(x.f.leases[id], k); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// holds tells whether a lease has a URL.
func (x *tx) holds(l *Lease, k crawl.Key) (bool, error) {
	if x.freed[heldBy{l.ID, k}] {
		return false, nil
	}
	if has, ok := x.has[l.ID]; ok {
		return has[k], nil
	}
	_, ok, err := x.look.get(appendHeldKey(x.look.key[:0], l.ID, k))
	return ok, err
}

// heldAtOnce is how many URLs of a lease are read at once: so many as are asked for one by one else.
const heldAtOnce = 2 * rescoreAtOnce

// readHeld reads what the leases of a task have, for somebody who asks of many URLs. What is given out after that in the same entry is known by
// its record.
func (x *tx) readHeld(t *Task) error {
	for id := range t.leases {
		l := x.f.leases[id]
		if _, ok := x.has[id]; ok || l.Held > heldAtOnce {
			continue
		}
		prefix, has := heldKey(id, crawl.Key{})[:9], map[crawl.Key]bool{}
		if err := x.f.each(prefix, func(key, _ []byte) error { has[crawl.Key(key[9:])] = true; return nil }); err != nil {
			return err
		}
		if x.has == nil {
			x.has = map[uint64]map[crawl.Key]bool{}
		}
		x.has[id] = has
	}
	return nil
}

// Granted returns the open leases as they were granted, without their targets, in order, and how many parts of each were applied.
func (f *Frontier) Granted() (leases []crawl.Lease, parts []uint32) {
	for _, l := range f.open {
		leases = append(leases, crawl.Lease{
			ID: l.ID, Job: l.Job, Task: l.Task, Site: l.Site, Node: l.Node, Incarnation: l.Incarnation, Epoch: l.Epoch, Attempt: l.Attempt,
			Secret: l.Secret, Quota: int(l.Quota), BudgetMS: l.BudgetMS, Resolve: l.Resolve, Probe: l.Probe,
		})
		parts = append(parts, l.Parts)
	}
	return leases, parts
}

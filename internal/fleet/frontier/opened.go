package frontier

import (
	"cmp"
	"slices"
)

// Lease returns an open lease, or nil.
func (f *Frontier) Lease(id uint64) *Lease {
	if l := f.leases[id]; l != nil && l.ClosedAt == 0 {
		return l
	}
	return nil
}

// begin counts a lease among the open ones.
func (f *Frontier) begin(t *Task, l *Lease) {
	if t.leases == nil {
		t.leases = map[uint64]bool{}
	}
	t.leases[l.ID], l.task, l.site = true, t, f.sites[l.Site]
	if i, _ := slices.BinarySearchFunc(f.open, l.ID, byNumber); i == len(f.open) {
		f.open = append(f.open, l)
	} else {
		f.open = slices.Insert(slices.Clone(f.open), i, l)
	}
	f.jobs[l.Job].Open++
}

func byNumber(l *Lease, id uint64) int { return cmp.Compare(l.ID, id) }

// over takes a lease out of the open ones.
func (f *Frontier) over(t *Task, l *Lease) {
	delete(t.leases, l.ID)
	if i, ok := slices.BinarySearchFunc(f.open, l.ID, byNumber); ok {
		f.open = slices.Concat(f.open[:i], f.open[i+1:])
		f.jobs[l.Job].Open--
	}
}

// Leases calls fn for every open lease, in the order of their numbers.
func (f *Frontier) Leases(fn func(*Lease)) {
	for _, l := range f.open {
		if l.ClosedAt == 0 { // fn may close some
			fn(l)
		}
	}
}

// Opened returns how many leases are open.
func (f *Frontier) Opened() int { return len(f.open) }

// LeasesOf calls fn for every open lease of a task, in no particular order.
func (f *Frontier) LeasesOf(t *Task, fn func(*Lease)) {
	for id := range t.leases {
		if l := f.Lease(id); l != nil {
			fn(l)
		}
	}
}

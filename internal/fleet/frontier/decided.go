package frontier

import (
	"encoding/binary"
	"slices"

	"argosy/internal/crawl"
)

// KeptDecisions is of how many leases it is kept why their nodes got them, the last ones.
const KeptDecisions = 2000

var decidedPrefix = []byte("m/decided/")

// decides keeps what a grant says of why its leases went where they went. A place is taken again by the lease that comes so many later.
func (x *tx) decides(e *crawl.Entry) error {
	for i, why := range e.Decided {
		if i >= len(e.Leases) || len(why) == 0 {
			continue
		}
		place := uint16(uint32(e.Leases[i].ID) % KeptDecisions)
		if err := x.b.Set(binary.BigEndian.AppendUint16(slices.Clip(decidedPrefix), place), why, nil); err != nil {
			return err
		}
	}
	return nil
}

// Decided calls fn for what is kept of why leases went where they went, in no particular order.
func (f *Frontier) Decided(fn func(why []byte)) error {
	return f.each(decidedPrefix, func(_, why []byte) error {
		fn(why)
		return nil
	})
}

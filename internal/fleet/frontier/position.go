package frontier

import "cmp"

// Position is how far a view has applied which stream.
type Position struct {
	Stream string `cbor:"1,keyasint"` // identity of the stream
	Seq    uint64 `cbor:"2,keyasint"` // last applied
	Epoch  uint64 `cbor:"3,keyasint"`
	Tasks  uint32 `cbor:"4,keyasint"`            // tasks created so far
	Summed bool   `cbor:"60,keyasint,omitempty"` // tasks know what has ended of them: those of older versions do not
	At     int64  `cbor:"61,keyasint,omitempty"` // when the log stored the last applied, Unix ms; 0: not known
	Doubt  uint64 `cbor:"62,keyasint,omitempty"` // the last term that began with a log that had lost its end
	Ahead  int64  `cbor:"63,keyasint,omitempty"` // ms by which the log's clock was set back so far, all in all (Steady),
	Steady int64  `cbor:"64,keyasint,omitempty"` // and the time of the last applied with them, also where that is of another stream
	Judged uint64 `cbor:"65,keyasint,omitempty"` // from which entry on it is kept what was foreign; 0: an older version applied the last
}

// setBack is how far the log's clock must go back, in ms, to have been set: entries of one server may be dated a little out of turn.
const setBack = 1000

// Steady returns the time of an entry by a clock that is never set back: what is to rest until a time would else rest for as long as the
// log's clock was set back besides. It is that of an entry behind those that were applied, which was stored at a time (Unix ms).
func (f *Frontier) Steady(at int64) int64 { return at + f.ahead(at) }

func (f *Frontier) ahead(at int64) int64 {
	if last := cmp.Or(f.pos.Steady, f.pos.At); at+f.pos.Ahead < last-setBack {
		return last - at
	}
	return f.pos.Ahead
}

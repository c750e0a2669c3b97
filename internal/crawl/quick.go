package crawl

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// Most of what a log holds are reports of nodes, and most of those are links and outcomes. quick reads them, and what is given out, without
// reflection, as Marshal writes them: whatever stands there otherwise it does not read, and the library is asked for the whole entry instead. So
// what it returns is what the library would return.
type quick struct {
	b      []byte
	bad    bool     // there is something that is not read here
	before *Outcome // the last one: much of the next is the same
}

// maxList is how many items the library reads of a list.
const maxList = 1 << 20

// deepest is how many items may stand within each other of what is left to the library.
const deepest = 8

// quickEntry reads an entry; false: the library has to.
func quickEntry(b []byte) (e Entry, ok bool) {
	q := quick{b: b, before: &Outcome{}}
	for n, key := q.count(cborMap), uint64(0); n > 0 && !q.bad; n-- {
		switch key = q.key(key); key {
		case 1:
			e.Version = uint8(q.uint(math.MaxUint8))
		case 2:
			e.Kind = EntryKind(q.uint(math.MaxUint8))
		case 3:
			e.Epoch = q.uint(math.MaxUint64)
		case 4:
			e.Node = q.text("")
		case 5:
			e.Incarnation = q.text("")
		case 7:
			q.other(&e.Leases)
		case 8:
			e.Refills = listOf(&q, q.refill)
		case 9:
			e.Parts = listOf(&q, q.part)
		case 14:
			q.other(&e.Measures)
		case 66:
			q.other(&e.Decided)
		default:
			q.bad = true
		}
	}
	return e, !q.bad && len(q.b) == 0
}

func (q *quick) refill(r *Refill) {
	for n, key := q.count(cborMap), uint64(0); n > 0 && !q.bad; n-- {
		switch key = q.key(key); key {
		case 1:
			r.Lease = q.uint(math.MaxUint64)
		case 2:
			r.Targets = listOf(q, q.target)
		default:
			q.bad = true
		}
	}
}

func (q *quick) target(t *Target) {
	for n, key := q.count(cborMap), uint64(0); n > 0 && !q.bad; n-- {
		switch key = q.key(key); key {
		case 1:
			q.hash(&t.Key)
		case 2:
			t.URL = q.text("")
		case 3:
			t.Depth = uint16(q.uint(math.MaxUint16))
		case 4:
			t.Hops = uint8(q.uint(math.MaxUint8))
		case 5:
			t.Tries = uint8(q.uint(math.MaxUint8))
		case 6:
			t.Flags = uint8(q.uint(math.MaxUint8))
		case 7:
			t.Seq = q.uint(math.MaxUint64)
		case 8:
			t.Mark = Mark(q.uint(math.MaxUint8))
		case 9:
			t.Parent = &Key{}
			q.hash(t.Parent)
		default:
			q.bad = true
		}
	}
}

func (q *quick) part(p *Part) {
	for n, key := q.count(cborMap), uint64(0); n > 0 && !q.bad; n-- {
		switch key = q.key(key); key {
		case 1:
			p.Lease = q.uint(math.MaxUint64)
		case 2:
			p.Attempt = uint32(q.uint(math.MaxUint32))
		case 3:
			p.Epoch = q.uint(math.MaxUint64)
		case 4:
			p.Secret = q.text("")
		case 5:
			p.No = uint32(q.uint(math.MaxUint32))
		case 6:
			p.Final = q.bool()
		case 7:
			p.Reason = q.text("")
		case 8:
			p.Bytes = q.int()
		case 9:
			p.Waiting = q.bool()
		case 10:
			p.Want = int(q.int())
		case 11:
			p.Found = listOf(q, q.found)
		case 12:
			p.Outcomes = listOf(q, q.outcome)
		case 13:
			q.other(&p.Site)
		case 14:
			q.other(&p.Measures)
		case 15:
			p.Got = uint32(q.uint(math.MaxUint32))
		case 16:
			p.Starved = q.bool()
		case 23:
			p.WorkedUS = q.int()
		case 24:
			p.Limited = q.bool()
		case 25:
			p.CPU = q.float()
		case 26:
			p.Memory = q.float()
		default:
			q.bad = true
		}
	}
}

func (q *quick) found(f *Found) {
	for n, key := q.count(cborMap), uint64(0); n > 0 && !q.bad; n-- {
		switch key = q.key(key); key {
		case 1:
			q.hash(&f.Parent)
		case 2:
			f.Links = listOf(q, q.link)
		case 3:
			f.Known = listOf(q, q.hash)
		case 4:
			q.other(&f.Omitted)
		case 70:
			f.Score = q.float32()
		default:
			q.bad = true
		}
	}
}

func (q *quick) link(l *Link) {
	for n, key := q.count(cborMap), uint64(0); n > 0 && !q.bad; n-- {
		switch key = q.key(key); key {
		case 1:
			l.URL = q.text("")
		case 2:
			l.Anchor = q.text("")
		case 3:
			l.Redirect = q.bool()
		case 4:
			l.Sitemap = q.bool()
		case 5:
			l.LastMod = q.int()
		case 6:
			l.Resource = q.bool()
		case 8:
			l.NoFollow = q.bool()
		case 70:
			l.Around = q.text("")
		default:
			q.bad = true
		}
	}
}

func (q *quick) outcome(o *Outcome) {
	was := q.before
	for n, key := q.count(cborMap), uint64(0); n > 0 && !q.bad; n-- {
		switch key = q.key(key); {
		case key <= 13:
			q.ended(o, was, key)
		case key == 23:
			o.Date = q.int()
		case key == 24:
			q.timing(&o.Timing)
		case key <= 28:
			q.answer(o, was, key)
		default:
			q.shown(o, key)
		}
	}
	q.before = o
}

// ended reads the first fields of an outcome: how it ended, and what was archived.
func (q *quick) ended(o, was *Outcome, key uint64) {
	switch key {
	case 1:
		q.hash(&o.Key)
	case 2:
		o.URL = q.text("")
	case 3:
		o.State = State(q.uint(math.MaxUint8))
	case 4:
		o.Reason = Kind(q.text(string(was.Reason)))
	case 5:
		o.Detail = q.text(was.Detail)
	case 6:
		o.Status = int(q.int())
	case 7:
		o.Mime = q.text(was.Mime)
	case 8:
		o.Charset = q.text(was.Charset)
	case 9:
		o.Title = q.text("")
	case 10:
		o.Bytes = q.int()
	case 11:
		o.Digest = q.text("")
	case 12:
		q.location(&o.Record, &was.Record)
	case 13:
		q.location(&o.Text, &was.Text)
	default:
		q.bad = true
	}
}

// answer reads those that say more of the answer.
func (q *quick) answer(o, was *Outcome, key uint64) {
	switch key {
	case 14:
		o.Revisit = q.bool()
	case 15:
		o.HTML = q.bool()
	case 16:
		o.NoIndex = q.bool()
	case 17:
		o.Redirect = q.text("")
	case 18:
		o.IP = q.text(was.IP)
	case 19:
		o.ETag = q.text("")
	case 20:
		o.LastMod = q.text(was.LastMod)
	case 21:
		o.Lang = q.text(was.Lang)
	case 22:
		o.Simhash = q.uint(math.MaxUint64)
	case 25:
		o.Depth = uint16(q.uint(math.MaxUint16))
	case 26:
		o.Retryable = q.int()
	case 27:
		o.Links = int(q.int())
	case 28:
		o.Proto = q.text(was.Proto)
	default:
		q.bad = true
	}
}

// shown reads those that say what the page shows. Of pages that few jobs have the library reads them.
func (q *quick) shown(o *Outcome, key uint64) {
	switch key {
	case 30:
		o.Truncated = q.text("")
	case 34:
		o.Shows = q.uint(math.MaxUint64)
	case 35:
		o.Sample = q.marks()
	case 36:
		o.Back = q.bool()
	case 37:
		o.Figures = q.marks()
	case 39:
		o.Pictures = q.marks()
	case 42:
		o.Twice = q.bool()
	case 43:
		o.Changed = q.bool()
	case 44:
		o.Names = q.marks()
	case 45:
		o.Numbers = q.marks()
	case 46:
		o.Opened = q.int32()
	case 47:
		o.Beside = q.bool()
	case 70:
		o.Score = q.float32()
	case 71:
		o.Expected = q.float32()
	case 72:
		o.Said = q.uint(math.MaxUint64)
	default:
		q.bad = true
	}
}

func (q *quick) location(l, was *Location) {
	for n, key := q.count(cborMap), uint64(0); n > 0 && !q.bad; n-- {
		switch key = q.key(key); key {
		case 1:
			l.File = q.text(was.File)
		case 2:
			l.Offset = q.int()
		case 3:
			l.Length = q.int()
		default:
			q.bad = true
		}
	}
}

func (q *quick) timing(all *[6]int32) {
	if q.count(cborArray) != len(all) {
		q.bad = true
		return
	}
	for i := range all {
		all[i] = q.int32()
	}
}

// head reads the head of an item of a major type.
func (q *quick) head(want byte) uint64 {
	major, v, n := head(q.b)
	if n == 0 || major != want || q.bad {
		q.bad = true
		return 0
	}
	q.b = q.b[n:]
	return v
}

// count reads how many items or pairs there are in one, of which each takes a byte at least.
func (q *quick) count(major byte) int {
	n := q.head(major)
	if n > uint64(len(q.b)) || major == cborArray && n > maxList {
		q.bad = true
		return 0
	}
	return int(n)
}

// key reads the key of a field. They stand in order.
func (q *quick) key(last uint64) uint64 {
	key := q.head(cborUint)
	if key <= last {
		q.bad = true
	}
	return key
}

func (q *quick) uint(most uint64) uint64 {
	v := q.head(cborUint)
	if v > most {
		q.bad = true
	}
	return v
}

func (q *quick) int() int64 {
	if len(q.b) > 0 && q.b[0]>>5 == cborNegative {
		v := q.head(cborNegative)
		if v > math.MaxInt64 {
			q.bad = true
		}
		return -1 - int64(v)
	}
	return int64(q.uint(math.MaxInt64))
}

func (q *quick) int32() int32 {
	v := q.int()
	if v != int64(int32(v)) {
		q.bad = true
	}
	return int32(v)
}

func (q *quick) bool() bool {
	if q.bad || len(q.b) == 0 || q.b[0] != cborTrue && q.b[0] != cborFalse {
		q.bad = true
		return false
	}
	yes := q.b[0] == cborTrue
	q.b = q.b[1:]
	return yes
}

func (q *quick) float() float64 {
	if q.bad || len(q.b) < 9 || q.b[0] != cborFloat64 {
		q.bad = true
		return 0
	}
	v := math.Float64frombits(binary.BigEndian.Uint64(q.b[1:]))
	q.b = q.b[9:]
	return v
}

func (q *quick) float32() float32 {
	if q.bad || len(q.b) < 5 || q.b[0] != cborFloat32 {
		q.bad = true
		return 0
	}
	v := math.Float32frombits(binary.BigEndian.Uint32(q.b[1:]))
	q.b = q.b[5:]
	return v
}

// text reads a text, which may be the same as another one that is there.
func (q *quick) text(was string) string {
	size := q.count(cborText)
	b := q.b[:size]
	q.b = q.b[size:]
	switch {
	case string(b) == was:
		return was
	case !utf8.Valid(b):
		q.bad = true
	}
	return string(b)
}

func (q *quick) hash(k *Key) {
	if size := q.count(cborBytes); size != len(k) {
		q.bad = true
		return
	}
	copy(k[:], q.b)
	q.b = q.b[len(k):]
}

func (q *quick) marks() Marks {
	all := make(Marks, q.count(cborArray))
	for i := range all {
		all[i] = uint32(q.uint(math.MaxUint32))
	}
	return all
}

// listOf reads a list of what there is a function to read for; nil: there is none.
func listOf[T any](q *quick, read func(*T)) []T {
	if len(q.b) > 0 && q.b[0] == cborNull {
		q.b = q.b[1:]
		return nil
	}
	all := make([]T, q.count(cborArray))
	for i := 0; i < len(all) && !q.bad; i++ {
		read(&all[i])
	}
	return all
}

// other has the library read an item into what v points to.
func (q *quick) other(v any) {
	whole := q.b
	if q.skip(deepest); !q.bad {
		q.bad = strict.Unmarshal(whole[:len(whole)-len(q.b)], v) != nil
	}
}

// skip goes by an item that has so many others within each other.
func (q *quick) skip(deep int) {
	major, v, n := head(q.b)
	if q.bad || n == 0 || deep == 0 {
		q.bad = true
		return
	}
	switch q.b = q.b[n:]; major {
	case cborUint, cborNegative, cborSimple:
		return
	case cborBytes, cborText:
		if v > uint64(len(q.b)) {
			q.bad = true
			return
		}
		q.b = q.b[v:]
		return
	case cborMap, cborArray:
		if v > uint64(len(q.b)) {
			q.bad = true
			return
		}
		if major == cborMap {
			v *= 2
		}
	default:
		q.bad = true
		return
	}
	for ; v > 0 && !q.bad; v-- {
		q.skip(deep - 1)
	}
}

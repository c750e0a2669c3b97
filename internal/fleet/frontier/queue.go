package frontier

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"unsafe"

	"github.com/cockroachdb/pebble/v2"

	"argosy/internal/crawl"
)

// memory is what is remembered of the first entries of a task's queue, so that those that wait for room, which may be thousands, are not read
// again each time. It is not part of the view: without it all are read.
type memory struct {
	entries []looked             // in the order of their places
	end     uint64               // every entry before this place is among them, or
	fresh   map[uint64]crawl.Key // has come since: by its place
}

// looked is a queue entry that was looked at. One that had to wait for room has the templates for which it did, which do not change while it is in
// its place, or none of them, the shape of which it would be one, and how many templates the site had then; any other is read again.
type looked struct {
	place         uint64
	key           crawl.Key // of its URL
	template, via uint32
	shape         uint64
}

// lookedSize is what an entry that is remembered takes, in bytes.
const lookedSize = int(unsafe.Sizeof(looked{}))

// goneVia is the via of an entry, without a template, that is in the queue no more.
const goneVia = math.MaxUint32

func (e looked) gone() bool { return e.template == 0 && e.via == goneVia }

// noTemplate marks the template of an entry of whose shape the site has none. The rest says of how many: while it has no more, that is so.
const noTemplate = 1 << 31

// hasTemplate reports whether an entry had to wait for room of a template that is there.
func (e looked) hasTemplate() bool { return e.template != 0 && e.template&noTemplate == 0 }

// A walk ends at maxRemembered entries that have to wait. It goes by others, too, so that more are remembered: those behind would be read once more
// at each walk if they were dropped whenever one in front is given out.
const (
	maxRemembered = 4096
	maxKept       = 2 * maxRemembered
	maxFresh      = maxRemembered // entries that come between two walks in front of the end; what is behind one more is read again
)

// came notes that an entry is put into the queue.
func (m *memory) came(place uint64, k crawl.Key) {
	if place >= m.end {
		return // it is read
	}
	if i, found := m.find(place); found { // it was gone
		m.entries[i] = looked{place: place, key: k}
		return
	}
	if len(m.fresh) == maxFresh {
		m.end = place
		return
	}
	if m.fresh == nil {
		m.fresh = map[uint64]crawl.Key{}
	}
	m.fresh[place] = k
}

// left notes that an entry is taken out of the queue.
func (m *memory) left(place uint64) {
	delete(m.fresh, place)
	if i, found := m.find(place); found {
		m.entries[i] = looked{place: place, via: goneVia}
	}
}

// all returns what is remembered with what has come since, in the order of their places, and room with what it has grown by. The memory is not
// to be used any more.
func (m *memory) all(room []looked) (all, grown []looked) {
	came := room[:0]
	for place, k := range m.fresh {
		came = append(came, looked{place: place, key: k})
	}
	slices.SortFunc(came, func(x, y looked) int { return cmp.Compare(x.place, y.place) })
	old, room := len(m.entries), came
	all = append(m.entries, came...)
	for to := len(all) - 1; len(came) > 0; to-- { // from behind, so that none is written over before it has moved
		if last := len(came) - 1; old > 0 && all[old-1].place > came[last].place {
			old--
			all[to] = all[old]
		} else {
			all[to] = came[last]
			came = came[:last]
		}
	}
	return all, room
}

func (m *memory) find(place uint64) (int, bool) {
	return slices.BinarySearchFunc(m.entries, place, func(e looked, place uint64) int { return cmp.Compare(e.place, place) })
}

// waits reports whether the entry at a place had to wait for room the last time.
func (m *memory) waits(place uint64) bool {
	i, found := m.find(place)
	return found && m.entries[i].hasTemplate()
}

// size is how many bytes it takes.
func (m *memory) size() int { return lookedSize * (cap(m.entries) + len(m.fresh)) }

// queue puts a URL into a task's queue.
func (x *tx) queue(t *Task, k crawl.Key, place uint64) error {
	t.head = min(t.head, place)
	t.memory.came(place, k)
	x.tasks[t.ID] = t
	return x.b.Set(appendQueueKey(x.key[:0], t.ID, place), k[:], nil)
}

// dequeue takes out what is at a place of it.
func (x *tx) dequeue(t *Task, place uint64) error {
	t.memory.left(place)
	return x.b.Delete(appendQueueKey(x.key[:0], t.ID, place), nil)
}

// queueWalk goes along a queue. It reads nothing of it as long as all is remembered.
type queueWalk struct {
	db    *pebble.DB
	it    *pebble.Iterator // at an entry, once it is needed
	task  uint32
	known uint64   // every entry before this place is remembered, or was passed
	all   []looked // that are remembered,
	rest  []looked // and those of them that are ahead
	err   error
}

// walk begins before the first entry of a task's queue.
func (f *Frontier) walk(t *Task) *queueWalk {
	all, room := t.memory.all(f.passed)
	f.passed = room
	return &queueWalk{db: f.db, task: t.ID, known: max(t.head, t.memory.end), all: all, rest: all}
}

// next goes to the next entry, and reports whether there is one.
func (w *queueWalk) next() (looked, bool) {
	for len(w.rest) > 0 && w.rest[0].place < w.known {
		e := w.rest[0]
		if w.rest = w.rest[1:]; !e.gone() {
			return e, true
		}
	}
	if w.known == math.MaxUint64 || !w.reads() {
		w.known = math.MaxUint64
		return looked{}, false
	}
	e := looked{place: binary.BigEndian.Uint64(w.it.Key()[5:])}
	copy(e.key[:], w.it.Value())
	w.known = e.place + 1
	for len(w.rest) > 0 && w.rest[0].place <= e.place {
		if w.rest[0].place == e.place && !w.rest[0].gone() {
			e = w.rest[0]
		}
		w.rest = w.rest[1:]
	}
	return e, true
}

// reads goes to the next entry of the store, and reports whether there is one.
func (w *queueWalk) reads() bool {
	if w.it != nil {
		return w.it.Next()
	}
	w.it, w.err = w.db.NewIter(&pebble.IterOptions{LowerBound: queueKey(w.task, w.known), UpperBound: after(queueKey(w.task, 0)[:5])})
	return w.err == nil && w.it.First()
}

// end ends the walk. It returns what is to be remembered: the entries that it went by, and those behind of which something is known. It returns
// passed with what it has grown by, too, whose entries may be changed afterwards.
func (w *queueWalk) end(passed []looked) (m memory, grown []looked, err error) {
	if w.it != nil {
		w.err = errors.Join(w.it.Error(), w.it.Close())
	}
	if w.err != nil {
		return memory{}, passed, damaged(w.err)
	}
	m.end = w.known
	if room := max(0, maxKept-len(passed)); len(w.rest) > room {
		if w.rest = w.rest[:room]; room > 0 {
			m.end = min(m.end, w.rest[room-1].place+1)
		} else {
			m.end = min(m.end, passed[len(passed)-1].place+1)
		}
	}
	passed = append(passed, w.rest...)
	m.entries = append(w.all[:0], passed...)
	return m, passed, nil
}

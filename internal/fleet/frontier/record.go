package frontier

import (
	"encoding/binary"
	"errors"
	"math"

	"argosy/internal/crawl"
	"argosy/internal/page/yield"
)

// recordVersion is the version of a URL record on disk.
const (
	recordVersion = 2
	topicVersion  = 3 // of a job with a topic: what its link says comes behind
)

// record is a URL and its state. Fields that later work needs (due time, score) are on disk from the
// first day, so that a crawl made today can be crawled again.
type record struct {
	State   crawl.State
	Flags   uint8
	Hops    uint8
	Tries   uint8
	Depth   uint16
	Via     uint32 // template of the page that named it, by the model of that page's task
	Task    uint32 // whose counters it stands in
	Place   uint64 // in the task's queue: rank, then order of discovery; of one that waits (trap-yield) its group
	Due     int64  // Unix ms
	Score   float32
	Reason  crawl.Kind
	URL     string // empty for a refused URL of which only the hash is kept
	Parent  crawl.Key
	Anchor  string
	ETag    string
	LastMod string
	Digest  string
	Bytes   int64 // of its body, as its task counts them
	Counted uint8 // as what else its task counts it: countedPage, countedDuplicate, countedRelevant and so on

	signs // of jobs with a topic

	read *readSigns // of the links to it, once they were read; nil: they were not

	dirty bool
	by    string // node that has collected it, of jobs that collect, where this process knows
	loss  string // why it has brought nothing, of jobs that collect, while the entry is applied that says so
	gone  bool   // likewise: it is not there any more
	lease uint64 // that has it, if this process knows; else 0

	since    uint8  // pages ago that something was found: see ahead
	template uint32 // its own, 0 if that is not known,
	views    uint32 // and how many views its site's model had let go then
	out      uint32 // the template that it is counted for, of what is out
}

// known returns a record's template if this process knows it, else 0.
func (r *record) known(m *yield.Model) uint32 {
	if r.views != m.Views() {
		return 0
	}
	return r.template
}

// What a task counts a fetched URL as.
const (
	countedPage = 1 << iota
	countedDuplicate
	countedRelevant
	countedGood  // answered with a status below 300; of jobs that collect
	countedMoved // answered by a redirect
	countedAgain // of a pending one: it was, and is asked again because a later answer says so
	countedCopy  // on the topic, and says what another page said before
	countedLed   // of a pending one: redirects have led to it by which it was not found
)

func (r *record) encode(b []byte) []byte {
	version := byte(recordVersion)
	if r.signs != (signs{}) {
		version = topicVersion
	}
	b = append(b, version, byte(r.State), r.Flags, r.Hops, r.Tries)
	b = binary.AppendUvarint(b, uint64(r.Depth))
	b = binary.AppendUvarint(b, uint64(r.Via))
	b = binary.AppendUvarint(b, uint64(r.Task))
	b = binary.AppendUvarint(b, r.Place)
	b = binary.AppendVarint(b, r.Due)
	b = append(binary.AppendUvarint(b, uint64(r.Bytes)), r.Counted)
	b = binary.BigEndian.AppendUint32(b, math.Float32bits(r.Score))
	b = append(b, r.Parent[:]...)
	for _, s := range [...]string{string(r.Reason), r.URL, r.Anchor, r.ETag, r.LastMod, r.Digest} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	if version == topicVersion {
		b = append(binary.BigEndian.AppendUint32(append(b, r.Off, r.Named), math.Float32bits(r.Page)), r.Around...)
	}
	return b
}

var errRecord = errors.New("frontier: damaged URL record")

func decodeRecord(b []byte) (*record, error) {
	if len(b) < 5 || b[0] != recordVersion && b[0] != topicVersion {
		return nil, errRecord
	}
	r := &record{State: crawl.State(b[1]), Flags: b[2], Hops: b[3], Tries: b[4]}
	d := decoder{b: b[5:]}
	r.Depth = uint16(d.uvarint())
	r.Via = uint32(d.uvarint())
	r.Task = uint32(d.uvarint())
	r.Place = d.uvarint()
	r.Due = d.varint()
	r.Bytes = int64(d.uvarint())
	if c := d.bytes(1); c != nil {
		r.Counted = c[0]
	}
	if f := d.bytes(4); f != nil {
		r.Score = math.Float32frombits(binary.BigEndian.Uint32(f))
	}
	copy(r.Parent[:], d.bytes(16))
	r.Reason = crawl.Kind(d.string())
	r.URL, r.Anchor, r.ETag, r.LastMod, r.Digest = d.string(), d.string(), d.string(), d.string(), d.string()
	if b[0] == topicVersion {
		if f := d.bytes(6); f != nil {
			r.Off, r.Named, r.Page = f[0], f[1], math.Float32frombits(binary.BigEndian.Uint32(f[2:]))
		}
		r.Around = string(d.b)
	}
	if d.bad {
		return nil, errRecord
	}
	return r, nil
}

// target is a URL as a lease gets it, with its place in the queue.
func (r *record) target(k recKey, place uint64) crawl.Target {
	return crawl.Target{
		Key: k.key, Owner: k.Owner, Gen: k.Gen, URL: r.URL, Depth: r.Depth, Hops: r.Hops, Tries: r.Tries, Flags: r.Flags, Seq: place, Off: r.Off, Score: r.Score, Whole: r.Digest != "",
	}
}

type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) bytes(n int) []byte {
	if n > len(d.b) {
		d.bad, d.b = true, nil
		return nil
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) string() string {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return ""
	}
	return string(d.bytes(int(n)))
}

// Keys on disk: a letter for the kind, then big-endian numbers, so that ranges are what one wants to walk.

func urlKey(k recKey) []byte { return appendURLKey(make([]byte, 0, maxKey), k) }

// maxKey is what the keys take that are made for each URL.
const maxKey = 32

func appendURLKey(b []byte, k recKey) []byte {
	return append(k.Layer.Append(binary.BigEndian.AppendUint32(append(b, 'u'), k.job)), k.key[:]...)
}

// ofURLKey is what urlKey was made of.
func ofURLKey(b []byte) (k recKey, ok bool) {
	if len(b) < 5 {
		return k, false
	}
	p, ok := crawl.PageOf(b[5:])
	return recKey{space{binary.BigEndian.Uint32(b[1:]), p.Layer}, p.Key}, ok
}

func jobURLs(job uint32) []byte { return binary.BigEndian.AppendUint32([]byte{'u'}, job) }

func edgeKey(parent recKey, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(edgesOf(parent), seq)
}

func edgesOf(parent recKey) []byte {
	b := urlKey(parent)
	b[0] = 'e'
	return b
}

func queueKey(task uint32, place uint64) []byte {
	return appendQueueKey(make([]byte, 0, 16), task, place)
}

func appendQueueKey(b []byte, task uint32, place uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(append(b, 'q'), task), place)
}

func heldKey(lease uint64, k crawl.Key) []byte {
	return appendHeldKey(make([]byte, 0, maxKey), lease, k)
}

func appendHeldKey(b []byte, lease uint64, k crawl.Key) []byte {
	return append(binary.BigEndian.AppendUint64(append(b, 'h'), lease), k[:]...)
}

// nearerKey marks a URL whose depth has fallen after the ledger was told of it.
func nearerKey(k recKey) []byte {
	b := urlKey(k)
	b[0] = 'd'
	return b
}

// ledTo begins the keys of the URLs that have redirected to one, by which it was not found.
func ledTo(k recKey) []byte {
	b := urlKey(k)
	b[0] = 'g'
	return b
}

func leaseKey(id uint64) []byte  { return binary.BigEndian.AppendUint64([]byte{'l'}, id) }
func taskKey(id uint32) []byte   { return binary.BigEndian.AppendUint32([]byte{'t'}, id) }
func jobKey(id uint32) []byte    { return binary.BigEndian.AppendUint32([]byte{'j'}, id) }
func siteKey(name string) []byte { return append([]byte{'s'}, name...) }
func robotsKey(n string) []byte  { return append([]byte{'r'}, n...) }

// omittedKey is where the counts of what a page of a task named without a record stand.
func omittedKey(task uint32, parent crawl.Key) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{'o'}, task), parent[:]...)
}

// after returns the smallest key that is larger than every key with prefix p.
func after(p []byte) []byte {
	e := append([]byte(nil), p...)
	for i := len(e) - 1; i >= 0; i-- {
		if e[i]++; e[i] != 0 {
			return e[:i+1]
		}
	}
	return nil
}

// recent keeps the records that were used last: most links lead to what was found or fetched not long ago. The older
// generation is forgotten when the newer one is full; what is used of it moves to the newer one, and what leases have: it is
// reported soon.
type recent struct {
	max      int
	new, old map[recKey]*record
	kept     []keptRecord // room for turn
}

type keptRecord struct {
	key    recKey
	record *record
}

func newRecent(max int) *recent {
	return &recent{max: max, new: map[recKey]*record{}, old: map[recKey]*record{}}
}

func (c *recent) get(k recKey) *record {
	if r := c.new[k]; r != nil {
		return r
	}
	r := c.old[k]
	if r != nil {
		c.put(k, r)
	}
	return r
}

func (c *recent) put(k recKey, r *record) {
	if len(c.new) >= c.max {
		c.turn()
	}
	c.new[k] = r
}

// turn forgets the older generation. The next one has its map, which has grown already.
func (c *recent) turn() {
	for k, r := range c.old {
		if r.lease != 0 && len(c.kept) < c.max/2 && c.new[k] == nil {
			c.kept = append(c.kept, keptRecord{k, r})
		}
	}
	clear(c.old)
	c.old, c.new = c.new, c.old
	for _, kept := range c.kept {
		c.new[kept.key] = kept.record
	}
	clear(c.kept)
	c.kept = c.kept[:0]
}

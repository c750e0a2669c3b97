// Package archive writes and reads WARC 1.1 files (ISO 28500:2017), one gzip member a record, and the CDXJ index over
// them.
//
// Records are encoded by whoever has the bytes, in parallel, and appended in order by a Writer, which says where they
// lie. What Sync has returned for is on disk. A file that is being written ends in ".open"; Recover cuts a torn
// record off its end and gives it its name, so every "*.warc.gz" is whole. The package has no opinion on what is
// archived.
package archive

import (
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
)

// Record is one WARC record before it is encoded. Block is the concatenation of Blocks.
type Record struct {
	Type         string // "response", "request", "revisit", "conversion", "metadata", "warcinfo"
	ID           string // with angle brackets; NewID
	Date         time.Time
	URI          string
	ContentType  string
	IP           string
	ConcurrentTo string
	RefersTo     Ref      // for revisits: the record whose payload is the same; for conversions: the one they were made from
	Warcinfo     string   // id of the warcinfo record that holds for it (Writer.Warcinfo)
	Protocol     []string // by which it came, the topmost first: "h2", "tls/1.3"
	Cipher       string   // suite by which it was encrypted, IANA's name
	Filename     string   // of its file, for warcinfo records
	Payload      string   // payload digest, "sha1:…"; empty for none
	Blocks       [][]byte
	Truncated    string // why the payload is not whole (WARC 1.1, section 5.13): "length", "time", "disconnect"; empty if it is
	Compressed   bool   // the block does not get smaller: store it
}

// Ref names an earlier capture.
type Ref struct {
	ID   string
	URI  string // of revisits only, and so is Date
	Date time.Time
}

// Content types of records that hold HTTP messages.
const (
	TypeResponse = "application/http;msgtype=response"
	TypeRequest  = "application/http;msgtype=request"
)

const revisitProfile = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"

const dateLayout = "2006-01-02T15:04:05.000Z"

// NewID returns a fresh record id, a random UUID in angle brackets.
func NewID() string {
	var u [16]byte
	binary.BigEndian.PutUint64(u[:], rand.Uint64())
	binary.BigEndian.PutUint64(u[8:], rand.Uint64())
	u[6], u[8] = u[6]&0x0f|0x40, u[8]&0x3f|0x80
	const hex = "0123456789abcdef"
	b := make([]byte, 0, 48)
	b = append(b, "<urn:uuid:"...)
	for i, c := range u {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			b = append(b, '-')
		}
		b = append(b, hex[c>>4], hex[c&15])
	}
	return string(append(b, '>'))
}

// Digest returns the labelled SHA-1 of the concatenated blocks, as WARC files have it: base32.
func Digest(blocks ...[]byte) string {
	h := sha1.New()
	for _, b := range blocks {
		h.Write(b)
	}
	return Label([sha1.Size]byte(h.Sum(nil)))
}

// Label returns a SHA-1 as WARC files have it.
func Label(sum [sha1.Size]byte) string { return "sha1:" + base32.StdEncoding.EncodeToString(sum[:]) }

// Encode appends the record as one gzip member to dst and returns it.
func (r *Record) Encode(dst []byte) []byte {
	n := 0
	for _, b := range r.Blocks {
		n += len(b)
	}
	pieces := make([][]byte, 0, 4)
	pieces = append(append(append(pieces, r.header(int64(n), Digest(r.Blocks...))), r.Blocks...), []byte("\r\n\r\n"))
	if r.Compressed || n < 256 {
		return appendStored(dst, pieces)
	}
	return appendDeflated(dst, pieces)
}

// header returns the record's header for a block of so many bytes.
func (r *Record) header(n int64, digest string) []byte {
	head := make([]byte, 0, 640)
	field := func(name, value string) {
		if value != "" {
			head = append(append(append(append(head, name...), ": "...), value...), "\r\n"...)
		}
	}
	head = append(head, "WARC/1.1\r\n"...)
	field("WARC-Type", r.Type)
	field("WARC-Record-ID", r.ID)
	field("WARC-Date", r.Date.UTC().Format(dateLayout))
	field("WARC-Target-URI", r.URI)
	field("WARC-IP-Address", r.IP)
	for _, p := range r.Protocol { // repeated, as the WARC community's draft has it (iipc/warc-specifications, issue 42)
		field("WARC-Protocol", p)
	}
	field("WARC-Cipher-Suite", r.Cipher)
	field("WARC-Warcinfo-ID", r.Warcinfo)
	field("WARC-Filename", r.Filename)
	field("WARC-Concurrent-To", r.ConcurrentTo)
	field("WARC-Refers-To", r.RefersTo.ID)
	if r.Type == "revisit" {
		field("WARC-Profile", revisitProfile)
		field("WARC-Refers-To-Target-URI", r.RefersTo.URI)
		field("WARC-Refers-To-Date", r.RefersTo.Date.UTC().Format(dateLayout))
	}
	field("WARC-Payload-Digest", r.Payload)
	field("WARC-Block-Digest", digest)
	field("WARC-Truncated", r.Truncated)
	field("Content-Type", r.ContentType)
	return append(strconv.AppendInt(append(head, "Content-Length: "...), n, 10), "\r\n\r\n"...)
}

var gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

// appendStored appends a gzip member that holds the pieces without compressing them: for bytes that have been
// compressed by the server, and for what is too short to gain.
func appendStored(dst []byte, pieces [][]byte) []byte {
	dst = append(dst, gzipHeader...)
	total := 0
	var crc uint32
	for _, p := range pieces {
		total += len(p)
		crc = crc32.Update(crc, crc32.IEEETable, p)
	}
	room := 0 // bytes left in the open block
	left := total
	for _, p := range pieces {
		for len(p) > 0 {
			if room == 0 {
				room = min(left, 0xffff)
				final := byte(0)
				if room == left {
					final = 1
				}
				dst = append(dst, final, byte(room), byte(room>>8), ^byte(room), ^byte(room>>8))
			}
			k := min(room, len(p))
			dst = append(dst, p[:k]...)
			p = p[k:]
			room -= k
			left -= k
		}
	}
	dst = binary.LittleEndian.AppendUint32(dst, crc)
	return binary.LittleEndian.AppendUint32(dst, uint32(total))
}

// appendBlocks appends p as deflate blocks that are stored.
func appendBlocks(dst, p []byte, final bool) []byte {
	for len(p) > 0 {
		k := min(len(p), 0xffff)
		last := byte(0)
		if final && k == len(p) {
			last = 1
		}
		dst = append(dst, last, byte(k), byte(k>>8), ^byte(k), ^byte(k>>8))
		dst = append(dst, p[:k]...)
		p = p[k:]
	}
	return dst
}

type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

var deflaters = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}}

func appendDeflated(dst []byte, pieces [][]byte) []byte {
	w := deflaters.Get().(*gzip.Writer)
	defer deflaters.Put(w)
	a := &appender{dst}
	w.Reset(a)
	for _, p := range pieces {
		_, _ = w.Write(p) // an appender does not fail
	}
	_ = w.Close()
	return a.b
}

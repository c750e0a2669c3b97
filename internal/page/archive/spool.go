package archive

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/klauspost/compress/flate"

	"argosy/internal/crawl"
	"argosy/internal/durable"
)

const (
	// spoolRoom is what a spool leaves free at its beginning, so that it can become an archive file as it is: for a
	// warcinfo record and the header of the record whose block it is.
	spoolRoom = 16 << 10
	// ownFile is the size from which a spool becomes an archive file of its own instead of being copied into one: below
	// there would be too many files, above too much would be written twice.
	ownFile = 16 << 20
	// syncEvery is after how many bytes what has come of a large spool is made durable while more comes. A disk takes its time to make
	// durable what it has taken, and has then little left to do when all has come.
	syncEvery = 64 << 20
	// aligned is what the places in a file are multiples of at which a spool is written: the kernel takes half as long as for pieces
	// that begin and end anywhere (ext4).
	aligned = 128 << 10
)

// Spools is a directory in which the blocks of records are gathered that are too long for memory.
type Spools struct{ dir string }

const spoolSuffix = ".spool"

// OpenSpools removes what a dead process has left in the directory, which need not be there: nobody has reported that. No
// other process may use it.
func OpenSpools(dir string) (*Spools, error) {
	left, err := filepath.Glob(filepath.Join(dir, "*"+spoolSuffix))
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	return &Spools{dir}, err
}

// Create begins a spool.
func (s *Spools) Create() (*Spool, error) {
	f, err := os.CreateTemp(s.dir, "*"+spoolSuffix)
	if errors.Is(err, os.ErrNotExist) {
		if err = os.MkdirAll(s.dir, 0o700); err == nil {
			f, err = os.CreateTemp(s.dir, "*"+spoolSuffix)
		}
	}
	if err != nil {
		return nil, err
	}
	return &Spool{f: f, block: sha1.New(), at: spoolRoom}, nil
}

// Close removes the directory, and the one it is in, where nothing is in them.
func (s *Spools) Close() {
	if os.Remove(s.dir) == nil {
		_ = os.Remove(filepath.Dir(s.dir))
	}
}

// Spool is the block of a record on its way to the archive: compressed as it comes where that makes it smaller, with its
// digest. One goroutine writes; the others' turn is after the last Write.
type Spool struct {
	f     *os.File
	block hash.Hash
	crc   uint32
	n     int64  // bytes of the block
	at    int64  // where the file ends, with its tail
	tail  []byte // what of it is not written yet
	begun int64  // up to where it is on its way to the disk

	synced  int64      // up to where a sync has begun
	syncing chan error // what comes of it; nil: that has been told

	stored int // pieces to store before compression is tried again
	packed int // pieces in a row that did not get smaller
}

// Write adds to the block. A call costs a system call and a piece that is compressed by itself: a caller with little
// gathers first.
func (s *Spool) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	s.block.Write(p)
	s.crc = crc32.Update(s.crc, crc32.IEEETable, p)
	a := pieces.Get().(*appender)
	defer pieces.Put(a)
	a.b = append(a.b[:0], s.tail...)
	if s.stored > 0 {
		s.stored--
	} else if a.deflate(p); len(a.b)-len(s.tail) < len(p)-len(p)/16 {
		s.packed = 0
	} else { // it does not pay: not at once again, and less and less often
		a.b = a.b[:len(s.tail)]
		s.stored = 1 << min(s.packed, 6)
		s.packed++
	}
	if len(a.b) == len(s.tail) {
		a.b = appendBlocks(a.b, p, false)
	}
	from := s.at - int64(len(s.tail))
	s.at = from + int64(len(a.b))
	whole := max(0, int(s.at-s.at%aligned-from))
	if err := s.write(a.b[:whole], from); err != nil {
		return 0, err
	}
	s.tail = append(s.tail[:0], a.b[whole:]...)
	if s.at >= s.begun+ownFile { // it becomes a file of its own, which is synced: what is on its way then need not be waited for
		durable.BeginSync(s.f, s.begun, s.at-s.begun)
		s.begun = s.at
		if err := s.syncBeside(); err != nil {
			return 0, err
		}
	}
	s.n += int64(len(p))
	return len(p), nil
}

// write writes a part of the file.
func (s *Spool) write(b []byte, at int64) error {
	if len(b) == 0 {
		return nil
	}
	_, err := s.f.WriteAt(b, at)
	return err
}

// settle writes what has not been written yet.
func (s *Spool) settle() error {
	err := s.write(s.tail, s.at-int64(len(s.tail)))
	s.tail = s.tail[:0]
	return err
}

// syncBeside begins to make durable what has been written, if that is much and no sync is under way.
func (s *Spool) syncBeside() error {
	if s.at < s.synced+syncEvery {
		return nil
	}
	if s.syncing != nil {
		select {
		case err := <-s.syncing:
			if s.syncing = nil; err != nil {
				return err
			}
		default:
			return nil
		}
	}
	done, f := make(chan error, 1), s.f
	go func() { done <- f.Sync() }()
	s.syncing, s.synced = done, s.at
	return nil
}

// sync makes durable what has been written. What a disk could not write it says once, to the sync that was under way.
func (s *Spool) sync() (err error) {
	if s.syncing != nil {
		err = <-s.syncing
		s.syncing = nil
	}
	return errors.Join(err, s.f.Sync())
}

// pieces are where pieces are compressed to.
var pieces = sync.Pool{New: func() any { return new(appender) }}

var rawDeflaters = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}}

// deflate appends p as deflate blocks that end at a byte and are not the last ones.
func (a *appender) deflate(p []byte) {
	w := rawDeflaters.Get().(*flate.Writer)
	defer rawDeflaters.Put(w)
	w.Reset(a)
	_, _ = w.Write(p) // an appender does not fail
	_ = w.Flush()
}

// Size returns the length of the block.
func (s *Spool) Size() int64 { return s.n }

// lastBlock is an empty deflate block that says that it is the last.
var lastBlock = []byte{1, 0, 0, 0xff, 0xff}

// Open returns the block from an offset on.
func (s *Spool) Open(offset int64) (io.ReadCloser, error) {
	f, err := os.Open(s.f.Name())
	if err != nil {
		return nil, err
	}
	z := flate.NewReader(io.MultiReader(io.NewSectionReader(f, spoolRoom, s.at-int64(len(s.tail))-spoolRoom), bytes.NewReader(s.tail), bytes.NewReader(lastBlock)))
	r := &spoolReader{z, f}
	if _, err := io.CopyN(io.Discard, r, offset); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

type spoolReader struct {
	io.Reader
	f *os.File
}

func (r *spoolReader) Close() error { return r.f.Close() }

// Close removes the spool, unless it has become an archive.
func (s *Spool) Close() error {
	if s.f == nil {
		return nil
	}
	err := errors.Join(s.f.Close(), os.Remove(s.f.Name()))
	s.f = nil
	return err
}

// frame returns what stands before and after the spool's bytes in the gzip member of a record: its header and end. With
// room > 0 the head is made that long; nil if it does not fit.
func (s *Spool) frame(r *Record, room int) (head, tail []byte) {
	h := r.header(s.n, Label([sha1.Size]byte(s.block.Sum(nil))))
	blocks := appendBlocks(nil, h, false)
	head = append(head, gzipHeader...)
	if room > 0 { // filled by an extra field (RFC 1952, section 2.3.1.1) of zeros, which readers skip
		const extra, names = 4, 4
		pad := room - len(head) - len(blocks) - 2
		if pad < names {
			return nil, nil
		}
		head[3] |= extra
		head = binary.LittleEndian.AppendUint16(head, uint16(pad))
		head = binary.LittleEndian.AppendUint16(append(head, "AR"...), uint16(pad-names))
		head = append(head, make([]byte, pad-names)...)
	}
	const end = "\r\n\r\n"
	tail = appendBlocks(nil, []byte(end), true)
	crc := combineCRC(crc32.ChecksumIEEE(h), s.crc, s.n)
	crc = combineCRC(crc, crc32.ChecksumIEEE([]byte(end)), int64(len(end)))
	tail = binary.LittleEndian.AppendUint32(tail, crc)
	return append(head, blocks...), binary.LittleEndian.AppendUint32(tail, uint32(int64(len(h))+s.n+int64(len(end))))
}

// large reports whether the spool becomes a file of its own.
func (s *Spool) large() bool { return s != nil && s.at-spoolRoom >= ownFile }

// AppendSpooled is Append for a record whose block is in a spool, and encoded ones that follow it. A large spool becomes
// a file of its own, which is durable at once and begins with the warcinfo record that they name. The caller closes the spool, also after an error.
func (w *Writer) AppendSpooled(r *Record, s *Spool, others ...[]byte) ([]crawl.Location, error) {
	if err := s.settle(); err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		return nil, w.fail(err)
	}
	if s.large() {
		w.mu.Lock()
		w.serial++
		name := w.fileName()
		w.mu.Unlock()
		info := w.info(name, r.Warcinfo)
		if head, tail := s.frame(r, spoolRoom-len(info)); head != nil {
			return w.adopt(s, name, info, head, tail, others)
		}
	}
	head, tail := s.frame(r, 0)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.begin(); err != nil {
		return nil, err
	}
	locs := []crawl.Location{{File: w.name, Offset: w.size, Length: int64(len(head)+len(tail)) + s.at - spoolRoom}}
	err := w.write(head)
	if err == nil {
		err = w.flush()
	}
	if err == nil {
		_, err = s.f.Seek(spoolRoom, io.SeekStart)
	}
	if err == nil {
		var n int64
		n, err = io.Copy(w.f, s.f) // within the kernel, where it can
		w.size += n
	}
	if err == nil {
		err = w.write(tail)
	}
	if err != nil {
		return nil, w.fail(err)
	}
	return w.append(locs, others)
}

// adopt makes a spool a file of its own.
func (w *Writer) adopt(s *Spool, name string, info, head, tail []byte, others [][]byte) ([]crawl.Location, error) {
	w.mu.Lock()
	err := w.err
	w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	at := s.at + int64(len(tail))
	locs := []crawl.Location{{File: name, Offset: int64(len(info)), Length: at - int64(len(info))}}
	end := tail
	for _, r := range others {
		locs = append(locs, crawl.Location{File: name, Offset: at, Length: int64(len(r))})
		at += int64(len(r))
		end = append(end, r...)
	}
	_, err = s.f.WriteAt(append(info, head...), 0)
	if err == nil {
		_, err = s.f.WriteAt(end, s.at)
	}
	if err == nil {
		err = s.sync()
	}
	path := filepath.Join(w.cfg.Dir, name)
	if err == nil {
		err = os.Rename(s.f.Name(), path+openSuffix)
	}
	if err == nil {
		err = s.f.Close()
		s.f = nil
	}
	if err == nil {
		err = w.finish(name)
	}
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		return nil, w.fail(err)
	}
	return locs, nil
}

// combineCRC returns the CRC-32 of the concatenation of two pieces, of the second of which the length is n: the first is
// multiplied by x to the power of 8n, modulo the polynomial (as zlib's crc32_combine).
func combineCRC(a, b uint32, n int64) uint32 {
	p := uint32(1) << 31                       // x^0, reflected
	for q := uint32(1) << 23; n > 0; n >>= 1 { // x^8, and its squares
		if n&1 == 1 {
			p = multiplyCRC(p, q)
		}
		q = multiplyCRC(q, q)
	}
	return multiplyCRC(a, p) ^ b
}

// multiplyCRC multiplies two polynomials modulo that of CRC-32, all reflected.
func multiplyCRC(a, b uint32) (p uint32) {
	for m := uint32(1) << 31; m > 0; m >>= 1 {
		if a&m != 0 {
			p ^= b
		}
		b = b>>1 ^ crc32.IEEE&-(b&1)
	}
	return p
}

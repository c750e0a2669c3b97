package archive

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// maxHeader bounds a record's header, in bytes: damage may take its end from it, and all that follows would be held in memory. The
// longest that Encode writes has two URLs of crawl.MaxURLLength.
const maxHeader = 256 << 10

// Reader reads the records of a WARC file, one gzip member each.
type Reader struct {
	in  *counter
	gz  *gzip.Reader
	cur *ReadRecord
}

// counter counts bytes that the decompressor has taken; bufio gives it the byte reader that keeps it from reading
// ahead.
type counter struct {
	r *bufio.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *counter) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// NewReader returns a Reader over r, which must start at a record.
func NewReader(r io.Reader) *Reader { return NewReaderAt(r, 0) }

// NewReaderAt returns a Reader over r, which must start at the record that stands at an offset of its file.
func NewReaderAt(r io.Reader, offset int64) *Reader {
	return &Reader{in: &counter{r: bufio.NewReaderSize(r, 256<<10), n: offset}}
}

// ReadRecord is a record as it was read. Its block is read through it, before the next call of Next.
type ReadRecord struct {
	Header textproto.MIMEHeader
	Offset int64
	Length int64 // of the gzip member; known once the block has been read to its end

	owner *Reader
	block io.Reader
	sum   hash.Hash
	ended bool
}

// Type returns the record's WARC-Type.
func (r *ReadRecord) Type() string { return r.Header.Get("WARC-Type") }

// URI returns the record's target.
func (r *ReadRecord) URI() string { return r.Header.Get("WARC-Target-URI") }

// Next returns the next record, io.EOF at the end of the file. What was left of the last one is skipped.
func (r *Reader) Next() (*ReadRecord, error) {
	if r.cur != nil && !r.cur.ended {
		if err := r.cur.Discard(); err != nil {
			return nil, err
		}
	}
	r.cur = nil
	offset := r.in.n
	var err error
	if r.gz == nil {
		r.gz, err = gzip.NewReader(r.in)
	} else {
		err = r.gz.Reset(r.in)
	}
	if err != nil {
		if errors.Is(err, io.EOF) && r.in.n == offset {
			return nil, io.EOF
		}
		return nil, fmt.Errorf("record at %d: %w", offset, noEOF(err))
	}
	r.gz.Multistream(false)
	member := &io.LimitedReader{R: r.gz, N: maxHeader}
	head := bufio.NewReaderSize(member, 4096)
	line, err := head.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "WARC/1.") {
		return nil, fmt.Errorf("record at %d: not a WARC record", offset)
	}
	h, err := textproto.NewReader(head).ReadMIMEHeader()
	if err != nil {
		return nil, fmt.Errorf("record at %d: header: %.200s", offset, noEOF(err).Error()) // which quotes a whole line
	}
	n, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("record at %d: Content-Length %.200q", offset, h.Get("Content-Length"))
	}
	member.N = math.MaxInt64
	rec := &ReadRecord{Header: h, Offset: offset, owner: r, sum: sha1.New()}
	rec.block = &blockReader{rec: rec, r: head, left: n}
	r.cur = rec
	return rec, nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Read reads the record's block.
func (r *ReadRecord) Read(p []byte) (int, error) { return r.block.Read(p) }

// Discard reads the block to its end, so that its digest is known.
func (r *ReadRecord) Discard() error {
	_, err := io.Copy(io.Discard, r)
	return err
}

// BlockOK reports whether the block, which must have been read, has the digest that the record gives; true if it
// gives none that we know.
func (r *ReadRecord) BlockOK() bool {
	want := r.Header.Get("WARC-Block-Digest")
	if !strings.HasPrefix(want, "sha1:") {
		return true
	}
	return want[5:] == base32.StdEncoding.EncodeToString(r.sum.Sum(nil))
}

type blockReader struct {
	rec  *ReadRecord
	r    *bufio.Reader
	left int64
}

func (b *blockReader) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, b.end()
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.r.Read(p)
	b.rec.sum.Write(p[:n])
	b.left -= int64(n)
	if err != nil && b.left > 0 {
		return n, fmt.Errorf("record at %d: %w", b.rec.Offset, noEOF(err))
	}
	return n, nil
}

// end checks what follows the block: two line ends and the end of the member.
func (b *blockReader) end() error {
	if b.rec.ended {
		return io.EOF
	}
	rest, err := io.ReadAll(io.LimitReader(b.r, 5))
	if err == nil && !bytes.Equal(rest, []byte("\r\n\r\n")) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("record at %d: does not end as it should: %w", b.rec.Offset, err)
	}
	b.rec.ended = true
	b.rec.Length = b.rec.owner.in.n - b.rec.Offset
	return io.EOF
}

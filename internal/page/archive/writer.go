package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/durable"
)

const openSuffix = ".open"

// WriterConfig says where a Writer writes.
type WriterConfig struct {
	Dir     string
	Prefix  string            // file names are PREFIX-SERIAL.warc.gz; must be new for every process
	MaxSize int64             // a file is closed once it is larger, in bytes
	Info    map[string]string // what a warcinfo record says: software, format, robots, …

	// Store takes each file once it is finished; Dir is then only where files are made, and a sync finishes the file:
	// a record is durable when the object that holds it is complete. nil: files stay in Dir.
	Store Store
}

// Writer appends encoded records to a series of files. It is safe for concurrent use.
type Writer struct {
	cfg WriterConfig

	mu     sync.Mutex
	f      *os.File
	name   string // final name, without the directory
	head   string // id of the file's warcinfo record
	next   string // id of the next file's
	serial int
	size   int64 // bytes in the file, buffered ones included
	buf    []byte
	synced bool
	err    error // the first failure: nothing is written after it
}

// NewWriter returns a Writer that opens its first file when there is something to write.
func NewWriter(c WriterConfig) *Writer { return &Writer{cfg: c, synced: true, next: NewID()} }

const bufferSize = 256 << 10

// Warcinfo returns the id of the warcinfo record at the head of the file that the next records go to: what they have to name
// (WARC 1.1, section 5.15). With a spool, which may be nil, it is that of the file that they and the spool go to. Where somebody
// else's records end that file first, it is that of the file before, by the same process and with the same fields.
func (w *Writer) Warcinfo(s *Spool) string {
	if s.large() {
		return NewID()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.f == nil || w.size > w.cfg.MaxSize {
		return w.next
	}
	return w.head
}

// Append appends encoded records, one after the other in one file, and returns where each lies. They are on disk
// after the next Sync.
func (w *Writer) Append(records ...[]byte) ([]crawl.Location, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.begin(); err != nil {
		return nil, err
	}
	return w.append(make([]crawl.Location, 0, len(records)), records)
}

// begin makes sure that there is a file to append to. mu is held.
func (w *Writer) begin() error {
	if w.err != nil {
		return w.err
	}
	if w.f != nil && w.size > w.cfg.MaxSize {
		if err := w.close(); err != nil {
			return w.fail(err)
		}
	}
	if w.f == nil {
		if err := w.open(); err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// append writes records and adds where they lie. mu is held.
func (w *Writer) append(locs []crawl.Location, records [][]byte) ([]crawl.Location, error) {
	for _, r := range records {
		locs = append(locs, crawl.Location{File: w.name, Offset: w.size, Length: int64(len(r))})
		if err := w.write(r); err != nil {
			return nil, w.fail(err)
		}
	}
	return locs, nil
}

func (w *Writer) fail(err error) error {
	w.err = fmt.Errorf("write archive %s: %w", filepath.Join(w.cfg.Dir, w.name), err)
	return w.err
}

func (w *Writer) write(r []byte) error {
	w.size += int64(len(r))
	w.synced = false
	if len(w.buf)+len(r) > bufferSize {
		if err := w.flush(); err != nil {
			return err
		}
		if len(r) >= bufferSize {
			_, err := w.f.Write(r)
			return err
		}
	}
	w.buf = append(w.buf, r...)
	return nil
}

func (w *Writer) flush() error {
	_, err := w.f.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

func (w *Writer) open() error {
	if err := os.MkdirAll(w.cfg.Dir, 0o755); err != nil {
		return err
	}
	w.serial++
	w.name = w.fileName()
	f, err := os.OpenFile(filepath.Join(w.cfg.Dir, w.name+openSuffix), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	w.f, w.size = f, 0
	if err := durable.SyncDir(w.cfg.Dir); err != nil {
		return err
	}
	w.head, w.next = w.next, NewID()
	return w.write(w.info(w.name, w.head))
}

func (w *Writer) fileName() string { return fmt.Sprintf("%s-%05d.warc.gz", w.cfg.Prefix, w.serial) }

// info encodes the warcinfo record at the head of a file.
func (w *Writer) info(name, id string) []byte {
	keys := make([]string, 0, len(w.cfg.Info))
	for k := range w.cfg.Info {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, "%s: %s\r\n", k, w.cfg.Info[k])
	}
	r := Record{
		Type: "warcinfo", ID: id, Date: time.Now(), ContentType: "application/warc-fields", Filename: name,
		Blocks: [][]byte{[]byte(b.String())},
	}
	return r.Encode(nil)
}

// Sync makes everything appended so far durable.
func (w *Writer) Sync() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil || w.synced || w.f == nil {
		return w.err
	}
	if w.cfg.Store != nil {
		return w.ship()
	}
	if err := w.flush(); err != nil {
		return w.fail(err)
	}
	if err := w.f.Sync(); err != nil {
		return w.fail(err)
	}
	w.synced = true
	return nil
}

// ship finishes the file and stores it, while others append to the next one. mu is held.
func (w *Writer) ship() error {
	err := errors.Join(w.flush(), w.f.Close())
	name := w.name
	w.f, w.synced = nil, true
	if err == nil {
		w.mu.Unlock()
		err = w.store(name)
		w.mu.Lock()
	}
	if err != nil {
		return w.fail(err)
	}
	return nil
}

func (w *Writer) store(name string) error {
	path := filepath.Join(w.cfg.Dir, name) + openSuffix
	if err := w.cfg.Store.Put(context.Background(), name, path); err != nil {
		return err
	}
	return os.Remove(path)
}

// close syncs the file and gives it its name.
func (w *Writer) close() error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.f.Sync(); err != nil {
		return err
	}
	if err := w.f.Close(); err != nil {
		return err
	}
	w.f, w.synced = nil, true
	return w.finish(w.name)
}

// finish gives a file that is whole and synced its name, or stores it.
func (w *Writer) finish(name string) error {
	if w.cfg.Store != nil {
		return w.store(name)
	}
	path := filepath.Join(w.cfg.Dir, name)
	if err := os.Rename(path+openSuffix, path); err != nil {
		return err
	}
	return durable.SyncDir(w.cfg.Dir)
}

// Close closes the last file. After a failed write it leaves the file as it is, for Recover.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.f == nil {
		return w.err
	}
	if w.err != nil {
		return errors.Join(w.err, w.f.Close())
	}
	return w.close()
}

// Recover finishes the files that a process left open when it died: a torn record at the end is cut off, an empty
// file removed, the rest renamed. It returns the names of the files it mended. No process may be writing.
func Recover(dir string) (mended []string, err error) {
	open, err := filepath.Glob(filepath.Join(dir, "*"+openSuffix))
	if err != nil {
		return nil, err
	}
	for _, path := range open {
		if err := recoverFile(path); err != nil {
			return mended, fmt.Errorf("recover %s: %w", path, err)
		}
		mended = append(mended, strings.TrimSuffix(filepath.Base(path), openSuffix))
	}
	if len(open) > 0 {
		err = durable.SyncDir(dir)
	}
	return mended, err
}

func recoverFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	end, records := int64(0), 0
	r := NewReader(f)
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = rec.Discard()
		}
		if err != nil {
			break // torn: the file ends where the last whole record does
		}
		end = rec.Offset + rec.Length
		records++
	}
	if records == 0 {
		return errors.Join(f.Close(), os.Remove(path))
	}
	if err := f.Truncate(end); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(path, strings.TrimSuffix(path, openSuffix))
}

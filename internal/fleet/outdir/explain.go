package outdir

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"argosy/internal/plan/schedule"
)

// Explain is a file of scheduling decisions, a JSON object a line. Those that change nothing for a task are left out:
// one that waits for the same reason as before.
type Explain struct {
	file  *os.File
	buf   *bufio.Writer
	waits map[uint32]string
	err   error
}

// ErrExplain says that a file of decisions cannot be written.
var ErrExplain = errors.New("the file of decisions cannot be written")

// OpenExplain opens a file of decisions, or makes it; what it holds stays. The error is ErrExplain where the path is not one of such a file.
func OpenExplain(path string) (*Explain, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrExplain, err)
	}
	if err := endLine(f); err != nil {
		f.Close()
		return nil, err
	}
	return &Explain{file: f, buf: bufio.NewWriterSize(f, 64<<10), waits: map[uint32]string{}}, nil
}

// begun is how a decision's line begins.
const begun = `{"at":`

// endLine ends the last line of a file that a process which died has left without an end: the next one would go on with it, and neither could
// be read. A piece of a decision is cut off; all else stays, for the file may be another.
func endLine(f *os.File) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return err
	}
	whole, block := info.Size(), make([]byte, 64<<10)
	for at := -1; whole > 0 && at < 0; {
		part := block[:min(whole, int64(len(block)))]
		if _, err := f.ReadAt(part, whole-int64(len(part))); err != nil {
			return err
		}
		at = bytes.LastIndexByte(part, '\n')
		whole -= int64(len(part) - at - 1)
	}
	if whole == info.Size() {
		return nil
	}
	first := make([]byte, min(info.Size()-whole, int64(len(begun))))
	if _, err := f.ReadAt(first, whole); err != nil {
		return err
	}
	if strings.HasPrefix(begun, string(first)) {
		return f.Truncate(whole)
	}
	_, err = f.WriteString("\n")
	return err
}

// Sink returns what takes decisions, nil for no log. It is called from the coordinator's goroutine alone.
func (l *Explain) Sink() func([]schedule.Decision) {
	if l == nil {
		return nil
	}
	return func(ds []schedule.Decision) {
		enc := json.NewEncoder(l.buf)
		for i := range ds {
			d := &ds[i]
			if d.Node == "" && l.waits[d.Task] == string(d.Waits) {
				continue
			}
			delete(l.waits, d.Task)
			if d.Node == "" {
				l.waits[d.Task] = string(d.Waits)
			}
			if err := enc.Encode(d); err != nil && l.err == nil {
				l.err = err
			}
		}
		if err := l.buf.Flush(); err != nil && l.err == nil { // whoever asks while the coordinator runs finds the last one
			l.err = err
		}
	}
}

// Close writes out what is left. A log that is nil is closed already.
func (l *Explain) Close() error {
	if l == nil {
		return nil
	}
	err := l.buf.Flush()
	if e := l.file.Close(); err == nil {
		err = e
	}
	if l.err != nil {
		err = l.err
	}
	return err
}

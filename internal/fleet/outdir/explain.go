package outdir

import (
	"bufio"
	"encoding/json"
	"os"

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

// OpenExplain opens a file of decisions, or makes it; what it holds stays.
func OpenExplain(path string) (*Explain, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	return &Explain{file: f, buf: bufio.NewWriterSize(f, 64<<10), waits: map[uint32]string{}}, nil
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

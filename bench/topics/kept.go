package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// kept is a file of what crawls have found, a line each, so that a long run goes on where it was ended. It says nothing of the build: what a
// changed build finds belongs into another file.
type kept struct {
	file *os.File
	has  map[string]outcome
}

// keptLine is a line of the file.
type keptLine struct {
	Crawl   string
	Outcome outcome
}

// openKept reads such a file; without a name nothing is kept. A last line that was not written whole is written over.
func openKept(name string) (*kept, error) {
	k := &kept{has: map[string]outcome{}}
	if name == "" {
		return k, nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	lines := json.NewDecoder(f)
	for whole := int64(0); ; whole = lines.InputOffset() {
		var l keptLine
		switch err := lines.Decode(&l); {
		case err == nil:
			k.has[l.Crawl] = l.Outcome
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			k.file, err = f, f.Truncate(whole)
			if _, serr := f.Seek(whole, io.SeekStart); err == nil && whole > 0 {
				_, err = f.WriteString("\n")
			} else {
				err = errors.Join(err, serr)
			}
			return k, err
		default:
			return nil, errors.Join(fmt.Errorf("%s: not what -keep writes: %w", name, err), f.Close())
		}
	}
}

// or returns what a crawl has found: what is kept of it, or what find finds.
func (k *kept) or(crawl string, find func() (outcome, error)) (outcome, error) {
	if o, ok := k.has[crawl]; ok {
		return o, nil
	}
	o, err := find()
	if err != nil {
		return o, fmt.Errorf("%s: %w", crawl, err)
	}
	if k.file != nil {
		err = json.NewEncoder(k.file).Encode(keptLine{crawl, o})
	}
	return o, err
}

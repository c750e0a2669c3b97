package outdir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"argosy/internal/durable"
)

// standbyNote is where a coordinator that stands by notes who leads, in the directory of its state.
const standbyNote = "standby"

// StandsBy returns who led when the coordinator of a directory last stood by for another one; empty: it has led since, or no other does.
func StandsBy(dir string) string {
	b, _ := os.ReadFile(filepath.Join(dir, StateDir, standbyNote)) // what cannot be read is looked at as a leader's
	return strings.TrimSpace(string(b))
}

// NoteStandby notes who leads; empty: the coordinator of the directory itself does.
func NoteStandby(dir, leader string) error {
	if StandsBy(dir) == leader {
		return nil
	}
	path := filepath.Join(dir, StateDir, standbyNote)
	if leader != "" {
		return durable.WriteFile(path, []byte(leader+"\n"), 0o600)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

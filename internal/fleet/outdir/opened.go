package outdir

import (
	"errors"
	"slices"
)

// Opened closes what a process has opened of a directory, each thing before those that it was opened with.
type Opened []func() error

// Add notes what closes something that has been opened, or is about to be.
func (o *Opened) Add(closes func() error) { *o = append(*o, closes) }

// AddQuiet is Add for what closes without an error.
func (o *Opened) AddQuiet(closes func()) {
	o.Add(func() error {
		closes()
		return nil
	})
}

// Close closes what was opened last first, and goes on where something fails. A second call does nothing.
func (o *Opened) Close() error {
	var errs []error
	for _, closes := range slices.Backward(*o) {
		errs = append(errs, closes())
	}
	*o = nil
	return errors.Join(errs...)
}

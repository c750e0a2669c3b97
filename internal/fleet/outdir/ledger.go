package outdir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"argosy/internal/durable"
)

// ledgerNote is where a coordinator notes which ledger is its fleet's, in the directory of its state.
const ledgerNote = "ledger"

// Ledger is which ledger is a fleet's. The zero value: nobody knows.
type Ledger struct {
	ID    string // its identity
	Place string // where it was when it was last used, without its password
}

// String is how it is written down.
func (l Ledger) String() string { return l.ID + " " + l.Place + "\n" }

// ParseLedger reads what String has written.
func ParseLedger(text string) (l Ledger) {
	l.ID, l.Place, _ = strings.Cut(strings.TrimSuffix(text, "\n"), " ")
	return l
}

// KnownLedger returns which ledger a coordinator's directory has noted as its fleet's.
func KnownLedger(dir string) (Ledger, error) {
	b, err := os.ReadFile(filepath.Join(dir, StateDir, ledgerNote))
	if errors.Is(err, os.ErrNotExist) {
		return Ledger{}, nil
	}
	return ParseLedger(string(b)), err
}

// NoteLedger notes which ledger is a fleet's.
func NoteLedger(dir string, l Ledger) error {
	if was, err := KnownLedger(dir); err == nil && was == l {
		return nil
	}
	return durable.WriteFile(filepath.Join(dir, StateDir, ledgerNote), []byte(l.String()), 0o600)
}

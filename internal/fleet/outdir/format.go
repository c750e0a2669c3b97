package outdir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"argosy/internal/durable"
)

// Version is that of this build; a release may set another with -X main.version.
const Version = "0.1.0"

// Format numbers the form in which directories are kept: the frontier's keys and records, the log, the ledger, the archives
// and the index. Whoever changes one of them so that this version and an earlier one do not read each other's raises it,
// and has OpenFormat migrate what is older. Directories without a number are those of builds before 0.1.0.
const Format = 1

// FormatFile says in a directory in which form it is kept, and who made it so.
const FormatFile = "argosy.json"

// ErrFormat says that a directory is kept in a form that this version does not read.
var ErrFormat = errors.New("kept in another form")

// maxFormatFile bounds what is read of a FormatFile, in bytes.
const maxFormatFile = 64 << 10

type formatFile struct {
	Format  int    `json:"format"`
	Version string `json:"version"` // of the argosy that has made the directory
}

// CheckFormat returns an error that is ErrFormat if this version does not read a directory. One that holds nothing yet is
// no error.
func CheckFormat(dir string) error {
	_, err := readFormat(dir)
	return err
}

// readFormat returns the number of a directory that this version reads, 0 if it holds nothing.
func readFormat(dir string) (int, error) {
	path := filepath.Join(dir, FormatFile)
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		if used(dir) {
			return 0, fmt.Errorf("%s: %w: %s is not there: the directory was made by an argosy before 0.1.0, which nothing newer reads, or the file was deleted. In the second case this mends it: echo '{\"format\":%d,\"version\":\"%s\"}' > %s",
				dir, ErrFormat, FormatFile, Format, Version, path)
		}
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFormatFile))
	if err != nil {
		return 0, err
	}
	var have formatFile
	if err := json.Unmarshal(b, &have); err != nil || have.Format < 1 {
		return 0, fmt.Errorf("%s: %w: it is damaged. This mends it: echo '{\"format\":%d,\"version\":\"%s\"}' > %s", path, ErrFormat, Format, Version, path)
	}
	if have.Format > Format {
		return 0, fmt.Errorf("%s: %w: argosy %.40q made it, in format %d; this is argosy %s, which reads up to format %d", dir, ErrFormat, have.Version, have.Format, Version, Format)
	}
	return have.Format, nil
}

// used reports whether a crawl or a coordinator has worked in a directory.
func used(dir string) bool {
	for _, name := range []string{LedgerFile, filepath.Join(StateDir, "frontier"), filepath.Join(StateDir, "bus")} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// OpenFormat gives a new directory its number, and refuses one that this version does not read. The directory's lock is held.
func OpenFormat(dir, version string) error {
	if n, err := readFormat(dir); err != nil || n > 0 {
		return err
	}
	b, err := json.Marshal(formatFile{Format: Format, Version: version})
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(dir, FormatFile), append(b, '\n'), 0o644)
}

package lab

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
)

// header is the first line of a file of results: what was run, so that what has changed is not taken for it.
type header struct {
	Build string `json:"build"`
}

// Build names the program that results come from.
var Build = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return build(info, ownSum)
})

// build names a program by its version and commit, and by the sum of its file where these do not say all that is in it.
func build(info *debug.BuildInfo, sum func() string) string {
	out := cmp.Or(info.Main.Version, "unknown")
	known, changed := out != "(devel)" && out != "unknown", false
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
			out += " " + s.Value
			known, changed = true, changed || s.Value == "true"
		}
	}
	if !known || changed {
		out += " " + sum()
	}
	return out
}

// ownSum is the beginning of the sum of the file that this process was started from; "?" where it cannot be read.
func ownSum() string {
	name, err := os.Executable()
	if err != nil {
		return "?"
	}
	f, err := os.Open(name)
	if err != nil {
		return "?"
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "?"
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// ErrResults says that a file cannot be taken for results: it is another one's, or of another build.
var ErrResults = errors.New("name another file")

// maxResults bounds what is read of a file of results, bytes.
const maxResults = 1 << 30

// openResults opens a file of results to add to it, and gives what it holds to take, one line after the other. A last line that
// was written in part is dropped; results of another build are refused, and so is what take refuses.
func openResults(name string, take func(line []byte) error) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := alone(f); err != nil { // until it is closed
		return nil, errors.Join(fmt.Errorf("%s: another process adds to it (%w): name another file, or wait for it", name, err), f.Close())
	}
	whole, err := readResults(f, name, take)
	if err == nil && whole == 0 {
		var b []byte
		if b, err = json.Marshal(header{Build()}); err == nil {
			_, err = f.WriteAt(append(b, '\n'), 0)
			whole = int64(len(b)) + 1
		}
	}
	if err == nil {
		if err = f.Truncate(whole); err == nil {
			_, err = f.Seek(whole, io.SeekStart)
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// readResults takes in whole lines and returns where they end.
func readResults(f io.Reader, name string, take func(line []byte) error) (whole int64, err error) {
	r := bufio.NewReader(io.LimitReader(f, maxResults))
	for n := 1; ; n++ {
		b, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			if n == 1 && !isBegun(b) {
				return 0, fmt.Errorf("%s: not a file of results: %w", name, ErrResults)
			}
			return whole, nil
		} else if err != nil {
			return 0, err
		}
		if n == 1 {
			var h header
			if json.Unmarshal(b, &h) != nil || h.Build == "" {
				return 0, fmt.Errorf("%s: not a file of results: %w", name, ErrResults)
			}
			if h.Build != Build() {
				return 0, fmt.Errorf("%s: of another build (%s, this is %s): %w", name, h.Build, Build(), ErrResults)
			}
		} else if err := take(b); err != nil {
			return 0, fmt.Errorf("%s: line %d: %w: %w", name, n, err, ErrResults)
		}
		whole += int64(len(b))
	}
}

// isBegun reports whether a file that has no whole line may have been begun as one of results: else its owner would lose it.
func isBegun(b []byte) bool {
	own, err := json.Marshal(header{Build()})
	return err == nil && bytes.HasPrefix(own, b)
}

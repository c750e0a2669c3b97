package archive

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"argosy/internal/durable"
)

// Store is where finished archives lie. It is safe for concurrent use.
type Store interface {
	// URL names the store, without secrets.
	URL() string
	// Put stores a local file under a name; it is complete and durable when Put returns.
	Put(ctx context.Context, name, path string) error
	// Open opens an archive at an offset.
	Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error)
	// List returns the names of all archives, in order; those still being written have the suffix ".open".
	List(ctx context.Context) ([]string, error)
	// Remove removes an object; it is not an error if there is none.
	Remove(ctx context.Context, name string) error
}

// OpenStore opens a store by its URL: a directory, as a path or file://, or s3://BUCKET[/PREFIX][?endpoint=URL&region=NAME]
// with credentials from the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL, AWS_REGION).
func OpenStore(where string) (Store, error) {
	if strings.HasPrefix(where, "s3://") {
		return openS3(where)
	}
	dir := where
	if rest, ok := strings.CutPrefix(where, "file://"); ok {
		p, err := url.PathUnescape(rest)
		if err != nil {
			return nil, fmt.Errorf("store %s: %w", where, err)
		}
		dir = p
	} else if strings.Contains(where, "://") {
		return nil, fmt.Errorf("store %s: allowed are a directory, file:// and s3://", where)
	}
	return Dir(dir), nil
}

// Dir is a store that is a directory.
type Dir string

// URL implements Store.
func (d Dir) URL() string {
	abs, err := filepath.Abs(string(d))
	if err != nil {
		abs = string(d)
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}).String()
}

// Put implements Store.
func (d Dir) Put(_ context.Context, name, path string) error {
	if err := os.MkdirAll(string(d), 0o755); err != nil {
		return err
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	return durable.Write(filepath.Join(string(d), name), 0o644, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}

// Open implements Store.
func (d Dir) Open(_ context.Context, name string, offset int64) (io.ReadCloser, error) {
	f, err := os.Open(filepath.Join(string(d), name))
	if errors.Is(err, os.ErrNotExist) && !strings.HasSuffix(name, openSuffix) {
		if open, oerr := os.Open(filepath.Join(string(d), name+openSuffix)); !errors.Is(oerr, os.ErrNotExist) {
			f, err = open, oerr
		}
	}
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// List implements Store.
func (d Dir) List(context.Context) ([]string, error) {
	entries, err := os.ReadDir(string(d))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		n := e.Name()
		if info, err := os.Stat(filepath.Join(string(d), n)); isArchive(n) && err == nil && info.Mode().IsRegular() { // a pipe would be waited for
			out = append(out, n)
		}
	}
	sort.Strings(out)
	return out, err
}

func isArchive(name string) bool {
	return strings.HasSuffix(name, ".warc.gz") || strings.HasSuffix(name, ".warc.gz"+openSuffix)
}

// Remove implements Store.
func (d Dir) Remove(_ context.Context, name string) error {
	err := os.Remove(filepath.Join(string(d), name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// BS is how the bandwidth to a store is measured: so many objects of so many bytes.
const (
	probeTries = 3
	probeSize  = 100_000
)

// Measure measures BS, as the bandwidth patent does: it stores an object of 100 KB three times. It returns the bits of
// all tries and the seconds that they took.
func Measure(ctx context.Context, s Store) (bits int64, seconds float64, err error) {
	b := make([]byte, probeSize) // random, so that nothing on the way makes it smaller
	if _, err := rand.Read(b); err != nil {
		return 0, 0, err
	}
	f, err := os.CreateTemp("", "argosy-probe-*")
	if err != nil {
		return 0, 0, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b)
	if err := errors.Join(err, f.Close()); err != nil {
		return 0, 0, err
	}
	name := fmt.Sprintf(".argosy-probe-%x", b[:12])
	defer func() { err = errors.Join(err, s.Remove(context.WithoutCancel(ctx), name)) }()
	for range probeTries {
		start := time.Now()
		if err := s.Put(ctx, name, f.Name()); err != nil {
			return bits, seconds, fmt.Errorf("measure %s: %w", s.URL(), err)
		}
		bits += 8 * probeSize
		seconds += max(time.Since(start).Seconds(), 1e-6)
	}
	return bits, seconds, nil
}

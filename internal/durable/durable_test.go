package durable

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// A file is replaced as a whole or stays as it was, and nothing else is left in its directory.
func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	broken := errors.New("broken")
	steps := []struct {
		text string
		err  error
		want string
	}{{"one", nil, "one"}, {"two and a half", broken, "one"}, {"3", nil, "3"}}
	if err := os.WriteFile(path+newSuffix, []byte("left by a process that died"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		err := Write(path, 0o600, func(w io.Writer) error {
			_, err := io.WriteString(w, step.text)
			return errors.Join(err, step.err)
		})
		if !errors.Is(err, step.err) {
			t.Errorf("writing %q: %v, want %v", step.text, err, step.err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != step.want {
			t.Errorf("after %q the file holds %q, %v; want %q", step.text, b, err, step.want)
		}
	}
	if err := WriteFile(path, []byte("bytes"), 0o600); err != nil {
		t.Error(err)
	}
	if err := WriteFile(filepath.Join(dir, "none", "file"), nil, 0o600); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 1 {
		t.Errorf("left in the directory: %v, %v", names, err)
	}
}

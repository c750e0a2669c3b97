package frontier

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Whatever file of a store is deleted, emptied or changed so that the store cannot be opened: it is said to be damaged, which names what mends
// it. What can be opened all the same is.
func TestDamagedFiles(t *testing.T) {
	for what, hurt := range map[string]func(path string) error{
		"deleted": os.Remove,
		"emptied": func(path string) error { return os.Truncate(path, 0) },
		"changed": func(path string) error {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b = bytes.ReplaceAll(b, []byte("pebble."), []byte("rubble."))
			if len(b) > 0 {
				b[len(b)/2] ^= 0x55
			}
			return os.WriteFile(path, b, 0o600)
		},
	} {
		for _, kind := range []string{"marker.manifest*", "marker.format*", "MANIFEST*", "OPTIONS*", "*.log"} {
			dir := filepath.Join(t.TempDir(), "frontier")
			f, err := Open(DefaultConfig(dir))
			if err == nil {
				err = f.Close()
			}
			files, bad := filepath.Glob(filepath.Join(dir, kind))
			if err != nil || bad != nil || len(files) == 0 {
				t.Fatalf("%s: %d files, %v, %v", kind, len(files), err, bad)
			}
			for _, path := range files {
				if err := hurt(path); err != nil {
					t.Fatal(err)
				}
			}
			f, err = Open(DefaultConfig(dir))
			if err == nil {
				err = f.Close()
			}
			if err != nil && !errors.Is(err, ErrDamaged) {
				t.Errorf("%s %s: %v", kind, what, err)
			}
		}
	}
}

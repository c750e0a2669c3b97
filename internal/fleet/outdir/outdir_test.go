package outdir_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"argosy/internal/fleet/outdir"
)

// A coordinator's directory that has lost its mark gets it again; that of a crawl is not taken for one.
func TestClaimAgain(t *testing.T) {
	for file, want := range map[string]error{"state/keys.json": nil, "jobs/1/index.cdxj": nil, "state/token": outdir.ErrOtherJob} {
		dir := t.TempDir()
		for _, name := range []string{file, "state/frontier/x"} {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if err := outdir.Claim(dir); !errors.Is(err, want) {
			t.Errorf("%s: %v", file, err)
		}
		if err := os.RemoveAll(filepath.Join(dir, filepath.Dir(file))); err != nil {
			t.Fatal(err)
		}
		if file == "jobs/1/index.cdxj" && !outdir.Fleet(dir) {
			t.Error("it has not got its mark again")
		}
	}
}

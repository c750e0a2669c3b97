package verify_test

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
		if err := outdir.Claim(dir, ""); !errors.Is(err, want) {
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

// Of a directory that this user may not write in nobody says that a crawl runs there.
func TestOthersDirectory(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	if err := errors.Join(os.MkdirAll(outdir.State(dir), 0o700), os.Chmod(outdir.State(dir), 0o500)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(outdir.State(dir), 0o700) })
	if _, err := outdir.Lock(dir); outdir.Running(dir) || !errors.Is(err, os.ErrPermission) {
		t.Errorf("running: %v, the lock: %v", outdir.Running(dir), err)
	}
}

// A coordinator's directory says where its ledger is, if that is elsewhere, and keeps no password.
func TestLedgerElsewhere(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(outdir.State(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ ledger, want string }{
		{"", ""}, {"postgres://argosy:secret@db/argosy?sslmode=require&password=secret", "postgres://argosy@db/argosy"}, {"postgres://db/x", "postgres://db/x"}, {"", ""},
	} {
		if err := outdir.Claim(dir, c.ledger); err != nil {
			t.Fatal(err)
		}
		if got := outdir.LedgerElsewhere(dir); got != c.want || !outdir.Fleet(dir) {
			t.Errorf("%s: %q", c.ledger, got)
		}
	}
}

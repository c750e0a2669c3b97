package assemble_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"argosy/internal/fleet/assemble"
)

// Agents without a name that share a directory get different ones, and the same again when they start again; with a name, only one
// process has it.
func TestIdentities(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "d")
	open := func(name string) *assemble.Identity {
		t.Helper()
		var id *assemble.Identity
		var err error
		if name == "" {
			id, err = assemble.AnyIdentity(dir, "host")
		} else {
			id, err = assemble.NamedIdentity(dir, name, "")
		}
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	a, b := open(""), open("")
	if a.Name != "host" || b.Name != "host-2" || a.Key.Public() == b.Key.Public() {
		t.Errorf("%s and %s", a.Name, b.Name)
	}
	if _, err := assemble.NamedIdentity(dir, "host", ""); !errors.Is(err, assemble.ErrRuns) {
		t.Errorf("a name that is in use: %v", err)
	}
	keys := map[string]string{a.Name: a.Key.Public(), b.Name: b.Key.Public()}
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		a, b = open(""), open("")
		if a.Name != "host" || b.Name != "host-2" || keys[a.Name] != a.Key.Public() || keys[b.Name] != b.Key.Public() {
			t.Errorf("after a restart: %s and %s", a.Name, b.Name)
		}
		if err := errors.Join(a.Close(), b.Close()); err != nil {
			t.Fatal(err)
		}
	}
	a, b = open(""), open("")
	if ok, err := b.Rename("host"); !ok || err != nil || !strings.HasPrefix(b.Name, "host-") || len(b.Name) != len("host-")+8 || b.Key.Public() != keys["host-2"] {
		t.Errorf("renamed to %s: %v, %v", b.Name, ok, err)
	}
	if ok, err := b.Rename("host"); ok || err != nil {
		t.Errorf("renamed twice: %v", err)
	}
	renamed := b.Name
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
	a, b = open(""), open("")
	if a.Name != "host" || b.Name != renamed {
		t.Errorf("after a restart: %s and %s", a.Name, b.Name)
	}
	named := open("paris")
	if ok, err := named.Rename("host"); ok || err != nil || named.Name != "paris" {
		t.Errorf("a name that a person has chosen was changed: %v, %v", ok, err)
	}
	if err := errors.Join(a.Close(), b.Close(), named.Close()); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(filepath.Join(dir, "paris.key"))
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi, err)
	}
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(broken, []byte("SAnothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := assemble.NamedIdentity(dir, "x", broken); err == nil || strings.Contains(err.Error(), "SAnothing") || !strings.Contains(err.Error(), broken) {
		t.Errorf("a key that is not one: %v", err)
	}
	if b, err := os.ReadFile(broken); err != nil || string(b) != "SAnothing\n" {
		t.Errorf("a file that is not a key was changed: %q, %v", b, err)
	}
	for _, bad := range []string{"", "a.b", "../x", strings.Repeat("x", 65)} {
		if _, err := assemble.NamedIdentity(dir, bad, ""); err == nil {
			t.Errorf("the name %q was taken", bad)
		}
	}
}

package crawl

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// A shell makes one argument of it, which names the same file.
func TestArg(t *testing.T) {
	for _, path := range []string{"out", "a b", "it's", "$HOME", "-o", "~", "~me", "a;b", "`x`", "ä/文", "a\\b", "\"", "a\nb", "/tmp/x y/", "*", ".", "a=b"} {
		sh, err := exec.LookPath("sh")
		if err != nil {
			t.Skip("no shell")
		}
		out, err := exec.Command(sh, "-c", "printf '%s|' "+Arg(path)).Output()
		got := string(out)
		if err != nil || len(got) == 0 || filepath.Clean(got[:len(got)-1]) != filepath.Clean(path) || got[0] == '-' {
			t.Errorf("%q: %s is %q to a shell (%v)", path, Arg(path), got, err)
		}
	}
	for path, want := range map[string]string{"out": "out", "/tmp/a-b/c.d": "/tmp/a-b/c.d", "my crawl/": "'my crawl'"} {
		if got := Arg(path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}

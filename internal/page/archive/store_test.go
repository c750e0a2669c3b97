package archive

import (
	"os"
	"testing"
)

func TestMeasureDir(t *testing.T) {
	dir := t.TempDir()
	bits, seconds, err := Measure(t.Context(), Dir(dir))
	if err != nil || bits != 3*800_000 || seconds <= 0 {
		t.Errorf("%d bits in %g s, %v", bits, seconds, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%d files are left", len(left))
	}
	if _, _, err := Measure(t.Context(), Dir(dir+"/file\x00")); err == nil {
		t.Error("a directory that cannot be has a bandwidth")
	}
}

func TestOpenStore(t *testing.T) {
	for _, bad := range []string{"ftp://x/y", "s3://", "s3://b?colour=red", "s3://b?endpoint=nonsense"} {
		if _, err := OpenStore(bad); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
	s, err := OpenStore("file:///tmp/a%20b")
	if err != nil || s.(Dir) != "/tmp/a b" || s.URL() != "file:///tmp/a%20b" {
		t.Errorf("%v, %v", s, err)
	}
}

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Pages that could not be had, and are asked for again once their searches are released, count as they are answered then: for the export, too.
func TestVirtualHadAfterRelease(t *testing.T) {
	t.Parallel()
	l := newSearchable(t, 1, 9)
	l.broken.Store(true)
	dir := filepath.Join(t.TempDir(), "out")
	if code, _, errs := apart(t, "crawl", "--job", l.job(t, "", "", ""), "-o", dir, "--allow-private", "--quiet"); code != exitManual {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	l.broken.Store(false)
	if code, _, errs := apart(t, "retry", dir); code != 0 {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	if code, _, errs := apart(t, "crawl", "-o", dir, "--allow-private", "--quiet"); code != 0 {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	for _, task := range searches(t, dir) {
		if s := task.Of; s.Found == 0 || s.Collected != s.Found {
			t.Errorf("%s: %d of %d", s.Product, s.Collected, s.Found)
		}
	}
	if _, out, errs := apart(t, "verify", dir); !strings.Contains(out, "clean") || !strings.Contains(out, " 0 orphans") {
		t.Error(out, errs)
	}
}

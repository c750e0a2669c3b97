package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// After kill -9 in the middle the directory alone goes on: first to the limit of the first time, then to one that was raised, and at
// last to the end, with each page in the archive.
func TestGoesOnAfterKill(t *testing.T) {
	t.Parallel()
	const pages = 60
	var asked atomic.Int64
	half := make(chan struct{})
	site := serves(t, "", func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == pages/4 {
			close(half)
		}
		w.Header().Set("Content-Type", "text/html")
		for i := range pages {
			fmt.Fprintf(w, `<a href="/%d">%d</a>`, i, i)
		}
	})
	dir := filepath.Join(t.TempDir(), "c")
	killed(t, half, "crawl", site, "-o", dir, "--allow-private", "--delay", "10ms", "--max-pages", "40", "--quiet")
	code, out, _ := apart(t, "verify", dir)
	clean := code == 0 && strings.Contains(out, "clean so far")
	between := code == exitFailed && strings.Contains(out, "1 problem:") && strings.Contains(out, ", the ledger at ") && strings.Contains(out, "start it again") &&
		strings.Contains(out, " 0 lost") // the kill came after one of frontier and ledger had written an entry, and before the other
	if !strings.Contains(out, "goes on") || !clean && !between {
		t.Errorf("verify after the kill: exit %d, %s", code, out)
	}
	if code, out, _ := apart(t, "report", dir); code != 0 || !strings.HasPrefix(out, dir+": interrupted, ") {
		t.Errorf("report after the kill: exit %d, %s", code, out)
	}
	if s := crawled(t, 0, "-o", dir); s.State != "limited" || s.Fetched != 40 {
		t.Errorf("after the kill: %+v", s)
	}
	if s := crawled(t, 0, "-o", dir, "--max-pages", "50"); s.State != "limited" || s.Fetched != 50 {
		t.Errorf("with the limit raised: %+v", s)
	}
	if s := crawled(t, 0, "-o", dir, "--max-pages", "0"); s.State != "done" || s.Fetched != pages+1 {
		t.Errorf("without a limit: %+v", s)
	}
	if code, out, _ := apart(t, "verify", dir); code != 0 || !strings.HasPrefix(out, "clean") {
		t.Errorf("verify: exit %d, %s", code, out)
	}
}

package main

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"argosy/internal/fleet/assemble"
)

// A crawl ends when another process asks it to, loses nothing, and goes on; where none runs that is said.
func TestStop(t *testing.T) {
	t.Parallel()
	var once sync.Once
	under := make(chan struct{}) // the crawl is under way
	site, dir := chain(t, func(path string) {
		if strings.HasPrefix(path, "/1") {
			once.Do(func() { close(under) })
		}
	}), filepath.Join(t.TempDir(), "c")
	ended := make(chan string, 1)
	go func() {
		code, out, errs := apart(t, "crawl", site, "-o", dir, "--allow-private", "--delay", "5ms", "--topic", "pages", "--tunnel", "-1")
		if code != exitInterrupted {
			t.Errorf("the crawl: exit %d\n%s", code, errs)
		}
		ended <- out
	}()
	<-under
	if err := assemble.Stop(t.Context(), dir); err != nil { // the command would share standard output with the crawl
		t.Error(err)
	}
	if out := <-ended; !strings.Contains(out, "interrupted") {
		t.Errorf("the crawl says %s", out)
	}
	if code, _, errs := apart(t, "stop", dir); code != exitUsage || !strings.Contains(errs, "no crawl runs") {
		t.Errorf("stopped again: exit %d, %s", code, errs)
	}
	if code, _, errs := apart(t, "verify", dir); code != 0 {
		t.Errorf("verify: exit %d, %s", code, errs)
	}
	if code, _, errs := apart(t, "stop", t.TempDir()); code != exitUsage || errs == "" {
		t.Errorf("of no crawl: exit %d, %s", code, errs)
	}
	if more := crawled(t, 0, "-o", dir, "--max-pages", "30"); more.Fetched != 30 {
		t.Errorf("gone on: %+v", more)
	}
}

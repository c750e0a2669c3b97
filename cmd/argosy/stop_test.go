package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/outdir"
	"argosy/internal/testkit"
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

// An order beside a process that has the directory says what to do.
func TestOrdersWhileInUse(t *testing.T) {
	t.Parallel()
	site, dir := chain(t, nil), filepath.Join(t.TempDir(), "c")
	crawled(t, 0, site, "-o", dir, "--allow-private", "--delay", "0", "--max-pages", "3")
	lock, err := outdir.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range [][]string{{"retry", dir}, {"drop", dir, "outside.example"}, {"tasks", "release", "-o", dir, "1"}, {"tasks", "drop", "-o", dir, "1"}} {
		code, _, errs := apart(t, order...)
		if code != exitUsage || !strings.Contains(errs, "in use") || !strings.Contains(errs, "argosy stop "+dir) {
			t.Errorf("%v: exit %d, %s", order, code, errs)
		}
	}
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
}

// A fleet's job is paused, with its statistics; of one that does not run any more its state is said, and the statistics are printed again.
func TestStopJob(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	socket, file := filepath.Join(dir, "sockets", "s"), filepath.Join(dir, "job.yaml")
	if err := errors.Join(os.Mkdir(filepath.Dir(socket), 0o700), os.WriteFile(file, []byte("seeds: [http://a.example/]\ntopic: {words: honey bees}\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	c := process(t, "serve", "-o", filepath.Join(dir, "fleet"), "--listen", "127.0.0.1:0", "--bus-listen", "127.0.0.1:0", "--socket", socket)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	ask := func(args ...string) (int, string, string) {
		return apart(t, append(args, "--server", "unix:"+socket)...)
	}
	testkit.Eventually(t, "a coordinator answers", func() bool {
		code, _, _ := ask("submit", file)
		return code == 0
	})
	for _, step := range []struct {
		order []string
		want  string
	}{
		{[]string{"stop", "1"}, "job 1: stopped; argosy resume 1 goes on\n\"honey bees\""},
		{[]string{"stop", "1"}, "job 1: did not run: paused; argosy resume 1 goes on\n\"honey bees\""},
		{[]string{"cancel", "1"}, ""},
		{[]string{"stop", "1"}, "job 1: did not run: cancelled\n\"honey bees\""},
		{[]string{"stop", "1", "--json"}, `"state":"cancelled"`},
	} {
		if code, out, errs := ask(step.order...); code != 0 || !strings.Contains(out, step.want) {
			t.Errorf("%v: exit %d\n%s%s", step.order, code, out, errs)
		}
	}
	if code, _, errs := ask("stop", "7"); code != exitUsage || !strings.Contains(errs, "no such job") {
		t.Errorf("of no job: exit %d, %s", code, errs)
	}
}

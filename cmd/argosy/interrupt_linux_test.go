package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A process that computes, and looks at nothing, ends when it is interrupted again.
func TestInterruptedAgain(t *testing.T) {
	t.Parallel()
	const busy = "ARGOSY_TEST_BUSY"
	if os.Getenv(busy) != "" {
		interrupts(context.Background(), func(s string) { fmt.Println(s) })
		fmt.Println("busy")
		select {}
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
	c.Env = append(os.Environ(), busy+"=1")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for _, want := range []string{"busy", "interrupt again", "nothing is lost"} {
		if !lines.Scan() || !strings.Contains(lines.Text(), want) {
			t.Fatalf("%q, want %q", lines.Text(), want)
		}
		if want != "nothing is lost" {
			if err := c.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _ = c.Wait(); c.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("%v, want %d", c.ProcessState, exitInterrupted)
	}
}

// A crawl that is interrupted while it opens says so, as one that is interrupted later; the same command begins it.
func TestInterruptedWhileOpening(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	site, dir := chain(t, nil), filepath.Join(t.TempDir(), "c")
	if code := run(ctx, []string{"crawl", site, "-o", dir, "--allow-private", "--delay", "0", "--quiet"}); code != exitInterrupted {
		t.Errorf("exit %d, want %d", code, exitInterrupted)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".room-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	crawled(t, 0, site, "-o", dir, "--allow-private", "--delay", "0", "--max-pages", "3")
}

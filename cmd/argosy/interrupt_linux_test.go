package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
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

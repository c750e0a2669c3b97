package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"argosy/internal/testkit/scratch"
)

// argsEnv makes the test binary run a command line instead of testing.
const argsEnv = "ARGOSY_TEST_ARGS"

func TestMain(m *testing.M) {
	if args := os.Getenv(argsEnv); args != "" {
		os.Exit(run(context.Background(), strings.Split(args, "\x1f")))
	}
	os.Exit(scratch.Run(m))
}

// process is a command line as a process of its own, which can be killed, sit at a terminal, or run beside other tests.
func process(t *testing.T, args ...string) *exec.Cmd {
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), argsEnv+"="+strings.Join(args, "\x1f"))
	return c
}

// apart is argosy, in a process of its own: for tests that run in parallel.
func apart(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	c := process(t, args...)
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

// killed runs a command line in a process of its own until something is reached, and kills it there.
func killed(t *testing.T, reached <-chan struct{}, args ...string) {
	t.Helper()
	c := process(t, args...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	<-reached
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
}

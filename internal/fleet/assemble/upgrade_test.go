package assemble_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"argosy/internal/fleet/access"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/serve"
	"argosy/internal/fleet/web"
	"argosy/internal/testkit"
)

// history returns argosy 0.1.0, which make servers builds from the history of this repository where it has one.
func history(t *testing.T) string {
	t.Helper()
	bin, err := filepath.Abs("../../testkit/servers/bin/argosy-0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bin); err != nil {
		t.Skip("argosy 0.1.0 is not there: make servers")
	}
	return bin
}

// ran runs a command to its end.
func ran(t *testing.T, bin string, args ...string) (code int, words string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, bin, args...)
	var b bytes.Buffer
	c.Stderr = &b
	err := c.Run()
	if ctx.Err() != nil {
		t.Fatalf("%v does not end: %s", args, b.String())
	}
	if err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), b.String()
}

// started runs a command until the test ends, or end is called.
func started(t *testing.T, bin string, args ...string) (end func()) {
	t.Helper()
	c := exec.Command(bin, args...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	done := false
	end = func() {
		if !done {
			done = true
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}
	t.Cleanup(end)
	return end
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// nodesOf asks a coordinator for its nodes until they are as they should be.
func nodesOf(t *testing.T, cl *web.Client, what string, ok func(words string) bool) {
	t.Helper()
	testkit.Eventually(t, what, func() bool {
		ns, err := cl.Nodes(t.Context())
		words := ""
		for i := range ns {
			words += fmt.Sprintln(ns[i].Node, ns[i].State, ns[i].Refused.Last)
		}
		return err == nil && ok(words)
	})
}

// The coordinator is upgraded first, then the agents: whoever does it the other way round is told so in one line, and so is an agent
// of 0.1.0 that joins an upgraded coordinator. One that had joined before gets no lease, which it would not understand, and the list
// of nodes says why.
func TestUpgradeFromHistory(t *testing.T) {
	t.Parallel()
	old := history(t)
	dir, api, busAt := t.TempDir(), freePort(t), freePort(t)
	tokenFile := filepath.Join(dir, "token")
	if err := os.WriteFile(tokenFile, []byte("0123456789abcdef"), 0o600); err != nil {
		t.Fatal(err)
	}
	end := started(t, old, "serve", "-o", filepath.Join(dir, "fleet"), "--listen", api, "--bus-listen", busAt, "--token-file", tokenFile)
	started(t, old, "agent", "--join", "http://"+api, "--token-file", tokenFile, "--name", "old", "--store", filepath.Join(dir, "old"))
	cl, err := web.NewClient("http://"+api, "0123456789abcdef", nil)
	if err != nil {
		t.Fatal(err)
	}
	nodesOf(t, cl, "the agent of 0.1.0 works", func(w string) bool { return strings.Contains(w, "old reserved") })
	key, err := bus.NewNodeKey()
	if err != nil {
		t.Fatal(err)
	}
	var refused *web.Error
	if _, err := cl.Join(t.Context(), key, bus.Petition{Node: "new", Wire: bus.Wire}); !errors.As(err, &refused) || !refused.Usage() || err.Error() != web.ErrOldCoordinator.Error() {
		t.Errorf("a new agent at an old coordinator: %v", err)
	}
	end()

	c := serve.DefaultConfig(filepath.Join(dir, "fleet"))
	c.BusListen, c.MinFree = busAt, 0
	tok, err := access.FileToken(access.Operator, "0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	c.Access.Tokens = []access.Token{tok}
	s, err := serve.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	l, err := net.Listen("tcp", api)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: web.Handler(s, web.Config{UserAgent: "t"})}
	go func() { _ = srv.Serve(l) }()
	defer func() {
		_ = srv.Close()
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	code, words := ran(t, old, "agent", "--join", "http://"+api, "--token-file", tokenFile, "--name", "late", "--store", filepath.Join(dir, "late"))
	if code != 2 || !strings.Contains(words, "upgrade the agent") || strings.Count(words, "\n") != 1 {
		t.Errorf("an agent of 0.1.0 at a new coordinator: %d, %q", code, words)
	}
	nodesOf(t, cl, "the agent that had joined before is refused", func(w string) bool {
		return strings.Contains(w, "upgrade this agent") && !strings.Contains(w, "old working") && !strings.Contains(w, "old reserved")
	})
}

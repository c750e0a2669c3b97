package bus_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/bus"
	"argosy/internal/testkit/seeds"
)

// A server that is renewed has the log that it had; who led, reads and is registered goes on over the same client.
func TestRenew(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := bus.DefaultConfig(t.TempDir())
	c.Listen = "127.0.0.1:0"
	s, err := bus.Serve(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cl, err := s.Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if _, _, err := cl.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	read := make(chan string, 4)
	go func() {
		_ = cl.Read(ctx, 1, func(_ uint64, _ int64, _ string, data []byte) error {
			read <- string(data)
			return nil
		})
	}()
	go func() {
		_ = cl.Register(ctx, func() crawl.NodeInfo { return crawl.NodeInfo{Node: "n", Incarnation: "1"} }, nil)
	}()
	for i, entry := range []string{"before", "after", "after once more"}[:seeds.Of(2, 3)] { // what waits for the node's next word takes seconds
		if i > 0 {
			url := s.URL()
			if err := s.Renew(ctx, cl); err != nil {
				t.Fatal(err)
			}
			if s.URL() != url {
				t.Errorf("nodes look for it at %s; it is at %s", url, s.URL())
			}
		}
		if _, err := cl.Append(ctx, []byte(entry)); err != nil {
			t.Fatal(err)
		}
		if got := <-read; got != entry {
			t.Errorf("read %q, want %q", got, entry)
		}
		watch, seen := context.WithCancel(ctx) // as a leader does whose term begins
		if err := cl.Nodes(watch, func(crawl.NodeInfo, crawl.Sign) { seen() }); err != nil || ctx.Err() != nil {
			t.Fatal("the node is not registered again", err)
		}
	}
}

// A bus that sets too little aside is waited for, and it is said what it wants.
func TestTooLittleRoom(t *testing.T) {
	t.Parallel()
	c := bus.DefaultConfig(t.TempDir())
	c.MaxLog = 1 << 20
	s, err := bus.Serve(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = bus.Connect(t.Context(), bus.Dial{URL: "nats://pipe", Pipe: s.Pipe}, bus.DefaultConfig(""))
	if !errors.Is(err, bus.ErrAway) || !errors.Is(err, bus.ErrNoRoom) {
		t.Error(err)
	}
	if want := "max_file_store of 8258 MiB"; !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("%v: want %q", err, want)
	}
}

// A port that is taken is told at once, and once.
func TestPortIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := bus.DefaultConfig(t.TempDir())
	c.Listen = l.Addr().String()
	begin := time.Now()
	if s, err := bus.Serve(c); err == nil {
		s.Close()
		t.Error("two listen on one port")
	} else if !errors.Is(err, syscall.EADDRINUSE) || time.Since(begin) > 10*time.Second {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}

// A server whose disk is full does not answer what it cannot store. It says so at once, and whose disk it is hears of it.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	full := make(chan error, 100)
	c := bus.DefaultConfig(t.TempDir())
	c.Full = func(err error) { full <- err }
	s, err := bus.Serve(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cl, err := s.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	blocks, err := filepath.Glob(filepath.Join(c.Dir, "jetstream", "*", "streams", "ARGOSY_LOG_*", "msgs"))
	if err != nil || len(blocks) != 1 {
		t.Fatal(blocks, err)
	}
	if err := os.Symlink("/dev/full", filepath.Join(blocks[0], "1.blk")); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stored := make(chan error, 1)
	go func() { stored <- cl.Report(ctx, "n", []byte("a part")) }()
	select {
	case err := <-full:
		if !errors.Is(err, syscall.ENOSPC) {
			t.Error(err)
		}
	case err := <-stored:
		t.Errorf("it is stored: %v", err)
	}
	cancel()
}

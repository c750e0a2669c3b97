package webs_test

import (
	"context"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/webs"
)

// fetchAll has pairs of a node and an address each ask for so many bytes at once, and returns how long that takes.
func fetchAll(t *testing.T, l *webs.Links, size int, pairs ...[2]string) (took time.Duration) {
	t.Helper()
	begin := time.Now()
	var all sync.WaitGroup
	for _, p := range pairs {
		all.Go(func() {
			c, err := l.Dial(p[0])(t.Context(), "tcp", p[1])
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			if _, err := c.Write([]byte{1}); err != nil {
				t.Error(err)
			}
			if n, err := io.Copy(io.Discard, io.LimitReader(c, int64(size))); n != int64(size) || err != nil {
				t.Errorf("%d bytes, %v", n, err)
			}
		})
	}
	all.Wait()
	return time.Since(begin)
}

// lines returns two nodes and two sites, and what they are reached by: each megabit a second of a node takes a second.
func lines() (l *webs.Links, near, far string) {
	l = webs.NewLinks(1)
	l.Open = func(context.Context) (net.Conn, error) {
		c, s := net.Pipe()
		go func() {
			defer s.Close()
			if _, err := s.Read(make([]byte, 1)); err != nil {
				return
			}
			for b := make([]byte, 64<<10); ; {
				if _, err := s.Write(b); err != nil {
					return
				}
			}
		}()
		return c, nil
	}
	l.Add(webs.End{Name: "a", Rate: 1e6})
	l.Add(webs.End{Name: "b", Rate: 1e6})
	at := func(e webs.End) string { return netip.AddrPortFrom(l.Add(e), 80).String() }
	return l, at(webs.End{Name: "near", Rate: 1.5e6, Access: 10 * time.Millisecond}), at(webs.End{Name: "far", Rate: 4e6, Lon: 90})
}

// Bandwidth is shared by all connections of a node and by all of a site, a way has its delay, and losses slow long ways down.
func TestLinks(t *testing.T) {
	const second = 125_000 // bytes at 1 Mbit/s
	for _, tt := range []struct {
		name  string
		loss  float64
		size  int
		pairs func(near, far string) [][2]string
		want  time.Duration
	}{
		{"a node's own line", 0, 4 * second, func(near, _ string) [][2]string { return [][2]string{{"a", near}} }, 4020 * time.Millisecond},
		{"two connections of a node", 0, 4 * second, func(near, far string) [][2]string { return [][2]string{{"a", near}, {"a", near}} }, 8020 * time.Millisecond},
		{"two nodes at a site", 0, 6 * second, func(near, _ string) [][2]string { return [][2]string{{"a", near}, {"b", near}} }, 8020 * time.Millisecond},
		{"a long way", 0, 4 * second, func(_, far string) [][2]string { return [][2]string{{"a", far}} }, 4300 * time.Millisecond},
		{"a long way that loses packets", 0.01, 4 * second, func(_, far string) [][2]string { return [][2]string{{"a", far}} }, 4500 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, near, far := lines()
				l.Loss = tt.loss
				if got := fetchAll(t, l, tt.size, tt.pairs(near, far)...); (got - tt.want).Abs() > tt.want/10 {
					t.Errorf("it took %v, want %v", got, tt.want)
				}
			})
		})
	}
}

// What waits for the way ends when its connection is closed, or is no longer wanted; other addresses are not reached.
func TestLinksEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, near, _ := lines()
		c, err := l.Dial("a")(t.Context(), "tcp", near)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, func() { _ = c.Close() })
		_, _ = c.Write([]byte{1})
		begin := time.Now()
		if _, err := io.Copy(io.Discard, c); err == nil || time.Since(begin) > time.Second {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := l.Dial("a")(ctx, "tcp", near); err == nil {
			t.Error("a connection in no time")
		}
		if _, err := l.Dial("a")(t.Context(), "tcp", "127.0.0.1:80"); err == nil {
			t.Error("an address of nobody is reached")
		}
	})
}

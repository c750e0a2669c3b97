package bus

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Server is an embedded JetStream server.
type Server struct {
	srv atomic.Pointer[server.Server] // of this moment: Renew puts another one in its place
	cfg Config

	mu      sync.Mutex           // guards the fields below
	keys    map[uint64]string    // whose the connections of nodes are that there were the last time
	lives   uint64               // how often it was renewed
	revoked map[string]time.Time // credentials that were given to these keys until then are refused
}

// Serve starts the embedded server.
func Serve(c Config) (*Server, error) {
	s, err := start(c)
	if err != nil {
		return nil, err
	}
	sv := &Server{cfg: c}
	if c.Listen != "" {
		sv.cfg.Listen = s.Addr().String() // the same port when it is renewed
	}
	sv.srv.Store(s)
	return sv, nil
}

// start starts a server.
func start(c Config) (*server.Server, error) {
	o := &server.Options{
		ServerName: "argosy", DontListen: true, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: c.Dir, JetStreamMaxMemory: c.MaxDispatch + registryRoom, JetStreamMaxStore: c.MaxLog + c.MaxLog/4,
		SyncAlways: true, MaxPayload: 1 << 20,
	}
	if c.Listen != "" {
		host, port, err := net.SplitHostPort(c.Listen)
		if err != nil {
			return nil, fmt.Errorf("listen on %s: %w", c.Listen, err)
		}
		n, err := strconv.Atoi(port)
		if err != nil {
			return nil, fmt.Errorf("listen on %s: the port is not a number", c.Listen)
		}
		if n == 0 {
			n = server.RANDOM_PORT
		}
		o.DontListen, o.Host, o.Port = false, host, n
		o.TLSConfig, o.TLS, o.TLSTimeout = c.TLS, c.TLS != nil, 5
		o.MaxConn, o.AuthTimeout = 4096, 5
	}
	if c.Keys != nil {
		if err := c.Keys.guard(o); err != nil {
			return nil, err
		}
	}
	if !o.DontListen && o.Port != server.RANDOM_PORT { // the server would try for half a minute, and say it each time
		l, err := net.Listen("tcp", c.Listen)
		if err != nil {
			return nil, fmt.Errorf("the embedded bus: %w", err)
		}
		if err := l.Close(); err != nil {
			return nil, err
		}
	}
	s, err := server.NewServer(o)
	if err != nil {
		return nil, fmt.Errorf("start the embedded bus: %w", err)
	}
	s.SetLoggerV2(&serverLog{log: c.Logger, full: c.Full}, false, false, false)
	s.Start()
	if !s.ReadyForConnections(30 * time.Second) {
		s.Shutdown()
		return nil, fmt.Errorf("start the embedded bus in %s: not ready after 30 s (is the disk full, or the port of %s taken?)", c.Dir, c.Listen)
	}
	return s, nil
}

// URL returns where the server listens; empty if it does not.
func (s *Server) URL() string {
	if s.cfg.Listen == "" {
		return ""
	}
	scheme := "nats://"
	if s.cfg.TLS != nil {
		scheme = "tls://"
	}
	return scheme + s.cfg.Listen
}

// Pipe opens a connection to the server without a port.
func (s *Server) Pipe() (net.Conn, error) { return s.srv.Load().InProcessConn() }

// Close stops the server and waits until its files are closed.
func (s *Server) Close() {
	srv := s.srv.Load()
	srv.Shutdown()
	srv.WaitForShutdown()
}

// Renew stops the server and starts another one in its place, on the same files and the same port: one that could not write, because the
// disk was full, never writes again by itself. Connections of nodes come back by themselves. c is a coordinator's; what the server
// kept in memory alone begins anew. When it fails the bus is away, and Renew may be called again.
func (s *Server) Renew(ctx context.Context, c *Client) error {
	s.Close()
	srv, err := start(s.cfg)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrAway, err)
	}
	s.mu.Lock()
	s.srv.Store(srv)
	s.lives++
	s.keys = nil // connections are counted from 1 again
	revoked := s.revoked
	s.mu.Unlock()
	if len(revoked) > 0 {
		if err := s.Revoke(revoked); err != nil {
			return err
		}
	}
	for { // the client has lost its connection, and makes another one; what it asked for over the one before is not answered
		err = c.ask(ctx, c.make)
		if err == nil || ctx.Err() != nil || !pause(ctx, retryEvery) {
			return err
		}
	}
}

// Connect opens a connection inside the process. The first one creates streams and buckets.
func (s *Server) Connect(ctx context.Context) (*Client, error) {
	opts := []nats.Option{nats.InProcessServer(pipes(s.Pipe)), nats.MaxReconnects(-1), nats.ReconnectWait(retryEvery), nats.Name("argosy")}
	if s.cfg.Keys != nil {
		creds, err := s.cfg.Keys.coordinator()
		if err != nil {
			return nil, err
		}
		opts = append(opts, creds)
	}
	return connect(ctx, "", s.cfg, opts)
}

// serverLog gives the embedded server's warnings to our log.
// Whoever is connected can have it say something, so that its lines are bounded.
type serverLog struct {
	log  *slog.Logger
	full func(error) // nil: nobody asks

	mu    sync.Mutex
	since time.Time
	said  int
}

// So many lines of the server's are logged in such a time; those beyond are counted.
const (
	serverLines = 50
	serverEvery = 10 * time.Second
)

// tell says that the disk is full, if a line says so: the server writes that down, and answers nobody.
func (l *serverLog) tell(line string) {
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		if l.full != nil && strings.Contains(line, full.Error()) {
			l.full(fmt.Errorf("the bus stores nothing any more: %w", full))
		}
	}
}

func (l *serverLog) say(level slog.Level, format string, a ...any) {
	if l.log == nil {
		return
	}
	l.mu.Lock()
	left := 0
	if now := time.Now(); now.Sub(l.since) > serverEvery {
		left, l.since, l.said = max(0, l.said-serverLines), now, 0
	}
	l.said++
	full := l.said > serverLines
	l.mu.Unlock()
	if left > 0 {
		l.log.Log(context.Background(), slog.LevelWarn, "lines of the bus were left out", "lines", left)
	}
	if !full {
		l.log.Log(context.Background(), level, fmt.Sprintf(format, a...))
	}
}

func (l *serverLog) Noticef(string, ...any)         {}
func (l *serverLog) Warnf(format string, a ...any)  { l.say(slog.LevelWarn, format, a...) }
func (l *serverLog) Fatalf(format string, a ...any) { l.say(slog.LevelError, format, a...) }
func (l *serverLog) Errorf(format string, a ...any) {
	l.tell(fmt.Sprintf(format, a...))
	l.say(slog.LevelError, format, a...)
}
func (l *serverLog) Debugf(string, ...any) {}
func (l *serverLog) Tracef(string, ...any) {}

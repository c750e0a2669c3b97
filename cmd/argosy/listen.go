package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"argosy/internal/fleet/access"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/web"
)

// listener answers people and programs over HTTP while a process works.
type listener struct {
	srv    *http.Server
	served chan error
	base   string // http://HOST:PORT
	door   *web.Door
	ending chan struct{} // closed when it is about to end

	answers atomic.Pointer[http.Handler]
}

// checkListen finds mistakes in where a command listens.
func checkListen(flag, addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return usage("%s %s: want HOST:PORT, such as 127.0.0.1:8480", flag, addr)
	}
	return nil
}

// listen opens the port of an API, and a socket for commands of the same user, unless that is "none", and answers there for a house.
func listen(addr, socket, token string, t *tls.Config, house web.House, c web.Config) (*listener, error) {
	l, err := bind(addr, socket, token, t, c.Logger)
	if err == nil {
		l.answer(house, c)
	}
	return l, err
}

// answer answers for a house from now on. Browsers that were let in before the process began go on, but where nothing runs: there nothing is
// written.
func (l *listener) answer(house web.House, c web.Config) {
	if c.Kind != web.KindOver {
		l.door.Keep(filepath.Join(outdir.State(house.Dir()), outdir.SessionsFile), c.Logger)
	}
	c.UserAgent, c.Version, c.Door, c.Ending = defaultAgent, version, l.door, l.ending
	l.use(web.Handler(house, c))
}

func (l *listener) use(h http.Handler) { l.answers.Store(&h) }

// ServeHTTP implements http.Handler.
func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*l.answers.Load()).ServeHTTP(w, r)
}

// bind opens the port, and the socket. Until there is a house to answer for, it says so.
func bind(addr, socket, token string, t *tls.Config, log *slog.Logger) (*listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	scheme := "http://"
	if t != nil {
		l, scheme = tls.NewListener(l, t), "https://"
	}
	ls := &listener{served: make(chan error, 1), base: scheme + l.Addr().String(), door: web.NewDoor(), ending: make(chan struct{})}
	ls.use(web.Waiting("it starts"))
	ls.srv = &http.Server{
		Handler: ls, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ConnContext: web.ConnContext,
	}
	ls.srv.RegisterOnShutdown(func() { close(ls.ending) })
	go func() { ls.served <- ls.srv.Serve(l) }()
	ls.local(socket, token, l.Addr(), log)
	return ls, nil
}

// local answers commands of the same user as well. Without that they need a token.
func (l *listener) local(path, token string, at net.Addr, log *slog.Logger) {
	if path == "none" {
		return
	}
	if path == "" {
		_, port, err := net.SplitHostPort(at.String())
		if err != nil {
			return
		}
		path = web.LocalSocket(port)
	}
	s, err := web.ListenLocal(path)
	if err != nil {
		log.Warn("commands on this machine need --token-file as well: there is no socket for them", "token", token, "error", err)
		return
	}
	go func() {
		if err := l.srv.Serve(s); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the socket for commands on this machine", "error", err)
		}
	}()
}

// lastAnswers is how long answers that are being made may take when a process ends: to the order that ends it, say.
const lastAnswers = 3 * time.Second

// close ends it, once those who have asked are answered.
func (l *listener) close() error {
	defer l.door.Close()
	ctx, cancel := context.WithTimeout(context.Background(), lastAnswers)
	defer cancel()
	if l.srv.Shutdown(ctx) != nil {
		_ = l.srv.Close()
	}
	if err := <-l.served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// link is where a browser gets in, once, as somebody of a role.
func (l *listener) link(role access.Role) string {
	return l.door.Link(reachable(l.base), access.Who{Role: role, Name: "a browser, by the link of this process"})
}

// reachable is an address by which this machine is reached where it listens on all of them.
func reachable(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.IsUnspecified() {
		u.Host = net.JoinHostPort(defaultNode(), u.Port())
	}
	return u.String()
}

// listening has a process without a fleet answer at an address, and says where. No token lets anybody in: a browser comes by the
// link, commands of the same user over the socket.
func listening(addr string, role access.Role, house web.House, c web.Config) (*listener, error) {
	if !isLoopback(addr) {
		fmt.Fprintln(os.Stderr, "argosy: warning: --listen "+addr+": everything crosses the network as plain text, the link too")
	}
	c.Who = func(string) (access.Who, bool) { return access.Who{}, false }
	l, err := listen(addr, "", "", nil, house, c)
	if err == nil {
		fmt.Fprintf(os.Stderr, "argosy: open %s\n", l.link(role))
	}
	return l, err
}

// hosts are names that browsers may ask for us by.
func hosts(names []string) (out []string) {
	for _, n := range names {
		out = append(out, strings.ToLower(n))
	}
	return out
}

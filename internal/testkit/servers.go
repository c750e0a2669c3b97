package testkit

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"argosy/internal/testkit/child"
)

// ErrMissing says that a server is not installed on this machine.
var ErrMissing = errors.New("not installed")

// FreePort returns a TCP port of loopback that nobody listens on.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// find returns the path of a server's program: on the path, or where Debian puts PostgreSQL's.
func find(name string) (string, error) {
	if p, err := exec.LookPath(name); err == nil {
		return p, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("%s: %w", name, ErrMissing)
	}
	sort.Strings(found)
	return found[len(found)-1], nil
}

// Postgres starts a PostgreSQL of its own in a temporary directory, on a free port of loopback. It returns the URL of its
// database. The error is ErrMissing where none is installed.
func Postgres() (url string, stop func(), err error) {
	initdb, err := find("initdb")
	if err != nil {
		return "", nil, err
	}
	server, err := find("postgres")
	if err != nil {
		return "", nil, err
	}
	port, err := FreePort()
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "argosy-postgres-*")
	if err != nil {
		return "", nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	data := filepath.Join(dir, "data")
	as, err := unprivileged(dir)
	if err != nil {
		return "", nil, err
	}
	run := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(name, args...)
		c.Dir, c.SysProcAttr = dir, &syscall.SysProcAttr{Credential: as}
		return c
	}
	if out, err := run(initdb, "-D", data, "-U", "argosy", "-A", "trust", "-E", "UTF8", "--locale", "C", "--no-sync").CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	c := run(server, "-D", data, "-p", strconv.Itoa(port), "-h", "127.0.0.1", "-k", dir, "-c", "max_connections=100")
	var log bytes.Buffer
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
		_ = os.RemoveAll(dir)
	}
	if err := listens(port); err != nil {
		stop()
		return "", nil, fmt.Errorf("postgres: %w: %s", err, log.String())
	}
	return fmt.Sprintf("postgres://argosy@127.0.0.1:%d/postgres?sslmode=disable", port), stop, nil
}

// unprivileged gives a directory to a user whom servers agree to run as; nil if this process is not one of a superuser.
func unprivileged(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, uid, gid)
}

// listens waits until somebody listens on a port of loopback.
func listens(port int) error {
	var err error
	for range 400 {
		var c net.Conn
		if c, err = net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return c.Close()
		}
		time.Sleep(25 * time.Millisecond)
	}
	return err
}

// NATS is a cluster of NATS servers, each a process of its own.
type NATS struct {
	URL string // of all of them

	bin     string
	confs   []string
	ports   []int
	servers []*exec.Cmd
}

// built returns the path of a server that "make servers" has built; the error is ErrMissing where it has not.
func built(name string) (string, error) {
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	path := filepath.Join(filepath.Dir(strings.TrimSpace(string(mod))), "internal", "testkit", "servers", "bin", name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s: %w: make servers builds it", name, ErrMissing)
	}
	return path, nil
}

// NewNATS starts a cluster of n servers in an empty directory. accounts is a file that says who may connect. The error is
// ErrMissing where make servers has not built the program.
func NewNATS(dir, accounts string, n int) (*NATS, error) {
	bin, err := built("nats-server")
	if err != nil {
		return nil, err
	}
	c := &NATS{bin: bin, servers: make([]*exec.Cmd, n)}
	who, err := os.ReadFile(accounts)
	if err != nil {
		return nil, err
	}
	var routes []string
	cluster := make([]int, n)
	for i := range n {
		port, err := FreePort()
		if err != nil {
			return nil, err
		}
		if cluster[i], err = FreePort(); err != nil {
			return nil, err
		}
		c.ports = append(c.ports, port)
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", cluster[i]))
	}
	var urls []string
	for i := range n {
		conf := fmt.Sprintf(`server_name: n%d
listen: "127.0.0.1:%d"
jetstream { store_dir: %q, max_memory_store: 512MB, max_file_store: 20GB, sync_interval: always }
cluster { name: argosy, listen: "127.0.0.1:%d", routes: [%s] }
%s`, i, c.ports[i], filepath.Join(dir, fmt.Sprintf("store%d", i)), cluster[i], strings.Join(routes, ", "), who)
		path := filepath.Join(dir, fmt.Sprintf("n%d.conf", i))
		if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
			return nil, err
		}
		c.confs = append(c.confs, path)
		urls = append(urls, fmt.Sprintf("nats://127.0.0.1:%d", c.ports[i]))
	}
	c.URL = strings.Join(urls, ",")
	for i := range n {
		if err := c.Start(i); err != nil {
			c.Stop()
			return nil, err
		}
	}
	return c, nil
}

// Start starts a server that does not run.
func (c *NATS) Start(i int) error {
	cmd := exec.Command(c.bin, "-c", c.confs[i])
	child.Bind(cmd)
	log, err := os.OpenFile(c.confs[i]+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	c.servers[i] = cmd
	return listens(c.ports[i])
}

// Kill kills a server at once.
func (c *NATS) Kill(i int) {
	if s := c.servers[i]; s != nil {
		_ = s.Process.Kill()
		_ = s.Wait()
		c.servers[i] = nil
	}
}

// Stop ends all servers.
func (c *NATS) Stop() {
	for i := range c.servers {
		c.Kill(i)
	}
}

// S3 starts an S3-compatible server (versitygw) of its own in a temporary directory, on a free port of loopback, and
// returns the URL of a store in a bucket of it, the credentials for it being "argosy" and "argosy-secret". The error is
// ErrMissing where make servers has not built it, from the module in servers/, which is not part of Argosy's.
func S3() (store string, stop func(), err error) {
	bin, err := built("versitygw")
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "argosy-s3-*")
	if err != nil {
		return "", nil, err
	}
	remove := func() { _ = os.RemoveAll(dir) }
	for _, d := range []string{"data/archives", "meta"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			remove()
			return "", nil, err
		}
	}
	port, err := FreePort()
	if err != nil {
		remove()
		return "", nil, err
	}
	c := exec.Command(bin, "--port", fmt.Sprintf("127.0.0.1:%d", port), "--access", "argosy", "--secret", "argosy-secret", "--quiet",
		"posix", "--sidecar", filepath.Join(dir, "meta"), filepath.Join(dir, "data"))
	child.Bind(c)
	var log bytes.Buffer
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		remove()
		return "", nil, err
	}
	stop = func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		remove()
	}
	if err := listens(port); err != nil {
		stop()
		return "", nil, fmt.Errorf("versitygw: %w: %s", err, log.String())
	}
	return fmt.Sprintf("s3://archives/warc?endpoint=http://127.0.0.1:%d&region=us-east-1", port), stop, nil
}

package assemble

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"argosy/internal/crawl"
	"argosy/internal/fleet/agent"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/usage"
	"argosy/internal/page/archive"
	"argosy/internal/page/fetch"
)

// NodeConfig says what a node is and with what it works.
type NodeConfig struct {
	Info        crawl.NodeInfo // Incarnation is chosen here
	Fetch       fetch.Config
	Headers     []fetch.Field     // for the seeds' sites
	Cookies     string            // likewise
	Logins      map[string]string // NAME:PASSWORD by site
	KeepSecrets bool
	Had         *agent.Had    // answers that are not asked for again; nil: none
	Dir         string        // where archives are made
	Store       archive.Store // where they go; nil: they stay in Dir
	MeasureBS   bool
	Speed       *StoreSpeed   // of the nodes of this process that write to the same store; nil: there are no others
	ArchiveSize int64         // bytes after which a WARC file is closed
	Prefix      string        // of the names of WARC files; empty: "argosy"
	Operator    string        // who crawls, and how to reach them: a label of the archives
	Flush       time.Duration // how long outcomes may wait to be reported; 0: the default
	IgnoreRobot bool          // for the label of the archives only
	UserAgent   string        // likewise
	Version     string
	Beside      int // other nodes in this process, which share what it uses
	Logger      *slog.Logger
}

// StoreSpeed is BS of a store to which all nodes of a process write, the same way. It is measured once: what they measure beside each other is
// mostly who came first, and was twelve times as much for one as for another on a local disk.
type StoreSpeed struct {
	once    sync.Once
	bits    int64
	seconds float64
	err     error
}

func (s *StoreSpeed) measure(ctx context.Context, store archive.Store) (bits int64, seconds float64, err error) {
	s.once.Do(func() { s.bits, s.seconds, s.err = archive.Measure(ctx, store) })
	return s.bits, s.seconds, s.err
}

// node is a node in this process.
type node struct {
	bus    *bus.Client
	warc   *archive.Writer
	spools *archive.Spools
	agent  *agent.Agent
}

// newIncarnation names a life of a process.
func newIncarnation() string {
	return time.Now().UTC().Format("20060102150405") + "-" + randomHex(3)
}

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: it ends the program instead
	return hex.EncodeToString(b)
}

// openNode builds a node on a connection to the bus.
func openNode(c NodeConfig, b *bus.Client) (*node, error) {
	spools, err := archive.OpenSpools(filepath.Join(c.Dir, "spool", c.Info.Node)) // beside the archives: it may become one
	if err != nil {
		return nil, err
	}
	c.Fetch.Spool = func() (fetch.Spool, error) { return spools.Create() }
	client, err := fetch.NewClient(c.Fetch)
	if err != nil {
		return nil, err
	}
	c.Info.Incarnation, c.Info.Wire = newIncarnation(), bus.Wire
	info := map[string]string{
		"software": "argosy/" + c.Version, "format": "WARC File Format 1.1",
		"conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
		"robots":     robotsPolicy(c.IgnoreRobot),
	}
	if c.UserAgent != "" {
		info["http-header-user-agent"] = c.UserAgent
	}
	if c.Operator != "" {
		info["operator"] = c.Operator
	}
	prefix := cmp.Or(c.Prefix, "argosy")
	w := archive.NewWriter(archive.WriterConfig{
		Dir: c.Dir, Prefix: prefix + "-" + c.Info.Node + "-" + c.Info.Incarnation, MaxSize: c.ArchiveSize, Store: c.Store, Info: info,
	})
	c.Info.Version = c.Version
	ac := agent.DefaultConfig(c.Info)
	ac.MaxPart, ac.Concurrency = bus.MaxPart, c.Info.Concurrency
	ac.Headers, ac.Cookies, ac.Logins, ac.KeepSecrets, ac.Logger = c.Headers, c.Cookies, c.Logins, c.KeepSecrets, c.Logger
	if c.Had != nil {
		ac.Fetcher = agent.WithHad(agent.OverHTTP(client), c.Had)
	}
	ac.Usage = func() agent.Usage {
		return agent.Usage{CPU: usage.CPU() / time.Duration(c.Beside+1), Memory: usage.Memory() / int64(c.Beside+1)}
	}
	ac.FilterSize = agent.FilterOf(c.Beside + 1)
	if c.Flush > 0 {
		ac.Flush = c.Flush
	}
	if c.MeasureBS {
		store := c.Store
		if store == nil {
			store = archive.Dir(c.Dir)
		}
		speed := cmp.Or(c.Speed, &StoreSpeed{})
		ac.Store = func(ctx context.Context) (int64, float64, error) { return speed.measure(ctx, store) }
	}
	return &node{bus: b, warc: w, spools: spools, agent: agent.New(ac, b, b, client, w)}, nil
}

// run works until ctx ends.
func (n *node) run(ctx context.Context) error {
	group, gctx := errgroup.WithContext(ctx)
	group.Go(func() error { return n.bus.Register(gctx, n.agent.Info, n.agent.Changed()) })
	group.Go(func() error { return n.agent.Run(gctx) })
	return group.Wait()
}

// close closes the node's archive.
func (n *node) close() error {
	n.spools.Close()
	return n.warc.Close()
}

// spool is a directory for archives on their way to a store elsewhere. What a dead process has left in it was never
// reported, and is removed.
func spool(dir string) (string, error) {
	left, err := filepath.Glob(filepath.Join(dir, "*.warc.gz.open"))
	if err != nil {
		return "", err
	}
	for _, f := range left {
		err = errors.Join(err, os.Remove(f))
	}
	return dir, errors.Join(err, os.MkdirAll(dir, 0o700))
}

func robotsPolicy(ignored bool) string {
	if ignored {
		return "ignore"
	}
	return "obey"
}

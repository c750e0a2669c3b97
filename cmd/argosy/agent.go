package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"argosy/internal/crawl"
	"argosy/internal/fleet/access"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/web"
	"argosy/internal/page/archive"
)

// agentFlags are the flags of argosy agent as they were given.
type agentFlags struct {
	crawlFlags // those that concern the network
	fleet      fleetFlags

	name, key, store, spool, echo, advertise, capacity, prices string
	labels                                                     []string
	onDemand                                                   bool
	leases                                                     int
	bus                                                        bus.Dial
	natsCA                                                     string
}

func newAgent() *cobra.Command {
	f := &agentFlags{crawlFlags: crawlFlags{job: defaultJob()}}
	c := &cobra.Command{
		Use: "agent --join URL --store DIR", Short: "Run a node of a fleet", Args: cobra.NoArgs,
		Long: `Agent joins a coordinator, takes leases, fetches, archives to its store, and reports. It holds no state that matters: it
may be killed at any moment. A first interrupt drains it: it takes no more leases, ends those it has after what is under
way, and leaves; a second one ends it at once.

Its labels say where and what it is (city, provider, region, type, or any other); strategies and jobs go by them. With
--echo other nodes can measure the delay to it, and it can be a landmark.`,
		Example: `  argosy agent --join http://127.0.0.1:8480 --store archives
  argosy agent --join https://coordinator:8480 --token-file token --ca ca.pem --store s3://bucket/warc \
      --label city=Paris --label provider=a --label region=eu --echo :8490 --prices reserve=0.01,use=0.02,surcharge=0.06
  argosy agent --join http://127.0.0.1:8480 --bind 10.0.0.5,10.0.0.6 --store archives     two nodes, one for each address`,
		RunE: func(c *cobra.Command, _ []string) error { return trusting(f.run(c)) },
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.fleet.server, "join", "", "URL of the coordinator, several with commas (required, unless --nats)")
	f.fleet.tokens(c)
	fl.StringVar(&f.name, "name", "", "of the node: letters, digits, - and _ (default: the host's, with a number if an agent with it runs there already)")
	fl.StringVar(&f.key, "key", "", "file with the node's key, made if it is not there (default: in .argosy in the directory of --store, else of --spool, else of the user)")
	fl.StringArrayVar(&f.labels, "label", nil, "NAME=VALUE, such as city=Paris, or type=1 for jobs and engines\nof that type (may be repeated)")
	fl.StringVar(&f.store, "store", "", "where archives go (required): a directory, or s3://BUCKET[/PREFIX], with ?endpoint=URL&region=NAME behind")
	fl.StringVar(&f.spool, "spool", "", "directory for archives on their way to S3 (default: a temporary one)")
	fl.StringSliceVar(&f.bind, "bind", nil, "local addresses: a node for each")
	fl.StringVar(&f.capacity, "capacity", "", "what it offers (default: this machine's cores and memory): cpu=CORES,memory=SIZE,bandwidth=BITS")
	fl.StringVar(&f.prices, "prices", "", "what it costs an hour: reserve=N,use=N,surcharge=N")
	fl.BoolVar(&f.onDemand, "on-demand", false, "it is not reserved: taken on at its surcharge when the others do not suffice")
	fl.IntVar(&f.leases, "leases", 0, "leases at once (default: 32 for each request at once, at least 64)")
	fl.IntVar(&f.concurrency, "concurrency", 128, "requests at once")
	fl.StringVar(&f.echo, "echo", "", "host:port on which other nodes may measure the delay to it")
	fl.StringVar(&f.advertise, "advertise", "", "URL under which others reach the echo (default: http:// and its host:port)")
	fl.StringVar(&f.bus.URL, "nats", "", "the bus, where it is not the coordinator that says so")
	fl.StringVar(&f.bus.Creds, "nats-creds", "", "the node's own credentials file for it, where the coordinator has no signing key")
	fl.StringVar(&f.bus.NKey, "nats-nkey", "", "or a file with the seed of an nkey")
	fl.StringVar(&f.natsCA, "nats-ca", "", "certificates (PEM) that the bus is known by (default: those of --ca)")
	f.warc.register(c)
	f.reach(c)
	f.trust(c, "site-")
	fl.StringVar(&f.logLevel, "log-level", "info", "what is logged on standard error: debug, info, warn or error")
	return c
}

// config turns flags into a configuration.
func (f *agentFlags) config() (assemble.AgentConfig, error) {
	var c assemble.AgentConfig
	var nc assemble.Config
	if err := f.network(&nc); err != nil {
		return c, err
	}
	nc.Fetch.Limits = crawl.DefaultFetchLimits() // of lookups and probes: each job has its own
	log, err := logger(os.Stderr, f.logLevel)
	if err != nil {
		return c, err
	}
	if f.store == "" {
		return c, usage("--store: say where archives go: a directory, or s3://BUCKET")
	}
	if _, err := archive.OpenStore(f.store); err != nil {
		return c, usage("--%w", err)
	}
	if f.concurrency < 1 || f.concurrency > crawl.MaxRequests || f.leases < 0 || f.leases > crawl.MaxLeases {
		return c, usage("--concurrency %d, --leases %d: allowed are 1 to %d requests, and 0 to %d leases", f.concurrency, f.leases, crawl.MaxRequests, crawl.MaxLeases)
	}
	size, err := f.warc.check()
	if err != nil {
		return c, err
	}
	info := crawl.NodeInfo{
		Node: f.name, Labels: map[string]string{}, Leases: f.leases, Concurrency: f.concurrency, OnDemand: f.onDemand,
	}
	if info.Node == "" {
		info.Node = defaultNode() // until its identity says which
	}
	if err := bus.CheckNode(info.Node); err != nil {
		return c, usage("--name: %w", err)
	}
	if f.key != "" && (f.name == "" || len(f.bind) > 1) {
		return c, usage("--key: one node with a --name has it")
	}
	if info.Leases == 0 {
		info.Leases = max(64, 32*f.concurrency)
	}
	for _, l := range f.labels {
		k, v, ok := strings.Cut(l, "=")
		if !ok || k == "" || v == "" || len(l) > 256 || len(f.labels) > 64 || !utf8.ValidString(l) {
			return c, usage("--label %q: want NAME=VALUE in UTF-8, at most 64 of at most 256 bytes", l)
		}
		if was, ok := info.Labels[k]; ok && was != v {
			return c, usage("--label %q: %s is %q already; a label has one value", l, k, was)
		}
		info.Labels[k] = v
	}
	if err := f.offer(&info); err != nil {
		return c, err
	}
	c = assemble.AgentConfig{
		Node: assemble.NodeConfig{Info: info, Fetch: nc.Fetch, Headers: nc.Headers, Cookies: nc.Cookies, KeepSecrets: f.keepSecrets, ArchiveSize: size, Prefix: f.warc.prefix, Operator: f.warc.operator,
			Version: version, Logger: log},
		Bus: f.bus, Echo: f.echo, Store: f.store, Spool: f.spool,
	}
	return c, f.join(&c)
}

// offer reads what the node offers and costs.
func (f *agentFlags) offer(info *crawl.NodeInfo) error {
	info.Offer = [3]float64{float64(runtime.NumCPU()), memory(), 0}
	err := pairs("--capacity", f.capacity, []string{"cpu", "memory", "bandwidth"}, func(i int, v string) error {
		if i == 0 {
			n, err := figure(v)
			info.Offer[0] = n
			return err
		}
		n, err := crawl.ParseSize(v)
		info.Offer[i] = float64(n)
		if err != nil && i == 2 {
			return fmt.Errorf("%q; allowed are numbers of bits a second, with K, M, G or T", v)
		}
		return err
	})
	if err != nil {
		return err
	}
	err = pairs("--prices", f.prices, []string{"reserve", "use", "surcharge"}, func(i int, v string) error {
		n, err := figure(v)
		info.Prices[i] = n
		return err
	})
	return err
}

// figure reads a price, or a number of processors.
func figure(s string) (float64, error) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n >= 0 && n <= 1e9) { // nor what is not a number
		return 0, errors.New("want 0 to 1e9")
	}
	return n, nil
}

// pairs reads NAME=VALUE,… where the names are known.
func pairs(flag, s string, names []string, set func(i int, value string) error) error {
	if s == "" {
		return nil
	}
next:
	for p := range strings.SplitSeq(s, ",") {
		k, v, _ := strings.Cut(p, "=")
		for i, n := range names {
			if strings.TrimSpace(k) == n {
				if err := set(i, strings.TrimSpace(v)); err != nil {
					return usage("%s: %s: %q: %w", flag, n, v, err)
				}
				continue next
			}
		}
		return usage("%s: %q: allowed are %s, as NAME=VALUE", flag, k, strings.Join(names, ", "))
	}
	return nil
}

// join says how credentials are got.
func (f *agentFlags) join(c *assemble.AgentConfig) (err error) {
	flag, ca := "--ca", f.fleet.ca
	if f.natsCA != "" {
		flag, ca = "--nats-ca", f.natsCA
	}
	if c.TLS, err = clientTLS(flag, ca); err != nil {
		return err
	}
	if f.bus.URL != "" {
		c.Bus.TLS = c.TLS
		return nil
	}
	if f.fleet.server == "" {
		return usage("--join: name the coordinator, such as http://127.0.0.1:8480")
	}
	cl, err := f.fleet.clientOf("--join")
	if err != nil {
		return err
	}
	c.Join = f.joiner(cl, c.Node.Logger)
	return nil
}

// lasting are the rules by which a node that has joined before is refused for good: trying again would not help.
var lasting = []access.Rule{access.RuleRevoked, access.RuleTaken, access.RuleStore, access.RuleOld, access.RuleFull}

// joiner asks a coordinator until it answers. At first what it refuses is the user's mistake; a node that has joined once goes on asking,
// unless it is refused for good.
func (f *agentFlags) joiner(cl *web.Client, log *slog.Logger) bus.Joiner {
	var joined atomic.Bool
	return func(ctx context.Context, key bus.NodeKey, pet bus.Petition) (bus.Pass, error) {
		for wait := 200 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
			p, err := cl.Join(ctx, key, pet)
			rest := wait
			var refused *web.Error
			switch {
			case err == nil:
				joined.Store(true)
				return p, nil
			case errors.As(err, &refused) && refused.After > 0:
				rest = refused.After
			case errors.As(err, &refused) && refused.Usage() && (!joined.Load() || slices.Contains(lasting, refused.Rule)):
				return p, usage("--join %s: %w", f.fleet.server, err)
			}
			log.Warn("waiting for the coordinator", "error", err)
			select {
			case <-ctx.Done():
				return p, ctx.Err()
			case <-time.After(rest):
			}
		}
	}
}

// home is the directory in which an agent keeps names and keys.
func (f *agentFlags) home() (string, error) {
	dir := f.spool
	if store, err := archive.OpenStore(f.store); err == nil {
		if d, ok := store.(archive.Dir); ok {
			dir = string(d)
		}
	}
	if dir == "" {
		if dir = os.Getenv("XDG_STATE_HOME"); dir == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return "", usage("--key: say where the node's key lies; there is no directory of --store or --spool, and no home, to keep it in")
			}
			dir = filepath.Join(home, ".local", "state")
		}
		return filepath.Join(dir, "argosy"), nil
	}
	return filepath.Join(dir, ".argosy"), nil
}

// identity finds out who the i-th node of this process is, of so many; nil: others gave it credentials.
func (f *agentFlags) identity(i, of int) (*assemble.Identity, error) {
	if f.bus.URL != "" {
		return nil, nil
	}
	home := ""
	var err error
	if f.key == "" {
		if home, err = f.home(); err != nil {
			return nil, err
		}
	}
	if f.name == "" {
		return assemble.AnyIdentity(home, defaultNode())
	}
	return assemble.NamedIdentity(home, nameOf(f.name, i, of), f.key)
}

// nameOf is the name of the i-th of so many nodes.
func nameOf(name string, i, of int) string {
	if of > 1 {
		name += "-" + strconv.Itoa(i+1)
	}
	return name
}

// open joins as the i-th node of this process. One that has no name from a person takes another one where its own is taken.
func (f *agentFlags) open(ctx context.Context, ac assemble.AgentConfig, i, of int) (*assemble.Agent, io.Closer, error) {
	id, err := f.identity(i, of)
	if errors.Is(err, assemble.ErrRuns) {
		return nil, nil, usage("%w", err)
	}
	if err != nil {
		return nil, nil, err
	}
	if id == nil {
		ac.Node.Info.Node = nameOf(ac.Node.Info.Node, i, of)
		a, err := assemble.OpenAgent(ctx, ac)
		return a, nil, err
	}
	for {
		ac.Node.Info.Node, ac.Key = id.Name, id.Key
		a, err := assemble.OpenAgent(ctx, ac)
		var refused *web.Error
		if err == nil {
			return a, id, nil
		}
		if errors.As(err, &refused) && refused.Rule == access.RuleTaken {
			if other, rerr := id.Rename(defaultNode()); other && rerr == nil {
				ac.Node.Logger.Info("the host's name is another node's; taking one of its own", "name", id.Name)
				continue
			}
		}
		return nil, nil, errors.Join(err, id.Close())
	}
}

func (f *agentFlags) run(c *cobra.Command) error {
	cfg, err := f.config()
	if err != nil {
		return err
	}
	if cfg.Node.Fetch.ProxyDNS {
		fmt.Fprintln(os.Stderr, "argosy: warning: --proxy-dns: the proxy resolves names; private addresses behind it are not denied")
	}
	ctx, stop, hard := interrupts(c.Context(), new(console).say)
	defer stop()
	defer boundHeap(fleetLimit)()
	binds := f.bind
	if len(binds) == 0 {
		binds = []string{""}
	}
	var agents []*assemble.Agent
	defer func() {
		for _, a := range agents {
			_ = a.Close()
		}
	}()
	cfg.Node.Speed = &assemble.StoreSpeed{}
	for i, b := range binds {
		ac := cfg
		if b != "" {
			ac.Node.Fetch.Bind = netip.MustParseAddr(b) // network has parsed it before
			ac.Node.Info.Source = ac.Node.Fetch.Bind.String()
		}
		if f.echo != "" {
			if ac.Node.Info.Echo, err = f.echoURL(); err != nil {
				return err
			}
			if i > 0 {
				ac.Echo = "" // one echo stands for all addresses of the machine
			}
		}
		a, id, err := f.open(ctx, ac, i, len(binds))
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if id != nil {
			defer id.Close()
		}
		agents = append(agents, a)
		cfg.Node.Logger.Info("joined", "node", a.Info().Node, "incarnation", a.Info().Incarnation, "store", a.Info().Store)
	}
	errs := make([]error, len(agents))
	var wg sync.WaitGroup
	for i, a := range agents {
		wg.Go(func() { errs[i] = a.Run(ctx, hard) })
	}
	wg.Wait()
	for _, a := range agents {
		s := a.Stats()
		cfg.Node.Logger.Info("left", "node", a.Info().Node, "requests", s.Requests, "escaped", s.Escaped)
	}
	return errors.Join(errs...)
}

// echoURL is where others measure this machine.
func (f *agentFlags) echoURL() (string, error) {
	if f.advertise != "" {
		u, err := crawl.Parse(f.advertise)
		if err != nil {
			return "", usage("--advertise %s: %w", f.advertise, err)
		}
		if !crawl.PlainEcho(u.String()) {
			return "", usage("--advertise %s: want http://HOST:PORT, without a path", f.advertise)
		}
		return u.String(), nil
	}
	host, port, err := net.SplitHostPort(f.echo)
	if n, perr := strconv.ParseUint(port, 10, 16); err != nil || perr != nil || n == 0 {
		return "", usage("--echo %s: want HOST:PORT, with a port of 1 to 65535", f.echo)
	}
	if host == "" || host == "0.0.0.0" || host == "::" {
		return "", usage("--echo %s: say with --advertise under which URL others reach it", f.echo)
	}
	return "http://" + net.JoinHostPort(host, port) + "/", nil
}

// memory is this machine's, in bytes; 0 where it is not known.
func memory() float64 {
	b, err := os.ReadFile(filepath.FromSlash("/proc/meminfo"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			if kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64); err == nil {
				return kb * 1024
			}
		}
	}
	return 0
}

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/fleet/access"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/serve"
	"argosy/internal/fleet/web"
	"argosy/internal/plan/schedule"
	"argosy/internal/plan/strategy"
)

// serveFlags are the flags of argosy serve as they were given.
type serveFlags struct {
	cfg                      serve.Config
	listen, probe, logLevel  string
	minFree                  string
	tokenFile, cert, key, ca string
	joinFile                 string
	socket                   string
	hosts                    []string
	json                     bool
}

func newServe() *cobra.Command {
	f := &serveFlags{cfg: serve.DefaultConfig("")}
	c := &cobra.Command{
		Use: "serve -o DIR", Short: "Run the coordinator of a fleet", Args: cobra.NoArgs,
		Long: `Serve owns the frontier of all jobs, decides which node fetches which site, and answers argosy agent, submit, jobs,
tasks and nodes. Its directory holds everything that it knows; start it again with the same one after whatever
stopped it: the agents go on meanwhile, and nothing is lost.

It listens on this machine only, unless --listen and --bus-listen say otherwise. Commands of the same user on this machine reach it over
a Unix socket that nobody else can open; everybody else shows a token (argosy token), such as the operator's, which it makes at its first
start, in DIR/state/token. With --nats the bus is a cluster of your own, and with
--ledger postgres://… a second serve stands by and takes over when the first is gone.`,
		Example: `  argosy serve -o fleet
  argosy serve -o fleet --listen :8480 --bus-listen :4480 --tls-cert cert.pem --tls-key key.pem
  argosy serve -o a --nats nats://n1:4222,nats://n2:4222 --nats-creds coordinator.creds --signing-key signing.nk --ledger postgres://…`,
		RunE: func(c *cobra.Command, _ []string) error { return trusting(f.run(c)) },
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVarP(&f.cfg.Dir, "out", "o", "", "directory of the coordinator (required)")
	fl.StringVar(&f.listen, "listen", "127.0.0.1:8480", "host:port of the API")
	fl.StringVar(&f.cfg.BusListen, "bus-listen", f.cfg.BusListen, "host:port of the embedded bus, which agents connect to")
	fl.StringVar(&f.cert, "tls-cert", "", "certificate (PEM): API and bus then speak TLS only")
	fl.StringVar(&f.key, "tls-key", "", "its key (PEM)")
	fl.StringVar(&f.tokenFile, "token-file", "", "file with the operator's token (default: DIR/state/token, made at the first start)")
	fl.StringVar(&f.joinFile, "join-token-file", "", "file with a token that lets nodes join, and nothing else (see also argosy token create)")
	fl.StringVar(&f.socket, "socket", "", "Unix socket for commands of the same user, in a directory that is its alone; none: there is none (default: in the directory for temporary files, by the port of --listen)")
	fl.StringArrayVar(&f.cfg.Access.Stores, "allow-store", nil, "where nodes' archives may lie: dir, dir:PATH, s3, s3://BUCKET[/PREFIX][?endpoint=URL], with * for any bucket (may be repeated; default: dir and s3, without endpoints)")
	fl.StringArrayVar(&f.cfg.Access.Echoes, "allow-echo", nil, "address, range of addresses or host that a node may name with --echo, besides the one that it comes from (may be repeated)")
	fl.StringArrayVar(&f.hosts, "allow-host", nil, "name by which browsers may ask for the pages, besides addresses and this machine's: of a reverse proxy, say (may be repeated)")
	fl.StringVar(&f.cfg.Bus.URL, "nats", "", "use this NATS cluster instead of the embedded bus: nats://HOST:PORT, several with commas")
	fl.StringVar(&f.cfg.Bus.Creds, "nats-creds", "", "credentials file for it")
	fl.StringVar(&f.cfg.Bus.NKey, "nats-nkey", "", "or a file with the seed of an nkey")
	fl.StringVar(&f.ca, "nats-ca", "", "certificates (PEM) that its servers are known by")
	fl.StringVar(&f.cfg.SigningKey, "signing-key", "", "file with the seeds of the accounts that sign nodes' credentials for it (see argosy keys)")
	fl.IntVar(&f.cfg.Replicas, "replicas", f.cfg.Replicas, "copies of the log in it")
	fl.StringVar(&f.cfg.Ledger, "ledger", "", "postgres://… instead of DIR/argosy.db (default: ARGOSY_LEDGER, which no list of processes shows)")
	fl.StringVar(&f.cfg.Name, "name", "", "of this coordinator (default: the host's)")
	fl.StringVar(&f.cfg.Strategy, "strategy", strategy.Default, "which node gets which site, for jobs that do not say (see argosy strategies)")
	fl.StringVar(&f.probe, "probe", "", "measure bandwidth before a site is crawled: none, few or all (default: what the strategy wants)")
	fl.StringVar(&f.cfg.Shadow, "shadow", "", "a strategy that plans beside those of jobs; what would differ is counted (argosy jobs, explain, the log), and nothing is done of it")
	fl.DurationVar(&f.cfg.PingEvery, "ping-every", f.cfg.PingEvery, "measure the delays between nodes this often (0: never)")
	fl.StringArrayVar(&f.cfg.GeoIP, "geoip", nil, "file of MaxMind's format that says where addresses are (may be repeated)")
	fl.StringVar(&f.cfg.ExplainLog, "explain-log", "", "write every scheduling decision to this file (see argosy explain)")
	fl.StringVar(&f.minFree, "min-free", "256M", "give nothing out while the disk of DIR has less room than this, and go on when it has (0: do not look)")
	fl.Uint64Var(&f.cfg.Checkpoint, "checkpoint", f.cfg.Checkpoint, "with --nats: entries of the log between checkpoints of the view")
	fl.Uint64Var(&f.cfg.Seed, "seed", 0, "seed of everything random in scheduling")
	fl.StringVar(&f.logLevel, "log-level", "info", "what is logged on standard error: debug, info, warn or error")
	fl.BoolVar(&f.json, "json", false, "print where it listens as one JSON object")
	return c
}

func (f *serveFlags) run(c *cobra.Command) error {
	if f.cfg.Dir == "" {
		return usage("-o: name a directory for the coordinator")
	}
	var err error
	if f.cfg.Logger, err = logger(os.Stderr, f.logLevel); err != nil {
		return err
	}
	if err := schedule.CheckProbe(f.probe); err != nil {
		return usage("--probe %w", err)
	}
	f.cfg.Probe = f.probe
	if _, err := strategy.New(f.cfg.Strategy); err != nil {
		return usage("--strategy: %w", err)
	}
	if f.cfg.Shadow != "" {
		if _, err := strategy.New(f.cfg.Shadow); err != nil {
			return usage("--shadow: %w", err)
		}
	}
	if f.cfg.Ledger == "" {
		f.cfg.Ledger = os.Getenv(ledgerVariable)
	}
	if f.cfg.Ledger != "" && !ledger.IsPostgres(f.cfg.Ledger) {
		return usage("--ledger: allowed is postgres://USER:PASSWORD@HOST/DATABASE; without it the ledger is DIR/argosy.db")
	}
	if f.cfg.MinFree, err = parseSize("--min-free", f.minFree); err != nil {
		return err
	}
	if f.cfg.Replicas < 1 || f.cfg.Replicas > 5 {
		return usage("--replicas %d: allowed are 1 to 5", f.cfg.Replicas)
	}
	if every := f.cfg.PingEvery; every != 0 && every < time.Second {
		return usage("--ping-every %v: want 1s or more, or 0 for never", every)
	}
	if f.cfg.Checkpoint == 0 {
		return usage("--checkpoint 0: want a whole number from 1 on")
	}
	if f.cfg.Name == "" {
		f.cfg.Name = defaultNode()
	}
	f.cfg.Version = version
	if f.cfg.TLS, err = serverTLS(f.cert, f.key); err != nil {
		return err
	}
	if f.cfg.Bus.TLS, err = clientTLS("--nats-ca", f.ca); err != nil {
		return err
	}
	for flag, addr := range map[string]string{"--listen": f.listen, "--bus-listen": f.cfg.BusListen} {
		if err := checkListen(flag, addr); err != nil {
			return err
		}
	}
	if f.cfg.TLS == nil && (!isLoopback(f.listen) || f.cfg.Bus.URL == "" && !isLoopback(f.cfg.BusListen)) {
		fmt.Fprintln(os.Stderr, "argosy: warning: without --tls-cert the token and everything else cross the network as plain text")
	}
	if _, err := access.NewStores(f.cfg.Access.Stores); err != nil {
		return usage("--allow-store: %w", err)
	}
	if _, err := access.NewEchoes(f.cfg.Access.Echoes); err != nil {
		return usage("--allow-echo: %w", err)
	}
	if f.cfg.Access.Tokens, err = f.loadTokens(); err != nil {
		return err
	}
	return f.serve(c)
}

func (f *serveFlags) serve(c *cobra.Command) error {
	ctx, stop, hard := interrupts(c.Context(), new(console).say)
	defer stop()
	defer boundHeap(fleetLimit)()
	defer collectSeldom()()
	s, l, err := f.open(ctx)
	if err != nil {
		return err
	}
	f.announce(c, l, s.BusURL())
	run, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-hard:
			os.Exit(exitInterrupted)
		case <-run.Done():
		}
	}()
	err = s.Run(run)
	err = errors.Join(err, l.close())
	return errors.Join(err, s.Close())
}

// open opens the coordinator and its port. Whoever asks while bus or database are waited for is told so.
func (f *serveFlags) open(ctx context.Context) (s *serve.Server, l *listener, err error) {
	port := func() (err error) {
		if l == nil {
			l, err = bind(f.listen, f.socket, f.tokenPath(), f.cfg.TLS, f.cfg.Logger)
		}
		return err
	}
	cfg := f.cfg
	cfg.Waiting = func(why error) {
		if err := port(); err != nil {
			f.cfg.Logger.Warn("who asks is not answered yet", "error", err)
			return
		}
		if words := serve.Away(why); words != "" { // the rest is for the log: anybody may ask
			l.use(web.Waiting(words))
		}
	}
	cfg.Fatal = func(err error) {
		fmt.Fprintf(os.Stderr, "\nargosy: %s: the disk is full (%v); nothing is lost: make room, and argosy serve -o %[1]s goes on\n", cfg.Dir, err)
		os.Exit(exitFailed)
	}
	if s, err = serve.Open(ctx, cfg); err == nil {
		err = port()
	}
	if err == nil {
		l.answer(s, web.Config{Logger: f.cfg.Logger, Hosts: hosts(f.hosts)})
		return s, l, nil
	}
	if l != nil {
		err = errors.Join(err, l.close())
	}
	if s != nil {
		err = errors.Join(err, s.Close())
	}
	return nil, nil, err
}

// announce says where the coordinator listens, and what to do next.
func (f *serveFlags) announce(c *cobra.Command, l *listener, busURL string) {
	w, api := c.OutOrStdout(), l.base
	if f.json {
		_ = printJSON(w, map[string]string{"api": api, "bus": busURL, "dir": f.cfg.Dir, "token_file": f.tokenPath()})
		return
	}
	fmt.Fprintf(w, "coordinator in %s\n  API    %s\n  bus    %s\n  token  in %s, the operator's, for who asks from elsewhere\n  open   %s\n         (once, within the hour; argosy link prints another)\n\n", f.cfg.Dir, api, busURL, f.tokenPath(), l.link(access.Operator))
	fmt.Fprint(w, next(api, f.cert, f.tokenPath()))
}

// next says how to reach a coordinator: nodes by a name of this machine, people here as it asks for the least.
func next(api, cert, token string) string {
	here, there := api, api
	asks, joins, create := "", " --token-file join.token", ""
	u, err := url.Parse(api)
	if err != nil {
		return ""
	}
	switch ip, _ := netip.ParseAddr(u.Hostname()); {
	case ip.IsUnspecified():
		here, there = u.Scheme+"://localhost:"+u.Port(), u.Scheme+"://"+defaultNode()+":"+u.Port()
	case ip.IsLoopback():
		joins = ""
	default:
		asks = " --token-file " + token
	}
	if cert != "" {
		asks, joins = " --ca "+cert+asks, " --ca "+cert+joins
	}
	if asks = " --server " + here + asks; asks == " --server "+defaultServer {
		asks = ""
	}
	if strings.Contains(joins, "join.token") {
		create = "argosy token create --role join" + asks + " > join.token     give it to the nodes' machines\n       "
	}
	return fmt.Sprintf("next:  %sargosy agent --join %s --store DIR\n       argosy submit%s JOB.yaml\n       argosy nodes%s\n", create, there+joins, asks, asks)
}

func (f *serveFlags) tokenPath() string {
	if f.tokenFile != "" {
		return f.tokenFile
	}
	return filepath.Join(f.cfg.Dir, "state", "token")
}

// loadTokens reads the tokens that lie in files. The operator's is made at the first start.
func (f *serveFlags) loadTokens() ([]access.Token, error) {
	path := f.tokenPath()
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && f.tokenFile == "" {
		var raw [24]byte
		_, _ = rand.Read(raw[:]) // never fails: it ends the program instead
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(hex.EncodeToString(raw[:])+"\n"), 0o600); err != nil {
			return nil, err
		}
	}
	operator, err := readToken("--token-file", access.Operator, path)
	if err != nil || f.joinFile == "" {
		return []access.Token{operator}, err
	}
	join, err := readToken("--join-token-file", access.Join, f.joinFile)
	if err == nil && bytes.Equal(join.Hash, operator.Hash) {
		err = usage("--join-token-file %s: it holds the operator's token: who lets nodes join with it could do everything", f.joinFile)
	}
	return []access.Token{operator, join}, err
}

func readToken(flag string, role access.Role, path string) (access.Token, error) {
	b, err := readSmall(path)
	if err != nil {
		return access.Token{}, usage("%s: %w", flag, err)
	}
	t, err := access.FileToken(role, strings.TrimSpace(string(b)))
	if err != nil {
		return t, usage("%s: %w: put one there, or remove the file and have one made", path, err)
	}
	return t, nil
}

func serverTLS(cert, key string) (*tls.Config, error) {
	if cert == "" && key == "" {
		return nil, nil
	}
	chain, err := readSmall(cert)
	secret, kerr := readSmall(key)
	if err = errors.Join(err, kerr); err != nil {
		return nil, usage("--tls-cert, --tls-key: %w", err)
	}
	pair, err := tls.X509KeyPair(chain, secret)
	if err != nil {
		return nil, usage("--tls-cert, --tls-key: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// trusting says how a bus comes to be trusted that is not.
func trusting(err error) error {
	if errors.Is(err, bus.ErrUntrusted) {
		return usage("%w: --nats-ca FILE names the certificates that the bus is known by", err)
	}
	return err
}

// clientTLS knows servers by the certificates in a file; nil without one: by the system's.
func clientTLS(flag, file string) (*tls.Config, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := readSmall(file)
	if err != nil {
		return nil, usage("%s: %w", flag, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, usage("%s %s: no certificate in it", flag, file)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

// defaultNode names a node after its host.
func defaultNode() string {
	h, err := os.Hostname()
	if err != nil {
		return "node"
	}
	h, _, _ = strings.Cut(h, ".")
	h = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, h)
	if h == "" || len(h) > 48 {
		return "node"
	}
	return h
}

func newKeys() *cobra.Command {
	var dir string
	var rotate, dropOld bool
	c := &cobra.Command{
		Use: "keys -o DIR", Short: "Make, or rotate, the keys of a NATS cluster of your own", Args: cobra.NoArgs,
		Long: `Keys makes what a NATS cluster needs so that each node of the fleet has credentials of its own, which let it read its
leases and write its parts and nothing else: accounts.conf, to be included in each server's configuration;
coordinator.creds, for argosy serve --nats-creds; signing.nk, for argosy serve --signing-key. The keys themselves stay in
keys.json. Given again, it writes the same keys' files anew.

With --rotate nodes get another account: accounts.conf knows both then. When the servers have read it again and the coordinators have
been started with the new signing.nk, --drop-old takes the one before out; nodes whose credentials are refused join again by themselves.
Where the bus is the coordinator's own, argosy keys rotate does all of it.`,
		Example: "  argosy keys -o cluster\n  argosy keys -o cluster --rotate\n  argosy keys -o cluster --drop-old\n  argosy keys rotate",
		RunE: func(c *cobra.Command, _ []string) error {
			if dir == "" {
				return usage("-o: name a directory for the keys")
			}
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
			k, err := bus.LoadKeys(filepath.Join(dir, "keys.json"))
			if err != nil {
				return err
			}
			if rotate {
				err = k.Rotate()
			}
			if dropOld && err == nil {
				err = k.DropOld()
			}
			if err != nil {
				return err
			}
			if err := k.WriteCluster(dir); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "accounts.conf, coordinator.creds and signing.nk are in %s\n", dir)
			return err
		},
	}
	c.Flags().StringVarP(&dir, "out", "o", "", "directory (required)")
	c.Flags().BoolVar(&rotate, "rotate", false, "another account for nodes, beside the one before")
	c.Flags().BoolVar(&dropOld, "drop-old", false, "take accounts of nodes before out")
	c.AddCommand(newRotate())
	return c
}

// isLoopback tells whether an address to listen on is this machine's own.
func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

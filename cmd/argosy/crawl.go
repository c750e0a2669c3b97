package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/config"
	"argosy/internal/crawl"
	"argosy/internal/fleet/access"
	"argosy/internal/fleet/agent"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/web"
	"argosy/internal/page/scope"
	"argosy/internal/plan/schedule"
	"argosy/internal/plan/strategy"
)

// defaultAgent is how we introduce ourselves; robots.txt addresses us by the first word. Who crawls others' sites should
// say who they are (--user-agent).
const defaultAgent = "argosy/1.0"

// crawlFlags are the flags of argosy crawl as they were given.
type crawlFlags struct {
	had      *agent.Had // what was asked for before the crawl begins
	recalled bool       // the crawl goes on as it was begun, with its seeds

	job config.Job // what is crawled, from --config, --job and flags

	seeds, out, configFile, jobFile, siteFile, siteText, proxy, dns, cookies, explain, minFree, logLevel, listen string
	resolve, header, bind, geoip                                                                                 []string
	allowPrivate, trustPrefix                                                                                    string
	ca                                                                                                           []string
	insecure                                                                                                     bool
	set                                                                                                          *seedSet
	logins                                                                                                       map[string]string   // by site: NAME:PASSWORD
	defaults                                                                                                     map[string][]string // of --config, by flag
	jobText                                                                                                      string              // of the file of --job
	kept                                                                                                         *crawl.Topic        // as the crawl that goes on was begun with
	keptFrom                                                                                                     map[string][]string // the flags that it was made of
	keepSecrets, proxyDNS, json, quiet                                                                           bool
	agents, concurrency                                                                                          int
	seed                                                                                                         uint64
	warc                                                                                                         warcFlags
	topic                                                                                                        topicFlags
	console                                                                                                      console
	engines                                                                                                      ownEngines
}

// defaultJob is what is crawled where nobody says otherwise.
func defaultJob() config.Job {
	return config.Job{Scope: string(crawl.ScopeSite), Fetch: config.Fetch{UserAgent: defaultAgent}, Placing: config.Placing{Strategy: strategy.Default}}
}

func newCrawl() *cobra.Command {
	f := &crawlFlags{job: defaultJob()}
	c := &cobra.Command{
		Use:   "crawl [URL…]",
		Short: "Crawl sites into a directory",
		Long: `Crawl fetches the seeds and everything in their scope, politely, into a directory: WARC files with an index
(index.cdxj) and a ledger (argosy.db, SQLite). argosy crawl -o DIR goes on where it stopped, whatever stopped it, with the
flags that were given before; limits, delay and concurrency may be given anew, seeds, scope and filters are what makes it
this job. Secrets (--header, --cookies, passwords in seeds) are not kept, and must be given again.

A seed without a scheme is tried by https, then by http. Ctrl-C ends the crawl after what is under way; a second one
ends it at once. Neither loses anything.`,
		Example: `  argosy crawl https://example.com/ -o example
  argosy crawl -o example --max-pages 5000            (goes on)
  argosy crawl --seeds sites.txt --scope domain --max-pages 10000 -o crawl1
  argosy crawl http://localhost:8080/ --allow-private --delay 0 -o mine`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	f.register(c)
	group(c, crawlGroups)
	return c
}

func (f *crawlFlags) register(c *cobra.Command) {
	fl, j := c.Flags(), &f.job
	fl.SortFlags = false
	fl.StringVar(&f.seeds, "seeds", "", "file with a seed a line (# starts a comment, also behind a seed); - is standard input")
	fl.StringVarP(&f.out, "out", "o", "", "directory for everything the crawl leaves (default: the first seed's host)")
	fl.StringVar(&f.jobFile, "job", "", "job file, as argosy submit takes it; flags count more than what it says")
	fl.StringVar(&f.configFile, "config", "", "file of defaults: names of flags and their values, in YAML; --job and flags count more")
	fl.StringVar(&f.siteFile, "site-config", "", "file with a list of sites and what is different there, as under sites: of a job file")
	fl.StringVar(&j.Scope, "scope", j.Scope, "what belongs to the crawl: site, host, domain, prefix or any")
	fl.StringArrayVar(&j.Include, "include", nil, "fetch only URLs that match this expression (RE2; may be repeated)")
	fl.StringArrayVar(&j.Exclude, "exclude", nil, "fetch no URL that matches this expression (may be repeated)")
	fl.BoolVar(&j.Fetch.Resources, "resources", false, "also fetch what pages need to be shown, from other hosts too: images, scripts, fonts, media, and what style sheets name")
	fl.BoolVar(&j.Fetch.Sitemaps, "sitemaps", false, "also start from the sitemaps that robots.txt names")
	fl.BoolVar(&j.Fetch.StripSession, "strip-session", false, "remove session and campaign parameters from URLs")
	f.topic.register(fl, j)
	f.engines.flag(c)
	limitFlags(fl, &j.Limits)

	fl.IntVar(&f.concurrency, "concurrency", 128, "requests at once per node")
	fl.IntVar(&f.agents, "agents", 1, "nodes in this process")
	fl.StringSliceVar(&f.bind, "bind", nil, "local addresses, a node for each")
	fl.StringVar(&j.Placing.Strategy, "strategy", j.Placing.Strategy, "which node gets which site: a name and options (see argosy strategies)")
	fl.StringVar(&j.Placing.Probe, "probe", "", "measure bandwidth before a site is crawled: none, few (the nodes that seem best for it) or all (default: what the strategy wants; of flow nothing without --bind)")
	fl.StringArrayVar(&f.geoip, "geoip", nil, "file of MaxMind's format that says where addresses are, for geo and netblock (may be repeated)")
	fl.StringVar(&f.explain, "explain-log", "", "write every scheduling decision to this file (see argosy explain)")

	fl.StringVar(&j.Fetch.UserAgent, "user-agent", j.Fetch.UserAgent, "User-Agent field; its first name is the one that robots.txt knows the crawler by")
	fl.BoolVar(&j.Fetch.IgnoreRobots, "ignore-robots", false, "obey no robots.txt (asked for sitemaps only), nor nofollow")
	fl.BoolVar(&j.Fetch.IgnoreNofollow, "ignore-nofollow", false, "follow links on pages that ask not to (meta robots, X-Robots-Tag); rel=nofollow of a link is never heeded")
	f.reach(c)
	f.trust(c, "")
	fl.StringVar(&f.minFree, "min-free", "64M", "end, as an interrupt does, when less than this is free on the disk of -o (0: never)")

	f.warc.register(c)
	fl.BoolVar(&j.Fetch.Text, "text", false, "also archive the plain text of pages")
	fl.BoolVar(&j.Fetch.MainText, "main-text", false, "also archive the main text of pages, without what stands around it")
	fl.BoolVar(&j.Fetch.Language, "language", false, "note the language of pages")
	fl.BoolVar(&j.Fetch.NearDup, "near-duplicates", false, "note marks by which near duplicates are found (simhash)")

	fl.StringVar(&f.listen, "listen", "", "show the crawl to browsers and commands at this HOST:PORT while it runs; the link is printed on standard error")
	fl.BoolVar(&f.json, "json", false, "print the summary as one JSON object on standard output")
	fl.BoolVar(&f.quiet, "quiet", false, "print neither progress nor summary, only what was left out, on standard error")
	fl.StringVar(&f.logLevel, "log-level", "error", "what is logged on standard error: debug, info, warn or error")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of everything random in scheduling")
}

// config turns flags into a configuration.
func (f *crawlFlags) config(cmd *cobra.Command, args []string) (assemble.Config, error) {
	if f.agents < 1 || f.agents > 256 || f.concurrency < 1 || f.concurrency > crawl.MaxRequests {
		return assemble.Config{}, usage("--agents %d, --concurrency %d: allowed are 1 to 256, and 1 to %d", f.agents, f.concurrency, crawl.MaxRequests)
	}
	if cmd.Flags().Changed("user-agent") && strings.TrimSpace(f.job.Fetch.UserAgent) == "" {
		return assemble.Config{}, usage("--user-agent: say who asks, such as \"example-bot/1.0 (+https://example.com/bot)\"; without the flag it is %s", defaultAgent)
	}
	var err error
	if f.job.Virtual != nil || len(f.job.SeedsFrom) > 0 || f.engines.path != "" { // most crawls ask no engine, and to read them takes as long as to open the ledger
		if f.job.Catalogue, err = f.engines.catalogue(); err != nil {
			return assemble.Config{}, err
		}
	}
	set, err := f.readSeeds(cmd.Context(), args)
	if err != nil {
		return assemble.Config{}, err
	}
	f.set = set
	out := f.out
	if out == "" && f.job.Virtual != nil {
		if out = f.job.Name; out == "" {
			return assemble.Config{}, usage("-o: name a directory, or the job (name: in its file)")
		}
	}
	if out == "" {
		if set.list != nil {
			return assemble.Config{}, usage("-o: name a directory; the seeds are many")
		}
		u, _ := crawl.Parse(set.seeds[0]) // it has been parsed before
		out = strings.Map(func(r rune) rune {
			if r == ':' || r == '[' || r == ']' {
				return '_'
			}
			return r
		}, u.Authority())
	}
	if err := checkOut(out); err != nil {
		return assemble.Config{}, err
	}
	c := assemble.DefaultConfig(out)
	c.Version, c.Agents, c.Concurrency, c.Seed = version, f.agents, f.concurrency, f.seed
	c.ExplainLog, c.GeoIP = f.explain, f.geoip
	for _, p := range f.geoip {
		if _, err := os.Stat(p); err != nil {
			return c, usage("--geoip: %v", err)
		}
	}
	c.KeepSecrets, c.Logins, c.Had = f.keepSecrets, f.logins, f.had
	if c.Logger, err = logger(&f.console, f.logLevel); err != nil {
		return c, err
	}
	c.Prefix, c.Operator = f.warc.prefix, f.warc.operator
	if c.ArchiveSize, err = f.warc.check(); err != nil {
		return c, err
	}
	if c.MinFree, err = parseSize("--min-free", f.minFree); err != nil {
		return c, err
	}
	if err := f.readTopic(cmd, out); err != nil {
		return c, err
	}
	if c.Job, err = f.job.Crawl(set.seeds, set.bare); err != nil {
		return c, f.blame(cmd, err)
	}
	printNotes("", c.Job.Impatient())
	c.Job.ID, c.Job.Identity.List, c.Seeds = 1, set.list, set.chunks
	if p := &c.Job.Placing; p.Type != "" || p.Store != "" || len(p.Landmarks) > 0 {
		return c, usage("placing: type, store and landmarks are for a fleet: nodes of argosy crawl have no labels, and one store")
	}
	c.Strategy, c.Probe = c.Job.Placing.Strategy, c.Job.Placing.Probe
	if c.Probe == "" && len(f.bind) == 0 && c.Strategy == strategy.Default {
		c.Probe = "none" // nodes of one process at one address reach every site alike: there is nothing to measure
	}
	if err := schedule.CheckProbe(c.Probe); err != nil {
		return c, usage("--probe %w", err)
	}
	if err := f.network(&c); err != nil {
		return c, err
	}
	return c, f.check(&c)
}

// readTopic takes in what pages are to be about, and how crawlers trade.
func (f *crawlFlags) readTopic(cmd *cobra.Command, dir string) error {
	if len(f.topic.like) > 0 {
		if err := f.examplesAsked(cmd); err != nil {
			return err
		}
	}
	if same := f.sameExamples(cmd, dir); same != nil {
		f.kept, f.keptFrom = same, topicFrom(cmd)
	}
	if f.kept != nil {
		f.job.Topic.Words, f.job.Topic.Text, f.job.Topic.Model = "", "", f.kept
	} else if err := f.topic.read(cmd.Context(), &f.job.Topic); err != nil {
		return err
	}
	if err := f.topic.readMarket(&f.job.Market); err != nil {
		return err
	}
	return nil
}

// examplesAsked has examples, and pages beside them, asked as the job asks: by its delays, limits and filters.
func (f *crawlFlags) examplesAsked(cmd *cobra.Command) error {
	plain := f.job
	plain.Topic, plain.Market, plain.Virtual = config.Topic{}, config.Market{}, nil
	job, err := plain.Crawl(f.set.seeds, f.set.bare)
	if err != nil {
		return f.blame(cmd, err)
	}
	sites := crawl.NewSites(job.Sites)
	f.topic.asker = func() (*asker, error) {
		a, err := f.askerWithin(job.Limits.Fetch, job.Limits.Delay, f.job.Fetch.UserAgent)
		if err == nil {
			a.limits = func(site string) crawl.Limits { return job.Pace(sites.Limits(job.Limits, site)) }
		}
		return a, err
	}
	f.topic.seeds, f.topic.had, f.topic.say = f.seedsToWalk, f.had, sayOnError
	f.topic.ignoreRobots, f.topic.ignoreNofollow, f.topic.within = job.Identity.IgnoreRobots, job.Identity.IgnoreRobots || job.Identity.IgnoreNofollow, job.Limits.MaxTime
	if f.topic.rules, err = scope.Compile(job.Identity, job.Limits, job.Sites...); err != nil {
		return usage("%w", err)
	}
	if slices.ContainsFunc(f.topic.like, isURL) && (len(f.header) > 0 || f.cookies != "" || len(f.logins) > 0) {
		sayOnError("examples are asked for without --header, --cookies and logins; give those behind a login as files")
	}
	f.beginAtExamples()
	return nil
}

// seedsToWalk returns the seeds; of one without a scheme both that it may mean.
func (f *crawlFlags) seedsToWalk() (out []string) {
	for i, s := range f.set.seeds {
		if out = append(out, s); f.set.bare[i] {
			out = append(out, strings.Replace(s, "https://", "http://", 1))
		}
	}
	return out
}

// beginAtExamples makes seeds of the examples that lie in the scope of the others: what they lead to is near the topic.
func (f *crawlFlags) beginAtExamples() {
	if f.set.list != nil {
		return
	}
	for _, s := range f.set.seeds {
		if u, err := crawl.Parse(s); err == nil {
			f.topic.rules.Join(u)
		}
	}
	for _, name := range f.topic.like {
		u, err := crawl.Parse(name)
		if err == nil && isURL(name) && f.topic.rules.Check(u, 0).OK() && !slices.Contains(f.set.seeds, u.String()) {
			f.set.seeds, f.set.bare, f.set.texts = append(f.set.seeds, u.String()), append(f.set.bare, false), append(f.set.texts, name)
		}
	}
}

// check lets the job's own packages judge it, so that mistakes are found before anything is opened.
func (f *crawlFlags) check(c *assemble.Config) error {
	if err := assemble.Check(c); err != nil {
		return usage("%w", err)
	}
	for _, field := range c.Headers {
		switch strings.ToLower(field.Name) {
		case "host", "connection", "content-length", "transfer-encoding", "accept-encoding":
			return usage("--header %s: this field is ours to set", field.Name)
		}
	}
	return nil
}

// parseSize reads a number of bytes with an optional K, M, G or T (powers of 1024).
func parseSize(flag, s string) (int64, error) {
	n, err := crawl.ParseSize(s)
	if err != nil {
		return 0, usage("%s: %w", flag, err)
	}
	return n, nil
}

func logger(w io.Writer, level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, usage("--log-level: %q: allowed are debug, info, warn, error", level)
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: l})), nil
}

// checkOut refuses what cannot be the directory of a crawl; one that is not named yet can.
func checkOut(out string) error {
	switch st, err := os.Stat(out); {
	case out == "":
		return nil
	case errors.Is(err, syscall.ENOTDIR):
		return usage("-o %s: a part of its path is a file; name a directory, which is made if it is not there", out)
	case err == nil && !st.IsDir():
		return usage("-o %s: that is a file; name a directory, which is made if it is not there", out)
	case outdir.Fleet(out):
		return usage("-o %s: a coordinator's directory: argosy serve -o %s goes on with its jobs, argosy submit gives it one; a crawl has a directory of its own", out, crawl.Arg(out))
	}
	return nil
}

// run crawls.
func (f *crawlFlags) run(c *cobra.Command, args []string) error {
	if err := checkOut(f.out); err != nil {
		return err
	}
	if begun := len(f.job.SeedsFrom) == 0 || isCrawl(f.out) == nil; len(args) == 0 && f.seeds == "" && f.jobFile == "" && f.out != "" && begun {
		var err error
		if args, err = f.recall(c); err != nil {
			return err
		}
	}
	if err := f.fill(c); err != nil {
		return err
	}
	cfg, err := f.config(c, args)
	if err != nil {
		return err
	}
	cfg.Begun = func() error { return f.remember(c, cfg.Dir, cfg.Job.Identity.Topic) }
	if f.job.Fetch.IgnoreRobots {
		fmt.Fprintln(os.Stderr, "argosy: warning: --ignore-robots: sites may not want what you are doing")
	}
	if f.proxyDNS {
		fmt.Fprintln(os.Stderr, "argosy: warning: --proxy-dns: the proxy resolves names; private addresses behind it are not denied")
	}
	if f.listen != "" {
		if err := checkListen("--listen", f.listen); err != nil {
			return err
		}
	}
	sum, err := runCrawl(c.Context(), cfg, !f.quiet, f.listen, &f.console)
	if err != nil {
		return err
	}
	return f.report(c.OutOrStdout(), sum)
}

// runCrawl opens, runs and closes a crawl, and shows on the console how it gets on, if that is wanted, and at an address, if that is not
// empty.
func runCrawl(ctx context.Context, cfg assemble.Config, watch bool, addr string, con *console) (assemble.Summary, error) {
	cfg.Hold = addr != ""
	ctx, stop, hard := interrupts(ctx, con.say)
	defer stop()
	defer boundHeap(crawlLimit)()
	cfg.Fatal = unwritable(cfg.Dir)
	cr, err := assemble.Open(ctx, cfg)
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return assemble.Summary{}, &exitError{exitInterrupted, errors.New("interrupted before the crawl was open; nothing is lost: the same command begins it, or goes on")}
	}
	if err != nil {
		return assemble.Summary{}, err
	}
	for _, m := range cr.Mended() {
		cfg.Logger.Info("archive file mended after a crash", "file", m)
	}
	var l *listener
	if addr != "" {
		if l, err = listening(addr, access.Operator, cr, web.Config{Kind: web.KindCrawl, Logger: cfg.Logger}); err != nil {
			return assemble.Summary{}, errors.Join(err, cr.Close())
		}
	}
	var p *progress
	if watch {
		p = con.watch(cr, filepath.Clean(cfg.Dir), cfg.Job.Limits)
	}
	over := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		select {
		case <-time.After(time.Second):
			con.say(underWay(cr.Sites()))
		case <-over:
		}
	})()
	sum, err := cr.Run(ctx, hard)
	close(over)
	if p != nil {
		p.stop()
	}
	if l != nil {
		err = errors.Join(err, l.close())
	}
	return sum, errors.Join(err, cr.Close())
}

// unwritable ends the process when a directory's view cannot be written: whatever else is done then would wait for it.
func unwritable(dir string) func(error) {
	return func(err error) {
		fmt.Fprintf(os.Stderr, "\nargosy: %v\n", assemble.DiskFull(dir, err))
		os.Exit(exitFailed)
	}
}

// atRest is how a crawl's directory is opened by a command that runs no job.
func atRest(dir string) assemble.Config {
	c := assemble.DefaultConfig(dir)
	c.Fatal = unwritable(dir)
	return c
}

// underWay says what an interrupted crawl waits for, and how long.
func underWay(sites []agent.SiteStats) string {
	var names []string
	urls := 0
	for _, s := range sites {
		if s.Busy > 0 {
			urls += s.Busy
			names = append(names, s.Site)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return "writing down what has come"
	}
	of := names[0]
	if len(names) > 1 {
		of += fmt.Sprintf(" and %s", plural(int64(len(names)-1), "other site"))
	}
	return fmt.Sprintf("%s under way at %s; in %.0f s what has not come is left for the next time", plural(int64(urls), "URL"), of, (assemble.LeaveAfter - time.Second).Seconds())
}

// leaveWithin is for how long an interrupted process may go on after it was interrupted again: what is under way then is a computation
// that nobody can stop. A directory loses nothing by it, as by a kill.
const leaveWithin = time.Second

// interrupts returns a context that the first interrupt ends, and a channel that the second one closes; a third one, or leaveWithin, ends
// the process. say tells of the first and of that.
func interrupts(ctx context.Context, say func(string)) (context.Context, func(), <-chan struct{}) {
	ctx, cancel := context.WithCancel(ctx)
	sig := make(chan os.Signal, 2)
	signal.Notify(sig, os.Interrupt, syscall.SIGTERM)
	hard := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case _, ok := <-sig:
			if !ok {
				return
			}
		case <-ctx.Done():
			return
		}
		say("finishing what is under way; interrupt again to leave at once")
		cancel()
		if _, ok := <-sig; !ok {
			return
		}
		close(hard)
		select {
		case _, ok := <-sig:
			if !ok {
				return
			}
		case <-time.After(leaveWithin):
		}
		say("left in the middle; nothing is lost")
		os.Exit(exitInterrupted)
	}()
	return ctx, func() { signal.Stop(sig); close(sig); cancel(); <-done }, hard
}

// report prints the summary and turns its state into an exit code.
func (f *crawlFlags) report(w io.Writer, s assemble.Summary) error {
	if f.json {
		b, err := json.Marshal(s)
		if err != nil {
			return err
		}
		fmt.Fprintln(w, string(b))
	} else if !f.quiet {
		var b strings.Builder
		printSummary(&b, s)
		text := b.String()
		if columns, _, ok := terminalSize(os.Stdout); ok {
			text = folded(text, columns)
		}
		fmt.Fprint(w, text)
	} else {
		printLeftOut(folding(os.Stderr), s)
	}
	switch s.State {
	case crawl.JobInterrupted:
		if !f.quiet {
			told("interrupted; nothing is lost. argosy crawl -o " + crawl.Arg(s.Out) + " goes on" + anew(s.Out))
		}
		return &exitError{code: exitInterrupted}
	case crawl.JobManual:
		return &exitError{exitManual, fmt.Errorf("%s for a person: argosy tasks %s --manual lists them, argosy retry %[2]s lets them go on", waitingTasks(s.Manual), crawl.Arg(s.Out))}
	}
	if s.Discovered > 0 && (s.Succeeded == 0 || s.Succeeded == s.Moved && s.Pending == 0) {
		return nothingFetched(s, f.json || f.quiet)
	}
	return nil
}

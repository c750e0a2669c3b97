package main

import (
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/verify"
	"argosy/internal/webs"
)

func newDemo() *cobra.Command {
	f := &demoFlags{}
	c := &cobra.Command{
		Use: "demo", Short: "Crawl a small web on this machine, verify it and explain what happened", Args: cobra.NoArgs,
		Long: `Demo serves a web of a dozen small sites on loopback, each with a trouble of its own, and crawls it with several nodes,
just as argosy crawl would crawl the real one. It needs no internet. What it leaves is kept if -o is given.

With --listen the sites are more, and spread over the world: links have the delays, bandwidths and losses of such ways, which all
connections of a node and of a site share. Strategies can be switched in the browser while the crawl runs.

With --web it only serves those sites until it is interrupted, for a fleet to crawl, and prints a job file for them.`,
		Example: "  argosy demo\n  argosy demo -o demo && argosy tasks demo\n  argosy demo --listen 127.0.0.1:8480\n  argosy demo --web 127.0.0.1:8500 > job.yaml",
		RunE: func(c *cobra.Command, _ []string) error {
			if f.web != "" {
				return demoWeb(c, f.web)
			}
			if f.listen != "" {
				if err := checkListen("--listen", f.listen); err != nil {
					return err
				}
			}
			if f.keep = f.dir != ""; !f.keep {
				var err error
				if f.dir, err = os.MkdirTemp("", "argosy-demo-"); err != nil {
					return err
				}
				defer os.RemoveAll(f.dir)
			}
			if f.listen != "" {
				return f.shown(c)
			}
			return f.crawl(c)
		},
	}
	c.Flags().StringVarP(&f.dir, "out", "o", "", "keep what the crawl leaves in this directory")
	c.Flags().IntVar(&f.agents, "agents", 3, "nodes, without --listen")
	c.Flags().StringVar(&f.web, "web", "", "serve the sites on this loopback host:port and crawl nothing")
	c.Flags().StringVar(&f.listen, "listen", "", "crawl a web around the world, show it to a browser at this HOST:PORT, and go on showing it when it is over; links are printed on standard error")
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON object")
	c.Flags().BoolVar(&f.quiet, "quiet", false, "print nothing")
	return c
}

// demoFlags say what the demo does, and where.
type demoFlags struct {
	dir, web, listen  string
	json, quiet, keep bool
	agents            int
}

// crawl crawls the demo's sites and tells what became of each.
func (f *demoFlags) crawl(c *cobra.Command) error {
	web := webs.Demo()
	port, stop, err := web.Serve("127.0.0.1:0")
	if err != nil {
		return err
	}
	defer stop()
	cfg := demoConfig(f.dir, port, f.agents)
	if !f.json && !f.quiet {
		fmt.Fprintf(c.OutOrStdout(), "A web of %d sites listens on 127.0.0.1:%s; %d nodes crawl it, politely (%v between requests to a site).\n\n",
			len(webs.DemoSites), port, f.agents, cfg.Job.Limits.Delay)
	}
	sum, err := runCrawl(c.Context(), cfg, !f.json && !f.quiet, "", &console{})
	if err != nil {
		return err
	}
	return f.tell(c, cfg, web, sum)
}

// shown crawls a web around the world, for somebody to watch and to steer.
func (f *demoFlags) shown(c *cobra.Command) error {
	world := webs.NewWorld(worldSeed)
	port, stop, err := world.Serve("127.0.0.1:0")
	if err != nil {
		return err
	}
	defer stop()
	cfg := worldConfig(f.dir, port, world)
	if !f.json && !f.quiet {
		fmt.Fprintf(c.OutOrStdout(), `A world of %d sites listens on 127.0.0.1:%s. %d nodes crawl it, from %s to %s, over links
with the delays, bandwidths and losses of such ways. Open the link below: switch the strategy under Jobs (it is
%s now; try flow, nearest, geo) and watch the rate, or drain a node under Nodes. It takes half an hour.

`, len(world.Sites), port, len(world.Nodes), world.Nodes[0].Name, world.Nodes[len(world.Nodes)-1].Name, cfg.Strategy)
	}
	sum, err := runCrawl(c.Context(), cfg, !f.json && !f.quiet, f.listen, &console{})
	if err == nil {
		err = f.tell(c, cfg, world.Web, sum)
	}
	if err != nil {
		return err
	}
	ctx, ended, _ := interrupts(c.Context(), func(string) {})
	defer ended()
	fmt.Fprintln(os.Stderr, "argosy: the crawl is over; it is shown until you interrupt")
	return showDir(ctx, f.dir, f.listen, cfg.Logger)
}

// tell verifies what the demo's crawl has left, and tells what became of each site.
func (f *demoFlags) tell(c *cobra.Command, cfg assemble.Config, web *webs.Web, sum assemble.Summary) error {
	out := c.OutOrStdout()
	r, err := verify.Dir(c.Context(), f.dir)
	if err != nil {
		return err
	}
	if f.json {
		if err := printJSON(out, struct {
			assemble.Summary
			Verify *verify.Report `json:"verify"`
		}{sum, r}); err != nil {
			return err
		}
	} else if !f.quiet {
		explainDemo(c, out, f.dir, f.keep, web, sum, r, cfg.Job.Limits.Delay)
	}
	if sum.State == crawl.JobInterrupted {
		return &exitError{code: exitInterrupted}
	}
	if !r.OK {
		return &exitError{exitFailed, fmt.Errorf("%s in %s", plural(int64(r.Problems), "problem"), f.dir)}
	}
	return nil
}

// demoWeb serves the demo's sites until it is interrupted, and prints a job file for them.
func demoWeb(c *cobra.Command, addr string) error {
	if !isLoopback(addr) {
		return usage("--web %s: want a loopback host:port", addr)
	}
	ctx, stopSignals, _ := interrupts(c.Context(), new(console).say)
	defer stopSignals()
	port, stop, err := webs.Demo().Serve(addr)
	if err != nil {
		return err
	}
	defer stop()
	w := c.OutOrStdout()
	fmt.Fprintf(w, "name: demo\nfetch: {sitemaps: true}\nlimits: {delay: 100ms, backoff: 200ms, retries: 2, max_body: 4M}\nseeds:\n")
	for _, s := range webs.Seeds(port) {
		fmt.Fprintf(w, "  - %s\n", s)
	}
	fmt.Fprintf(os.Stderr, "argosy: %d sites on %s; agents reach them with --allow-private --resolve '*.demo=127.0.0.1'\n", len(webs.DemoSites), addr)
	<-ctx.Done()
	return nil
}

func demoConfig(dir, port string, agents int) assemble.Config {
	cfg := assemble.DefaultConfig(dir)
	cfg.Version, cfg.Agents = version, agents
	cfg.Job.Name = "demo"
	cfg.Job.Identity = crawl.Identity{
		Seeds: webs.Seeds(port), Scope: crawl.ScopeSite, UserAgent: defaultAgent, Sitemaps: true,
	}
	l := &cfg.Job.Limits
	l.Delay, l.Backoff, l.Retries = 100*time.Millisecond, 200*time.Millisecond, 2
	l.Fetch.MaxDecoded = 16 << 20
	cfg.Fetch.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	cfg.Fetch.Resolve = map[string]netip.Addr{"*.demo": netip.MustParseAddr("127.0.0.1")}
	return cfg
}

// The world of the demo is always the same. It begins with a strategy that takes no notice of links, so that another one shows what that costs.
const (
	worldSeed     = 1
	worldStrategy = "random"
)

// worldConfig is demoConfig for a world.
func worldConfig(dir, port string, world *webs.World) assemble.Config {
	cfg := demoConfig(dir, port, 0)
	cfg.Job.Name, cfg.Strategy = "around the world", worldStrategy
	cfg.Job.Identity.Seeds, cfg.Job.Placing.Strategy = world.Seeds(port), worldStrategy
	cfg.Job.Limits.LeaseTime = 10 * time.Second // who does what is decided anew as often
	cfg.Fetch.Resolve, cfg.Job.Placing.Places = world.Addrs, map[string]crawl.Place{}
	for _, s := range world.Sites {
		cfg.Job.Placing.Places[s.Name] = crawl.Place{Lat: s.Lat, Lon: s.Lon}
	}
	for _, n := range world.Nodes {
		degrees := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
		cfg.Members = append(cfg.Members, assemble.Member{
			Name: n.Name, Labels: map[string]string{"city": n.Name, "lat": degrees(n.Lat), "lon": degrees(n.Lon)},
			Echo: "http://" + webs.EchoOf(n.Name) + ":" + port + "/", Dial: world.Links.Dial(n.Name),
		})
	}
	return cfg
}

// explainDemo tells what became of each site.
func explainDemo(c *cobra.Command, w io.Writer, dir string, keep bool, web *webs.Web, sum assemble.Summary, r *verify.Report, delay time.Duration) {
	rows, err := tasksOf(c.Context(), dir)
	if err != nil {
		fmt.Fprintln(w, err)
		return
	}
	table := newColumns(w)
	fmt.Fprintln(table, "\nSITE\tFETCHED\tFAILED\tEXCLUDED\tSHORTEST\tWHAT IT IS, AND WHY URLS WERE REFUSED OR FAILED")
	for _, s := range webs.DemoSites {
		for i := range rows {
			t := &rows[i]
			if host, _, _ := strings.Cut(t.Site, ":"); host != s[0] {
				continue
			}
			gap, _ := web.MinGap(s[0])
			why := reasons(t.Reasons)
			if why != "" {
				why = " (" + why + ")"
			}
			fmt.Fprintf(table, "%s\t%7d\t%6d\t%8d\t%s\t%s%s\n", s[0], t.Fetched, t.Failed, t.Excluded, gap.Round(time.Millisecond), s[1], why)
		}
	}
	fmt.Fprintf(table, "\nSHORTEST is the shortest time between two requests' arrivals at the site; %v were asked for between their departures.\n"+
		"A request that a busy machine delivers late comes some milliseconds nearer to the next one.\n\n", delay)
	if err := table.Flush(); err != nil {
		return
	}
	w = folding(w)
	printCounts(w, sum)
	again := ""
	if keep {
		again = retryCut(dir)
	}
	printTraps(w, sum.Traps, again)
	if keep {
		printPlace(w, sum)
	}
	fmt.Fprint(w, "verify: ")
	printReport(w, r, retryLost(dir))
	if !keep {
		fmt.Fprintln(w, "\nNow a real site:  argosy crawl https://example.com/ -o example     (keep this demo's files with -o DIR)")
	}
}

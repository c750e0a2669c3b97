package main

import (
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/verify"
	"argosy/internal/webs"
)

func newDemo() *cobra.Command {
	var dir, serve, listen string
	var asJSON, quiet bool
	var agents int
	c := &cobra.Command{
		Use: "demo", Short: "Crawl a small web on this machine, verify it and explain what happened", Args: cobra.NoArgs,
		Long: `Demo serves a web of a dozen small sites on loopback, each with a trouble of its own, and crawls it with several nodes,
just as argosy crawl would crawl the real one. It needs no internet. What it leaves is kept if -o is given.

With --web it only serves those sites until it is interrupted, for a fleet to crawl, and prints a job file for them.`,
		Example: "  argosy demo\n  argosy demo -o demo && argosy tasks demo\n  argosy demo --web 127.0.0.1:8500 > job.yaml",
		RunE: func(c *cobra.Command, _ []string) error {
			if serve != "" {
				return demoWeb(c, serve)
			}
			if listen != "" {
				if err := checkListen(listen); err != nil {
					return err
				}
			}
			keep := dir != ""
			if !keep {
				var err error
				if dir, err = os.MkdirTemp("", "argosy-demo-"); err != nil {
					return err
				}
				defer os.RemoveAll(dir)
			}
			web := webs.Demo()
			port, stop, err := web.Serve("127.0.0.1:0")
			if err != nil {
				return err
			}
			defer stop()
			cfg := demoConfig(dir, port, agents)
			if listen != "" { // there is something to watch, for two minutes
				cfg.Job.Limits.Delay = time.Second
			}
			out := c.OutOrStdout()
			if !asJSON && !quiet {
				fmt.Fprintf(out, "A web of %d sites listens on 127.0.0.1:%s; %d nodes crawl it, politely (%v between requests to a site).\n\n",
					len(webs.DemoSites), port, agents, cfg.Job.Limits.Delay)
			}
			sum, err := runCrawl(c.Context(), cfg, !asJSON && !quiet, listen, &console{})
			if err != nil {
				return err
			}
			if err := tellDemo(c, cfg, web, keep, asJSON, quiet, sum); err != nil {
				return err
			}
			if listen != "" {
				ctx, stop, _ := interrupts(c.Context(), func(string) {})
				defer stop()
				fmt.Fprintln(os.Stderr, "argosy: the crawl is over; it is shown until you interrupt")
				if err := showDir(ctx, dir, listen, cfg.Logger); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringVarP(&dir, "out", "o", "", "keep what the crawl leaves in this directory")
	c.Flags().IntVar(&agents, "agents", 3, "nodes")
	c.Flags().StringVar(&serve, "web", "", "serve the sites on this loopback host:port and crawl nothing")
	c.Flags().StringVar(&listen, "listen", "", "show the crawl to a browser at this HOST:PORT, more slowly, and go on showing it when it is over; links are printed on standard error")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.Flags().BoolVar(&quiet, "quiet", false, "print nothing")
	return c
}

// tellDemo verifies what the demo's crawl has left, and tells what became of each site.
func tellDemo(c *cobra.Command, cfg assemble.Config, web *webs.Web, keep, asJSON, quiet bool, sum assemble.Summary) error {
	out, dir := c.OutOrStdout(), cfg.Dir
	r, err := verify.Dir(c.Context(), dir)
	if err != nil {
		return err
	}
	if asJSON {
		if err := printJSON(out, struct {
			assemble.Summary
			Verify *verify.Report `json:"verify"`
		}{sum, r}); err != nil {
			return err
		}
	} else if !quiet {
		explainDemo(c, out, dir, keep, web, sum, r, cfg.Job.Limits.Delay)
	}
	if sum.State == crawl.JobInterrupted {
		return &exitError{code: exitInterrupted}
	}
	if !r.OK {
		return &exitError{exitFailed, fmt.Errorf("%d problems in %s", r.Problems, dir)}
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

// explainDemo tells what became of each site.
func explainDemo(c *cobra.Command, w io.Writer, dir string, keep bool, web *webs.Web, sum assemble.Summary, r *verify.Report, delay time.Duration) {
	rows, err := tasksOf(c.Context(), dir)
	if err != nil {
		fmt.Fprintln(w, err)
		return
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "%-14s %7s %6s %8s  %-9s %s\n", "SITE", "FETCHED", "FAILED", "EXCLUDED", "SHORTEST", "WHAT IT IS, AND WHY URLS WERE REFUSED OR FAILED")
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
			fmt.Fprintf(w, "%-14s %7d %6d %8d  %-9s %s%s\n", s[0], t.Fetched, t.Failed, t.Excluded, gap.Round(time.Millisecond), s[1], why)
		}
	}
	fmt.Fprintf(w, "\nSHORTEST is the shortest time between two requests, as the site saw it; %v were asked for.\n\n", delay)
	printCounts(w, sum)
	if keep {
		printPlace(w, sum)
	}
	fmt.Fprint(w, "verify: ")
	printReport(w, r)
	if !keep {
		fmt.Fprintln(w, "\nNow a real site:  argosy crawl https://example.com/ -o example     (keep this demo's files with -o DIR)")
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/page/archive"
	"argosy/internal/page/fetch"
	"argosy/internal/plan/netcoord"
)

// probed is what probe prints of a URL.
type probed struct {
	URL     string    `json:"url"`
	Delays  []float64 `json:"httpping_ms,omitempty"` // of each try
	Connect float64   `json:"connect_ms"`            // median
	Server  float64   `json:"server_ms"`             // median
	Median  float64   `json:"median_ms"`
	Mean    float64   `json:"statistical_mean_ms"` // the paper's summary
	BC      float64   `json:"bc_bits_per_s"`
	Status  int       `json:"status"`
	Error   string    `json:"error,omitempty"`
}

func newProbe() *cobra.Command {
	f := &crawlFlags{job: defaultJob()}
	var tries int
	var store string
	var delay time.Duration
	c := &cobra.Command{
		Use: "probe URL…", Short: "Measure HTTP delay and bandwidth to sites, and to a store", Args: cobra.MinimumNArgs(1),
		Long: `Probe measures what the scheduler goes by: httpping, the response time of an HTTP request on a new connection (with
the connection's set-up apart from the server's time), and BC, bits over seconds of fetching the page three times. With
--store, also BS: writing 100 KB three times to a directory. robots.txt is asked first and obeyed, and there is --delay
between any two requests to a site.`,
		Example: "  argosy probe https://example.com/ --tries 5\n  argosy probe http://localhost:8080/ --allow-private --delay 0 --store /srv/warc --json",
		RunE: func(c *cobra.Command, args []string) error {
			if tries < 1 || tries > 100 {
				return usage("--tries %d: want 1 to 100", tries)
			}
			if delay < 0 {
				return usage("--delay %s: want at least 0", delay)
			}
			var cfg assemble.Config
			if err := f.network(&cfg); err != nil {
				return err
			}
			cfg.Fetch.Limits = crawl.DefaultFetchLimits()
			cl, err := fetch.NewClient(cfg.Fetch)
			if err != nil {
				return usage("%v", err)
			}
			var urls []crawl.URL
			for _, a := range args {
				u, err := crawl.Parse(a)
				if err != nil {
					return usage("%q: %v", a, err)
				}
				urls = append(urls, u)
			}
			p := &prober{asker: newAsker(cl, delay, f.job.Fetch.UserAgent), tries: tries, ignore: f.job.Fetch.IgnoreRobots}
			return p.run(c, urls, store, f.json)
		},
	}
	fl := c.Flags()
	fl.IntVar(&tries, "tries", 5, "httppings of each URL")
	fl.StringVar(&store, "store", "", "also measure BS of this store: a directory or s3://BUCKET[/PREFIX]")
	fl.DurationVar(&delay, "delay", time.Second, "between two requests to one site")
	fl.StringVar(&f.job.Fetch.UserAgent, "user-agent", defaultAgent, "User-Agent field")
	fl.BoolVar(&f.job.Fetch.IgnoreRobots, "ignore-robots", false, "probe what robots.txt disallows")
	f.guard(c)
	fl.BoolVar(&f.json, "json", false, "print JSON lines")
	return c
}

// prober measures sites.
type prober struct {
	asker
	tries  int
	ignore bool
}

func (p *prober) run(c *cobra.Command, urls []crawl.URL, store string, asJSON bool) error {
	out := c.OutOrStdout()
	t := newColumns(out)
	if !asJSON {
		fmt.Fprintln(t, "URL\tSTATUS\tCONNECT\tSERVER\tHTTPPING median\tpaper's mean\tBC")
	}
	failed := 0
	for _, u := range urls {
		r := p.probe(c.Context(), u)
		if r.Error != "" {
			failed++
		}
		switch {
		case asJSON:
			if err := printJSON(out, r); err != nil {
				return err
			}
		case r.Error != "":
			fmt.Fprintf(t, "%s\t%s\n", r.URL, r.Error)
		default:
			fmt.Fprintf(t, "%s\t%d\t%.1f ms\t%.1f ms\t%.1f ms\t%.1f ms\t%.2f Mbit/s\n", r.URL, r.Status, r.Connect, r.Server, r.Median, r.Mean, r.BC/1e6)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if store != "" {
		to, err := archive.OpenStore(store)
		if err != nil {
			return usage("--store: %v", err)
		}
		bits, seconds, err := archive.Measure(c.Context(), to)
		if err != nil {
			return fmt.Errorf("--store: %w", err)
		}
		bs := float64(bits) / seconds
		if asJSON {
			if err := printJSON(out, map[string]any{"store": store, "bs_bits_per_s": bs}); err != nil {
				return err
			}
		} else {
			fmt.Fprintf(out, "store %s: BS %.1f Mbit/s\n", store, bs/1e6)
		}
	}
	if failed > 0 {
		return &exitError{exitFailed, fmt.Errorf("%d of %d could not be probed", failed, len(urls))}
	}
	return nil
}

func (p *prober) probe(ctx context.Context, u crawl.URL) probed {
	r := probed{URL: u.String()}
	turn := p.turn(u.Site())
	fields := p.fields()
	if !p.ignore {
		if err := p.allowed(ctx, u); err != nil {
			if r.Error = err.Error(); errors.Is(err, errDisallowed) {
				r.Error += " (--ignore-robots probes nevertheless)"
			}
			return r
		}
	}
	var connect, server []float64
	for range p.tries {
		g, err := p.client.HTTPPing(ctx, u, fields, turn)
		if err != nil {
			r.Error = err.Error()
			return r
		}
		r.Status = g.Status
		r.Delays = append(r.Delays, ms(g.Total()))
		connect, server = append(connect, ms(g.Connect)), append(server, ms(g.Server))
	}
	r.Connect, r.Server, r.Median = netcoord.Median(connect), netcoord.Median(server), netcoord.Median(r.Delays)
	r.Mean = netcoord.StatisticalMean(r.Delays, netcoord.DefaultModulus)
	ts, err := p.client.ProbeCrawl(ctx, u, fields, crawl.ProbeTries, turn)
	if err != nil {
		r.Error = err.Error()
	}
	r.BC = fetch.Rate(ts)
	return r
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

package main

import (
	"context"
	"fmt"
	"html"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/web"
	"argosy/internal/plan/learn"
)

func newRates() *cobra.Command {
	f := &oneTask{}
	var svg string
	c := &cobra.Command{
		Use: "rates DIR | rates JOB", Short: "Show how completion and efficiency of sites and nodes developed", Args: cobra.MaximumNArgs(1),
		Long: `Rates shows for each site that searches are restricted to and each node how complete and how fast the node has been. EXIST is for
how many pages it is answerable, of searches whose engines state a number: those that it collected, those that nobody had yet when it
failed with a search, and those that are left of a search that is its own now. HAD is how many of these it collected, RATE the
completion HAD / EXIST. PAGES is how many pages its leases have collected for searches of the site, each once; a page that several
searches name counts for each of them in HAD. S/PAGE is the efficiency: the time of its leases for each of those PAGES.
Below it, for each node, what moving, modifying and recycling tasks has gained, as the paper measures it: the lease after against
the lease before, of the tasks concerned. Beside it the counterfactual: the recorded run is replayed in the simulator with all
policies and without each (random assignment, leases that are not modified, leases that hold their node for ten minutes when they
get stuck), and the efficiency of each node is compared. With --svg all is drawn. argosy lab run policies shows the same for a
fleet of thirty nodes.`,
		Example: "  argosy rates dairy\n  argosy rates 1 --svg rates.svg",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && f.dir == "" && looksLikeCrawl(args[0]) {
				f.dir, args = args[0], nil
			}
			if f.dir != "" {
				if err := ownCrawl(f.dir); err != nil {
					return err
				}
				var runs []ledger.Run
				err := localRuns(c.Context(), f.dir, 1, 0, func(r ledger.Run) error {
					runs = append(runs, r)
					return nil
				})
				if err != nil {
					return err
				}
				searches, err := tasksOf(c.Context(), f.dir)
				if err != nil {
					return err
				}
				spec, err := localStrategy(c.Context(), f.dir, 1)
				if err != nil {
					return err
				}
				return f.rates(c.OutOrStdout(), runs, searches, spec, svg)
			}
			id, err := jobNamed(args)
			if err != nil {
				return err
			}
			return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error {
				runs, err := cl.Runs(ctx, id, 0)
				if err != nil {
					return err
				}
				searches, err := cl.Tasks(ctx, id, "")
				if err != nil {
					return err
				}
				j, err := cl.Job(ctx, id)
				if err != nil {
					return err
				}
				return f.rates(w, runs, searches, j.Placing.Strategy, svg)
			})
		},
	}
	c.Flags().StringVar(&svg, "svg", "", "draw the curves into this file")
	f.register(c)
	return c
}

// ratesOf are the rates of a job's searches.
func ratesOf(searches []ledger.Task) []*learn.Rate {
	var of []learn.Trailed
	for i := range searches {
		if s := searches[i].Search; s != nil {
			of = append(of, learn.Trailed{Site: s.Site, Stated: s.Stated, Found: s.Found, Trail: s.Trail})
		}
	}
	return learn.Rates(of)
}

// rates writes all that is known of a job's leases, which were placed by a strategy.
func (f *oneTask) rates(w io.Writer, runs []ledger.Run, searches []ledger.Task, spec, svg string) error {
	pairs, gains := ratesOf(searches), gainsOf(runs)
	if len(pairs) == 0 {
		return usage("no lease of a search has ended: it is not a virtual task, or it has just begun")
	}
	replayed, err := counterfactual(runs, searches, spec, gains)
	if err != nil {
		return err
	}
	if svg != "" {
		if err := os.WriteFile(svg, []byte(drawRates(pairs, gains)), 0o644); err != nil {
			return err
		}
	}
	if f.json {
		for _, p := range pairs {
			if err := printJSON(w, p); err != nil {
				return err
			}
		}
		for i := range gains {
			if err := printJSON(w, &gains[i]); err != nil {
				return err
			}
		}
		return nil
	}
	end := 0.0
	for _, p := range pairs {
		end = max(end, p.Curve[len(p.Curve)-1].At)
	}
	t := newColumns(w)
	fmt.Fprintln(t, "SITE\tNODE\tLEASES\tEXIST\tHAD\tRATE\tPAGES\tS/PAGE\tRATE OVER TIME")
	for _, p := range pairs {
		existing, had, rate, curve, per := "-", "-", "-", "", "-"
		if share, known := p.Completion(); known {
			existing, had, rate, curve = count(p.Existing), count(p.Collected), fmt.Sprintf("%.2f", share), spark(p.Curve, end)
		}
		if seconds, known := p.PerPage(); known {
			per = fmt.Sprintf("%.2f", seconds)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", orElse(p.Site, "-"), p.Node, p.Leases, existing, had, rate, count(p.Pages), per, curve)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := printGains(w, gains); err != nil {
		return err
	}
	return printReplayed(w, &replayed)
}

// spark draws the completion of a pair over the job's time in a line of text.
func spark(curve []learn.Point, end float64) string {
	const wide = 24
	levels := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	k, now := 0, -1.0
	for i := range wide {
		for k < len(curve) && curve[k].At <= end*float64(i+1)/wide {
			now = curve[k].Completion
			k++
		}
		if now < 0 {
			b.WriteByte(' ')
			continue
		}
		b.WriteRune(levels[min(len(levels)-1, int(now*float64(len(levels))))])
	}
	return b.String()
}

// drawRates draws completion and seconds a page of every pair over time, a row a site, a column a node, and below them the gains.
func drawRates(pairs []*learn.Rate, gains []nodeGains) string {
	const cellW, cellH, left, top = 220, 90, 160, 40
	var sites, nodes []string
	end, slowest := 1e-9, 1e-9
	for _, p := range pairs {
		if !slices.Contains(sites, p.Site) {
			sites = append(sites, p.Site)
		}
		if !slices.Contains(nodes, p.Node) {
			nodes = append(nodes, p.Node)
		}
		for _, at := range p.Curve {
			end, slowest = max(end, at.At), max(slowest, at.PerPage)
		}
	}
	slices.Sort(nodes)
	var b strings.Builder
	foot := top + cellH*len(sites) + 18
	bars, high := drawGains(gains, left, foot+30)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", max(left+cellW*len(nodes)+10, 720), foot+30+high)
	fmt.Fprintf(&b, "<title>completion (0 to 1, blue) and seconds a page (0 to %.2f, orange) over %.0f s</title>\n", slowest, end)
	for k, n := range nodes {
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", left+k*cellW+8, top-10, html.EscapeString(n))
	}
	for k, s := range sites {
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", left-8, top+k*cellH+cellH/2, html.EscapeString(orElse(s, "everywhere")))
	}
	for _, p := range pairs {
		x, y := float64(left+slices.Index(nodes, p.Node)*cellW+8), float64(top+slices.Index(sites, p.Site)*cellH+6)
		w, h := float64(cellW-16), float64(cellH-16)
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="none" stroke="#bbb"/>`+"\n", x, y, w, h)
		line := func(colour string, of func(learn.Point) float64) {
			var pts []string
			for _, at := range p.Curve {
				pts = append(pts, fmt.Sprintf("%.1f,%.1f", x+w*at.At/end, y+h*(1-min(1, of(at)))))
			}
			last := of(p.Curve[len(p.Curve)-1]) // holds to the end
			pts = append(pts, fmt.Sprintf("%.1f,%.1f", x+w, y+h*(1-min(1, last))))
			fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n", strings.Join(pts, " "), colour)
		}
		if p.Known {
			line("#1f77b4", func(at learn.Point) float64 { return at.Completion })
		}
		line("#ff7f0e", func(at learn.Point) float64 { return at.PerPage / slowest })
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d">completion, 0 to 1 (blue); seconds a page, 0 to %.2f (orange); %.0f s</text>`+"\n%s</svg>\n", left, foot, slowest, end, bars)
	return b.String()
}

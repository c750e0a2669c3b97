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

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/web"
)

func newRates() *cobra.Command {
	f := &oneTask{}
	var svg string
	c := &cobra.Command{
		Use: "rates DIR | rates JOB", Short: "Show how completion and efficiency of sites and nodes developed", Args: cobra.MaximumNArgs(1),
		Long: `Rates reads the record of every lease of a virtual task: for each site that searches are restricted to and each node, the
completion (pages collected over those that the engines state, never above 1) and the efficiency (seconds of leases for a
page), at the end and as a curve over the job's time. A site whose engines state nothing that can be gone by has no completion.
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
				if err := isCrawl(f.dir); err != nil {
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
			if len(args) == 0 {
				return usage("name a crawl's directory (also with -o), or the number of a coordinator's job")
			}
			id, err := parseJob(args[0])
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

// pairRates are what a node has done for the searches of a site.
type pairRates struct {
	Site      string      `json:"site"`
	Node      string      `json:"node"`
	Existing  int64       `json:"existing"` // as the engines state, of the searches that it ran
	Collected int64       `json:"collected"`
	Runs      int         `json:"leases"`
	Seconds   float64     `json:"seconds"` // of its leases
	Known     bool        `json:"known"`   // what exists was stated
	Curve     []ratePoint `json:"curve"`
}

// ratePoint is where a pair stood at a time.
type ratePoint struct {
	At         float64 `json:"at"` // seconds since the job's first lease
	Completion float64 `json:"completion"`
	PerPage    float64 `json:"seconds_a_page"`
}

// completion is the share of what exists that was collected, at most 1.
func (p *pairRates) completion() float64 {
	if p.Existing <= 0 {
		return 0
	}
	return min(1, float64(p.Collected)/float64(p.Existing))
}

func (p *pairRates) perPage() float64 {
	if p.Collected == 0 {
		return 0
	}
	return p.Seconds / float64(p.Collected)
}

// part is what a node has done of a search.
type part struct{ existing, collected int64 }

// ratesOf adds up leases by site and node, in the order in which they ended. A page that several searches name is fetched by a lease of
// one of them and counts for each: what a search has beyond its own leases is its last node's, with the last of them.
func ratesOf(runs []ledger.Run, searches []ledger.Task) (out []*pairRates) {
	if len(runs) == 0 {
		return nil
	}
	first := runs[0].Started
	runs = slices.DeleteFunc(slices.Clone(runs), func(r ledger.Run) bool { return r.Ended == 0 })
	slices.SortStableFunc(runs, func(a, b ledger.Run) int { return int(min(1, max(-1, a.Ended-b.Ended))) })
	shared, last := beyond(runs, searches)
	pairs, parts := map[[2]string]*pairRates{}, map[string]*part{}
	stated, had := map[uint32]int64{}, map[uint32]int64{} // by search: what its engine states, and what its leases have collected
	for i, r := range runs {
		key, of := [2]string{r.Site, r.Node}, fmt.Sprint(r.Search, " ", r.Node)
		p, did := pairs[key], parts[of]
		if p == nil {
			p = &pairRates{Site: r.Site, Node: r.Node}
			pairs[key] = p
			out = append(out, p)
		}
		if did == nil {
			did = &part{}
			parts[of] = did
		}
		p.Runs++
		p.Seconds += float64(r.Ended-r.Started) / 1000
		was := *did
		if !r.Asks {
			if did.existing == 0 && stated[r.Search] > 0 { // it has taken over what another node has left
				did.existing, p.Known = max(0, stated[r.Search]-had[r.Search]), true
			}
			did.collected += r.Good
			had[r.Search] += r.Good
		} else if r.Stated == crawl.StatedExact || r.Stated == crawl.StatedEstimate {
			did.existing, p.Known = r.Existing, true
			stated[r.Search] = r.Existing
		}
		if last[r.Search] == i {
			did.collected = max(0, did.collected+shared[r.Search])
		}
		p.Existing += did.existing - was.existing
		p.Collected += did.collected - was.collected
		p.Curve = append(p.Curve, ratePoint{float64(r.Ended-first) / 1000, p.completion(), p.perPage()})
	}
	slices.SortFunc(out, func(a, b *pairRates) int {
		return strings.Compare(a.Site+"\x00"+a.Node, b.Site+"\x00"+b.Node)
	})
	return out
}

// beyond finds, for each search by its number, how much more it has collected than its own leases, and the place of the last of those. It
// is less where a lease has fetched a redirect, too.
func beyond(runs []ledger.Run, searches []ledger.Task) (more map[uint32]int64, last map[uint32]int) {
	more, last = map[uint32]int64{}, map[uint32]int{}
	for i := range searches {
		if s := searches[i].Search; s != nil {
			more[s.No] = s.Collected
		}
	}
	for i, r := range runs {
		last[r.Search] = i
		if !r.Asks {
			more[r.Search] -= r.Good
		}
	}
	return more, last
}

// rates writes all that is known of a job's leases, which were placed by a strategy.
func (f *oneTask) rates(w io.Writer, runs []ledger.Run, searches []ledger.Task, spec, svg string) error {
	pairs, gains := ratesOf(runs, searches), gainsOf(runs)
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
	fmt.Fprintln(t, "SITE\tNODE\tLEASES\tEXISTING\tCOLLECTED\tCOMPLETION\tSECONDS A PAGE\tCOMPLETION OVER TIME")
	for _, p := range pairs {
		existing, rate, curve := "-", "-", ""
		if p.Known {
			existing, rate, curve = count(p.Existing), fmt.Sprintf("%.2f", p.completion()), p.spark(end)
		}
		per := "-"
		if p.Collected > 0 {
			per = fmt.Sprintf("%.2f", p.perPage())
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\n", orElse(p.Site, "-"), p.Node, p.Runs, existing, count(p.Collected), rate, per, curve)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := printGains(w, gains); err != nil {
		return err
	}
	return printReplayed(w, &replayed)
}

// spark draws a pair's completion over the job's time in a line of text.
func (p *pairRates) spark(end float64) string {
	const wide = 24
	levels := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	k, now := 0, -1.0
	for i := range wide {
		for k < len(p.Curve) && p.Curve[k].At <= end*float64(i+1)/wide {
			now = p.Curve[k].Completion
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
func drawRates(pairs []*pairRates, gains []nodeGains) string {
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
		line := func(colour string, of func(ratePoint) float64) {
			var pts []string
			for _, at := range p.Curve {
				pts = append(pts, fmt.Sprintf("%.1f,%.1f", x+w*at.At/end, y+h*(1-min(1, of(at)))))
			}
			last := of(p.Curve[len(p.Curve)-1]) // holds to the end
			pts = append(pts, fmt.Sprintf("%.1f,%.1f", x+w, y+h*(1-min(1, last))))
			fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n", strings.Join(pts, " "), colour)
		}
		if p.Known {
			line("#1f77b4", func(at ratePoint) float64 { return at.Completion })
		}
		line("#ff7f0e", func(at ratePoint) float64 { return at.PerPage / slowest })
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d">completion, 0 to 1 (blue); seconds a page, 0 to %.2f (orange); %.0f s</text>`+"\n%s</svg>\n", left, foot, slowest, end, bars)
	return b.String()
}

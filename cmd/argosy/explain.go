package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/plan/schedule"
)

func newExplain() *cobra.Command {
	var log, dir string
	var job uint32
	var all, asJSON bool
	c := &cobra.Command{
		Use: "explain TASK --log FILE | explain URL -o DIR", Short: "Say why a task went to its node, or what a crawl's topic makes of a URL", Args: cobra.ExactArgs(1),
		Long: `Explain reads the decisions that argosy crawl --explain-log FILE has written. TASK is a site or a task's number. For
each node it prints why it was left out, or what it would have cost, by part; each figure is marked as measured,
predicted (with its standard deviation, as a factor) or default. Before that it says which nodes have measured the site, when
and by what, and, where the node that costs least did not get it, who has its places and at what price. The last decision
is printed, or with --all every one.

Of a URL of a crawl with a topic it prints what the links to it promise, sign by sign, by the rules and by what was learned, and, if
it was fetched, how its page was judged, word by word.`,
		Example: "  argosy crawl https://example.com/ -o example --agents 3 --explain-log decisions.jsonl\n  argosy explain example.com --log decisions.jsonl\n  argosy explain https://example.com/guide.html -o rls",
		RunE: func(c *cobra.Command, args []string) error {
			if strings.Contains(args[0], "://") && dir != "" {
				return explainURL(c, dir, job, args[0], asJSON)
			}
			if log == "" {
				return usage("--log: name the file that argosy crawl --explain-log has written")
			}
			ds, err := readInput(c, log, func(r io.Reader) ([]schedule.Decision, error) { return decisions(r, args[0]) })
			if err != nil {
				return err
			}
			if len(ds) == 0 {
				return usage("%s: no decision about %q in it", log, args[0])
			}
			if !all {
				ds = ds[len(ds)-1:]
			}
			for i := range ds {
				if asJSON {
					err = printJSON(c.OutOrStdout(), &ds[i])
				} else {
					err = printDecision(c.OutOrStdout(), &ds[i])
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&log, "log", "", "file of decisions; required, but of a URL")
	f.StringVarP(&dir, "out", "o", "", "directory of the crawl, of a URL")
	f.Uint32Var(&job, "job", 1, "number of the job, of a URL")
	f.BoolVar(&all, "all", false, "every decision about the task, not only the last")
	f.BoolVar(&asJSON, "json", false, "print JSON lines")
	return c
}

// decisions reads those about one task.
func decisions(r io.Reader, task string) (out []schedule.Decision, err error) {
	number, isNumber := strconv.ParseUint(task, 10, 32)
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 64<<10), 16<<20)
	for n := 1; sc.Scan(); n++ {
		var d schedule.Decision
		if err := json.Unmarshal(sc.Bytes(), &d); err != nil {
			return nil, fmt.Errorf("line %d: not a decision: %w", n, err)
		}
		if d.Site == task || isNumber == nil && uint64(d.Task) == number {
			out = append(out, d)
		}
	}
	return out, sc.Err()
}

func printDecision(w io.Writer, d *schedule.Decision) error {
	went := "goes to " + d.Node
	if d.Node == "" {
		went = "waits: " + string(d.Waits)
	}
	fmt.Fprintf(w, "%s  task %d, %s, %s (strategy %s, solver %s)\n", time.UnixMilli(d.At).UTC().Format("15:04:05.000"), d.Task, d.Site, went, d.Strategy, d.Solver)
	if m := d.Measured; m != nil {
		fmt.Fprintf(w, "  measured so far: bandwidth of %d pairs, delays of %d, stores %d times, %d pings between nodes", m.Bandwidth, m.Delays, m.Stores, m.Between)
		if len(m.Landmarks) > 0 {
			fmt.Fprintf(w, "; landmarks %s, chosen: %s", strings.Join(m.Landmarks, " "), m.Chosen)
		}
		fmt.Fprintln(w)
	}
	if s := d.Shadow; s != nil {
		would := "would give it to " + s.Node
		if s.Node == "" {
			would = "would let it wait"
		}
		fmt.Fprintf(w, "  %s, the shadow, %s\n", s.Strategy, would)
	}
	printKnown(w, d)
	t := newColumns(w)
	for _, f := range d.Filtered {
		fmt.Fprintf(t, "  %s\tleft out by %s\t%s %s\n", f.Node, f.Filter, f.Reason, f.Detail)
	}
	for _, c := range d.Candidates {
		cost := "forbidden"
		if c.Cost != nil {
			cost = strings.TrimSpace(fmt.Sprintf("%.4g %s", *c.Cost, d.Unit))
		}
		mark := ""
		if c.Node == d.Node {
			mark = " ◄"
		}
		fmt.Fprintf(t, "  %s%s\t%s: %s\t%s\n", c.Node, mark, d.Cost, cost, parts(c.Parts))
	}
	if d.Omitted > 0 {
		fmt.Fprintf(t, "  and %d more\t\t\n", d.Omitted)
	}
	return t.Flush()
}

// printKnown says by whom the site was measured and when, and why the cheapest candidate did not get the task.
func printKnown(w io.Writer, d *schedule.Decision) {
	for _, k := range d.Known {
		var of []string
		if k.Probed {
			of = append(of, "a bandwidth probe")
		}
		if k.Delays > 0 {
			of = append(of, fmt.Sprintf("%d delays", k.Delays))
		}
		if k.Requests > 0 {
			of = append(of, fmt.Sprintf("%.0f requests", k.Requests))
		}
		fmt.Fprintf(w, "  %s has measured the site, %v before: %s\n", k.Node, time.Duration(d.At-k.At)*time.Millisecond, strings.Join(of, ", "))
	}
	p := d.Passed
	if p == nil {
		return
	}
	fmt.Fprintf(w, "  %s costs least and did not get it: %d of its %d places are taken", p.Node, p.Taken, p.Places)
	if len(p.By) > 0 {
		fmt.Fprintf(w, ", now by %s", strings.Join(p.By, " "))
	}
	if p.Place > 0 || p.Bandwidth > 0 {
		fmt.Fprintf(w, "; a place there is priced at %.4g Mbit/s, a megabit that it carries at %.4g", p.Place, p.Bandwidth)
	}
	fmt.Fprintln(w)
}

func parts(ps []schedule.Part) string {
	var out []string
	for _, p := range ps {
		s := strings.TrimSpace(fmt.Sprintf("%s %.4g %s", p.Name, p.Value, p.Unit))
		switch {
		case p.Source == "predicted" && p.Unit == "share":
			s += fmt.Sprintf(" (predicted ± %.2g)", p.Sigma)
		case p.Source == "predicted":
			s += fmt.Sprintf(" (predicted, ± %.0f %%)", 100*p.Sigma)
		default:
			s += " (" + p.Source + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

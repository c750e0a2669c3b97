package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/web"
	"argosy/internal/plan/schedule"
)

func newExplain() *cobra.Command {
	f := &fleetFlags{}
	var log, dir, place string
	var job, attempt uint32
	var all bool
	c := &cobra.Command{
		Use: "explain TASK [--log FILE] | explain URL -o DIR", Short: "Say why a task went to its node, or what a crawl's topic makes of a URL", Args: cobra.ExactArgs(1),
		Long: `Explain asks a coordinator, or a crawl with --listen, why it gave a task to its node, or with --log reads the decisions that
argosy crawl --explain-log FILE has written. TASK is a site or a task's number. For
each node it prints why it was left out, or what it would have cost, by part; each figure is marked as measured,
predicted (with its standard deviation, as a factor) or default. Before that it says which nodes have measured the site, when
and by what, and, where the node that costs least did not get it, who has its places and at what price. The last decision
is printed, or with --attempt N that of the task's Nth lease, probes included, or with --all every one that is remembered. Of the
last 2,000 leases that is known after a restart, too, and to a coordinator that takes over.

Of a URL of a crawl with a topic it prints what the links to it promise, sign by sign, by the rules and by what was learned, and, if
it was fetched, how its page was judged, word by word. Of several crawlers it prints to which the URL was dealt and by what, and, while
it waits, what it is worth to each, with what the speed of each makes of it. Of a URL of a crawl without a topic it prints the last
decision about its site, where that is kept.`,
		Example: "  argosy explain example.com --server http://127.0.0.1:8480\n  argosy explain 14 --attempt 2\n  argosy explain example.com --log decisions.jsonl\n  argosy explain https://example.com/guide.html -o rls",
		RunE: func(c *cobra.Command, args []string) error {
			if err := explainFlags(c, args[0], dir); err != nil {
				return err
			}
			if dir != "" {
				return explainURL(c, dir, place, max(1, job), args[0], f.json)
			}
			if all && attempt > 0 {
				return usage("--all and --attempt %d: want one of them", attempt)
			}
			if log == "" {
				return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error {
					ds, task, err := askWhy(ctx, cl, args[0], job)
					if at, serr := os.Stat(args[0]); errors.Is(err, web.ErrAway) && serr == nil && at.IsDir() {
						return usage("%s: a directory: want a site or a task's number, with its coordinator (--server), or a URL with -o %s (%w)", args[0], args[0], err)
					}
					if err != nil {
						return err
					}
					if err := printDecisions(w, ds, attempt, all, f.json); err != nil || f.json {
						return err
					}
					printSince(w, &task)
					return nil
				})
			}
			ds, err := readInput(c, log, func(r io.Reader) ([]schedule.Decision, error) { return decisions(r, args[0]) })
			if err != nil {
				return err
			}
			if len(ds) == 0 {
				return usage("%s: no decision about %q in it", log, args[0])
			}
			return printDecisions(c.OutOrStdout(), ds, attempt, all, f.json)
		},
	}
	f.register(c)
	fl := c.Flags()
	fl.StringVar(&log, "log", "", "file of decisions, instead of a coordinator")
	fl.StringVarP(&dir, "out", "o", "", "directory of the crawl, of a URL")
	ledgerFlag(c, &place)
	fl.Uint32Var(&job, "job", 0, "number of the job (default: of a URL 1, of a site the latest that has it)")
	fl.Uint32Var(&attempt, "attempt", 0, "the decision for this attempt of the task (default: the last decision)")
	fl.BoolVar(&all, "all", false, "every decision about the task, not only the last")
	return c
}

// explainFlags refuses flags that say nothing of what is asked for.
func explainFlags(c *cobra.Command, name, dir string) error {
	given := func(flags ...string) string {
		for _, flag := range flags {
			if c.Flags().Changed(flag) {
				return flag
			}
		}
		return ""
	}
	isURL := strings.Contains(name, "://")
	switch flag := given("log", "attempt", "all", "server"); {
	case isURL && dir == "":
		return usage("%s: a URL is explained from the directory of its crawl: -o DIR", name)
	case dir == "" && given("ledger") != "":
		return usage("--ledger is of a directory: -o DIR, and a URL")
	case isURL && flag != "":
		return usage("--%s is of a task, and %s is a URL", flag, name)
	case !isURL && dir != "":
		return usage("-o is of a URL, with its scheme, and %q is not one", name)
	}
	if _, err := strconv.ParseUint(name, 10, 32); err == nil && given("job") != "" {
		return usage("--job is of a site or a URL: task %s says its job", name)
	}
	if given("log") != "" && given("job") != "" {
		return usage("--job and --log: the decisions in a file are of all jobs")
	}
	return nil
}

// askWhy asks a coordinator what it has decided about a task, the oldest first. A site of several tasks is that of the job, or (0) of the
// latest that has it. It returns what the task is by now, too.
func askWhy(ctx context.Context, cl *web.Client, name string, job uint32) (ds []schedule.Decision, v coordinator.TaskView, err error) {
	id, err := strconv.ParseUint(name, 10, 32)
	task := uint32(id)
	if err == nil && id == 0 {
		return nil, v, usage("0: tasks are numbered from 1 (argosy tasks prints them)")
	}
	if err != nil {
		found, err := cl.FindTask(ctx, name, job)
		if err != nil {
			return nil, v, err
		}
		if len(found) == 0 {
			of := "no job has"
			if job > 0 {
				of = fmt.Sprintf("job %d does not have", job)
			}
			return nil, v, usage("%q: %s a task of such a site: want a site with its port, or a task's number (argosy tasks prints them)", name, of)
		}
		task = found[0].ID
	}
	if ds, err = cl.Decisions(ctx, task); err != nil {
		return nil, v, err
	}
	if v, err = cl.Task(ctx, task); err != nil {
		return nil, v, err
	}
	if len(ds) == 0 {
		return nil, v, usage("task %d: %s", task, undecided(&v))
	}
	slices.Reverse(ds)
	return ds, v, nil
}

// undecided says why no decision about a task is remembered.
func undecided(v *coordinator.TaskView) string {
	switch {
	case v.State == "waiting" && v.Fetched+v.Failed == 0 && v.Holder != nil:
		return fmt.Sprintf("nothing is decided about it yet: its site is asked for task %d of job %d", v.Holder.Task, v.Holder.Job)
	case v.State == "waiting" && v.Fetched+v.Failed == 0:
		return "nothing is decided about it yet: it waits, and no plan has looked at it"
	}
	return fmt.Sprintf("no decision about it is remembered, as they are of the last 2,000 leases; the task is %s by now", stateNow(v))
}

// printSince says what has become of a task about which nothing will be decided any more.
func printSince(w io.Writer, v *coordinator.TaskView) {
	if now := stateNow(v); v.State != "waiting" && v.State != "crawling" {
		fmt.Fprintf(w, "  by now the task is %s\n", now)
	}
}

// stateNow is the state of a task in words.
func stateNow(v *coordinator.TaskView) string {
	if v.State == "manual" {
		return "waiting for a person"
	}
	return v.State
}

// printDecisions prints decisions about a task, of which the oldest comes first: all, that for an attempt, or (0) the last.
func printDecisions(w io.Writer, ds []schedule.Decision, attempt uint32, all, asJSON bool) error {
	if attempt > 0 {
		if ds = slices.DeleteFunc(ds, func(d schedule.Decision) bool { return d.Attempt != attempt }); len(ds) == 0 {
			return usage("--attempt %d: no decision for it is remembered", attempt)
		}
	}
	if !all {
		ds = ds[len(ds)-1:]
	}
	for i := range ds {
		var err error
		if asJSON {
			err = printJSON(w, &ds[i])
		} else {
			err = printDecision(w, &ds[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// decisions reads those about one task. A last line without an end is being written, or was when its process died.
func decisions(r io.Reader, task string) (out []schedule.Decision, err error) {
	number, isNumber := strconv.ParseUint(task, 10, 32)
	lines := bufio.NewReader(r)
	for n, more := 1, true; more; n++ {
		line, err := lines.ReadBytes('\n')
		if more = err == nil; !more && (!errors.Is(err, io.EOF) || len(line) == 0) {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return out, err
		}
		var d schedule.Decision
		if err = json.Unmarshal(line, &d); err == nil && (d.Task == 0 || d.Strategy == "") {
			err = errors.New("it names no task or no strategy")
		}
		if err != nil && (more || n == 1) {
			return nil, fmt.Errorf("line %d: not a decision: %w", n, err)
		}
		if err == nil && (d.Site == task || isNumber == nil && uint64(d.Task) == number) {
			out = append(out, d)
		}
	}
	return out, nil
}

func printDecision(w io.Writer, d *schedule.Decision) error {
	went, by := "goes to "+d.Node, "strategy "+d.Strategy
	switch {
	case d.Node == "":
		went = "waits: " + string(d.Waits)
	case d.Probe != "":
		went = d.Node + " measures its " + d.Probe
	}
	if d.Attempt > 0 {
		went += fmt.Sprintf(", attempt %d", d.Attempt)
	}
	if d.Solver != "" {
		by += ", solver " + d.Solver
	}
	fmt.Fprintf(w, "%s  task %d, %s, %s (%s)\n", time.UnixMilli(d.At).UTC().Format("15:04:05.000"), d.Task, d.Site, went, by)
	if d.Why != "" {
		fmt.Fprintf(w, "  %s\n", cmp.Or(schedule.Words()[d.Why], string(d.Why)))
	}
	if m := d.Measured; m != nil {
		fmt.Fprintf(w, "  probes since the start: %d of bandwidth, %d of delay, %d of stores, %d between nodes", m.Bandwidth, m.Delays, m.Stores, m.Between)
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
			cost = strings.TrimSpace(figured(*c.Cost) + " " + d.Unit)
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
			of = append(of, plural(int64(k.Delays), "delay")+" remembered")
		}
		if k.Requests > 0 {
			of = append(of, plural(int64(math.Round(k.Requests)), "request"))
		}
		if len(of) == 0 {
			fmt.Fprintf(w, "  %s has tried the site, and measured nothing\n", k.Node)
			continue
		}
		apart, when := time.Duration(d.At-k.At)*time.Millisecond, "before"
		if apart < 0 {
			apart, when = -apart, "later"
		}
		fmt.Fprintf(w, "  %s has measured the site, %v %s: %s\n", k.Node, apart, when, strings.Join(of, ", "))
	}
	p := d.Passed
	if p == nil {
		return
	}
	fmt.Fprintf(w, "  %s costs least and did not get it", p.Node)
	switch {
	case p.Scarce():
		fmt.Fprintf(w, ": %d of its %s are taken", p.Taken, plural(int64(p.Places), "place"))
		if len(p.Held) > 0 {
			fmt.Fprintf(w, ", before by %s", strings.Join(p.Held, " "))
		}
		if len(p.By) > 0 {
			fmt.Fprintf(w, ", now by %s", strings.Join(p.By, " "))
		}
	case d.Node != "" && d.Solver != "":
		fmt.Fprintf(w, ": it has room, and solver %s chose %s", d.Solver, d.Node)
	}
	if p.Place >= leastFigure || p.Bandwidth >= leastFigure {
		fmt.Fprintf(w, "; a place there is priced at %s Mbit/s, a megabit that it carries at %s", figured(p.Place), figured(p.Bandwidth))
	}
	fmt.Fprintln(w)
}

// leastFigure is what is less than anything that counts, in any unit in which figures are told.
const leastFigure = 1e-6

// figured writes down a figure to four digits, without an exponent; 0 is one that is as good as that.
func figured(x float64) string {
	switch size := math.Abs(x); {
	case size < leastFigure:
		return "0"
	case size >= 1e12 || size != size:
		return fmt.Sprintf("%.4g", x)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

func parts(ps []schedule.Part) string {
	var out []string
	for _, p := range ps {
		s := strings.TrimSpace(p.Name + " " + figured(p.Value) + " " + p.Unit)
		switch {
		case p.Source == "predicted" && p.Sigma > 0 && p.Unit == "share":
			s += fmt.Sprintf(" (predicted ± %.2g)", p.Sigma)
		case p.Source == "predicted" && p.Sigma > 0: // that of its logarithm
			s += fmt.Sprintf(" (predicted, within a factor %.3g)", math.Exp(p.Sigma))
		default:
			s += " (" + p.Source + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// Command fleet measures a fleet of real processes on a web of its own.
//
//	go run ./bench/fleet faults [-only kill-agents,standby] [-sites 60] [-pages 175] [-delay 250ms] [-away 2m]
//	go run ./bench/fleet scale [-agents 8] [-window 20s] [-profile FILE] [-strategies flow,random | -against BINARY] [-rounds 3]
//	go run ./bench/fleet answers [-urls 5000000] [-nodes 200]
//	go run ./bench/fleet pages [-nodes 1000] [-tasks 100000] [-clients 10]
//	go run ./bench/fleet fuzz [-for 10m] [-alone 1m] [-share 0.2] [-forge]
//
// faults crawls that web again and again while something goes wrong: agents and coordinators are killed, frozen and cut
// off, disks fill up, servers of the bus die. For each it prints whether the crawl ended as the undisturbed one did, and
// at what price. It needs PostgreSQL for the scenarios with a standby, and to be root for the partition (network
// namespaces) and the full disk (tmpfs); what it cannot do it says.
//
// scale prints how much more several agents fetch than one where nodes are the limit, and what the coordinator costs;
// with -strategies what it costs under each of them, with -against what it costs beside another build's.
//
// answers prints how long a coordinator takes to answer, and how much memory it takes, while millions of links come in, after it was
// killed, and while orders are carried out that concern all of them.
//
// pages prints how soon the dashboard's questions are answered while so many clients have pages open, what that costs the coordinator
// (windows with and without them alternate), and what of its memory is alive, by how many tasks have been begun.
//
// fuzz prints how much less honest nodes fetch while another one changes every field of everything that it says, and whether anything of
// theirs is lost; with -forge it forges measurements instead.
//
// Everything that it starts it ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

// scenario is something that goes wrong.
type scenario struct {
	name   string
	what   string
	fleet  setting
	happen func(ctx context.Context, f *fleet) error // while the crawl runs
}

// commands are what can be measured, by name: each takes its flags, and runs in a temporary directory.
var commands = map[string]func(fl *flag.FlagSet, o *options) func(ctx context.Context, tmp string) error{
	"faults": func(fl *flag.FlagSet, o *options) func(context.Context, string) error {
		o.concurrency = 32
		fl.IntVar(&o.sites, "sites", 60, "sites")
		fl.IntVar(&o.pages, "pages", 175, "pages a site; redirects and files come on top")
		fl.DurationVar(&o.delay, "delay", 250*time.Millisecond, "between two requests to a site")
		fl.DurationVar(&o.recycle, "recycle-after", 2*time.Second, "recycle-after of the job")
		fl.DurationVar(&o.away, "away", 2*time.Minute, "how long the coordinator is away")
		only := fl.String("only", "", "scenarios to run, with commas (default: all)")
		return func(ctx context.Context, tmp string) error { return run(ctx, *o, *only, tmp) }
	},
	"scale": func(fl *flag.FlagSet, o *options) func(context.Context, string) error {
		agents := fl.Int("agents", 8, "agents, against one")
		fl.IntVar(&o.pages, "pages", 2000, "pages a site, of 128: the fewer, the more links lead to what is known already")
		window := fl.Duration("window", 20*time.Second, "time that is measured")
		profile := fl.String("profile", "", "file for a profile of the coordinator of several agents, as go tool pprof reads it")
		strategies := fl.String("strategies", "", "with commas: what the coordinator takes under each, instead of against one agent")
		against := fl.String("against", "", "another argosy binary: what the coordinator takes of it and of this build, instead of against one agent")
		rounds := fl.Int("rounds", 3, "of the strategies or binaries, which take turns")
		return func(ctx context.Context, tmp string) error {
			if *strategies != "" {
				return deciding(ctx, *o, tmp, *agents, *window, strings.Split(*strategies, ","), *rounds)
			}
			if *against != "" {
				return versus(ctx, *o, tmp, *agents, *window, *against, *rounds)
			}
			return scale(ctx, *o, tmp, *agents, *window, *profile)
		}
	},
	"answers": func(fl *flag.FlagSet, o *options) func(context.Context, string) error {
		l := large{}
		fl.IntVar(&l.urls, "urls", 5_000_000, "URLs that wait")
		fl.IntVar(&l.sites, "sites", 2000, "sites that they are on")
		fl.IntVar(&l.nodes, "nodes", 200, "nodes")
		fl.IntVar(&l.processes, "processes", 4, "that the nodes are in")
		fl.IntVar(&l.least, "requests", 1000, "requests that are made in each phase, at least")
		return func(ctx context.Context, tmp string) error { return answers(ctx, *o, l, tmp) }
	},
	"pages": func(fl *flag.FlagSet, o *options) func(context.Context, string) error {
		w := open{}
		fl.IntVar(&w.nodes, "nodes", 1000, "nodes")
		fl.IntVar(&w.tasks, "tasks", 100_000, "tasks, each of a site of its own")
		fl.IntVar(&w.processes, "processes", 4, "that the nodes are in")
		fl.IntVar(&w.clients, "clients", 10, "that have a page open")
		fl.StringVar(&w.strategy, "strategy", "flow", "strategy of the job")
		fl.StringVar(&w.profile, "profile", "", "what the names of files begin with into which the coordinator's profile of each window goes, as go tool pprof reads it")
		fl.IntVar(&w.rounds, "rounds", 5, "pairs of windows")
		fl.DurationVar(&w.window, "window", 20*time.Second, "time that is measured, each")
		fl.DurationVar(&w.latency, "latency", 5*time.Second, "of each answer")
		return func(ctx context.Context, tmp string) error { return pages(ctx, *o, w, tmp) }
	},
	"fuzz": func(fl *flag.FlagSet, o *options) func(context.Context, string) error {
		w := wrong{}
		fl.DurationVar(&w.lasts, "for", 10*time.Minute, "how long a node lies")
		fl.DurationVar(&w.alone, "alone", time.Minute, "how long the others are measured without it, before and after")
		fl.Float64Var(&w.share, "share", 0.2, "of a core, which the node that lies may use")
		fl.BoolVar(&w.forge, "forge", false, "it forges measurements, instead of changing every field")
		return func(ctx context.Context, tmp string) error { return fuzz(ctx, *o, w, tmp) }
	},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch name := strings.Join(os.Args[1:min(2, len(os.Args))], ""); {
	case name == liarName: // the node that fuzz starts
		l := &liar{}
		fl := flag.NewFlagSet(name, flag.ExitOnError)
		fl.StringVar(&l.api, "api", "", "coordinator")
		fl.StringVar(&l.dir, "dir", "", "directory")
		fl.Float64Var(&l.share, "share", 0.2, "of a core")
		fl.BoolVar(&l.forge, "forge", false, "forge measurements")
		_ = fl.Parse(os.Args[2:]) // it ends the program instead
		err = l.run(ctx)
	case commands[name] == nil:
		fmt.Fprintf(os.Stderr, "fleet: want one of %s, then flags\n", strings.Join(slices.Sorted(maps.Keys(commands)), ", "))
		os.Exit(2)
	default:
		fl := flag.NewFlagSet(name, flag.ExitOnError)
		o := options{}
		fl.StringVar(&o.argosy, "argosy", "", "the argosy binary (default: built from here)")
		keep := fl.Bool("keep", false, "keep what the crawls leave")
		measure := commands[name](fl, &o)
		_ = fl.Parse(os.Args[2:])
		err = within(ctx, &o, *keep, func(tmp string) error { return measure(ctx, tmp) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// within runs fn with a temporary directory, which is kept if fn fails, and the binary.
func within(ctx context.Context, o *options, keep bool, fn func(tmp string) error) (err error) {
	tmp, err := os.MkdirTemp("", "argosy-fleet-*")
	if err != nil {
		return err
	}
	defer func() {
		if keep || err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "kept in", tmp)
		} else {
			_ = os.RemoveAll(tmp)
		}
	}()
	if o.argosy == "" {
		o.argosy = filepath.Join(tmp, "argosy")
		if out, err := exec.Command("go", "build", "-o", o.argosy, "./cmd/argosy").CombinedOutput(); err != nil {
			return fmt.Errorf("build: %w: %s", err, out)
		}
	}
	return fn(tmp)
}

func run(ctx context.Context, o options, only, tmp string) error {
	var names []string
	if only != "" {
		names = strings.Split(only, ",")
		for _, n := range names {
			if !slices.ContainsFunc(scenarios, func(s scenario) bool { return s.name == n }) {
				return fmt.Errorf("no scenario %q", n)
			}
		}
	}
	var want map[string]string
	bad := 0
	var left []string // without a result
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SCENARIO\tURLS\tSAME SET\tINDEX ONCE\tVERIFY\tGAP SENT\tGAP SEEN\tEXTRA FETCHES\tLEASES LOST\tESCAPED\tLONGEST PAUSE\tSECONDS\tWHAT HAPPENED")
	for _, s := range scenarios {
		if s.name != "undisturbed" && names != nil && !slices.Contains(names, s.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", s.name, s.what)
		r, err := play(ctx, o, s, filepath.Join(tmp, s.name))
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", s.name, err)
			fmt.Fprintf(t, "%s\t-\t\t\t\t\t\t\t\t\t\t\t%v\n", s.name, err)
			if left = append(left, s.name); !isSkipped(err) || slices.Contains(names, s.name) {
				bad++
			}
			continue
		}
		if want == nil {
			want = r.urls
		}
		same := difference(want, r.urls)
		if same != "yes" || r.once != "yes" || r.verify != "clean" || r.sent < o.delay*95/100 {
			bad++
		}
		row := fmt.Sprintf("%s\t%d\t%s\t%s\t%s\t%d ms\t%d ms\t%d\t%d\t%d\t%.1f s\t%.0f\t%s\n", s.name, len(r.urls), same, r.once, r.verify, r.sent.Milliseconds(), r.shortest.Milliseconds(),
			r.extra, r.lost, r.escaped, r.pause.Seconds(), r.took.Seconds(), s.what)
		fmt.Fprint(os.Stderr, row) // the table comes at the end, which is far
		fmt.Fprint(t, row)
	}
	if err := errors.Join(t.Flush(), ctx.Err()); err != nil {
		return err
	}
	if len(left) > 0 {
		fmt.Fprintf(os.Stderr, "without a result, for the reasons above: %s\n", strings.Join(left, ", "))
	}
	if bad > 0 {
		return fmt.Errorf("%d scenarios did not end as they should", bad)
	}
	return nil
}

// difference tells how two sets of URLs with their states differ.
func difference(want, got map[string]string) string {
	n, example := 0, ""
	for u, s := range want {
		if got[u] != s {
			n++
			example = fmt.Sprintf("%s is %q, not %q", u, got[u], s)
		}
	}
	for u := range got {
		if _, ok := want[u]; !ok {
			n++
			example = u + " is new"
		}
	}
	if n > 0 {
		return fmt.Sprintf("NO: %d differ, such as %s", n, example)
	}
	return "yes"
}

// Command faults crawls a web of its own with a fleet of real processes, again and again, while something goes wrong: agents
// and coordinators are killed, frozen and cut off, disks fill up, servers of the bus die. For each it prints whether the
// crawl ended as the undisturbed one did, and at what price.
//
//	go run ./bench/faults [-only kill-agents,standby] [-sites 60] [-pages 175] [-delay 100ms] [-away 2m]
//
// It needs PostgreSQL for the two scenarios with a standby, and to be root for the partition (network namespaces) and the
// full disk (tmpfs); what it cannot do it says. Everything it starts it ends.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
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

func main() {
	o := options{}
	flag.StringVar(&o.argosy, "argosy", "", "the argosy binary (default: built from here)")
	flag.IntVar(&o.sites, "sites", 60, "sites")
	flag.IntVar(&o.pages, "pages", 175, "pages a site; redirects and files come on top")
	flag.DurationVar(&o.delay, "delay", 100*time.Millisecond, "between two requests to a site")
	flag.DurationVar(&o.recycle, "recycle-after", 2*time.Second, "recycle-after of the job")
	flag.DurationVar(&o.away, "away", 2*time.Minute, "how long the coordinator is away")
	only := flag.String("only", "", "scenarios to run, with commas (default: all)")
	keep := flag.Bool("keep", false, "keep what the crawls leave")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, *only, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, only string, keep bool) error {
	tmp, err := os.MkdirTemp("", "argosy-faults-*")
	if err != nil {
		return err
	}
	if keep {
		fmt.Fprintln(os.Stderr, "kept in", tmp)
	} else {
		defer os.RemoveAll(tmp)
	}
	if o.argosy == "" {
		o.argosy = filepath.Join(tmp, "argosy")
		if out, err := exec.Command("go", "build", "-o", o.argosy, "./cmd/argosy").CombinedOutput(); err != nil {
			return fmt.Errorf("build: %w: %s", err, out)
		}
	}
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
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SCENARIO\tURLS\tSAME SET\tINDEX ONCE\tVERIFY\tSHORTEST GAP\tEXTRA FETCHES\tLEASES LOST\tESCAPED\tLONGEST PAUSE\tSECONDS\tWHAT HAPPENED")
	for _, s := range scenarios {
		if s.name != "undisturbed" && names != nil && !slices.Contains(names, s.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", s.name, s.what)
		r, err := play(ctx, o, s, filepath.Join(tmp, s.name))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(t, "%s\t-\t\t\t\t\t\t\t\t\t\t%v\n", s.name, err)
			if !isSkipped(err) {
				bad++
			}
			continue
		}
		if want == nil {
			want = r.urls
		}
		same := difference(want, r.urls)
		if same != "yes" || r.once != "yes" || r.verify != "clean" || r.shortest < o.delay*8/10 {
			bad++
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%d ms\t%d\t%d\t%d\t%.1f s\t%.0f\t%s\n", s.name, len(r.urls), same, r.once, r.verify, r.shortest.Milliseconds(),
			r.extra, r.lost, r.escaped, r.pause.Seconds(), r.took.Seconds(), s.what)
	}
	if err := t.Flush(); err != nil {
		return err
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

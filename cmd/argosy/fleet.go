package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/crawl"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/web"
	"argosy/internal/plan/price"
	"argosy/internal/plan/schedule"
)

// fleetFlags say which coordinator a command works with.
type fleetFlags struct {
	server, token, tokenFile, ca string
	fleetDir                     string
	json                         bool
}

const defaultServer = "http://127.0.0.1:8480"

// tokens adds the flags by which a coordinator knows who asks, and who asks knows it.
func (f *fleetFlags) tokens(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.tokenFile, "token-file", "", "file with a token of the coordinator's, - for standard input (default: ARGOSY_TOKEN; without one, the socket of a coordinator of the same user on this machine)")
	fl.StringVar(&f.token, "token", "", "")
	_ = fl.MarkHidden("token") // it is there: who gives it is told why not
	fl.StringVar(&f.ca, "ca", "", "certificates (PEM) that the coordinator is known by (default: the system's)")
}

func (f *fleetFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.server, "server", "", "URL of the coordinator, or unix:SOCKET, several with commas (default: ARGOSY_SERVER, or "+defaultServer+")")
	f.tokens(c)
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
}

// showToken returns what to show as a token: what is in a file, or in the environment.
func (f *fleetFlags) showToken() (string, error) {
	token := os.Getenv("ARGOSY_TOKEN")
	if f.tokenFile != "" {
		b, err := readAtMost(f.tokenFile, maxSmall)
		if err != nil {
			return "", usage("--token-file: %w", err)
		}
		token = string(b)
	}
	token = strings.TrimSpace(token)
	if token == "" && f.tokenFile != "" {
		return "", usage("--token-file %s: it is empty", f.tokenFile)
	}
	if len(token) > maxToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", usage("the token: allowed are at most %d letters, digits and signs of ASCII, without white space", maxToken)
	}
	return token, nil
}

// maxToken bounds a token, in bytes: it travels in a field of a request, of which servers take some kilobytes.
const maxToken = 4096

func (f *fleetFlags) client() (*web.Client, error) { return f.clientOf("--server") }

// clientOf is client where the coordinator is named by another flag.
func (f *fleetFlags) clientOf(flag string) (*web.Client, error) {
	server := f.server
	if server == "" {
		server = os.Getenv("ARGOSY_SERVER")
	}
	if server == "" {
		server = defaultServer
	}
	if f.token != "" {
		return nil, usage("--token: whoever lists the processes of this machine would read it: use --token-file FILE (- for standard input), or ARGOSY_TOKEN in the environment")
	}
	token, err := f.showToken()
	if err != nil {
		return nil, err
	}
	tls, err := clientTLS("--ca", f.ca)
	if err != nil {
		return nil, err
	}
	cl, err := web.NewClient(server, token, tls)
	if err != nil {
		return nil, usage("%s: %w", flag, err)
	}
	if f.tokenFile != "" && f.tokenFile != "-" { // it may be another one later, and a process runs long
		cl.TokenFrom(func() string {
			if now, err := f.showToken(); err == nil {
				token = now
			}
			return token
		})
	}
	return cl, nil
}

// fleet runs fn with a client; what a coordinator refuses is the user's mistake.
func (f *fleetFlags) fleet(c *cobra.Command, fn func(ctx context.Context, cl *web.Client, w io.Writer) error) error {
	cl, err := f.client()
	if err != nil {
		return err
	}
	cl.Slow = func(url string) { sayOnError(url + " does not answer yet; it is waited for") }
	err = fn(c.Context(), cl, c.OutOrStdout())
	var refused *web.Error
	if errors.As(err, &refused) && refused.Usage() {
		return usage("%w", err)
	}
	if errors.Is(err, web.ErrAway) && f.server == "" && os.Getenv("ARGOSY_SERVER") == "" {
		return fmt.Errorf("%w; argosy serve starts one, crawl --listen lets a crawl be asked, and --server names one elsewhere", err)
	}
	return err
}

func parseJob(s string) (uint32, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == 0 {
		return 0, usage("job %q: want its number, as argosy jobs prints it", s)
	}
	return uint32(n), nil
}

// jobNamed reads the number of a job, the first argument of a command that takes a crawl's directory as well and was given none.
func jobNamed(args []string) (uint32, error) {
	if len(args) == 0 {
		return 0, usage("name a crawl's directory (also with -o), or the number of a coordinator's job")
	}
	return parseJob(args[0])
}

// newList makes a command that lists what a coordinator has of a kind.
func newList[T any](use, short, example string, ask func(*web.Client, context.Context) ([]T, error), table func(io.Writer, []T) error) *cobra.Command {
	f := &fleetFlags{}
	c := &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs, Example: example,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error {
				all, err := ask(cl, ctx)
				if err != nil {
					return err
				}
				if err := printList(w, f.json, all, table); err != nil || f.json {
					return err
				}
				if st, err := cl.Status(ctx); err == nil && strings.HasPrefix(st.State, "waiting") {
					fmt.Fprintf(w, "the coordinator is %s\n", st.State)
				}
				return nil
			})
		},
	}
	f.register(c)
	return c
}

// printList prints a list as JSON, a line each, or as a table.
func printList[T any](w io.Writer, lines bool, all []T, table func(io.Writer, []T) error) error {
	if !lines {
		return table(w, all)
	}
	for i := range all {
		if err := printJSON(w, &all[i]); err != nil {
			return err
		}
	}
	return nil
}

func newJobs() *cobra.Command {
	return newList("jobs", "List the jobs of a coordinator", "  argosy jobs\n  argosy jobs --json", (*web.Client).Jobs, printJobs)
}

// lacks says that there is no node of a type, and what helps.
func lacks(kind string) string {
	return fmt.Sprintf("no node is of type %s, for which it has work: argosy agent … --label type=%[1]s starts one", kind)
}

func printJobs(w io.Writer, js []web.Job) error {
	t := newColumns(w)
	fmt.Fprintln(t, "JOB\tNAME\tSTATE\tSITES\tTASKS\tFETCHED\tPAGES\tFAILED\tEXCLUDED\tPENDING\tMANUAL\tBYTES\tRAN\tSTRATEGY")
	for i := range js {
		j := &js[i]
		n, state := &j.Counts, j.State
		switch {
		case j.Limited != "" && state == crawl.JobRunning:
			state = "ending"
		case j.Limited != "" && state == crawl.JobLimited:
			state += " by " + j.Limited
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", j.ID, orDash(j.Name), state, count(n.Sites), count(n.Tasks), count(n.Fetched), count(n.Pages),
			count(n.Failed), count(n.Excluded), count(n.Pending), count(n.Manual), size(n.Bytes),
			(time.Duration(j.RanMS) * time.Millisecond).Round(time.Second), j.Strategy)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i := range js {
		for _, kind := range js[i].Lacks {
			fmt.Fprintf(w, "job %d: %s\n", js[i].ID, lacks(kind))
		}
		if js[i].Unmet != "" {
			fmt.Fprintf(w, "job %d: %s (argosy nodes)\n", js[i].ID, js[i].Unmet)
		}
		if l := js[i].Identity.List; l != nil && js[i].Sown < l.Count && js[i].State == crawl.JobRunning {
			fmt.Fprintf(w, "job %d waits for its seeds: %s of %s are in (argosy submit --to %d goes on)\n", js[i].ID, count(js[i].Sown), count(l.Count), js[i].ID)
		}
		if p := js[i].Retry; p != nil {
			fmt.Fprintf(w, "job %d is looked through for what has failed: %s of about %s URLs\n", js[i].ID, count(p.Done), count(p.Of))
		}
		if js[i].Aside > 0 {
			fmt.Fprintf(w, "job %d: %s URLs were set aside with their entries and tried again (see argosy nodes)\n", js[i].ID, count(js[i].Aside))
		}
		if d := js[i].Shadow; d != nil {
			printShadow(w, js[i].ID, d)
		}
	}
	return nil
}

// printShadow says what a strategy that plans beside a job's would have done otherwise.
func printShadow(w io.Writer, job uint32, d *schedule.Difference) {
	fmt.Fprintf(w, "job %d beside %s: of %d decisions in %d cycles %d are the same, %d on another node", job, d.Strategy, d.Same+d.Other+d.Waits+d.Gives, d.Cycles,
		d.Same, d.Other)
	if d.Real > 0 {
		fmt.Fprintf(w, " (expected to be %.2f times as fast)", d.Shadow/d.Real)
	}
	fmt.Fprintf(w, ", %d would wait, %d would not; %d cycles left out\n", d.Waits, d.Gives, d.Skipped)
	if d.Failed != "" {
		fmt.Fprintf(w, "  it has failed: %s\n", d.Failed)
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// newOrder makes a command that changes a job's state.
func newOrder(order, short, long, example string) *cobra.Command {
	f := &fleetFlags{}
	c := &cobra.Command{
		Use: order + " JOB", Short: short, Long: long, Args: cobra.ExactArgs(1), Example: example,
		RunE: func(c *cobra.Command, args []string) error {
			id, err := parseJob(args[0])
			if err != nil {
				return err
			}
			return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error {
				j, err := cl.Order(ctx, id, order)
				if err != nil {
					return err
				}
				if f.json {
					return printJSON(w, j)
				}
				_, err = fmt.Fprintf(w, "job %d is %s\n", id, j.State)
				return err
			})
		},
	}
	f.register(c)
	return c
}

func newOrders() []*cobra.Command {
	return []*cobra.Command{
		newOrder("pause", "Pause a job: its leases end, nothing is lost", "", "  argosy pause 1"),
		newOrder("resume", "Go on with a job that is paused, or has reached a limit that was raised", "", "  argosy resume 1"),
		newOrder("cancel", "End a job for good: what is pending is excluded, the reason is \"dropped\"", "", "  argosy cancel 1"),
	}
}

func newNodes() *cobra.Command {
	f := &fleetFlags{}
	var reservation bool
	c := &cobra.Command{
		Use: "nodes", Short: "List the nodes of a fleet: what they are, cost and have earned", Args: cobra.NoArgs,
		Long: `Nodes lists the nodes. A node is working, reserved (paid for, and idle), taken-on (not reserved, working at its
surcharge), on-demand (not reserved, idle), draining, gone, barren (its last leases have brought nothing: it gets one
now and then until one does), or refused (what it says of itself is impossible). A landmark can be measured by other
nodes. Cost is what the node's prices come to; pages and bytes are what it has earned for that. Probes are those of
sites' bandwidth and of delays to sites that it has made since the coordinator began to lead. What a node said
that was refused (figures, lengths, names that are not possible) is counted below the table; "?" is nobody: not signed.

With --reservation it says how many nodes to reserve instead: what the present reservation costs an hour, and what the
cheapest one would, by the mean of the nodes' prices and by how many were at work at once, for how long, so far. With a
strategy that uses few nodes (packing) that is what the work needed.`,
		Example: "  argosy nodes\n  argosy nodes --json\n  argosy nodes --reservation",
		RunE: func(c *cobra.Command, _ []string) error {
			return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error {
				if reservation {
					r, err := cl.Reservation(ctx)
					if err != nil {
						return err
					}
					if f.json {
						return printJSON(w, r)
					}
					return printReservation(w, r)
				}
				ns, err := cl.Nodes(ctx)
				if err != nil {
					return err
				}
				return printList(w, f.json, ns, printNodes)
			})
		},
	}
	f.register(c)
	c.Flags().BoolVar(&reservation, "reservation", false, "how many nodes to reserve, and what that costs")
	c.AddCommand(newNames(), newNodeOrder("revoke", "Shut a node out for good",
		`Revoke ends the credentials of a node: its connections end, its leases go to other nodes, and its key is not let in again. Its name
stays bound to that key until argosy nodes release.`, "is revoked"), newNodeOrder("release", "Make the name of a node free for another key",
		`Release is for a node that has lost its disk, and with it its key: the next agent that joins with this name, and with a token, has the name
from then on. Credentials of the key before end.`, "is free"))
	return c
}

func printReservation(w io.Writer, r coordinator.Reservation) error {
	if !r.Known {
		_, err := fmt.Fprintln(w, "nothing to compare yet: no node has prices (agent --prices), or none has been at work")
		return err
	}
	fmt.Fprintf(w, "at work at once: %.1f nodes on average, %d at most, in %v\n", r.Needed, r.Most,
		time.Duration(r.Hours*float64(time.Hour)).Round(time.Second))
	t := newColumns(w)
	fmt.Fprintln(t, "\tRESERVED\tAN HOUR\tRESERVE\tUSE\tSURCHARGE")
	for _, p := range []struct {
		name string
		price.Point
	}{{"now", r.Reserved}, {"best", r.Best}} {
		fmt.Fprintf(t, "%s\t%d\t%.4g\t%.4g\t%.4g\t%.4g\n", p.name, p.Reserved, p.Total, p.Reserve, p.Use, p.Surcharge)
	}
	return t.Flush()
}

func printNodes(w io.Writer, ns []coordinator.NodeView) error {
	t := newColumns(w)
	fmt.Fprintln(t, "NODE\tSTATE\tPLACE\tLEASES\tLANDMARK\tBS\tPROBES\tFETCHED\tBYTES\tREQUESTS\tGOOD\tCOST\tSTORE")
	for i := range ns {
		n := &ns[i]
		place := strings.Trim(n.Labels["city"]+"/"+n.Labels["provider"]+"/"+n.Labels["region"], "/")
		landmark, bs, good := "no", "-", "-"
		if n.Requests.All > 0 {
			good = fmt.Sprintf("%d%%", 100*n.Requests.Good/n.Requests.All)
		}
		if n.Landmark {
			landmark = "yes"
		}
		if n.StoreBits > 0 {
			bs = fmt.Sprintf("%.1f Mbit/s", n.StoreBits/1e6)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d of %d\t%s\t%s\t%d+%d\t%s\t%s\t%s\t%s\t%.4g\t%s\n", n.Node, n.State, orDash(place), n.Held, n.Leases, landmark, bs,
			n.Measured.Bandwidth, n.Measured.Delays,
			count(n.Fetched), size(n.Bytes), count(n.Requests.All), good, n.Cost, n.Store)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i := range ns {
		if r := &ns[i].Refused; r.Count > 0 {
			fmt.Fprintf(w, "%s: %s things that it said were refused, the last for %s\n", ns[i].Node, count(r.Count), r.Last)
		}
		if q := &ns[i].Quarantine; q.Entries > 0 {
			fmt.Fprintf(w, "%s: %s entries are in quarantine, %s pages were fetched again: %s\n", ns[i].Node, count(q.Entries), count(q.Pages), q.Last)
		}
	}
	return nil
}

func newDrain() *cobra.Command {
	f := &fleetFlags{}
	var undo bool
	c := &cobra.Command{
		Use: "drain NODE", Short: "Have a node end its leases and take no more", Args: cobra.ExactArgs(1),
		Example: "  argosy drain node-3\n  argosy drain node-3 --undo",
		RunE: func(c *cobra.Command, args []string) error {
			return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error {
				if err := cl.Drain(ctx, args[0], undo); err != nil {
					return err
				}
				what := "drains"
				if undo {
					what = "takes leases again"
				}
				if f.json {
					return printJSON(w, map[string]any{"node": args[0], "draining": !undo})
				}
				_, err := fmt.Fprintf(w, "%s %s\n", args[0], what)
				return err
			})
		},
	}
	f.register(c)
	c.Flags().BoolVar(&undo, "undo", false, "take leases again")
	return c
}

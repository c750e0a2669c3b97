package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/recorded"
	"argosy/internal/fleet/web"
	"argosy/internal/plan/lab"
	"argosy/internal/plan/schedule"
	"argosy/internal/plan/sim"
	"argosy/internal/plan/strategy"
)

// recordingFlags say which recording is looked at, and how often what it does not tell is drawn.
type recordingFlags struct {
	fleetFlags
	job   uint32
	draws int
}

func (f *recordingFlags) register(c *cobra.Command) {
	c.Flags().Uint32Var(&f.job, "job", 0, "job of a fleet (default: the only one)")
	c.Flags().IntVar(&f.draws, "draws", 5, "times that what was not recorded is drawn")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	f.tokens(c)
}

// isCoordinator reports whether a place is the address of a coordinator.
func isCoordinator(place string) bool {
	for _, scheme := range []string{"http://", "https://", "unix:"} {
		if strings.HasPrefix(place, scheme) {
			return true
		}
	}
	return false
}

// ask has a coordinator that runs tell a recording.
func (f *recordingFlags) ask(c *cobra.Command, place string) (r sim.Recording, err error) {
	f.server = place
	err = f.fleet(c, func(ctx context.Context, cl *web.Client, _ io.Writer) error {
		jobs, err := cl.Jobs(ctx)
		if err != nil {
			return err
		}
		ids := make([]uint32, len(jobs))
		for i := range jobs {
			ids[i] = jobs[i].ID
		}
		id, err := recordedJob(ids, f.job, place)
		if err != nil {
			return err
		}
		if r, err = cl.Recording(ctx, id); err != nil {
			return err
		}
		if err := r.Sound(); err != nil {
			return usage("%s, job %d: %w", place, id, err)
		}
		return nil
	})
	return r, err
}

// recordedJob is the one of some jobs that is asked for, or (0) the only one.
func recordedJob(jobs []uint32, asked uint32, place string) (uint32, error) {
	switch {
	case len(jobs) == 0:
		return 0, usage("%s holds no job", place)
	case asked > 0 && !slices.Contains(jobs, asked):
		return 0, usage("--job %d: %s has %s", asked, place, numbered(jobs))
	case asked > 0:
		return asked, nil
	case len(jobs) > 1:
		return 0, usage("--job: %s has %s: name one", place, numbered(jobs))
	}
	return jobs[0], nil
}

// numbered names jobs, of many the first.
func numbered(jobs []uint32) string {
	const most = 10
	out := "job"
	if len(jobs) > 1 {
		out += "s"
	}
	for i, id := range jobs[:min(len(jobs), most)] {
		if i > 0 {
			out += ","
		}
		out += fmt.Sprintf(" %d", id)
	}
	if len(jobs) > most {
		out += fmt.Sprintf(" and %d more", len(jobs)-most)
	}
	return out
}

// open reads a recording from a directory, a ledger's URL, or a coordinator.
func (f *recordingFlags) open(c *cobra.Command, place string) (r sim.Recording, err error) {
	ctx := c.Context()
	if f.draws < 1 || f.draws > 1000 {
		return r, usage("--draws %d: want 1 to 1000", f.draws)
	}
	if isCoordinator(place) {
		return f.ask(c, place)
	}
	name := place
	if at := elsewhere(place, ""); at != "" {
		if !ledger.IsPostgres(at) {
			return r, usage("%s: want postgres://…", ledgerVariable)
		}
		place = at
	}
	if ledger.IsPostgres(place) {
		name = "the ledger"
	} else {
		st, err := os.Stat(filepath.Join(place, outdir.LedgerFile))
		if err != nil {
			if at := outdir.LedgerElsewhere(place); at != "" {
				return r, usage("%s: its ledger is not here but %s: %s postgres://… reads it there: give the URL, with its password, in place of the directory, or "+ledgerVariable+" in the environment", place, at, c.CommandPath())
			}
			return r, usage("%s: not the directory of a crawl or a coordinator (no %s in it), nor postgres://… or the http://… of a coordinator", place, outdir.LedgerFile)
		}
		if err := outdir.CheckFormat(place); err != nil {
			return r, err
		}
		if st.Size() == 0 {
			return r, usage("%s: its %s is empty: nothing was recorded, or what was is lost", place, outdir.LedgerFile)
		}
		place = filepath.Join(place, outdir.LedgerFile)
	}
	l, err := ledger.Open(ctx, place)
	if err != nil {
		return r, err
	}
	defer l.Close()
	jobs, err := l.Jobs(ctx)
	if err != nil {
		return r, err
	}
	id, err := recordedJob(jobs, f.job, name)
	if err != nil {
		return r, err
	}
	r, err = recorded.Read(ctx, l, id, recorded.MaxFacts)
	if errors.Is(err, recorded.ErrOlder) || errors.Is(err, recorded.ErrTooLong) || errors.Is(err, sim.ErrNothingRecorded) || errors.Is(err, sim.ErrUnsound) {
		return r, usage("%s, job %d: %w", name, id, err)
	}
	return r, err
}

func newLabReplay() *cobra.Command {
	var f recordingFlags
	var strategies string
	c := &cobra.Command{
		Use: "replay DIR|URL --strategy A,B", Short: "Run a recorded crawl or fleet under other strategies in the simulator", Args: cobra.ExactArgs(1),
		Long: `Replay makes a simulated world of a crawl or a fleet that its ledger has recorded (the directory of a crawl or of a
coordinator, postgres://…, or http://HOST:PORT of a coordinator that runs): its nodes, its sites with their sizes and pauses, the
speed of each pair of them as it was while it was tried, and how it changed. It runs strategies in it and prints how fast they had
nine tenths of what was recorded, beside the recording itself.

"As recorded" gives each site to the nodes that had it. What that is off the recording is what the simulated world leaves out; what the
same strategy is off that is chance, and what it decides otherwise. Speeds of pairs that were never tried, or not at that time, are
drawn from the predictor's uncertainty, as often as --draws says, and the spread of the draws is printed. One crawl draws otherwise than
the next: a line says how far four of five crawls are off their replay, which is the further the fewer leases carried the recording.`,
		Example: "  argosy lab replay example\n  argosy lab replay fleet --strategy roundrobin,nearest+top=auto --draws 10\n  argosy lab replay http://127.0.0.1:8480 --job 1 --strategy flow",
		RunE: func(c *cobra.Command, args []string) error {
			specs, err := listed("--strategy", strategies, func(s string) error {
				_, err := strategy.New(s)
				return err
			})
			if err != nil {
				return err
			}
			r, err := f.open(c, args[0])
			if err != nil {
				return err
			}
			if specs, err = replayable(&r, specs); err != nil {
				return err
			}
			rows, guess, err := lab.Replay(c.Context(), &r, specs, f.draws)
			if errors.Is(err, sim.ErrNothingRecorded) {
				return usage("%s: %w", args[0], err)
			} else if err != nil {
				return err
			}
			if f.json {
				return printReplaysJSON(c.OutOrStdout(), &r, rows, guess)
			}
			return printReplays(c.OutOrStdout(), &r, rows, guess)
		},
	}
	f.register(c)
	c.Flags().StringVar(&strategies, "strategy", "", "strategies to try beside the recording's own, separated by commas, options after a plus sign")
	return c
}

// replayable are the strategies that a recording is replayed under, its own first, and refuses those that go by what it does not tell.
func replayable(r *sim.Recording, asked []string) ([]string, error) {
	may := func(spec string, all bool) error {
		st, err := strategy.Recorded(spec)
		if err != nil {
			return err
		}
		if err := schedule.CheckNames(st, nil, r.Fleet(), all); err != nil {
			return err
		}
		if schedule.CheckPlaces(st, r.Placed()) != nil {
			return fmt.Errorf("strategy %s decides by where sites are, which the recording does not tell: its job names no places", st.Name())
		}
		return nil
	}
	for _, spec := range asked {
		if err := may(spec, true); err != nil {
			return nil, usage("--strategy: %w", err)
		}
	}
	if err := may(r.Strategy, false); err == nil {
		asked = append([]string{sim.AsRecorded, r.Strategy}, asked...)
	} else if len(asked) == 0 {
		return nil, usage("--strategy: name some: the recording's own cannot be replayed: %w", err)
	}
	return distinct(asked), nil
}

// listed are the strategies of a flag's list, separated by commas, options after a plus sign; check refuses one. An empty list names none.
func listed(flag, list string, check func(spec string) error) (specs []string, err error) {
	if list == "" {
		return nil, nil
	}
	for _, s := range strings.Split(list, ",") {
		if s == "" {
			return nil, usage("%s %q: a name is empty: want strategies, separated by single commas", flag, list)
		}
		if name, _, _ := strings.Cut(s, "+"); strings.Contains(name, "=") {
			return nil, usage("%s: %q is an option, not a strategy: in a list options come after a plus sign, as in flow+probes=2", flag, name)
		}
		s = optioned(s)
		if err := check(s); err != nil {
			return nil, usage("%s: %w", flag, err)
		}
		specs = append(specs, s)
	}
	return specs, nil
}

// optioned is a strategy of a list as it is written alone: commas for the plus signs before options. Those within an option's value, as in
// landmarks=n1+n2, stay.
func optioned(s string) string {
	parts := strings.Split(s, "+")
	out, inValue := parts[0], false
	for _, p := range parts[1:] {
		if inValue && p != "" && !strings.Contains(p, "=") {
			out += "+" + p
			continue
		}
		out, inValue = out+","+p, strings.Contains(p, "=")
	}
	return out
}

// distinct leaves out what is named again.
func distinct(names []string) (out []string) {
	for _, name := range names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func printReplaysJSON(w io.Writer, r *sim.Recording, rows []lab.Replays, guess sim.Guess) error {
	bits, seconds := r.Reached()
	type row struct {
		Strategy string  `json:"strategy"`
		Bits     float64 `json:"bits_per_s"`
		Spread   float64 `json:"spread"` // of the draws
		Off      float64 `json:"off"`    // factor by which a crawl is faster or slower, in four of five cases
	}
	out := struct {
		Strategy string  `json:"strategy"`
		Bits     float64 `json:"bits_per_s"`
		Seconds  float64 `json:"seconds"`
		Pairs    int     `json:"pairs"`
		Tried    int     `json:"tried"`
		Replays  []row   `json:"replays"`
	}{r.Strategy, bits / seconds, seconds, guess.Pairs, guess.Tried, nil}
	for i := range rows {
		mean, spread := rows[i].Rate()
		out.Replays = append(out.Replays, row{rows[i].Strategy, mean, spread, rows[i].Off(r)})
	}
	return printJSON(w, out)
}

func printReplays(w io.Writer, r *sim.Recording, rows []lab.Replays, guess sim.Guess) error {
	bits, seconds := r.Reached()
	was := bits / seconds
	own := r.Strategy
	if own == "" {
		own = "not said"
	}
	t := newColumns(w)
	fmt.Fprintf(t, "STRATEGY\tMBIT/S\tOF THE RECORDING\tSECONDS TO %.0f %%\n", 100*0.9)
	fmt.Fprintf(t, "recorded (%s)\t%.3f\t1\t%.0f\n", own, was/1e6, seconds)
	for i := range rows {
		mean, spread := rows[i].Rate()
		took := "not had"
		if s := rows[i].Seconds; len(s) > 0 {
			sum := 0.0
			for _, x := range s {
				sum += x / float64(len(s))
			}
			if !math.IsInf(sum, 1) {
				took = fmt.Sprintf("%.0f", sum)
			}
		}
		fmt.Fprintf(t, "%s\t%.3f ± %.3f\t%.2f\t%s\n", rows[i].Strategy, mean/1e6, spread/1e6, mean/was, took)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if text := sayOff(r, rows); text != "" {
		fmt.Fprintln(w, text)
	}
	return printGuess(w, guess)
}

// sayOff says how far crawls are off their replays.
func sayOff(r *sim.Recording, rows []lab.Replays) string {
	var each []string
	for i := range rows {
		if off := rows[i].Off(r); off > 1 {
			each = append(each, fmt.Sprintf("%s at %.2f to %.2f", rows[i].Strategy, 1/off, off))
		}
	}
	if len(each) == 0 {
		return ""
	}
	return fmt.Sprintf("crawls differ by chance; four of five lie, as parts of their replay: %s (this one hangs on as few leases as %.0f of one size)", strings.Join(each, ", "), r.Alike())
}

func printGuess(w io.Writer, guess sim.Guess) error {
	t := newColumns(w)
	fmt.Fprintf(t, "%d of %d pairs of a node and a site were tried; what others are worth is drawn from the predictor's uncertainty (± is the spread of the draws)\n",
		guess.Tried, guess.Pairs)
	if guess.Node > 0 {
		fmt.Fprintf(t, "%d nodes do not say what their bandwidth is: it is what they took in when they were the limit\n", guess.Node)
	}
	return t.Flush()
}

func newLabAdvise() *cobra.Command {
	var f recordingFlags
	c := &cobra.Command{
		Use: "advise DIR|URL", Short: "Say which strategy, how many nodes and which node less a recorded crawl or fleet would want", Args: cobra.ExactArgs(1),
		Long: `Advise replays a recorded crawl or fleet (see argosy lab replay) under several strategies, then, under the fastest, without
each of its nodes and with fewer and fewer of them. It says which strategy to take, how many nodes to reserve (as many
as reach 95 % of the rate of all) and which node is missed least, each with the spread over the draws of what the
recording does not tell. Where sites have pages left strategies go on with them, until twice as much is had as was recorded at most:
who takes the fast ones first is ahead for a while only.`,
		Example: "  argosy lab advise fleet --draws 10",
		RunE: func(c *cobra.Command, args []string) error {
			r, err := f.open(c, args[0])
			if err != nil {
				return err
			}
			a, err := lab.Advise(c.Context(), &r, f.draws, func(what string) { fmt.Fprintln(c.ErrOrStderr(), what) })
			if errors.Is(err, sim.ErrNothingRecorded) {
				return usage("%s: %w", args[0], err)
			} else if err != nil {
				return err
			}
			if f.json {
				return printJSON(c.OutOrStdout(), &a)
			}
			return printAdvice(c.OutOrStdout(), &r, &a, f.draws)
		},
	}
	f.register(c)
	return c
}

func printAdvice(w io.Writer, r *sim.Recording, a *lab.Advice, draws int) error {
	if err := printReplays(w, r, a.Strategies, a.Guess); err != nil {
		return err
	}
	t := newColumns(w)
	if r.Uncounted {
		fmt.Fprintln(t, "what sites have left is not known, for the run did not end by itself: ask its coordinator (http://HOST:PORT), or have it go on and end")
	}
	if a.Ahead > 1 {
		fmt.Fprintf(t, "sites have pages left: strategies, not the recording, go on to %.0f %% of %.2f times what it has had\n", 100*0.9, a.Ahead)
	}
	fmt.Fprintf(t, "\nstrategy\t%s, the fastest in %d of %d draws\n", a.Strategies[0].Strategy, a.Best, draws)
	if alike := a.Alike(); len(alike) > 0 {
		fmt.Fprintf(t, "as fast\t%s (within twice the error of its mean)\n", strings.Join(alike, "; "))
	}
	if len(a.Drops) == 0 {
		fmt.Fprintln(t, "nodes\tthere is one")
		return t.Flush()
	}
	fmt.Fprintf(t, "reserve\t%d of %d nodes\n", a.Reserved(), len(a.Drops))
	d := a.Drops[0]
	fmt.Fprintf(t, "drop first\t%s (costs %.1f ± %.1f %% of the rate)\n\n", d.Node, 100*d.Loss, 100*d.Spread)
	fmt.Fprintln(t, "WITHOUT\tLOSS\t \tNODES\tOF THE RATE")
	for i, d := range a.Drops {
		fewer := "\t"
		if i < len(a.Reserve) {
			x := a.Reserve[i]
			fewer = fmt.Sprintf("%d\t%.1f ± %.1f %%", x.Nodes, 100*x.Share, 100*x.Spread)
		}
		fmt.Fprintf(t, "%s\t%.1f ± %.1f %%\t \t%s\n", d.Node, 100*d.Loss, 100*d.Spread, fewer)
	}
	if best := a.Strategies[0].Strategy; best != r.Strategy {
		fmt.Fprintf(t, "losses are under %s, of which a recording under %s tells little: one under %s tells more\n", best, r.Strategy, best)
	}
	return t.Flush()
}

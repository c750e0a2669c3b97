package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/verify"
	"argosy/internal/fleet/web"
	"argosy/internal/page/archive"
)

// dirFlag adds -o, the directory of a crawl that a command works on.
func dirFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVarP(dir, "out", "o", "", "directory of the crawl, if it is not an argument")
}

// dirArgs takes the directory of a crawl from the only argument, or from -o.
func dirArgs(args []string, dir *string) error {
	if len(args) == 0 {
		return nil
	}
	if *dir != "" && filepath.Clean(*dir) != filepath.Clean(args[0]) {
		return usage("name one directory: %s, or %s with -o", args[0], *dir)
	}
	*dir = args[0]
	return nil
}

// looksLikeCrawl reports whether an argument names a directory, and not the number of a job.
func looksLikeCrawl(arg string) bool {
	if _, err := os.Stat(filepath.Join(arg, outdir.LedgerFile)); err == nil {
		return true
	}
	_, err := strconv.ParseUint(arg, 10, 32)
	return err != nil
}

// noteRunning says that what a command prints of a directory is of a crawl that runs, or of a coordinator's jobs.
func noteRunning(dir string) { fmt.Fprintln(os.Stderr, "argosy: "+runningNote(dir)) }

func runningNote(dir string) string {
	if outdir.Fleet(dir) {
		return fmt.Sprintf("a coordinator runs in %s: this is of all its jobs, as of now; give the number of a job instead, which asks the coordinator (--server; argosy jobs lists them)", dir)
	}
	return fmt.Sprintf("a crawl runs in %s: this is as of now", dir)
}

// jobNote says that what a command prints is of a crawl that runs, or of one job of a coordinator that does.
func jobNote(dir string, job uint32) string {
	if outdir.Fleet(dir) {
		return fmt.Sprintf("a coordinator runs in %s: this is of its job %d, as of now (--job; argosy jobs lists them)", dir, job)
	}
	return runningNote(dir)
}

// isCrawl refuses directories that no crawl has left.
func isCrawl(dir string) error {
	if dir == "" {
		return usage("name the directory of a crawl, as an argument or with -o")
	}
	if _, err := os.Stat(filepath.Join(dir, outdir.LedgerFile)); err != nil {
		if place := outdir.LedgerElsewhere(dir); place != "" {
			return usage("%s: its ledger is not here but %s: argosy verify, report, export, view, stats, explain and topic show take it from --ledger, or "+ledgerVariable+" in the environment, with its password; otherwise give a job's number instead of the directory, which asks the coordinator (--server)", dir, place)
		}
		if _, err := os.Stat(outdir.Frontier(dir)); err == nil {
			return fmt.Errorf("%s: the ledger is missing: argosy rebuild ledger %s makes it anew", dir, crawl.Arg(dir))
		}
		return usage("%s: not the directory of a crawl (no %s in it)", dir, outdir.LedgerFile)
	}
	return outdir.CheckFormat(dir)
}

// ledgerVariable is where the place of a ledger elsewhere, with its password, is taken from: no list of processes shows it.
const ledgerVariable = "ARGOSY_LEDGER"

// ledgerFlag adds --ledger, of a directory whose ledger is elsewhere.
func ledgerFlag(c *cobra.Command, place *string) {
	c.Flags().StringVar(place, "ledger", "", "postgres://… of a fleet (default: the directory's; where that is elsewhere, "+ledgerVariable+")")
}

// elsewhere returns where the ledger of a directory is that is not in it: as given, or, where one is elsewhere, as the environment says.
func elsewhere(dir, given string) string {
	if given == "" && dir != "" && outdir.LedgerElsewhere(dir) != "" {
		return os.Getenv(ledgerVariable)
	}
	return given
}

// ledgerOf returns where the ledger of a crawl's directory is, or of a coordinator's; empty: in the directory. given is --ledger.
func ledgerOf(dir, given string) (string, error) {
	switch given = elsewhere(dir, given); {
	case given == "":
		return "", isCrawl(dir)
	case dir == "" || !ledger.IsPostgres(given):
		return "", usage("--ledger: want postgres://…, and the coordinator's directory with -o")
	}
	return given, outdir.CheckFormat(dir)
}

// holdsTasks refuses directories in which no crawl or coordinator has left its tasks and URLs. Unlike isCrawl it takes those whose ledger is
// elsewhere.
func holdsTasks(dir string) error {
	if _, err := os.Stat(outdir.Frontier(dir)); err == nil && outdir.LedgerElsewhere(dir) != "" {
		return outdir.CheckFormat(dir)
	}
	return isCrawl(dir)
}

// ownCrawl refuses directories that take no orders: those that no crawl has left, and coordinators', who take orders for their jobs.
func ownCrawl(dir string) error {
	if outdir.Fleet(dir) {
		return usage("%s: a coordinator's directory, not a crawl's: give the number of a job instead, which asks the coordinator (--server; argosy jobs lists them)", dir)
	}
	return isCrawl(dir)
}

// placeFlags say where a crawl, or a fleet, has left what it has done.
type placeFlags struct {
	dir, ledger string
	stores      []string
}

func (f *placeFlags) register(c *cobra.Command) {
	dirFlag(c, &f.dir)
	ledgerFlag(c, &f.ledger)
}

func (f *placeFlags) archives(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.stores, "store", nil, "where archives lie: a directory or s3://… (default: the directory's, else those that the ledger names; may be repeated)")
}

func (f *placeFlags) place() (verify.Place, error) {
	var err error
	if f.ledger, err = ledgerOf(f.dir, f.ledger); err != nil {
		return verify.Place{}, err
	}
	for _, s := range f.stores {
		if err := holdsArchives(s); err != nil {
			return verify.Place{}, err
		}
	}
	return verify.Place{Dir: f.dir, Ledger: f.ledger, Stores: f.stores, Running: outdir.Running(f.dir)}, nil
}

// holdsArchives refuses a store in which no archives can be: all of them would be taken for lost.
func holdsArchives(where string) error {
	store, err := archive.OpenStore(where)
	if err != nil {
		return usage("--store: %w", err)
	}
	if dir, ok := store.(archive.Dir); ok {
		if st, err := os.Stat(string(dir)); err != nil || !st.IsDir() {
			return usage("--store %s: there is no such directory", where)
		}
	}
	return nil
}

func (f *placeFlags) open(ctx context.Context) (*ledger.Ledger, error) {
	if f.ledger != "" {
		return ledger.Open(ctx, f.ledger)
	}
	l, err := ledger.Open(ctx, filepath.Join(f.dir, outdir.LedgerFile))
	return l, outdir.Mend(f.dir, err)
}

func printJSON(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, string(b))
	return err
}

func newVerify() *cobra.Command {
	var f placeFlags
	var asJSON bool
	c := &cobra.Command{
		Use: "verify DIR", Short: "Check frontier, ledger, index and archives against each other", Args: cobra.MaximumNArgs(1),
		Long: `Verify reads every record of a crawl, or of all jobs of a fleet, and compares frontier, ledger, index and archives. Orphans are
records that a crash has left: whole, but not the ones that count. A damaged record costs no other: pages whose record is gone or
damaged are counted and named, up to a hundred, and argosy retry --lost fetches all of them again. Damage that costs nothing, or nothing any more, is told as well: it stays in its file.
The exit code is 0 if nothing is wrong but that, 1 otherwise. Beside a crawl that runs it judges what is final: records that
no report names yet, the frontier while more comes, and the indexes of jobs that have not ended are left out; so are the indexes of
jobs whose process has died.`,
		Example: "  argosy verify example\n  argosy verify fleet --store /mnt/node1 --store s3://bucket/warc",
		RunE: func(c *cobra.Command, args []string) error {
			if err := dirArgs(args, &f.dir); err != nil {
				return err
			}
			p, err := f.place()
			if err != nil {
				return err
			}
			if p.Running {
				noteRunning(f.dir)
			}
			r, err := verify.Check(c.Context(), p)
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			if asJSON {
				if err := printJSON(out, r); err != nil {
					return err
				}
			} else {
				printReport(out, r, retryLost(f.dir))
				printUnended(out, r, f.dir)
			}
			if !r.OK {
				return &exitError{exitFailed, fmt.Errorf("%s in %s", plural(int64(r.Problems), "problem"), f.dir)}
			}
			return nil
		},
	}
	f.register(c)
	f.archives(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// retryLost is the command that has again what is lost in a directory.
func retryLost(dir string) string {
	if outdir.Fleet(dir) {
		return "argosy retry JOB --lost --fleet-dir " + dir
	}
	return "argosy retry " + crawl.Arg(dir) + " --lost"
}

// printReport prints what verify has found, and with it the command that has again what is lost.
func printReport(w io.Writer, r *verify.Report, again string) {
	for _, d := range r.Details {
		fmt.Fprintln(w, "  "+d)
	}
	if all := r.Problems + r.Damaged; all > len(r.Details) {
		fmt.Fprintf(w, "  … and %s more\n", count(int64(all-len(r.Details))))
	}
	for _, f := range r.Hurt {
		places := ""
		if f.Damaged > 0 {
			places = plural(int64(f.Damaged), "damaged place") + "; "
		}
		fmt.Fprintf(w, "%s: %sof %s captures and texts %s are whole\n", f.Name, places, count(int64(f.Whole+f.Lost)), count(int64(f.Whole)))
	}
	if r.Lost > 0 {
		fmt.Fprintf(w, "lost, until %s has fetched them again:\n", again)
		for _, url := range r.LostPages {
			fmt.Fprintln(w, "  "+url)
		}
		if r.Lost > len(r.LostPages) {
			fmt.Fprintf(w, "  … and %s more\n", count(int64(r.Lost-len(r.LostPages))))
		}
	}
	verdict := "clean"
	if r.Running || r.Rebuilt || r.Leader != "" || len(r.Unended) > 0 {
		verdict = "clean so far"
	}
	if !r.OK {
		verdict = plural(int64(r.Problems), "problem")
	}
	if r.OK && r.Damaged > 0 {
		verdict = fmt.Sprintf("clean, but for %s in which nothing is lost", plural(int64(r.Damaged), "damaged place"))
	}
	if r.Leader != "" {
		fmt.Fprintf(w, "this directory's coordinator stands by, or did when it ended: %s leads, and has the indexes in its directory, which is where to verify (with the same --ledger)\n", r.Leader)
	}
	if r.Running && !r.Sinks {
		fmt.Fprintln(w, "frontier and ledger are not compared while more comes: verify again, or when nothing works there")
	}
	fmt.Fprintf(w, "%s: %s in %s, %s in the ledger, %s in the index, %s, %s lost\n", verdict, plural(int64(r.Records), "record"),
		plural(int64(r.Files), "file"), plural(r.Pages+r.Beside, "capture"), count(int64(r.Indexed)), plural(int64(r.Orphans), "orphan"), count(int64(r.Lost)))
}

// printUnended says which jobs a process has left when it died, or begin again, and the command that goes on with them.
func printUnended(w io.Writer, r *verify.Report, dir string) {
	step := "argosy crawl -o " + dir
	if outdir.Fleet(dir) {
		step = "argosy serve -o " + dir
	} else if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(givenFile))); err != nil { // as version 0.1.0 left it
		step = "argosy crawl SEEDS -o " + dir + ", with the seeds and flags it was begun with,"
	}
	if r.Rebuilt {
		fmt.Fprintf(w, "the frontier was rebuilt: it is made anew, and jobs begin again, with %s\n", step)
	}
	for _, job := range r.Unended {
		fmt.Fprintf(w, "job %d has not ended, and has no index of what came last: %s goes on, and writes it at the end\n", job, step)
	}
}

// withCrawl opens a crawl's directory, applies what its log still holds, and runs fn; no job runs meanwhile.
func withCrawl(ctx context.Context, dir string, fn func(ctx context.Context, co *coordinator.Coordinator) error) (err error) {
	if err := ownCrawl(dir); err != nil {
		return err
	}
	err = assemble.Do(ctx, atRest(dir), fn)
	if errors.Is(err, outdir.ErrInUse) && !errors.Is(err, outdir.ErrShown) {
		return fmt.Errorf("%w: argosy stop %s ends a crawl that runs there, or wait until it has ended; one with --listen takes orders on its page, and by its API", err, crawl.Arg(dir))
	}
	return err
}

func newTasks() *cobra.Command {
	f := &fleetFlags{}
	var dir, state string
	var manual bool
	c := &cobra.Command{
		Use: "tasks DIR | tasks JOB", Short: "List tasks: sites, their states and counts", Args: cobra.MaximumNArgs(1),
		Long: `Tasks lists the tasks of a crawl's directory, also beside a crawl that runs, or
of a job of a coordinator: one for each site, and where several crawlers share
what is found, one for each crawler (#1, #2 …) of a site.`,
		Example: "  argosy tasks example\n  argosy tasks example --state manual --json\n  argosy tasks 1",
		RunE: func(c *cobra.Command, args []string) error {
			switch state {
			case "", "waiting", "crawling", "sleeping", "failed", "done", "manual", "dropped":
			default:
				return usage("--state %q: allowed are waiting, crawling, done, manual, dropped, and of searches sleeping and failed", state)
			}
			if manual {
				state = crawl.TaskManual
			}
			if len(args) > 0 && (dir != "" || looksLikeCrawl(args[0])) {
				if err := dirArgs(args, &dir); err != nil {
					return err
				}
			}
			if dir == "" {
				id, err := jobNamed(args)
				if err != nil {
					return err
				}
				return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error {
					rows, err := cl.Tasks(ctx, id, state)
					if err != nil {
						return err
					}
					return f.printTasks(w, rows, state, retryCut(args[0]))
				})
			}
			all, err := tasksOf(c.Context(), dir)
			if err != nil {
				return err
			}
			var rows []ledger.Task
			for _, r := range all {
				if state == "" || r.State == state {
					rows = append(rows, r)
				}
			}
			return f.printTasks(c.OutOrStdout(), rows, state, retryCut(dir))
		},
	}
	c.Flags().StringVarP(&dir, "out", "o", "", "directory of a crawl")
	c.Flags().StringVar(&state, "state", "", "only tasks in this state: waiting, crawling, done, manual or dropped; of searches also sleeping or failed")
	c.Flags().BoolVar(&manual, "manual", false, "only tasks that wait for a person")
	c.AddCommand(newTaskShow(), newTaskEdit(), newTaskOrder("release", "Let tasks go on that wait for a person", crawl.EntryRetry, "retry"),
		newTaskOrder("drop", "Give tasks up, with what their searches have named", crawl.EntryDrop, "drop"))
	f.register(c)
	return c
}

// printTasks prints the tasks that are in a state (empty: all), and the traps among them, with the command that has what was left out.
func (f *fleetFlags) printTasks(w io.Writer, rows []ledger.Task, state, again string) error {
	if !f.json {
		if len(rows) == 0 {
			if state == "" {
				state = "there"
			}
			_, err := fmt.Fprintf(w, "no task is %s\n", state)
			return err
		}
		var traps []crawl.Trap
		for i := range rows {
			traps = append(traps, rows[i].Traps...)
		}
		if slices.ContainsFunc(rows, func(r ledger.Task) bool { return r.Search != nil }) {
			return printSearches(w, rows, time.Now())
		}
		err := printTasks(w, rows)
		printTraps(w, traps, again)
		return err
	}
	for i := range rows {
		if err := printJSON(w, &rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// tasksOf returns a crawl's tasks in the order in which they were found.
func tasksOf(ctx context.Context, dir string) (rows []ledger.Task, err error) {
	if err := holdsTasks(dir); err != nil {
		return nil, err
	}
	err = assemble.View(ctx, atRest(dir), func(f *frontier.Frontier, running bool) (err error) {
		if running {
			noteRunning(dir)
		}
		f.Tasks(func(t *frontier.Task) {
			row := coordinator.Row(f, t)
			var terr error
			row.Traps, terr = f.Traps(t.ID)
			rows, err = append(rows, row), errors.Join(err, terr)
		})
		return err
	})
	sort.Slice(rows, func(i, j int) bool { return rows[i].ID < rows[j].ID })
	return rows, err
}

// taskName is the site of a task, and which crawler's it is, where several have tasks of the site.
func taskName(r *ledger.Task) string { return siteOf(r.Site, r.Crawler) }

// siteOf is a site, or a crawler's share of it.
func siteOf(site string, crawler uint32) string {
	if crawler == 0 {
		return site
	}
	return fmt.Sprintf("%s #%d", site, crawler)
}

func printTasks(w io.Writer, rows []ledger.Task) error {
	tw := newColumns(w)
	fmt.Fprintln(tw, "TASK\tSITE\tSTATE\tFETCHED\tPAGES\tFAILED\tEXCLUDED\tPENDING\tBYTES\tWHY")
	for _, r := range rows {
		why := reasons(r.Reasons)
		if r.State == crawl.TaskManual && len(r.History) > 0 {
			why = r.History[len(r.History)-1]
		}
		if r.Lacks != "" {
			why = lacks(r.Lacks)
		}
		if until := time.UnixMilli(r.Until); time.Until(until) > 0 {
			why = strings.TrimPrefix(why+", asked again at "+until.Format(time.DateTime)+" (argosy retry: now)", ", ")
		}
		fmt.Fprintf(tw, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, taskName(&r), r.State, count(r.Fetched), count(r.Pages), count(r.Failed),
			count(r.Excluded), count(r.Pending), size(r.Bytes), why)
	}
	return tw.Flush()
}

// reasons prints counts by reason, largest first.
func reasons(m map[string]int64) string {
	names := make([]string, 0, len(m))
	for r := range m {
		names = append(names, r)
	}
	sort.Slice(names, func(i, j int) bool {
		if m[names[i]] != m[names[j]] {
			return m[names[i]] > m[names[j]]
		}
		return names[i] < names[j]
	})
	for i, r := range names {
		names[i] = r + " " + count(m[r])
	}
	return strings.Join(names, ", ")
}

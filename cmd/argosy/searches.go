package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/config"
	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/web"
	"argosy/internal/page/engine"
)

// oneTask are the flags of commands about tasks by their numbers: of a crawl's directory, or of a coordinator's job.
type oneTask struct {
	fleetFlags
	dir string
	job uint32
}

func (f *oneTask) register(c *cobra.Command) {
	c.Flags().StringVarP(&f.dir, "out", "o", "", "directory of a crawl")
	c.Flags().Uint32Var(&f.job, "job", 0, "number of a coordinator's job (default: the one that is named,\nor has the task)")
	f.fleetFlags.register(c)
}

// either calls one of two functions: here for a job of a directory, which is the first argument or given with -o, there for a job of a
// coordinator, whose number is the argument.
func (f *oneTask) either(c *cobra.Command, args []string, here func(job uint32) error, there func(context.Context, *web.Client, io.Writer, uint32) error) error {
	if len(args) > 0 && f.dir == "" && looksLikeCrawl(args[0]) {
		f.dir, args = args[0], nil
	}
	switch {
	case f.dir != "" && len(args) > 0:
		return usage("%q: a directory is given; its jobs are named by --job", args[0])
	case f.dir != "":
		return here(max(1, f.job))
	}
	id, err := jobNamed(args)
	if err != nil {
		return err
	}
	return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error { return there(ctx, cl, w, id) })
}

// ids reads numbers of tasks.
func ids(args []string) (out []uint32, err error) {
	for _, a := range args {
		n, err := strconv.ParseUint(a, 10, 32)
		if err != nil || n == 0 {
			return nil, usage("%q: want the number of a task, as argosy tasks lists them", a)
		}
		out = append(out, uint32(n))
	}
	return out, nil
}

// found is a task of a job, and the job's engines.
type found struct {
	job     uint32
	row     ledger.Task
	engines []crawl.Engine
}

// localTask finds a task of a crawl's directory.
func localTask(ctx context.Context, dir string, id uint32) (t found, err error) {
	if err := isCrawl(dir); err != nil {
		return t, err
	}
	err = viewCrawl(ctx, dir, func(f *frontier.Frontier) error {
		of := f.Task(id)
		if of == nil {
			return usage("no task %d: argosy tasks %s lists them", id, dir)
		}
		t.job, t.row = of.Job, coordinator.Row(f, of)
		t.engines = slices.Clone(f.Job(of.Job).AllEngines())
		return nil
	})
	return t, err
}

// fleetTask finds a task of a fleet.
func (f *oneTask) fleetTask(ctx context.Context, cl *web.Client, id uint32) (t found, err error) {
	jobs, err := cl.Jobs(ctx)
	for i := range jobs {
		j := &jobs[i]
		if err != nil || f.job != 0 && j.ID != f.job {
			continue
		}
		var rows []ledger.Task
		if rows, err = cl.Tasks(ctx, j.ID, ""); err != nil {
			return t, err
		}
		for k := range rows {
			if rows[k].ID == id {
				t.job, t.row = j.ID, rows[k]
				if j.Identity.Collect != nil {
					t.engines = append(slices.Clip(j.Identity.Collect.Engines), j.Given...)
				}
				return t, nil
			}
		}
	}
	if err == nil {
		err = usage("no task %d: argosy tasks JOB lists those of a job", id)
	}
	return t, err
}

func newTaskShow() *cobra.Command {
	f := &oneTask{}
	c := &cobra.Command{
		Use: "show ID", Short: "Show a task with its history", Args: cobra.ExactArgs(1),
		Long:    "Show prints all that is known of a task: its counts, of a search also what the engine states and what was found, and line by line the\nleases that it had, with their parameters, and why it was taken back.",
		Example: "  argosy tasks show 3 -o dairy\n  argosy tasks show 3 --job 1",
		RunE: func(c *cobra.Command, args []string) error {
			id, err := ids(args)
			if err != nil {
				return err
			}
			if f.dir != "" {
				t, err := localTask(c.Context(), f.dir, id[0])
				if err != nil {
					return err
				}
				var runs []ledger.Run
				err = localRuns(c.Context(), f.dir, 1, t.row.For, func(r ledger.Run) error {
					runs = append(runs, r)
					return nil
				})
				return errors.Join(err, f.show(c.OutOrStdout(), t, runs))
			}
			return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error {
				t, err := f.fleetTask(ctx, cl, id[0])
				if err != nil {
					return err
				}
				var runs []ledger.Run
				if t.row.For != 0 {
					if runs, err = cl.Runs(ctx, t.job, t.row.For); err != nil {
						return err
					}
				}
				return f.show(w, t, runs)
			})
		},
	}
	f.register(c)
	return c
}

// show prints a task and its history.
func (f *oneTask) show(w io.Writer, t found, runs []ledger.Run) error {
	var own []ledger.Run
	for _, r := range runs {
		if r.Task == t.row.ID || t.row.Search != nil {
			own = append(own, r)
		}
	}
	if f.json {
		return printJSON(w, struct {
			ledger.Task
			Runs []ledger.Run `json:"runs,omitempty"`
		}{t.row, own})
	}
	fmt.Fprintf(w, "task %d  %s  %s: %s fetched, %s failed, %s excluded, %s pending\n", t.row.ID, t.row.Site, t.row.State, count(t.row.Fetched), count(t.row.Failed), count(t.row.Excluded), count(t.row.Pending))
	if t.row.Lacks != "" {
		fmt.Fprintf(w, "  %s\n", lacks(t.row.Lacks))
	}
	if s := t.row.Search; s != nil {
		fmt.Fprintf(w, "search %d of actual task %d: %s on %s\n", s.No, s.Task, strings.Join(s.Words, " "), orElse(s.Site, "everywhere"))
		fmt.Fprintf(w, "  %s  %s\n", engineName(t.engines, s.Engine), s.URL)
		fmt.Fprintf(w, "  exists: %s; found by paging: %s on %s result pages; collected: %s, lost: %s\n", s.Stated.String(), count(s.Found), count(s.Read), count(s.Collected), count(s.Lost))
		if s.Shared > 0 {
			fmt.Fprintf(w, "  %s\n", sharedWith(s))
		}
		fmt.Fprintf(w, "  since %s: %s\n", whenMS(s.Moved), s.Why)
	}
	for _, line := range t.history(own) {
		fmt.Fprintln(w, line.text)
	}
	return nil
}

// lineAt is a line of a task's history.
type lineAt struct {
	at   int64 // Unix ms
	text string
}

// history is what has become of a task, in the order of time: its leases, each with what was noted of how it ended, and what else was noted.
// Lines of which nobody knows when that was stand before all others.
func (t *found) history(runs []ledger.Run) (out []lineAt) {
	notes := make([]lineAt, len(t.row.History))
	for i, text := range t.row.History {
		notes[i].text = text
		if k := i - len(t.row.History) + len(t.row.Noted); k >= 0 {
			notes[i].at = t.row.Noted[k]
		}
	}
	tries := map[uint32]int{} // of each task: leases that look up an address are not among the runs
	for _, r := range runs {
		tries[r.Task]++
		verb, what := "collects", "pages"
		if r.Asks {
			verb, what = "searches", "result pages"
		}
		end := "goes on"
		if r.Ended > 0 {
			end = fmt.Sprintf("%s after %.1f s", r.Reason, float64(r.Ended-r.Started)/1000)
		}
		if r.Asks { // what its task remembers of it stands with it
			of := fmt.Sprintf("attempt %d on %s: ", tries[r.Task], r.Node)
			if k := slices.IndexFunc(notes, func(n lineAt) bool { return strings.HasPrefix(n.text, of) }); k >= 0 {
				end += ": " + strings.TrimPrefix(notes[k].text, of)
				notes = slices.Delete(notes, k, k+1)
			}
		}
		text := fmt.Sprintf("%s  %s %s on %s, attempt %d: quota %d, %d s; %s: %d given, %d had; %s", whenMS(r.Started), r.Node, verb, orElse(r.Site, "everywhere"), tries[r.Task], r.Quota, r.BudgetMS/1000, what, r.Given, r.Good, end)
		out = append(out, lineAt{r.Started, text})
	}
	for _, n := range notes {
		if s := t.row.Search; s != nil && n.text == s.Why && (n.at == s.Moved || n.at == 0) {
			continue // it stands above
		}
		when := ""
		if n.at > 0 {
			when = whenMS(n.at)
		}
		out = append(out, lineAt{n.at, when + "  " + n.text})
	}
	slices.SortStableFunc(out, func(a, b lineAt) int { return cmp.Compare(a.at, b.at) })
	return out
}

// sharedWith says which other search a search waits for.
func sharedWith(s *ledger.Seeker) string {
	return fmt.Sprintf("%s that it has named %s fetched for search %d, which had named them before", plural(s.Shared, "page"), map[bool]string{true: "is", false: "are"}[s.Shared == 1], s.With)
}

func engineName(engines []crawl.Engine, i int) string {
	if i >= 0 && i < len(engines) {
		return engines[i].Name
	}
	return "engine " + strconv.Itoa(i)
}

func whenMS(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05") }

// printSearches prints the searches among tasks by the paper's queues, each with the reason of its last move if it is not over, or has
// not brought all that it found; below them what they have named and a person is to decide about.
func printSearches(w io.Writer, rows []ledger.Task, now time.Time) error {
	var table strings.Builder
	t := newColumns(&table)
	fmt.Fprintln(t, "TASK\tACTUAL\tENGINE\tPRODUCT\tSITE\tQUEUE\tFOR\tEXISTS\tFOUND\tHAD\tRATE\tNODE")
	whys := []string{""}
	for i := range rows {
		s := rows[i].Search
		if s == nil {
			continue
		}
		rate := "-"
		share, known := s.Stated.Completion(s.Found, s.Collected)
		if known {
			rate = fmt.Sprintf("%.2f", share)
		}
		fmt.Fprintf(t, "%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\n", rows[i].ID, s.Task, s.EngineName, s.Product, orElse(s.Site, "-"), rows[i].State,
			max(0, now.Sub(time.UnixMilli(s.Moved))).Round(time.Second), s.Stated.String(), s.Found, s.Collected, rate, orElse(s.Node, "-"))
		why := s.Why
		if rows[i].State == crawl.TaskDone && s.Read > 0 && s.Collected == s.Found && (share == 1 || !known) {
			why = ""
		}
		if rows[i].State == crawl.TaskSleeping && s.Shared > 0 {
			why += "; " + sharedWith(s)
		}
		if rows[i].Lacks != "" {
			why = lacks(rows[i].Lacks)
		}
		whys = append(whys, why)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i, line := range strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n") {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " ")); err != nil {
			return err
		}
		if whys[i] != "" {
			if _, err := fmt.Fprintln(w, "      "+whys[i]); err != nil {
				return err
			}
		}
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(r ledger.Task) bool { return r.Search != nil || r.State != crawl.TaskManual })
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\nOf what they have named, this waits for a person:\n")
	return printTasks(w, rows)
}

func newTaskEdit() *cobra.Command {
	f := &oneTask{}
	var own ownEngines
	var set []string
	c := &cobra.Command{
		Use: "edit ID… --set KEY=VALUE…", Short: "Change searches that are not over, and let them go on", Args: cobra.MinimumNArgs(1),
		Long: `Edit changes searches that are not over, in any queue but crawling: their words (words="a b"), the
site that they are restricted to (site=example.org), or the engine that is asked (engine=NAME). An engine is the job's own of that
name as --engines FILE changes it, else one of the catalogue: so is one mended whose markup has changed. A search begins anew, and
what it had named counts no more; it goes on with the job.`,
		Example: "  argosy tasks edit 3 -o dairy --set words=\"光明 牛奶\"\n  argosy tasks edit 3 --job 1 --set site=cca.org.cn\n  argosy tasks edit 9 11 12 -o dairy --set engine=news --engines mended.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			list, err := ids(args)
			if err != nil {
				return err
			}
			if len(set) == 0 {
				return usage("--set: give words=…, site=… or engine=…")
			}
			if f.dir != "" {
				return f.editHere(c, list, set, &own)
			}
			return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error {
				for _, id := range list {
					t, err := f.fleetTask(ctx, cl, id)
					if err != nil {
						return err
					}
					e, err := t.changed(set, &own)
					if err != nil {
						return err
					}
					address, err := cl.Edit(ctx, t.job, id, web.Change{Words: e.Search.Words, Site: e.Search.Site, Number: e.Search.Engine, Engine: e.Engine})
					if err != nil {
						return err
					}
					if _, err = fmt.Fprintf(w, "task %d asks %s\n", id, address); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	c.Flags().StringArrayVar(&set, "set", nil, "words=… (separated by spaces), site=… or engine=… (may be repeated)")
	own.flag(c)
	f.register(c)
	return c
}

// editHere changes searches of a crawl's directory.
func (f *oneTask) editHere(c *cobra.Command, list []uint32, set []string, own *ownEngines) error {
	var edits []crawl.Edit
	for _, id := range list {
		t, err := localTask(c.Context(), f.dir, id)
		if err != nil {
			return err
		}
		e, err := t.changed(set, own)
		if err != nil {
			return err
		}
		edits = append(edits, e)
	}
	return withCrawl(c.Context(), f.dir, func(ctx context.Context, co *coordinator.Coordinator) error {
		for _, e := range edits {
			address, err := co.Edit(ctx, e)
			if errors.Is(err, coordinator.ErrSearch) || errors.Is(err, coordinator.ErrEdit) {
				return usage("%w", err)
			}
			if err != nil {
				return err
			}
			if _, err = fmt.Fprintf(c.OutOrStdout(), "task %d asks %s; argosy crawl -o %s goes on\n", e.Task, address, crawl.Arg(f.dir)); err != nil {
				return err
			}
		}
		return nil
	})
}

// changed is what changes about the search of a task.
func (t *found) changed(set []string, own *ownEngines) (e crawl.Edit, err error) {
	if t.row.Search == nil && t.row.For > 0 {
		return e, usage("task %d fetches what search %d has named: the task of that search can be changed (argosy tasks lists it)", t.row.ID, t.row.For)
	}
	if t.row.Search == nil || t.row.Search.Engine >= len(t.engines) {
		return e, usage("task %d is not a search", t.row.ID)
	}
	e = crawl.Edit{Job: t.job, Task: t.row.ID, Search: t.row.Search.Search}
	for _, change := range set {
		key, value, ok := strings.Cut(change, "=")
		switch {
		case ok && key == "words" && len(strings.Fields(value)) > 0:
			e.Search.Words = strings.Fields(value)
		case ok && key == "words":
			return e, usage("--set words: want at least one word")
		case ok && key == "site":
			e.Search.Site = value
		case ok && key == "engine":
			if e.Engine, err = t.engine(value, own); err != nil {
				return e, err
			}
		default:
			return e, usage("--set %q: allowed are words=…, site=… and engine=…", change)
		}
	}
	return e, nil
}

// engine finds an engine for a search: of the job's own as the user's file changes them, or of the catalogue.
func (t *found) engine(name string, own *ownEngines) (*crawl.Engine, error) {
	latest := map[string]engine.Engine{}
	for _, of := range t.engines {
		r, err := engine.Decode(of.Def)
		if err != nil {
			return nil, err
		}
		r.Like = "" // what it takes from another stands in it
		latest[of.Name] = r.Engine
	}
	text, err := config.WriteEngines(slices.Collect(maps.Values(latest))...)
	if err != nil {
		return nil, err
	}
	files := []config.Source{{Name: "the job", Data: text}}
	mine, err := own.source()
	if err != nil {
		return nil, usage("--engines: %v", err)
	}
	if mine.Name != "" {
		files = append(files, mine)
	}
	cat, err := config.Catalogue(files...)
	if err != nil {
		return nil, usage("%v", err)
	}
	r, err := cat.Get(name)
	if err != nil {
		return nil, usage("--set engine: %v", err)
	}
	def, err := r.Encode()
	if err != nil {
		return nil, err
	}
	out := &crawl.Engine{Name: name, Type: t.engines[t.row.Search.Engine].Type, Def: def, Robots: r.IgnoreRobots, Each: t.engines[t.row.Search.Engine].Each}
	for _, of := range t.engines {
		if of.Name == name {
			out.Type, out.Each = of.Type, of.Each
		}
	}
	return out, nil
}

// newTaskOrder is release or drop.
func newTaskOrder(verb, short string, kind crawl.EntryKind, order string) *cobra.Command {
	f := &oneTask{}
	c := &cobra.Command{
		Use: verb + " ID…", Short: short, Args: cobra.MinimumNArgs(1), Example: "  argosy tasks " + verb + " 3 4 -o dairy\n  argosy tasks " + verb + " 3 --job 1",
		RunE: func(c *cobra.Command, args []string) error {
			list, err := ids(args)
			if err != nil {
				return err
			}
			if f.dir != "" {
				return f.releaseHere(c, f.dir, kind, nil, crawl.Release{Tasks: list}, nil)
			}
			return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error {
				t, err := f.fleetTask(ctx, cl, list[0])
				if err != nil {
					return err
				}
				d, err := cl.Release(ctx, t.job, order, web.Release{NamedTasks: web.NamedTasks{Tasks: list}})
				if err != nil {
					return err
				}
				return f.printReleased(w, order, d, "")
			})
		},
	}
	f.register(c)
	return c
}

// plainSearches prints a count of searches.
func plainSearches(n int) string {
	if n == 1 {
		return "1 search"
	}
	return count(int64(n)) + " searches"
}

// searchState says how many searches are over, and how many of the others do not simply wait for their turn.
func searchState(c frontier.SearchCounts) string {
	text := fmt.Sprintf("%d of %s done", c.Done, plainSearches(c.All))
	for _, x := range []struct {
		n    int
		what string
	}{{c.Failed, "failed, and tried again"}, {c.Manual, "for a person"}, {c.Dropped, "dropped"}} {
		if x.n > 0 {
			text += fmt.Sprintf(", %d %s", x.n, x.what)
		}
	}
	return text
}

// printCollected says what the searches of a virtual task have brought.
func printCollected(w io.Writer, s assemble.Summary) {
	if s.Searches == nil {
		return
	}
	fmt.Fprintf(w, "  %s; %s of the %s that they name collected\n", searchState(*s.Searches), count(s.Searches.Collected), plural(s.Searches.Found, "page"))
	if fields := ""; s.Searches.Collected > 0 {
		if s.Fields {
			fields = fmt.Sprintf("; argosy export %s --fields --format table prints the fields of the pages", crawl.Arg(s.Out))
		}
		fmt.Fprintf(w, "    (argosy tasks %s lists them%s)\n", crawl.Arg(s.Out), fields)
	}
}

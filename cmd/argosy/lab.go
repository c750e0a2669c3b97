package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/config"
	"argosy/internal/durable"
	"argosy/internal/plan/lab"
	"argosy/internal/plan/report"
	"argosy/internal/plan/sim"
)

func newLab() *cobra.Command {
	c := &cobra.Command{
		Use: "lab", Short: "Run experiments, comparisons and recorded crawls in a simulated world", Args: cobra.NoArgs,
		Example: "  argosy lab list\n  argosy lab run papers --quick --html papers.html\n  argosy lab show unequal > mine.yaml && argosy lab run mine.yaml --html mine.html",
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newLabList(), newLabShow(), newLabSchema(), newLabRun(), newLabReplay(), newLabAdvise())
	return c
}

// paperPrefix begins the names of the scenarios that are published experiments; papers runs all of them.
const paperPrefix = "paper-"

func newLabList() *cobra.Command {
	kinds := false
	c := &cobra.Command{
		Use: "list", Short: "List the scenarios that come with the program", Args: cobra.NoArgs, Example: "  argosy lab list\n  argosy lab list --kinds",
		RunE: func(c *cobra.Command, _ []string) error {
			t := newColumns(c.OutOrStdout())
			if kinds {
				for _, k := range sim.Kinds() {
					fmt.Fprintf(t, "%s\t%s\n", k.Name, k.About)
				}
				return t.Flush()
			}
			fmt.Fprintln(t, "papers\tall that begin with paper-: every worked example, table and experiment of the five papers, the published figure beside ours")
			fmt.Fprintln(t, "strategies\tall strategies in thirty kinds of worlds, as shares of what full knowledge could reach")
			names, _, err := lab.Builtin()
			if err != nil {
				return err
			}
			for _, name := range names {
				s, err := scenario(name)
				if err != nil {
					return err
				}
				fmt.Fprintf(t, "%s\t%s\n", name, orElse(s.Title, s.Name))
			}
			return t.Flush()
		},
	}
	c.Flags().BoolVar(&kinds, "kinds", false, "list the kinds of made worlds that scenarios begin from instead")
	return c
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func newLabShow() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Print a scenario's file, to begin one of your own with", Args: cobra.ExactArgs(1), Example: "  argosy lab show unequal > mine.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			names, text, err := lab.Builtin()
			if err != nil {
				return err
			}
			b, ok := text[args[0]]
			if !ok {
				return usage("scenario %q: allowed are %s", args[0], strings.Join(names, ", "))
			}
			_, err = c.OutOrStdout().Write(b)
			return err
		},
	}
}

func newLabSchema() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON schema of scenario files", Args: cobra.NoArgs, Example: "  argosy lab schema > scenario.schema.json",
		RunE: func(c *cobra.Command, _ []string) error {
			b, err := config.SchemaOf[lab.Scenario]("Argosy lab scenario")
			if err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(append(b, '\n'))
			return err
		},
	}
}

// scenario reads a scenario: one that comes with the program, or a file.
func scenario(name string) (lab.Scenario, error) {
	_, text, err := lab.Builtin()
	if err != nil {
		return lab.Scenario{}, err
	}
	b, known := text[name]
	if !known {
		if b, err = os.ReadFile(name); err != nil {
			return lab.Scenario{}, usage("scenario %q: neither one of argosy lab list nor a file that can be read (%v)", name, err)
		}
	}
	s := lab.NewScenario()
	if err = config.ReadInto(name, b, &s); err == nil {
		if err = s.Check(); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}
	if err != nil {
		return s, usage("%v", err)
	}
	return s, nil
}

// labRun is what the flags of lab run say.
type labRun struct {
	cfg                          lab.Config
	strategies, only, half, html string
}

func newLabRun() *cobra.Command {
	o := &labRun{}
	c := &cobra.Command{
		Use: "run NAME|FILE…", Short: "Run scenarios", Args: cobra.MinimumNArgs(1),
		Long: `Run runs scenarios, those that argosy lab list names and files (YAML, argosy lab schema), and prints tables; --html also
writes one page with figures and their data, which needs nothing else. The same seeds give the same figures.

papers is every published experiment. strategies is the comparison in thirty kinds of worlds: of it the constants were chosen
with one half of the seeds, and figures come from the other. --quick takes minutes, --results keeps what is had, so that
what was interrupted goes on where it was. With --data, a directory of recorded measurements (PlanetLab delays in
rtt-planetlab490, cloud bandwidth and delays in bw-skyplane), they take the place of made ones.`,
		Example: "  argosy lab run papers --quick --html papers.html\n  argosy lab run mine.yaml --seeds 20 --results mine.json --html mine.html\n  argosy lab run strategies --only china,changing --strategies random,nearest+top=auto,flow,oracle",
		RunE:    func(c *cobra.Command, args []string) error { return o.run(c, args) },
	}
	f := c.Flags()
	f.IntVar(&o.cfg.Seeds, "seeds", 0, "worlds or draws (default: what the scenario says; 20 of strategies)")
	f.StringVar(&o.cfg.Data, "data", "", "directory of recorded measurements")
	f.StringVar(&o.html, "html", "", "write a page with figures and their data into this file")
	f.StringVar(&o.strategies, "strategies", "", "strategies: which to compare, or oracle, separated by commas, options after a plus sign (default: all)")
	f.StringVar(&o.only, "only", "", "strategies: kinds of worlds to compare in, separated by commas (default: all)")
	f.StringVar(&o.half, "half", string(lab.Publish), "strategies: seeds, publish, or choose, those that constants are chosen with")
	f.BoolVar(&o.cfg.Quick, "quick", false, "few seeds; strategies: a few kinds of worlds")
	f.StringVar(&o.cfg.Results, "results", "", "file that results are kept in; those of the same build are not computed again")
	return c
}

func (o *labRun) run(c *cobra.Command, args []string) error {
	if o.cfg.Seeds < 0 || o.cfg.Seeds > 1000 || c.Flags().Changed("seeds") && o.cfg.Seeds == 0 {
		return usage("--seeds %d: want 1 to 1000", o.cfg.Seeds)
	}
	if o.cfg.Data != "" {
		if st, err := os.Stat(o.cfg.Data); err != nil || !st.IsDir() {
			return usage("--data %s: not a directory", o.cfg.Data)
		}
	}
	o.cfg.Out, o.cfg.Progress, o.cfg.Screen = folding(c.OutOrStdout()), c.ErrOrStderr(), isTerminal(c.ErrOrStderr())
	if args[0] == "strategies" {
		if len(args) > 1 || o.html != "" {
			return usage("strategies: it runs alone, and prints tables (a scenario with experiment: worlds has figures)")
		}
		return o.compare(c)
	}
	for _, flag := range []string{"strategies", "only", "half"} {
		if c.Flags().Changed(flag) {
			return usage("--%s goes with the comparison strategies; a scenario says its own", flag)
		}
	}
	all, err := scenarios(args)
	if err != nil {
		return err
	}
	if o.cfg.Data != "" && !slices.ContainsFunc(all, func(s lab.Scenario) bool { return s.ReadsData() }) {
		return usage("--data: nothing of what is run reads recorded measurements: paper-5-coordinates, paper-7-volatile and strategies do")
	}
	if o.html != "" { // what cannot be written is better known before than after
		if o.html == o.cfg.Results {
			return usage("--html and --results both name %s", o.html)
		}
		if err := mayBePage(o.html); err != nil {
			return usage("--html: %v", err)
		}
	}
	began := time.Now()
	sections, err := lab.RunScenarios(c.Context(), o.cfg, all)
	if err != nil || o.html == "" {
		return err
	}
	return writePage(o.html, c.ErrOrStderr(), o.commandLine(args), sections, time.Since(began))
}

// mayBePage finds out whether a page can be written in the place of a file, which it leaves as it is: none but another page is
// replaced.
func mayBePage(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = os.Create(name); err == nil {
			err = errors.Join(f.Close(), os.Remove(name))
		}
		return err
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return err
	}
	head := make([]byte, 512)
	n, err := f.Read(head)
	if err != nil && err != io.EOF {
		return err
	}
	if text := bytes.ToLower(bytes.TrimSpace(head[:n])); len(text) > 0 && !bytes.HasPrefix(text, []byte("<!doctype html")) && !bytes.HasPrefix(text, []byte("<html")) {
		return fmt.Errorf("%s: not a page: name another file", name)
	}
	return nil
}

// scenarios reads what arguments name, each once.
func scenarios(args []string) (all []lab.Scenario, err error) {
	names, _, err := lab.Builtin()
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, arg := range args {
		var these []string
		switch arg {
		case "papers":
			for _, name := range names {
				if strings.HasPrefix(name, paperPrefix) {
					these = append(these, name)
				}
			}
		case "strategies":
			return nil, usage("strategies: it runs alone")
		default:
			these = []string{arg}
		}
		for _, name := range these {
			s, err := scenario(name)
			if err != nil {
				return nil, err
			}
			if seen[s.Name] {
				return nil, usage("scenario %q: it is named twice", s.Name)
			}
			seen[s.Name] = true
			all = append(all, s)
		}
	}
	return all, nil
}

// commandLine is what was given, but for where results go.
func (o *labRun) commandLine(args []string) string {
	out := "argosy lab run " + strings.Join(args, " ")
	if o.cfg.Seeds > 0 {
		out += fmt.Sprintf(" --seeds %d", o.cfg.Seeds)
	}
	if o.cfg.Data != "" {
		out += " --data " + o.cfg.Data
	}
	if o.cfg.Quick {
		out += " --quick"
	}
	return out
}

// writePage writes the report, in the place of an older one when all of it is there.
func writePage(name string, told io.Writer, command string, sections []report.Section, took time.Duration) error {
	r := report.Report{Title: "Argosy lab", Sections: sections, Facts: []string{
		command, "argosy " + version + ", " + lab.Build(),
		fmt.Sprintf("%s, %s/%s, %d processors, %s", time.Now().UTC().Format("2006-01-02 15:04 UTC"), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), took.Round(time.Second)),
	}}
	if len(sections) == 1 {
		r.Title = sections[0].Title
		sections[0].Title = "Results"
		r.About, sections[0].About = sections[0].About, ""
	} else {
		r.About = "Published experiments and our own, in simulated worlds that run the same scheduling code as a crawl. Each figure carries its data."
	}
	var b bytes.Buffer
	if err := r.HTML(&b); err != nil {
		return err
	}
	write := durable.WriteFile
	if st, err := os.Stat(name); err == nil && !st.Mode().IsRegular() { // a pipe, say
		write = os.WriteFile
	}
	if err := write(name, b.Bytes(), 0o644); err != nil {
		return err
	}
	_, err := fmt.Fprintf(told, "wrote %s (%d KiB)\n", name, b.Len()>>10)
	return err
}

func (o *labRun) compare(c *cobra.Command) error {
	specs, err := listed("--strategies", o.strategies, lab.Compares)
	if err != nil {
		return err
	}
	for k, s := range specs {
		if slices.Contains(specs[:k], s) {
			return usage("--strategies: %s is named twice", s)
		}
	}
	o.cfg.Strategies = specs
	if o.only != "" {
		o.cfg.Scenarios = strings.Split(o.only, ",")
		if err := lab.CheckKinds(o.cfg); err != nil {
			return usage("--only: %v", err)
		}
	}
	switch o.cfg.Half = lab.Half(o.half); o.cfg.Half {
	case lab.Publish, lab.Choose:
	default:
		return usage("--half %s: allowed are publish, choose", o.half)
	}
	if err := lab.CheckNames(o.cfg); err != nil {
		return usage("--strategies: %v", err)
	}
	return lab.Compare(c.Context(), o.cfg)
}

package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"argosy/internal/plan/lab"
)

func newLab() *cobra.Command {
	c := &cobra.Command{
		Use: "lab", Short: "Run published experiments and comparisons of strategies in a simulated world", Args: cobra.NoArgs,
		Example: "  argosy lab list\n  argosy lab run papers",
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(&cobra.Command{
		Use: "list", Short: "List the experiments", Args: cobra.NoArgs, Example: "  argosy lab list",
		RunE: func(c *cobra.Command, _ []string) error {
			t := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, e := range lab.Experiments() {
				fmt.Fprintf(t, "%s\t%s\n", e.Name, e.Summary)
			}
			return t.Flush()
		},
	}, newLabRun())
	return c
}

func newLabRun() *cobra.Command {
	cfg := lab.Config{}
	var strategies, only, half string
	c := &cobra.Command{
		Use: "run NAME…", Short: "Run experiments", Args: cobra.MinimumNArgs(1),
		Long: `Run prints tables. The same seeds give the same figures. Of the comparison (strategies) the constants were chosen with one
half of the seeds, and figures come from the other; --quick takes minutes, --results keeps what is had, so that an
interrupted comparison goes on where it was. With --data, a directory of recorded measurements (PlanetLab
delays in rtt-planetlab490, cloud bandwidth and delays in bw-skyplane), they take the place of made ones.`,
		Example: "  argosy lab run papers --seeds 4\n  argosy lab run strategies --only china,changing --strategies random,nearest+top=auto,flow,oracle\n  argosy lab run strategies --results strategies.json",
		RunE: func(c *cobra.Command, args []string) error {
			if cfg.Seeds < 1 || cfg.Seeds > 1000 {
				return usage("--seeds %d: want 1 to 1000", cfg.Seeds)
			}
			if cfg.Data != "" {
				if st, err := os.Stat(cfg.Data); err != nil || !st.IsDir() {
					return usage("--data %s: not a directory", cfg.Data)
				}
			}
			if strategies != "" {
				for _, s := range strings.Split(strategies, ",") {
					s = strings.ReplaceAll(s, "+", ",")
					if err := lab.Compares(s); err != nil {
						return usage("--strategies: %v", err)
					}
					cfg.Strategies = append(cfg.Strategies, s)
				}
			}
			if only != "" {
				cfg.Scenarios = strings.Split(only, ",")
			}
			switch cfg.Half = lab.Half(half); cfg.Half {
			case lab.Publish, lab.Choose:
			default:
				return usage("--half %s: allowed are publish, choose", half)
			}
			cfg.Out, cfg.Progress = c.OutOrStdout(), c.ErrOrStderr()
			for _, name := range args {
				if err := runExperiment(c, name, cfg); err != nil {
					return err
				}
			}
			return nil
		},
	}
	f := c.Flags()
	f.IntVar(&cfg.Seeds, "seeds", 20, "worlds of each kind")
	f.StringVar(&cfg.Data, "data", "", "directory of recorded measurements")
	f.StringVar(&strategies, "strategies", "", "strategies to compare, or oracle, separated by commas, options after a plus sign (default: all)")
	f.StringVar(&only, "only", "", "kinds of worlds to compare in, separated by commas (default: all)")
	f.StringVar(&half, "half", string(lab.Publish), "seeds of the comparison: publish, or choose, those that constants are chosen with")
	f.BoolVar(&cfg.Quick, "quick", false, "compare in a few kinds of worlds, with 4 seeds at most")
	f.StringVar(&cfg.Results, "results", "", "file that results of the comparison are kept in; those of the same build are not computed again")
	return c
}

func runExperiment(c *cobra.Command, name string, cfg lab.Config) error {
	var names []string
	for _, e := range lab.Experiments() {
		if e.Name == name {
			return e.Run(c.Context(), cfg)
		}
		names = append(names, e.Name)
	}
	return usage("experiment %q: allowed are %s", name, strings.Join(names, ", "))
}

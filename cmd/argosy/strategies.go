package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"argosy/internal/plan/schedule"
	"argosy/internal/plan/strategy"
)

func newStrategies() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "strategies [NAME]", Short: "List the scheduling strategies: what each is made of, its options and its source", Args: cobra.MaximumNArgs(1),
		Long: `A strategy is a composition of filters, a cost model and a solver. A bare name runs the rule as it was published, with
the published defaults; options after it improve on that: --strategy nearest,top=auto.`,
		Example: "  argosy strategies\n  argosy strategies nearest",
		RunE: func(c *cobra.Command, args []string) error {
			names := strategy.Names()
			if len(args) == 1 {
				if _, _, ok := strategy.Describe(args[0]); !ok {
					return usage("strategy %q: allowed are %s", args[0], strings.Join(names, ", "))
				}
				names = args
			}
			for _, n := range names {
				p, comp, _ := strategy.Describe(n)
				if asJSON {
					if err := printJSON(c.OutOrStdout(), strategyJSON(n, p, comp)); err != nil {
						return err
					}
					continue
				}
				printStrategy(c.OutOrStdout(), n, p, comp, len(args) == 1)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON lines")
	return c
}

func filterNames(c schedule.Composition) (out []string) {
	for _, f := range c.Filters {
		out = append(out, f.Name)
	}
	return out
}

func strategyJSON(name string, p strategy.Preset, c schedule.Composition) any {
	type option struct {
		Name    string   `json:"name"`
		Default string   `json:"default"`
		Values  []string `json:"values"`
		Means   string   `json:"means"`
	}
	var options []option
	for _, o := range p.Options {
		options = append(options, option{o.Name, o.Values[0], o.Values, o.Means})
	}
	return struct {
		Name    string   `json:"name"`
		Summary string   `json:"summary"`
		Source  string   `json:"source"`
		Default bool     `json:"default"`
		Filters []string `json:"filters"`
		Cost    string   `json:"cost"`
		Unit    string   `json:"unit,omitempty"`
		Solver  string   `json:"solver"`
		Options []option `json:"options"`
	}{name, p.Summary, p.Source, name == strategy.Default, filterNames(c), c.Cost.Name, c.Cost.Unit, c.Solver.Name, options}
}

func printStrategy(w io.Writer, name string, p strategy.Preset, c schedule.Composition, full bool) {
	mark := ""
	if name == strategy.Default {
		mark = " (default)"
	}
	fmt.Fprintf(w, "%s%s\n  %s\n", name, mark, p.Summary)
	fmt.Fprintf(w, "  made of   filters %s; cost %s", strings.Join(filterNames(c), ", "), c.Cost.Name)
	if c.Cost.Unit != "" {
		fmt.Fprintf(w, " [%s]", c.Cost.Unit)
	}
	fmt.Fprintf(w, "; solver %s\n  source    %s\n", c.Solver.Name, p.Source)
	for k, o := range p.Options {
		head := "options"
		if k > 0 {
			head = ""
		}
		values := append([]string{}, o.Values...)
		if values[0] == "" {
			values[0] = "(none)"
		}
		fmt.Fprintf(w, "  %-9s %s=%s  %s\n", head, o.Name, strings.Join(values, "|"), o.Means)
	}
	if !full {
		fmt.Fprintln(w)
	}
}

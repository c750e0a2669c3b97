package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"argosy/internal/config"
	"argosy/internal/plan/segment"
	"argosy/internal/plan/split"
)

func newSplit() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "split JOB.yaml", Short: "Turn virtual tasks into search URLs and print them", Args: cobra.ExactArgs(1),
		Long: `Split reads the part "virtual" of a job file: products, whose names are cut into words (Chinese by a dictionary) unless
words or an alias are given; search engines with their URL templates, AND signs and encodings; and the sites to
restrict searches to. The searches are cut into subsets, the actual tasks.`,
		Example: "  argosy split examples/dairy.yaml\n  argosy split examples/dairy.yaml --json",
		RunE: func(c *cobra.Command, args []string) error {
			j, err := readInput(c, args[0], config.ReadJob)
			if err != nil {
				return err
			}
			if j.Virtual == nil {
				return usage("%s: no virtual task in it (key virtual)", args[0])
			}
			tasks, err := split.Split(*j.Virtual, segment.New(j.Dictionary...).Words)
			if err != nil {
				return usage("%s: %v", args[0], err)
			}
			for _, t := range tasks {
				if asJSON {
					if err := printJSON(c.OutOrStdout(), t); err != nil {
						return err
					}
					continue
				}
				fmt.Fprintf(c.OutOrStdout(), "task %d: %s", t.Number, t.Engine)
				if t.Type != "" {
					fmt.Fprintf(c.OutOrStdout(), ", for nodes of type %s", t.Type)
				}
				fmt.Fprintln(c.OutOrStdout())
				for _, s := range t.Searches {
					fmt.Fprintln(c.OutOrStdout(), "  "+s.URL)
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON lines, one a task")
	return c
}

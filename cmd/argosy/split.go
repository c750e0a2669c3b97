package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"argosy/internal/config"
	"argosy/internal/plan/segment"
	"argosy/internal/plan/split"
)

func newSplit() *cobra.Command {
	var own ownEngines
	var asJSON bool
	c := &cobra.Command{
		Use: "split JOB.yaml", Short: "Turn virtual tasks into search URLs and print them", Args: cobra.ExactArgs(1),
		Long: `Split reads the part "virtual" of a job file: products, whose names are cut into words (Chinese by a dictionary) unless
words or an alias are given; search engines, by their names in the catalogue or with keys of their own; and the sites to
restrict searches to. The searches are cut into subsets, the actual tasks. It prints each virtual task by its words, and under it
its searches with the numbers of the actual tasks that they are in.`,
		Example: "  argosy split examples/dairy.yaml\n  argosy split examples/dairy.yaml --json",
		RunE: func(c *cobra.Command, args []string) error {
			var file bytes.Buffer
			j, err := readInput(c, args[0], func(r io.Reader) (config.Job, error) { return config.ReadJob(io.TeeReader(r, &file)) })
			if err != nil {
				return err
			}
			if j.Virtual == nil {
				return usage("%s: no virtual task in it (key virtual)", args[0])
			}
			cat, err := own.catalogue()
			if err != nil {
				return err
			}
			tasks, err := split.Split(*j.Virtual, cat, segment.New(j.Dictionary...).Words)
			var bad *split.Error
			if errors.As(err, &bad) {
				return usage("%s: line %d: virtual.%v", args[0], config.LineOf(file.Bytes(), "$.virtual", bad.Path), err)
			}
			if err != nil {
				return usage("%s: %v", args[0], err)
			}
			if !asJSON {
				return printVirtual(c.OutOrStdout(), split.List(*j.Virtual, tasks), tasks)
			}
			for _, t := range tasks {
				if err := printJSON(c.OutOrStdout(), t); err != nil {
					return err
				}
			}
			return nil
		},
	}
	own.flag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON lines, one an actual task")
	return c
}

// printVirtual prints virtual tasks as a list, with their searches in their actual tasks.
func printVirtual(w io.Writer, list []split.Listed, tasks []split.Task) error {
	for i, v := range list {
		words := strings.Join(v.Words, "&")
		fmt.Fprintf(w, "%d  %s  (%s)\n", i+1, words, v.Product)
		for _, name := range slices.Sorted(maps.Keys(v.Added)) {
			fmt.Fprintf(w, "   %s: %s&%s\n", name, words, strings.Join(v.Added[name], "&"))
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, s := range v.Searches {
			kind := ""
			if k := tasks[s.Task-1].Type; k != "" {
				kind = "type " + k
			}
			fmt.Fprintf(t, "   task %d\t%s\t%s\t%s\n", s.Task, s.Engine, kind, s.URL)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

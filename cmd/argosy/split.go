package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"argosy/internal/config"
	"argosy/internal/page/engine"
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
			if j.Catalogue, err = own.catalogue(); err != nil {
				return err
			}
			tasks, err := j.Split()
			if err != nil {
				return virtualMistake(args[0], bytes.TrimPrefix(file.Bytes(), []byte("\ufeff")), err)
			}
			if !asJSON {
				return printVirtual(c.OutOrStdout(), *j.Virtual, tasks)
			}
			for i, t := range split.Order(tasks, j.Virtual.Seed) {
				if err := printJSON(c.OutOrStdout(), struct {
					Priority int `json:"priority"`
					split.Task
				}{i + 1, t}); err != nil {
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

// printVirtual prints the virtual tasks as a list, each by its words; under it its searches in their actual tasks, with the place of
// those in the waiting queue.
func printVirtual(w io.Writer, v split.Virtual, tasks []split.Task) error {
	place := map[int]int{}
	for i, t := range split.Order(tasks, v.Seed) {
		place[t.Number] = i + 1
	}
	for i, of := range split.List(v, tasks) {
		words := strings.Join(of.Words, "&")
		fmt.Fprintf(w, "%d  %s  (%s)\n", i+1, words, of.Product)
		for _, name := range slices.Sorted(maps.Keys(of.Added)) {
			fmt.Fprintf(w, "   %s: %s&%s\n", name, words, strings.Join(of.Added[name], "&"))
		}
		t := newColumns(w)
		for _, s := range of.Searches {
			kind := ""
			if k := tasks[s.Task-1].Type; k != "" {
				kind = "type " + k
			}
			fmt.Fprintf(t, "   task %d\tpriority %d\t%s\t%s\t%s\n", s.Task, place[s.Task], s.Engine, kind, s.URL)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	everywhere := map[string]bool{}
	for _, t := range tasks {
		for _, s := range t.Searches {
			everywhere[s.Engine] = everywhere[s.Engine] || s.Site == ""
		}
	}
	for _, e := range v.Engines {
		if len(v.Sites) > 0 && everywhere[e.Name] && !e.Whole {
			fmt.Fprintf(w, "engine %s cannot be restricted to sites (no {site} in its query): it is asked once for\neach product, and what it names counts wherever it lies\n", e.Name)
		}
	}
	return nil
}

// virtualMistake names the line of a mistake in a job file: in its virtual task, in its engines, or elsewhere.
func virtualMistake(path string, file []byte, err error) error {
	var bad *split.Error
	var engine *engine.Error
	switch {
	case errors.As(err, &bad):
		return usage("%s: line %d: virtual.%v", path, config.LineOf(file, "$.virtual", bad.Path), err)
	case errors.As(err, &engine):
		return usage("%s: line %d: %v", path, config.LineOf(file, "$.engines", ""), err)
	}
	return usage("%s: %w", path, config.Placed(file, err))
}

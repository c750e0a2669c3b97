package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/survey"
)

func newStop() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "stop DIR", Short: "End the crawl that runs in a directory, and wait until it has saved everything", Args: cobra.MaximumNArgs(1),
		Long: `Stop ends a crawl as Ctrl-C does, from another terminal: what is under way is
finished, nothing is lost, and argosy crawl -o DIR goes on. It returns when the
crawl has ended; of one with a topic it prints what argosy stats does.`,
		Example: "  argosy stop rls",
		RunE: func(c *cobra.Command, args []string) error {
			if err := dirArgs(args, &dir); err != nil {
				return err
			}
			if err := isCrawl(dir); err != nil {
				return err
			}
			if err := assemble.Stop(c.Context(), dir); err != nil {
				if errors.Is(err, assemble.ErrNotRunning) {
					return usage("%w", err)
				}
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: stopped; argosy crawl -o %s goes on\n", dir, dir)
			s, err := survey.TopicStats(c.Context(), dir, 1)
			if errors.Is(err, survey.ErrNoTopic) {
				return nil
			}
			if err != nil {
				return err
			}
			return printStats(c.OutOrStdout(), s)
		},
	}
	dirFlag(c, &dir)
	return c
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/survey"
	"argosy/internal/fleet/web"
)

func newStop() *cobra.Command {
	f := &fleetFlags{}
	var dir string
	c := &cobra.Command{
		Use: "stop DIR | stop JOB", Short: "End a crawl, and wait until it has saved everything", Args: cobra.MaximumNArgs(1),
		Long: `Stop ends a crawl as Ctrl-C does, from another terminal: what is under way is
finished, nothing is lost, and argosy crawl -o DIR goes on. A fleet's job is
paused, and argosy resume JOB goes on; of one that does not run its state is
said. Stop returns when the crawl has ended; of one with a topic it prints what
argosy stats does.`,
		Example: "  argosy stop rls\n  argosy stop 3",
		RunE: func(c *cobra.Command, args []string) error {
			if job, ok := jobArg(args, dir); ok {
				return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error { return stopJob(ctx, cl, w, job, f.json) })
			}
			if err := dirArgs(args, &dir); err != nil {
				return err
			}
			return stopHere(c.Context(), c.OutOrStdout(), dir, f.json)
		},
	}
	dirFlag(c, &dir)
	f.register(c)
	return c
}

// jobArg returns the job that the only argument names, if it is not a directory's name.
func jobArg(args []string, dir string) (uint32, bool) {
	if len(args) != 1 || dir != "" || looksLikeCrawl(args[0]) {
		return 0, false
	}
	job, err := parseJob(args[0])
	return job, err == nil
}

// stopHere ends the crawl that runs in a directory.
func stopHere(ctx context.Context, w io.Writer, dir string, asJSON bool) error {
	if err := ownCrawl(dir); err != nil {
		return err
	}
	if err := assemble.Stop(ctx, dir); err != nil {
		if errors.Is(err, assemble.ErrNotRunning) {
			return usage("%w", err)
		}
		return err
	}
	s, err := survey.TopicStats(ctx, dir, "", 1)
	if err != nil && !errors.Is(err, survey.ErrNoTopic) {
		return err
	}
	return printStopped(w, dir, "stopped; argosy crawl -o "+dir+" goes on", crawl.JobInterrupted, s, asJSON)
}

// stopJob pauses a job of a fleet that runs, and waits until its leases have ended.
func stopJob(ctx context.Context, cl *web.Client, w io.Writer, job uint32, asJSON bool) error {
	j, err := cl.Job(ctx, job)
	if err != nil {
		return err
	}
	before := j.State
	if before == crawl.JobRunning {
		var refused *web.Error
		if j, err = cl.Order(ctx, job, "pause"); errors.As(err, &refused) && refused.Usage() { // it may have ended meanwhile
			if now, again := cl.Job(ctx, job); again == nil && now.State != crawl.JobRunning {
				j, before, err = now, now.State, nil
			}
		}
	}
	for err == nil && (j.State == crawl.JobRunning || j.Counts.Held > 0) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		j, err = cl.Job(ctx, job)
	}
	if err != nil {
		return err
	}
	var s *survey.Stats
	if j.Identity.Topic != nil {
		of, err := cl.Statistics(ctx, job)
		if err != nil {
			return err
		}
		s = &of
	}
	how := fmt.Sprintf("did not run: %s", before)
	switch {
	case before == crawl.JobRunning:
		how = fmt.Sprintf("stopped; argosy resume %d goes on", job)
	case before == crawl.JobPaused:
		how += fmt.Sprintf("; argosy resume %d goes on", job)
	}
	return printStopped(w, fmt.Sprintf("job %d", job), how, j.State, s, asJSON)
}

// printStopped says that a crawl has stopped, what goes on with it, and how it did, if it has a topic.
func printStopped(w io.Writer, what, how, state string, s *survey.Stats, asJSON bool) error {
	if asJSON {
		return printJSON(w, struct {
			Stopped string        `json:"stopped"`
			State   string        `json:"state"`
			Stats   *survey.Stats `json:"statistics,omitempty"`
		}{what, state, s})
	}
	if _, err := fmt.Fprintf(w, "%s: %s\n", what, how); err != nil || s == nil {
		return err
	}
	return printStats(w, s)
}

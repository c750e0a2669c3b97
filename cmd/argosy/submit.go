package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/config"
	"argosy/internal/crawl"
	"argosy/internal/fleet/serve"
	"argosy/internal/fleet/web"
)

// submitFlags are the flags of argosy submit as they were given.
type submitFlags struct {
	fleetFlags
	seeds               string
	engines             ownEngines
	net                 crawlFlags // how engines are reached that find seeds
	to                  uint32
	check, schema, wait bool
}

func newSubmit() *cobra.Command {
	f := &submitFlags{}
	c := &cobra.Command{
		Use: "submit JOB.yaml", Short: "Submit a job to a coordinator", Args: cobra.MaximumNArgs(1),
		Long: `Submit gives a job file to a coordinator and prints the job's number. - is standard input. With --check the file is only
checked, here; with --schema its JSON schema is printed, for editors.

Seeds that are many, from --seeds or the file's own seeds or seeds_file, follow the job in pieces; the crawl begins when all are
there. Should that be interrupted, the same command goes on with --to JOB.

Search engines that the file names (seeds_from) are asked from here, before the job is handed in.`,
		Example: "  argosy submit job.yaml\n  argosy submit job.yaml --wait\n  argosy submit job.yaml --seeds million.txt\n  argosy submit --check job.yaml\n  argosy submit --schema > job.schema.json",
		RunE: func(c *cobra.Command, args []string) error {
			if f.schema {
				b, err := config.Schema()
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(c.OutOrStdout(), string(b))
				return err
			}
			if len(args) != 1 {
				return usage("name a job file, or - for standard input")
			}
			return f.run(c, args[0])
		},
	}
	f.register(c)
	f.engines.flag(c)
	f.net.guard(c)
	c.Flags().StringVar(&f.seeds, "seeds", "", "file with a seed a line, instead of the job file's seeds; - is standard input")
	c.Flags().Uint32Var(&f.to, "to", 0, "go on with the seeds of this job, which has the same ones")
	c.Flags().BoolVar(&f.check, "check", false, "only check the file")
	c.Flags().BoolVar(&f.schema, "schema", false, "print the JSON schema of job files")
	c.Flags().BoolVar(&f.wait, "wait", false, "wait until the job has ended, with progress on standard error")
	return c
}

func (f *submitFlags) run(c *cobra.Command, path string) error {
	b, set, err := f.read(c.Context(), path)
	if err != nil {
		return err
	}
	if f.check {
		_, err := fmt.Fprintf(c.OutOrStdout(), "%s: ok\n", path)
		return err
	}
	return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error {
		id, err := f.submit(ctx, cl, b, set)
		if err != nil {
			return err
		}
		switch {
		case f.json && f.wait:
		case f.json:
			return printJSON(w, web.Submitted{Job: id})
		default:
			if _, err := fmt.Fprintf(w, "job %d\n", id); err != nil {
				return err
			}
		}
		if j, err := cl.Job(ctx, id); err == nil {
			for _, kind := range j.Lacks {
				fmt.Fprintf(os.Stderr, "argosy: job %d: %s\n", id, lacks(kind))
			}
			if j.Unmet != "" {
				fmt.Fprintf(os.Stderr, "argosy: job %d: %s (argosy nodes)\n", id, j.Unmet)
			}
		}
		if f.wait {
			return f.await(ctx, cl, w, id)
		}
		return nil
	})
}

// read reads a job file and its seeds and finds their mistakes.
func (f *submitFlags) read(ctx context.Context, path string) ([]byte, *seedSet, error) {
	b, err := readBounded(path)
	if err != nil {
		return nil, nil, usage("%w", err)
	}
	file, err := config.ReadJob(bytes.NewReader(b))
	if err != nil {
		return nil, nil, usage("%s: %w", path, err)
	}
	for _, warning := range file.Warnings() {
		fmt.Fprintf(os.Stderr, "argosy: %s: %s\n", path, warning)
	}
	from := &f.net
	from.job, from.seeds, from.jobFile = file, f.seeds, path
	if f.seeds != "" {
		from.job.Seeds, from.job.SeedsFile = nil, ""
	}
	from.job.SeedsFile = beside(path, from.job.SeedsFile)
	set := &seedSet{}
	if file.Virtual == nil {
		found, err := f.found(ctx)
		if err != nil {
			return nil, nil, err
		}
		source, err := from.seedSource(nil, found)
		if err != nil {
			return nil, nil, usage("%s: %w", path, err)
		}
		if set, err = readSeeds(source, nil); err != nil { // it says of which file the seed is
			return nil, nil, usage("%w", err)
		}
	}
	if from.job.Fetch.UserAgent == "" {
		from.job.Fetch.UserAgent = defaultAgent
	}
	if file.Virtual != nil {
		if f.seeds != "" {
			return nil, nil, usage("%s: it has a virtual task, whose searches are its seeds: give no others", path)
		}
		if b, from.job.Catalogue, err = f.engines.within(b, &file); err != nil {
			return nil, nil, usage("%s: %w", path, err)
		}
	}
	job, err := from.job.Crawl(set.seeds, set.bare)
	if err == nil {
		err = serve.CheckJob(&job)
	}
	if err != nil {
		return nil, nil, virtualMistake(path, b, err)
	}
	printNotes(path+": ", job.Impatient())
	if set.list != nil || f.seeds != "" || file.SeedsFile != "" || len(file.SeedsFrom) > 0 {
		if b, err = config.WithoutSeeds(b); err != nil {
			return nil, nil, usage("%s: %w", path, err)
		}
		set.stream()
	}
	return b, set, nil
}

// found asks the search engines of the job for seeds; where the file is only checked, one stands for them.
func (f *submitFlags) found(ctx context.Context) (found []string, err error) {
	switch {
	case len(f.net.job.SeedsFrom) == 0:
		return nil, nil
	case f.to != 0:
		return nil, usage("--to %d: what search engines find now may be something else: hand the job in again", f.to)
	}
	if f.net.job.Catalogue, err = f.engines.catalogue(); err != nil {
		return nil, err
	}
	if f.check {
		_, _, err = f.net.seedEngines()
		return []string{"https://found.invalid/"}, err
	}
	return f.net.searched(ctx, f.net.hasSeeds(), sayOnError)
}

// submit gives a job to a coordinator, and its seeds after it if they are many.
func (f *submitFlags) submit(ctx context.Context, cl *web.Client, file []byte, set *seedSet) (id uint32, err error) {
	sown := int64(0)
	if id = f.to; id != 0 {
		j, err := cl.Job(ctx, id)
		if err != nil {
			return 0, err
		}
		set.stream()
		if have := j.Identity.List; have == nil || *have != *set.list {
			return 0, usage("--to %d: the job has other seeds than these", id)
		}
		sown = j.Sown
	} else if id, err = cl.Submit(ctx, file, set.list); err != nil {
		return 0, err
	}
	if set.list == nil || sown == set.list.Count {
		return id, nil
	}
	err = set.chunks(sown, func(chunk crawl.SeedChunk) error {
		chunk.Job = id
		for {
			err := cl.Sow(ctx, chunk)
			var refused *web.Error
			if err == nil || ctx.Err() != nil || errors.As(err, &refused) && refused.Usage() {
				return err
			}
			select { // a coordinator that is away, or another that begins to lead
			case <-ctx.Done():
			case <-time.After(retrySow):
			}
		}
	})
	if err != nil {
		return 0, fmt.Errorf("job %d: not all of its seeds are in: %w; the same command with --to %d goes on", id, err, id)
	}
	return id, nil
}

// retrySow is the pause before a piece of seeds is sent again.
const retrySow = time.Second

// await waits for the end of a job. A coordinator that is away for a while is waited for.
func (f *submitFlags) await(ctx context.Context, cl *web.Client, w io.Writer, id uint32) error {
	ctx, stop, _ := interrupts(ctx, new(console).say)
	defer stop()
	tell := waiting{w: os.Stderr}
	if _, _, ok := terminalSize(os.Stderr); ok {
		tell.line = true
	}
	for {
		j, err := cl.Job(ctx, id)
		var refused *web.Error
		switch {
		case ctx.Err() != nil:
			fmt.Fprintf(os.Stderr, "argosy: the job goes on: argosy jobs shows it\n")
			return &exitError{code: exitInterrupted}
		case errors.As(err, &refused) && refused.Usage():
			return err
		case err == nil && j.State != crawl.JobRunning && (j.Indexed || j.State == crawl.JobPaused):
			tell.end()
			if f.json {
				if err := printJSON(w, j); err != nil {
					return err
				}
			} else if err := printJobs(w, []web.Job{j}); err != nil {
				return err
			}
			if j.State == crawl.JobManual {
				return &exitError{exitManual, fmt.Errorf("%s for a person: argosy tasks %d --manual lists them, argosy retry %[2]d lets them go on", waitingTasks(j.Counts.Manual), id)}
			}
			return nil
		case err == nil && !f.json:
			tell.progress(time.Now(), &j)
		}
		select {
		case <-ctx.Done():
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// waiting shows how a job gets on: on a terminal a line that is written over, else a line now and then.
type waiting struct {
	w    io.Writer
	line bool
	next time.Time
}

// awaitEvery is how often a line is written where none can be written over.
const awaitEvery = 10 * time.Second

func (t *waiting) progress(now time.Time, j *web.Job) {
	n := j.Counts
	text := fmt.Sprintf("%s fetched, %s pending, %s failed, %s on %s sites", count(n.Fetched), count(n.Pending), count(n.Failed), size(n.Bytes), count(n.Sites))
	switch {
	case t.line:
		fmt.Fprint(t.w, "\r\x1b[K"+text)
	case !now.Before(t.next):
		t.next = now.Add(awaitEvery)
		fmt.Fprintln(t.w, text)
	}
}

func (t *waiting) end() {
	if t.line {
		fmt.Fprint(t.w, "\r\x1b[K")
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"argosy/internal/config"
	"argosy/internal/crawl"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/verify"
	"argosy/internal/fleet/web"
	"argosy/internal/page/yield"
)

func newRetry() *cobra.Command {
	f := &fleetFlags{}
	var p placeFlags
	var lost, cut bool
	var set, status string
	c := &cobra.Command{
		Use: "retry DIR [SITE…] | retry JOB [SITE…]", Short: "Release manual tasks and try failed URLs again", Args: cobra.ArbitraryArgs,
		Long: `Retry releases tasks that wait for a person, forgets the troubles of their sites, and makes their failed URLs pending
again: those of the sites named, or of all. With --lost it does so for pages whose records verify misses, and has a robots.txt
that is lost asked for again, with one page of its site; with --status for pages that were answered with these
statuses, of which both answers stay archived; with --cut it lets
URLs go on that wait because those like them brought nothing new, for eight times as long.

Of a crawl's directory (the first argument, or -o) the next argosy crawl -o DIR fetches them. Otherwise the first argument is
the number of a coordinator's job, which goes on at once; --set changes limits or placing before, and --lost needs the
coordinator's directory (--fleet-dir), to see what is lost.`,
		Example: `  argosy retry example
  argosy retry example --lost
  argosy retry example --status 5xx,429
  argosy retry example --cut www.example.com
  argosy retry 1 www.example.com --set '{limits: {header_timeout: 45s}}'`,
		RunE: func(c *cobra.Command, args []string) error {
			byStatus := c.Flags().Changed("status")
			if lost && cut || byStatus && (lost || cut) {
				return usage("--lost, --cut and --status: one at a time")
			}
			answered, err := web.StatusesOf(status)
			if byStatus && err != nil {
				return usage("--status %w", err)
			}
			if p.dir == "" && len(args) > 0 && looksLikeCrawl(args[0]) {
				p.dir, args = args[0], args[1:]
			}
			if err := p.retries(f.fleetDir, set, lost); err != nil {
				return err
			}
			if byStatus && p.dir != "" {
				return f.retryAnswered(c, p.dir, args, status, answered)
			}
			if p.dir != "" {
				r, err := lostOf(c, &p, lost, 1)
				if err != nil {
					return err
				}
				var of *chosen
				if lost {
					of = &chosen{nothingLost, func(context.Context, *coordinator.Coordinator) ([]crawl.Page, error) { return r.Lost, nil }}
				}
				r.Cut = cut
				return f.releaseHere(c, p.dir, crawl.EntryRetry, args, r, of)
			}
			return f.retryJob(c, &p, args, lost, set, web.Release{Cut: cut, Status: status})
		},
	}
	c.Flags().StringVarP(&p.dir, "out", "o", "", "directory of a crawl")
	c.Flags().BoolVar(&lost, "lost", false, "pages whose records are gone or damaged")
	c.Flags().BoolVar(&cut, "cut", false, "URLs that wait because those like them, or hosts like theirs,\nbrought nothing new (reasons trap-yield and trap-hosts)")
	c.Flags().StringVar(&status, "status", "", "pages that were answered with these statuses: 100 to 599, or\n4xx, 5xx (several, with commas between them)")
	c.Flags().StringVar(&set, "set", "", "change the job before: limits and placing, as in a job file")
	c.Flags().StringVar(&f.fleetDir, "fleet-dir", "", "directory of the coordinator, with --lost")
	c.Flags().StringVar(&p.ledger, "ledger", "", "its postgres://…, if it has one, with --lost")
	p.archives(c)
	f.register(c)
	return c
}

// retryJob has a coordinator retry: a job's number, then sites.
func (f *fleetFlags) retryJob(c *cobra.Command, p *placeFlags, args []string, lost bool, set string, what web.Release) error {
	return f.release(c, "retry", args, func(ctx context.Context, cl *web.Client, id uint32, r *web.Release) error {
		if lost && f.fleetDir == "" {
			return usage("--lost: name the coordinator's directory with --fleet-dir")
		}
		if err := changeJob(ctx, cl, id, set); err != nil {
			return err
		}
		r.Cut, r.Status = what.Cut, what.Status
		p.dir = f.fleetDir
		of, err := lostOf(c, p, lost, id)
		for _, k := range of.Lost {
			r.Lost = append(r.Lost, k.Bytes())
		}
		r.Gone = of.Gone
		if err == nil && lost && len(of.Lost)+len(of.Gone) == 0 {
			if err = f.printNothingLost(ctx, c.OutOrStdout(), cl, id); err == nil {
				err = &exitError{code: exitDone}
			}
		}
		return err
	})
}

// changeJob gives a job other limits and placing, if set says some.
func changeJob(ctx context.Context, cl *web.Client, id uint32, set string) error {
	if set == "" {
		return nil
	}
	if _, err := config.ReadJob(strings.NewReader(set)); err != nil {
		return usage("--set: %w", err)
	}
	j, err := cl.SetLimits(ctx, id, []byte(set))
	if err != nil {
		return fmt.Errorf("--set: %w", err)
	}
	printNotes(fmt.Sprintf("job %d: ", id), j.Notes)
	return nil
}

// printNotes says what of a job's limits does not do what it says.
func printNotes(of string, notes []string) {
	for _, note := range notes {
		fmt.Fprintf(os.Stderr, "argosy: %s%s\n", of, note)
	}
}

// retryAnswered has pages of a crawl's directory asked again that were answered with some statuses.
func (f *fleetFlags) retryAnswered(c *cobra.Command, dir string, sites []string, list string, statuses []int) error {
	of := &chosen{"no page was answered with " + list, func(ctx context.Context, co *coordinator.Coordinator) ([]crawl.Page, error) {
		return co.Answered(ctx, 1, sites, statuses)
	}}
	return f.releaseHere(c, dir, crawl.EntryRetry, sites, crawl.Release{Keep: true}, of)
}

// retries refuses what says nothing to a retry of a crawl's directory, or of a coordinator's job where none is given.
func (f *placeFlags) retries(fleetDir, set string, lost bool) error {
	switch {
	case f.dir != "" && fleetDir != "":
		return usage("%s and --fleet-dir: name the directory of a crawl, or the number of a coordinator's job", f.dir)
	case f.dir != "" && outdir.Fleet(f.dir):
		return usage("%s: a coordinator's directory: argosy retry JOB asks the coordinator (--server); with --lost, --fleet-dir %s and the --ledger of its own, if it has one", f.dir, f.dir)
	case f.dir != "" && f.ledger != "":
		return usage("--ledger: of a coordinator's directory (--lost, --fleet-dir)")
	case f.dir != "" && set != "":
		return usage("--set: of a coordinator's job; a crawl takes other limits when it goes on, such as argosy crawl -o %s --delay 2s", f.dir)
	case !lost && (fleetDir != "" || f.ledger != "" || len(f.stores) > 0):
		return usage("--fleet-dir, --ledger and --store: where to look for what is lost, with --lost")
	}
	return nil
}

// lostOf returns the retry of what of a job is gone or damaged.
func lostOf(c *cobra.Command, f *placeFlags, lost bool, job uint32) (none crawl.Release, err error) {
	if !lost {
		return none, nil
	}
	p, err := f.place()
	if err != nil {
		return none, err
	}
	r, err := verify.Check(c.Context(), p)
	if err == nil && len(r.Unplaced) > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "argosy: stores that the ledger does not know are not looked at; argosy verify %s names them\n", p.Dir)
	}
	if err != nil {
		return none, err
	}
	return r.Again(job), nil
}

const nothingLost = "nothing is lost"

// printNothingLost says that a job's pages are all there; as JSON, what waits of it.
func (f *fleetFlags) printNothingLost(ctx context.Context, w io.Writer, cl *web.Client, id uint32) error {
	if !f.json {
		_, err := fmt.Fprintln(w, nothingLost)
		return err
	}
	j, err := cl.Job(ctx, id)
	if err != nil {
		return err
	}
	return printJSON(w, web.Released{Pending: j.Counts.Pending, Manual: j.Counts.Manual})
}

func newDrop() *cobra.Command {
	f := &fleetFlags{}
	var dir string
	c := &cobra.Command{
		Use: "drop DIR SITE… | drop JOB SITE…", Short: "Give sites up: their pending URLs are excluded, the reason is \"dropped\"",
		Args: cobra.MinimumNArgs(1), Example: "  argosy drop example slow.example.com\n  argosy drop 1 slow.example.com",
		RunE: func(c *cobra.Command, args []string) error {
			if dir == "" && looksLikeCrawl(args[0]) {
				dir, args = args[0], args[1:]
			}
			if dir != "" {
				if len(args) == 0 {
					return usage("name the sites to give up: argosy tasks %s lists them", dir)
				}
				return f.releaseHere(c, dir, crawl.EntryDrop, args, crawl.Release{}, nil)
			}
			if len(args) < 2 {
				return usage("name a job and the sites of it to give up (argosy cancel ends a whole job)")
			}
			return f.release(c, "drop", args, nil)
		},
	}
	c.Flags().StringVarP(&dir, "out", "o", "", "directory of a crawl")
	f.register(c)
	return c
}

// release has a coordinator retry or drop tasks: a job's number, then sites.
func (f *fleetFlags) release(c *cobra.Command, order string, args []string, before func(context.Context, *web.Client, uint32, *web.Release) error) error {
	id, err := jobNamed(args)
	if err != nil {
		return err
	}
	return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error {
		r := web.Release{NamedTasks: web.NamedTasks{Sites: args[1:]}}
		if before != nil {
			if err := before(ctx, cl, id, &r); err != nil {
				return err
			}
		}
		d, err := cl.Release(ctx, id, order, r)
		if err != nil {
			return err
		}
		return f.printReleased(w, order, d, "")
	})
}

// printReleased says what a retry or a drop of tasks has done, what waits now, and how it goes on.
func (f *fleetFlags) printReleased(w io.Writer, order string, d web.Released, then string) error {
	if f.json {
		return printJSON(w, d)
	}
	for _, why := range d.Left {
		fmt.Fprintln(w, why)
	}
	line := fmt.Sprintf("%s pending, %s manual", plural(d.Pending, "URL"), plural(d.Manual, "task"))
	if order == "drop" {
		line = plural(int64(d.Tasks), "task") + " dropped; of the others " + line
	}
	_, err := fmt.Fprintln(w, line+then)
	return err
}

// chosen are the pages of a crawl that an order makes pending.
type chosen struct {
	none string // what is said where there are none
	find func(ctx context.Context, co *coordinator.Coordinator) ([]crawl.Page, error)
}

// releaseHere does to tasks of a crawl's directory what a person asks for, or to pages that are chosen, and says how many URLs wait now.
func (f *fleetFlags) releaseHere(c *cobra.Command, dir string, kind crawl.EntryKind, sites []string, r crawl.Release, of *chosen) error {
	r.Job, r.Why = 1, "by a person"
	var d web.Released
	var open []crawl.Trap
	err := withCrawl(c.Context(), dir, func(ctx context.Context, co *coordinator.Coordinator) (err error) {
		if r.Cut {
			if open, err = chains(ctx, co, sites); err != nil {
				return err
			}
		}
		if of != nil {
			r.Lost, err = of.find(ctx, co)
		}
		if err == nil && (of == nil || len(r.Lost)+len(r.Gone) > 0) {
			var did coordinator.Ordered
			did, err = co.Release(ctx, kind, sites, r)
			d.Tasks, d.Left = did.Tasks, did.Left
		}
		switch {
		case errors.Is(err, coordinator.ErrNoTask):
			return usage("%w: argosy tasks %s lists them", err, dir)
		case errors.Is(err, coordinator.ErrDropped), errors.Is(err, coordinator.ErrIdle):
			return usage("%w", err)
		case err != nil:
			return err
		}
		return co.View(ctx, func(f *frontier.Frontier) error {
			n := f.Counts(1)
			d.Pending, d.Manual = n.Pending, n.Manual
			return nil
		})
	})
	if err != nil {
		return err
	}
	if of != nil && len(r.Lost)+len(r.Gone) == 0 && !f.json {
		_, err := fmt.Fprintln(c.OutOrStdout(), of.none)
		return err
	}
	order := "retry"
	if kind == crawl.EntryDrop {
		order = "drop"
	}
	warnOfChains(c.ErrOrStderr(), open)
	return f.printReleased(c.OutOrStdout(), order, d, "; argosy crawl -o "+dir+" goes on")
}

// chains returns the traps of a crawl's sites, or of all, of which nobody knows how much follows.
func chains(ctx context.Context, co *coordinator.Coordinator, sites []string) (out []crawl.Trap, err error) {
	verr := co.View(ctx, func(f *frontier.Frontier) error {
		f.Tasks(func(t *frontier.Task) {
			if t.Job != 1 || err != nil || len(sites) > 0 && !slices.Contains(sites, t.Site) {
				return
			}
			var of []crawl.Trap
			of, err = f.Traps(t.ID)
			out = append(out, of...)
		})
		return err
	})
	out = slices.DeleteFunc(out, func(t crawl.Trap) bool { return t.Kind() != crawl.TrapOpen })
	slices.SortFunc(out, crawl.CompareTraps)
	return out, verr
}

// warnOfChains says what a retry lets loose that may have no end.
func warnOfChains(w io.Writer, open []crawl.Trap) {
	for i, t := range open {
		if i == maxTold {
			fmt.Fprintf(w, "argosy: … and %s more\n", plural(int64(len(open)-i), "chain"))
			break
		}
		fmt.Fprintf(w, "argosy: a chain on %s goes on after %s, %s: without an end it takes some %s more requests (--site-pages bounds a site); %s\n",
			t.Site, plural(t.Answers, "answer"), emptyOf(t), count(t.Empty*yield.Grace), clip(t.Example))
	}
}

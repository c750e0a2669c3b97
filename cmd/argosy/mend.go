package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/mend"
	"argosy/internal/fleet/outdir"
)

func newRebuild() *cobra.Command {
	var asJSON bool
	var stores []string
	var place string
	c := &cobra.Command{
		Use: "rebuild ledger|frontier|index DIR", Short: "Make a damaged part of a directory anew from what is left", Args: cobra.ExactArgs(2),
		ValidArgs: []string{"ledger", "frontier", "index"},
		Long: `Rebuild works on the directory of a crawl, or of a coordinator, in which no process works.

  ledger    from the frontier and the archives (of a fleet with --store, for
            each store): scores by a topic, and what crawlers have bought and
            sold, are kept. Lost are nodes, leases, measurements and costs;
            also titles, what was expected of pages, and what was offered in
            markets, but for what the log of a crawl still holds: the last
            thousand entries or so. Pages that the archives do not have are
            fetched again. The indexes are written anew with it.
  frontier  from the ledger. It does not hold what pages link to: each job begins
            again from its seeds, and all pages are fetched again; but a job
            that was submitted with a list (--seeds) does not, which is said.
            What was archived stays in archives and index.
  index     from the ledger.

A ledger in PostgreSQL is named with --ledger; rebuild ledger writes into an
empty database, which is the fleet's from then on.

What is replaced is kept beside, with ".old" behind its name. Afterwards go on
with argosy crawl -o DIR, or argosy serve. If there is a copy that argosy backup
has made, argosy restore loses less.`,
		Example: "  argosy rebuild ledger example\n  argosy rebuild ledger fleet --store /mnt/node1 --store s3://bucket/warc",
		RunE: func(c *cobra.Command, args []string) error {
			dir := args[1]
			for _, s := range stores {
				if err := holdsArchives(s); err != nil {
					return err
				}
			}
			if len(stores) > 0 && args[0] != "ledger" {
				return usage("--store is for rebuild ledger")
			}
			of := map[string]func(context.Context, string) (mend.Result, error){
				"ledger": func(ctx context.Context, dir string) (mend.Result, error) {
					return mend.Ledger(ctx, dir, place, stores)
				},
				"frontier": func(ctx context.Context, dir string) (mend.Result, error) { return mend.Frontier(ctx, dir, place) },
				"index":    func(ctx context.Context, dir string) (mend.Result, error) { return mend.Index(ctx, dir, place) },
			}[args[0]]
			if of == nil {
				return usage("rebuild %q: want ledger, frontier or index", args[0])
			}
			if err := isUsed(dir); err != nil {
				return err
			}
			if place = elsewhere(dir, place); place != "" && (!ledger.IsPostgres(place) || !outdir.Fleet(dir)) {
				return usage("--ledger is for the postgres://… of a coordinator's directory")
			}
			r, err := of(c.Context(), dir)
			if errors.Is(err, mend.ErrNoStore) || errors.Is(err, mend.ErrElsewhere) {
				return usage("%w", err)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), r)
			}
			for _, j := range r.Ended {
				fmt.Fprintf(c.OutOrStdout(), "job %d %s does not begin again: its list of %s was in the frontier alone; argosy submit it again\n", j.Job, strconv.Quote(j.Name), plural(j.Seeds, "seed"))
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s rebuilt: %s, %s pages or captures; %s are fetched again\n", args[0], plural(int64(r.Jobs), "job"), count(r.Pages), plural(r.Again, "page"))
			return err
		},
	}
	c.Flags().StringArrayVar(&stores, "store", nil, "where archives lie: a directory or s3://… (default: the directory's; may be repeated)")
	ledgerFlag(c, &place)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func newBackup() *cobra.Command {
	return &cobra.Command{
		Use: "backup DIR TO", Short: "Copy frontier, ledger and keys, also while a process works there", Args: cobra.ExactArgs(2),
		Long: `Backup copies what a crawl or a coordinator cannot do without into a new directory: the frontier, the ledger, keys and the
operator's token. It may run beside the process that works in DIR. Not in it are archives, a ledger in PostgreSQL (use pg_dump), and the
bus: of a coordinator that is made anew from the copy, tokens and names of nodes are made anew.`,
		Example: "  argosy backup fleet /mnt/copies/fleet-monday",
		RunE: func(c *cobra.Command, args []string) error {
			if err := isUsed(args[0]); err != nil {
				return err
			}
			if err := mend.Backup(c.Context(), args[0], args[1]); errors.Is(err, os.ErrInvalid) || errors.Is(err, os.ErrExist) {
				return usage("%w", err)
			} else if err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "%s copied to %s\n", args[0], args[1])
			return err
		},
	}
}

func newRestore() *cobra.Command {
	return &cobra.Command{
		Use: "restore COPY DIR", Short: "Put a copy that backup has made in the place of a directory", Args: cobra.ExactArgs(2),
		Long: `Restore puts a copy into a directory in which no process works. What is there is kept beside, with ".old" behind its name;
archives stay. A copy that is not whole is refused, and nothing changes. Pages that were fetched after the copy was
made are fetched again.`,
		Example: "  argosy restore /mnt/copies/fleet-monday fleet",
		RunE: func(c *cobra.Command, args []string) error {
			if err := mend.Restore(c.Context(), args[0], args[1]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "%s is what %s was\n", args[1], args[0])
			return err
		},
	}
}

// isUsed refuses what is not the directory of a crawl or a coordinator. It may be damaged.
func isUsed(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, outdir.FormatFile)); err != nil {
		return usage("%s: not the directory of a crawl or a coordinator (no %s in it)", dir, outdir.FormatFile)
	}
	return outdir.CheckFormat(dir)
}

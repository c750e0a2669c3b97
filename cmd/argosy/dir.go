package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"argosy/internal/assemble"
	"argosy/internal/coordinator"
	"argosy/internal/crawl"
	"argosy/internal/frontier"
	"argosy/internal/ledger"
	"argosy/internal/verify"
)

// dirFlag adds -o, the directory of a crawl that a command works on.
func dirFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVarP(dir, "out", "o", "", "directory of the crawl (required)")
}

// isCrawl refuses directories that no crawl has left.
func isCrawl(dir string) error {
	if dir == "" {
		return usage("-o: name the directory of a crawl")
	}
	if _, err := os.Stat(filepath.Join(dir, assemble.LedgerFile)); err != nil {
		return usage("-o %s: not the directory of a crawl (no %s in it)", dir, assemble.LedgerFile)
	}
	return nil
}

func printJSON(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, string(b))
	return err
}

func newVerify() *cobra.Command {
	var dir string
	var asJSON bool
	c := &cobra.Command{
		Use: "verify -o DIR", Short: "Check archives, index and ledger against each other", Args: cobra.NoArgs,
		Long: `Verify reads every record of a crawl and compares archives, index and ledger. Orphans are records that a crash has
left: whole, but not the ones that count. Pages whose record is gone or damaged are named; argosy retry --lost fetches
them again. The exit code is 0 if nothing is wrong, 1 otherwise.`,
		Example: "  argosy verify -o example",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := isCrawl(dir); err != nil {
				return err
			}
			r, err := verify.Dir(c.Context(), dir, 1)
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			if asJSON {
				if err := printJSON(out, r); err != nil {
					return err
				}
			} else {
				printReport(out, r)
			}
			if !r.OK {
				return &exitError{exitFailed, fmt.Errorf("%d problems in %s", r.Problems, dir)}
			}
			return nil
		},
	}
	dirFlag(c, &dir)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func printReport(w io.Writer, r *verify.Report) {
	for _, d := range r.Details {
		fmt.Fprintln(w, "  "+d)
	}
	if r.Problems > len(r.Details) {
		fmt.Fprintf(w, "  … and %s more\n", count(int64(r.Problems-len(r.Details))))
	}
	verdict := "clean"
	if !r.OK {
		verdict = fmt.Sprintf("%s problems", count(int64(r.Problems)))
	}
	fmt.Fprintf(w, "%s: %s records in %d files, %s captures in the ledger, %s in the index, %s orphans, %s lost\n", verdict,
		count(int64(r.Records)), r.Files, count(r.Pages), count(int64(r.Indexed)), count(int64(r.Orphans)), count(int64(r.Lost)))
}

func newExport() *cobra.Command {
	var dir, format, state, file string
	c := &cobra.Command{
		Use: "export -o DIR", Short: "Print a crawl's pages as JSON lines or CSV", Args: cobra.NoArgs,
		Example: "  argosy export -o example > pages.jsonl\n  argosy export -o example --format csv --state failed",
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if err := isCrawl(dir); err != nil {
				return err
			}
			if format != "jsonl" && format != "csv" {
				return usage("--format %q: allowed are jsonl and csv", format)
			}
			switch state {
			case "", "fetched", "failed", "excluded":
			default:
				return usage("--state %q: allowed are fetched, failed, excluded", state)
			}
			out := c.OutOrStdout()
			if file != "" {
				f, err2 := os.Create(file)
				if err2 != nil {
					return err2
				}
				defer func() { err = errors.Join(err, f.Close()) }()
				out = f
			}
			return export(c.Context(), out, dir, format, state)
		},
	}
	dirFlag(c, &dir)
	c.Flags().StringVar(&format, "format", "jsonl", "jsonl or csv")
	c.Flags().StringVar(&state, "state", "", "only pages in this state: fetched, failed or excluded")
	c.Flags().StringVar(&file, "to", "", "file to write (default: standard output)")
	return c
}

// export prints pages: JSON lines, or CSV with the same names in its first line.
func export(ctx context.Context, w io.Writer, dir, format, state string) error {
	l, err := ledger.Open(ctx, filepath.Join(dir, assemble.LedgerFile))
	if err != nil {
		return err
	}
	defer l.Close()
	cw := csv.NewWriter(w)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if format == "csv" {
		_ = cw.Write([]string{ // the writer remembers its first error for Error
			"url", "state", "reason", "status", "mime", "title", "lang", "bytes", "depth", "digest", "revisit", "redirect", "site",
			"node", "fetched_at", "warc", "offset", "length",
		})
	}
	err = l.Pages(ctx, 1, func(p *ledger.Page) error {
		if state != "" && p.State != state {
			return nil
		}
		if format == "jsonl" {
			return enc.Encode(p)
		}
		return cw.Write([]string{
			p.URL, p.State, p.Reason, strconv.Itoa(p.Status), p.Mime, p.Title, p.Lang, strconv.FormatInt(p.Bytes, 10),
			strconv.Itoa(p.Depth), p.Digest, strconv.FormatBool(p.Revisit), p.Redirect, p.Site, p.Node,
			strconv.FormatInt(p.FetchedAt, 10), p.WARC, strconv.FormatInt(p.Offset, 10), strconv.FormatInt(p.Length, 10),
		})
	})
	cw.Flush()
	return errors.Join(err, cw.Error())
}

// withCrawl opens a crawl's directory, applies what its log still holds, and runs fn; no job runs meanwhile.
func withCrawl(ctx context.Context, dir string, fn func(ctx context.Context, co *coordinator.Coordinator) error) (err error) {
	if err := isCrawl(dir); err != nil {
		return err
	}
	cfg := assemble.DefaultConfig(dir)
	cfg.Idle = true
	cr, err := assemble.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cr.Close()) }()
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- cr.Coordinator().Run(ctx) }()
	ferr := fn(ctx, cr.Coordinator())
	cancel()
	rerr := <-done
	if errors.Is(rerr, context.Canceled) {
		rerr = nil
	}
	return errors.Join(ferr, rerr)
}

func newTasks() *cobra.Command {
	var dir, state string
	var asJSON bool
	c := &cobra.Command{
		Use: "tasks -o DIR", Short: "List a crawl's tasks: its sites, their states and counts", Args: cobra.NoArgs,
		Example: "  argosy tasks -o example\n  argosy tasks -o example --state manual --json",
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := tasksOf(c.Context(), dir)
			if err != nil {
				return err
			}
			var rows []ledger.Task
			for _, r := range all {
				if state == "" || r.State == state {
					rows = append(rows, r)
				}
			}
			if asJSON {
				for i := range rows {
					if err := printJSON(c.OutOrStdout(), &rows[i]); err != nil {
						return err
					}
				}
				return nil
			}
			return printTasks(c.OutOrStdout(), rows)
		},
	}
	dirFlag(c, &dir)
	c.Flags().StringVar(&state, "state", "", "only tasks in this state: waiting, crawling, done, manual or dropped")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON lines")
	return c
}

// tasksOf returns a crawl's tasks in the order in which they were found.
func tasksOf(ctx context.Context, dir string) (rows []ledger.Task, err error) {
	err = withCrawl(ctx, dir, func(ctx context.Context, co *coordinator.Coordinator) error {
		return co.View(ctx, func(f *frontier.Frontier) error {
			f.Tasks(func(t *frontier.Task) { rows = append(rows, coordinator.Row(t)) })
			return nil
		})
	})
	sort.Slice(rows, func(i, j int) bool { return rows[i].ID < rows[j].ID })
	return rows, err
}

func printTasks(w io.Writer, rows []ledger.Task) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "SITE\tSTATE\tFETCHED\tPAGES\tFAILED\tEXCLUDED\tPENDING\tBYTES\tWHY")
	for _, r := range rows {
		why := reasons(r.Reasons)
		if r.State == frontier.StateManual && len(r.History) > 0 {
			why = r.History[len(r.History)-1]
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Site, r.State, count(r.Fetched), count(r.Pages), count(r.Failed),
			count(r.Excluded), count(r.Pending), size(r.Bytes), why)
	}
	return tw.Flush()
}

// reasons prints counts by reason, largest first.
func reasons(m map[string]int64) string {
	names := make([]string, 0, len(m))
	for r := range m {
		names = append(names, r)
	}
	sort.Slice(names, func(i, j int) bool {
		if m[names[i]] != m[names[j]] {
			return m[names[i]] > m[names[j]]
		}
		return names[i] < names[j]
	})
	for i, r := range names {
		names[i] = r + " " + count(m[r])
	}
	return strings.Join(names, ", ")
}

func newRetry() *cobra.Command {
	var dir string
	var lost bool
	c := &cobra.Command{
		Use: "retry -o DIR [SITE…]", Short: "Release manual tasks and try failed URLs again", Args: cobra.ArbitraryArgs,
		Long: `Retry releases tasks that wait for a person, forgets the troubles of their sites, and makes their failed URLs pending
again: those of the sites named, or of all. With --lost it does so for pages whose records verify misses. The next
argosy crawl into the directory fetches them.`,
		Example: "  argosy retry -o example\n  argosy retry -o example www.example.com\n  argosy retry -o example --lost",
		RunE: func(c *cobra.Command, sites []string) error {
			var keys []crawl.Key
			if lost {
				if err := isCrawl(dir); err != nil {
					return err
				}
				r, err := verify.Dir(c.Context(), dir, 1)
				if err != nil {
					return err
				}
				if keys = r.LostKeys; len(keys) == 0 {
					fmt.Fprintln(c.OutOrStdout(), "nothing is lost")
					return nil
				}
			}
			return release(c, dir, crawl.EntryRetry, sites, keys)
		},
	}
	dirFlag(c, &dir)
	c.Flags().BoolVar(&lost, "lost", false, "pages whose records are gone or damaged")
	return c
}

func newDrop() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "drop -o DIR SITE…", Short: "Give sites up: their pending URLs are excluded, the reason is \"dropped\"",
		Args: cobra.MinimumNArgs(1), Example: "  argosy drop -o example slow.example.com",
		RunE: func(c *cobra.Command, sites []string) error { return release(c, dir, crawl.EntryDrop, sites, nil) },
	}
	dirFlag(c, &dir)
	return c
}

// release does to tasks what a person asks for and says how many URLs wait now.
func release(c *cobra.Command, dir string, kind crawl.EntryKind, sites []string, lost []crawl.Key) error {
	var pending, manual int64
	err := withCrawl(c.Context(), dir, func(ctx context.Context, co *coordinator.Coordinator) error {
		if _, err := co.Release(ctx, 1, kind, sites, lost, "by a person"); err != nil {
			if errors.Is(err, coordinator.ErrNoTask) {
				return usage("%w: argosy tasks -o %s lists them", err, dir)
			}
			return err
		}
		return co.View(ctx, func(f *frontier.Frontier) error {
			n := f.Counts(1)
			pending, manual = n.Pending, n.Manual
			return nil
		})
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s URLs pending, %s tasks manual; argosy crawl … -o %s goes on\n", count(pending), count(manual), dir)
	return err
}

package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/survey"
)

func newExport() *cobra.Command {
	var p placeFlags
	var format, state, file string
	var job uint32
	var least float64
	var fields bool
	var fieldsFrom string
	c := &cobra.Command{
		Use: "export DIR", Short: "Print a crawl's URLs as JSON lines or CSV", Args: cobra.MaximumNArgs(1),
		Long: `Export prints what the ledger holds: each URL that was fetched, failed, or was refused by its site, in the order in which
they ended. With --state failed, excluded or pending it prints what the crawl itself knows of such URLs, site by site: also
those that no node ever saw, with the page that named them first (parent) and the words of its link (anchor). It works beside
a crawl that runs, too, and in a coordinator's directory, by the number of a job; pages are read where its nodes have put them.`,
		Example: `  argosy export example > pages.jsonl
  argosy export example --format csv --state failed
  argosy export example --min-score 0.2             (pages on the crawl's topic)
  argosy export fleet --job 3 --fields --format table
  argosy export example --state excluded | jq 'select(.reason == "scope")'`,
		RunE: func(c *cobra.Command, args []string) (err error) {
			if err := dirArgs(args, &p.dir); err != nil {
				return err
			}
			at, err := p.place()
			if err != nil {
				return err
			}
			fields = fields || fieldsFrom != ""
			if format != "jsonl" && format != "csv" && (format != "table" || !fields) {
				return usage("--format %q: allowed are jsonl and csv, and table with --fields", format)
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
			l, err := p.open(c.Context())
			if err != nil {
				return err
			}
			defer l.Close()
			if at.Running {
				fmt.Fprintln(os.Stderr, "argosy: "+jobNote(p.dir, job))
			}
			if fields {
				if state != "" || least != 0 {
					return usage("--fields: of pages that were fetched: not with --state or --min-score")
				}
				return exportFields(c.Context(), out, l, p.dir, job, fieldsFrom, format)
			}
			w := newRowWriter(out, format)
			if err := checkLeast(c.Context(), l, job, least, state); err != nil {
				return err
			}
			switch state {
			case "", "fetched":
				err = exportPages(c.Context(), w, l, job, state, least)
			case "failed", "excluded", "pending":
				if p.ledger != "" {
					return usage("--state %s: only of a crawl's own directory, not of a fleet's ledger", state)
				}
				err = exportURLs(c.Context(), w, l, p.dir, job, state)
			default:
				return usage("--state %q: allowed are fetched, failed, excluded, pending", state)
			}
			return errors.Join(err, w.close())
		},
	}
	p.register(c)
	c.Flags().Uint32Var(&job, "job", 1, "number of the job")
	c.Flags().StringVar(&format, "format", "jsonl", "jsonl or csv")
	c.Flags().StringVar(&state, "state", "", "only URLs in this state: fetched, failed, excluded or pending")
	c.Flags().Float64Var(&least, "min-score", 0, "only pages with at least this score, by the topic of the crawl")
	c.Flags().BoolVar(&fields, "fields", false, "of a virtual task: the fields of its job, taken out of the pages that its searches named; --format table prints a table")
	c.Flags().StringVar(&fieldsFrom, "fields-of", "", "job file with other fields (virtual: fields:) to take out instead")
	c.Flags().StringVar(&file, "to", "", "file to write (default: standard output)")
	return c
}

// row is a URL as export prints it.
type row struct {
	*ledger.Page
	Parent string `json:"parent,omitempty"` // the page that named it first
	Anchor string `json:"anchor,omitempty"` // the words of that link
	Tries  uint8  `json:"tries,omitempty"`  // that failed so far, of a pending one
}

// rowWriter prints rows: JSON lines, or CSV with the same names in its first line.
type rowWriter struct {
	csv *csv.Writer
	enc *json.Encoder
}

func newRowWriter(w io.Writer, format string) *rowWriter {
	if format != "csv" {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return &rowWriter{enc: enc}
	}
	return csvRows(w, []string{
		"url", "state", "reason", "status", "mime", "title", "lang", "bytes", "depth", "digest", "revisit", "redirect", "site",
		"node", "fetched_at", "warc", "offset", "length", "detail", "parent", "anchor", "tries", "score", "expected",
	})
}

// csvRows prints rows as CSV, with their names in the first line.
func csvRows(w io.Writer, names []string) *rowWriter {
	cw := csv.NewWriter(w)
	_ = cw.Write(names) // the writer remembers its first error for Error
	return &rowWriter{csv: cw}
}

// unarmed takes out of texts of pages what would steer a terminal that a table is looked at with.
func unarmed(texts []string) []string {
	for i := range texts {
		texts[i] = strings.ReplaceAll(string(harmless([]byte(texts[i]))), "\x1b", "\uFFFD")
	}
	return texts
}

func (w *rowWriter) write(r row) error {
	if w.csv == nil {
		return w.enc.Encode(r)
	}
	p := r.Page
	return w.csv.Write(unarmed([]string{
		p.URL, p.State, p.Reason, strconv.Itoa(p.Status), p.Mime, p.Title, p.Lang, strconv.FormatInt(p.Bytes, 10),
		strconv.Itoa(p.Depth), p.Digest, strconv.FormatBool(p.Revisit), p.Redirect, p.Site, p.Node,
		strconv.FormatInt(p.FetchedAt, 10), p.WARC, strconv.FormatInt(p.Offset, 10), strconv.FormatInt(p.Length, 10),
		p.Detail, r.Parent, r.Anchor, strconv.Itoa(int(r.Tries)),
		strconv.FormatFloat(p.Score, 'g', -1, 64), strconv.FormatFloat(p.Expected, 'g', -1, 64),
	}))
}

func (w *rowWriter) close() error {
	if w.csv == nil {
		return nil
	}
	w.csv.Flush()
	return w.csv.Error()
}

// checkLeast refuses a least score that says nothing: of other URLs than pages, and of a job whose pages have no scores.
func checkLeast(ctx context.Context, l *ledger.Ledger, job uint32, least float64, state string) error {
	if least != 0 && state != "" && state != "fetched" || !(least >= 0 && least <= 1) {
		return usage("--min-score %g: allowed are numbers from 0 to 1, for pages that were fetched", least)
	}
	if least == 0 {
		return nil
	}
	d, err := l.Describe(ctx, job)
	if err == nil && d != nil && d.Identity.Topic == nil {
		err = usage("--min-score: %w", survey.ErrNoTopic)
	}
	return err
}

// exportPages prints what the ledger has of a job.
func exportPages(ctx context.Context, w *rowWriter, l *ledger.Ledger, job uint32, state string, least float64) error {
	return l.Pages(ctx, job, func(p *ledger.Page) error {
		if least > 0 && (p.Score < least || p.State != "fetched") {
			return nil
		}
		if state != "" && p.State != state {
			return nil
		}
		return w.write(row{Page: p})
	})
}

// exportURLs prints what the frontier has of a job's URLs in a state; what is beyond its own list is counted.
func exportURLs(ctx context.Context, w *rowWriter, l *ledger.Ledger, dir string, job uint32, state string) error {
	return assemble.View(ctx, atRest(dir), func(f *frontier.Frontier, _ bool) error {
		parents := f.Names(job)
		err := f.URLs(job, func(u frontier.URL) error {
			if u.State.String() != state {
				return nil
			}
			r := row{Page: &ledger.Page{
				URL: u.URL, State: state, Reason: string(u.Reason), Depth: int(u.Depth), Layer: u.Layer, Key: u.Key,
			}, Anchor: u.Anchor}
			if t := f.Task(u.Task); t != nil {
				r.Site = t.Site
			}
			if u.State == crawl.Pending {
				r.Tries = u.Tries
			}
			if v, err := crawl.Parse(u.URL); err == nil {
				r.Site = v.Site()
			}
			if u.State == crawl.Failed || u.Reason == crawl.ReasonRobots || u.Reason == crawl.ReasonRobotsDown || u.Reason == crawl.ReasonNoHTTPS {
				if p, err := l.Page(ctx, job, crawl.Page{Layer: u.Layer, Key: u.Key}); err != nil {
					return err
				} else if p != nil {
					r.Page = p
				}
			}
			var err error
			if r.Parent, err = parents.URL(u.Layer, u.Parent); err != nil {
				return err
			}
			return w.write(r)
		})
		if n := uncounted(f, job); n > 0 && state == "excluded" {
			fmt.Fprintf(os.Stderr, "argosy: %s more were only counted: links too long to be URLs, and what is beyond the limits of a site's list\n", plural(n, "refused URL"))
		}
		return errors.Join(err, parents.Close())
	})
}

// uncounted is how many refusals of a job are not kept one by one.
func uncounted(f *frontier.Frontier, job uint32) (n int64) {
	f.Tasks(func(t *frontier.Task) {
		if t.Job == job {
			n += t.Overflow
		}
	})
	return n
}

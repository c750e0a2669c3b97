package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/crawl"
	"argosy/internal/fleet/survey"
)

func newReport() *cobra.Command {
	var p placeFlags
	var file string
	var job uint32
	var asJSON bool
	c := &cobra.Command{
		Use: "report DIR", Short: "Say what a crawl has brought: broken links, sites, refusals, templates", Args: cobra.MaximumNArgs(1),
		Long: `Report says what a crawl has brought, also beside one that runs: sites, types, statuses, broken links with the pages and words
that link there, redirects, what was refused and why, URLs that look alike and what they brought, with the --exclude that would
have saved the useless ones, slow sites and duplicates. With --html it is one file with plots, for a browser.

For the links it reads the archives once more, which takes a while for a large crawl. Of a coordinator's directory it reports a
job (--job), by its ledger (--ledger) and its archives, wherever they are (--store); what was refused has no
examples once the job has ended.`,
		Example: "  argosy report example\n  argosy report example --html report.html\n  argosy report fleet --job 3 --store s3://bucket/warc\n  argosy report example --json | jq '.broken[] | [.url, .links]'",
		RunE: func(c *cobra.Command, args []string) (err error) {
			if err := dirArgs(args, &p.dir); err != nil {
				return err
			}
			at, err := p.place()
			if err != nil {
				return err
			}
			if at.Running {
				fmt.Fprintln(os.Stderr, "argosy: "+jobNote(p.dir, job))
			}
			r, err := survey.Make(c.Context(), at, job, time.Now())
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			if file == "-" && asJSON {
				return usage("--html - and --json both want standard output: give --html a FILE")
			}
			if file == "-" {
				return r.HTML(out, explainReason)
			}
			if file != "" {
				f, err := os.Create(file)
				if err != nil {
					return err
				}
				if err := errors.Join(r.HTML(f, explainReason), f.Close()); err != nil {
					return err
				}
				fmt.Fprintf(os.Stderr, "argosy: %s written\n", file)
			}
			switch {
			case asJSON:
				return printJSON(out, r)
			case file == "":
				return printOutcome(out, r)
			}
			return nil
		},
	}
	p.register(c)
	p.archives(c)
	c.Flags().Uint32Var(&job, "job", 1, "of a coordinator's directory: the number of the job")
	c.Flags().StringVar(&file, "html", "", "write the report as one HTML file; - is standard output")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// explainReason says why a URL was not fetched, and which step helps.
func explainReason(reason string) (what, step string) {
	m := meaningOf(reason)
	return m.what, m.step
}

const (
	shownBroken = 20 // broken URLs on a terminal
	shownFrom   = 3  // pages of each
	shownRows   = 10 // of other tables
)

// printOutcome prints a report for people.
func printOutcome(w io.Writer, r *survey.Report) error {
	n := r.Counts
	fmt.Fprintf(w, "%s: %s, %s discovered on %s\n", r.Dir, r.State, plural(n.Discovered, "URL"), plural(n.Sites, "site"))
	fmt.Fprintf(w, "%s fetched (%s pages, %s), %s failed, %s excluded, %s pending\n", count(n.Fetched), count(n.Pages), size(n.Bytes), count(n.Failed), count(n.Excluded), count(n.Pending))
	if t := r.Topic; t != nil {
		fmt.Fprintf(w, "%s of %s on the topic %q, different ones for %.3f of the fetches\n", count(t.CC), plural(t.VC, "page"), t.Topic, t.Harvest)
	}
	printShares(w, "Statuses", r.Statuses)
	printShares(w, "Types", r.Types)
	fmt.Fprintf(w, "\nBroken links: %s\n", plural(int64(len(r.Broken)+r.BrokenMore), "URL"))
	for _, b := range r.Broken[:min(len(r.Broken), shownBroken)] {
		fmt.Fprintf(w, "  %s  %s  (%s)\n", b.Why, clip(b.URL), plural(int64(b.Links), "page"))
		for _, l := range b.From[:min(len(b.From), shownFrom)] {
			text := l.Text
			if text != "" {
				text = "  “" + fit(text, 60) + "”"
			}
			fmt.Fprintf(w, "        on %s%s\n", clip(l.Page), text)
		}
	}
	if len(r.Broken) > shownBroken {
		fmt.Fprintln(w, "  … all of them: --json or --html FILE")
	}
	if len(r.Refused) > 0 {
		fmt.Fprintln(w, "\nRefused and failed")
	}
	for _, f := range r.Refused {
		what, _ := explainReason(f.Reason)
		fmt.Fprintf(w, "  %s  %s  %s\n", count(f.URLs), f.Reason, what)
		for _, e := range f.Examples[:min(len(f.Examples), 2)] {
			fmt.Fprintf(w, "        such as %s\n", clip(e.URL))
		}
	}
	if len(r.Traps) > 0 {
		fmt.Fprintln(w, "\nTraps")
		printTraps(w, r.Traps, retryCut(r.Dir))
	}
	printInTheWay(w, r)
	if err := printTemplates(w, r); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nSlowest sites (mean time to the first byte)")
	slow := slices.Clone(r.Sites)
	slices.SortStableFunc(slow, func(a, b survey.Site) int { return int(1000 * (b.FirstByteMS - a.FirstByteMS)) })
	for _, s := range slow[:min(len(slow), shownRows)] {
		if s.FirstByteMS > 0 {
			fmt.Fprintf(w, "  %8.1f ms  %s\n", s.FirstByteMS, s.Site)
		}
	}
	fmt.Fprintf(w, "\n%s redirected, %s with the same bytes as others\n", plural(r.Redirected, "URL"), plural(n.Duplicates, "URL"))
	if r.Missing > 0 {
		fmt.Fprintf(w, "%s missing: see argosy verify %s; links of pages in there are not told\n", plural(int64(r.Missing), "archive file"), crawl.Arg(r.Dir))
	}
	if r.Unread > 0 {
		fmt.Fprintf(w, "%s could not be read to the end: see argosy verify %s\n", plural(int64(r.Unread), "archive file"), crawl.Arg(r.Dir))
	}
	return nil
}

// printInTheWay says what may stand in the place of pages.
func printInTheWay(w io.Writer, r *survey.Report) {
	if len(r.InTheWay) > 0 {
		fmt.Fprintln(w, "\nWhat may stand in the way")
	}
	for _, v := range r.InTheWay[:min(len(r.InTheWay), shownRows)] {
		fmt.Fprintf(w, "  %s of %s: %s, such as %s\n", plural(v.URLs, "URL"), v.Site, whatOf(v.Why, v.To), clip(v.Example))
		if step := meanings[v.Why].step; step != "" {
			fmt.Fprintf(w, "    → %s\n", at(step, r.Dir))
		}
	}
}

func printShares(w io.Writer, title string, shares []survey.Share) {
	var parts []string
	for _, s := range shares[:min(len(shares), shownRows)] {
		parts = append(parts, s.Name+" "+count(s.URLs))
	}
	fmt.Fprintf(w, "%s: %s\n", title, strings.Join(parts, " · "))
}

func printTemplates(w io.Writer, r *survey.Report) error {
	fmt.Fprintln(w, "\nURLs that look alike: with something of their own, with what others have, redirects, errors")
	tw := newColumns(w)
	fmt.Fprintln(tw, "  URLS\tOWN\tSAME\tMOVED\tERRORS\tLIKE")
	shown := 0
	for _, t := range r.Templates {
		if shown == shownRows && t.Exclude == "" {
			continue
		}
		shown = min(shown+1, shownRows)
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\t%s\t%s%s\n", count(t.URLs), count(t.Fresh), count(t.Copies), count(t.Moved), count(t.Errors), t.Site, t.Template)
		if t.Exclude != "" {
			fmt.Fprintf(tw, "  \t\t\t\t\t→ --exclude '%s'\n", t.Exclude)
		}
	}
	return tw.Flush()
}

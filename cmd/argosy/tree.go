package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"argosy/internal/fleet/survey"
	"argosy/internal/fleet/web"
)

func newTree() *cobra.Command {
	f := &oneTask{}
	var dot, all bool
	var deepest int
	c := &cobra.Command{
		Use: "tree DIR | tree JOB", Short: "Print how each page of a crawl was reached, and its score", Args: cobra.MaximumNArgs(1),
		Long: `Tree prints the search paths of a crawl: each page under the page that named it
first. Where the crawl has a topic each page has its score, branches without a
page on the topic are folded into one line, and on a terminal pages on the topic
are green. With --all it also prints what was not fetched, with what is expected of
it. It works beside a crawl that runs, too. Of a fleet's job it prints what was
fetched; of very many pages those of the branches with most on the topic.`,
		Example: "  argosy tree rls\n  argosy tree 3\n  argosy tree rls --all --depth 3\n  argosy tree rls --dot | dot -Tsvg > rls.svg",
		RunE: func(c *cobra.Command, args []string) error {
			if f.json && dot || deepest < 0 {
				return usage("--json or --dot, not both; --depth from 0 (everything)")
			}
			print := func(out io.Writer, roots []*survey.Branch, topic bool) error {
				t := treePrinter{w: out, topic: topic, all: all, deepest: deepest, columns: widthOf(out)}
				switch {
				case f.json:
					return printJSON(out, roots)
				case dot:
					return t.graph(roots)
				}
				return t.trees(roots)
			}
			return f.either(c, args, func(job uint32) error {
				if err := holdsTasks(f.dir); err != nil {
					return err
				}
				p, err := survey.SearchTree(c.Context(), f.dir, job, all)
				if err != nil {
					return err
				}
				if p.Running {
					noteRunning(f.dir)
				}
				return print(c.OutOrStdout(), p.Roots, p.Topic)
			}, func(ctx context.Context, cl *web.Client, w io.Writer, job uint32) error {
				if all {
					return usage("--all: of a directory, such as the coordinator's, with --job %d", job)
				}
				p, err := cl.Tree(ctx, job)
				if err != nil {
					return err
				}
				return print(w, p.Roots, p.Topic)
			})
		},
	}
	f.register(c)
	c.Flags().BoolVar(&dot, "dot", false, "print a graph for Graphviz")
	c.Flags().BoolVar(&all, "all", false, "also what was not fetched, and branches without a page on the topic")
	c.Flags().IntVar(&deepest, "depth", 0, "so many levels only (0: all)")
	return c
}

// trees prints trees as lines, in colours on a terminal.
func (t *treePrinter) trees(roots []*survey.Branch) error {
	if isTerminal(t.w) && os.Getenv("NO_COLOR") == "" {
		t.on, t.off = "\x1b[32m", "\x1b[0m"
	}
	for _, r := range roots {
		t.branch(r, "", "", 1)
	}
	return t.err
}

// treePrinter prints branches as lines.
type treePrinter struct {
	w       io.Writer
	topic   bool   // pages have scores
	all     bool   // branches without a page on the topic are not folded
	on, off string // colour of pages on the topic
	deepest int
	columns int // of the terminal; 0: none
	err     error
}

func (t *treePrinter) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

// maxIndent bounds how far lines are indented: paths may be as long as a crawl.
const maxIndent = 60

// minCells is how much of a URL is shown however narrow a terminal is.
const minCells = 20

// maxLevels bounds how deep a tree is printed.
const maxLevels = 5000

// branch prints a page and what is under it. stem stands before its line, rest before those under it.
func (t *treePrinter) branch(b *survey.Branch, stem, rest string, level int) {
	on, off := "", ""
	if b.OnTopic {
		on, off = t.on, t.off
	}
	what := ""
	if b.State != "fetched" {
		what = strings.TrimSpace(b.State+" "+b.Reason) + " "
	}
	if t.topic {
		what += fmt.Sprintf("%.2f ", b.Score)
	}
	if b.Crawler > 0 {
		what += fmt.Sprintf("#%d ", b.Crawler)
	}
	if what != "" {
		what += " "
	}
	anchor := ""
	if b.Anchor != "" {
		anchor = fmt.Sprintf("  %q", b.Anchor)
	}
	link := clip(b.URL)
	if t.columns > 0 { // a line that wraps breaks the picture
		link = fit(link, max(minCells, t.columns-cells(stem+what)))
		if room := t.columns - cells(stem+what+link); room < minCells/2 {
			anchor = ""
		} else {
			anchor = fit(anchor, room)
		}
	}
	t.printf("%s%s%s%s%s%s\n", stem, on, what, link, off, anchor)
	if t.deepest > 0 && level >= t.deepest || level >= maxLevels {
		if n := len(b.Under); n > 0 {
			t.printf("%s└ … %s below", rest, plural(int64(b.Pages-1), "page"))
			if t.topic {
				t.printf(", %s of them on the topic", count(int64(b.Relevant)))
			}
			t.printf("\n")
		}
		return
	}
	var open []*survey.Branch
	folded := 0
	for _, u := range b.Under {
		if u.Relevant > 0 || t.whole(u) {
			open = append(open, u)
		} else {
			folded += u.Pages
		}
	}
	for i, u := range open {
		twig, next := "├ ", "│ "
		if i == len(open)-1 && folded == 0 {
			twig, next = "└ ", "  "
		}
		if len(rest) > maxIndent {
			next = ""
		}
		t.branch(u, rest+twig, rest+next, level+1)
	}
	if b.Folded > 0 { // a coordinator leaves out what is less on the topic
		t.printf("%s└ … %s left out\n", rest, plural(int64(b.Folded), "subtree"))
	}
	if folded > 0 {
		t.printf("%s└ … %s off the topic\n", rest, plural(int64(folded), "page"))
	}
}

// whole reports whether a branch is printed although nothing in it is on the topic: all are asked for, there is no topic, or it was not fetched.
func (t *treePrinter) whole(b *survey.Branch) bool { return t.all || !t.topic || b.Pages == 0 }

// graph prints the trees as a graph.
func (t *treePrinter) graph(roots []*survey.Branch) error {
	t.printf("digraph crawl {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n")
	stack := append([]*survey.Branch{}, roots...)
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		stack = append(stack[:len(stack)-1], b.Under...)
		fill := ""
		if b.OnTopic {
			fill = ", style=filled, fillcolor=palegreen"
		}
		label := b.URL
		if t.topic {
			label = fmt.Sprintf("%.2f", b.Score)
		}
		t.printf("  %q [label=%q, tooltip=%q%s];\n", dotName(b), label, b.URL, fill)
		for _, u := range b.Under {
			t.printf("  %q -> %q [tooltip=%q];\n", dotName(b), dotName(u), u.Anchor)
		}
	}
	t.printf("}\n")
	return t.err
}

// dotName names a page: of each crawler's that has it another one.
func dotName(b *survey.Branch) string {
	if b.Crawler == 0 {
		return b.URL
	}
	return fmt.Sprintf("#%d %s", b.Crawler, b.URL)
}

func newStats() *cobra.Command {
	f, place := &oneTask{}, ""
	c := &cobra.Command{
		Use: "stats DIR | stats JOB", Short: "Print how well a topical crawl kept to its topic", Args: cobra.MaximumNArgs(1),
		Long: `Stats prints the figures of a crawl with a topic: those of the published system
under its names, and those that the field uses. A page is visited (VC) if it was
had as HTML with status 200, saved (DTOC) if it is on the topic (CC), whole, and
not the same bytes as one saved before, which are counted as repeated (RC). VUC,
the pages that should have been saved, is taken for VC as published. CR and RR
reward who fetches what is known: look at the harvest, different pages on the
topic a fetch. AUC is how well links were judged before they were followed.`,
		Example: "  argosy stats rls\n  argosy stats 3\n  argosy stats rls --json | jq .curve",
		RunE: func(c *cobra.Command, args []string) error {
			print := func(out io.Writer, s *survey.Stats) error {
				if f.json {
					return printJSON(out, s)
				}
				return printStats(out, s)
			}
			return f.either(c, args, func(job uint32) error {
				place, err := ledgerOf(f.dir, place)
				if err != nil {
					return err
				}
				s, err := survey.TopicStats(c.Context(), f.dir, place, job)
				if err != nil {
					return usage("%s: %w", f.dir, err)
				}
				return print(c.OutOrStdout(), s)
			}, func(ctx context.Context, cl *web.Client, w io.Writer, job uint32) error {
				s, err := cl.Statistics(ctx, job)
				if err != nil {
					return err
				}
				return print(w, &s)
			})
		},
	}
	f.register(c)
	ledgerFlag(c, &place)
	return c
}

func printStats(w io.Writer, s *survey.Stats) error {
	t := treePrinter{w: w}
	t.printf("%q, on the topic from %g; %s\n", s.Topic, s.Threshold, s.State)
	t.printf("  VC   %8s  pages visited\n", count(s.VC))
	t.printf("  VUC  %8s  pages that should have been saved (as published: those visited)\n", count(s.VUC))
	t.printf("  CC   %8s  visited pages on the topic\n", count(s.CC))
	t.printf("  DTOC %8s  pages saved: on the topic, whole, each once\n", count(s.DTOC))
	t.printf("  RC   %8s  pages on the topic whose bytes were had before\n", count(s.RC))
	t.printf("  CR   %7.1f%%  CC/VC    RCR %.1f%%  DTOC/VUC    RR %.2f%%  RC/VC\n", 100*s.CR, 100*s.RCR, 100*s.RR)
	t.printf("  harvest %.3f  different pages on the topic a fetch (%s fetches)\n", s.Harvest, count(s.Fetched))
	if s.AUC > 0 {
		t.printf("  AUC  %8.3f  how well %s were judged beforehand; 0.5 is chance\n", s.AUC, plural(s.Ranked, "page"))
	}
	if m := s.Market; m != nil {
		printMarkets(&t, m)
	}
	if len(s.Curve) > 1 {
		t.printf("  pages    on topic  of these steps\n")
		last := survey.Harvest{}
		for _, h := range s.Curve {
			share := float64(h.Relevant-last.Relevant) / float64(h.Pages-last.Pages)
			t.printf("  %7s  %8s  %3.0f%% %s\n", count(h.Pages), count(h.Relevant), 100*share, strings.Repeat("▇", int(share*40+0.5)))
			last = h
		}
	}
	return t.err
}

// printMarkets prints how crawlers traded.
func printMarkets(t *treePrinter, m *survey.MarketStats) {
	sold := plural(m.Sold, "URL")
	if m.Unknown == 0 {
		sold = fmt.Sprintf("%s of %s", count(m.Sold), plural(m.Offered, "offered URL"))
	}
	t.printf("  %s, %s: %s, %s sold for %.2f", plural(int64(len(m.Crawlers)), "crawler"), m.Mode, plural(m.Markets, "market"), sold, m.Paid)
	if m.Unknown > 0 {
		t.printf("\n  what was offered in %s of them is not in the ledger, which was rebuilt", count(m.Unknown))
	}
	if m.TookOver > 0 {
		t.printf("\n  in %s the exact rule took over", plural(m.TookOver, "market"))
	}
	t.printf("\n  crawler  visited  on topic   bought     sold     paid   earned\n")
	for i, c := range m.Crawlers {
		t.printf("  %7d  %7s  %8s  %7s  %7s  %7.2f  %7.2f\n", i+1, count(c.Visited), count(c.Saved), count(c.Bought), count(c.Sold), c.Paid, c.Earned)
	}
}

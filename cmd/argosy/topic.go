package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"argosy/internal/config"
	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/shelf"
	"argosy/internal/page/topic"
	"argosy/internal/plan/schedule"
)

func newTopic() *cobra.Command {
	c := &cobra.Command{
		Use: "topic", Short: "Make, show and try topics", Args: cobra.NoArgs,
		Example: "  argosy topic show --topic \"row level security\"\n  argosy topic train --topic-like a.html --topic-like b.html > topic.json",
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newTopicTrain(), newTopicShow(), newTopicScore())
	return c
}

// topicCommand is what the commands of argosy topic share.
type topicCommand struct {
	flags topicFlags
	topic config.Topic
	net   engineFlags // how sites of examples are asked
}

func (t *topicCommand) register(c *cobra.Command) {
	fl := c.Flags()
	fl.SortFlags = false
	fl.Var(filledFlag{&t.topic.Words}, "topic", "key words")
	fl.Var(filledFlag{&t.flags.text}, "topic-text", "a text file that is about it")
	fl.StringArrayVar(&t.flags.like, "topic-like", nil, "a page that is on it: a file of HTML or text, or a URL (may be repeated)")
	fl.StringArrayVar(&t.flags.unlike, "topic-unlike", nil, "with --topic-like: a page that is not (may be repeated)")
	fl.Var(countFlag{&t.flags.beside, 0, mostBeside}, "topic-beside", besideUsage)
	fl.Var(filledFlag{&t.flags.model}, "topic-model", "a file that argosy topic train has written")
	fl.Var(filledFlag{&t.topic.Language}, "topic-language", "language of the topic (ISO 639-1); none compares words as they stand (default: guessed)")
	fl.Var(filledFlag{&t.flags.threshold}, "topic-threshold", "score from which a page is on the topic (default 0.2)")
	t.net.askFlags(c)
	t.flags.asker, t.flags.say = t.net.asker, sayOnError
}

// made returns the topic that the flags make.
func (t *topicCommand) made(ctx context.Context) (*crawl.Topic, error) {
	if err := t.flags.read(ctx, &t.topic); err != nil {
		return nil, err
	}
	of, err := t.topic.Made()
	if err != nil {
		return nil, usage("%w", err)
	}
	if of == nil {
		return nil, usage("no topic: give --topic, --topic-text, --topic-like or --topic-model")
	}
	return of, nil
}

func newTopicTrain() *cobra.Command {
	var t topicCommand
	var about string
	c := &cobra.Command{
		Use: "train", Short: "Print a topic that is made of words, a text or example pages", Args: cobra.NoArgs,
		Long: `Train makes a topic and prints it as JSON, for --topic-model and for "model" in
job files. With ten examples on each side and more its words are learned from
both; with fewer they are those that set the examples apart. Where fewer pages
that are not on it are given than --topic-beside says, others of the examples'
sites are read.`,
		Example: "  argosy topic train --about enzymes --topic-like on/1.html --topic-like on/2.html --topic-like on/3.html \\\n    --topic-unlike off/1.html --topic-unlike off/2.html --topic-unlike off/3.html > enzymes.json",
		RunE: func(c *cobra.Command, _ []string) error {
			of, err := t.made(c.Context())
			if err != nil {
				return err
			}
			if about != "" {
				of.About = about
			}
			if err := of.Check(); err != nil {
				return usage("%v", err)
			}
			return printJSON(c.OutOrStdout(), of)
		},
	}
	t.register(c)
	c.Flags().StringVar(&about, "about", "", "what the topic is called")
	return c
}

func newTopicShow() *cobra.Command {
	var t topicCommand
	var place string
	var job uint32
	c := &cobra.Command{
		Use: "show [DIR]", Short: "Say what a topic is made of: stems, weights, where it is cut", Args: cobra.MaximumNArgs(1),
		Long: `Show prints what a topic is made of: the one that flags make, or that of the
crawl in a directory, as it was begun with.`,
		Example: "  argosy topic show --topic \"asynchronous iterators\"\n  argosy topic show --topic-model enzymes.json\n  argosy topic show rls",
		RunE: func(c *cobra.Command, args []string) error {
			if err := t.oneTopic(c, args); err != nil {
				return err
			}
			var of *crawl.Topic
			var err error
			if len(args) > 0 {
				of, err = topicIn(c.Context(), args[0], place, max(1, job))
			} else {
				of, err = t.made(c.Context())
			}
			if err != nil {
				return err
			}
			return showTopic(c.OutOrStdout(), of)
		},
	}
	t.register(c)
	ledgerFlag(c, &place)
	c.Flags().Uint32Var(&job, "job", 0, "number of the job, of a coordinator's directory (default 1)")
	return c
}

// oneTopic refuses flags that make a topic beside the directory of a crawl, which has one, and those of a directory where none is named.
func (t *topicCommand) oneTopic(c *cobra.Command, args []string) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case err != nil:
		case len(args) > 0 && strings.HasPrefix(f.Name, "topic"):
			err = usage("--%s and %s: want a topic, or the directory of a crawl with one", f.Name, args[0])
		case len(args) == 0 && (f.Name == "job" || f.Name == "ledger"):
			err = usage("--%s is of the directory of a crawl", f.Name)
		}
	})
	return err
}

// topicIn returns the topic of a crawl, as its ledger has it.
func topicIn(ctx context.Context, dir, place string, job uint32) (*crawl.Topic, error) {
	place, err := ledgerOf(dir, place)
	if err != nil {
		return nil, err
	}
	l, err := ledger.Open(ctx, cmp.Or(place, filepath.Join(dir, outdir.LedgerFile)))
	if err != nil {
		return nil, err
	}
	defer l.Close()
	d, err := l.Describe(ctx, job)
	switch {
	case err != nil:
		return nil, err
	case d == nil:
		return nil, usage("%s: no job %d", dir, job)
	case d.Identity.Topic == nil:
		return nil, usage("%s: the crawl has no topic", dir)
	}
	return d.Identity.Topic, nil
}

func showTopic(w io.Writer, t *crawl.Topic) error {
	p := treePrinter{w: w}
	stemmed, _, paired := topic.Languages()
	how := "no stemmer: words are compared as they stand"
	switch {
	case slices.Contains(stemmed, t.Language):
		how = "words are stemmed"
	case slices.Contains(paired, t.Language):
		how = "read by pairs of characters"
	}
	p.printf("%q, language %s (%s)\non the topic from a score of %g, which is a sum of %.4g;\na unit of the sum is %.4g of the logistic curve\n", t.About, t.Language, how, t.Threshold,
		sumAt(t), t.Gain)
	terms := slices.Clone(t.Terms)
	slices.SortStableFunc(terms, func(a, b crawl.TopicTerm) int { return cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)) })
	for _, x := range terms {
		p.printf("  %8.4f  %s\n", x.Weight, strings.TrimSpace(x.Word+" "+x.Next))
	}
	return p.err
}

// sumAt is the sum of a page whose score is the threshold.
func sumAt(t *crawl.Topic) float64 {
	odds := func(p float64) float64 { return math.Log(p / (1 - p)) }
	return t.Cut + (odds(t.Threshold)-odds(crawl.DefaultThreshold))/t.Gain
}

func newTopicScore() *cobra.Command {
	var t topicCommand
	var asJSON bool
	c := &cobra.Command{
		Use: "score FILE|URL…", Short: "Score pages by a topic, term by term", Args: cobra.MinimumNArgs(1),
		Example: "  argosy topic score page.html https://example.com/a --topic \"asynchronous iterators\"\n  argosy topic score pages/*.html --topic-model enzymes.json --json",
		RunE: func(c *cobra.Command, args []string) error {
			of, err := t.made(c.Context())
			if err != nil {
				return err
			}
			judge, read := topic.NewJudge(of), exampleReader{open: t.flags.asker}
			unread := 0
			for _, name := range args {
				e, err := read.page(c.Context(), name)
				if c.Context().Err() != nil {
					return c.Context().Err()
				}
				if err != nil && len(args) == 1 {
					return usage("%w", err)
				}
				if err != nil {
					unread++
					sayOnError(err.Error())
					continue
				}
				v := judge.Explain(e.body, e.html)
				if asJSON {
					err = printJSON(c.OutOrStdout(), struct {
						File string `json:"file"` // or URL
						topic.Verdict
					}{name, v})
				} else {
					err = printVerdict(c.OutOrStdout(), name, of, &v)
				}
				if err != nil {
					return err
				}
			}
			if unread > 0 {
				return &exitError{exitUsage, fmt.Errorf("score: %d of %s could not be read", unread, plural(int64(len(args)), "page"))}
			}
			return nil
		},
	}
	t.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON lines")
	return c
}

// printVerdict prints how a page was judged, term by term.
func printVerdict(w io.Writer, name string, t *crawl.Topic, v *topic.Verdict) error {
	p := treePrinter{w: w}
	is := "off the topic"
	if v.OnTopic {
		is = "on the topic"
	}
	p.printf("%s: score %.3f, %s %q (from %g)\n  sum %.4f, cut at %.4f; %s of main text\n", name, v.Score, is, t.About, t.Threshold, v.Sum, sumAt(t), plural(int64(v.Words), "word"))
	slices.SortStableFunc(v.Parts, func(a, b topic.Part) int { return cmp.Compare(math.Abs(b.Adds), math.Abs(a.Adds)) })
	for i, x := range v.Parts {
		if i == 25 {
			p.printf("  … and %d more words\n", len(v.Parts)-i)
			break
		}
		p.printf("  %8.4f  %-16s weight %.3f; title %d, headings %d, text %d, links %d\n", x.Adds, x.Term, x.Weight, x.Title, x.Heading, x.Text, x.Link)
	}
	if v.Stuffed != 0 {
		p.printf("  × %.4f: a word stands there more often than in a text for people\n", v.Stuffed)
	}
	return p.err
}

// explainURL explains what a crawl's topic makes of a URL: its links, and, if it was fetched, its page.
func explainURL(c *cobra.Command, dir, place string, job uint32, raw string, asJSON bool) error {
	place, err := ledgerOf(dir, place)
	if err != nil {
		return err
	}
	u, err := crawl.Parse(raw)
	if err != nil {
		return usage("%s: %v", raw, err)
	}
	var of *frontier.Judged
	var decided []schedule.Decision
	err = assemble.View(c.Context(), atRest(dir), func(f *frontier.Frontier, running bool) (err error) {
		if running {
			noteRunning(dir)
		}
		of, err = f.Judge(job, crawl.Page{Key: u.Key()})
		if errors.Is(err, frontier.ErrNoTopic) {
			decided, err = decidedAbout(f, job, u.Site())
			return errors.Join(err, frontier.ErrNoTopic)
		}
		return err
	})
	switch {
	case errors.Is(err, frontier.ErrNoTopic) && len(decided) > 0:
		return printDecisions(c.OutOrStdout(), decided, 0, false, asJSON)
	case errors.Is(err, frontier.ErrNoTopic):
		return usage("%s: %v, and it is not kept why %s went to a node: fleets and crawls with --listen keep that of their last 2,000 leases, --explain-log FILE of all", dir, frontier.ErrNoTopic, u.Site())
	case err != nil:
		return err
	case of == nil:
		return usage("%s: no page has named %s", dir, u.String())
	}
	var page *topic.Verdict
	if body, err := archived(c.Context(), dir, place, job, of.At); err != nil {
		return err
	} else if body != nil {
		v := topic.NewJudge(of.Topic).Explain(body, true)
		page = &v
	}
	if asJSON {
		return printJSON(c.OutOrStdout(), struct {
			*frontier.Judged
			Page *topic.Verdict `json:"verdict,omitempty"`
		}{of, page})
	}
	return printJudged(c.OutOrStdout(), of, page)
}

// decidedAbout returns what is kept of why a site of a job went to its nodes, the oldest first.
func decidedAbout(f *frontier.Frontier, job uint32, site string) (out []schedule.Decision, err error) {
	learned, err := f.Learner()
	if err != nil {
		return nil, err
	}
	err = f.Decided(func(why []byte) {
		if d, err := schedule.Unpack(why); err == nil && d.Job == job && d.Site == site { // a later version may keep more of it
			d.Known = schedule.Knows(learned.Record(), site)
			out = append(out, *d)
		}
	})
	slices.SortFunc(out, func(a, b schedule.Decision) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Lease, b.Lease))
	})
	return out, err
}

func printJudged(w io.Writer, of *frontier.Judged, page *topic.Verdict) error {
	p := treePrinter{w: w}
	whose := ""
	if of.Crawler > 0 {
		whose = fmt.Sprintf(", crawler %d's", of.Crawler)
	}
	p.printf("%s  %s, depth %d%s\n", of.URL, strings.TrimSpace(of.State+" "+of.Reason), of.Depth, whose)
	if of.Parent != "" {
		p.printf("  named first by %s\n", of.Parent)
	}
	printDealt(&p, of.Dealt)
	p.printf("  anchor %q, around it %q\n  best page that names it: %.3f; %s in a row off the topic on the way\n", of.Anchor, of.Around, of.Page, plural(int64(of.Off), "page"))
	l := of.Link
	kept := ""
	if l.Kept < 1 {
		kept = fmt.Sprintf(", of which %.3f counts, since too few such promises came true", l.Kept)
	}
	p.printf("  its links promise %.3f now; by rules alone %.3f%s:\n    anchor %.3f, around %.3f, url %.3f, page %.3f\n", l.Score, l.Rules, kept, l.Signs["anchor"], l.Signs["around"],
		l.Signs["url"], l.Signs["page"])
	if len(l.Learn) > 0 {
		p.printf("  learned from %s, %s of them on the topic:\n", plural(l.Pages, "page"), count(l.Topics))
		slices.SortStableFunc(l.Learn, func(a, b topic.Term) int { return cmp.Compare(math.Abs(b.Adds), math.Abs(a.Adds)) })
		for _, t := range l.Learn[:min(len(l.Learn), 20)] {
			p.printf("  %+8.3f  %s\n", t.Adds, t.Sign)
		}
	}
	printWorth(&p, of.Worth)
	if of.Copy {
		p.printf("  its text is that of a page that was had before: it counts for none more on the topic\n")
	}
	if p.err != nil || page == nil {
		return p.err
	}
	return printVerdict(w, "the page", of.Topic, page)
}

// printDealt says how a URL came to the crawler that was given it.
func printDealt(p *treePrinter, d *frontier.Dealt) {
	switch {
	case d == nil:
	case d.Crawler == 0:
		p.printf("  dealt out by %s, by what the first link to it said\n", d.By)
	case d.By == crawl.DivideKeyword && len(d.Words) > 0:
		p.printf("  dealt to crawler %d by keyword: %s\n", d.Crawler, strings.Join(d.Words, ", "))
	case d.By == crawl.DivideKeyword:
		p.printf("  dealt to crawler %d in turn: it names no keyword of the topic\n", d.Crawler)
	case d.By == crawl.DivideLikeness:
		p.printf("  dealt to crawler %d by likeness\n", d.Crawler)
	default:
		p.printf("  dealt to crawler %d in turn\n", d.Crawler)
	}
}

// printWorth says what a URL that waits is worth to each crawler, and, where that goes by speed, how.
func printWorth(p *treePrinter, worth []frontier.Worth) {
	if len(worth) == 0 {
		return
	}
	p.printf("  worth to crawlers, as a market would have it now:\n")
	for _, w := range worth {
		how := ""
		switch {
		case w.Profile == 0:
		case w.SiteMS == 0:
			how = "; it has had no page of the site, and counts as the fastest"
		default:
			how = fmt.Sprintf(" = %.3f by its profile × %.2f by its speed (%s a page of the site)", w.Profile, w.Value/w.Profile, time.Duration(w.SiteMS*float64(time.Millisecond)).Round(time.Millisecond/10))
		}
		p.printf("    #%d  %.3f%s\n", w.Crawler, w.Value, how)
	}
}

// archived returns the body of a page that a crawl has archived as HTML, in UTF-8; nil if there is none.
func archived(ctx context.Context, dir, place string, job uint32, at crawl.Page) ([]byte, error) {
	if place == "" {
		place = filepath.Join(dir, outdir.LedgerFile)
	}
	l, err := ledger.Open(ctx, place)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	p, err := l.Page(ctx, job, at)
	if err != nil || p == nil || !p.HTML || p.Status != http.StatusOK || !p.Captured() {
		return nil, err
	}
	kept, err := shelf.New(dir, l).Read(ctx, job, p, maxExample)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.URL, err)
	}
	return []byte(shelf.UTF8(p, kept)), nil
}

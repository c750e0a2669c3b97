package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"argosy/internal/config"
	"argosy/internal/crawl"
	"argosy/internal/fleet/agent"
	"argosy/internal/page/scope"
	"argosy/internal/page/topic"
)

// topicFlags say what pages are to be about.
type topicFlags struct {
	text, model  string
	like, unlike []string
	threshold    string
	market       string
	crawlers     *int

	beside *int // nil: topic.Beside

	asker func() (*asker, error) // asks for examples that are URLs
	seeds func() []string        // where other pages are read if no example is a URL; nil: nowhere
	had   *agent.Had             // keeps pages for the crawl that follows; nil: nobody does
	say   func(line string)

	rules                        *scope.Rules // what may be read beside examples; nil: anything
	ignoreRobots, ignoreNofollow bool
	within                       time.Duration // the whole crawl ends by then; 0: it has no bound
}

func (f *topicFlags) register(fl *pflag.FlagSet, j *config.Job) {
	t := &j.Topic
	fl.Var(filledFlag{&t.Words}, "topic", "fetch what is about these words, the most promising links first")
	fl.StringArrayVar(&j.SeedsFrom, "seeds-from", nil, "with --topic: also begin at what this search engine finds for the words (see argosy engine list; may be repeated)")
	fl.Var(filledFlag{&f.text}, "topic-text", "the same, about what this text file is about")
	fl.StringArrayVar(&f.like, "topic-like", nil, "the same, about what these pages are about: files of HTML or text, or URLs (may be repeated)")
	fl.StringArrayVar(&f.unlike, "topic-unlike", nil, "with --topic-like: pages that are not on the topic (may be repeated)")
	fl.Var(countFlag{&f.beside, 0, mostBeside}, "topic-beside", besideUsage)
	fl.Var(filledFlag{&f.model}, "topic-model", "the same, by a file that argosy topic train has written")
	fl.Var(filledFlag{&t.Language}, "topic-language", "language of the topic (ISO 639-1); none compares words as they stand (default: guessed)")
	fl.Var(filledFlag{&f.threshold}, "topic-threshold", "score from which a page is on the topic (default 0.2)")
	fl.Var(tunnelFlag{t}, "tunnel", "so many pages in a row may be off the topic on the way to a page (-1: any number)")
	fl.Var(choiceFlag{&t.Order, []string{"best", "breadth", "depth", "fuzzy"}}, "order", "in which a site's URLs are fetched: breadth, depth, or with a topic best or fuzzy, which is best by fuzzy rules, to compare with (default: best with a topic, else breadth)")
	fl.Var(countFlag{&f.crawlers, 1, crawl.MaxCrawlers}, "crawlers", "with a topic: so many crawlers share what is found, and trade (default: one, which has it all)")
	fl.Var(filledFlag{&f.market}, "market", "with a topic: how they trade: lots (the default), paper or independent, and parameters, such as paper,alpha=10,interval=30s; of a crawl that goes on, what changes")
	fl.BoolVar(&t.ByRule, "by-rule", false, "with a topic: score links by fixed rules, and learn nothing")
}

// filledFlag is a text that must have something in it, if it is given.
type filledFlag struct{ to *string }

// String returns the text.
func (v filledFlag) String() string {
	if v.to == nil {
		return ""
	}
	return *v.to
}

// Set takes in a text.
func (v filledFlag) Set(s string) error {
	if strings.TrimSpace(s) == "" {
		return errors.New("there is nothing in it")
	}
	*v.to = s
	return nil
}

// Type is the word for the value in the help.
func (v filledFlag) Type() string { return "string" }

// choiceFlag is one of several words.
type choiceFlag struct {
	to *string
	of []string
}

// String returns the word; empty if none was given.
func (v choiceFlag) String() string { return filledFlag{v.to}.String() }

// Set takes in a word.
func (v choiceFlag) Set(s string) error {
	if !slices.Contains(v.of, s) {
		return fmt.Errorf("allowed are %s", strings.Join(v.of, ", "))
	}
	*v.to = s
	return nil
}

// Type is the word for the value in the help.
func (v choiceFlag) Type() string { return "string" }

// besideUsage explains --topic-beside.
const besideUsage = "with --topic-like: up to so many other pages of their sites, less those of --topic-unlike, are read to learn what sets them apart; 0: none (default 24)"

// mostBeside bounds --topic-beside: each page is a request.
const mostBeside = 200

// countFlag is a number of which nobody may have said anything.
type countFlag struct {
	to          **int
	least, most int
}

// String returns the number that was given; empty if none was.
func (v countFlag) String() string {
	if v.to == nil || *v.to == nil {
		return ""
	}
	return strconv.Itoa(**v.to)
}

// Set takes in a number.
func (v countFlag) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < v.least || n > v.most {
		return fmt.Errorf("allowed are %d to %d", v.least, v.most)
	}
	*v.to = &n
	return nil
}

// Type is the word for the value in the help.
func (v countFlag) Type() string { return "int" }

// tunnelFlag is --tunnel, of which nobody may have said anything.
type tunnelFlag struct{ of *config.Topic }

// String returns the number that was given, or the default.
func (v tunnelFlag) String() string {
	if v.of == nil || v.of.Tunnel == nil {
		return strconv.Itoa(config.DefaultTunnel)
	}
	return strconv.Itoa(*v.of.Tunnel)
}

// Set takes in a number.
func (v tunnelFlag) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < -1 || n > crawl.MaxTunnel {
		return fmt.Errorf("allowed are -1 (any number) to %d", crawl.MaxTunnel)
	}
	v.of.Tunnel = &n
	return nil
}

// Type is the word for the value in the help.
func (v tunnelFlag) Type() string { return "int" }

// readThreshold reads --topic-threshold; 0 if it was not given.
func (f *topicFlags) readThreshold() (float64, error) {
	if f.threshold == "" {
		return 0, nil
	}
	x, err := strconv.ParseFloat(f.threshold, 64)
	if err != nil || !(x >= 0.001 && x <= 0.999) {
		return 0, usage("--topic-threshold %q: allowed are numbers from 0.001 to 0.999", f.threshold)
	}
	return x, nil
}

// keeps refuses flags that would change the topic of a crawl that goes on.
func (f *topicFlags) keeps(of *crawl.Topic, language string) error {
	x, err := f.readThreshold()
	switch {
	case err != nil:
		return err
	case x != 0 && x != of.Threshold:
		return usage("--topic-threshold %g: the crawl was begun with %g, and keeps it; argosy export --min-score %g lists its pages from there", x, of.Threshold, x)
	case language != "" && language != of.Language:
		return usage("--topic-language %s: the crawl was begun with %s, and keeps it", language, of.Language)
	case f.beside != nil:
		return usage("--topic-beside: the crawl was begun with the topic %q, and keeps it", of.About)
	case len(f.unlike) > 0:
		return usage("--topic-unlike: the crawl was begun with the topic %q, and keeps it", of.About)
	}
	return nil
}

// read reads the files that the flags name into the topic.
func (f *topicFlags) read(ctx context.Context, t *config.Topic) error {
	x, err := f.readThreshold()
	if err != nil {
		return err
	}
	if x != 0 {
		t.Threshold = x
	}
	switch {
	case len(f.unlike) > 0 && len(f.like) == 0:
		return usage("--topic-unlike: without --topic-like there is no page that is on the topic")
	case f.beside != nil && len(f.like) == 0:
		return usage("--topic-beside: there is no --topic-like")
	case f.text != "":
		b, err := readTopicFile(f.text)
		if err == nil {
			err = readable(f.text, b)
		}
		if err != nil {
			return usage("--topic-text: %w", err)
		}
		if err := config.CheckUTF8(b); err != nil {
			return usage("--topic-text %s: %v", f.text, err)
		}
		t.Text = string(b)
	}
	if f.model != "" {
		b, err := readTopicFile(f.model)
		if err != nil {
			return usage("--topic-model: %w", err)
		}
		if t.Model, err = topicOf(f.model, b); err != nil {
			return err
		}
	}
	if len(f.like) == 0 {
		return nil
	}
	if t.Model != nil {
		return usage("--topic-like and --topic-model: give one of them")
	}
	t.Model, err = f.trained(ctx, "", t.Language)
	return err
}

// readMarket takes in how crawlers trade: what the flags say, over what a file says.
func (f *topicFlags) readMarket(m *config.Market) error {
	if err := f.marketOver(*m, m); err != nil {
		return err
	}
	if f.crawlers != nil {
		m.Crawlers = f.crawlers
	}
	return nil
}

// marketOver reads --market, and takes what it does not say from another market.
func (f *topicFlags) marketOver(was config.Market, to *config.Market) error {
	if f.market == "" {
		*to = was
		return nil
	}
	now, err := config.ReadMarket(f.market)
	if err != nil {
		return usage("--market %w", err)
	}
	*to = now.Over(was)
	return nil
}

// goOn has --market mean what was given before, but for what it says now.
func (f *topicFlags) goOn(before string) error {
	was, err := config.ReadMarket(before)
	if err != nil {
		return err
	}
	if err := f.marketOver(was, &was); err != nil {
		return err
	}
	f.market = was.String()
	return nil
}

// maxExample bounds a file that a topic is made of, in bytes.
const maxExample = 16 << 20

func readTopicFile(name string) ([]byte, error) {
	in, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, maxExample+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxExample {
		return nil, fmt.Errorf("%s has more than %d bytes", name, maxExample)
	}
	return b, nil
}

// topicOf reads a topic as argosy topic train prints it.
func topicOf(name string, b []byte) (*crawl.Topic, error) {
	t := &crawl.Topic{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	err := d.Decode(t)
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		err = fmt.Errorf("%s: a %s does not belong there", kind.Field, kind.Value)
	}
	if err == nil {
		err = t.Check()
	}
	if err != nil {
		return nil, usage("%s: not a topic as argosy topic train prints it: %v", name, err)
	}
	return t, nil
}

// trained makes a topic of the examples, and of other pages of their sites where few that are not on the topic are given.
func (f *topicFlags) trained(ctx context.Context, about, language string) (*crawl.Topic, error) {
	r := exampleReader{open: f.asker, language: language, had: f.had, ignoreRobots: f.ignoreRobots, ignoreNofollow: f.ignoreNofollow, texts: map[[sha256.Size]byte]string{}}
	on, err := r.read(ctx, "--topic-like", f.like)
	if err != nil {
		return nil, err
	}
	off, err := r.read(ctx, "--topic-unlike", f.unlike)
	if err != nil {
		return nil, err
	}
	most := topic.Beside
	if f.beside != nil {
		most = *f.beside
	}
	if len(off) < most {
		b := newBeside(&r, f)
		b.sites(f.like)
		if len(b.walks) == 0 && f.seeds != nil {
			b.sites(f.seeds())
		}
		more, err := b.read(ctx, most-len(off))
		if err != nil {
			return nil, err
		}
		off = append(off, more...)
	}
	if about == "" {
		if about = "like " + f.like[0]; !isURL(f.like[0]) {
			about = "like " + filepath.Base(f.like[0])
		}
		if len(f.like) > 1 {
			about += fmt.Sprintf(" and %d more", len(f.like)-1)
		}
	}
	if len(off) == 0 {
		f.say("no page that is not on the topic is known: it is what the examples use most; --topic-unlike names some")
	}
	t, err := topic.Examples(about, on, off)
	if err != nil {
		return nil, usage("--topic-like: %v", err)
	}
	return t, r.rest(ctx)
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"argosy/internal/crawl"
	"argosy/internal/durable"
)

// given is how a crawl was begun: what "argosy crawl -o DIR" alone goes on with. Secrets are not in it.
type given struct {
	Seeds   []string            `json:"seeds"` // as they were given; none: they are in seedsFile
	Flags   map[string][]string `json:"flags"`
	Config  map[string][]string `json:"config,omitempty"`  // the defaults of --config
	Job     string              `json:"job,omitempty"`     // the file of --job
	Sites   string              `json:"sites,omitempty"`   // the file of --site-config
	Secrets []string            `json:"secrets,omitempty"` // flags that must be given again
	Topic   *crawl.Topic        `json:"topic,omitempty"`   // as it was made: the files that it was made of may be gone

	TopicFrom map[string][]string `json:"topic_from,omitempty"` // flags of what it was made of
}

// topicSources are the flags of what a topic is made of; the first topicMakers are enough for one.
var topicSources = []string{"topic", "topic-text", "topic-like", "topic-model", "topic-unlike", "topic-beside", "topic-language", "topic-threshold"}

const topicMakers = 4

// givenFile lies in the directory's state.
const givenFile = "state/given.json"

// seedsFile has the seeds, if they are many.
const seedsFile = "state/seeds.txt"

// Flags that are not remembered: those that concern one run's output, and secrets.
var (
	forRun  = []string{"out", "seeds", "config", "job", "site-config", "json", "quiet", "log-level", "explain-log", "help"}
	secrets = []string{"header", "cookies"}
)

// topicFrom returns the flags that a topic is made of.
func topicFrom(c *cobra.Command) map[string][]string {
	from := map[string][]string{}
	for _, name := range topicSources {
		if fl := c.Flags().Lookup(name); fl.Changed {
			from[name] = values(fl)
		}
	}
	return from
}

// sameExamples returns the topic of the crawl in a directory if it was made of the examples that the flags name; nil if it was not. Made anew it
// would be another one where a site has changed, and the crawl would not go on.
func (f *crawlFlags) sameExamples(c *cobra.Command, dir string) *crawl.Topic {
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(givenFile)))
	if len(f.topic.like) == 0 || err != nil {
		return nil
	}
	var g given
	if json.Unmarshal(b, &g) != nil || g.Topic == nil || !maps.EqualFunc(g.TopicFrom, topicFrom(c), slices.Equal) {
		return nil
	}
	sayOnError(fmt.Sprintf("the topic is as it was made when the crawl began (argosy topic show %s)", dir))
	return g.Topic
}

// goneFlags are those of former versions that nothing looks at any more.
var goneFlags = []string{"max-chain"}

// secretSeed stands among the secrets for names and passwords in seeds.
const secretSeed = "a seed with a password"

// remember notes how the crawl was begun.
func (f *crawlFlags) remember(c *cobra.Command, dir string, about *crawl.Topic) error {
	if f.set.list != nil {
		if err := f.set.keep(filepath.Join(dir, filepath.FromSlash(seedsFile))); err != nil {
			return err
		}
	}
	g := given{Seeds: f.set.texts, Topic: about, Flags: map[string][]string{}, Config: maps.Clone(f.defaults), Job: f.jobText, Sites: f.siteText}
	if g.TopicFrom = f.keptFrom; f.kept == nil {
		g.TopicFrom = topicFrom(c)
	}
	c.Flags().VisitAll(func(fl *pflag.Flag) {
		def := f.defaults[fl.Name]
		switch {
		case !fl.Changed && def == nil:
		case slices.Contains(forRun, fl.Name):
		case slices.Contains(secrets, fl.Name) || fl.Name == "proxy" && strings.Contains(fl.Value.String(), "@"):
			g.Secrets = append(g.Secrets, "--"+fl.Name)
			delete(g.Config, fl.Name)
		case fl.Changed:
			g.Flags[fl.Name] = values(fl)
		}
	})
	if len(f.logins) > 0 {
		g.Secrets = append(g.Secrets, secretSeed)
	}
	b, err := json.MarshalIndent(g, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(dir, filepath.FromSlash(givenFile)), append(b, '\n'), 0o600)
}

// anew says what must be given again where a crawl in a directory goes on, since it is not kept; empty: nothing.
func anew(dir string) string {
	var g given
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(givenFile)))
	if err != nil || json.Unmarshal(b, &g) != nil || len(g.Secrets) == 0 {
		return ""
	}
	what := slices.Clone(g.Secrets)
	if i := slices.Index(what, secretSeed); i >= 0 {
		what[i] = "the seeds with their passwords"
	}
	return "; give it " + strings.Join(what, ", ") + " again"
}

// recall takes in how the crawl in a directory was begun, where the command line does not say otherwise; it returns the seeds.
func (f *crawlFlags) recall(c *cobra.Command) ([]string, error) {
	b, err := os.ReadFile(filepath.Join(f.out, filepath.FromSlash(givenFile)))
	if errors.Is(err, os.ErrNotExist) {
		if isCrawl(f.out) == nil {
			return nil, usage("-o %s: it does not say how it was begun: give seeds and flags once more", f.out)
		}
		return nil, usage("-o %s: no crawl to go on with; to begin one, give a URL, or a file of them with --seeds", f.out)
	}
	if err != nil {
		return nil, err
	}
	var g given
	file := filepath.Join(f.out, filepath.FromSlash(givenFile))
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&g); err != nil {
		return nil, usage("%s: %w", file, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, usage("%s: more than one object in it", file)
	}
	for _, name := range slices.Sorted(maps.Keys(g.Flags)) {
		if c.Flags().Lookup(name) == nil && !slices.Contains(goneFlags, name) {
			return nil, usage("%s: argosy crawl has no flag --%s", file, name)
		}
	}
	for _, s := range g.Secrets {
		if s == secretSeed {
			return nil, usage("-o %s: the crawl was begun with %s, which is not kept: give the seeds again", f.out, s)
		}
		if !c.Flags().Changed(s[2:]) {
			return nil, usage("-o %s: the crawl was begun with %s, which is not kept: give it again", f.out, s)
		}
	}
	f.keptFrom = g.TopicFrom
	anew := slices.ContainsFunc(topicSources, func(name string) bool { return c.Flags().Changed(name) })
	switch {
	case !anew:
		f.kept = g.Topic
	case g.Topic != nil && !slices.ContainsFunc(topicSources[:topicMakers], func(name string) bool { return c.Flags().Changed(name) }):
		if err := f.topic.keeps(g.Topic, f.job.Topic.Language); err != nil {
			return nil, err
		}
		f.kept = g.Topic
	}
	before := g.Flags["market"]
	if before == nil {
		before = g.Config["market"]
	}
	if c.Flags().Changed("market") && len(before) == 1 {
		if err := f.topic.goOn(before[0]); err != nil {
			return nil, err
		}
	}
	for name, values := range g.Flags {
		fl := c.Flags().Lookup(name)
		if fl == nil || fl.Changed || (anew || g.Topic != nil) && slices.Contains(topicSources, name) {
			continue // of the topic what was made of it counts
		}
		if err = assign(fl, values); err != nil {
			return nil, usage("%s: --%s: %w", filepath.Join(f.out, givenFile), name, err)
		}
		fl.Changed = true
	}
	if f.defaults = g.Config; f.jobFile == "" {
		f.jobText = g.Job
	}
	if f.siteFile == "" {
		f.siteText = g.Sites
	}
	if _, err := os.Stat(filepath.Join(f.out, filepath.FromSlash(seedsFile))); len(g.Seeds) == 0 && err == nil {
		f.seeds = filepath.Join(f.out, filepath.FromSlash(seedsFile))
	}
	f.recalled = true
	return g.Seeds, nil
}

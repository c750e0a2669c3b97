package config

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/engine"
	"argosy/internal/plan/segment"
	"argosy/internal/plan/split"
)

// Defaults of virtual tasks.
const (
	defaultPages = 5
	defaultMost  = 1000 // an engine may invent pages without end
	defaultRest  = time.Minute
)

// catalogue returns the engines that a job may name: those of its own before all others.
func (j *Job) catalogue() (*engine.Catalogue, error) {
	of := j.Catalogue
	if of == nil {
		var err error
		if of, err = Catalogue(); err != nil {
			return nil, err
		}
	}
	if len(j.Engines) == 0 {
		return of, nil
	}
	with, err := of.With(j.Engines)
	if err != nil {
		return nil, fmt.Errorf("engines: %w", err)
	}
	return with, nil
}

// Split makes the actual tasks of the job's virtual one, in the order in which they were cut. A mistake in it is a *split.Error.
func (j *Job) Split() ([]split.Task, error) {
	lim := crawl.DefaultLimits()
	j.Limits.Apply(&lim)
	if err := j.alone(lim); err != nil {
		return nil, err
	}
	if _, err := j.rest(); err != nil {
		return nil, err
	}
	cat, err := j.catalogue()
	if err != nil {
		return nil, err
	}
	return split.Split(*j.Virtual, cat, segment.New(j.Dictionary...).Words)
}

// Misplaced is a key of a job file that does not go with a virtual task.
type Misplaced struct {
	Key string
	Err error
}

func (m *Misplaced) Error() string { return m.Key + ": " + m.Err.Error() }

func (m *Misplaced) Unwrap() error { return m.Err }

var (
	errSeeds = errors.New("the searches of a virtual task are its seeds; give no others")
	errFetch = errors.New("a virtual task fetches what its searches name; sitemaps and resources are for jobs that follow links")
)

// alone refuses what does not go with a virtual task.
func (j *Job) alone(lim crawl.Limits) error {
	switch {
	case len(j.Seeds) > 0:
		return &Misplaced{"seeds", errSeeds}
	case len(j.SeedsFrom) > 0:
		return &Misplaced{"seeds_from", errSeeds}
	case j.SeedsFile != "":
		return &Misplaced{"seeds_file", errSeeds}
	case j.Topic != (Topic{}):
		return &Misplaced{"topic", errors.New("a virtual task has subjects of its own; topic: is for jobs that follow links")}
	case lim.MaxDepth >= 0:
		return &Misplaced{"limits.max_depth", errors.New("a virtual task follows no links; virtual.pages bounds its result pages")}
	case j.Fetch.Sitemaps:
		return &Misplaced{"fetch.sitemaps", errFetch}
	case j.Fetch.Resources:
		return &Misplaced{"fetch.resources", errFetch}
	}
	return nil
}

// rest is how long a search rests after a failure.
func (j *Job) rest() (time.Duration, error) {
	if j.Virtual.Rest == "" {
		return defaultRest, nil
	}
	rest, err := time.ParseDuration(j.Virtual.Rest)
	if err != nil || rest < 0 || rest > 24*time.Hour {
		return 0, &split.Error{Path: "rest", Err: fmt.Errorf("%q: want a span such as 90s or 1m, at most a day", j.Virtual.Rest)}
	}
	return rest, nil
}

// collect makes a job that collects of a virtual task.
func (j *Job) collect(out *crawl.Job) error {
	v := j.Virtual
	if len(out.Identity.Seeds) > 0 {
		return &Misplaced{"seeds", errSeeds}
	}
	if err := j.alone(out.Limits); err != nil {
		return err
	}
	rest, err := j.rest()
	if err != nil {
		return err
	}
	c := &crawl.Collect{Pages: v.Pages, Most: int64(v.MaxPages), Rest: rest, Keep: v.Policies.Recycling == "off", Anywhere: v.Anywhere}
	if c.Most == 0 {
		c.Most = defaultMost
	}
	if c.Pages == 0 {
		c.Pages = defaultPages
	}
	if len(v.Fields) > 0 {
		if c.Fields, err = engine.EncodeFields(v.Fields); err != nil {
			return err
		}
	}
	cat, err := j.catalogue()
	if err != nil {
		return err
	}
	tasks, err := split.Split(*v, cat, segment.New(j.Dictionary...).Words)
	if err != nil {
		return err
	}
	engines, err := split.Ready(*v, cat)
	if err != nil {
		return err
	}
	at := map[string]int{}
	for i, r := range engines {
		def, err := r.Encode()
		if err != nil {
			return err
		}
		at[r.Name] = i
		c.Engines = append(c.Engines, crawl.Engine{Name: r.Name, Type: v.Engines[i].Type, Def: def, Robots: r.IgnoreRobots, Each: v.Engines[i].Clock == "address"})
	}
	for _, t := range split.Order(tasks, v.Seed) {
		for _, s := range t.Searches {
			u, err := crawl.Parse(s.URL)
			if err != nil {
				return fmt.Errorf("virtual: %s: %w", s.URL, err)
			}
			c.Searches = append(c.Searches, crawl.Search{Task: uint32(t.Number), Engine: at[s.Engine], Product: s.Product, Words: s.Words, Site: s.Site, URL: u.String()})
		}
	}
	if b, err := crawl.Marshal(c); err != nil || len(b) > crawl.MaxCollect {
		return errors.Join(err, fmt.Errorf("virtual: %d searches have %d KiB; a job travels in one message, with at most %d: split it into several", len(c.Searches), len(b)>>10, crawl.MaxCollect>>10))
	}
	out.Identity.Collect, out.Identity.Scope, out.Identity.Seeds = c, crawl.ScopeAny, nil
	out.Placing.Strategy = strategyOf(v.Policies, out.Placing.Strategy)
	return nil
}

// strategyOf is the strategy of a virtual task: the one that is given, with what is switched off.
func strategyOf(p split.Policies, given string) string {
	if given == "" {
		given = split.Strategy
		if p.Assignment == "off" {
			given = "random"
		}
	}
	if p.Modification == "off" && strings.HasPrefix(given, "feedback") {
		given += ",modify=off"
	}
	return given
}

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/fleet/agent"
	"argosy/internal/page/engine"
	"argosy/internal/page/parse"
	"argosy/internal/page/topic"
)

// A result whose title, text and URL name half of the topic is taken for a page about it; of the others that stand on a page of results so
// many are looked at, for some engines show titles only. The page of results of which fewer than a quarter are about the topic (as in ACHE's
// SeedFinder) is the last one, and so is the twentieth.
const (
	promisingFrom   = 0.5
	mostLookedAt    = 10
	leastPrecision  = 0.25
	mostResultPages = 20
)

// seedSearch asks search engines for the words of a topic: what they find is where a crawl begins.
type seedSearch struct {
	words []string
	judge *topic.Judge
	ask   *asker
	say   func(line string)

	had    *agent.Had // keeps the pages that were looked at for the crawl; nil: nobody does
	judged int64      // pages that were looked at,
	off    int64      // and of them, those that are not about the topic

	found    []string
	known    map[string]bool
	answered bool // by at least one engine
}

// seedEngines returns the engines that are to be asked for seeds, and the topic that they are asked for.
func (f *crawlFlags) seedEngines() (engines []*engine.Ready, about *crawl.Topic, err error) {
	if f.job.Topic.Words == "" {
		return nil, nil, usage("--seeds-from %s: what is it to be asked for? A topic of key words is wanted (--topic)", f.job.SeedsFrom[0])
	}
	if about, err = f.job.Topic.Made(); err != nil {
		return nil, nil, usage("%v", err)
	}
	cat, err := f.job.Catalogue.With(f.job.Engines)
	if err != nil {
		return nil, nil, usage("engines: %v", err)
	}
	for _, name := range f.job.SeedsFrom {
		e, err := cat.Get(name)
		if err != nil {
			return nil, nil, usage("--seeds-from: %v", err)
		}
		engines = append(engines, e)
	}
	return engines, about, nil
}

// searched returns the seeds that the engines of a job find, nil if it names none. Where others are given it need not find any. say is told
// how each page of results did.
func (f *crawlFlags) searched(ctx context.Context, others bool, say func(string)) ([]string, error) {
	if len(f.job.SeedsFrom) == 0 || f.recalled {
		return nil, nil
	}
	engines, about, err := f.seedEngines()
	if err != nil {
		return nil, err
	}
	s := seedSearch{words: strings.Fields(f.job.Topic.Words), judge: topic.NewJudge(about), say: say, known: map[string]bool{}, had: f.had}
	limits := crawl.DefaultLimits()
	f.job.Limits.Apply(&limits)
	if s.ask, err = f.asker(limits.Delay, orElse(f.job.Fetch.UserAgent, defaultAgent)); err != nil {
		return nil, err
	}
	for _, e := range engines {
		if err := s.through(ctx, e); ctx.Err() != nil {
			return nil, ctx.Err()
		} else if err != nil {
			say(err.Error()) // another one may answer
		}
	}
	s.sayJudged()
	why := ""
	switch {
	case !s.answered:
		why = "no engine has answered"
	case len(s.found) == 0:
		why = fmt.Sprintf("no result is about %q", f.job.Topic.Words)
	}
	switch {
	case why != "" && others:
		say("--seeds-from: " + why + ": the seeds that are given have to do")
	case !s.answered:
		return nil, &exitError{exitFailed, fmt.Errorf("--seeds-from: %s: give seeds or another engine", why)}
	case why != "":
		return nil, &exitError{exitFailed, fmt.Errorf("--seeds-from: %s: give seeds, other words or another engine", why)}
	}
	return s.found, s.ask.rest(ctx)
}

// sayJudged says what it has cost to judge results.
func (s *seedSearch) sayJudged() {
	if s.judged == 0 {
		return
	}
	again := "the others are not asked for again"
	if s.had == nil {
		again = "nodes ask for the others again"
	}
	s.say(fmt.Sprintf("%s looked at to judge results: %d are not about the topic and in no count, %s", plural(s.judged, "page"), s.off, again))
}

// through takes in what an engine finds about the topic, page by page until its precision falls.
func (s *seedSearch) through(ctx context.Context, e *engine.Ready) error {
	w, err := engine.NewWalk(e, engine.Search{Words: s.words}, mostResultPages)
	if named := (*engine.Error)(nil); errors.As(err, &named) {
		return err // it names the engine
	} else if err != nil {
		return fmt.Errorf("engine %s: %w", e.Name, err)
	}
	for address, ok := w.Next(); ok; address, ok = w.Next() {
		before := len(w.Results)
		if _, _, err := take(ctx, s.ask, e, w, address); err != nil {
			return err
		}
		if w.Last != engine.Found && w.Last != engine.Empty {
			return fmt.Errorf("engine %s: %s", e.Name, w.Stop)
		}
		if s.answered = true; w.Last == engine.Empty {
			break
		}
		fresh := w.Results[before:]
		about, of, unread := s.results(ctx, fresh)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		low := float64(about) < leastPrecision*float64(of) || of == 0
		line := fmt.Sprintf("%s, page %d: %s, %d of %d about the topic", e.Name, w.Pages, plural(int64(len(fresh)), "result"), about, of)
		if len(unread) > 0 {
			line += ", " + unreadable(unread)
		}
		if low {
			line += ": no more is asked"
		}
		if s.say(line); low {
			return nil
		}
	}
	s.say(fmt.Sprintf("%s: %s", e.Name, w.Stop))
	return nil
}

// results takes in a page of results; it returns how many are about the topic, of how many that is known, and why others could not be read.
func (s *seedSearch) results(ctx context.Context, of []engine.Result) (about, known int, unread map[string]int64) {
	looked := 0
	unread = map[string]int64{}
	for _, r := range of {
		on, was := s.known[r.URL]
		if !was {
			if on = s.judge.Short(r.Title, r.Text, r.URL) >= promisingFrom; !on {
				if looked++; looked > mostLookedAt || ctx.Err() != nil {
					continue
				}
				var why string
				if on, why = s.look(ctx, r.URL); why != "" {
					unread[why]++
					continue
				}
			}
			if s.known[r.URL] = on; on {
				s.found = append(s.found, r.URL)
			}
		}
		if known++; on {
			about++
		}
	}
	return about, known, unread
}

// unreadable says how many results could not be read, and why most of them could not.
func unreadable(unread map[string]int64) string {
	all, why := int64(0), ""
	for _, w := range slices.Sorted(maps.Keys(unread)) {
		if all += unread[w]; unread[w] > unread[why] {
			why = w
		}
	}
	return fmt.Sprintf("%d could not be read (%s)", all, why)
}

// look reports whether a page is about the topic; why is not empty if it could not be read.
func (s *seedSearch) look(ctx context.Context, address string) (on bool, why string) {
	u, err := crawl.Parse(address)
	if err != nil {
		return false, err.Error()
	}
	s.ask.had = s.had
	got, err := s.ask.get(ctx, u, false, maxExample)
	s.ask.had = nil
	if err != nil {
		return false, err.Error()
	}
	if got.Status != http.StatusOK {
		return false, strings.TrimSpace(fmt.Sprintf("%d %s", got.Status, http.StatusText(got.Status)))
	}
	if kind, _, _ := mime.ParseMediaType(got.Type); !parse.IsXHTML(kind) && parse.TypeOf(kind) != parse.HTML {
		return false, "not HTML"
	}
	page, _ := decodedPage(got.Body, got.Type)
	s.judged++
	if on = s.judge.Page(page) >= s.judge.Topic.Threshold; !on {
		s.off++
	}
	return on, ""
}

// take asks an engine for the next page of a walk; it returns where the answer came from, and what was read of it.
func take(ctx context.Context, a *asker, e *engine.Ready, w *engine.Walk, address string) (from string, r engine.Reading, err error) {
	u, err := crawl.Parse(address)
	if err != nil {
		return "", r, fmt.Errorf("engine %s: %q: %w", e.Name, address, err)
	}
	got, err := a.get(ctx, u, e.IgnoreRobots, engine.MaxAnswer+1)
	if errors.Is(err, errDisallowed) {
		host, _ := url.Parse(got.URL)
		return "", r, fmt.Errorf("engine %s: robots.txt of %s disallows this search; the option of an engine that asks nevertheless is ignore_robots", e.Name, host.Host)
	}
	if err != nil {
		return "", r, fmt.Errorf("engine %s: %s: %w", e.Name, address, err)
	}
	return got.URL, w.Take(got), nil
}

// sayOnError writes a line on standard error.
func sayOnError(line string) { fmt.Fprintln(os.Stderr, "argosy: "+line) }

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/config"
	"argosy/internal/crawl"
	"argosy/internal/durable"
	"argosy/internal/fleet/assemble"
	"argosy/internal/page/engine"
	"argosy/internal/page/fetch"
)

// ownEngines is the file of a user's engines.
type ownEngines struct{ path string }

func (o *ownEngines) flag(c *cobra.Command) {
	c.Flags().StringVar(&o.path, "engines", "", "file of your own engines (default: argosy/engines.yaml in the directory for configurations, where it is)")
}

// file names the file, and says whether it must be there.
func (o *ownEngines) file() (path string, given bool, err error) {
	if o.path != "" {
		return o.path, true, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", false, fmt.Errorf("--engines: %w", err)
	}
	return filepath.Join(dir, "argosy", "engines.yaml"), false, nil
}

// source reads the file; where it is not there, and need not be, its name is empty.
func (o *ownEngines) source() (s config.Source, err error) {
	path, given, err := o.file()
	if err != nil {
		return s, nil // a user without a home has no engines
	}
	s.Data, err = readBounded(path)
	if errors.Is(err, os.ErrNotExist) && !given {
		return s, nil
	}
	s.Name = path
	return s, err
}

// catalogue is the engines that Argosy knows and those of the user.
func (o *ownEngines) catalogue() (*engine.Catalogue, error) {
	s, err := o.source()
	if err != nil {
		return nil, usage("--engines: %v", err)
	}
	var files []config.Source
	if s.Name != "" {
		files = append(files, s)
	}
	c, err := config.Catalogue(files...)
	if err != nil {
		return nil, usage("%v", err)
	}
	return c, nil
}

// within returns a job file that needs no other: the engines of the user that its virtual task names stand in it.
func (o *ownEngines) within(file []byte, j *config.Job) ([]byte, *engine.Catalogue, error) {
	cat, err := o.catalogue()
	if err != nil {
		return nil, nil, err
	}
	shipped, err := config.Catalogue()
	if err != nil {
		return nil, nil, err
	}
	var more []engine.Engine
	for _, u := range j.Virtual.Engines {
		name := orElse(u.Like, u.Name)
		mine, err := cat.Get(name)
		if err != nil {
			continue // the virtual task's own, or a mistake that is found later
		}
		if theirs, err := shipped.Get(name); err != nil || !reflect.DeepEqual(mine.Engine, theirs.Engine) {
			if !slices.ContainsFunc(append(more, j.Engines...), func(e engine.Engine) bool { return e.Name == name }) {
				more = append(more, mine.Engine)
			}
		}
	}
	if len(more) == 0 {
		return file, cat, nil
	}
	text, err := config.WriteEngines(append(more, j.Engines...)...)
	if err != nil {
		return nil, nil, err
	}
	if len(j.Engines) > 0 || bytes.HasPrefix(bytes.TrimSpace(file), []byte("{")) {
		return nil, nil, usage("engine %s is of your own file, and the job has a list of engines, or is JSON: put the engine into the job (argosy engine show %s prints it)", more[0].Name, more[0].Name)
	}
	return append(append(bytes.TrimRight(slices.Clone(file), "\n"), '\n'), text...), cat, nil
}

func newEngine() *cobra.Command {
	c := &cobra.Command{
		Use: "engine", Short: "List, show, add and try search engines", Args: cobra.NoArgs,
		Long: `Search engines are data: how a search is written as a URL, and where in an answer the results, the next page, the stated
number of results and the signs of a block stand. Argosy knows some programs (MediaWiki, SearXNG, Omega) and public engines;
yours are in a file of the same form. docs/engines.md describes it.`,
		Example: "  argosy engine list\n  argosy engine test wikipedia web crawler --pages 2",
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newEngineList(), newEngineShow(), newEngineAdd(), newEngineTest())
	return c
}

func newEngineList() *cobra.Command {
	var own ownEngines
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List the engines of the catalogue", Args: cobra.NoArgs, Example: "  argosy engine list",
		RunE: func(c *cobra.Command, _ []string) error {
			cat, err := own.catalogue()
			if err != nil {
				return err
			}
			t := newColumns(c.OutOrStdout())
			for _, name := range cat.Names() {
				e, err := cat.Get(name)
				if err != nil {
					return err
				}
				if asJSON {
					if err := printJSON(c.OutOrStdout(), map[string]string{"name": e.Name, "about": e.About, "format": e.Format, "base": e.Base}); err != nil {
						return err
					}
					continue
				}
				fmt.Fprintf(t, "%s\t%s\t%s\n", e.Name, e.Format, e.About)
			}
			return t.Flush()
		},
	}
	own.flag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON lines")
	return c
}

func newEngineShow() *cobra.Command {
	var own ownEngines
	c := &cobra.Command{
		Use: "show NAME", Short: "Print an engine as a file of engines has it, with what it takes from others", Args: cobra.ExactArgs(1),
		Example: "  argosy engine show mediawiki-api > engines.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			cat, err := own.catalogue()
			if err != nil {
				return err
			}
			e, err := cat.Get(args[0])
			if err != nil {
				return usage("%v", err)
			}
			whole := e.Engine
			whole.Like = ""
			b, err := config.WriteEngines(whole)
			if err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(b)
			return err
		},
	}
	own.flag(c)
	return c
}

// engineFlags are those of commands that ask engines.
type engineFlags struct {
	crawlFlags
	ownEngines
	delay time.Duration
	agent string
}

func (f *engineFlags) flags(c *cobra.Command) {
	f.ownEngines.flag(c)
	f.askFlags(c)
}

// askFlags adds the flags that say how sites are asked.
func (f *engineFlags) askFlags(c *cobra.Command) {
	f.guard(c)
	f.trust(c, "")
	c.Flags().DurationVar(&f.delay, "delay", time.Second, "between two requests to one site")
	c.Flags().StringVar(&f.agent, "user-agent", defaultAgent, "User-Agent field")
}

func (f *engineFlags) asker() (*asker, error) {
	if f.delay < 0 {
		return nil, usage("--delay %s: want at least 0", f.delay)
	}
	return f.crawlFlags.asker(f.delay, f.agent)
}

// asker returns who asks sites beside a crawl, by the flags of the network.
func (f *crawlFlags) asker(delay time.Duration, agent string) (*asker, error) {
	return f.askerWithin(crawl.DefaultLimits().Fetch, delay, agent)
}

// askerWithin returns who asks sites beside a crawl, within limits of requests.
func (f *crawlFlags) askerWithin(limits crawl.FetchLimits, delay time.Duration, agent string) (*asker, error) {
	var cfg assemble.Config
	if err := f.network(&cfg); err != nil {
		return nil, err
	}
	cfg.Fetch.Limits = limits
	cl, err := fetch.NewClient(cfg.Fetch)
	if err != nil {
		return nil, usage("%v", err)
	}
	a := newAsker(cl, delay, agent)
	return &a, nil
}

func newEngineAdd() *cobra.Command {
	f := &engineFlags{}
	var name string
	c := &cobra.Command{
		Use: "add URL", Short: "Read an OpenSearch description and add the engine to your file", Args: cobra.ExactArgs(1),
		Long: `Add fetches a page of a site or its OpenSearch description, and writes what it says into your file of engines. MediaWiki and
SearXNG are known by it; of others, answers in RSS or Atom are read in full, and of HTML alone the links to other hosts are
taken, until you say where the results are.`,
		Example: "  argosy engine add https://wiki.example/ --name ourwiki",
		RunE: func(c *cobra.Command, args []string) error {
			u, err := crawl.Parse(args[0])
			if err != nil {
				return usage("%q: %v", args[0], err)
			}
			a, err := f.asker()
			if err != nil {
				return err
			}
			e, note, err := describe(c.Context(), a, u)
			if err != nil {
				return err
			}
			if name != "" {
				e.Name = name
			} else if err := f.free(e.Name); err != nil {
				return err
			}
			path, err := f.add(e)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%s is in %s; try it: argosy engine test %s WORDS\n", e.Name, path, e.Name)
			if note != "" {
				fmt.Fprintln(c.OutOrStdout(), "note: "+note)
			}
			return nil
		},
	}
	f.flags(c)
	c.Flags().StringVar(&name, "name", "", "what to call it (default: as the description does)")
	return c
}

// describe fetches a description, directly or by the page that names it. Its errors say of which address they are.
func describe(ctx context.Context, a *asker, u crawl.URL) (e engine.Engine, note string, err error) {
	for range 2 {
		got, err := a.get(ctx, u, false, engine.MaxAnswer)
		switch {
		case err != nil:
			return e, "", fmt.Errorf("%s: %w", u, err)
		case got.Status != 200:
			return e, "", fmt.Errorf("%s answered %d", got.URL, got.Status)
		}
		if u, err = crawl.Parse(got.URL); err != nil {
			return e, "", err
		}
		if e, note, err = engine.Describe(got.Body, got.Type, u); err == nil {
			return e, note, usable(u, e)
		}
		next, ok := engine.DescriptionLink(got.Body, got.Type, u)
		switch {
		case !errors.Is(err, engine.ErrNotDescription):
			return e, "", fmt.Errorf("%s: %w", u, err)
		case !ok:
			return e, "", fmt.Errorf("%s: neither an OpenSearch description nor a page that names one (%w)", u, err)
		}
		u = next
	}
	return e, "", fmt.Errorf("%s: it is named as a description, and is a page that names one", u)
}

// usable says why an engine cannot be asked that a description at an address describes.
func usable(at crawl.URL, e engine.Engine) error {
	cat, err := config.Catalogue()
	if err == nil {
		_, err = cat.With([]engine.Engine{e})
	}
	if of := (*engine.Error)(nil); errors.As(err, &of) {
		err = fmt.Errorf("what it describes is no engine that can be asked: %s: %w", of.Key, of.Err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return nil
}

// free refuses a name that a description gives itself and an engine of the catalogue has: jobs that say it mean that one.
func (o *ownEngines) free(name string) error {
	path, _, err := o.file()
	if err != nil {
		return err
	}
	cat, err := config.Catalogue()
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err == nil {
		if cat, err = o.catalogue(); err != nil {
			return err
		}
	}
	if _, err := cat.Get(name); err == nil {
		return usage("it calls itself %s, and the catalogue has an engine of this name already: give it another with --name", name)
	}
	return nil
}

// add writes an engine into the user's file, which stays as it is otherwise.
func (o *ownEngines) add(e engine.Engine) (path string, err error) {
	path, _, err = o.file()
	if err != nil {
		return "", err
	}
	old, err := readBounded(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", usage("--engines: %v", err)
	}
	out, err := config.AddEngine(config.Source{Name: path, Data: old}, e)
	if err != nil {
		return "", usage("%v", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return path, durable.WriteFile(path, out, 0o644)
}

func newEngineTest() *cobra.Command {
	f := &engineFlags{}
	var site, base string
	var pages int
	var asJSON bool
	c := &cobra.Command{
		Use: "test NAME WORD…", Short: "Ask an engine, and print what is found in its answers", Args: cobra.MinimumNArgs(2),
		Long: `Test asks an engine for words, page by page, obeying its robots.txt and your delay, and prints of each page what was found: the
verdict (found, empty, blocked, changed, failed), the stated number of results and what kind of number it is, and the results. It
ends with 0 when the engine answered, also when it has nothing, and with 1 when it did not, or could not be read.`,
		Example: "  argosy engine test wikipedia web crawler\n  argosy engine test mediawiki patent --base http://127.0.0.1:8080/w --allow-private --pages 3 --json",
		RunE: func(c *cobra.Command, args []string) error {
			cat, err := f.catalogue()
			if err != nil {
				return err
			}
			if base != "" {
				if cat, err = cat.With([]engine.Engine{{Name: args[0], Base: base}}); err != nil {
					return usage("--base: %v", err)
				}
			}
			e, err := cat.Get(args[0])
			if err != nil {
				return usage("%v", err)
			}
			w, err := engine.NewWalk(e, engine.Search{Words: args[1:], Site: site}, pages)
			if err != nil {
				return usage("%v", err)
			}
			a, err := f.asker()
			if err != nil {
				return err
			}
			return tryEngine(c.Context(), c.OutOrStdout(), a, e, w, asJSON)
		},
	}
	f.flags(c)
	c.Flags().StringVar(&site, "site", "", "restrict the search to a host, or a host and a path")
	c.Flags().StringVar(&base, "base", "", "address of the program, for engines whose URL has {base}")
	c.Flags().IntVar(&pages, "pages", 1, "pages at most")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON lines, one a page")
	return c
}

// tryEngine walks and prints.
func tryEngine(ctx context.Context, out io.Writer, a *asker, e *engine.Ready, w *engine.Walk, asJSON bool) error {
	for address, ok := w.Next(); ok; address, ok = w.Next() {
		from, r, err := take(ctx, a, e, w, address)
		if err != nil {
			return err
		}
		if asJSON {
			err = printJSON(out, struct {
				URL string `json:"url"`
				engine.Reading
			}{from, r})
		} else {
			err = printReading(out, from, r)
		}
		if err != nil {
			return err
		}
	}
	if !asJSON {
		fmt.Fprintf(out, "%s on %s; stated: %s; ended: %s\n", plural(int64(len(w.Results)), "result"), plural(int64(w.Pages), "page"), w.Stated, w.Stop)
	}
	if w.Last != engine.Found && w.Last != engine.Empty {
		return &exitError{exitFailed, fmt.Errorf("engine %s: %s", e.Name, w.Stop)}
	}
	return nil
}

func printReading(out io.Writer, address string, r engine.Reading) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  %s", address, r.Verdict)
	if r.Reason != "" {
		fmt.Fprintf(&b, ": %s", r.Reason)
	}
	fmt.Fprintf(&b, "; %s, stated: %s", plural(int64(len(r.Results)), "result"), r.Stated)
	if r.Cut {
		fmt.Fprint(&b, "; there are more, which are not read")
	}
	if r.Dropped > 0 {
		fmt.Fprintf(&b, "; %d without an address", r.Dropped)
	}
	fmt.Fprintln(&b)
	for _, res := range r.Results {
		fmt.Fprintf(&b, "  %s  %s\n", res.URL, res.Title)
	}
	if r.Next != "" {
		fmt.Fprintf(&b, "  next: %s\n", r.Next)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

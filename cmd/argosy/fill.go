package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"argosy/internal/config"
	"argosy/internal/crawl"
	"argosy/internal/plan/strategy"
)

// limitFlag is the flag of a limit.
type limitFlag struct {
	of *config.Limits
	is crawl.Limit
}

// String returns the limit as it was given, or its default.
func (v limitFlag) String() string {
	if v.of == nil {
		return ""
	}
	if n, ok := (*v.of)[v.is.Name]; ok {
		return v.is.Format(n)
	}
	def := crawl.DefaultLimits()
	return v.is.Format(v.is.Of(&def))
}

// Set takes in what was given.
func (v limitFlag) Set(s string) error { return v.of.Give(v.is.Name, s) }

// Type is the word for the value in the help.
func (v limitFlag) Type() string {
	return map[crawl.Unit]string{crawl.UnitCount: "int", crawl.UnitSpan: "duration", crawl.UnitSize: "size"}[v.is.Unit]
}

// flagOf returns the flag of a limit's name.
func flagOf(limit string) string { return strings.ReplaceAll(limit, "_", "-") }

// limitFlags adds a flag for every limit.
func limitFlags(fl *pflag.FlagSet, l *config.Limits) {
	for _, d := range crawl.AllLimits {
		fl.Var(limitFlag{l, d}, flagOf(d.Name), d.Doc)
	}
}

// notDefaults are flags that a file of defaults cannot have.
var notDefaults = []string{"config", "job", "site-config", "out", "seeds", "help"}

// values returns what a flag is set to.
func values(fl *pflag.Flag) []string {
	if many, ok := fl.Value.(pflag.SliceValue); ok {
		return many.GetSlice()
	}
	return []string{fl.Value.String()}
}

// assign sets a flag. That it was given on the command line is not its business.
func assign(fl *pflag.Flag, to []string) error {
	if many, ok := fl.Value.(pflag.SliceValue); ok {
		return many.Replace(to)
	}
	if len(to) != 1 {
		return fmt.Errorf("%d values: want one", len(to))
	}
	return plainNumberError(fl.Value.Set(to[0]))
}

// fill makes the flags' values and the job of everything that was given: the defaults of --config first, over them the file of
// --job, over that the command line.
func (f *crawlFlags) fill(c *cobra.Command) error {
	line := map[*pflag.Flag][]string{}
	c.Flags().VisitAll(func(fl *pflag.Flag) {
		if fl.Changed {
			line[fl] = values(fl)
		}
	})
	if err := f.readDefaults(c); err != nil {
		return err
	}
	if f.job.Placing.Strategy == strategy.Default {
		f.job.Placing.Strategy = "" // it depends on the job
	}
	if err := f.readJob(); err != nil {
		return err
	}
	if f.job.Placing.Strategy == "" && f.job.Virtual == nil {
		f.job.Placing.Strategy = strategy.Default
	}
	if err := f.readSites(); err != nil {
		return err
	}
	for fl, to := range line {
		if err := assign(fl, to); err != nil {
			return usage("--%s: %w", fl.Name, err)
		}
	}
	return nil
}

// readDefaults takes in the file of --config: names of flags, and what they are when nothing else says so.
func (f *crawlFlags) readDefaults(c *cobra.Command) error {
	if f.configFile != "" {
		b, err := readBounded(f.configFile)
		if err != nil {
			return usage("--config: %w", err)
		}
		settings, err := config.ReadSettings(b)
		if err != nil {
			return usage("%s: %w", f.configFile, err)
		}
		f.defaults = map[string][]string{}
		for _, s := range settings {
			fl := c.Flags().Lookup(strings.ReplaceAll(s.Name, "_", "-"))
			if fl == nil || slices.Contains(notDefaults, fl.Name) {
				return usage("%s: line %d: %q: allowed are names of flags of %s, but not %s", f.configFile, s.Line, s.Name, c.CommandPath(), strings.Join(notDefaults, ", "))
			}
			if err := assign(fl, s.Values); err != nil {
				return usage("%s: line %d: %s: %w", f.configFile, s.Line, s.Name, err)
			}
			f.defaults[fl.Name] = s.Values
		}
		return nil
	}
	for name, to := range f.defaults { // of the time when the crawl was begun
		if fl := c.Flags().Lookup(name); fl != nil {
			if err := assign(fl, to); err != nil {
				return usage("the --config that this crawl was begun with: --%s: %w", name, err)
			}
		}
	}
	return nil
}

// jobBefore stands for the name of a job file that the directory remembers.
const jobBefore = "the --job that this crawl was begun with"

// blame returns the error of what is wrong with a job, which names a key of job files: the flag is named where it was given. Else it may
// be the job file's.
func (f *crawlFlags) blame(c *cobra.Command, err error) error {
	key, rest, ok := strings.Cut(err.Error(), ": ")
	name := strings.ReplaceAll(key[strings.LastIndexByte(key, '.')+1:], "_", "-")
	if fl := c.Flags().Lookup(name); ok && fl != nil && fl.Changed {
		return usage("--%s: %s", name, rest)
	}
	if f.jobText == "" {
		return usage("%w", err)
	}
	return virtualMistake(orElse(f.jobFile, jobBefore), []byte(f.jobText), err)
}

// readJob takes in the file of --job, or the one that the crawl was begun with.
func (f *crawlFlags) readJob() error {
	name := f.jobFile
	if name != "" {
		b, err := readBounded(name)
		if err != nil {
			return usage("--job: %w", err)
		}
		f.jobText = string(b)
	} else if name = jobBefore; f.jobText == "" {
		return nil
	}
	f.job.Include, f.job.Exclude, f.job.Sites = nil, nil, nil // lists are the file's, or the command line's
	if err := config.ReadOver(strings.NewReader(f.jobText), &f.job); err != nil {
		return usage("%s: %w", name, err)
	}
	f.job.SeedsFile = beside(name, f.job.SeedsFile)
	for _, w := range f.job.Warnings() {
		fmt.Fprintf(os.Stderr, "argosy: %s: %s\n", name, w)
	}
	return nil
}

// readSites takes in the file of --site-config, or the one that the crawl was begun with.
func (f *crawlFlags) readSites() error {
	name := f.siteFile
	if name != "" {
		b, err := readBounded(name)
		if err != nil {
			return usage("--site-config: %w", err)
		}
		f.siteText = string(b)
	} else if name = "the --site-config that this crawl was begun with"; f.siteText == "" {
		return nil
	}
	sites, err := config.ReadSites([]byte(f.siteText))
	if err != nil {
		return usage("%s: %w", name, err)
	}
	f.job.Sites = append(f.job.Sites, sites...)
	return nil
}

// beside resolves a path that a file names, relative to that file.
func beside(file, path string) string {
	if path == "" || path == "-" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}

// readBounded reads a file of text, - is standard input, of at most the size of a job file. A byte order mark before it is left out.
func readBounded(path string) ([]byte, error) {
	b, err := readAtMost(path, config.MaxFile)
	return bytes.TrimPrefix(b, []byte("\ufeff")), err
}

// maxSmall bounds files of tokens, cookies and certificates, in bytes. The system's bundle of all authorities has a quarter of it.
const maxSmall = 1 << 20

// readSmall reads such a file, which is never standard input.
func readSmall(path string) ([]byte, error) {
	if path == "-" {
		path = "./-"
	}
	return readAtMost(path, maxSmall)
}

// errLarge says that a file is longer than what it is read for may be.
var errLarge = errors.New("it is too large")

// readAtMost reads a file, - is standard input, of at most so many bytes.
func readAtMost(path string, most int64) ([]byte, error) {
	in := io.Reader(os.Stdin)
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	b, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(b)) > most {
		return nil, fmt.Errorf("%s: %w: allowed are %d bytes", path, errLarge, most)
	}
	return b, err
}

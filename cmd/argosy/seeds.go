package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"argosy/internal/config"
	"argosy/internal/crawl"
	"argosy/internal/durable"
	"argosy/internal/fleet/agent"
)

// seedSource calls fn for every seed as it was given, and where. It can be asked again.
type seedSource func(fn func(text string, where func() string) error) error

// seedSet are the seeds of a crawl. Few stand in the job; of many only the number and a digest are kept, and they are read again
// when they are handed over.
type seedSet struct {
	seeds  []string
	bare   []bool
	texts  []string // as they were given, without their passwords
	list   *crawl.SeedList
	source seedSource
	login  func(string) (string, error)
}

// givenSeeds is the source of seeds that are at hand.
func givenSeeds(texts []string, where func(i int) string) seedSource {
	return func(fn func(string, func() string) error) error {
		for i, text := range texts {
			if err := fn(text, func() string { return where(i) }); err != nil {
				return err
			}
		}
		return nil
	}
}

// seedFile is the source of a file's seeds; - is standard input, which is kept in a file that has no name, to be read again.
func seedFile(path string) (seedSource, error) {
	open := func() (io.ReadCloser, error) { return os.Open(path) }
	if path != "-" {
		switch st, err := os.Stat(path); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("there is no file %s; want one with a seed a line, or - for standard input", path)
		case err != nil:
			return nil, err
		case st.IsDir():
			return nil, fmt.Errorf("%s is a directory; want a file with a seed a line, or - for standard input", path)
		}
	}
	if path == "-" {
		spool, err := os.CreateTemp("", "argosy-seeds-")
		if err != nil {
			return nil, err
		}
		n, err := io.Copy(spool, os.Stdin)
		if err = errors.Join(err, os.Remove(spool.Name())); err != nil {
			return nil, err
		}
		open = func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(spool, 0, n)), nil }
	}
	return func(fn func(string, func() string) error) error {
		in, err := open()
		if err != nil {
			return fmt.Errorf("seeds: %w", err)
		}
		defer in.Close()
		some := false
		err = config.SeedLines(in, func(line int, text string) error {
			some = true
			return fn(text, func() string { return fmt.Sprintf("%s:%d", path, line) })
		})
		if err != nil && !errors.Is(err, errSeedsChanged) {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err == nil && !some {
			return usage("%s: no seed in it; want URLs or host names, one a line (# begins a comment)", path)
		}
		return err
	}, nil
}

// chained is one source after the other.
func chained(all ...seedSource) seedSource {
	return func(fn func(string, func() string) error) error {
		for _, s := range all {
			if err := s(fn); err != nil {
				return err
			}
		}
		return nil
	}
}

// readSeeds reads all seeds of a source once, and names the bad ones.
func readSeeds(source seedSource, login func(string) (string, error)) (*seedSet, error) {
	s := &seedSet{source: source, login: login}
	check := config.SeedChecker{Login: login}
	var digest crawl.SeedDigest
	seen, size := map[string]bool{}, 0
	err := source(func(text string, where func() string) error {
		seed, ok := check.Read(text, where)
		if !ok {
			return nil
		}
		digest.Add(seed.URL, seed.NoScheme)
		if seen == nil || seen[seed.URL] {
			return nil
		}
		if size += crawl.SeedSize(seed.URL); size > crawl.MaxInline {
			seen, s.seeds, s.bare, s.texts = nil, nil, nil, nil
			return nil
		}
		seen[seed.URL] = true
		s.seeds, s.bare, s.texts = append(s.seeds, seed.URL), append(s.bare, seed.NoScheme), append(s.texts, seed.Text)
		return nil
	})
	if err == nil {
		err = check.Err()
	}
	if seen == nil {
		list := digest.List()
		s.list = &list
	}
	return s, err
}

// errSeedsChanged says that seeds were read twice and differed.
var errSeedsChanged = errors.New("the seeds have changed since they were read first")

// each reads the seeds again.
func (s *seedSet) each(fn func(config.Seed) error) error {
	check := config.SeedChecker{Login: s.login}
	return s.source(func(text string, where func() string) error {
		seed, ok := check.Read(text, where)
		if !ok {
			return errSeedsChanged
		}
		return fn(seed)
	})
}

// chunks hands a list over, from a number of seeds on. Nothing is handed over of a list that has changed, but what stood before
// the change and was handed over by then; its end never is.
func (s *seedSet) chunks(from int64, send func(crawl.SeedChunk) error) error {
	var digest crawl.SeedDigest
	chunk, size, n := crawl.SeedChunk{From: from}, 0, int64(0)
	err := s.each(func(seed config.Seed) error {
		digest.Add(seed.URL, seed.NoScheme)
		if n++; n > s.list.Count {
			return errSeedsChanged
		}
		if n <= from || chunk.Add(seed.URL, seed.NoScheme, &size) {
			return nil
		}
		if err := send(chunk); err != nil {
			return err
		}
		chunk, size = crawl.SeedChunk{From: chunk.From + int64(len(chunk.URLs))}, 0
		chunk.Add(seed.URL, seed.NoScheme, &size)
		return nil
	})
	if err == nil && digest.List() != *s.list {
		err = errSeedsChanged
	}
	if err != nil || len(chunk.URLs) == 0 {
		return err
	}
	return send(chunk)
}

// keep writes the seeds to a file of the directory, to go on with.
func (s *seedSet) keep(path string) (err error) {
	if _, err := os.Stat(path); err == nil {
		return nil // they are this job's: their digests have been compared
	}
	return durable.Write(path, 0o600, func(w io.Writer) error {
		return s.each(func(seed config.Seed) error {
			_, err := io.WriteString(w, seed.Text+"\n")
			return err
		})
	})
}

// readSeeds collects the seeds of the command line and of the file, or those of the job file.
func (f *crawlFlags) readSeeds(ctx context.Context, args []string) (*seedSet, error) {
	if f.job.Virtual != nil {
		if len(args) > 0 || f.seeds != "" {
			return nil, usage("the job has a virtual task, whose searches are its seeds: give no others")
		}
		return &seedSet{}, nil
	}
	for _, a := range args {
		if _, err := netip.ParsePrefix(a); err == nil {
			return nil, usage("seed %q is a range of addresses: a flag takes it with =, as in --allow-private=%s; a page of that name is http://%[2]s", a, a)
		}
	}
	f.had = &agent.Had{}
	found, err := f.searched(ctx, len(args) > 0 || f.hasSeeds(), sayOnError)
	if err != nil {
		return nil, err
	}
	source, err := f.seedSource(args, found)
	if err != nil {
		return nil, usage("%w", err)
	}
	s, err := readSeeds(source, f.login)
	if err != nil {
		return nil, usage("%w", err)
	}
	return s, nil
}

// hasSeeds reports whether flags or the job file name seeds.
func (f *crawlFlags) hasSeeds() bool {
	return f.seeds != "" || len(f.job.Seeds) > 0 || f.job.SeedsFile != ""
}

// seedSource is the source of all seeds: those of the command line or else of the job, and those that search engines have found.
func (f *crawlFlags) seedSource(args, found []string) (seedSource, error) {
	all := []seedSource{givenSeeds(args, func(int) string { return "argument" }), givenSeeds(found, func(int) string { return "a result of a search" })}
	path, flag := f.seeds, "--seeds"
	if path == "" && len(args) == 0 {
		all = append(all, givenSeeds(f.job.Seeds, func(i int) string { return fmt.Sprintf("%s: seeds[%d]", f.jobFile, i) }))
		path, flag = f.job.SeedsFile, "seeds_file"
	}
	if path != "" {
		file, err := seedFile(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		all = append(all, file)
	} else if len(args)+len(found)+len(f.job.Seeds) == 0 {
		if f.jobFile != "" {
			return nil, errors.New("no seed: the job file names them (seeds, or seeds_file), or --seeds a file of them")
		}
		return nil, errors.New("no seed: give a URL, or a file of them with --seeds; -o DIR alone goes on with a crawl")
	}
	return chained(all...), nil
}

// stream has the seeds follow the job, few as they may be.
func (s *seedSet) stream() {
	if s.list != nil {
		return
	}
	var digest crawl.SeedDigest
	for i, url := range s.seeds {
		digest.Add(url, s.bare[i])
	}
	list := digest.List()
	s.list, s.source = &list, givenSeeds(s.texts, func(int) string { return "" })
	s.seeds, s.bare = nil, nil
}

// login takes the name and password out of a seed, and keeps them for its site.
func (f *crawlFlags) login(seed string) (without string, err error) {
	text, none := seed, !strings.Contains(seed, "://")
	if none {
		text = "https://" + text
	}
	text, login := config.Login(text)
	if login == "" {
		return seed, nil
	}
	u, err := crawl.Parse(text)
	if err != nil {
		return "", fmt.Errorf("seed %q: %w", text, err) // without its password
	}
	name, password, _ := strings.Cut(login, ":")
	if name, err = url.PathUnescape(name); err == nil {
		password, err = url.PathUnescape(password)
	}
	if err != nil || strings.Contains(name, ":") {
		return "", fmt.Errorf("seed %q: its name and password are not percent-encoded", text)
	}
	if f.logins == nil {
		f.logins = map[string]string{}
	}
	login = name + ":" + password
	if was := f.logins[u.Site()]; was != "" && was != login {
		return "", fmt.Errorf("seed %q: another seed of the site has another name or password", text)
	}
	f.logins[u.Site()] = login
	if none {
		text = strings.TrimPrefix(text, "https://")
	}
	return text, nil
}

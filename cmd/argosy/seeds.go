package main

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"argosy/internal/config"
	"argosy/internal/crawl"
)

// readSeeds collects the seeds of the command line and of the file.
func (f *crawlFlags) readSeeds(args []string) (seeds []string, noScheme []bool, err error) {
	type seed struct{ text, where string }
	var given []seed
	for _, a := range args {
		given = append(given, seed{a, "argument"})
	}
	if f.seeds != "" {
		in := io.Reader(os.Stdin)
		if f.seeds != "-" {
			file, err := os.Open(f.seeds)
			if err != nil {
				return nil, nil, usage("--seeds: %w", err)
			}
			defer file.Close()
			in = file
		}
		sc := bufio.NewScanner(in)
		sc.Buffer(nil, 1<<20)
		for n := 1; sc.Scan(); n++ {
			line := sc.Text()
			if n == 1 {
				if strings.HasPrefix(line, "\xff\xfe") || strings.HasPrefix(line, "\xfe\xff") {
					return nil, nil, usage("--seeds %s: it is in UTF-16; want UTF-8", f.seeds)
				}
				line = strings.TrimPrefix(line, "\ufeff")
			}
			line = strings.TrimSpace(line)
			if line != "" && line[0] != '#' {
				given = append(given, seed{line, fmt.Sprintf("%s:%d", f.seeds, n)})
			}
		}
		if err := sc.Err(); err != nil {
			return nil, nil, usage("--seeds %s: %w", f.seeds, err)
		}
	}
	if len(given) == 0 {
		for i, text := range f.job.Seeds {
			given = append(given, seed{text, fmt.Sprintf("%s: seeds[%d]", f.jobFile, i)})
		}
	}
	if len(given) == 0 {
		return nil, nil, usage("no seed: give a URL, or a file of them with --seeds; -o DIR alone goes on with a crawl")
	}
	texts := make([]string, len(given))
	for i := range given {
		if texts[i], err = f.login(given[i].text); err != nil {
			return nil, nil, usage("%s: %w", given[i].where, err)
		}
	}
	f.texts = texts
	seeds, noScheme, err = config.Seeds(texts, func(i int) string { return given[i].where })
	if err != nil {
		return nil, nil, usage("%w", err)
	}
	return seeds, noScheme, nil
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

package config

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"argosy/internal/crawl"
)

// Seed is a seed as a job has it.
type Seed struct {
	URL      string // canonical
	NoScheme bool   // it was given without one
	Text     string // as it was given, without its password
}

// SeedChecker reads seeds one by one and gathers what is wrong with them.
type SeedChecker struct {
	// Login takes the name and password out of a seed; nil: such seeds are refused.
	Login func(text string) (without string, err error)

	bad    []string
	more   int    // than are named
	beyond string // the place of the first of them
	any    bool
}

// Read reads a seed; where names its place, should it be wrong.
func (c *SeedChecker) Read(text string, where func() string) (s Seed, ok bool) {
	c.any = true
	s, err := c.read(text)
	if err == nil {
		return s, true
	}
	if len(c.bad) < maxBadSeeds {
		c.bad = append(c.bad, where()+": "+err.Error())
		return s, false
	}
	if c.more++; c.more == 1 {
		c.beyond = where()
	}
	return s, false
}

func (c *SeedChecker) read(text string) (s Seed, err error) {
	if !utf8.ValidString(text) {
		return s, errors.New("bytes that are not text in UTF-8")
	}
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "\\") {
		return s, fmt.Errorf("seed %.200q begins with a slash", text)
	}
	if scheme, _, ok := strings.Cut(text, ":"); ok && slices.Contains(otherSchemes, strings.ToLower(scheme)) {
		return s, fmt.Errorf("seed %.200q is a %s: address", text, strings.ToLower(scheme))
	}
	if c.Login != nil {
		if text, err = c.Login(text); err != nil {
			return s, err
		}
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return s, fmt.Errorf("seed %.200q: a character that cannot stand in a URL", text)
	}
	s = Seed{Text: text, NoScheme: !hasScheme.MatchString(text)}
	full := text
	if s.NoScheme {
		full = "https://" + text
	}
	if _, login := Login(full); login != "" {
		return s, errors.New("a seed with a name and a password, which a job does not keep: give them to argosy crawl, or to the nodes with --header")
	}
	u, err := crawl.Parse(full)
	if err != nil {
		return s, fmt.Errorf("seed %.200q: %w", text, err)
	}
	s.URL = u.String()
	if len(s.URL) > crawl.MaxURLLength {
		return s, fmt.Errorf("seed of %d bytes; allowed are %d", len(s.URL), crawl.MaxURLLength)
	}
	return s, nil
}

// hasScheme matches what begins with a scheme; one of the web may be followed by one slash, which a browser forgives.
var hasScheme = regexp.MustCompile(`^(?i)([a-z][a-z0-9+.-]*://|https?:[/\\])`)

// otherSchemes begin addresses that are not web pages, and have no slashes that would tell them from a host's name and a port.
var otherSchemes = []string{"about", "blob", "data", "file", "geo", "irc", "javascript", "magnet", "mailto", "news", "sip", "sms", "tel", "urn", "view-source", "xmpp"}

// Err says what was wrong, in one line, or in one for each of several; nil: nothing, and there was a seed.
func (c *SeedChecker) Err() error {
	const allowed = "allowed are http and https URLs and host names"
	switch {
	case !c.any:
		return errors.New("no seed: give at least one URL")
	case len(c.bad) == 0:
		return nil
	case len(c.bad) == 1:
		return fmt.Errorf("%s; %s", c.bad[0], allowed)
	}
	lines := append([]string{fmt.Sprintf("%d seeds are wrong; %s", len(c.bad)+c.more, allowed)}, c.bad...)
	if c.more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more, the first at %s", c.more, c.beyond))
	}
	return errors.New(strings.Join(lines, "\n  "))
}

// maxBadSeeds bounds how many seeds are named that are wrong.
const maxBadSeeds = 1000

// Seeds reads seeds: canonical, each once, and which of them were given without a scheme. where names the place of one.
func Seeds(given []string, where func(i int) string) (seeds []string, bare []bool, err error) {
	var c SeedChecker
	seen := map[string]bool{}
	for i, text := range given {
		if s, ok := c.Read(text, func() string { return where(i) }); ok && !seen[s.URL] {
			seen[s.URL] = true
			seeds, bare = append(seeds, s.URL), append(bare, s.NoScheme)
		}
	}
	if err := c.Err(); err != nil {
		return nil, nil, err
	}
	return seeds, bare, nil
}

// maxSeedLine bounds a line of a file of seeds, in bytes.
const maxSeedLine = 1 << 20

// comment begins one behind a seed: no URL holds white space, and a fragment's # follows none.
var comment = regexp.MustCompile(`\s#`)

// lines is bufio.ScanLines where a carriage return alone ends a line as well.
func lines(data []byte, atEnd bool) (advance int, line []byte, err error) {
	i := bytes.IndexAny(data, "\r\n")
	switch {
	case i < 0 && atEnd && len(data) > 0:
		return len(data), data, nil
	case i < 0, i == len(data)-1 && data[i] == '\r' && !atEnd: // a line feed may follow
		return 0, nil, nil
	case data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n':
		return i + 2, data[:i], nil
	}
	return i + 1, data[:i], nil
}

// SeedLines calls fn for every line of a file of seeds that is neither empty nor a comment, with its number, and without the comment behind
// it. The file may be compressed by gzip.
func SeedLines(in io.Reader, fn func(line int, text string) error) error {
	from := bufio.NewReader(in)
	if start, _ := from.Peek(2); string(start) == "\x1f\x8b" {
		unpacked, err := gzip.NewReader(from)
		if err != nil {
			return err
		}
		from = bufio.NewReader(unpacked)
	}
	sc := bufio.NewScanner(from)
	sc.Buffer(nil, maxSeedLine)
	sc.Split(lines)
	n := 0
	for n = 1; sc.Scan(); n++ {
		line := sc.Text()
		if n == 1 {
			if strings.HasPrefix(line, "\xff\xfe") || strings.HasPrefix(line, "\xfe\xff") {
				return errors.New("it is in UTF-16; want UTF-8")
			}
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if at := comment.FindStringIndex(line); at != nil {
			line = strings.TrimSpace(line[:at[0]])
		}
		if err := fn(n, line); err != nil {
			return err
		}
	}
	if err := sc.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("line %d is longer than %d bytes", n, maxSeedLine)
	} else if err != nil {
		return err
	}
	return nil
}

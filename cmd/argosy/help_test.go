package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every flag of crawl stands under one heading of its help, and ten stand first.
func TestCrawlHelpHasEveryFlagOnce(t *testing.T) {
	c := newCrawl()
	c.InitDefaultHelpFlag()
	var listed []string
	for _, g := range crawlGroups {
		for _, name := range g.flags {
			if slices.Contains(listed, name) {
				t.Errorf("--%s stands twice", name)
			}
			if c.Flags().Lookup(name) == nil {
				t.Errorf("--%s is not a flag", name)
			}
			listed = append(listed, name)
		}
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(listed, f.Name) {
			t.Errorf("--%s stands under no heading", f.Name)
		}
	})
	if n := len(crawlGroups[0].flags); n != 10 {
		t.Errorf("%d flags stand first", n)
	}
	code, out, _ := argosy(t, "crawl", "--help")
	if code != 0 || strings.Index(out, "--scope") > strings.Index(out, "--retries") || !strings.Contains(out, "What matters first:") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

// The help of every command fits a terminal of 80 columns, examples apart: those are to be copied.
func TestHelpFitsATerminal(t *testing.T) {
	examples := regexp.MustCompile(`(?s)\nExamples:\n.*?\n(\n|$)`)
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		var help strings.Builder
		c.SetOut(&help)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(examples.ReplaceAllString(help.String(), "\n")) {
			if len([]rune(strings.TrimRight(line, "\n"))) > helpWidth && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%s: %q", c.CommandPath(), line)
			}
		}
		for _, below := range c.Commands() {
			check(below)
		}
	}
	check(newRoot())
}

func TestReflow(t *testing.T) {
	words := strings.TrimSpace(strings.Repeat("word ", 17)) // 84
	for text, want := range map[string]string{
		"":                                "",
		"one\ntwo":                        "one two",
		"one\n\ntwo":                      "one\n\ntwo",
		"  a    one\n  b    two":          "  a    one\n  b    two",
		words:                             words[:79] + "\nword",
		"  name  " + words:                "  name  " + words[:69] + "\n        " + words[70:],
		"see:\n  " + words[:79]:           "see:\n  " + words[:74] + "\n    word",
		"  a b\n  c d":                    "  a b\n  c d",
		strings.Repeat("x", 90):           strings.Repeat("x", 90),
		"  a  one\n     two\n  b  three":  "  a  one two\n  b  three",
		"über " + strings.Repeat("ä", 75): "über " + strings.Repeat("ä", 75),
	} {
		if got := reflow(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

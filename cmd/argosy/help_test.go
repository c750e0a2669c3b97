package main

import (
	"slices"
	"strings"
	"testing"

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

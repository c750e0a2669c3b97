package argosy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fenced  = regexp.MustCompile("(?s)```.*?```")
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	beside  = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// Every link of a document to a file of the repository, and to a heading in one, leads somewhere.
func TestLinksOfDocuments(t *testing.T) {
	var docs []string
	for _, pattern := range []string{"*.md", "docs/*.md", "bench/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, found...)
	}
	text, anchors := map[string]string{}, map[string]map[string]bool{}
	for _, doc := range docs {
		b, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		text[doc], anchors[doc] = fenced.ReplaceAllString(string(b), ""), map[string]bool{}
		for _, h := range heading.FindAllStringSubmatch(text[doc], -1) {
			anchors[doc][strings.ReplaceAll(beside.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")] = true
		}
	}
	for doc, body := range text {
		for _, m := range link.FindAllStringSubmatch(body, -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			to := doc
			if path != "" {
				to = filepath.Join(filepath.Dir(doc), path)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %s is not there", doc, m[1])
			} else if anchor != "" && anchors[to] != nil && !anchors[to][anchor] {
				t.Errorf("%s: %s has no heading #%s", doc, to, anchor)
			}
		}
	}
}

// What is not released yet stands in the changelog under Added, Changed or Fixed, in entries of two lines at most.
func TestChangelog(t *testing.T) {
	b, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	_, unreleased, _ := strings.Cut(string(b), "\n## Unreleased\n")
	unreleased, _, _ = strings.Cut(unreleased, "\n## ")
	group, lines := "", 0
	for line := range strings.Lines(unreleased) {
		line = strings.TrimSuffix(line, "\n")
		if lines++; strings.HasPrefix(line, "- ") {
			lines = 1
		}
		switch {
		case strings.HasPrefix(line, "### "):
			if group = line[4:]; group != "Added" && group != "Changed" && group != "Fixed" {
				t.Errorf("CHANGELOG.md: unknown group %q; allowed: Added, Changed, Fixed", group)
			}
		case line == "" || line[0] == '#':
		case group == "":
			t.Errorf("CHANGELOG.md: an entry stands under no group (Added, Changed, Fixed): %s", line)
		case lines > 2:
			t.Errorf("CHANGELOG.md: an entry has more than two lines: %s", line)
		}
	}
}

package main

import (
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/verdict"
)

func TestFold(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"a b\n", 3, "a b\n"},
		{"one two three\nfour", 8, "one two\n  three\nfour"},
		{"  10 fetched, 9 pages\n", 15, "  10 fetched, 9\n    pages\n"},
		{"see http://a.test/long/and/longer now\n", 12, "see\n  http://a.test/long/and/longer\n  now\n"},
		{"日本語 日本語\n", 10, "日本語\n  日本語\n"},
		{"it took 9.0 KiB away", 11, "it took\n  9.0 KiB\n  away"},
		{"", 5, ""},
	} {
		if got := folded(c.text, c.columns); got != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}

// The end of a crawl is whole words at any width, and the same words.
func TestSummaryIsFolded(t *testing.T) {
	var b strings.Builder
	sum := ended(crawl.Counts{Discovered: 1234567, Fetched: 1234567, Pages: 1234567, Bytes: 1 << 44}, nil)
	sum.Traps = []crawl.Trap{{Site: "a.test", Template: "/x/#", Example: "http://a.test/x/1", Waiting: 1000, Answers: 2000, Empty: 1999}}
	sum.Troubles = []verdict.Trouble{{Site: "b.test", Why: "no-such-host", URLs: 1}}
	sum.Losses = []verdict.Loss{{Why: "body-large", URLs: 2, Sites: 2, Example: "http://c.test/" + strings.Repeat("long/", 5)}}
	printSummary(&b, sum)
	for _, columns := range []int{60, 80, 120} {
		text := folded(b.String(), columns)
		for line := range strings.Lines(text) {
			if cells(strings.TrimSuffix(line, "\n")) > columns {
				t.Errorf("%d columns: %q", columns, line)
			}
		}
		if strings.Join(strings.Fields(text), " ") != strings.Join(strings.Fields(b.String()), " ") {
			t.Errorf("%d columns: other words:\n%s", columns, text)
		}
	}
}

// A writer that folds writes the same words, whatever the pieces are that it is given.
func TestFolding(t *testing.T) {
	var out strings.Builder
	w := &folder{w: &out, width: 12}
	for _, piece := range []string{"a ta", "ble\n  notes of a", " world\nend", "\n"} {
		if n, err := w.Write([]byte(piece)); err != nil || n != len(piece) {
			t.Fatal(n, err)
		}
	}
	if want := "a table\n  notes of a\n    world\nend\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

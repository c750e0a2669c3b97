package main

import (
	"strings"
	"testing"
)

// What comes from outside cannot steer the terminal that it is shown on.
func TestHarmless(t *testing.T) {
	for text, want := range map[string]string{
		"plain, café, 光明\n\ttwo":          "plain, café, 光明\n\ttwo",
		"\x1b[31mred\x1b[0m \x1b[1;33m!":  "\x1b[31mred\x1b[0m \x1b[1;33m!",
		"\x1b]0;title\x07":                "\uFFFD]0;title\uFFFD",
		"a\r\nb\x00\x7f":                  "a\uFFFD\nb\uFFFD\uFFFD",
		"\x1b[2J\x1b[H\x1b[31":            "\uFFFD[2J\uFFFD[H\uFFFD[31",
		"\u009b31m csi":                   "\uFFFD31m csi",
		"gnp\u202Eexe.\u2066x\u2069":      "gnp\uFFFDexe.\uFFFDx\uFFFD",
		"\x1b[1;1;1;1;1;1;1;1;1;1;1;1;1m": "\uFFFD[1;1;1;1;1;1;1;1;1;1;1;1;1m",
		"caf\xe9 half \xe5\x85":           "caf\xe9 half \xe5\x85", // a terminal shows that as a mark
	} {
		if got := string(harmless([]byte(text))); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// What CSV has of pages steers no terminal, colours included.
func TestCSVIsUnarmed(t *testing.T) {
	var b strings.Builder
	rows := csvRows(&b, []string{"title"})
	if err := rows.csv.Write(unarmed([]string{"a\x1b[31m\x07\u009b\u202eb\tc\nd"})); err != nil {
		t.Fatal(err)
	}
	if err := rows.close(); err != nil {
		t.Fatal(err)
	}
	if want := "title\n\"a\uFFFD[31m\uFFFD\uFFFD\uFFFDb\tc\nd\"\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

package main

import "testing"

func TestMeant(t *testing.T) {
	names := []string{"crawl", "verify", "max-pages", "max-depth", "out"}
	for said, want := range map[string]string{
		"crwl": "; did you mean crawl?", "max-page": "; did you mean max-pages?", "verfiy": "; did you mean verify?", "max-dep": "; did you mean max-depth?",
		"x": "", "zz": "", "something": "",
	} {
		if got := meant(said, names, ""); got != want {
			t.Errorf("%s: %q, want %q", said, got, want)
		}
	}
}

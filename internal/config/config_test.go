package config

import (
	"strings"
	"testing"
)

func TestReadJob(t *testing.T) {
	j, err := ReadJob(strings.NewReader("name: milk\nvirtual:\n  products: [{name: a, keywords: {e: [b]}}]\n  engines: [{name: e, url: 'http://x/?q={query}'}]\n"))
	if err != nil || j.Name != "milk" || len(j.Virtual.Products) != 1 || j.Virtual.Products[0].Keywords["e"][0] != "b" {
		t.Errorf("%+v, %v", j, err)
	}
}

func TestMistakesHaveAPlace(t *testing.T) {
	for in, want := range map[string]string{
		"name: a\nnmae: b\n":               "line 2: unknown field \"nmae\"",
		"virtual:\n  products: 3\n":        "line 2",
		"name: [\n":                        "line 1",
		"":                                 "nothing in it",
		strings.Repeat("#", maxFile+1):     "more than",
		"virtual:\n  subset: many\n":       "line 2",
		"virtual:\n  engines:\n  - urn: x": "line 3",
	} {
		if _, err := ReadJob(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.30q: %v, want %q", in, err, want)
		}
	}
}

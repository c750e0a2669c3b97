package config

import (
	"strings"
	"testing"

	"argosy/internal/crawl"
)

// A job file's topic becomes a topic of the job, with the order and the tunnel that go with it; mistakes are named.
func TestTopicOfAJobFile(t *testing.T) {
	made := func(text string) (crawl.Job, error) {
		j, err := ReadJob(strings.NewReader("seeds: [http://a.test/]\n" + text))
		if err != nil {
			return crawl.Job{}, err
		}
		return j.Submitted("x")
	}
	j, err := made("topic: {words: asynchronous iterators}\n")
	if err != nil {
		t.Fatal(err)
	}
	if id := j.Identity; id.Topic == nil || id.Order != crawl.OrderBest || id.Tunnel != DefaultTunnel || id.Topic.Threshold != 0.2 || j.Check() != nil {
		t.Errorf("%+v", id)
	}
	j, err = made("topic: {words: x, threshold: 0.4, tunnel: -1, order: breadth, by_rule: true}\n")
	if id := j.Identity; err != nil || id.Order != crawl.OrderBreadth || id.Tunnel != -1 || id.Topic.Threshold != 0.4 || !id.ByRule {
		t.Errorf("%+v, %v", id, err)
	}
	j, err = made("topic: {model: {about: a, language: en, terms: [{word: a, weight: 1}], cut: 0.4, gain: 10, threshold: 0.2}}\n")
	if err != nil || len(j.Identity.Topic.Terms) != 1 || j.Check() != nil {
		t.Errorf("%+v, %v", j.Identity.Topic, err)
	}
	if j, err = made("topic: {order: depth}\n"); err != nil || j.Identity.Topic != nil || j.Identity.Order != crawl.OrderDepth {
		t.Errorf("depth first without a topic: %+v, %v", j.Identity, err)
	}
	for text, want := range map[string]string{
		"topic: {words: a, text: b}\n":            "not several",
		"topic: {tunnel: 3}\n":                    "without a topic",
		"topic: {order: best}\n":                  "without a topic",
		"topic: {words: '!?'}\n":                  "no words",
		"topic: {words: a, tunnel: 1000}\n":       "tunnel",
		"topic: {words: a, order: random}\n":      "order",
		"topic: {words: a, language: klingon}\n":  "language",
		"topic: {words: ''}\n":                    "line 2: topic.words: empty",
		"topic:\n  order: depth\n  text:\n":       "line 4: topic.text: empty",
		"topic: {}\n":                             "line 2: topic: empty",
		"topic:\n":                                "line 2: topic: empty",
		"topic: {language: en}\n":                 "without a topic",
		"topic: {text: too short}\n":              "too little",
		"topic: {words: a, threshold: no such}\n": "a text stands where a number is wanted",
	} {
		if _, err := made(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	j, err = made("topic: {words: a, threshold: 7}\n")
	if err == nil && j.Check() == nil {
		t.Error("a threshold of 7 is taken")
	}
}

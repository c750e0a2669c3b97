package config

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"argosy/internal/crawl"
	"argosy/internal/page/topic"
)

// Topic says what pages are to be about, and how closely a crawl keeps to it.
type Topic struct {
	Words     string       `yaml:"words" doc:"key words"`
	Text      string       `yaml:"text" doc:"a text that is about it, instead of words"`
	Model     *crawl.Topic `yaml:"model" doc:"what argosy topic train has made of examples, instead of words"`
	Language  string       `yaml:"language" doc:"of words and text, by its code (ISO 639-1); none: words are compared as they stand"`
	Threshold float64      `yaml:"threshold" doc:"score from which a page is on the topic; default 0.2"`
	Tunnel    *int         `yaml:"tunnel" doc:"so many pages in a row may be off the topic on the way to a page; -1: any number; default 2" min:"-1" max:"100"`
	Order     string       `yaml:"order" doc:"in which a site's URLs are fetched; default best with a topic, else breadth" enum:"best breadth depth fuzzy"`
	ByRule    bool         `yaml:"by_rule" doc:"score links by fixed rules, and learn nothing while crawling"`
}

// DefaultTunnel is how many pages in a row may be off the topic where nobody says otherwise.
const DefaultTunnel = 2

// givenIn refuses a file that names a topic and says nothing of it: a crawl of everything is not what was meant.
func (t *Topic) givenIn(file []byte) error {
	if t.Words != "" || t.Text != "" || t.Model != nil || !bytes.Contains(file, []byte("topic")) {
		return nil
	}
	of := nodeAt(file, "$.topic")
	if of == nil {
		return nil
	}
	at := "topic"
	for _, key := range []string{"words", "text", "model"} {
		if nodeAt(file, "$.topic."+key) != nil {
			at += "." + key
			break
		}
	}
	if at == "topic" && *t != (Topic{}) {
		return nil // an order alone is one of a crawl without a topic
	}
	return fmt.Errorf("line %d: %s: empty: give words, a text or a model, or leave topic out", LineOf(file, "$", at), at)
}

// Made returns the topic, nil if there is none.
func (t *Topic) Made() (*crawl.Topic, error) {
	for name, said := range map[string]string{"words": t.Words, "text": t.Text} {
		if !utf8.ValidString(said) {
			return nil, fmt.Errorf("topic: %s: not UTF-8", name)
		}
	}
	var ways int
	for _, given := range []bool{t.Words != "", t.Text != "", t.Model != nil} {
		if given {
			ways++
		}
	}
	if ways > 1 {
		return nil, errors.New("topic: give words, or a text, or a model (which is what examples make), not several of them")
	}
	var of *crawl.Topic
	var err error
	switch {
	case t.Words != "":
		of, err = topic.Words(t.Words, t.Language)
	case t.Text != "":
		of, err = topic.Text(t.Text, t.Text, t.Language)
	case t.Model != nil:
		model := *t.Model
		of = &model
	}
	if err != nil {
		return nil, fmt.Errorf("topic: %w", err)
	}
	if of != nil && t.Threshold != 0 {
		of.Threshold = t.Threshold
	}
	return of, nil
}

// apply makes a job's topic of what was said.
func (t *Topic) apply(id *crawl.Identity) (err error) {
	if id.Topic, err = t.Made(); err != nil {
		return err
	}
	switch t.Order {
	case "":
		if id.Topic != nil {
			id.Order = crawl.OrderBest
		}
	case "breadth":
		id.Order = crawl.OrderBreadth
	case "fuzzy":
		id.Order, id.Fuzzy = crawl.OrderBest, true
	default:
		id.Order = crawl.QueueOrder(t.Order)
	}
	if id.Topic == nil {
		if t.Threshold != 0 || t.Tunnel != nil || t.ByRule || t.Language != "" || id.Order == crawl.OrderBest {
			return errors.New("topic: a language, threshold, tunnel, by_rule or the order best without a topic: give words, a text or a model")
		}
		return nil
	}
	id.Tunnel, id.ByRule = DefaultTunnel, t.ByRule || id.Fuzzy
	if t.Tunnel != nil {
		id.Tunnel = *t.Tunnel
	}
	return nil
}

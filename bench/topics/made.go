package main

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/page/topic"
	"argosy/internal/webs"
)

// madeConfig says what made webs are like.
type madeConfig struct {
	pages, links int
	near, told   float64
	webkb        string
}

func (c *madeConfig) register(fl *flag.FlagSet) {
	fl.IntVar(&c.pages, "pages", 5200, "made webs: pages, on eight sites")
	fl.IntVar(&c.links, "links", 30, "made webs: links of a page")
	fl.Float64Var(&c.near, "near", 0.3, "made webs: chance that a link of a page on the topic leads to another one")
	fl.Float64Var(&c.told, "told", 0.2, "made webs: chance that a link says what it leads to")
	fl.StringVar(&c.webkb, "webkb", "", "directory of the WebKB collection")
}

// web is a made web: a twentieth of its pages is on the topic.
func (c *madeConfig) web(seed uint64) webs.TopicalConfig {
	return webs.TopicalConfig{Seed: seed, Sites: 8, Pages: c.pages / 8, Share: 0.05, Near: c.near, Told: c.told, Links: c.links}
}

func (c *madeConfig) trial(name string, cfg webs.TopicalConfig, about, words *crawl.Topic) *trial {
	w := webs.NewTopical(cfg)
	return &trial{
		name: name, serve: func() (string, func(), error) { return w.Serve("127.0.0.1:0") }, seeds: w.Seeds, on: w.OnTopic,
		about: about, words: words, budget: int64(c.pages / 4), scope: crawl.ScopeSite,
	}
}

// fewSeeds are webs of a hundred sites that are crawled from one front page, and from three.
func (c *madeConfig) fewSeeds() (family, error) {
	about, err := topic.Words(webs.TopicalWords, "en")
	return family{"made webs of 100 sites", func(seed uint64) (out []*trial, err error) {
		cfg := c.web(seed)
		cfg.Sites, cfg.Pages = 100, c.pages/100
		for _, few := range []int{1, 3} {
			t := c.trial(fmt.Sprintf("seeds: %d", few), cfg, about, nil)
			all := t.seeds
			t.scope, t.seeds = crawl.ScopeAny, func(port string) []string { return all(port)[:few] }
			out = append(out, t)
		}
		return out, nil
	}}, err
}

// spamBudget is how many pages are had of webs beside spam, which have 2,400 and spam without end.
const spamBudget = 300

// beside are webs with sites without end that are made to look as if they were on the topic, a kind of them in each, crawled from one front page.
func (c *madeConfig) beside() (family, error) {
	about, err := topic.Words(webs.TopicalWords, "en")
	return family{"made webs beside spam", func(seed uint64) (out []*trial, err error) {
		cfg := webs.TopicalConfig{Seed: seed, Sites: 8, Pages: 300, Share: 0.044, Near: 0.6, Told: 0.5, Links: 10}
		for _, kind := range append([][2]string{{"", "no spam"}}, webs.Spammers...) {
			cfg, seed := cfg, webs.SeedSpam(kind[0])
			if seed {
				cfg.Told = 0 // no link tells what it leads to, but those of spam
			}
			t, w, spam := c.trial(kind[1], cfg, about, nil), webs.NewTopical(cfg), ""
			if kind[0] != "" {
				spam = w.AddSpam(kind[0])
			}
			t.serve = func() (string, func(), error) { return w.Serve("127.0.0.1:0") }
			t.scope, t.budget, t.seeds = crawl.ScopeAny, spamBudget, func(port string) []string {
				first := w.Seeds(port)[:1]
				if seed {
					first = append(first, "http://"+spam+":"+port+"/")
				}
				return first
			}
			out = append(out, t)
		}
		return out, nil
	}}, err
}

// oneSite are webs of which most pages on the topic lie on one site, beside a hundred small ones, crawled from all front pages, and from a small
// site's.
func (c *madeConfig) oneSite() (family, error) {
	about, err := topic.Words(webs.TopicalWords, "en")
	return family{"made webs with one site about the topic", func(seed uint64) (out []*trial, err error) {
		cfg := webs.TopicalConfig{Seed: seed, Sites: 101, Pages: 20, Share: 0.01, Near: 0.6, Told: 0.5, Links: 10, FirstPages: 600, FirstShare: 0.6}
		for _, n := range []int{101, 1} {
			t := c.trial(fmt.Sprintf("seeds: %d", n), cfg, about, nil)
			all := t.seeds
			t.scope, t.budget, t.seeds = crawl.ScopeAny, 400, func(port string) []string { return all(port)[101-n:] }
			out = append(out, t)
		}
		return out, nil
	}}, err
}

// made are webs of made-up words.
func (c *madeConfig) made() (family, error) {
	return family{"made webs", func(seed uint64) ([]*trial, error) {
		about, err := topic.Words(webs.TopicalWords, "en")
		return []*trial{c.trial("enzymes", c.web(seed), about, nil)}, err
	}}, nil
}

// exampleTexts is how many texts of a class its topic is learned from, with as many of the others; no page is made of them.
const exampleTexts = 30

// classWords are WebKB's classes, with key words for each.
var classWords = [][2]string{
	{"course", "course syllabus lecture homework"}, {"faculty", "professor faculty publications"},
	{"project", "research project group"}, {"student", "graduate student home page resume"},
}

// drawn are webs whose texts are WebKB's: one class is on the topic.
func (c *madeConfig) drawn() (family, error) {
	if c.webkb == "" {
		return family{}, errors.New("-family webkb: give the directory of the collection with -webkb")
	}
	texts, err := readClasses(c.webkb)
	if err != nil {
		return family{}, err
	}
	return family{"webs of WebKB's texts", func(seed uint64) ([]*trial, error) {
		cfg := c.web(seed)
		class := classWords[seed%uint64(len(classWords))]
		cfg.On = texts[class[0]][exampleTexts:]
		on, off := docs(texts[class[0]][:exampleTexts]), []*topic.Doc(nil)
		for _, other := range classWords {
			if other != class {
				off = append(off, docs(texts[other[0]][:exampleTexts/3])...)
				cfg.Off = append(cfg.Off, texts[other[0]][exampleTexts:]...)
			}
		}
		about, err := topic.Examples("pages like those of "+class[0], on, off)
		words, err2 := topic.Words(class[1], "en")
		return []*trial{c.trial(class[0], cfg, about, words)}, errors.Join(err, err2)
	}}, nil
}

// docs are texts as topics are made of them. Their words are stems already.
func docs(texts [][]string) (out []*topic.Doc) {
	for _, words := range texts {
		out = append(out, topic.NewDoc([]byte(strings.Join(words, " ")), false, "none"))
	}
	return out
}

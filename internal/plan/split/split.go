// Package split turns a virtual task, which names products and their keywords, into actual tasks: the names are cut
// into words, words and sites become the URLs of search engines, and the URLs are cut into subsets. It is pure; cutting
// text into words is a function that the caller gives.
package split

import (
	"fmt"
	"net/url"
	"slices"
	"sort"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// Virtual is a virtual task.
type Virtual struct {
	Products []Product           `yaml:"products"`
	Aliases  map[string][]string `yaml:"aliases"` // name → words, where no segmenter would find them
	Sites    []string            `yaml:"sites"`   // judged relevant by hand; others are dropped
	Engines  []Engine            `yaml:"engines"`
	Subset   int                 `yaml:"subset"` // URLs of an actual task; 0 is 10
}

// Product is a subject to look for.
type Product struct {
	Name     string              `yaml:"name"`
	Words    []string            `yaml:"words"`    // instead of cutting the name
	Keywords map[string][]string `yaml:"keywords"` // engine → words that are added there
	Sites    []string            `yaml:"sites"`    // of the virtual task's, those for this product; empty is all
	Engines  []string            `yaml:"engines"`  // the same
}

// Engine is a search engine.
type Engine struct {
	Name string `yaml:"name"`
	// URL is its address with {query} where the words go. Query is what is asked, with {words} and {site}; Plain the
	// same without a site. Both are escaped in the engine's own encoding. And stands between words.
	URL      string   `yaml:"url"`
	Query    string   `yaml:"query"`
	Plain    string   `yaml:"plain"`
	And      string   `yaml:"and"`
	Encoding string   `yaml:"encoding"` // a WHATWG label; empty is utf-8
	Type     string   `yaml:"type"`     // of the nodes that may ask it: the label "type"
	Sites    []string `yaml:"sites"`    // it is asked about these alone, whatever the virtual task lists
	Whole    bool     `yaml:"whole"`    // it is also asked without a site
}

// Search is one URL of a search engine and what it asks for.
type Search struct {
	URL     string   `json:"url"`
	Product string   `json:"product"`
	Words   []string `json:"words"`
	Engine  string   `json:"engine"`
	Site    string   `json:"site,omitempty"` // that it is restricted to
}

// Task is an actual task: a subset of searches on one engine, for nodes of one type.
type Task struct {
	Number   int      `json:"task"`
	Engine   string   `json:"engine"`
	Type     string   `json:"type,omitempty"`
	Searches []Search `json:"searches"`
}

// Limits of a virtual task.
const (
	maxSearches = 100_000
	maxWords    = 32
)

// DefaultSubset is how many URLs an actual task has.
const DefaultSubset = 10

// Split makes the actual tasks of a virtual one: for each product and engine a search of every site, in the order in
// which they are listed.
func Split(v Virtual, segment func(text string) ([]string, error)) ([]Task, error) {
	if err := v.validate(); err != nil {
		return nil, err
	}
	size := v.Subset
	if size == 0 {
		size = DefaultSubset
	}
	byEngine := make([][]Search, len(v.Engines))
	total := 0
	for _, p := range v.Products {
		words, err := v.words(p, segment)
		if err != nil {
			return nil, err
		}
		for k := range v.Engines {
			e := &v.Engines[k]
			if len(p.Engines) > 0 && !slices.Contains(p.Engines, e.Name) {
				continue
			}
			got, err := e.searches(p, append(append([]string{}, words...), p.Keywords[e.Name]...), v.sitesOf(p, e))
			if err != nil {
				return nil, err
			}
			if total += len(got); total > maxSearches {
				return nil, fmt.Errorf("more than %d searches", maxSearches)
			}
			byEngine[k] = append(byEngine[k], got...)
		}
	}
	var out []Task
	for k, searches := range byEngine {
		for len(searches) > 0 {
			n := min(size, len(searches))
			out = append(out, Task{len(out) + 1, v.Engines[k].Name, v.Engines[k].Type, searches[:n:n]})
			searches = searches[n:]
		}
	}
	return out, nil
}

func (v Virtual) validate() error {
	if len(v.Products) == 0 {
		return fmt.Errorf("products: none")
	}
	if len(v.Engines) == 0 {
		return fmt.Errorf("engines: none")
	}
	if v.Subset < 0 {
		return fmt.Errorf("subset %d: want at least 1", v.Subset)
	}
	names := map[string]bool{}
	for k := range v.Engines {
		e := &v.Engines[k]
		if e.Name == "" || names[e.Name] {
			return fmt.Errorf("engine %d: name %q is empty or taken", k+1, e.Name)
		}
		names[e.Name] = true
		if err := e.validate(); err != nil {
			return fmt.Errorf("engine %s: %w", e.Name, err)
		}
	}
	for _, p := range v.Products {
		if p.Name == "" {
			return fmt.Errorf("product without a name")
		}
		var asked []string
		for engine := range p.Keywords {
			asked = append(asked, engine)
		}
		sort.Strings(asked)
		for _, engine := range append(asked, p.Engines...) {
			if !names[engine] {
				return fmt.Errorf("product %s: no engine %q", p.Name, engine)
			}
		}
	}
	return nil
}

func (e *Engine) validate() error {
	if !strings.Contains(e.URL, "{query}") {
		return fmt.Errorf("url %q: {query} is missing", e.URL)
	}
	u, err := url.Parse(strings.ReplaceAll(e.URL, "{query}", "x"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("url %q: not the address of a search", e.URL)
	}
	for _, q := range []string{e.query(), e.plain()} {
		if !strings.Contains(q, "{words}") {
			return fmt.Errorf("query %q: {words} is missing", q)
		}
	}
	_, err = e.encoding()
	return err
}

func (e *Engine) query() string {
	if e.Query == "" {
		return "{words} site:{site}"
	}
	return e.Query
}

func (e *Engine) plain() string {
	if e.Plain == "" {
		return "{words}"
	}
	return e.Plain
}

func (e *Engine) and() string {
	if e.And == "" {
		return " "
	}
	return e.And
}

func (e *Engine) encoding() (encoding.Encoding, error) {
	if e.Encoding == "" {
		return nil, nil
	}
	enc, err := htmlindex.Get(e.Encoding)
	if err != nil {
		return nil, fmt.Errorf("encoding %q: not known", e.Encoding)
	}
	if name, _ := htmlindex.Name(enc); name == "utf-8" {
		return nil, nil
	}
	return enc, nil
}

// words are a product's own, those of its alias, or what cutting its name gives.
func (v Virtual) words(p Product, segment func(string) ([]string, error)) ([]string, error) {
	words := p.Words
	if len(words) == 0 {
		words = v.Aliases[p.Name]
	}
	if len(words) == 0 {
		var err error
		if words, err = segment(p.Name); err != nil {
			return nil, fmt.Errorf("product %s: %w", p.Name, err)
		}
	}
	if len(words) == 0 || len(words) > maxWords {
		return nil, fmt.Errorf("product %s: %d words, want 1 to %d", p.Name, len(words), maxWords)
	}
	return words, nil
}

// sitesOf lists the sites that an engine is asked about for a product; "" is the whole web.
func (v Virtual) sitesOf(p Product, e *Engine) []string {
	sites := v.Sites
	if len(e.Sites) > 0 {
		sites = e.Sites
	}
	var out []string
	if e.Whole || len(sites) == 0 {
		out = append(out, "")
	}
	for _, s := range sites {
		if len(p.Sites) == 0 || slices.Contains(p.Sites, s) {
			out = append(out, s)
		}
	}
	return out
}

func (e *Engine) searches(p Product, words, sites []string) ([]Search, error) {
	enc, err := e.encoding()
	if err != nil {
		return nil, err
	}
	out := make([]Search, 0, len(sites))
	for _, site := range sites {
		q := e.query()
		if site == "" {
			q = e.plain()
		}
		q = strings.NewReplacer("{words}", strings.Join(words, e.and()), "{site}", site).Replace(q)
		if enc != nil {
			if q, err = enc.NewEncoder().String(q); err != nil {
				return nil, fmt.Errorf("product %s, engine %s: %q cannot be written in %s", p.Name, e.Name, strings.Join(words, " "), e.Encoding)
			}
		}
		out = append(out, Search{strings.ReplaceAll(e.URL, "{query}", url.QueryEscape(q)), p.Name, words, e.Name, site})
	}
	return out, nil
}

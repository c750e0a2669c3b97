// Package engine asks search engines and reads what they answer, by a catalogue of engines that is data: how a URL is made of words
// and a site, in which encoding, how pages follow each other, and where in an answer the results, the next page, the stated
// number of results and the signs of a block stand. It is pure: it makes URLs and reads bytes; fetching is somebody else's.
//
// Everything in an answer is a stranger's. An answer is read up to MaxAnswer bytes, its tree has limits, and no selector takes more than
// a fixed number of steps; what is beyond them is said in the reading, and costs no more.
package engine

import (
	_ "embed"
	"fmt"
)

// Shipped is the catalogue that is part of Argosy, in YAML.
//
//go:embed engines.yaml
var Shipped []byte

// Limits of what is read.
const (
	MaxAnswer   = 4 << 20 // bytes of an answer
	MaxResults  = 1000    // results of one answer
	maxNodes    = 200_000 // of its tree
	maxChildren = 10_000  // of one node
	maxDepth    = 500
	maxSteps    = 20_000_000 // of all selectors in one answer: a second or two
	maxPage     = 1_000_000  // of a page's number, and of what it grows by
	maxSelector = 2000       // bytes
	maxText     = 1000       // characters of a title or a text that are kept
)

// File is a file of a catalogue.
type File struct {
	Engines []Engine `yaml:"engines" doc:"search engines, each with a name of its own"`
}

// Engine is how a search engine is asked and read. A key that is not given is that of the engine named by Like.
type Engine struct {
	Name  string `yaml:"name,omitempty" doc:"what jobs call it"`
	About string `yaml:"about,omitempty" doc:"what it is, in a line"`
	Like  string `yaml:"like,omitempty" doc:"an engine whose keys hold where this one gives none"`
	Base  string `yaml:"base,omitempty" doc:"address of the program, which {base} stands for in url"`

	URL      string `yaml:"url,omitempty" doc:"address of a search; {query} is what is asked, {page} counts pages or results by first and step; {site} and {base} may be in it"`
	Query    string `yaml:"query,omitempty" doc:"what is asked about a site, with {words} and {site}; without {site} it cannot be restricted to one (default: {words} site:{site})"`
	Plain    string `yaml:"plain,omitempty" doc:"what is asked without a site (default: {words})"`
	And      string `yaml:"and,omitempty" doc:"what stands between two words, plain or as in an address: & or %26; + is the space that it is there, %2B a plus (default: a space)"`
	Encoding string `yaml:"encoding,omitempty" doc:"in which the words are written, a WHATWG label (default: utf-8)"`
	First    *int   `yaml:"first,omitempty" doc:"{page} of the first page (default: 0)" min:"0" max:"1000000"`
	Step     *int   `yaml:"step,omitempty" doc:"what {page} grows by from page to page; 0: by as many results as the last page had (default: 1)" min:"0" max:"1000000"`
	Limit    int    `yaml:"limit,omitempty" doc:"how many results of a search it shows at most; 0: not known" min:"0"`

	Format  string   `yaml:"format,omitempty" doc:"of its answers (default: html)" enum:"html xml json"`
	Results Results  `yaml:"results,omitempty" doc:"where the results are"`
	Next    Selector `yaml:"next,omitempty" doc:"where the address of the next page is; without it {page} counts on"`
	Stated  Stated   `yaml:"stated,omitempty" doc:"where the engine says how many results there are"`
	Empty   []Sign   `yaml:"empty,omitempty" doc:"what an answer without results looks like"`
	Blocked []Sign   `yaml:"blocked,omitempty" doc:"what a block or a captcha looks like; 403, 429 and 503 always are one"`

	IgnoreRobots bool `yaml:"ignore_robots,omitempty" doc:"ask it although its robots.txt disallows searches"`
}

// Results says where the results of an answer are.
type Results struct {
	Item   Selector `yaml:"item,omitempty" doc:"one result each; link, title and text are looked for within it"`
	Link   Selector `yaml:"link,omitempty" doc:"its address"`
	Title  Selector `yaml:"title,omitempty" doc:"its title"`
	Text   Selector `yaml:"text,omitempty" doc:"what the engine quotes of it"`
	Unwrap []Unwrap `yaml:"unwrap,omitempty" doc:"how the address is had out of one that leads through the engine; the first that matches"`
	Any    bool     `yaml:"any,omitempty" doc:"take every link that leads away from the engine's host as a result, where nothing better is known"`
}

// Selector finds something in an answer, by one of four languages, and makes a value of it.
type Selector struct {
	CSS   string `yaml:"css,omitempty" doc:"a CSS selector (HTML)"`
	XPath string `yaml:"xpath,omitempty" doc:"an XPath 1.0 expression (HTML, XML)"`
	JSON  string `yaml:"json,omitempty" doc:"a JSONPath (RFC 9535)"`
	Regex string `yaml:"regex,omitempty" doc:"an RE2 expression over the source; its first group is the value"`

	Attr   string `yaml:"attr,omitempty" doc:"the attribute that is the value, instead of the text"`
	Match  string `yaml:"match,omitempty" doc:"an RE2 expression over the value; its first group, or all that matches, is the value then"`
	Decode string `yaml:"decode,omitempty" doc:"what undoes the value's coding" enum:"base64 percent"`
	Make   string `yaml:"make,omitempty" doc:"an address made of the value, relative to that of the answer, with {value}"`
	Space  string `yaml:"space,omitempty" doc:"what stands in that address for a space of the value, such as _ (default: +)"`
	Set    string `yaml:"set,omitempty" doc:"a parameter of the answer's address that is set to the value (for next)"`
}

// Unwrap has an address out of another.
type Unwrap struct {
	Match  string `yaml:"match" doc:"an RE2 expression over the address; its first group is the address within"`
	Decode string `yaml:"decode,omitempty" doc:"what undoes its coding" enum:"base64 percent"`
}

// Stated says where the number of results stands.
type Stated struct {
	At   Selector `yaml:"at,omitempty" doc:"the text with the number"`
	Kind string   `yaml:"kind,omitempty" doc:"what the number means (default: exact)" enum:"exact estimate more"`
	// Estimate and More are marks in the text that change what the number means.
	Estimate string `yaml:"estimate,omitempty" doc:"an RE2 expression over the text that says that the number is an estimate"`
	More     string `yaml:"more,omitempty" doc:"an RE2 expression over the text that says that there are more"`
}

// Sign is something that an answer has; all that is given must hold.
type Sign struct {
	Status   int      `yaml:"status,omitempty" doc:"its HTTP status" min:"0" max:"999"`
	Location string   `yaml:"location,omitempty" doc:"an RE2 expression over its address, after redirects"`
	At       Selector `yaml:"at,omitempty" doc:"something that is in it"`
	Says     string   `yaml:"says,omitempty" doc:"what to call it"`
}

// empty reports whether nothing is given.
func (s Selector) empty() bool { return s == Selector{} }

// Error is a mistake in an engine.
type Error struct {
	Engine string // its name, or its number in the list
	Key    string // such as results.link.css; empty: the engine as a whole
	Err    error
}

func (e *Error) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("engine %s: %v", e.Engine, e.Err)
	}
	return fmt.Sprintf("engine %s: %s: %v", e.Engine, e.Key, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Package split turns a virtual task, which names products and their keywords, into actual tasks: the names are cut
// into words, words and sites become the URLs of search engines, and the URLs are cut into subsets. It is pure; cutting
// text into words is a function that the caller gives.
package split

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"sort"
	"strings"

	"argosy/internal/page/engine"
)

// Virtual is a virtual task.
type Virtual struct {
	Products []Product           `yaml:"products" doc:"subjects to look for: each its name, or keys"`
	Aliases  map[string][]string `yaml:"aliases" doc:"name to words, where no segmenter would find them"`
	Sites    []string            `yaml:"sites" doc:"hosts, or hosts with a path, to restrict searches to; those judged relevant by hand"`
	Engines  []Use               `yaml:"engines" doc:"search engines that are asked: each by its name in the catalogue, or {name: NAME} with keys of its own, or described here as a whole"`
	Subset   int                 `yaml:"subset" doc:"URLs of an actual task (default: 10)" min:"0"`
	Apart    bool                `yaml:"apart" doc:"an actual task holds searches of one product on one site only"`
	Seed     uint64              `yaml:"seed" doc:"of the random order in which actual tasks enter the waiting queue" min:"0"`
	Pages    int                 `yaml:"pages" doc:"result pages of a subtask (default: 5)" min:"0" max:"1000"`
	MaxPages int                 `yaml:"max_pages" doc:"result pages of a search in all (default: 1000)" min:"0" max:"100000"`
	Rest     string              `yaml:"rest" doc:"of a search after a failure, before it is given to another node (default: 1m)"`
	Anywhere bool                `yaml:"anywhere" doc:"what a search has named may go to any node, not only to the one that ran it"`
	Fields   []engine.Field      `yaml:"fields" doc:"what is taken out of the pages that searches name, by selectors (argosy export --fields)"`
	Policies Policies            `yaml:"policies" doc:"the three policies, each on unless it is switched off"`
}

// Policies are the three of the closed loop.
type Policies struct {
	Assignment   string `yaml:"assignment" doc:"tasks go to the node with the best completion, then efficiency; off: to any" enum:"on off"`
	Modification string `yaml:"modification" doc:"the next subtask's result pages and time follow the last one's completion and efficiency" enum:"on off"`
	Recycling    string `yaml:"recycling" doc:"what fails goes to another node, limits.recycle_limit times, then to a person; off: to a person at once" enum:"on off"`
}

// Strategy is the assignment policy where it is on and nothing else is asked for. Its constants were chosen in the lab's worlds of
// three policies, on the half of the seeds that publishes nothing.
const Strategy = "feedback,load=on,full=0.5,time=0.4,gain=5,unknown=expected,first=1"

// Product is a subject to look for.
type Product struct {
	Name     string              `yaml:"name" doc:"what it is called; it is cut into words"`
	Words    []string            `yaml:"words" doc:"instead of cutting the name"`
	Keywords map[string][]string `yaml:"keywords" doc:"engine to words that are added there"`
	Sites    []string            `yaml:"sites" doc:"of the virtual task's, those for this product; empty is all"`
	Engines  []string            `yaml:"engines" doc:"of the virtual task's, those for this product; empty is all"`
}

// UnmarshalYAML reads a product: its keys, or its name alone.
func (p *Product) UnmarshalYAML(read func(any) error) error {
	type keys Product
	if read(&p.Name) == nil {
		return nil
	}
	return read((*keys)(p))
}

// UnmarshalYAML reads an engine: its keys, or its name alone.
func (u *Use) UnmarshalYAML(read func(any) error) error {
	type keys Use
	if read(&u.Name) == nil {
		return nil
	}
	return read((*keys)(u))
}

// Use is a search engine as a virtual task uses it: by its name in the catalogue, with keys of its own that count more, or as a whole.
type Use struct {
	engine.Engine `yaml:",inline"`

	Type  string   `yaml:"type" doc:"of the nodes that may ask it: their label type, of several as 0+1"`
	Clock string   `yaml:"clock" doc:"what has a clock of its own: the engine's site, or each source address of the nodes that ask it (agent --bind, crawl --bind), for an engine that allows it; a host that is target or another's engine too has one clock all the same" enum:"site address"`
	Sites []string `yaml:"sites" doc:"it is asked about these alone, whatever the virtual task lists"`
	Whole bool     `yaml:"whole" doc:"it is also asked without a site"`
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

// Error is a mistake in a virtual task.
type Error struct {
	Path string // below the virtual task, such as sites[3]
	Err  error
}

func (e *Error) Error() string { return e.Path + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

func bad(err error, path string, args ...any) error {
	return &Error{fmt.Sprintf(path, args...), err}
}

// splitter is a virtual task with its engines at hand.
type splitter struct {
	Virtual
	ready   []*engine.Ready // of Engines
	segment func(text string) ([]string, error)
}

// Split makes the actual tasks of a virtual one: for each product and engine a search of every site, in the order in
// which they are listed. Engines are those of the catalogue and of the virtual task.
func Split(v Virtual, catalogue *engine.Catalogue, segment func(text string) ([]string, error)) ([]Task, error) {
	s := splitter{Virtual: v, segment: segment}
	if err := s.open(catalogue); err != nil {
		return nil, err
	}
	var mistake *engine.Error
	if _, err := engine.NewFields(v.Fields); errors.As(err, &mistake) {
		return nil, bad(mistake.Err, "fields%s", mistake.Key)
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	size := v.Subset
	if size == 0 {
		size = DefaultSubset
	}
	byEngine := make([][]Search, len(v.Engines))
	total := 0
	for i, p := range v.Products {
		words, err := s.words(p)
		if err != nil {
			return nil, bad(err, "products[%d]", i)
		}
		for k, u := range v.Engines {
			if len(p.Engines) > 0 && !slices.Contains(p.Engines, u.Name) {
				continue
			}
			got, err := s.searches(p, k, append(slices.Clone(words), p.Keywords[u.Name]...))
			if err != nil {
				return nil, bad(err, "products[%d]", i)
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
			for i := 1; v.Apart && i < n; i++ {
				if searches[i].Product != searches[0].Product || searches[i].Site != searches[0].Site {
					n = i
				}
			}
			out = append(out, Task{len(out) + 1, v.Engines[k].Name, v.Engines[k].Type, searches[:n:n]})
			searches = searches[n:]
		}
	}
	return out, nil
}

// Order returns the actual tasks in the seeded random order in which they enter the waiting queue; they are served first in, first
// out, so that the place is the priority.
func Order(tasks []Task, seed uint64) []Task {
	out := slices.Clone(tasks)
	r := rand.New(rand.NewPCG(seed, 0x7669727475616c))
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// Ready returns the engines of a virtual task, in its order.
func Ready(v Virtual, catalogue *engine.Catalogue) ([]*engine.Ready, error) {
	s := splitter{Virtual: v}
	err := s.open(catalogue)
	return s.ready, err
}

// open finds the engines.
func (s *splitter) open(catalogue *engine.Catalogue) error {
	if len(s.Engines) == 0 {
		return bad(errors.New("none"), "engines")
	}
	var own []engine.Engine
	at := map[string]int{}
	for i, u := range s.Engines {
		if _, ok := at[u.Name]; ok || u.Name == "" {
			return bad(fmt.Errorf("%q is empty or taken", u.Name), "engines[%d].name", i)
		}
		at[u.Name] = i
		if !reflect.DeepEqual(u.Engine, engine.Engine{Name: u.Name}) {
			own = append(own, u.Engine)
		}
	}
	catalogue, err := catalogue.With(own)
	var mistake *engine.Error
	if errors.As(err, &mistake) {
		return bad(mistake.Err, "engines[%d].%s", at[mistake.Engine], mistake.Key)
	}
	if err != nil {
		return bad(err, "engines")
	}
	for i, u := range s.Engines {
		r, err := catalogue.Get(u.Name)
		if err != nil {
			return bad(err, "engines[%d]", i)
		}
		if err := r.Whereabouts(); err != nil {
			return bad(err, "engines[%d].base", i)
		}
		s.ready = append(s.ready, r)
	}
	return nil
}

func (s *splitter) validate() error {
	if len(s.Products) == 0 {
		return bad(errors.New("none"), "products")
	}
	if s.Subset < 0 {
		return bad(fmt.Errorf("%d: want at least 1", s.Subset), "subset")
	}
	known := map[string]bool{}
	sites := func(list []string, path string, args ...any) error {
		seen := map[string]bool{}
		for i, site := range list {
			err := engine.CheckSite(site)
			host, below, _ := strings.Cut(site, "/")
			if key := strings.ToLower(host) + "/" + below; seen[key] {
				err = fmt.Errorf("%q stands there twice", site)
			} else {
				seen[key] = true
			}
			if err != nil {
				return bad(err, path+"[%d]", append(args, i)...)
			}
			known[site] = true
		}
		return nil
	}
	if err := sites(s.Sites, "sites"); err != nil {
		return err
	}
	names := map[string]bool{}
	for i, u := range s.Engines {
		if err := sites(u.Sites, "engines[%d].sites", i); err != nil {
			return err
		}
		if len(u.Sites) > 0 && !s.ready[i].Restricts() {
			return bad(fmt.Errorf("engine %s cannot be restricted to a site: there is no {site} in its query", u.Name), "engines[%d].sites", i)
		}
		names[u.Name] = true
	}
	products := map[string]bool{}
	for i, p := range s.Products {
		if p.Name == "" {
			return bad(errors.New("a product without a name"), "products[%d]", i)
		}
		if products[p.Name] {
			return bad(fmt.Errorf("product %s stands there twice", p.Name), "products[%d]", i)
		}
		products[p.Name] = true
		var asked []string
		for engine := range p.Keywords {
			asked = append(asked, engine)
		}
		sort.Strings(asked)
		for _, name := range append(asked, p.Engines...) {
			if !names[name] {
				return bad(fmt.Errorf("product %s: the virtual task has no engine %q", p.Name, name), "products[%d]", i)
			}
		}
		for k, site := range p.Sites {
			if !known[site] {
				return bad(fmt.Errorf("product %s: site %q is not one of the virtual task's", p.Name, site), "products[%d].sites[%d]", i, k)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Aliases)) {
		if !products[name] {
			return bad(fmt.Errorf("there is no product %s", name), "aliases.%s", name)
		}
		if len(s.Aliases[name]) == 0 {
			return bad(errors.New("no words"), "aliases.%s", name)
		}
	}
	return nil
}

// words are a product's own, those of its alias, or what cutting its name gives.
func (s *splitter) words(p Product) ([]string, error) {
	words := p.Words
	if len(words) == 0 {
		words = s.Aliases[p.Name]
	}
	if len(words) == 0 {
		var err error
		if words, err = s.segment(p.Name); err != nil {
			return nil, fmt.Errorf("product %s: %w", p.Name, err)
		}
	}
	if len(words) == 0 || len(words) > maxWords {
		return nil, fmt.Errorf("product %s: %d words, want 1 to %d", p.Name, len(words), maxWords)
	}
	return words, nil
}

// sitesOf lists the sites that an engine is asked about for a product; "" is all that it knows. One that cannot be restricted is asked
// once.
func (s *splitter) sitesOf(p Product, k int) []string {
	u := s.Engines[k]
	sites := s.Sites
	if len(u.Sites) > 0 {
		sites = u.Sites
	}
	if !s.ready[k].Restricts() || len(sites) == 0 {
		return []string{""}
	}
	var out []string
	if u.Whole {
		out = append(out, "")
	}
	for _, site := range sites {
		if len(p.Sites) == 0 || slices.Contains(p.Sites, site) {
			out = append(out, site)
		}
	}
	return out
}

func (s *splitter) searches(p Product, k int, words []string) ([]Search, error) {
	var out []Search
	for _, site := range s.sitesOf(p, k) {
		address, err := s.ready[k].Address(engine.Search{Words: words, Site: site}, 0)
		if err != nil {
			return nil, fmt.Errorf("product %s: %w", p.Name, err)
		}
		out = append(out, Search{address, p.Name, words, s.Engines[k].Name, site})
	}
	return out, nil
}

// Listed is a virtual task as it is listed: its words on each engine, and its searches with the actual tasks that they are in.
type Listed struct {
	Product  string
	Words    []string            // those that all its engines are asked for
	Added    map[string][]string // by engine: words that are asked for there besides
	Searches []Placed
}

// Placed is a search in an actual task.
type Placed struct {
	Task int
	Search
}

// List turns tasks round: by product, in the order of the virtual task. A subset may hold searches of several products.
func List(v Virtual, tasks []Task) []Listed {
	at := map[string]int{}
	var out []Listed
	for _, p := range v.Products {
		if _, ok := at[p.Name]; !ok {
			at[p.Name] = len(out)
			out = append(out, Listed{Product: p.Name, Added: map[string][]string{}})
		}
	}
	for _, t := range tasks {
		for _, s := range t.Searches {
			l := &out[at[s.Product]]
			if l.Words == nil {
				l.Words = s.Words
			}
			n := 0
			for n < len(l.Words) && n < len(s.Words) && l.Words[n] == s.Words[n] {
				n++
			}
			l.Words = l.Words[:n]
			l.Searches = append(l.Searches, Placed{t.Number, s})
		}
	}
	for i := range out {
		for _, s := range out[i].Searches {
			if more := s.Words[len(out[i].Words):]; len(more) > 0 {
				out[i].Added[s.Engine] = more
			}
		}
	}
	return out
}

// Package config reads what users write: job files, in YAML. Unknown keys are refused, and what is wrong is said in one
// line with its place. Schema publishes what a job file may hold.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"argosy/internal/crawl"
	"argosy/internal/page/engine"
	"argosy/internal/plan/split"
)

// Job is a job file.
type Job struct {
	Name       string          `yaml:"name" doc:"what people call it"`
	Seeds      []string        `yaml:"seeds" doc:"URLs to start from; without a scheme https is tried, then http"`
	SeedsFrom  []string        `yaml:"seeds_from" doc:"search engines that argosy crawl and argosy submit ask for the topic's words: what they find is where to start, too"`
	SeedsFile  string          `yaml:"seeds_file" doc:"file with a seed a line, read by argosy crawl and argosy submit; relative to the job file"`
	Scope      string          `yaml:"scope" doc:"what belongs to the crawl" enum:"site host domain prefix any"`
	Include    []string        `yaml:"include" doc:"fetch only URLs that match one of these expressions (RE2)"`
	Exclude    []string        `yaml:"exclude" doc:"fetch no URL that matches one of these expressions"`
	Fetch      Fetch           `yaml:"fetch" doc:"what is fetched, and as whom"`
	Topic      Topic           `yaml:"topic" doc:"what pages are to be about; not given: anything"`
	Market     Market          `yaml:"market" doc:"with a topic: several crawlers share what is found; nothing: there is one"`
	Limits     Limits          `yaml:"limits" doc:"where it ends and how fast it goes; they may change while it runs"`
	Sites      []Site          `yaml:"sites" doc:"what is different on some sites: of several that match one all count, the last most"`
	Placing    Placing         `yaml:"placing" doc:"which nodes its sites go to"`
	Dictionary []string        `yaml:"dictionary" doc:"words that the segmenter is to know"`
	Engines    []engine.Engine `yaml:"engines" doc:"search engines of this job's own, as in a file of engines"`
	Virtual    *split.Virtual  `yaml:"virtual" doc:"a virtual task: subjects that are searched for, and what is found is collected"`

	Catalogue *engine.Catalogue `yaml:"-"` // that the virtual task's engines are of; nil: the shipped one
}

// Fetch says what is fetched, and as whom.
type Fetch struct {
	Resources    bool `yaml:"resources" doc:"also what pages need to be shown: images, scripts, styles, media"`
	Sitemaps     bool `yaml:"sitemaps" doc:"also start from the sitemaps that robots.txt names"`
	StripSession bool `yaml:"strip_session" doc:"remove session and campaign parameters from URLs"`
	IgnoreRobots bool `yaml:"ignore_robots" doc:"obey no robots.txt (asked for sitemaps only), nor nofollow"`

	IgnoreNofollow bool `yaml:"ignore_nofollow" doc:"follow links on pages that ask not to (meta robots, X-Robots-Tag), and obey robots.txt nevertheless"`

	UserAgent string `yaml:"user_agent" doc:"User-Agent field; its first name is the one that robots.txt knows the crawler by"`
	Text      bool   `yaml:"text" doc:"also archive the plain text of pages"`
	MainText  bool   `yaml:"main_text" doc:"also archive the main text of pages"`
	Language  bool   `yaml:"language" doc:"note the language of pages"`
	NearDup   bool   `yaml:"near_duplicates" doc:"note marks by which near duplicates are found"`
}

// Placing says which nodes a job's sites go to.
type Placing struct {
	Strategy  string                 `yaml:"strategy" doc:"a name and options, see argosy strategies; empty: the coordinator's"`
	Probe     string                 `yaml:"probe" doc:"pairs of nodes and sites that are measured before a site is crawled" enum:"none few all"`
	Type      string                 `yaml:"type" doc:"only nodes whose label type says so (0+1: a node of both)"`
	Store     string                 `yaml:"store" doc:"only nodes whose archives go to this store, by its URL"`
	Product   string                 `yaml:"product" doc:"tasks of one product are expected to need alike"`
	Need      Need                   `yaml:"need" doc:"what a task needs of a node"`
	Places    map[string]crawl.Place `yaml:"places" doc:"where sites are: host to lat, lon, region"`
	Landmarks []string               `yaml:"landmarks" doc:"nodes that measure sites for all others"`
}

// Need is what a task needs of a node.
type Need struct {
	CPU       float64 `yaml:"cpu" doc:"cores" min:"0"`
	Memory    Size    `yaml:"memory" doc:"such as 64M"`
	Bandwidth Size    `yaml:"bandwidth" doc:"bits a second, such as 2M (powers of 1024)"`
}

// Size is a number of bytes (or bits), with K, M, G or T for powers of 1024.
type Size int64

// UnmarshalYAML reads a size.
func (n *Size) UnmarshalYAML(node ast.Node) error {
	return valueAt(node, func(s string) error {
		v, err := crawl.ParseSize(s)
		*n = Size(v)
		return err
	})
}

// Span is a span of time, such as 90s or 2m.
type Span time.Duration

// UnmarshalYAML reads a span.
func (d *Span) UnmarshalYAML(node ast.Node) error { return valueAt(node, d.set) }

func (d *Span) set(s string) error {
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("%q is not a span of time; want one such as 90s or 2m", s)
	}
	*d = Span(v)
	return nil
}

// MaxFile bounds a file, in bytes.
const MaxFile = 16 << 20

// ReadJob reads a job file.
func ReadJob(r io.Reader) (j Job, err error) {
	err = ReadOver(r, &j)
	return j, err
}

// ReadOver reads a job file over a job: what the file does not say stays as it is. A byte order mark before it is left out.
func ReadOver(r io.Reader, j *Job) error {
	b, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return err
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if err := read(b, j); err != nil {
		return err
	}
	return j.Topic.givenIn(b)
}

// read reads a file by the schema of what it is read into.
func read[T any](b []byte, into *T) error {
	if err := decode(b, into); err != nil {
		return err
	}
	path, err := within(reflect.ValueOf(into).Elem(), "")
	if err != nil {
		return fmt.Errorf("line %d: %s: %w", LineOf(b, "$", path), path, err)
	}
	return nil
}

// Read reads a file into a T, by the schema of T: unknown keys and values out of range are refused, in one line that begins
// with the file's name.
func Read[T any](name string, b []byte) (v T, err error) {
	err = ReadInto(name, b, &v)
	return v, err
}

// ReadInto is Read over a T: what the file does not say stays as it is.
func ReadInto[T any](name string, b []byte, over *T) error {
	if err := read(b, over); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// CheckUTF8 refuses a file of text in another encoding, with the line.
func CheckUTF8(file []byte) error {
	if bytes.HasPrefix(file, []byte("\xff\xfe")) || bytes.HasPrefix(file, []byte("\xfe\xff")) {
		return errors.New("it is in UTF-16; want UTF-8")
	}
	if utf8.Valid(file) {
		return nil
	}
	line := 1
	for rest := file; ; line++ {
		text, after, _ := bytes.Cut(rest, []byte("\n"))
		if !utf8.Valid(text) {
			return fmt.Errorf("line %d: not UTF-8", line)
		}
		rest = after
	}
}

// decode reads YAML strictly.
func decode(b []byte, into any) error {
	if len(b) > MaxFile {
		return fmt.Errorf("more than %d bytes", MaxFile)
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff")) // editors of Windows begin files of text with it
	if err := CheckUTF8(b); err != nil {
		return err
	}
	fractions, err := budget(b)
	if err == nil && fractions {
		err = whole(b, reflect.TypeOf(into))
	}
	if err != nil {
		return err
	}
	if err := yaml.NewDecoder(bytes.NewReader(b), yaml.Strict(), yaml.DisallowUnknownField()).Decode(into); err != nil {
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("nothing in it")
		}
		return oneLine(err)
	}
	return nil
}

// keyed is a message that begins with a key of a file.
var keyed = regexp.MustCompile(`^[a-z_]+(?:\.[a-z_]+|\[[0-9]+\])*`)

// Placed says on which line of a file stands what is wrong with it. A message that does not begin with a key of the file comes back as it is.
func Placed(file []byte, err error) error {
	if err == nil {
		return nil
	}
	key := keyed.FindString(err.Error())
	if key == "" || nodeAt(file, "$."+key) == nil {
		return err
	}
	return fmt.Errorf("line %d: %w", LineOf(file, "$", key), err)
}

// Warnings names what a job file sets that nothing looks at any more, a line each.
func (j *Job) Warnings() (out []string) {
	for name, why := range gone {
		if _, ok := j.Limits[name]; ok {
			out = append(out, fmt.Sprintf("limits.%s is gone, and not looked at: %s", name, why))
		}
	}
	return out
}

// oneLine keeps the first line of an error; what follows is an excerpt of the file.
func oneLine(err error) error {
	var ye yaml.Error
	if errors.As(err, &ye) && ye.GetToken() != nil {
		return fmt.Errorf("line %d: %s", ye.GetToken().Position.Line, plainly(ye.GetMessage()))
	}
	first, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return errors.New(first)
}

// kinds are what the reader of YAML calls by the names of Go's types, and others by other names.
var kinds = map[string]string{
	"string": "a text", "mapping": "keys, such as {name: …}", "sequence": "a list", "bool": "true or false", "float64": "a number",
	"int": "a whole number", "uint64": "a whole number", "int64": "a whole number", "[]interface {}": "a list", "map[string]interface {}": "a mapping",
}

// overflows and misfits are its messages about values that do not fit.
var (
	overflows = regexp.MustCompile(`^cannot unmarshal (\S+) into Go value of type \S+ \( overflow \)$`)
	misfits   = regexp.MustCompile(`^(?:cannot unmarshal )?(.+?) (?:into Go (?:struct field \S+|value) of type|was used where) (\S+)(?: is expected)?$`)
)

// plainly says what a message of the reader of YAML says in the words of those who write files.
func plainly(message string) string {
	if m := overflows.FindStringSubmatch(message); m != nil {
		return m[1] + " is out of range"
	}
	if m := misfits.FindStringSubmatch(message); m != nil && kinds[m[1]] != "" && kinds[m[2]] != "" {
		have, _, _ := strings.Cut(kinds[m[1]], ",")
		verb := " stands where "
		if have == "keys" {
			verb = " stand where "
		}
		want := kinds[m[2]] + " is wanted"
		if m[2] == "mapping" {
			want = kinds[m[2]] + " are wanted"
		}
		return have + verb + want
	}
	return message
}

// Crawl makes a job of a job file and of its seeds, as Seeds returns them.
func (j *Job) Crawl(seeds []string, bare []bool) (crawl.Job, error) {
	out := crawl.Job{Name: j.Name, Limits: crawl.DefaultLimits(), Placing: j.Placing.crawl(), Sites: rules(j.Sites)}
	if strings.ContainsAny(j.Fetch.UserAgent, "\r\n") {
		return out, errors.New("fetch.user_agent: no line breaks")
	}
	scope := crawl.Scope(j.Scope)
	if scope == "" {
		scope = crawl.ScopeSite
	}
	f := j.Fetch
	out.Identity = crawl.Identity{
		Seeds: seeds, NoScheme: bare, Scope: scope, Include: j.Include, Exclude: j.Exclude, Resources: f.Resources, Sitemaps: f.Sitemaps,
		StripSession: f.StripSession, IgnoreRobots: f.IgnoreRobots, IgnoreNofollow: f.IgnoreNofollow, UserAgent: f.UserAgent, Text: f.Text, MainText: f.MainText,
		Language: f.Language, NearDup: f.NearDup,
	}
	j.Limits.Apply(&out.Limits)
	if j.Virtual != nil {
		return out, j.collect(&out)
	}
	if err := j.Topic.apply(&out.Identity); err != nil {
		return out, err
	}
	market, err := j.Market.Made()
	switch {
	case err != nil:
		return out, err
	case market == nil:
	case out.Identity.Topic == nil:
		return out, errors.New("market: crawlers trade by what is about a topic: give one")
	case out.Identity.Order != crawl.OrderBest:
		return out, errors.New("market: crawlers trade by what links promise: not with another order than best")
	}
	out.Identity.Market = market
	return out, nil
}

// Followed makes a job of a job file without seeds: those that list stands for follow it.
func (j *Job) Followed(agent string, list crawl.SeedList) (crawl.Job, error) {
	if len(j.Seeds)+len(j.SeedsFrom) > 0 || j.SeedsFile != "" {
		return crawl.Job{}, errors.New("seeds: they follow the job, and cannot stand in it, too")
	}
	if j.Fetch.UserAgent == "" {
		j.Fetch.UserAgent = agent
	}
	out, err := j.Crawl(nil, nil)
	out.Identity.List = &list
	return out, err
}

// Submitted makes a job of a job file with its seeds. agent is the User-Agent of files that name none.
func (j *Job) Submitted(agent string) (crawl.Job, error) {
	if j.Fetch.UserAgent == "" {
		j.Fetch.UserAgent = agent
	}
	if j.Virtual != nil && j.SeedsFile == "" && len(j.Seeds) == 0 {
		return j.Crawl(nil, nil)
	}
	if j.SeedsFile != "" {
		return crawl.Job{}, errors.New("seeds_file: it is read by argosy submit, which sends the seeds in chunks")
	}
	if len(j.SeedsFrom) > 0 {
		return crawl.Job{}, errors.New("seeds_from: search engines are asked by argosy submit, which sends what they find")
	}
	seeds, bare, err := Seeds(j.Seeds, func(i int) string { return fmt.Sprintf("seeds[%d]", i) })
	if err != nil {
		return crawl.Job{}, err
	}
	return j.Crawl(seeds, bare)
}

func (p *Placing) crawl() crawl.Placing {
	return crawl.Placing{
		Strategy: p.Strategy, Probe: p.Probe, Type: p.Type, Store: p.Store, Product: p.Product, Places: p.Places, Landmarks: p.Landmarks,
		Need: [3]float64{p.Need.CPU, float64(p.Need.Memory), float64(p.Need.Bandwidth)},
	}
}

// Login takes the name and password out of a URL that has them (RFC 3986, section 3.2.1), as they stand: NAME:PASSWORD.
func Login(raw string) (without, login string) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return raw, ""
	}
	end := strings.IndexAny(rest, "/?#\\")
	if end < 0 {
		end = len(rest)
	}
	at := strings.LastIndexByte(rest[:end], '@')
	if at < 0 {
		return raw, ""
	}
	return scheme + "://" + rest[at+1:], rest[:at]
}

// Changeable returns why a file cannot change a job that is there: it says what makes another job, or nothing at all. Nil: it can.
func (j *Job) Changeable() error {
	rest := *j
	rest.Limits, rest.Sites, rest.Placing, rest.Catalogue = nil, nil, Placing{}, nil
	switch {
	case !reflect.DeepEqual(rest, Job{}):
		return errors.New("only limits, sites and placing of a job can be changed: all else is what makes it this job")
	case len(j.Limits) == 0 && j.Sites == nil && reflect.DeepEqual(j.Placing, Placing{}):
		return errors.New("nothing is changed: limits, sites or placing are to be given")
	}
	return nil
}

// Change changes limits, sites and placing of a job by what the file says of them. What it says of sites is beside what was said of others;
// an empty list takes all of that away.
func (j *Job) Change(to *crawl.Job) {
	j.Limits.Apply(&to.Limits)
	j.Placing.Apply(&to.Placing)
	if j.Sites != nil && len(j.Sites) == 0 {
		to.Sites = nil
	}
	to.Sites = crawl.Merge(to.Sites, rules(j.Sites))
}

// Apply changes a placing by what is given.
func (p *Placing) Apply(to *crawl.Placing) {
	n := p.crawl()
	for _, s := range []struct{ to, from *string }{
		{&to.Strategy, &n.Strategy}, {&to.Probe, &n.Probe}, {&to.Type, &n.Type}, {&to.Store, &n.Store}, {&to.Product, &n.Product},
	} {
		if *s.from != "" {
			*s.to = *s.from
		}
	}
	if n.Need != [3]float64{} {
		to.Need = n.Need
	}
	if n.Places != nil {
		to.Places = n.Places
	}
	if n.Landmarks != nil {
		to.Landmarks = n.Landmarks
	}
}

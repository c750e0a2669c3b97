// Package config reads what users write: job files, in YAML. Unknown keys are refused, and what is wrong is said in one
// line with its place. Schema publishes what a job file may hold.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"argosy/internal/crawl"
	"argosy/internal/plan/split"
)

// Job is a job file.
type Job struct {
	Name       string         `yaml:"name" doc:"what people call it"`
	Seeds      []string       `yaml:"seeds" doc:"URLs to start from; without a scheme https is tried, then http"`
	Scope      string         `yaml:"scope" doc:"what belongs to the crawl" enum:"site host domain prefix any"`
	Include    []string       `yaml:"include" doc:"fetch only URLs that match one of these expressions (RE2)"`
	Exclude    []string       `yaml:"exclude" doc:"fetch no URL that matches one of these expressions"`
	Fetch      Fetch          `yaml:"fetch" doc:"what is fetched, and as whom"`
	Limits     Limits         `yaml:"limits" doc:"where it ends and how fast it goes; they may change while it runs"`
	Placing    Placing        `yaml:"placing" doc:"which nodes its sites go to"`
	Dictionary []string       `yaml:"dictionary" doc:"words that the segmenter is to know"`
	Virtual    *split.Virtual `yaml:"virtual" doc:"a virtual task, for argosy split"`
}

// Fetch says what is fetched, and as whom.
type Fetch struct {
	Resources    bool `yaml:"resources" doc:"also what pages need to be shown: images, scripts, styles, media"`
	Sitemaps     bool `yaml:"sitemaps" doc:"also start from the sitemaps that robots.txt names"`
	StripSession bool `yaml:"strip_session" doc:"remove session and campaign parameters from URLs"`
	IgnoreRobots bool `yaml:"ignore_robots" doc:"obey no robots.txt (asked for sitemaps only), nor nofollow"`

	IgnoreNofollow bool `yaml:"ignore_nofollow" doc:"follow links on pages that ask not to (meta robots, X-Robots-Tag), and obey robots.txt nevertheless"`

	UserAgent string `yaml:"user_agent" doc:"User-Agent field"`
	Text      bool   `yaml:"text" doc:"also archive the plain text of pages"`
	MainText  bool   `yaml:"main_text" doc:"also archive the main text of pages"`
	Language  bool   `yaml:"language" doc:"note the language of pages"`
	NearDup   bool   `yaml:"near_duplicates" doc:"note marks by which near duplicates are found"`
}

// Limits of a job; what is not given has argosy crawl's default.
type Limits struct {
	MaxPages        *int64    `yaml:"max_pages" doc:"end after this many fetched URLs; 0: no limit" min:"0"`
	MaxDepth        *int      `yaml:"max_depth" doc:"follow links this deep; -1: no limit" min:"-1" max:"60000"`
	MaxBytes        *Size     `yaml:"max_bytes" doc:"end after this many bytes of bodies, such as 20G"`
	MaxTime         *Duration `yaml:"max_time" doc:"end after running this long"`
	Delay           *Duration `yaml:"delay" doc:"between starts of requests to a site"`
	MaxCrawlDelay   *Duration `yaml:"max_crawl_delay" doc:"obey a Crawl-delay in robots.txt up to this (0: not at all)"`
	PerSite         *int      `yaml:"per_site" doc:"leases of a site at once" min:"1" max:"1000"`
	SiteConnections *int      `yaml:"site_connections" doc:"requests at once in a lease when the delay is 0" min:"1" max:"1000"`
	PerIP           *int      `yaml:"per_ip" doc:"leases at once on one address; 0: no limit" min:"0"`
	PerDomain       *int      `yaml:"per_domain" doc:"leases at once on one registrable domain; 0: no limit" min:"0"`
	Retries         *int      `yaml:"retries" doc:"tries after a failure that may pass" min:"0" max:"200"`
	Backoff         *Duration `yaml:"backoff" doc:"first wait after a failure; doubled by each in a row"`
	RecycleAfter    *Duration `yaml:"recycle_after" doc:"recall a lease without progress for this long; at least 1s"`
	RecycleLimit    *int      `yaml:"recycle_limit" doc:"recalls before a task waits for a person" min:"0"`
	LeasePages      *int      `yaml:"lease_pages" doc:"URLs of one lease" min:"1"`
	LeaseTime       *Duration `yaml:"lease_time" doc:"time of one lease"`
	SitePages       *int64    `yaml:"site_pages" doc:"fetch at most this many URLs of a site; 0: no limit" min:"0"`
	MaxSitemaps     *int64    `yaml:"max_sitemaps" doc:"read at most this many sitemaps of a site; 0: no limit" min:"0"`
	MaxURLLength    *int      `yaml:"max_url_length" doc:"refuse longer URLs, in bytes" min:"16"`
	MaxChain        *int      `yaml:"max_chain" doc:"gone, and not looked at: chains are judged by what they bring" min:"0"`
	MaxBody         *Size     `yaml:"max_body" doc:"give up on larger bodies"`
	ConnectTimeout  *Duration `yaml:"connect_timeout" doc:"limit of connecting"`
	TLSTimeout      *Duration `yaml:"tls_timeout" doc:"limit of the TLS handshake"`
	HeaderTimeout   *Duration `yaml:"header_timeout" doc:"limit from request to the end of the header"`
	BodyTimeout     *Duration `yaml:"body_timeout" doc:"limit of the body"`
	MinRate         *int      `yaml:"min_rate" doc:"give up on bodies slower than this, in bytes a second" min:"0"`
}

// Placing says which nodes a job's sites go to.
type Placing struct {
	Strategy  string                 `yaml:"strategy" doc:"a name and options, see argosy strategies; empty: the coordinator's"`
	Probe     string                 `yaml:"probe" doc:"pairs of nodes and sites that are measured before a site is crawled" enum:"none few all"`
	Type      string                 `yaml:"type" doc:"only nodes with this label type"`
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

// Duration is a span as people write it: 1.5s, 10m, 2h.
type Duration time.Duration

// UnmarshalYAML reads a span.
func (d *Duration) UnmarshalYAML(unmarshal func(any) error) error {
	var s string
	if err := unmarshal(&s); err != nil {
		return err
	}
	if s == "0" {
		*d = 0
		return nil
	}
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is no span; allowed are such as 500ms, 10s, 5m, 2h", s)
	}
	*d = Duration(v)
	return nil
}

// Size is a number of bytes (or bits), with K, M, G or T for powers of 1024.
type Size int64

// UnmarshalYAML reads a size.
func (n *Size) UnmarshalYAML(unmarshal func(any) error) error {
	var s string
	if err := unmarshal(&s); err != nil {
		return err
	}
	v, err := ParseSize(s)
	*n = Size(v)
	return err
}

// ParseSize reads a number of bytes with an optional K, M, G or T (powers of 1024).
func ParseSize(s string) (int64, error) {
	num, mult := strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(s)), "B"), int64(1)
	for i, unit := range "KMGT" {
		if t, ok := strings.CutSuffix(num, string(unit)); ok {
			num, mult = t, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(num, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/mult {
		return 0, fmt.Errorf("%q is no size; allowed are numbers of bytes, with K, M, G or T", s)
	}
	return n * mult, nil
}

// maxFile bounds a file, in bytes.
const maxFile = 16 << 20

// ReadJob reads a job file.
func ReadJob(r io.Reader) (Job, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return Job{}, err
	}
	var j Job
	if err := decode(b, &j); err != nil {
		return Job{}, err
	}
	return j, ranges(&j)
}

// Read reads a file into a T, by the schema of T: unknown keys and values out of range are refused, in one line that begins
// with the file's name.
func Read[T any](name string, b []byte) (v T, err error) {
	if err = decode(b, &v); err == nil {
		err = within(reflect.ValueOf(&v).Elem(), "")
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return v, err
}

// decode reads YAML strictly.
func decode(b []byte, into any) error {
	if len(b) > maxFile {
		return fmt.Errorf("more than %d bytes", maxFile)
	}
	if err := budget(b); err != nil {
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

// Warnings names what a job file sets that nothing looks at any more, a line each.
func (j *Job) Warnings() (out []string) {
	if j.Limits.MaxChain != nil {
		out = append(out, "limits.max_chain is gone, and not looked at: chains are judged by what they bring")
	}
	return out
}

// oneLine keeps the first line of an error; what follows is an excerpt of the file.
func oneLine(err error) error {
	var ye yaml.Error
	if errors.As(err, &ye) && ye.GetToken() != nil {
		return fmt.Errorf("line %d: %s", ye.GetToken().Position.Line, ye.GetMessage())
	}
	first, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return errors.New(first)
}

// Crawl makes a job of a job file. agent is the User-Agent of files that name none.
func (j *Job) Crawl(agent string) (crawl.Job, error) {
	out := crawl.Job{Name: j.Name, Limits: crawl.DefaultLimits()}
	if j.Virtual != nil {
		return out, errors.New("virtual: it is split by argosy split, and not crawled yet; give seeds")
	}
	seeds, bare, err := Seeds(j.Seeds, func(i int) string { return fmt.Sprintf("seeds[%d]", i) })
	if err != nil {
		return out, err
	}
	if j.Fetch.UserAgent != "" {
		agent = j.Fetch.UserAgent
	}
	if strings.ContainsAny(agent, "\r\n") {
		return out, errors.New("fetch.user_agent: no line breaks")
	}
	scope := crawl.Scope(j.Scope)
	if scope == "" {
		scope = crawl.ScopeSite
	}
	f := j.Fetch
	out.Identity = crawl.Identity{
		Seeds: seeds, NoScheme: bare, Scope: scope, Include: j.Include, Exclude: j.Exclude, Resources: f.Resources, Sitemaps: f.Sitemaps,
		StripSession: f.StripSession, IgnoreRobots: f.IgnoreRobots, IgnoreNofollow: f.IgnoreNofollow, UserAgent: agent, Text: f.Text, MainText: f.MainText,
		Language: f.Language, NearDup: f.NearDup,
	}
	j.Limits.Apply(&out.Limits)
	out.Placing = j.Placing.crawl()
	return out, nil
}

func (p *Placing) crawl() crawl.Placing {
	return crawl.Placing{
		Strategy: p.Strategy, Probe: p.Probe, Type: p.Type, Store: p.Store, Product: p.Product, Places: p.Places, Landmarks: p.Landmarks,
		Need: [3]float64{p.Need.CPU, float64(p.Need.Memory), float64(p.Need.Bandwidth)},
	}
}

// Seeds reads seeds: canonical, each once, and which of them were given without a scheme. where names the place of one.
func Seeds(given []string, where func(i int) string) (seeds []string, bare []bool, err error) {
	if len(given) == 0 {
		return nil, nil, errors.New("no seed: give at least one URL")
	}
	seen := map[string]bool{}
	var bad []string
	for i, s := range given {
		text, none := s, !strings.Contains(s, "://")
		if none {
			text = "https://" + text
		}
		if _, login := Login(text); login != "" {
			bad = append(bad, fmt.Sprintf("%s: a seed with a name and a password, which a job does not keep: give them to argosy crawl, or to the nodes with --header", where(i)))
			continue
		}
		u, err := crawl.Parse(text)
		if err != nil {
			bad = append(bad, fmt.Sprintf("%s: seed %q: %v", where(i), s, err))
			continue
		}
		if !seen[u.String()] {
			seen[u.String()] = true
			seeds, bare = append(seeds, u.String()), append(bare, none)
		}
	}
	if len(bad) > 0 {
		more := ""
		if n := len(bad) - maxBadSeeds; n > 0 {
			bad, more = bad[:maxBadSeeds], fmt.Sprintf("; and %d more", n)
		}
		return nil, nil, fmt.Errorf("%s%s; allowed are http and https URLs and host names", strings.Join(bad, "; "), more)
	}
	return seeds, bare, nil
}

// maxBadSeeds bounds how many seeds are named that are none.
const maxBadSeeds = 20

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

// Apply changes limits by those that are given.
func (l *Limits) Apply(to *crawl.Limits) {
	set(&to.MaxPages, l.MaxPages)
	set(&to.MaxDepth, l.MaxDepth)
	set(&to.PerSite, l.PerSite)
	set(&to.SiteConnections, l.SiteConnections)
	set(&to.PerIP, l.PerIP)
	set(&to.PerDomain, l.PerDomain)
	set(&to.Retries, l.Retries)
	set(&to.RecycleLimit, l.RecycleLimit)
	set(&to.LeasePages, l.LeasePages)
	set(&to.SitePages, l.SitePages)
	set(&to.MaxSitemaps, l.MaxSitemaps)
	set(&to.MaxURLLength, l.MaxURLLength)
	set(&to.Fetch.MinRate, l.MinRate)
	span(&to.MaxTime, l.MaxTime)
	span(&to.Delay, l.Delay)
	span(&to.MaxCrawlDelay, l.MaxCrawlDelay)
	span(&to.Backoff, l.Backoff)
	span(&to.RecycleAfter, l.RecycleAfter)
	span(&to.LeaseTime, l.LeaseTime)
	span(&to.Fetch.ConnectTimeout, l.ConnectTimeout)
	span(&to.Fetch.TLSTimeout, l.TLSTimeout)
	span(&to.Fetch.HeaderTimeout, l.HeaderTimeout)
	span(&to.Fetch.BodyTimeout, l.BodyTimeout)
	if l.MaxBytes != nil {
		to.MaxBytes = int64(*l.MaxBytes)
	}
	if l.MaxBody != nil {
		to.Fetch.MaxBody = int64(*l.MaxBody)
		to.Fetch.MaxDecoded = 4 * to.Fetch.MaxBody
	}
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func span(to *time.Duration, from *Duration) {
	if from != nil {
		*to = time.Duration(*from)
	}
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

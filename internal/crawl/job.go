package crawl

import "time"

// Scope says which sites belong to a job, relative to its seeds.
type Scope string

// The scopes of a job.
const (
	ScopeSite   Scope = "site"   // the seeds' sites
	ScopeHost   Scope = "host"   // the seeds' hosts, any port
	ScopeDomain Scope = "domain" // the seeds' registrable domains (public suffix list)
	ScopePrefix Scope = "prefix" // URLs that start with a seed's directory
	ScopeAny    Scope = "any"    // everything
)

// Job is what a user submits. Identity never changes once submitted; Limits may change on resume.
type Job struct {
	ID       uint32   `cbor:"1,keyasint" json:"id"`
	Identity Identity `cbor:"2,keyasint" json:"identity"`
	Limits   Limits   `cbor:"3,keyasint" json:"limits"`
	Placing  Placing  `cbor:"4,keyasint" json:"placing"`
	Name     string   `cbor:"5,keyasint,omitempty" json:"name,omitempty"`
}

// Pace returns the limits that decide when a site is asked: a job that ignores robots.txt obeys no Crawl-delay.
func (j *Job) Pace() Limits {
	l := j.Limits
	if j.Identity.IgnoreRobots {
		l.MaxCrawlDelay = 0
	}
	return l
}

// Placing says how a job's tasks find their nodes. It may change on resume.
type Placing struct {
	Strategy  string           `cbor:"1,keyasint,omitempty" json:"strategy,omitempty"`  // empty: the coordinator's
	Probe     string           `cbor:"2,keyasint,omitempty" json:"probe,omitempty"`     // none, few or all; empty: the coordinator's
	Type      string           `cbor:"3,keyasint,omitempty" json:"type,omitempty"`      // only nodes with this label "type"
	Store     string           `cbor:"4,keyasint,omitempty" json:"store,omitempty"`     // only nodes whose archives go there
	Product   string           `cbor:"5,keyasint,omitempty" json:"product,omitempty"`   // tasks of one product need alike
	Need      [3]float64       `cbor:"6,keyasint" json:"need"`                          // of a task: cores, bytes of memory, bits/s; 0 is not stated
	Places    map[string]Place `cbor:"7,keyasint,omitempty" json:"places,omitempty"`    // where sites are
	Landmarks []string         `cbor:"8,keyasint,omitempty" json:"landmarks,omitempty"` // nodes that measure for all
}

// Place is where a site is, as its job says.
type Place struct {
	Lat    float64 `cbor:"1,keyasint,omitempty" json:"lat,omitempty" yaml:"lat"`
	Lon    float64 `cbor:"2,keyasint,omitempty" json:"lon,omitempty" yaml:"lon"`
	Region string  `cbor:"3,keyasint,omitempty" json:"region,omitempty" yaml:"region"`
}

// Identity is what makes a job this job and no other.
type Identity struct {
	Seeds        []string `cbor:"1,keyasint" json:"seeds"`
	Scope        Scope    `cbor:"2,keyasint" json:"scope"`
	Include      []string `cbor:"3,keyasint,omitempty" json:"include,omitempty"` // RE2; a URL must match one, if any
	Exclude      []string `cbor:"4,keyasint,omitempty" json:"exclude,omitempty"` // RE2; a URL must match none
	Resources    bool     `cbor:"5,keyasint,omitempty" json:"resources,omitempty"`
	Sitemaps     bool     `cbor:"6,keyasint,omitempty" json:"sitemaps,omitempty"`
	StripSession bool     `cbor:"7,keyasint,omitempty" json:"strip_session,omitempty"`
	IgnoreRobots bool     `cbor:"8,keyasint,omitempty" json:"ignore_robots,omitempty"`
	UserAgent    string   `cbor:"9,keyasint" json:"user_agent"`
	Text         bool     `cbor:"10,keyasint,omitempty" json:"text,omitempty"`
	MainText     bool     `cbor:"11,keyasint,omitempty" json:"main_text,omitempty"`
	Language     bool     `cbor:"12,keyasint,omitempty" json:"language,omitempty"`
	NearDup      bool     `cbor:"13,keyasint,omitempty" json:"near_duplicates,omitempty"`
	NoScheme     []bool   `cbor:"14,keyasint,omitempty" json:"-"` // which seeds were given without a scheme

	IgnoreNofollow bool `cbor:"15,keyasint,omitempty" json:"ignore_nofollow,omitempty"`
}

// Limits bound a job and set its pace. A zero number is no limit.
type Limits struct {
	MaxPages        int64         `cbor:"1,keyasint,omitempty" json:"max_pages,omitempty"` // responses fetched
	MaxDepth        int           `cbor:"2,keyasint" json:"max_depth"`                     // -1 is no limit
	MaxBytes        int64         `cbor:"3,keyasint,omitempty" json:"max_bytes,omitempty"` // as transferred
	MaxTime         time.Duration `cbor:"4,keyasint,omitempty" json:"max_time,omitempty"`  // of running
	Delay           time.Duration `cbor:"5,keyasint,omitempty" json:"delay,omitempty"`     // between starts of requests to a site
	MaxCrawlDelay   time.Duration `cbor:"6,keyasint,omitempty" json:"max_crawl_delay,omitempty"`
	PerSite         int           `cbor:"7,keyasint" json:"per_site"` // leases at once
	SiteConnections int           `cbor:"8,keyasint" json:"site_connections"`
	PerIP           int           `cbor:"9,keyasint,omitempty" json:"per_ip,omitempty"`
	Retries         int           `cbor:"10,keyasint" json:"retries"`
	Backoff         time.Duration `cbor:"11,keyasint" json:"backoff"`
	RecycleAfter    time.Duration `cbor:"12,keyasint" json:"recycle_after"`
	RecycleLimit    int           `cbor:"13,keyasint" json:"recycle_limit"`
	LeasePages      int           `cbor:"14,keyasint" json:"lease_pages"`
	LeaseTime       time.Duration `cbor:"15,keyasint" json:"lease_time"`
	SitePages       int64         `cbor:"16,keyasint,omitempty" json:"site_pages,omitempty"`
	MaxURLLength    int           `cbor:"17,keyasint" json:"max_url_length"`
	MaxRefusals     int           `cbor:"19,keyasint" json:"max_refusals"` // kept a site
	Fetch           FetchLimits   `cbor:"20,keyasint" json:"fetch"`
	PerDomain       int           `cbor:"21,keyasint,omitempty" json:"per_domain,omitempty"`   // leases at once on one registrable domain
	MaxSitemaps     int64         `cbor:"52,keyasint,omitempty" json:"max_sitemaps,omitempty"` // of a site
}

// FetchLimits bound one exchange.
type FetchLimits struct {
	MaxHeader      int           `cbor:"1,keyasint" json:"max_header"`  // bytes
	MaxBody        int64         `cbor:"2,keyasint" json:"max_body"`    // bytes as transferred
	MaxDecoded     int64         `cbor:"3,keyasint" json:"max_decoded"` // bytes after decompression
	ConnectTimeout time.Duration `cbor:"4,keyasint" json:"connect_timeout"`
	TLSTimeout     time.Duration `cbor:"5,keyasint" json:"tls_timeout"`
	HeaderTimeout  time.Duration `cbor:"6,keyasint" json:"header_timeout"`
	BodyTimeout    time.Duration `cbor:"7,keyasint" json:"body_timeout"`
	MinRate        int           `cbor:"8,keyasint" json:"min_rate"` // bytes a second, after a grace of 10 s
}

// DefaultLimits returns the limits of a polite crawl.
func DefaultLimits() Limits {
	return Limits{
		MaxDepth: -1, Delay: time.Second, MaxCrawlDelay: 30 * time.Second,
		PerSite: 1, SiteConnections: 8, PerIP: 16,
		Retries: 3, Backoff: 5 * time.Second,
		RecycleAfter: time.Minute, RecycleLimit: 5,
		LeasePages: 10_000, LeaseTime: 5 * time.Minute,
		MaxURLLength: 2048, MaxRefusals: 1_000_000,
		MaxSitemaps: 50_000, // as many as an index may name (sitemaps.org)
		Fetch:       DefaultFetchLimits(),
	}
}

// DefaultFetchLimits returns the limits of one exchange.
func DefaultFetchLimits() FetchLimits {
	return FetchLimits{
		MaxHeader: 256 << 10, MaxBody: 64 << 20, MaxDecoded: 256 << 20,
		ConnectTimeout: 10 * time.Second, TLSTimeout: 10 * time.Second,
		HeaderTimeout: 30 * time.Second, BodyTimeout: 10 * time.Minute, MinRate: 100,
	}
}

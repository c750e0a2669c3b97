package crawl

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

// QueueOrder says in which order the URLs of a site are fetched.
type QueueOrder string

// The orders of a queue.
const (
	OrderBreadth QueueOrder = ""      // by depth, then first come, first served
	OrderDepth   QueueOrder = "depth" // the deepest first, of equal depth the last come
	OrderBest    QueueOrder = "best"  // by score, then first come, first served
)

// Job is what a user submits. Identity never changes once submitted; Limits may change on resume.
type Job struct {
	ID       uint32   `cbor:"1,keyasint" json:"id"`
	Identity Identity `cbor:"2,keyasint" json:"identity"`
	Limits   Limits   `cbor:"3,keyasint" json:"limits"`
	Placing  Placing  `cbor:"4,keyasint" json:"placing"`
	Name     string   `cbor:"5,keyasint,omitempty" json:"name,omitempty"`

	Sites []SiteRule `cbor:"6,keyasint,omitempty" json:"sites,omitempty"` // limits and headers may change on resume, filters not
}

// Pace returns the limits on a site as they decide when it is asked: a job that ignores robots.txt obeys no Crawl-delay.
func (j *Job) Pace(l Limits) Limits {
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

// Located reports whether it says where on the globe the site is.
func (p Place) Located() bool { return p.Lat != 0 || p.Lon != 0 }

// Place returns what a job says of where a site is: under its name, or its host's.
func (p *Placing) Place(site string) (at Place, ok bool) {
	if at, ok = p.Places[site]; !ok && len(p.Places) > 0 {
		at, ok = p.Places[HostOf(site)]
	}
	return at, ok
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

	IgnoreNofollow bool      `cbor:"15,keyasint,omitempty" json:"ignore_nofollow,omitempty"`
	List           *SeedList `cbor:"16,keyasint,omitempty" json:"seed_list,omitempty"` // instead of Seeds, if they are many

	Topic  *Topic     `cbor:"70,keyasint,omitempty" json:"topic,omitempty"`   // what pages are to be about; nil: anything
	Order  QueueOrder `cbor:"71,keyasint,omitempty" json:"order,omitempty"`   // in which a site's URLs are fetched
	Tunnel int        `cbor:"72,keyasint,omitempty" json:"tunnel,omitempty"`  // with a topic: so many pages in a row may be off it on the way to a URL; -1: any number
	ByRule bool       `cbor:"73,keyasint,omitempty" json:"by_rule,omitempty"` // with a topic: links are scored by fixed rules, and nothing is learned
	Fuzzy  bool       `cbor:"75,keyasint,omitempty" json:"fuzzy,omitempty"`   // with ByRule: the rules are fuzzy ones
	Market *Market    `cbor:"74,keyasint,omitempty" json:"market,omitempty"`  // with a topic: how many crawlers share its URLs, and how; nil: there is one

	Collect *Collect `cbor:"100,keyasint,omitempty" json:"collect,omitempty"` // of a virtual task; nil: the job follows links from its seeds
}

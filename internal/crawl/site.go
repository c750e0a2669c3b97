package crawl

// Site is the record of a site, kept by the frontier and carried by leases. Times are Unix milliseconds of the
// log's clock; on their way to an agent they become spans (SiteState).
type Site struct {
	Name         string      `cbor:"1,keyasint"`
	Robots       []byte      `cbor:"2,keyasint,omitempty"` // what it says to us (robots.Rules.Encode)
	RobotsState  RobotsState `cbor:"3,keyasint,omitempty"`
	RobotsExpiry int64       `cbor:"4,keyasint,omitempty"`
	RobotsTries  int         `cbor:"5,keyasint,omitempty"` // answers that were not answers, in a row
	RobotsWhy    Kind        `cbor:"6,keyasint,omitempty"`
	RobotsGone   bool        `cbor:"7,keyasint,omitempty"`
	LastStart    int64       `cbor:"8,keyasint,omitempty"`
	BackoffUntil int64       `cbor:"9,keyasint,omitempty"`
	LatencyUS    int64       `cbor:"10,keyasint,omitempty"`
	Fails        int         `cbor:"11,keyasint,omitempty"`
	Addrs        []string    `cbor:"12,keyasint,omitempty"`
	AddrExpiry   int64       `cbor:"13,keyasint,omitempty"`
	ResolveFails int         `cbor:"14,keyasint,omitempty"`
	ResolveWhy   Kind        `cbor:"15,keyasint,omitempty"`
	CrawlDelayMS int64       `cbor:"17,keyasint,omitempty"`
	Trouble      string      `cbor:"60,keyasint,omitempty"` // why it could not be asked the last time, in words; empty: it could

	RobotsBare bool   `cbor:"62,keyasint,omitempty"` // it said nothing to a lease without cookies
	RobotsFor  string `cbor:"64,keyasint,omitempty"` // RobotsChange.For
	RobotsBy   string `cbor:"65,keyasint,omitempty"` // RobotsChange.By

	Heard Heard `cbor:"63,keyasint,omitempty"`

	Paces map[string]Pace `cbor:"61,keyasint,omitempty"` // of source addresses that asked it each by a clock of its own
}

// Heard is the set of what has been heard from a site.
type Heard uint8

// What a site may have answered.
const (
	HeardHTTP  Heard = 1 << iota // a request over http
	HeardHTTPS                   // one over https
	HeardPage                    // one for a page, over either
	heardAll   = HeardHTTP | HeardHTTPS | HeardPage
)

// HeardBy is the answer to a request over a scheme.
func HeardBy(scheme string) Heard {
	if scheme == "https" {
		return HeardHTTPS
	}
	return HeardHTTP
}

// HeardOf is what is in a record: of a site that has answered to a version that did not note what, it is all.
func HeardOf(heard Heard, latencyUS int64) Heard {
	if heard == 0 && latencyUS > 0 {
		return heardAll
	}
	return heard
}

// Pace is what one source address's clock of a site goes by, as the record of the site has it for all.
type Pace struct {
	LastStart    int64 `cbor:"1,keyasint,omitempty"`
	BackoffUntil int64 `cbor:"2,keyasint,omitempty"`
	LatencyUS    int64 `cbor:"3,keyasint,omitempty"`
	Fails        int   `cbor:"4,keyasint,omitempty"`
}

// Gates are what is known of the gates of a site for one job, which send its readers about for a cookie.
type Gates struct {
	Keys  []Key `cbor:"1,keyasint,omitempty"` // URLs that pages led to, from which a cookie of a new name came
	Walls uint8 `cbor:"2,keyasint,omitempty"` // kinds of walls that matter there, a bit each, as the agent has them

	Texts []Text `cbor:"3,keyasint,omitempty"` // what walls show that stand in the place of its pages
	Vain  uint8  `cbor:"4,keyasint,omitempty"` // times that such were looked for where there was none
	Shut  uint8  `cbor:"5,keyasint,omitempty"` // leases in a row that known ones let none through
	Bare  []Bare `cbor:"6,keyasint,omitempty"` // pages that name hardly anything: one of them may be such a wall
}

// Bare is a page and a sum of its bytes.
type Bare struct {
	Key Key    `cbor:"1,keyasint"`
	Sum uint64 `cbor:"2,keyasint"`
}

// Text is what a page shows, for others to be told that show the same.
type Text struct {
	Sum    uint64 `cbor:"1,keyasint"` // of all its words
	Sample Marks  `cbor:"2,keyasint"` // the smallest marks of its phrases
}

func (g *Gates) len() int {
	if g == nil {
		return 0
	}
	n := max(len(g.Keys), len(g.Texts), len(g.Bare))
	for i := range g.Texts {
		n = max(n, len(g.Texts[i].Sample))
	}
	return n
}

// SiteState is a site record as a lease carries it: spans instead of times.
type SiteState struct {
	Robots      []byte      `cbor:"1,keyasint,omitempty"` // robots.Rules.Encode
	RobotsState RobotsState `cbor:"2,keyasint,omitempty"`
	RobotsTTLMS int64       `cbor:"3,keyasint,omitempty"`
	RobotsTries int         `cbor:"4,keyasint,omitempty"`
	RobotsWhy   Kind        `cbor:"5,keyasint,omitempty"`
	RobotsGone  bool        `cbor:"6,keyasint,omitempty"`
	WaitMS      int64       `cbor:"7,keyasint,omitempty"` // before the first request
	LatencyUS   int64       `cbor:"8,keyasint,omitempty"`
	Fails       int         `cbor:"9,keyasint,omitempty"`
	Addrs       []string    `cbor:"10,keyasint,omitempty"` // if any, the only ones to dial
	Cookies     []Cookie    `cbor:"11,keyasint,omitempty"`
	Gates       *Gates      `cbor:"66,keyasint,omitempty"`
	ResolveWhy  Kind        `cbor:"12,keyasint,omitempty"` // the name does not resolve: fail every URL with this
	Spread      int         `cbor:"13,keyasint,omitempty"` // leases that share the site's delay, at least 1
	SeedSite    bool        `cbor:"14,keyasint,omitempty"` // secret headers and cookies may go there
	Trouble     string      `cbor:"60,keyasint,omitempty"` // why it could not be asked the last time, in words

	ResolveFails int `cbor:"61,keyasint,omitempty"` // look-ups of its name that failed, in a row

	RobotsBare bool   `cbor:"63,keyasint,omitempty"` // it said nothing to a lease without cookies
	RobotsFor  string `cbor:"65,keyasint,omitempty"` // RobotsChange.For
	RobotsBy   string `cbor:"67,keyasint,omitempty"` // RobotsChange.By

	Heard Heard `cbor:"64,keyasint,omitempty"`

	Headers []Header `cbor:"62,keyasint,omitempty"` // that the job's requests to it have besides
}

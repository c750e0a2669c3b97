package crawl

// State is where a URL stands. Fetched, failed and excluded are final.
type State uint8

// States of a URL.
const (
	Pending  State = iota + 1 // waiting in its task's queue, or held by a lease
	Fetched                   // a complete response of any status was archived
	Failed                    // no complete response after all retries
	Excluded                  // refused before it was fetched
	Retry                     // only in outcomes: not final, ask again later
	Beside                    // only in outcomes: no URL of the job's, archived beside its pages (robots.txt)
)

// String returns the state's word.
func (s State) String() string {
	switch s {
	case Pending:
		return "pending"
	case Fetched:
		return "fetched"
	case Failed:
		return "failed"
	case Excluded:
		return "excluded"
	case Retry:
		return "retry"
	case Beside:
		return "beside"
	}
	return "unknown"
}

// Final reports whether the state is one in which a URL stays.
func (s State) Final() bool { return s == Fetched || s == Failed || s == Excluded }

// StandsBeside reports whether an answer from a URL may be archived beside the pages of a site: it is on the site, or is a robots.txt that the
// site's one redirects to (RFC 9309, section 2.3.1.2). What else is on the way there, such as the login of another host, is not kept: a node
// that lies could put anything into an archive's index.
func StandsBeside(site string, u URL) bool { return u.Site() == site || u.Path() == "/robots.txt" }

// Flags of a URL.
const (
	FlagSeed     uint8 = 1 << iota // a seed, or where one redirected
	FlagSitemap                    // read as a sitemap
	FlagNoScheme                   // given without a scheme: https now, http if that does not answer
	FlagNoFollow                   // named only by pages that ask not to follow their links

	FlagTrial uint8 = 1 << 7 // asked for although its template is cut: to see whether that was right, or because its answer was lost
)

// How many sitemaps lie above one stands in its flags, so that nesting ends: 0 if robots.txt names it.
const (
	sitemapLevelShift = 4
	maxSitemapLevel   = 7
	// FlagsSitemapLevel are the flags that hold it.
	FlagsSitemapLevel uint8 = maxSitemapLevel << sitemapLevelShift
)

// SitemapLevel returns how many sitemaps lie above one with these flags, at most 7.
func SitemapLevel(flags uint8) int { return int(flags & FlagsSitemapLevel >> sitemapLevelShift) }

// SitemapFlags returns the flags of a sitemap with so many above it.
func SitemapFlags(level int) uint8 {
	return FlagSitemap | uint8(min(level, maxSitemapLevel))<<sitemapLevelShift
}

// MaxResource is how far what a page needs may lie from it outside the scope: a style sheet that imports one that names a font is 3.
const MaxResource = 5

// ResourceLevel returns over how many others a page needs what has these flags, 0 if no page does. It stands where the level of
// sitemaps does, which are no such thing.
func ResourceLevel(flags uint8) int {
	if flags&FlagSitemap != 0 {
		return 0
	}
	return int(flags & FlagsSitemapLevel >> sitemapLevelShift)
}

// ResourceFlags returns the flags of what a page needs over so many others.
func ResourceFlags(level int) uint8 { return uint8(min(level, maxSitemapLevel)) << sitemapLevelShift }

// Target is a URL as a lease holds it.
type Target struct {
	Key   Key    `cbor:"1,keyasint"`
	URL   string `cbor:"2,keyasint"`
	Depth uint16 `cbor:"3,keyasint,omitempty"`
	Hops  uint8  `cbor:"4,keyasint,omitempty"` // redirects that led here
	Tries uint8  `cbor:"5,keyasint,omitempty"` // earlier tries that failed
	Flags uint8  `cbor:"6,keyasint,omitempty"`
	Seq   uint64 `cbor:"7,keyasint"` // place in the task's queue
	Owner uint32 `cbor:"10,keyasint,omitempty"`
	Gen   uint32 `cbor:"11,keyasint,omitempty"`
	Off   uint8  `cbor:"70,keyasint,omitempty"` // pages in a row on the way here that are off the topic

	Score float32 `cbor:"71,keyasint,omitempty"` // what is expected of it, by the job's topic

	Mark   Mark `cbor:"8,keyasint,omitempty"` // whether its outcome is to say what it shows (Shows, Sample)
	Parent *Key `cbor:"9,keyasint,omitempty"` // and whether it links to this page, which has named it (Back)

	Whole bool `cbor:"12,keyasint,omitempty"` // it was had before, and its record may be lost: it is archived whole, as no revisit

	Chain []Key `cbor:"13,keyasint,omitempty"` // URLs whose redirects led here: those that it was found by, the nearest first, then others
	Again bool  `cbor:"14,keyasint,omitempty"` // it was answered by a redirect before, behind which something has changed (Outcome.Again)
}

// SitemapPath is where a sitemap is looked for if robots.txt names none.
const SitemapPath = "/sitemap.xml"

// MaxRedirects bounds a chain of redirects; MaxAgain how many URLs an outcome has asked again.
const (
	MaxRedirects = 10
	MaxAgain     = 4096
)

// Mark says how much the frontier wants to know what a page shows. Making a mark costs two fifths of a page's processor time.
type Mark uint8

// Marks that are wanted of a page.
const (
	MarkNone    Mark = iota
	MarkMay          // of a few pages, as far as the node's budget for marks goes
	MarkMust         // its template is under suspicion
	MarkTwice        // what its pages show may be drawn anew for each reader: it is asked for twice, and what both answers show counts
	MarkClosely      // its pages differ by little: each of their sentences is marked
)

// Layer returns where the URL is a page.
func (t *Target) Layer() Layer { return Layer{t.Owner, t.Gen} }

// Lease is a bounded run of one task on one node: what a grant in the log says.
type Lease struct {
	ID          uint64   `cbor:"1,keyasint"`
	Job         uint32   `cbor:"2,keyasint"`
	Task        uint32   `cbor:"3,keyasint"`
	Site        string   `cbor:"4,keyasint"`
	Node        string   `cbor:"5,keyasint"`
	Incarnation string   `cbor:"6,keyasint"`
	Epoch       uint64   `cbor:"7,keyasint"`
	Attempt     uint32   `cbor:"8,keyasint"`
	Secret      string   `cbor:"9,keyasint"` // every part must echo it
	Quota       int      `cbor:"10,keyasint"`
	BudgetMS    int64    `cbor:"11,keyasint"`
	Resolve     bool     `cbor:"12,keyasint,omitempty"` // look up addresses, fetch nothing
	Targets     []Target `cbor:"13,keyasint,omitempty"`
	Probe       string   `cbor:"14,keyasint,omitempty"`  // measure the site by this URL, fetch nothing else
	Ping        bool     `cbor:"15,keyasint,omitempty"`  // with Probe: the delay to it, not its bandwidth
	Early       bool     `cbor:"16,keyasint,omitempty"`  // with Probe: the pages of its site do not pay for it yet
	Asked       *Asked   `cbor:"100,keyasint,omitempty"` // of a job that collects: the search that it is for
	From        string   `cbor:"101,keyasint,omitempty"` // source address by whose clock its site is asked (NodeInfo.From); empty: there is one clock
}

// Refill gives a running lease more URLs.
type Refill struct {
	Lease   uint64   `cbor:"1,keyasint"`
	Targets []Target `cbor:"2,keyasint"`
	Again   bool     `cbor:"3,keyasint,omitempty"` // in a dispatch: all that the lease still holds, for an agent that has lost some
	Got     uint32   `cbor:"4,keyasint,omitempty"` // with Again: how many refills the agent had taken in when it said so
}

// Found are links that a page gave. Links are new to the agent, Known it has sent before (only where the job has a
// depth limit, so that the frontier can shorten paths). Omitted are counts, by reason, of what the page named and nobody
// keeps a record of, such as links too long to be URLs: they count as discovered and excluded, once for each parent, the
// site's robots.txt (the zero key) included; the last count that is not empty holds.
type Found struct {
	Parent  Key            `cbor:"1,keyasint"`
	Links   []Link         `cbor:"2,keyasint,omitempty"`
	Known   []Key          `cbor:"3,keyasint,omitempty"`
	Omitted map[Kind]int64 `cbor:"4,keyasint,omitempty"`
	Score   float32        `cbor:"70,keyasint,omitempty"` // of the page, by the job's topic
}

// Link is a URL that a page, a redirect or a sitemap gave.
type Link struct {
	URL      string `cbor:"1,keyasint"`
	Anchor   string `cbor:"2,keyasint,omitempty"`
	Redirect bool   `cbor:"3,keyasint,omitempty"`
	Sitemap  bool   `cbor:"4,keyasint,omitempty"`
	LastMod  int64  `cbor:"5,keyasint,omitempty"`   // Unix seconds, from a sitemap
	Resource bool   `cbor:"6,keyasint,omitempty"`   // what the page needs to be shown: as deep as the page
	NoFollow bool   `cbor:"8,keyasint,omitempty"`   // the page asks not to follow its links
	Around   string `cbor:"70,keyasint,omitempty"`  // words before and behind the link, of jobs with a topic
	Next     bool   `cbor:"100,keyasint,omitempty"` // from a result page to the next
	Counted  bool   `cbor:"101,keyasint,omitempty"` // which was had by counting, and is not named
}

// Drawn stands among the numbers of a page that was asked for twice for one that both answers said differently.
const Drawn uint32 = 1<<32 - 1

// Outcome says how a URL of a lease ended, or that it must be tried again.
type Outcome struct {
	Key       Key      `cbor:"1,keyasint"`
	URL       string   `cbor:"2,keyasint"`
	State     State    `cbor:"3,keyasint"`
	Reason    Kind     `cbor:"4,keyasint,omitempty"`
	Detail    string   `cbor:"5,keyasint,omitempty"`
	Status    int      `cbor:"6,keyasint,omitempty"`
	Mime      string   `cbor:"7,keyasint,omitempty"`
	Charset   string   `cbor:"8,keyasint,omitempty"`
	Title     string   `cbor:"9,keyasint,omitempty"`
	Bytes     int64    `cbor:"10,keyasint,omitempty"` // body as transferred
	Digest    string   `cbor:"11,keyasint,omitempty"` // sha1 of that, base32
	Record    Location `cbor:"12,keyasint"`
	Text      Location `cbor:"13,keyasint"`
	Revisit   bool     `cbor:"14,keyasint,omitempty"` // same bytes as an earlier page: the record is a revisit
	HTML      bool     `cbor:"15,keyasint,omitempty"`
	NoIndex   bool     `cbor:"16,keyasint,omitempty"`
	Redirect  string   `cbor:"17,keyasint,omitempty"`
	IP        string   `cbor:"18,keyasint,omitempty"`
	ETag      string   `cbor:"19,keyasint,omitempty"`
	LastMod   string   `cbor:"20,keyasint,omitempty"`
	Lang      string   `cbor:"21,keyasint,omitempty"`
	Simhash   uint64   `cbor:"22,keyasint,omitempty"`
	Date      int64    `cbor:"23,keyasint,omitempty"` // of the record, Unix ms by the node's clock: a label, not an order
	Timing    [6]int32 `cbor:"24,keyasint"`           // µs: resolve, connect, TLS, send, first byte, body
	Depth     uint16   `cbor:"25,keyasint,omitempty"`
	Retryable int64    `cbor:"26,keyasint,omitempty"` // ms to wait at least, as the server asked
	Links     int      `cbor:"27,keyasint,omitempty"` // links on the page and in its header, before any filter
	Proto     string   `cbor:"28,keyasint,omitempty"`
	Truncated string   `cbor:"30,keyasint,omitempty"` // why the body that is archived is not whole, as WARC 1.1 names it
	Owner     uint32   `cbor:"40,keyasint,omitempty"` // as in the lease
	Gen       uint32   `cbor:"41,keyasint,omitempty"`

	Shows  uint64 `cbor:"34,keyasint,omitempty"` // of a target to be marked: equal for answers that show the same
	Sample Marks  `cbor:"35,keyasint,omitempty"` // marks of the text's phrases
	Back   bool   `cbor:"36,keyasint,omitempty"` // it links to its parent

	// Again are URLs that may answer otherwise from now on, as a browser would be answered that comes back to them: this answer leads
	// back to them, or has brought a cookie, and they led to it. As far as they were answered by a redirect they are asked again, and
	// what they answered is archived beside the pages.
	Again []Key `cbor:"38,keyasint,omitempty"`

	// Walled are URLs of the site whose answers showed what is now known for a wall in the place of pages. They are asked again whatever they answered.
	Walled []Key `cbor:"48,keyasint,omitempty"`

	Figures  Marks `cbor:"37,keyasint,omitempty"` // marks of the text's figures
	Pictures Marks `cbor:"39,keyasint,omitempty"` // marks of the page's pictures
	Names    Marks `cbor:"44,keyasint,omitempty"` // marks of what its title and headings call it, of short texts and codes
	Numbers  Marks `cbor:"45,keyasint,omitempty"` // the first ones that the page says; Drawn stands for one that was another when the page was asked for again
	Opened   int32 `cbor:"46,keyasint,omitempty"` // µs that it took to open the connection, of one that was open
	Beside   bool  `cbor:"47,keyasint,omitempty"` // others of its lease were under way when it was asked for
	Twice    bool  `cbor:"42,keyasint,omitempty"` // asked for twice: all these are what both answers showed,
	Changed  bool  `cbor:"43,keyasint,omitempty"` // and this is whether one showed something else

	Score    float32 `cbor:"70,keyasint,omitempty"` // how much a page is about the job's topic, from 0 to 1
	Expected float32 `cbor:"71,keyasint,omitempty"` // the target's score
	Said     uint64  `cbor:"72,keyasint,omitempty"` // of a page on the topic: equal for main texts that are the same; 0: it says little

	Answered *Answered `cbor:"100,keyasint,omitempty"` // of a result page of a search
}

// Layer returns where the URL is a page.
func (o *Outcome) Layer() Layer { return Layer{o.Owner, o.Gen} }

// Location is where a record lies.
type Location struct {
	File   string `cbor:"1,keyasint,omitempty"`
	Offset int64  `cbor:"2,keyasint,omitempty"`
	Length int64  `cbor:"3,keyasint,omitempty"`
}

// SiteChange is what a part says about its site. Times are ages and spans, so that no two clocks are compared.
type SiteChange struct {
	Robots        *RobotsChange `cbor:"1,keyasint,omitempty"`
	SinceStartMS  int64         `cbor:"2,keyasint,omitempty"` // age of the last request's start; -1 if there was none
	LatencyUS     int64         `cbor:"3,keyasint,omitempty"` // moving average of time to first byte
	BackoffMS     int64         `cbor:"4,keyasint,omitempty"` // ask again no sooner than this
	Fails         int           `cbor:"5,keyasint,omitempty"` // failures in a row
	Addrs         []string      `cbor:"6,keyasint,omitempty"`
	AddrTTLMS     int64         `cbor:"7,keyasint,omitempty"`
	Cookies       []Cookie      `cbor:"8,keyasint,omitempty"`
	CookiesSet    bool          `cbor:"9,keyasint,omitempty"` // Cookies replace those of the record
	ResolveFailed Kind          `cbor:"10,keyasint,omitempty"`
	Detail        string        `cbor:"11,keyasint,omitempty"` // why the site could not be asked, in words
	Heard         Heard         `cbor:"60,keyasint,omitempty"` // all that it has answered
	Gates         *Gates        `cbor:"61,keyasint,omitempty"` // if there are any, they replace those of the record
}

// RobotsState is what is known of a site's robots.txt.
type RobotsState uint8

// States of a site's robots.txt (RFC 9309, section 2.3.1).
const (
	RobotsUnknown     RobotsState = iota // never asked
	RobotsRules                          // its rules are kept with the record
	RobotsAllowAll                       // 4xx, or empty: everything is allowed
	RobotsUnavailable                    // 5xx or unreachable: nothing is allowed for now
)

// RobotsChange is a new answer to robots.txt.
type RobotsChange struct {
	State RobotsState `cbor:"1,keyasint"`
	Rules []byte      `cbor:"7,keyasint,omitempty"` // all that it says to us (robots.Rules.Encode)
	TTLMS int64       `cbor:"3,keyasint"`
	Why   Kind        `cbor:"4,keyasint,omitempty"`
	For   string      `cbor:"9,keyasint,omitempty"`  // the crawler that it says that to; empty: our own name (robots.Own)
	By    string      `cbor:"10,keyasint,omitempty"` // the scheme of the URLs that it speaks of; empty: all
	Gone  bool        `cbor:"5,keyasint,omitempty"`  // asked often enough: no longer worth waiting for
	Bare  bool        `cbor:"8,keyasint,omitempty"`  // it said nothing to a lease without cookies: it may say something to one with some

	DelayMS int64 `cbor:"6,keyasint,omitempty"` // Crawl-delay
}

// Cookie is a cookie of a site, kept with its site record for one job.
type Cookie struct {
	Name     string `cbor:"1,keyasint"`
	Value    string `cbor:"2,keyasint"`
	Path     string `cbor:"3,keyasint,omitempty"`
	Expires  int64  `cbor:"4,keyasint,omitempty"` // Unix seconds, 0 for the session
	Secure   bool   `cbor:"5,keyasint,omitempty"`
	HostOnly bool   `cbor:"6,keyasint,omitempty"`
}

// Part is a numbered piece of a lease's report. Parts of a lease are applied without gaps; the final one ends it.
type Part struct {
	Lease    uint64      `cbor:"1,keyasint"`
	Attempt  uint32      `cbor:"2,keyasint"`
	Epoch    uint64      `cbor:"3,keyasint"`
	Secret   string      `cbor:"4,keyasint"`
	No       uint32      `cbor:"5,keyasint"` // from 1
	Final    bool        `cbor:"6,keyasint,omitempty"`
	Reason   string      `cbor:"7,keyasint,omitempty"` // why a final part ends the lease
	Bytes    int64       `cbor:"8,keyasint,omitempty"` // received since the last part: a sign of progress
	Waiting  bool        `cbor:"9,keyasint,omitempty"` // for politeness, for other pages that are read, or for the outcome behind links: not a lack of progress
	Want     int         `cbor:"10,keyasint,omitempty"`
	Found    []Found     `cbor:"11,keyasint,omitempty"`
	Outcomes []Outcome   `cbor:"12,keyasint,omitempty"`
	Site     *SiteChange `cbor:"13,keyasint,omitempty"`
	Measures []Measure   `cbor:"14,keyasint,omitempty"` // of a probe
	Got      uint32      `cbor:"15,keyasint,omitempty"` // refills taken in so far
	Starved  bool        `cbor:"16,keyasint,omitempty"` // nothing left to do for a while, and no answer to the last Want
	WorkedUS int64       `cbor:"23,keyasint,omitempty"` // since the last part: time with a request under way, or an answer being read and stored
	Limited  bool        `cbor:"24,keyasint,omitempty"` // the node's own line or processor was the limit meanwhile
	CPU      float64     `cbor:"25,keyasint,omitempty"` // cores that the lease took meanwhile: its share, by work, of what the process used
	Memory   float64     `cbor:"26,keyasint,omitempty"` // bytes, likewise
}

// Progress reports whether a part is a sign of progress of its lease: it tells of bytes or outcomes, or of a reason why there
// can be none yet. Coordinator and agent count a lease's term by the same parts.
func (p *Part) Progress(resolve bool) bool {
	return p.Bytes > 0 || len(p.Outcomes) > 0 || p.Waiting || p.Final || resolve
}

// Measure is a BC, BS or httpping measurement.
type Measure struct {
	Kind    string    `cbor:"1,keyasint"`
	URL     string    `cbor:"2,keyasint,omitempty"`
	Store   string    `cbor:"3,keyasint,omitempty"`
	Bits    int64     `cbor:"4,keyasint,omitempty"` // over all tries
	Seconds float64   `cbor:"5,keyasint,omitempty"`
	MS      []float64 `cbor:"6,keyasint,omitempty"` // of each httpping
	Node    string    `cbor:"7,keyasint,omitempty"` // httpping to another node
	Limited bool      `cbor:"8,keyasint,omitempty"` // the node's own line or processor was the limit
	Refused int       `cbor:"9,keyasint,omitempty"` // of BC: tries that the site refused, which tell nothing of its speed
}

// Kinds of measurements.
const (
	MeasureBC   = "bc"
	MeasureBS   = "bs"
	MeasurePing = "httpping"
	MeasureConn = "connect" // the part of a httpping that sets up the connection

	MeasureRefused = "refused" // in the ledger, the tries of a BC that were refused
)

// How many times a node measures at once: BC, as the bandwidth patent says, and a delay, to a site or another node.
const (
	ProbeTries = 3
	PingTries  = 3
)

// Why a lease ended, in the last part's Reason and in the ledger.
const (
	EndDone     = "done"     // every URL has an outcome
	EndQuota    = "quota"    // the page quota is used up
	EndBudget   = "budget"   // the time budget is used up
	EndWait     = "wait"     // the site's next turn is too far away
	EndDrained  = "drained"  // asked to stop
	EndRecalled = "recalled" // no progress
	EndOverdue  = "overdue"  // progress, and no end: its node kept it for longer than any may
	EndStale    = "stale"    // the agent could not store a part for most of the term, and stopped by itself
	EndDead     = "dead"     // its incarnation ended
	EndFailed   = "failed"   // the site could not be asked
	EndRefused  = "refused"  // a part of it does not pass the check, or was lost
	EndOrdered  = "ordered"  // a person dropped or changed what it was given
)

// Concludes are the reasons for which a lease ends that was not cut short: it has done what it could.
var Concludes = []string{EndDone, EndQuota, EndWait, EndFailed}

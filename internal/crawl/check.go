package crawl

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// What a node says is checked here, once, where it is decoded, and nowhere else: a part, a measurement or a registration that
// passes can be applied by frontier and ledger, taken in by the record of measurements and shown, whatever it says. Text is UTF-8
// in any case: the decoder refuses everything else. A coordinator refuses what does not pass; it never ends by it.

// Rule names what a value from outside breaks.
type Rule string

// Rules, as they are counted and shown.
const (
	RuleFormat Rule = "format" // it cannot be decoded, or it is nothing that a node may say
	RuleNumber Rule = "number" // not a number, or infinite
	RuleRange  Rule = "range"  // a number below or above what is possible
	RuleLength Rule = "length" // a text or byte string that is too long, or empty where it must not be
	RuleCount  Rule = "count"  // too many items
	RuleName   Rule = "name"   // characters, or a word, that are not allowed there
	RuleText   Rule = "not UTF-8"
	RuleHeld   Rule = "held" // it is none of the lease's
)

// Fault is why something from outside is refused. It is an error, and holds nothing of the value.
type Fault struct {
	Field string // such as "outcomes[3].title"
	Rule  Rule

	Allowed string // what is, in words; empty: the rule says it
}

// Error implements error.
func (f *Fault) Error() string { return f.Field + ": " + string(f.Rule) }

// Bounds of what a node may say: numbers beyond them are not measurements but mistakes or attacks. Lengths are in bytes.
const (
	maxWord     = 64        // of a kind, a reason, an incarnation, a version
	maxSecret   = 64        // secrets are 32
	maxLine     = 512       // of a value of a header that is kept, a title, an anchor: the agent keeps at most 200
	maxDetail   = 32 << 10  // of an error's text, which may name a URL or two
	maxPlace    = 2048      // of the URL of a store
	maxFile     = 255       // of a file name: what file systems take
	maxRules    = 512 << 10 // of a robots.txt as it is encoded: RFC 9309, section 2.5, has 500 KiB read at least
	maxItems    = 1 << 16   // parts of an entry, outcomes and links of a part
	maxAddrs    = 64        // of a site; as many gates
	maxCookies  = 256       // of a site: the agent keeps 180
	maxCookie   = 16 << 10  // its name, value and path together
	maxMeasures = 256       // of an entry: a node measures the delay to 32 others, in two figures each
	maxProbed   = 16        // of a part: a probe has four
	maxTries    = 16        // of a measurement: a node tries three times
	maxSamples  = 64        // of a page's text
	maxReasons  = 64        // for which links are left out
	maxLabels   = 64
	maxLabel    = 256 // its name and value together

	maxBytes   = 1 << 50             // of a body, an archive, a part
	maxCount   = 1 << 31             // of links, failures, leases, requests
	maxSpanMS  = 366 * 24 * 3600_000 // a year
	maxSpanUS  = maxSpanMS * 1000    //
	maxRestMS  = 2 * 24 * 3600_000   // twice MaxRetryAfter: a job's own rest may come on top
	maxDateMS  = 253_402_300_799_999 // the end of the year 9999: dates in indexes have four digits for it
	maxSeconds = float64(maxSpanMS) / 1000
	maxRate    = 1e15 // bits a second, bytes of memory
	maxPrice   = 1e9  // an hour: what the agent's flag allows
)

// MaxRetryAfter bounds what a server's Retry-After is believed, and what a node may say of it.
const MaxRetryAfter = 24 * time.Hour

// MaxRegistration bounds an encoded registration, in bytes: what passes the check is shorter.
const MaxRegistration = 32 << 10

// Refusal is a part, or a measurement, of an entry that was refused, or the whole entry.
type Refusal struct {
	Lease uint64 // whose part it is; 0: no lease's
	No    uint32
	Fault *Fault
}

// DecodeOfNode decodes an entry that stands on a node's subject. What it returns passes the check: parts and measurements that
// do not are taken out of it, and told of. It is nil if nothing in it can be believed.
func DecodeOfNode(b []byte, node string) (*Entry, []Refusal) {
	e, err := decodeEntry(strict, b)
	if err != nil || e.Kind != EntryParts && e.Kind != EntryMeasures {
		return nil, []Refusal{{Fault: &Fault{Field: "entry", Rule: RuleFormat}}}
	}
	if e.Node != node || !ValidNode(node) {
		return nil, []Refusal{{Fault: &Fault{Field: "node", Rule: RuleName}}}
	}
	return e.strip()
}

// strip leaves of a node's entry what its kind has and what passes the check.
func (e *Entry) strip() (*Entry, []Refusal) {
	var c check
	c.length("incarnation", e.Incarnation, 1, maxWord)
	c.items("parts", len(e.Parts), maxItems)
	c.items("measures", len(e.Measures), maxMeasures)
	if c.fault != nil {
		return nil, []Refusal{{Fault: c.fault}}
	}
	out := &Entry{Version: e.Version, Kind: e.Kind, Node: e.Node, Incarnation: e.Incarnation}
	var refused []Refusal
	if e.Kind == EntryMeasures {
		out.Measures = e.Measures[:0]
		for i := range e.Measures {
			if f := e.Measures[i].alone(); f != nil {
				refused = append(refused, Refusal{Fault: f})
				continue
			}
			out.Measures = append(out.Measures, e.Measures[i])
		}
		return out, refused
	}
	out.Parts = e.Parts
	for i := range e.Parts {
		if f := e.Parts[i].Check(); f != nil {
			if refused == nil {
				out.Parts = append([]Part(nil), e.Parts[:i]...)
			}
			refused = append(refused, Refusal{Lease: e.Parts[i].Lease, No: e.Parts[i].No, Fault: f})
		} else if refused != nil {
			out.Parts = append(out.Parts, e.Parts[i])
		}
	}
	return out, refused
}

// check gathers the first fault. It costs nothing but comparisons as long as there is none.
type check struct {
	in    string // what is being looked at, such as "outcomes"
	at    int    // which of them; -1: there is one
	fault *Fault
}

func (c *check) fail(field string, r Rule) {
	if c.fault != nil {
		return
	}
	if c.in != "" && c.at >= 0 {
		field = c.in + "[" + strconv.Itoa(c.at) + "]." + field
	} else if c.in != "" {
		field = c.in + "." + field
	}
	c.fault = &Fault{Field: field, Rule: r}
}

// bounds is fail for what has bounds, which are told.
func (c *check) bounds(field string, r Rule, format string, args ...any) {
	if c.fault == nil {
		c.fail(field, r)
		c.fault.Allowed = fmt.Sprintf(format, args...)
	}
}

func (c *check) length(field, s string, least, most int) {
	if len(s) < least || len(s) > most {
		c.bounds(field, RuleLength, "%d to %d bytes", least, most)
	}
}

func (c *check) items(field string, n, most int) {
	if n > most {
		c.bounds(field, RuleCount, "0 to %d", most)
	}
}

func (c *check) whole(field string, n, least, most int64) {
	if n < least || n > most {
		c.bounds(field, RuleRange, "%d to %d", least, most)
	}
}

func (c *check) real(field string, x, most float64) { c.between(field, x, 0, most) }

// between refuses a number that is not one, or not within bounds.
func (c *check) between(field string, x, least, most float64) {
	switch {
	case math.IsNaN(x), math.IsInf(x, 0):
		c.bounds(field, RuleNumber, "%g to %g", least, most)
	case x < least, x > most:
		c.bounds(field, RuleRange, "%g to %g", least, most)
	}
}

// word refuses what is not a short word of letters, digits and a few signs, or empty where it must not be.
func (c *check) word(field, s string, least int) {
	c.length(field, s, least, maxWord)
	c.printed(field, s)
}

// printed finds characters that nobody prints: those that control a terminal, or end a text in other programs.
func (c *check) printed(field, s string) {
	for i := range len(s) {
		if b := s[i]; b < ' ' || b == 0x7f {
			c.fail(field, RuleName)
			return
		}
	}
}

// straight refuses characters that turn the direction of what stands beside them. Those that join letters are seen, and pass.
func (c *check) straight(field, s string) {
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }) {
		c.fail(field, RuleName)
	}
}

// printable refuses characters that are not seen: they steer the terminal of who looks, or turn what stands beside them.
func (c *check) printable(field, s string) {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		c.fail(field, RuleName)
	}
}

// Check returns why a part is refused; nil: it passes.
func (p *Part) Check() *Fault {
	c := check{at: -1}
	c.length("secret", p.Secret, 0, maxSecret)
	c.whole("no", int64(p.No), 1, math.MaxUint32)
	c.word("reason", p.Reason, 0)
	c.whole("bytes", p.Bytes, 0, maxBytes)
	c.whole("want", int64(p.Want), -maxCount, maxCount)
	c.whole("worked", p.WorkedUS, 0, maxSpanUS)
	c.real("cpu", p.CPU, maxCount)
	c.real("memory", p.Memory, maxRate)
	c.items("found", len(p.Found), maxItems)
	c.items("outcomes", len(p.Outcomes), maxItems)
	c.items("measures", len(p.Measures), maxProbed)
	for i := range p.Found {
		c.in, c.at = "found", i
		c.found(&p.Found[i])
	}
	for i := range p.Outcomes {
		c.in, c.at = "outcomes", i
		c.outcome(&p.Outcomes[i])
	}
	for i := range p.Measures {
		c.in, c.at = "measures", i
		c.measure(&p.Measures[i])
	}
	if p.Site != nil {
		c.in, c.at = "site", -1
		c.change(p.Site)
	}
	return c.fault
}

// alone returns why a measurement is refused that no lease asked for; nil: it passes. A node measures its own store and the delay to other
// nodes by itself, and sites when it is sent to them.
func (m *Measure) alone() *Fault {
	c := check{at: -1}
	c.measure(m)
	switch {
	case m.Kind == MeasureBC:
		c.fail("kind", RuleName)
	case m.Kind == MeasureBS && m.URL != "":
		c.fail("url", RuleLength)
	case m.Kind != MeasureBS && m.Node == "":
		c.fail("node", RuleLength)
	}
	return c.fault
}

func (c *check) found(f *Found) {
	c.items("links", len(f.Links), maxItems)
	c.items("known", len(f.Known), maxItems)
	c.items("omitted", len(f.Omitted), maxReasons)
	for i := range f.Links {
		l := &f.Links[i]
		c.length("links.url", l.URL, 1, MaxURLLength)
		c.length("links.anchor", l.Anchor, 0, maxLine)
		c.length("links.around", l.Around, 0, maxLine)
		c.whole("links.modified", l.LastMod, -maxDateMS, maxDateMS)
	}
	c.real("score", float64(f.Score), 1)
	for reason, n := range f.Omitted {
		c.word("omitted", string(reason), 1)
		c.whole("omitted", n, 0, maxCount)
	}
}

func (c *check) outcome(o *Outcome) {
	c.length("url", o.URL, 1, MaxURLLength)
	if o.State < Fetched || o.State > Beside {
		c.fail("state", RuleRange)
	}
	c.word("reason", string(o.Reason), 0)
	c.length("detail", o.Detail, 0, maxDetail)
	c.whole("status", int64(o.Status), 0, 999) // three digits: RFC 9110, section 15
	c.length("mime", o.Mime, 0, maxLine)
	c.word("charset", o.Charset, 0)
	c.length("title", o.Title, 0, maxLine)
	c.whole("bytes", o.Bytes, 0, maxBytes)
	c.word("digest", o.Digest, 0)
	c.location("record", &o.Record)
	c.location("text", &o.Text)
	c.length("redirect", o.Redirect, 0, MaxURLLength)
	c.length("ip", o.IP, 0, maxWord)
	c.length("etag", o.ETag, 0, maxLine)
	c.length("modified", o.LastMod, 0, maxLine)
	c.word("lang", o.Lang, 0)
	c.whole("date", o.Date, 0, maxDateMS)
	for _, us := range o.Timing {
		c.whole("timing", int64(us), 0, math.MaxInt32)
	}
	c.whole("opened", int64(o.Opened), 0, math.MaxInt32)
	c.whole("retry after", o.Retryable, 0, maxRestMS)
	c.whole("links", int64(o.Links), 0, maxCount)
	c.word("protocol", o.Proto, 0)
	c.word("truncated", o.Truncated, 0)
	c.items("sample", len(o.Sample), maxSamples)
	c.items("figures", len(o.Figures), maxSamples)
	c.items("pictures", len(o.Pictures), maxSamples)
	c.items("names", len(o.Names), 2*maxSamples)
	c.items("numbers", len(o.Numbers), maxSamples)
	c.items("again", max(len(o.Again), len(o.Walled)), MaxAgain)
	c.real("score", float64(o.Score), 1)
	c.real("expected", float64(o.Expected), 1)
	if a := o.Answered; a != nil {
		c.word("answered.verdict", a.Verdict, 1)
		c.length("answered.reason", a.Reason, 0, maxLine)
		c.length("answered.stop", a.Stop, 0, maxLine)
		c.word("answered.kind", a.Stated.Kind, 0)
		c.whole("answered.stated", a.Stated.N, 0, maxBytes)
		c.whole("answered.results", int64(a.Results), 0, maxItems)
		c.whole("answered.off", int64(a.Off), 0, maxItems)
		c.length("answered.aside", a.Aside, 0, maxLine)
	}
}

// location refuses a place that is not in a file of the node's store: its name leads nowhere else.
func (c *check) location(field string, l *Location) {
	c.length(field, l.File, 0, maxFile)
	if l.File != "" && (l.File[0] == '.' || strings.ContainsAny(l.File, "/\\\x00\r\n")) {
		c.fail(field, RuleName)
	}
	c.whole(field, l.Offset, 0, maxBytes)
	c.whole(field, l.Length, 0, maxBytes)
}

func (c *check) measure(m *Measure) {
	if m.Kind != MeasureBC && m.Kind != MeasureBS && m.Kind != MeasurePing && m.Kind != MeasureConn {
		c.fail("kind", RuleName)
	}
	c.length("url", m.URL, 0, MaxURLLength)
	c.length("store", m.Store, 0, maxPlace)
	c.whole("bits", m.Bits, 0, 8*maxBytes)
	c.whole("refused", int64(m.Refused), 0, maxTries)
	c.real("seconds", m.Seconds, maxSeconds)
	c.items("ms", len(m.MS), maxTries)
	for _, ms := range m.MS {
		c.real("ms", ms, float64(maxSpanMS))
	}
	if m.Node != "" && !ValidNode(m.Node) {
		c.fail("node", RuleName)
	}
	if m.Bits > 0 && m.Seconds > 0 { // a speed is kept, not its parts
		c.real("speed", float64(m.Bits)/m.Seconds, maxRate)
	}
}

func (c *check) change(s *SiteChange) {
	c.whole("since start", s.SinceStartMS, -1, maxSpanMS)
	c.whole("latency", s.LatencyUS, 0, maxSpanUS)
	c.whole("back-off", s.BackoffMS, 0, maxRestMS)
	c.whole("fails", int64(s.Fails), 0, maxCount)
	c.whole("heard", int64(s.Heard), 0, int64(heardAll))
	c.items("addresses", len(s.Addrs), maxAddrs)
	for _, a := range s.Addrs {
		if c.length("addresses", a, 1, maxWord); len(a) <= maxWord {
			if _, err := netip.ParseAddr(a); err != nil {
				c.fail("addresses", RuleName)
			}
		}
	}
	c.whole("address ttl", s.AddrTTLMS, 0, maxSpanMS)
	c.items("cookies", len(s.Cookies), maxCookies)
	for i := range s.Cookies {
		k := &s.Cookies[i]
		if len(k.Name)+len(k.Value)+len(k.Path) > maxCookie {
			c.fail("cookies", RuleLength)
		}
		if strings.ContainsAny(k.Name, "\r\n\x00") || strings.ContainsAny(k.Value, "\r\n\x00") { // they become a header
			c.fail("cookies", RuleName)
		}
	}
	c.items("gates", s.Gates.len(), maxAddrs)
	c.word("resolve failed", string(s.ResolveFailed), 0)
	c.length("detail", s.Detail, 0, maxDetail)
	if r := s.Robots; r != nil {
		if r.State > RobotsUnavailable {
			c.fail("robots", RuleRange)
		}
		if len(r.Rules) > maxRules {
			c.fail("robots", RuleLength)
		}
		c.length("robots", r.For, 0, maxAgent)
		c.length("robots", r.By, 0, len("https"))
		c.whole("robots ttl", r.TTLMS, 0, maxSpanMS)
		c.whole("crawl-delay", r.DelayMS, 0, maxSpanMS)
		c.word("robots", string(r.Why), 0)
	}
}

// Check returns why a registration is refused; nil: it passes.
func (n *NodeInfo) Check() *Fault {
	c := check{at: -1}
	if !ValidNode(n.Node) {
		c.fail("node", RuleName)
	}
	c.word("incarnation", n.Incarnation, 1)
	c.items("labels", len(n.Labels), maxLabels)
	for k, v := range n.Labels {
		if k == "" || len(k)+len(v) > maxLabel {
			c.fail("labels", RuleLength)
		}
		c.printable("labels", k)
		c.printable("labels", v)
	}
	c.whole("max_leases", int64(n.Leases), 0, MaxLeases)
	c.whole("concurrency", int64(n.Concurrency), 0, MaxRequests)
	c.length("store", n.Store, 0, maxPlace)
	c.printable("store", n.Store)
	if n.Store != "" && !strings.HasPrefix(n.Store, "file://") && !strings.HasPrefix(n.Store, "s3://") {
		c.fail("store", RuleName)
	}
	c.length("echo", n.Echo, 0, maxLine)
	for i := range n.Offer {
		c.real("offer", n.Offer[i], maxRate)
		c.real("prices", n.Prices[i], maxPrice)
	}
	if _, err := netip.ParseAddr(n.Source); n.Source != "" && err != nil {
		c.fail("source", RuleName)
	}
	c.word("version", n.Version, 0)
	c.real("bs_bits_per_s", n.StoreBits, maxRate)
	c.whole("wire", int64(n.Wire), 0, 1000)
	return c.fault
}

// What one node takes at most: requests at once, and leases (32 for each request, so that slow sites fill it, too).
const (
	MaxRequests = 10_000
	MaxLeases   = 32 * MaxRequests
)

// Bounds of what a person may say of a job.
const (
	maxName      = 200
	maxSeeds     = 10_000_000_000 // that follow a job: a hundred for each name that there is
	maxFilters   = 1000
	maxAgent     = 512
	maxLandmarks = 64
	// MaxJob bounds an encoded job, in bytes: it travels in one message.
	MaxJob = 1000 << 10
)

// tooLarge is the field of a fault that is the size of the whole job.
const tooLarge = "job and seeds"

// CheckWords says in one line what a job holds that none may hold.
func CheckWords(j *Job) error {
	if err := checkSites(j.Sites); err != nil {
		return err
	}
	f := j.Check()
	switch {
	case f == nil:
		return nil
	case f.Field == tooLarge:
		return fmt.Errorf("%w (a job travels in one message of at most %d KiB; argosy submit sends seeds that are many in pieces)", f, MaxJob>>10)
	}
	return &wordedFault{f}
}

// wordedFault is a fault in words for people; it wraps the fault.
type wordedFault struct{ *Fault }

// ruleWords say what is wrong with a value that breaks a rule.
var ruleWords = map[Rule]string{
	RuleFormat: "it cannot be read", RuleNumber: "it is not a finite number", RuleRange: "the number is out of range", RuleLength: "it is too short, or too long",
	RuleCount: "there are too many", RuleName: "it has characters, or is a word, that are not allowed there", RuleText: "it is not UTF-8",
}

// Error implements error.
func (f *wordedFault) Error() string {
	words := cmp.Or(ruleWords[f.Rule], string(f.Rule))
	if f.Allowed != "" {
		words += "; allowed are " + f.Allowed
	}
	return f.Field + ": " + words
}

// Unwrap returns the fault.
func (f *wordedFault) Unwrap() error { return f.Fault }

// Check returns why a job is refused; nil: it passes. Whether its expressions and strategies can be read is for those who read them.
func (j *Job) Check() *Fault {
	if f := CheckText(j); f != nil {
		return f
	}
	c := check{at: -1}
	id, l, p := &j.Identity, &j.Limits, &j.Placing
	c.length("name", j.Name, 0, maxName)
	c.printed("name", j.Name)
	c.straight("name", j.Name)
	for _, seed := range id.Seeds {
		c.length("seeds", seed, 1, MaxURLLength)
	}
	if l := id.List; l != nil {
		c.whole("seeds that follow", l.Count, 1, maxSeeds)
		if sum, err := hex.DecodeString(l.Digest); err != nil || len(sum) != sha256.Size {
			c.fail("digest of the seeds that follow", RuleFormat)
		}
	}
	c.items("include", len(id.Include), maxFilters)
	c.items("exclude", len(id.Exclude), maxFilters)
	c.length("fetch.user_agent", id.UserAgent, 0, maxAgent)
	if strings.ContainsAny(id.UserAgent, "\r\n\x00") {
		c.fail("fetch.user_agent", RuleName)
	}
	for i := range AllLimits {
		c.whole("limits."+AllLimits[i].Name, AllLimits[i].Of(l), AllLimits[i].Min, AllLimits[i].Max)
	}
	for _, n := range []int64{int64(l.MaxRefusals), int64(l.Fetch.MaxHeader), l.Fetch.MaxDecoded} {
		c.whole("limits", n, 0, math.MaxInt64)
	}
	if id.Topic != nil {
		c.topic(id.Topic)
	}
	if id.Market != nil {
		if c.market(id.Market); id.Topic == nil || id.Order != OrderBest {
			c.fail("market", RuleName) // it trades by what links promise
		}
	}
	c.word("order", string(id.Order), 0)
	if o := id.Order; o != OrderBreadth && o != OrderDepth && o != OrderBest || o == OrderBest && id.Topic == nil {
		c.fail("order", RuleName)
	}
	c.whole("tunnel", int64(id.Tunnel), -1, MaxTunnel)
	c.placing(p)
	if checkSites(j.Sites) != nil {
		c.fail("sites", RuleRange)
	}
	if b, err := Marshal(j); c.fault == nil && (err != nil || len(b) > MaxJob) {
		c.fail(tooLarge, RuleLength)
	}
	return c.fault
}

func (c *check) placing(p *Placing) {
	for i, of := range []string{"cpu", "memory", "bandwidth"} {
		c.real("placing.need."+of, p.Need[i], maxRate)
	}
	c.items("placing.places", len(p.Places), maxItems)
	for _, at := range p.Places {
		c.between("placing.places: lat", at.Lat, -90, 90)
		c.between("placing.places: lon", at.Lon, -180, 180)
		c.length("placing.places: region", at.Region, 0, maxLabel)
	}
	c.items("placing.landmarks", len(p.Landmarks), maxLandmarks)
	for of, s := range map[string]string{"strategy": p.Strategy, "probe": p.Probe, "type": p.Type, "store": p.Store, "product": p.Product} {
		c.length("placing."+of, s, 0, maxPlace)
	}
}

// PlainEcho reports whether an echo address names a host and a port and nothing else: other nodes ask it, so that it must not
// choose what they ask for.
func PlainEcho(echo string) bool {
	u, err := Parse(echo)
	return err == nil && u.String() == echo && u.RequestURI() == "/"
}

// ValidNode reports whether a name can be a node's: 1 to 64 letters, digits, - and _, so that it can stand in a subject and in a
// file name.
func ValidNode(name string) bool {
	if len(name) == 0 || len(name) > 64 {
		return false
	}
	for i := range len(name) {
		switch b := name[i]; {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', b == '-', b == '_':
		default:
			return false
		}
	}
	return true
}

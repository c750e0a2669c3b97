package crawl

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Limits bound a job and set its pace. A zero number is no limit. What a field's tags say holds everywhere: json is its name in job
// files (flags have - for _), doc describes it, min and max are its range, unit:"bytes" makes it a size. A field without doc is not
// for people to set.
type Limits struct {
	MaxPages        int64         `cbor:"1,keyasint,omitempty" json:"max_pages,omitempty" doc:"end after this many fetched URLs (0: no limit)"`
	MaxDepth        int           `cbor:"2,keyasint" json:"max_depth" doc:"follow links this deep; seeds are at depth 0 (-1: no limit)" min:"-1" max:"60000"`
	MaxTime         time.Duration `cbor:"4,keyasint,omitempty" json:"max_time,omitempty" doc:"end after running this long, earlier runs included (0: no limit)"`
	MaxBytes        int64         `cbor:"3,keyasint,omitempty" json:"max_bytes,omitempty" unit:"bytes" doc:"end after this many bytes of bodies as transferred, such as 500M or 20G (0: no limit)"`
	SitePages       int64         `cbor:"16,keyasint,omitempty" json:"site_pages,omitempty" doc:"fetch at most this many URLs of a site (0: no limit)"`
	MaxSitemaps     int64         `cbor:"52,keyasint,omitempty" json:"max_sitemaps,omitempty" doc:"read at most this many sitemaps of a site (0: no limit)"`
	MaxURLLength    int           `cbor:"17,keyasint" json:"max_url_length" doc:"refuse longer URLs, in bytes" min:"16" max:"65536"`
	Delay           time.Duration `cbor:"5,keyasint,omitempty" json:"delay,omitempty" doc:"time between starts of requests to a site (0 is for your own servers; a longer Crawl-delay holds nevertheless)"`
	MaxCrawlDelay   time.Duration `cbor:"6,keyasint,omitempty" json:"max_crawl_delay,omitempty" doc:"obey a Crawl-delay in robots.txt up to this (0: not at all)"`
	PerSite         int           `cbor:"7,keyasint" json:"per_site" doc:"leases of a site at once" min:"1" max:"1000"`
	SiteConnections int           `cbor:"8,keyasint" json:"site_connections" doc:"requests at once in a lease when the delay is 0" min:"1" max:"1000"`
	PerIP           int           `cbor:"9,keyasint,omitempty" json:"per_ip,omitempty" doc:"leases at once on one address (0: no limit)"`
	PerDomain       int           `cbor:"21,keyasint,omitempty" json:"per_domain,omitempty" doc:"leases at once on one registrable domain (0: no limit)"`
	Retries         int           `cbor:"10,keyasint" json:"retries" doc:"tries after a failure that may pass" max:"200"`
	Backoff         time.Duration `cbor:"11,keyasint" json:"backoff" doc:"first wait after a failure; doubled by each in a row"`
	RecycleAfter    time.Duration `cbor:"12,keyasint" json:"recycle_after" doc:"recall a lease without progress for this long" min:"1s"`
	RecycleLimit    int           `cbor:"13,keyasint" json:"recycle_limit" doc:"recalls before a task waits for a person"`
	LeasePages      int           `cbor:"14,keyasint" json:"lease_pages" doc:"URLs of one lease" min:"1"`
	LeaseTime       time.Duration `cbor:"15,keyasint" json:"lease_time" doc:"time of one lease" min:"1s"`
	MaxRefusals     int           `cbor:"19,keyasint" json:"max_refusals"` // kept a site
	Fetch           FetchLimits   `cbor:"20,keyasint" json:"fetch"`
}

// FetchLimits bound one exchange.
type FetchLimits struct {
	MaxHeader      int           `cbor:"1,keyasint" json:"max_header"` // bytes
	MaxBody        int64         `cbor:"2,keyasint" json:"max_body" unit:"bytes" doc:"cut larger bodies off, which counts as failed; decompressed pages may be four times this" min:"1024"`
	MaxDecoded     int64         `cbor:"3,keyasint" json:"max_decoded"` // bytes after decompression
	ConnectTimeout time.Duration `cbor:"4,keyasint" json:"connect_timeout" doc:"limit of connecting" min:"1ms"`
	TLSTimeout     time.Duration `cbor:"5,keyasint" json:"tls_timeout" doc:"limit of the TLS handshake" min:"1ms"`
	HeaderTimeout  time.Duration `cbor:"6,keyasint" json:"header_timeout" doc:"limit from request to the end of the header" min:"1ms"`
	BodyTimeout    time.Duration `cbor:"7,keyasint" json:"body_timeout" doc:"limit of the body" min:"1ms"`
	MinRate        int           `cbor:"8,keyasint" json:"min_rate" doc:"give up on bodies slower than this, in bytes a second after 10 s (0: never)"`
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
		MaxHeader: 256 << 10, MaxBody: 64 << 20, MaxDecoded: 4 * 64 << 20,
		ConnectTimeout: 10 * time.Second, TLSTimeout: 10 * time.Second,
		HeaderTimeout: 30 * time.Second, BodyTimeout: 10 * time.Minute, MinRate: 100,
	}
}

// Unit says how people write a limit.
type Unit uint8

// The units of limits.
const (
	UnitCount Unit = iota // 10
	UnitSpan              // 1.5s
	UnitSize              // 64M
)

// Limit is one of the limits that people set, as the tags of its field say.
type Limit struct {
	Name     string // as in job files
	Doc      string
	Unit     Unit
	Min, Max int64 // nanoseconds, bytes or a count
	index    []int
}

// AllLimits are the limits that people set, in the order in which they are shown.
var AllLimits = append(limitsOf(reflect.TypeFor[Limits](), nil), limitsOf(reflect.TypeFor[FetchLimits](), []int{fetchField()})...)

// maxSpan bounds spans that have no other bound: ten years, as tokens may last. Several of them add up to what a time holds.
const maxSpan = 10 * 365 * 24 * time.Hour

func fetchField() int {
	f, _ := reflect.TypeFor[Limits]().FieldByName("Fetch")
	return f.Index[0]
}

// limitsOf reads the tags of a struct's fields. Tags are constants: one that cannot be read is found by any test.
func limitsOf(t reflect.Type, path []int) (out []Limit) {
	for i := range t.NumField() {
		f := t.Field(i)
		doc := f.Tag.Get("doc")
		if doc == "" {
			continue
		}
		l := Limit{Doc: doc, Max: math.MaxInt64, index: append(append([]int{}, path...), i)}
		l.Name, _, _ = strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Type == reflect.TypeFor[time.Duration]():
			l.Unit, l.Max = UnitSpan, int64(maxSpan)
		case f.Tag.Get("unit") == "bytes":
			l.Unit = UnitSize
		case f.Type.Kind() == reflect.Int:
			l.Max = math.MaxInt32
		}
		for tag, to := range map[string]*int64{"min": &l.Min, "max": &l.Max} {
			if s, ok := f.Tag.Lookup(tag); ok {
				n, err := l.read(s)
				if err != nil {
					panic(err)
				}
				*to = n
			}
		}
		out = append(out, l)
	}
	return out
}

// LimitNamed returns the limit of a name in job files.
func LimitNamed(name string) (Limit, bool) {
	for _, l := range AllLimits {
		if l.Name == name {
			return l, true
		}
	}
	return Limit{}, false
}

// Of returns what a limit is in a set of them.
func (d *Limit) Of(l *Limits) int64 {
	return reflect.ValueOf(l).Elem().FieldByIndex(d.index).Int()
}

// Set changes a limit in a set of them.
func (d *Limit) Set(l *Limits, n int64) {
	reflect.ValueOf(l).Elem().FieldByIndex(d.index).SetInt(n)
	l.Fetch.MaxDecoded = 4 * min(l.Fetch.MaxBody, math.MaxInt64/4)
}

// Parse reads what a person wrote, and refuses what lies outside the limit's range.
func (d *Limit) Parse(s string) (int64, error) {
	n, err := d.read(s)
	if err != nil {
		return 0, err
	}
	return n, d.Check(n)
}

func (d *Limit) read(s string) (int64, error) {
	switch d.Unit {
	case UnitSpan:
		v, err := ParseSpan(s)
		return int64(v), err
	case UnitSize:
		return ParseSize(s)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%s: allowed are %s to %s", strings.TrimSpace(s), d.Format(d.Min), d.Format(d.Max))
	}
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", s)
	}
	return n, nil
}

// Check refuses a value outside the limit's range.
func (d *Limit) Check(n int64) error {
	switch {
	case n >= d.Min && n <= d.Max:
		return nil
	case n < d.Min && d.Max >= math.MaxInt32:
		return fmt.Errorf("%s: allowed are %s and more", d.Format(n), d.Format(d.Min))
	}
	return fmt.Errorf("%s: allowed are %s to %s", d.Format(n), d.Format(d.Min), d.Format(d.Max))
}

// Format writes a value as people do.
func (d *Limit) Format(n int64) string {
	switch d.Unit {
	case UnitSpan:
		if n == 0 {
			return "0"
		}
		s := time.Duration(n).String()
		if strings.HasSuffix(s, "m0s") {
			s = strings.TrimSuffix(s, "0s")
		}
		if strings.HasSuffix(s, "h0m") {
			s = strings.TrimSuffix(s, "0m")
		}
		return s
	case UnitSize:
		for i, unit := range []string{"T", "G", "M", "K"} {
			if of := int64(1) << (10 * (4 - i)); n != 0 && n%of == 0 {
				return strconv.FormatInt(n/of, 10) + unit
			}
		}
	}
	return strconv.FormatInt(n, 10)
}

// ParseSpan reads a span as people write it: 1.5s, 10m, 2h.
func ParseSpan(s string) (time.Duration, error) {
	if s = strings.TrimSpace(s); s == "0" {
		return 0, nil
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a span; allowed are such as 500ms, 10s, 5m, 2h", s)
	}
	return v, nil
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
		return 0, fmt.Errorf("%q is not a size; allowed are numbers of bytes, with K, M, G or T", s)
	}
	return n * mult, nil
}

// patience are the limits of how long an answer is waited for, by name.
var patience = []string{"connect_timeout", "tls_timeout", "header_timeout"}

// Impatient names what of a job's patience is longer than its leases last without an answer, a line for the job and one for each of its
// rules of sites: a lease is recalled before, and what it asked for is asked again.
func (j *Job) Impatient() (out []string) {
	whole := map[string]int64{}
	for i := range AllLimits {
		whole[AllLimits[i].Name] = AllLimits[i].Of(&j.Limits)
	}
	say := func(where string, given map[string]int64) {
		var long []string
		for _, name := range patience {
			if span := given[name]; span > int64(j.Limits.RecycleAfter) {
				long = append(long, fmt.Sprintf("%s %v", name, time.Duration(span)))
			}
		}
		if len(long) > 0 {
			out = append(out, fmt.Sprintf("%s%s: a lease is recalled after %v without an answer (limits.recycle_after)",
				where, strings.Join(long, ", "), j.Limits.RecycleAfter))
		}
	}
	say("limits: ", whole)
	for i := range j.Sites {
		say(strings.Join(j.Sites[i].Hosts[:min(1, len(j.Sites[i].Hosts))], "")+": ", j.Sites[i].Limits)
	}
	return out
}

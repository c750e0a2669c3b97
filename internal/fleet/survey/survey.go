// Package survey says what a crawl has brought, for a person who comes back to it: sites, types, statuses, sizes, broken links
// with all pages that link there, redirects, refusals, templates and what each brought, slow sites, duplicates. It reads the
// ledger, the frontier and, for the links, the archives once more; it changes nothing. HTML draws it as one file.
package survey

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/verify"
)

const (
	maxBroken    = 10_000 // URLs whose links are looked for
	maxFrom      = 100    // pages that are named of each
	maxExamples  = 5      // of a reason
	maxRedirects = 200    // that are named
	maxTemplates = 200
	maxSame      = 50
	bins         = 60 // of the plot over time
)

// Report is what a crawl has brought.
type Report struct {
	Dir     string          `json:"dir"`
	Made    time.Time       `json:"made"`
	Running bool            `json:"running,omitempty"` // a crawl runs there: this is as of Made
	State   string          `json:"state"`             // of the job; interrupted also if the process that ran it has died
	Name    string          `json:"name,omitempty"`
	Seeds   int             `json:"seeds"`
	Scope   string          `json:"scope"`
	Created time.Time       `json:"created"`
	First   time.Time       `json:"first"` // of the records
	Last    time.Time       `json:"last"`
	Counts  crawl.JobCounts `json:"counts"`

	Sites      []Site        `json:"sites"`                 // most fetched first
	Types      []Share       `json:"types"`                 // most URLs first
	Statuses   []Share       `json:"statuses"`              // by status
	Sizes      []Share       `json:"sizes"`                 // of bodies, in powers of four
	Timeline   []Bin         `json:"timeline"`              // from First to Last
	Broken     []Broken      `json:"broken"`                // most links first
	BrokenMore int           `json:"broken_more,omitempty"` // that are not named
	Redirects  []Redirect    `json:"redirects"`             // by URL
	Redirected int64         `json:"redirected"`
	Refused    []Refused     `json:"refused"` // most URLs first
	Templates  []Template    `json:"templates"`
	Same       []ledger.Same `json:"-"`
	Traps      []crawl.Trap  `json:"traps,omitempty"`

	InTheWay []ledger.Alike `json:"in_the_way,omitempty"` // what may stand in the place of pages, most URLs first
	Topic    *Stats         `json:"topic,omitempty"`      // of a crawl with one
	Unread   int            `json:"unread,omitempty"`     // files of archives that could not be read to their end
	Missing  int            `json:"missing,omitempty"`    // files of archives that pages are in, and that are not there
}

// Site is a site and what came of it.
type Site struct {
	ledger.Task
	FirstByteMS float64 `json:"first_byte_ms"` // mean, of what was fetched
	SlowestMS   float64 `json:"slowest_ms"`
	Trouble     string  `json:"trouble,omitempty"` // why it could not be asked the last time

	waited float64
	asked  int64
}

// Share is a part of all URLs that were fetched.
type Share struct {
	Name  string `json:"name"`
	URLs  int64  `json:"urls"`
	Bytes int64  `json:"bytes"`
}

// Bin is a stretch of time.
type Bin struct {
	At     time.Time `json:"at"`
	URLs   int64     `json:"urls"`
	Errors int64     `json:"errors"` // of them, with a status from 400 on
	Bytes  int64     `json:"bytes"`
}

// Broken is a URL that pages link to and that could not be had.
type Broken struct {
	URL    string `json:"url"`
	Why    string `json:"why"` // a status, or the reason of the failure
	Detail string `json:"detail,omitempty"`
	Links  int    `json:"links"` // pages that link there
	From   []Link `json:"from"`  // of a hundred pages at most, by URL; a page whose links have other words stands there again

	leads bool // it is a redirect, and where it leads is broken
	named bool // by a page that is not a redirect
	guess bool // it was asked for since sitemaps often are there
}

// Link is a page that links to a broken URL, and the words of the link.
type Link struct {
	Page string `json:"page"`
	Text string `json:"text,omitempty"`
}

// Redirect is a URL that leads to another one.
type Redirect struct {
	From   string `json:"from"`
	Status int    `json:"status"`
	To     string `json:"to"`
}

// Refused is a reason for which URLs were not fetched.
type Refused struct {
	Reason   string    `json:"reason"`
	URLs     int64     `json:"urls"`
	Examples []Example `json:"examples"`
}

// Example is a URL that was refused, and where it stands.
type Example struct {
	URL    string `json:"url"`
	Parent string `json:"parent,omitempty"`
	Anchor string `json:"anchor,omitempty"`
}

// Make makes the report of a job: of a crawl's directory, or of a fleet's. Of a fleet's job that has ended the ledger's rows of tasks count, and
// what was refused has no examples.
func Make(ctx context.Context, at verify.Place, job uint32, now time.Time) (*Report, error) {
	dir, where := at.Dir, at.Ledger
	if where == "" {
		where = filepath.Join(dir, outdir.LedgerFile)
	}
	l, err := ledger.Open(ctx, where)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	fleet := at.Ledger != "" || outdir.Fleet(dir)
	r := &Report{Dir: filepath.Clean(dir), Made: now.UTC()}
	g := &gatherer{r: r, seed: maphash.MakeSeed(), sites: map[string]*Site{}, files: map[string]bool{}, types: map[string]*Share{}, statuses: map[int]*Share{}, templates: map[string]*Template{}, named: map[string]int{}, said: map[string]bool{}, broken: map[string]*Broken{}, to: map[string]string{}}
	if fleet {
		g.records = map[uint64]bool{}
	}
	if err := g.counts(ctx, l, at, job, fleet); err != nil {
		return nil, err
	}
	j, err := l.Describe(ctx, job) // opening what the frontier is in may have applied more
	if err != nil {
		return nil, err
	}
	if j == nil {
		return nil, fmt.Errorf("%s: job %d: nothing has been crawled yet", dir, job)
	}
	if fleet {
		r.Running = at.Running
	}
	if j.State == crawl.JobRunning && !r.Running && at.Ledger == "" {
		j.State = crawl.JobInterrupted // a process that dies cannot say so
	}
	r.Name, r.State, r.Seeds, r.Scope, r.Created = j.Name, j.State, int(j.Identity.SeedCount()), string(j.Identity.Scope), time.UnixMilli(j.Created).UTC()
	if j.Identity.Topic != nil {
		if r.Topic, err = StatsOf(ctx, l, job, func() (*MarketStats, error) { return nil, nil }); err != nil {
			return nil, err
		}
	}
	if err := g.span(ctx, l, job); err != nil {
		return nil, err
	}
	if err := l.Pages(ctx, job, g.page); err != nil {
		return nil, err
	}
	if r.Same, err = l.Duplicates(ctx, job, maxSame); err != nil {
		return nil, err
	}
	if err := g.inTheWay(ctx, l, job); err != nil {
		return nil, err
	}
	g.misled()
	stores, err := at.Open(ctx, l)
	if err != nil {
		return nil, err
	}
	if err := g.links(ctx, stores, &j.Identity); err != nil {
		return nil, err
	}
	g.compare()
	g.merge()
	if err := g.propose(ctx, l, job); err != nil {
		return nil, err
	}
	g.finish()
	return r, nil
}

// gatherer gathers a report.
type gatherer struct {
	r         *Report
	sites     map[string]*Site
	files     map[string]bool // of archives, that pages are in
	types     map[string]*Share
	statuses  map[int]*Share
	sizes     [17]Share
	templates map[string]*Template
	named     map[string]int  // templates of one shape that keep the name of their last segment
	texts     []pageText      // what pages say
	marks     int             // in texts, with what each counts besides
	said      map[string]bool // pages whose text plainer URLs have
	broken    map[string]*Broken
	guesses   int               // of broken; they take no place of the others
	to        map[string]string // redirects
	copies    map[string][]string
	first     int64
	width     int64 // of a bin, ms

	records map[uint64]bool // of a fleet: those of the job, among those of others; nil: all are the job's
	seed    maphash.Seed
}

// counts takes in what the frontier knows, or, of a fleet's job that has ended, the ledger, whose rows of tasks are written when a run ends: the
// frontier may be another coordinator's by then. That is so of one that cannot be read, too, where the ledger is elsewhere.
func (g *gatherer) counts(ctx context.Context, l *ledger.Ledger, at verify.Place, job uint32, fleet bool) error {
	if fleet {
		if j, err := l.Describe(ctx, job); err != nil || j == nil || !slices.Contains(unended, j.State) {
			return errors.Join(err, g.tasks(ctx, l, job))
		}
	}
	had := false
	err := assemble.View(ctx, assemble.DefaultConfig(at.Dir), func(f *frontier.Frontier, running bool) error {
		g.r.Running = running
		if had = !fleet || f.Job(job) != nil; !had {
			return nil
		}
		return g.view(f, job)
	})
	if had || err != nil && at.Ledger == "" {
		return err
	}
	return g.tasks(ctx, l, job)
}

// unended are the states of jobs that go on, or may.
var unended = []string{crawl.JobRunning, crawl.JobPaused, crawl.JobInterrupted, crawl.JobManual}

// tasks takes in what the ledger knows of a fleet's job.
func (g *gatherer) tasks(ctx context.Context, l *ledger.Ledger, job uint32) error {
	err := l.Tasks(ctx, job, func(t ledger.Task) error {
		if s := g.sites[t.Site]; s != nil { // of a job that collects: a task for each search
			s.Tally.Add(t.Counts, t.Reasons)
			s.Attempts, s.Recalls = s.Attempts+t.Attempts, s.Recalls+t.Recalls
		} else {
			g.sites[t.Site] = &Site{Task: t}
		}
		g.r.Counts.Sites = int64(len(g.sites))
		g.r.Counts.Add(t.Counts, t.Reasons)
		g.r.Counts.Task(t.State, 1)
		return nil
	})
	for reason, n := range g.r.Counts.Reasons {
		g.r.Refused = append(g.r.Refused, Refused{Reason: reason, URLs: n})
	}
	return err
}

// record is a record's mark among those of the job.
func (g *gatherer) record(file string, offset int64) uint64 {
	return maphash.Comparable(g.seed, struct {
		file   string
		offset int64
	}{file, offset})
}

// view takes in what the frontier knows: counts, tasks, and examples of what was refused.
func (g *gatherer) view(f *frontier.Frontier, job uint32) error {
	g.r.Counts = f.Counts(job)
	var err error
	f.Tasks(func(t *frontier.Task) {
		if t.Job != job || err != nil {
			return
		}
		s := &Site{Task: ledger.Task{
			ID: t.ID, Job: t.Job, Site: t.Site, State: t.Status(), Tally: crawl.TallyOf(t.Counts, t.Reasons), Attempts: t.Attempts,
		}}
		if record := f.Site(t.Site); record != nil && t.Fetched == 0 {
			s.Trouble = record.Trouble
		}
		if had := g.sites[t.Site]; had != nil { // of a job that collects: a task for each search
			had.Tally.Add(t.Counts, t.Reasons)
			had.Attempts += t.Attempts
		} else {
			g.sites[t.Site] = s
		}
		var traps []crawl.Trap
		traps, err = f.Traps(t.ID)
		g.r.Traps = append(g.r.Traps, traps...)
	})
	if err != nil {
		return err
	}
	names := f.Names(job)
	defer names.Close()
	refused := map[string]*Refused{}
	for reason, n := range g.r.Counts.Reasons {
		refused[reason] = &Refused{Reason: reason, URLs: n}
	}
	err = f.URLs(job, func(u frontier.URL) error {
		of := refused[string(u.Reason)]
		if u.State != crawl.Excluded && u.State != crawl.Failed || of == nil || len(of.Examples) == maxExamples || u.URL == "" {
			return nil
		}
		parent, err := names.URL(u.Layer, u.Parent)
		of.Examples = append(of.Examples, Example{u.URL, parent, u.Anchor})
		return err
	})
	for _, of := range refused {
		g.r.Refused = append(g.r.Refused, *of)
	}
	return err
}

// span finds out when the first and the last record were made, by the nodes' clocks.
func (g *gatherer) span(ctx context.Context, l *ledger.Ledger, job uint32) error {
	first, last, err := l.FetchSpan(ctx, job)
	if err != nil || first == 0 {
		return err
	}
	g.r.First, g.r.Last = time.UnixMilli(first).UTC(), time.UnixMilli(last).UTC()
	g.first, g.width = first, (last-first)/bins+1
	for i := range int64(bins) {
		g.r.Timeline = append(g.r.Timeline, Bin{At: time.UnixMilli(first + i*g.width).UTC()})
	}
	return nil
}

// page takes in a row of the ledger.
func (g *gatherer) page(p *ledger.Page) error {
	s := g.sites[p.Site]
	if s == nil {
		s = &Site{Task: ledger.Task{Site: p.Site}}
		g.sites[p.Site] = s
	}
	if p.WARC != "" {
		g.files[p.WARC] = true
	}
	if g.records != nil && p.WARC != "" {
		g.records[g.record(p.WARC, p.Offset)] = true
	}
	switch p.State {
	case crawl.Failed.String():
		g.breaks(p, p.Reason)
	case crawl.Fetched.String():
		g.fetched(s, p)
	}
	return nil
}

func (g *gatherer) fetched(s *Site, p *ledger.Page) {
	var timing [6]float64
	if p.Timing != "" && json.Unmarshal([]byte(p.Timing), &timing) == nil {
		ms := timing[4] / 1000
		s.waited += ms
		s.asked++
		s.SlowestMS = max(s.SlowestMS, ms)
	}
	if g.width > 0 {
		if b := (p.FetchedAt - g.first) / g.width; b >= 0 && b < bins {
			at := &g.r.Timeline[b]
			at.URLs++
			at.Bytes += p.Bytes
			if p.Status >= 400 {
				at.Errors++
			}
		}
	}
	mime := cmp.Or(p.Mime, "(not said)")
	add(g.types, mime, mime, p.Bytes)
	add(g.statuses, p.Status, fmt.Sprint(p.Status), p.Bytes)
	i := 0
	for limit := int64(256); p.Bytes > limit && i < len(g.sizes)-1; limit *= 4 {
		i++
	}
	g.sizes[i].URLs++
	g.sizes[i].Bytes += p.Bytes
	g.template(p)
	switch {
	case p.Status >= 400:
		g.breaks(p, fmt.Sprint(p.Status))
	case p.Redirect != "":
		g.r.Redirected++
		g.to[p.URL] = p.Redirect
		g.r.Redirects = append(g.r.Redirects, Redirect{p.URL, p.Status, p.Redirect})
	case p.HTML && p.Revisit && p.Status == 200:
		if g.copies == nil {
			g.copies = map[string][]string{}
		}
		g.copies[p.Digest] = append(g.copies[p.Digest], p.URL)
	}
}

func add[K comparable](m map[K]*Share, k K, name string, bytes int64) {
	s := m[k]
	if s == nil {
		s = &Share{Name: name}
		m[k] = s
	}
	s.URLs++
	s.Bytes += bytes
}

// breaks notes a URL that could not be had.
func (g *gatherer) breaks(p *ledger.Page, why string) {
	guess := p.Status == http.StatusNotFound && strings.HasSuffix(p.URL, crawl.SitemapPath) && strings.Count(p.URL, "/") == 3
	switch {
	case guess && g.guesses >= maxBroken:
		return
	case guess:
		g.guesses++
	case g.full():
		g.r.BrokenMore++
		return
	}
	g.broken[p.URL] = &Broken{URL: p.URL, Why: why, Detail: p.Detail, guess: guess}
}

// full reports whether as many broken URLs are noted as may be.
func (g *gatherer) full() bool { return len(g.broken)-g.guesses >= maxBroken }

// misled counts redirects that end at a broken URL among those.
func (g *gatherer) misled() {
	for _, from := range slices.Sorted(maps.Keys(g.to)) { // no more are noted than there may be
		at := from
		for hops := 0; hops < crawl.MaxRedirects && g.to[at] != ""; hops++ {
			at = g.to[at]
		}
		if b := g.broken[at]; b != nil && at != from && g.broken[from] == nil && !g.full() {
			g.broken[from] = &Broken{URL: from, Why: b.Why, Detail: "redirects to " + at, leads: true}
		}
	}
}

// finish puts everything in order.
func (g *gatherer) finish() {
	r := g.r
	for _, s := range g.sites {
		if s.asked > 0 {
			s.FirstByteMS = s.waited / float64(s.asked)
		}
		r.Sites = append(r.Sites, *s)
	}
	slices.SortFunc(r.Sites, func(a, b Site) int { return cmp.Or(cmp.Compare(b.Fetched, a.Fetched), strings.Compare(a.Site, b.Site)) })
	for _, s := range g.types {
		r.Types = append(r.Types, *s)
	}
	slices.SortFunc(r.Types, func(a, b Share) int { return cmp.Or(cmp.Compare(b.URLs, a.URLs), strings.Compare(a.Name, b.Name)) })
	for _, s := range g.statuses {
		r.Statuses = append(r.Statuses, *s)
	}
	slices.SortFunc(r.Statuses, func(a, b Share) int { return strings.Compare(a.Name, b.Name) })
	limit := int64(256)
	for i, s := range g.sizes {
		if s.Name = "≤ " + Size(limit); i == len(g.sizes)-1 {
			s.Name = "larger"
		}
		if limit *= 4; s.URLs > 0 {
			r.Sizes = append(r.Sizes, s)
		}
	}
	for _, b := range g.broken {
		if b.leads && !b.named {
			continue // only on the way: where it leads is listed, with it
		}
		if b.guess && b.Links == 0 {
			continue // nobody said that it is there
		}
		slices.SortFunc(b.From, func(a, b Link) int { return cmp.Or(strings.Compare(a.Page, b.Page), strings.Compare(a.Text, b.Text)) })
		r.Broken = append(r.Broken, *b)
	}
	slices.SortFunc(r.Broken, func(a, b Broken) int { return cmp.Or(cmp.Compare(b.Links, a.Links), strings.Compare(a.URL, b.URL)) })
	slices.SortFunc(r.Redirects, func(a, b Redirect) int { return strings.Compare(a.From, b.From) })
	r.Redirects = r.Redirects[:min(len(r.Redirects), maxRedirects)]
	slices.SortFunc(r.Refused, func(a, b Refused) int {
		return cmp.Or(cmp.Compare(b.URLs, a.URLs), strings.Compare(a.Reason, b.Reason))
	})
	r.Templates = g.bestTemplates()
	slices.SortFunc(r.Traps, crawl.CompareTraps)
}

// Size prints a number of bytes.
func Size(n int64) string {
	f, units := float64(n), "KMGTP"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	i := -1
	for f >= 1000 && i < len(units)-1 {
		f /= 1024
		i++
	}
	if f >= 100 || f == float64(int64(f)) {
		return fmt.Sprintf("%.0f %ciB", f, units[i])
	}
	return fmt.Sprintf("%.1f %ciB", f, units[i])
}

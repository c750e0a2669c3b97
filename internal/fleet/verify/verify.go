// Package verify checks what a crawl has left: that frontier, ledger, index and archives say the same. It reads everything and
// changes nothing.
package verify

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/page/archive"
)

// maxProblems bounds how many problems are described; all are counted.
const maxProblems = 100

// Report is what was found.
type Report struct {
	OK        bool     `json:"ok"`
	Running   bool     `json:"running,omitempty"` // a crawl runs there
	Leader    string   `json:"leader,omitempty"`  // the coordinator of the directory stands by, or did when it ended: this one led, and has the indexes
	Unended   []uint32 `json:"unended,omitempty"` // jobs that a process has left when it died: their indexes are written when they end
	Rebuilt   bool     `json:"rebuilt,omitempty"` // the frontier was rebuilt: it is made anew, and jobs begin again, with the next run
	Files     int      `json:"files"`
	Records   int      `json:"records"`
	Pages     int64    `json:"pages"`  // captures of pages, which the ledger counts
	Beside    int64    `json:"beside"` // other captures: robots.txt, and answers to what was asked again
	Indexed   int      `json:"indexed"`
	URLs      int64    `json:"urls"`    // that the frontier has
	Sinks     bool     `json:"sinks"`   // frontier and ledger were compared: not beside a process to which more comes meanwhile
	Missing   int64    `json:"missing"` // pages that frontier or ledger has, and not the other
	Orphans   int      `json:"orphans"` // records of a crash: whole, but not what the ledger counts
	Lost      int      `json:"lost"`    // pages, and other captures, of which a record is gone or damaged, or is a revisit and its body's is
	Problems  int      `json:"problems"`
	Damaged   int      `json:"damaged"` // places of files that cannot be read; what they cost the ledger is counted as lost
	Details   []string `json:"details,omitempty"`
	Unplaced  []string `json:"unplaced,omitempty"`      // nodes whose stores nobody knows: what lies there is not looked at, and not lost
	LostPages []string `json:"lost_pages,omitempty"`    // their URLs, in order
	Hurt      []File   `json:"damaged_files,omitempty"` // what is left of files that are damaged, or of which something is lost

	LostKeys map[uint32][]crawl.Page       `json:"-"` // by job: pages, and the robots.txt of sites
	Gone     map[uint32]map[string][]int64 `json:"-"` // by job: captures that are lost, by file where they stand, or stood
	Beckon   map[uint32][]crawl.Page       `json:"-"` // by job: whole pages, one of each site whose robots.txt is lost; it is asked for before they are

	ends     map[jobPage]crawl.State    // of the ledger's pages
	robots   map[uint32]map[string]bool // by job, sites whose robots.txt is lost
	gone     map[jobPage]bool           // what is counted as lost
	places   map[string]int             // that cannot be read, by file
	there    map[string]bool            // files of archives that are there
	seed     maphash.Seed
	whole    map[uint64]bool // responses whose records are whole, by a hash of their ids
	revisits []revisit
}

// File is what is left of a file.
type File struct {
	Name    string `json:"name"`
	Damaged int    `json:"damaged"` // places that cannot be read
	Whole   int    `json:"whole"`   // captures and texts that the ledger names there
	Lost    int    `json:"lost"`    // the same; a capture is lost with its request
}

type jobPage struct {
	job  uint32
	page crawl.Page
}

// revisit is a record that the ledger names and that has its body elsewhere.
type revisit struct {
	of   uint64 // the response that has it, by a hash of its id
	file string
	at   int64
	want *want
}

func (r *Report) problem(format string, args ...any) {
	r.Problems++
	if len(r.Details) < maxProblems {
		r.Details = append(r.Details, fmt.Sprintf(format, args...))
	}
}

// damage notes a place that cannot be read. It is a problem only for what the ledger names there: of what is had again it
// stays where it is.
func (r *Report) damage(file, format string, args ...any) {
	r.Damaged++
	r.places[file]++
	if len(r.Details) < maxProblems {
		r.Details = append(r.Details, fmt.Sprintf(format, args...))
	}
}

// want is what the ledger says of a record.
type want struct {
	url     string
	digest  string
	length  int64
	revisit bool
	text    bool   // a record of the page's text
	cut     string // why its body is not whole
	page    crawl.Page
	job     uint32
	beside  bool // no page's
	file    string
	at      int64
	seen    bool
	gone    bool // lost
}

// Place says where a crawl, or a fleet, has left what it has done.
type Place struct {
	Dir    string   // of the crawl or the coordinator
	Ledger string   // empty: in Dir
	Stores []string // of archives; none: Dir's own, else those that the ledger names

	Running bool // a process works there: what it has not reported yet, the frontier where more comes meanwhile, and the indexes of jobs that have not ended are not judged
}

// Dir checks a crawl's directory.
func Dir(ctx context.Context, dir string) (*Report, error) { return Check(ctx, Place{Dir: dir}) }

// Check checks all jobs of a place.
func Check(ctx context.Context, p Place) (*Report, error) {
	path := p.Ledger
	if path == "" {
		path = filepath.Join(p.Dir, outdir.LedgerFile)
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("%s: not the directory of a crawl: %w", p.Dir, err)
		}
	}
	if err := outdir.CheckFormat(p.Dir); err != nil {
		return nil, err
	}
	l, err := ledger.Open(ctx, path)
	if err != nil {
		return nil, outdir.Mend(p.Dir, err)
	}
	defer l.Close()
	r := newReport()
	r.Running = p.Running
	flaws, err := l.Flaws(ctx)
	for _, flaw := range flaws {
		r.problem("the ledger is damaged: %s: argosy rebuild ledger %s makes it anew", flaw, crawl.Arg(p.Dir))
	}
	if err != nil {
		return nil, err
	}
	jobs, err := l.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	wants := wanted{}
	for _, job := range jobs {
		if err := r.pages(ctx, p.Dir, l, job, wants); err != nil {
			return nil, err
		}
	}
	if err := r.sinks(ctx, p, l, jobs); err != nil {
		return nil, err
	}
	stores, err := p.Open(ctx, l)
	if err != nil {
		return nil, err
	}
	if len(p.Stores) == 0 && outdir.Fleet(p.Dir) {
		if r.Unplaced, err = l.Unplaced(ctx); err != nil {
			return nil, err
		}
	}
	for _, s := range stores {
		if err := r.archives(ctx, s, wants); err != nil {
			return nil, err
		}
	}
	r.unplaced(p, wants)
	r.missing(wants)
	if err := r.beckon(ctx, l); err != nil {
		return nil, err
	}
	switch r.Leader = outdir.StandsBy(p.Dir); {
	case r.Leader != "":
	case p.Running:
		err = r.indexesBeside(ctx, p.Dir, l, time.Now())
	default:
		err = r.indexes(ctx, p.Dir, l, jobs)
	}
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 && r.Records > 0 && !p.Running && !outdir.Fleet(p.Dir) {
		r.Unended = []uint32{1} // the log has it, and the ledger not yet
	}
	sort.Strings(r.Details)
	r.OK = r.Problems == 0
	return r, nil
}

func newReport() *Report {
	return &Report{
		LostKeys: map[uint32][]crawl.Page{}, Gone: map[uint32]map[string][]int64{}, Beckon: map[uint32][]crawl.Page{}, robots: map[uint32]map[string]bool{}, gone: map[jobPage]bool{}, ends: map[jobPage]crawl.State{},
		places: map[string]int{}, there: map[string]bool{}, seed: maphash.MakeSeed(), whole: map[uint64]bool{},
	}
}

// unplaced leaves files out of account that may lie in a store that nobody knows: nothing of them is known to be lost.
func (r *Report) unplaced(p Place, wants wanted) {
	if len(r.Unplaced) == 0 {
		return
	}
	files := 0
	for file := range wants {
		if !r.there[file] {
			files++
			delete(wants, file)
		}
	}
	if files > 0 {
		r.problem("%d files lie in stores that the ledger does not know, of %s: name all stores: argosy verify %s --store PLACE, for each; or argosy rebuild ledger %[3]s with the same", files, someOf(r.Unplaced), crawl.Arg(p.Dir))
	}
}

// someOf names a few of many.
func someOf(names []string) string {
	const some = 5
	if more := len(names) - some; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:some], ", "), more)
	}
	return strings.Join(names, ", ")
}

// missing finds what the archives, read to their ends, did not hold, and sums up what is left of each file.
func (r *Report) missing(wants wanted) {
	files := slices.Sorted(maps.Keys(wants))
	for _, file := range files {
		for _, at := range slices.Sorted(maps.Keys(wants[file])) {
			for _, w := range wants[file][at] {
				if !w.seen {
					r.lost(w, "%s at %d: no record of %s", file, at, w.url)
				}
			}
		}
	}
	for _, v := range r.revisits {
		if !r.whole[v.of] {
			r.lost(v.want, "%s at %d: %s is a revisit, and the record that has its body is gone", v.file, v.at, v.want.url)
		}
	}
	for file := range r.places {
		if wants[file] == nil {
			files = append(files, file) // the ledger names nothing of it
		}
	}
	slices.Sort(files)
	for _, file := range files {
		left := File{Name: file, Damaged: r.places[file]}
		for _, of := range wants[file] {
			for _, w := range of {
				if w.gone {
					left.Lost++
				} else {
					left.Whole++
				}
			}
		}
		if left.Damaged+left.Lost > 0 && len(r.Hurt) < maxProblems {
			r.Hurt = append(r.Hurt, left)
		}
	}
	slices.Sort(r.LostPages)
}

// Open opens the stores that a place names. Those that only a node has named get no credentials.
func (p Place) Open(ctx context.Context, l *ledger.Ledger) (out []archive.Store, err error) {
	names := p.Stores
	own := filepath.Join(p.Dir, outdir.WARCDir)
	if len(names) == 0 {
		if _, err := os.Stat(own); err == nil {
			return []archive.Store{archive.Dir(own)}, nil
		}
		if names, err = l.Stores(ctx); err != nil {
			return nil, err
		}
		for _, name := range names {
			if to := archive.ForeignEndpoint(name); to != "" {
				return nil, fmt.Errorf("store %s: a node named it, and checking it would send your credentials to %s: name the stores that you trust with --store", name, to)
			}
		}
	}
	for _, n := range names {
		s, err := archive.OpenStore(n)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// pages reads what the ledger says of a job's pages.
func (r *Report) pages(ctx context.Context, dir string, l *ledger.Ledger, job uint32, wants wanted) error {
	type place struct {
		crawl.Layer
		url string
	}
	urls := map[place]bool{}
	err := l.Pages(ctx, job, func(p *ledger.Page) error {
		if urls[place{p.Layer, p.URL}] {
			r.problem("ledger: %s stands twice", p.URL)
		}
		urls[place{p.Layer, p.URL}] = true
		if _, err := crawl.Parse(p.URL); err != nil {
			r.problem("ledger: %.200q: %v", p.URL, err)
		}
		r.ends[jobPage{job, crawl.Page{Layer: p.Layer, Key: p.Key}}] = stateOf(p.State)
		fetched := p.State == crawl.Fetched.String()
		if !fetched && p.Reason == "" {
			r.problem("ledger: %s is %s without a reason", p.URL, p.State)
		}
		if fetched && !p.Captured() {
			r.problem("ledger: %s is fetched, and no record of it is named", p.URL)
		}
		if !p.Captured() {
			return nil
		}
		r.Pages++
		wants.add(p.WARC, p.Offset, &want{
			url: p.URL, digest: p.Digest, length: p.Length, revisit: p.Revisit, cut: p.Truncated, page: crawl.Page{Layer: p.Layer, Key: p.Key}, job: job,
		})
		if p.Text != "" {
			wants.add(p.Text, p.TextAt, &want{url: p.URL, length: p.TextLen, text: true, page: crawl.Page{Layer: p.Layer, Key: p.Key}, job: job})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return l.Captures(ctx, job, func(c *ledger.Capture) error {
		if !c.Page {
			r.Beside++
			page := crawl.Page{Layer: c.Layer, Key: c.Key}
			if slices.ContainsFunc(wants[c.WARC][c.Offset], func(w *want) bool { return w.job == job && w.page == page && !w.beside && !w.text }) {
				r.problem("ledger: the record of %s (%s:%d) counts twice, as a page's and beside it: argosy rebuild ledger %s", c.URL, c.WARC, c.Offset, crawl.Arg(dir))
			}
			wants.add(c.WARC, c.Offset, &want{url: c.URL, digest: c.Digest, length: c.Length, revisit: c.Revisit, cut: c.Truncated, page: crawl.Page{Layer: c.Layer, Key: c.Key}, job: job, beside: true})
		}
		return nil
	})
}

// Again returns the retry by which what is lost of a job is had again, as far as it can be, and named no more. Other answers of the same
// URLs stay.
func (r *Report) Again(job uint32) crawl.Release {
	return crawl.Release{Job: job, Lost: append(slices.Clone(r.LostKeys[job]), r.Beckon[job]...), Gone: r.Gone[job], Keep: true, Why: "lost"}
}

// beckon finds a page of each site whose robots.txt is lost, the one with the smallest record.
func (r *Report) beckon(ctx context.Context, l *ledger.Ledger) error {
	for job, sites := range r.robots {
		best := map[string]*ledger.Page{}
		err := l.Pages(ctx, job, func(p *ledger.Page) error {
			u, err := crawl.Parse(p.URL)
			if err != nil || p.State != crawl.Fetched.String() || !sites[u.Site()] {
				return nil
			}
			if b := best[u.Site()]; b == nil || p.Length < b.Length {
				kept := *p
				best[u.Site()] = &kept
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, site := range slices.Sorted(maps.Keys(best)) {
			page := crawl.Page{Layer: best[site].Layer, Key: best[site].Key}
			if !r.gone[jobPage{job, page}] {
				r.Beckon[job] = append(r.Beckon[job], page)
			}
		}
	}
	return nil
}

// wanted are the records that the ledger names, by file and offset. A place may be named more than once, by a ledger that is wrong: one
// of these can be right at most.
type wanted map[string]map[int64][]*want

func (w wanted) add(file string, at int64, x *want) {
	if w[file] == nil {
		w[file] = map[int64][]*want{}
	}
	x.file, x.at = file, at
	w[file][at] = append(w[file][at], x)
}

func (r *Report) lost(w *want, format string, args ...any) {
	if w.gone {
		return
	}
	w.gone = true
	r.problem(format, args...)
	key, robots := jobPage{w.job, w.page}, ""
	if u, err := crawl.Parse(w.url); err == nil && w.beside && u.RequestURI() == "/robots.txt" {
		robots = u.Site()
	}
	if !w.text {
		if r.Gone[w.job] == nil {
			r.Gone[w.job] = map[string][]int64{}
		}
		r.Gone[w.job][w.file] = append(r.Gone[w.job][w.file], w.at)
	}
	if w.beside && robots == "" { // an older answer, which nobody gives again
		r.Lost++
		r.listLost(w.url)
		return
	}
	if r.gone[key] {
		return // a page whose text is lost, too
	}
	r.gone[key] = true
	r.Lost++
	r.LostKeys[w.job] = append(r.LostKeys[w.job], w.page)
	if robots != "" {
		if r.robots[w.job] == nil {
			r.robots[w.job] = map[string]bool{}
		}
		r.robots[w.job][robots] = true
	}
	r.listLost(w.url)
}

// listLost notes the URL of what is lost, of so many.
func (r *Report) listLost(url string) {
	if len(r.LostPages) < maxProblems {
		r.LostPages = append(r.LostPages, url)
	}
}

// archives reads every record of every file of a store.
func (r *Report) archives(ctx context.Context, s archive.Store, wants wanted) error {
	files, err := s.List(ctx)
	if err != nil {
		return err
	}
	for _, f := range files {
		r.Files++
		name := strings.TrimSuffix(f, ".open")
		r.there[name] = true
		if err := r.file(ctx, s, f, name, wants[name]); err != nil {
			return err
		}
	}
	return nil
}

// file reads every record of a file. Behind damage it goes on at the next record that the ledger names: records are
// compressed each by itself, and one that cannot be read takes no other with it.
func (r *Report) file(ctx context.Context, s archive.Store, path, name string, wants map[int64][]*want) error {
	offsets := slices.Sorted(maps.Keys(wants))
	for from := int64(0); ; {
		end, whole, err := r.read(ctx, s, path, name, from, wants)
		if err != nil || whole {
			return err
		}
		i, named := slices.BinarySearch(offsets, end)
		if named {
			i++
		}
		if i == len(offsets) {
			return nil
		}
		from = offsets[i]
	}
}

// read reads the records of a file from an offset to its end, or to the first that cannot be read; it returns where it
// ended, and whether that is the end of the file.
func (r *Report) read(ctx context.Context, s archive.Store, path, name string, from int64, wants map[int64][]*want) (end int64, whole bool, err error) {
	f, err := s.Open(ctx, path, from)
	if errors.Is(err, os.ErrNotExist) && path != name { // it was finished meanwhile
		f, err = s.Open(ctx, name, from)
	}
	if err != nil {
		return from, false, err
	}
	defer f.Close()
	rd := archive.NewReaderAt(f, from)
	var of []*want // the page whose request follows its response
	unasked := func(format string, at int64) {
		for _, w := range of {
			r.lost(w, format, name, at, w.url)
		}
	}
	for end = from; ; {
		rec, err := rd.Next()
		if errors.Is(err, io.EOF) {
			unasked("%s ends at %d: no record of the request for %s", end)
			return end, true, nil
		}
		if err == nil {
			err = rec.Discard()
		}
		if err != nil {
			if path == name { // the end of a file that is being written, or was, is nobody's loss
				r.damage(name, "%s: %v", name, err)
			}
			if wants[end] == nil {
				unasked("%s at %d: no record of the request for %s", end)
			}
			return end, false, ctx.Err()
		}
		end = rec.Offset + rec.Length
		r.Records++
		w := wants[rec.Offset]
		if !rec.BlockOK() {
			r.damage(name, "%s at %d: the block does not have its digest", name, rec.Offset)
			if rec.Type() == "request" {
				unasked("%s at %d: damaged record of the request for %s", rec.Offset)
			}
		}
		of = nil
		if t := rec.Type(); t == "response" || t == "revisit" {
			of = w
		}
		r.record(rec, name, w)
	}
}

// record compares a record with what the ledger says of it.
func (r *Report) record(rec *archive.ReadRecord, name string, wants []*want) {
	if own := rec.Header.Get("WARC-Filename"); own != "" && own != name {
		r.problem("%s at %d: the file says that it is %.200q", name, rec.Offset, own)
	}
	t := rec.Type()
	if t == "response" && rec.BlockOK() {
		r.whole[maphash.String(r.seed, rec.Header.Get("WARC-Record-ID"))] = true
	}
	if t != "response" && t != "revisit" && (t != "conversion" || wants == nil) {
		return
	}
	if wants == nil {
		r.Orphans++
		return
	}
	for _, w := range wants {
		r.compare(rec, name, w)
	}
}

// compare compares a record with what the ledger wants it to be.
func (r *Report) compare(rec *archive.ReadRecord, name string, w *want) {
	t := rec.Type()
	w.seen = true
	switch {
	case t == "conversion" != w.text:
		r.lost(w, "%s at %d: is a %s record of %s, the ledger says otherwise", name, rec.Offset, t, w.url)
	case rec.URI() != w.url:
		r.lost(w, "%s at %d: is of %.200s, the ledger says %s", name, rec.Offset, rec.URI(), w.url)
	case !rec.BlockOK():
		r.lost(w, "%s at %d: damaged record of %s", name, rec.Offset, w.url)
	case rec.Length != w.length:
		r.problem("%s at %d: %d bytes long, the ledger says %d", name, rec.Offset, rec.Length, w.length)
	case w.text:
	case rec.Header.Get("WARC-Payload-Digest") != w.digest:
		r.problem("%s at %d: the payload's digest is not the ledger's", name, rec.Offset)
	case rec.Header.Get("WARC-Truncated") != w.cut:
		r.problem("%s at %d: truncated %q, the ledger says %q", name, rec.Offset, rec.Header.Get("WARC-Truncated"), w.cut)
	case t == "revisit" != w.revisit:
		r.problem("%s at %d: is a %s record, the ledger says otherwise", name, rec.Offset, t)
	case w.revisit:
		of := maphash.String(r.seed, rec.Header.Get("WARC-Refers-To"))
		r.revisits = append(r.revisits, revisit{of, name, rec.Offset, w})
	}
}

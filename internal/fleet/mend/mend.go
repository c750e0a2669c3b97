// Package mend makes a damaged directory whole: it rebuilds frontier, ledger or index from what is left of the others and of the
// archives, and it makes and restores copies of a directory. What it replaces it keeps beside, with ".old" behind its name.
package mend

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/page/archive"
	"argosy/internal/page/fetch"
)

// Result says what was rebuilt.
type Result struct {
	Jobs  int   `json:"jobs"`
	Pages int64 `json:"pages"` // in the ledger, or in the index
	Again int64 `json:"again"` // that are had again when the crawl, or the coordinator, runs next

	Ended []EndedJob `json:"ended,omitempty"`
}

// EndedJob is a job that does not begin again: the frontier alone had its list of seeds.
type EndedJob struct {
	Job   uint32 `json:"job"`
	Name  string `json:"name,omitempty"`
	Seeds int64  `json:"seeds"`
}

// sqliteFiles are what SQLite keeps of a database.
var sqliteFiles = []string{"", "-wal", "-shm"}

// away moves a file or a directory out of the way.
func away(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return errors.Join(os.RemoveAll(path+".old"), os.Rename(path, path+".old"))
}

// locked runs fn while the directory is this process's.
func locked(dir string, fn func() error) error {
	if err := outdir.CheckFormat(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(outdir.State(dir), 0o700); err != nil {
		return err
	}
	lock, err := outdir.Lock(dir)
	if err != nil {
		return err
	}
	return errors.Join(fn(), lock.Close())
}

// placeOf returns the place of a directory's ledger: elsewhere is that of a fleet's that is not in it, with its password.
func placeOf(dir, elsewhere string) (string, error) {
	switch at := outdir.LedgerElsewhere(dir); {
	case elsewhere != "":
		return elsewhere, nil
	case at != "":
		return "", fmt.Errorf("%s: %w: it is %s: name it, with its password, with --ledger", dir, ErrElsewhere, at)
	}
	return filepath.Join(dir, outdir.LedgerFile), nil
}

// ErrElsewhere says that a ledger is not in the directory.
var ErrElsewhere = errors.New("the ledger is not in the directory")

// note notes that a ledger is that of a fleet's directory: with the identity that the directory knows, if the ledger has none yet.
func note(ctx context.Context, dir, place string, l *ledger.Ledger) error {
	known, err := outdir.KnownLedger(dir)
	if err != nil || place == "" && known.ID == "" {
		return err
	}
	if known.ID, err = l.Identify(ctx, cmp.Or(known.ID, rand.Text())); err != nil || place == "" {
		return err
	}
	known.Place = ledger.WithoutPassword(place)
	return errors.Join(outdir.Claim(dir, place), outdir.NoteLedger(dir, known))
}

// Index writes the indexes of all jobs anew, from the ledger; elsewhere is where that is, if not in the directory.
func Index(ctx context.Context, dir, elsewhere string) (r Result, err error) {
	return r, locked(dir, func() error {
		path, err := placeOf(dir, elsewhere)
		if err != nil {
			return err
		}
		l, err := ledger.Open(ctx, path)
		if err != nil {
			return outdir.Mend(dir, err)
		}
		defer l.Close()
		jobs, err := writeIndexes(ctx, dir, l)
		if err != nil {
			return err
		}
		for _, job := range jobs {
			r.Jobs++
			if err := l.Captures(ctx, job, func(*ledger.Capture) error { r.Pages++; return nil }); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeIndexes writes the index of every job that a ledger has.
func writeIndexes(ctx context.Context, dir string, l *ledger.Ledger) (jobs []uint32, err error) {
	if jobs, err = l.Jobs(ctx); err != nil {
		return nil, err
	}
	for _, job := range jobs {
		path := filepath.Join(dir, outdir.IndexFile)
		if outdir.Fleet(dir) {
			path = outdir.JobIndex(dir, job)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := outdir.WriteIndex(ctx, l, job, path); err != nil {
			return nil, outdir.Mend(dir, err)
		}
	}
	return jobs, nil
}

// Frontier has the frontier made anew: a ledger does not hold what pages link to, so that all jobs begin again from their seeds, when
// the crawl, or the coordinator, runs next; but for those of a fleet whose list of seeds came apart from the job. What was archived stays in
// archives and index. elsewhere is where the ledger is, if not in the directory; it is the directory's from then on.
func Frontier(ctx context.Context, dir, elsewhere string) (r Result, err error) {
	return r, locked(dir, func() error {
		path, err := placeOf(dir, elsewhere)
		if err != nil {
			return err
		}
		if _, err := os.Stat(path); err != nil && elsewhere == "" {
			return fmt.Errorf("%s: neither frontier nor ledger are left to rebuild from: crawl into another directory, or argosy restore a copy: %w", dir, err)
		}
		l, err := ledger.Open(ctx, path)
		if err != nil {
			return fmt.Errorf("%w: the frontier is rebuilt from the ledger: argosy restore a copy", err)
		}
		defer l.Close()
		jobs, err := l.KeptJobs(ctx)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			if outdir.Fleet(dir) && j.Identity.List != nil {
				if j.State != crawl.JobCancelled {
					r.Ended = append(r.Ended, EndedJob{j.ID, j.Name, j.Identity.List.Count})
				}
				continue
			}
			e, err := l.Ended(ctx, j.ID)
			if err != nil {
				return err
			}
			r.Jobs++
			r.Again += e.URLs
		}
		return errors.Join(note(ctx, dir, elsewhere, l), l.Again(ctx), away(outdir.Frontier(dir)), away(outdir.Bus(dir)))
	})
}

// Ledger makes the ledger anew from the frontier, the archives in stores (none are named: the directory's own) and, of a crawl, what its
// log still has, and the indexes with it. What nodes, measurements, costs and leases that have ended were is lost; pages that the archives do not have are had again when the crawl,
// or the coordinator, runs next. elsewhere is where the ledger is made, if not in the directory: a database that must be empty.
func Ledger(ctx context.Context, dir, elsewhere string, stores []string) (r Result, err error) {
	return r, locked(dir, func() error {
		path, err := placeOf(dir, elsewhere)
		if err != nil {
			return err
		}
		if _, err := os.Stat(outdir.Frontier(dir)); err != nil {
			return fmt.Errorf("%s: neither frontier nor ledger are left to rebuild from: crawl into another directory, or argosy restore a copy: %w", dir, err)
		}
		f, err := frontier.Open(frontier.DefaultConfig(outdir.Frontier(dir)))
		if err != nil {
			return fmt.Errorf("%w: the ledger is rebuilt from the frontier: argosy restore a copy", err)
		}
		defer f.Close()
		if err := knowsMore(ctx, dir, f, elsewhere); err != nil {
			return err
		}
		have, places, err := readStores(ctx, dir, stores)
		if err != nil {
			return err
		}
		l, err := newLedger(ctx, path, elsewhere == "")
		if err != nil {
			return err
		}
		pos := f.Position()
		log, err := readLog(ctx, dir, pos.Seq)
		if err != nil {
			return errors.Join(err, l.Close())
		}
		err = l.Restore(ctx, pos.Stream, pos.Seq, func(to *ledger.Restorer) error {
			var jobs []*frontier.Job
			f.Jobs(func(j *frontier.Job) { jobs = append(jobs, j) })
			slices.SortStableFunc(jobs, func(a, b *frontier.Job) int { return cmp.Compare(b.StartMS, a.StartMS) })
			for _, j := range jobs { // the last to begin first: see outcome
				r.Jobs++
				if err := errors.Join(to.Job(j.StartMS, &j.Job, j.State), have.pages(to, f, j, log, &r)); err != nil {
					return err
				}
			}
			for _, place := range places {
				if err := to.Store(place); err != nil {
					return err
				}
			}
			leases, parts := f.Granted()
			for i := range leases { // what their nodes report from now on counts in both
				if err := to.Lease(pos.At, &leases[i], parts[i]); err != nil {
					return err
				}
			}
			return errors.Join(have.beside(to, f, jobs, &r), log.markets(to))
		})
		if err == nil {
			_, err = writeIndexes(ctx, dir, l) // they say where the records are, as the ledger does
		}
		if err == nil {
			err = note(ctx, dir, elsewhere, l)
		}
		return errors.Join(err, l.Close())
	})
}

// knowsMore returns an error if a directory's ledger has jobs of which its frontier has none: nothing can be rebuilt from that.
func knowsMore(ctx context.Context, dir string, f *frontier.Frontier, elsewhere string) error {
	path := filepath.Join(dir, outdir.LedgerFile)
	if _, err := os.Stat(path); err != nil || elsewhere != "" {
		return nil
	}
	l, err := ledger.Open(ctx, path)
	if err != nil {
		return nil // it is damaged: it is to be rebuilt
	}
	err = outdir.Bereft(ctx, dir, f, l)
	if cerr := l.Close(); !errors.Is(err, frontier.ErrBehind) {
		err = cerr
	}
	return err
}

var errHasJobs = errors.New("the database holds jobs")

// newLedger opens a ledger that is empty: a file is moved away for it, a database that is not is refused.
func newLedger(ctx context.Context, path string, file bool) (*ledger.Ledger, error) {
	for _, more := range sqliteFiles {
		if !file {
			break
		}
		if err := away(path + more); err != nil {
			return nil, err
		}
	}
	l, err := ledger.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	empty, err := l.Empty(ctx)
	if err == nil && !empty {
		err = fmt.Errorf("%s: %w: give an empty database, and argosy serve --ledger the same one from then on", ledger.WithoutPassword(path), errHasJobs)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// ErrNoStore says that a ledger is to be made from archives, and none are named or lie in the directory.
var ErrNoStore = errors.New("the archives of a fleet lie where its nodes put them: name the stores")

// readStores returns the answers in stores, the directory's own if none are named, and where those are that were named.
func readStores(ctx context.Context, dir string, names []string) (have captures, places []string, err error) {
	named := len(names) > 0
	if !named {
		own := filepath.Join(dir, outdir.WARCDir)
		if outdir.Fleet(dir) && !holds(own) {
			return nil, nil, fmt.Errorf("%w: argosy rebuild ledger %s --store PLACE, for each", ErrNoStore, crawl.Arg(dir))
		}
		names = []string{own}
	}
	have = captures{}
	for _, name := range names {
		s, err := archive.OpenStore(name)
		if err != nil {
			return nil, nil, err
		}
		if err := have.store(ctx, s); err != nil {
			return nil, nil, err
		}
		if named {
			places = append(places, s.URL())
		}
	}
	have.sort()
	return have, places, nil
}

// holds reports whether a directory has files.
func holds(dir string) bool {
	files, err := os.ReadDir(dir)
	return err == nil && len(files) > 0
}

// captures are the archived answers of URLs, in the order of their dates.
type captures map[string][]capture

// capture is an archived answer.
type capture struct {
	crawl.Outcome
	used   bool   // a page stands for it,
	taken  bool   // and it is that of no other job
	passed bool   // a job that has the URL began before it
	job    uint32 // whose it is; 0: nobody's
	sure   bool   // that job began before it
	layer  crawl.Layer
	site   string
}

// store reads the answers in a store. What is damaged is passed over, with what stands behind it in its file.
func (c captures) store(ctx context.Context, s archive.Store) error {
	names, err := s.List(ctx)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		f, err := s.Open(ctx, name, 0)
		if err != nil {
			return err
		}
		c.file(f, strings.TrimSuffix(name, ".open"))
		if err := f.Close(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (c captures) sort() {
	for _, of := range c {
		slices.SortStableFunc(of, func(a, b capture) int { return cmp.Compare(a.Date, b.Date) })
	}
}

func (c captures) file(f io.Reader, name string) {
	rd := archive.NewReader(f)
	var last *crawl.Outcome // whose text may follow
	var id string
	for {
		rec, err := rd.Next()
		if err != nil {
			return
		}
		switch rec.Type() {
		case "response", "revisit":
			o := answer(rec)
			if rec.Discard() != nil {
				return
			}
			if o == nil || !rec.BlockOK() {
				continue
			}
			o.Record = crawl.Location{File: name, Offset: rec.Offset, Length: rec.Length}
			of := c[o.URL]
			c[o.URL] = append(of, capture{Outcome: *o})
			last, id = &c[o.URL][len(of)].Outcome, rec.Header.Get("WARC-Record-ID")
		case "conversion":
			if rec.Discard() != nil {
				return
			}
			if last != nil && rec.BlockOK() && rec.Header.Get("WARC-Refers-To") == id {
				last.Text = crawl.Location{File: name, Offset: rec.Offset, Length: rec.Length}
			}
		}
	}
}

// answer reads what a record says of a URL; nil if it is not an answer.
func answer(rec *archive.ReadRecord) *crawl.Outcome {
	u, err := crawl.Parse(rec.URI())
	if err != nil {
		return nil
	}
	most := int64(0) // of the body; Discard reads the rest
	if u.Path() == robotsPath {
		most = maxRobots
	}
	resp, err := fetch.ReadKept(rec, most)
	if err != nil {
		return nil
	}
	defer resp.Release()
	o := &crawl.Outcome{
		Key: u.Key(), URL: u.String(), Status: resp.Status, Digest: rec.Header.Get("WARC-Payload-Digest"), Revisit: rec.Type() == "revisit",
		Truncated: rec.Header.Get("WARC-Truncated"), IP: rec.Header.Get("WARC-IP-Address"), ETag: resp.Get("ETag"), LastMod: resp.Get("Last-Modified"),
		Bytes: resp.Size, // of a page the frontier knows them
	}
	if o.Mime = resp.Media(); o.Mime == "" {
		o.Mime = "unk"
	}
	o.HTML = o.Mime == "text/html" || o.Mime == "application/xhtml+xml"
	if at, err := time.Parse(time.RFC3339Nano, rec.Header.Get("WARC-Date")); err == nil {
		o.Date = at.UnixMilli()
	}
	if to := resp.Get("Location"); to != "" && resp.Redirects() {
		if v, err := u.Resolve(to); err == nil {
			o.Redirect = v.String()
		}
	}
	return o
}

// restored is a row of a page that is written anew.
type restored struct {
	task uint32
	site string
	o    crawl.Outcome
}

// pages writes the rows of a job's URLs that a node's word has ended, in the order in which they were had.
func (c captures) pages(to *ledger.Restorer, f *frontier.Frontier, j *frontier.Job, log *told, r *Result) error {
	var rows []restored
	err := f.URLs(j.ID, func(u frontier.URL) error {
		site := ""
		if t := f.Task(u.Task); t != nil {
			site = t.Site
		}
		c.claim(j, &u, site)
		if !crawl.EndedByNode(u.State, u.Reason) {
			return nil
		}
		o, ok := c.outcome(j, &u)
		if !ok {
			r.Again++
			return nil
		}
		log.adds(j.ID, &o)
		rows = append(rows, restored{u.Task, site, o})
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(rows, func(a, b restored) int { return cmp.Compare(a.o.Date, b.o.Date) })
	for i := range rows {
		r.Pages++
		if err := to.Page(j.ID, rows[i].task, rows[i].site, &rows[i].o); err != nil {
			return err
		}
	}
	return nil
}

// outcome puts together how a URL has ended; false: it was fetched, and its answer is not in the archives.
func (c captures) outcome(j *frontier.Job, u *frontier.URL) (o crawl.Outcome, ok bool) {
	o, ok = crawl.Outcome{Key: u.Key, URL: u.URL, Date: j.StartMS}, u.State != crawl.Fetched
	if of := c.of(j, u); of != nil {
		o, ok = of.Outcome, true
	}
	o.State, o.Reason, o.Depth, o.Bytes, o.Owner, o.Gen = u.State, u.Reason, u.Depth, u.Bytes, u.Layer.Owner, u.Layer.Gen
	if u.State == crawl.Fetched && j.Identity.Topic != nil {
		o.Score = u.Score
	}
	return o, ok
}

// of returns the answer that is a job's of those with the bytes that its frontier knows: one that no page stands for, and the last one
// between the beginning of this job and that of the next one that has the URL; jobs that began later come first. If there is none, for jobs
// ran at once, a record was damaged or a node's clock is slow, it is a later one, an earlier one, or one that is another page's too.
func (c captures) of(j *frontier.Job, u *frontier.URL) (found *capture) {
	const another, earlier, later, own = 1, 2, 3, 4
	all, best := c[u.URL], 0
	for i := len(all) - 1; i >= 0; i-- {
		of, fits := &all[i], another
		switch {
		case of.Digest != u.Digest:
			continue
		case of.taken:
		case of.Date < j.StartMS:
			fits = earlier
		case of.passed:
			fits = later
		default:
			fits = own
		}
		if of.passed = of.passed || of.Date >= j.StartMS; fits > best {
			found, best = of, fits
		}
	}
	if found != nil {
		found.used, found.taken = true, best >= later
	}
	return found
}

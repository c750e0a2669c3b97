package frontier

import (
	"bytes"

	"argosy/internal/crawl"
)

// maxNested bounds how many sitemaps lie above one. An index may name no other index (sitemaps.org), but some do.
const maxNested = 3

// child is what a link says about the URL it points to.
func (x *tx) child(parent *record, pk crawl.Key, u crawl.URL, l *crawl.Link) *record {
	r := &record{Parent: pk, Anchor: l.Anchor, Depth: parent.Depth + 1}
	switch {
	case l.Redirect: // where a redirect leads is as deep as where it stands
		r.Depth, r.Hops = parent.Depth, parent.Hops+1
		if parent.Flags&crawl.FlagSeed != 0 && r.Hops <= MaxSeedRedirects {
			r.Flags |= crawl.FlagSeed
		}
		r.Flags |= parent.Flags & (crawl.FlagSitemap | crawl.FlagsSitemapLevel)
	case l.Sitemap:
		r.Depth, r.Flags = parent.Depth, sitemapFlags(parent, pk)
	case l.Resource:
		r.Depth = parent.Depth
		r.Flags |= crawl.ResourceFlags(crawl.ResourceLevel(parent.Flags) + 1)
	}
	if l.NoFollow {
		r.Flags |= crawl.FlagNoFollow
	}
	return r
}

// sitemapFlags are the flags of a sitemap that a page names: at the top if that page is robots.txt, whose key is zero.
func sitemapFlags(parent *record, pk crawl.Key) uint8 {
	level := 0
	if pk != (crawl.Key{}) {
		level = crawl.SitemapLevel(parent.Flags) + 1
	}
	return crawl.SitemapFlags(level)
}

// admitSitemap decides whether a URL that is to be read as a sitemap is fetched: one that robots.txt does not name must be
// on the site that names it, or in the job's scope (sitemaps.org, "Sitemaps & Cross Submits"). own is its site's task, or nil.
func (x *tx) admitSitemap(j *Job, own *Task, u crawl.URL, r *record) crawl.Verdict {
	if r.Flags&crawl.FlagSitemap == 0 || r.Flags&crawl.FlagSeed != 0 {
		return crawl.Verdict{}
	}
	level, k := crawl.SitemapLevel(r.Flags), u.Key()
	switch {
	case level > 0 && !bytes.Equal(r.Parent[:4], k[:4]) && !j.rules.InScope(u): // a key begins with its site
		return crawl.Verdict{Reason: crawl.ReasonScope}
	case level > maxNested, own != nil && j.At(own.Site).MaxSitemaps > 0 && own.Sitemaps >= j.At(own.Site).MaxSitemaps:
		return crawl.Verdict{Reason: crawl.ReasonTrapMap}
	}
	return crawl.Verdict{}
}

// readAsSitemap makes a sitemap of a URL that waits to be fetched as a page and that r names as a sitemap.
func (x *tx) readAsSitemap(j *Job, u crawl.URL, old, r *record) {
	t := x.f.tasks[old.Task]
	if old.State != crawl.Pending || r.Flags&^old.Flags&crawl.FlagSitemap == 0 || !x.admitSitemap(j, t, u, r).OK() {
		return
	}
	old.Flags = old.Flags&^crawl.FlagsSitemapLevel | r.Flags&(crawl.FlagSitemap|crawl.FlagsSitemapLevel)
	old.dirty = true
	t.countSitemap(old)
	x.tasks[t.ID] = t
}

// countSitemap counts a URL that is admitted as a sitemap.
func (t *Task) countSitemap(r *record) {
	if r.Flags&crawl.FlagSitemap != 0 {
		t.Sitemaps++
	}
}

// better returns a refused URL's record as two ways to it make it: the one that is known, and r. A way over pages that ask
// not to follow their links counts only as long as there is no other.
func better(old, r *record) record {
	way := *old
	if old.Flags&^r.Flags&crawl.FlagNoFollow != 0 {
		way.Depth, way.Hops, way.Via, way.Parent, way.Anchor = r.Depth, r.Hops, r.Via, r.Parent, r.Anchor
	} else {
		way.Depth, way.Hops = min(old.Depth, r.Depth), min(old.Hops, r.Hops)
	}
	const own = crawl.FlagNoFollow | crawl.FlagSitemap | crawl.FlagsSitemapLevel
	way.Flags = (old.Flags|r.Flags)&^own | old.Flags&r.Flags&crawl.FlagNoFollow | old.Flags&own&^crawl.FlagNoFollow
	was := old.Flags&crawl.FlagSitemap != 0
	if r.Flags&crawl.FlagSitemap != 0 && (!was || crawl.SitemapLevel(r.Flags) <= crawl.SitemapLevel(old.Flags)) {
		way.Flags = way.Flags&^crawl.FlagsSitemapLevel | r.Flags&(crawl.FlagSitemap|crawl.FlagsSitemapLevel)
		way.Parent = r.Parent
	}
	if n, had := crawl.ResourceLevel(r.Flags), crawl.ResourceLevel(way.Flags); n > 0 && (had == 0 || n < had) && way.Flags&crawl.FlagSitemap == 0 {
		way.Flags = way.Flags&^crawl.FlagsSitemapLevel | crawl.ResourceFlags(n)
	}
	if r != old {
		way.sees(r)
	}
	return way
}

// stays keeps what another way has changed about a URL that is still refused, and the reason that holds now.
func (x *tx) stays(old *record, way record, reason crawl.Kind) {
	if t := x.f.tasks[old.Task]; t != nil && reason != old.Reason {
		t.count(crawl.Excluded, old.Reason, -1)
		t.count(crawl.Excluded, reason, 1)
		x.tasks[t.ID] = t
	}
	way.Reason = reason
	if way != *old {
		*old = way
		old.dirty = true
	}
}

// pathDependent reports whether another path to a URL can lead to another verdict.
func pathDependent(reason crawl.Kind) bool {
	switch reason {
	case crawl.ReasonDepth, crawl.ReasonRedirects, crawl.ReasonScope, crawl.ReasonInclude,
		crawl.ReasonExclude, crawl.ReasonTrapLength, crawl.ReasonTrapMap, crawl.ReasonNoFollow, crawl.ReasonTopic,
		crawl.ReasonPromise:
		return true
	}
	return false
}

// Fetched calls fn for the URLs of a job that were fetched, as they are when it is called. Unlike others it may be called while entries are
// applied, by any goroutine.
func (f *Frontier) Fetched(job uint32, fn func(URL) error) error {
	return f.each(jobURLs(job), func(k, v []byte) error {
		r, err := decodeRecord(v)
		if err != nil {
			return err
		}
		at, ok := ofURLKey(k)
		if !ok {
			return errRecord
		}
		if r.State != crawl.Fetched || r.URL == "" {
			return nil
		}
		return fn(URL{Layer: at.Layer, Key: at.key, State: r.State, URL: r.URL, Depth: r.Depth, Task: r.Task, Parent: r.Parent, Anchor: r.Anchor, Score: r.Score, Relevant: r.Counted&countedRelevant != 0})
	})
}

package frontier

import (
	"math"
	"slices"

	"argosy/internal/crawl"
	"argosy/internal/page/polite"
	"argosy/internal/page/yield"
	"argosy/internal/plan/learn"
)

// MaxSeedRedirects bounds how far a seed's redirects join the scope.
const MaxSeedRedirects = 5

// part applies one part of a report. What it says of URLs counts as long as they are not final, also when its lease
// was recalled; it changes its lease only while that is open, and only without a gap.
func (x *tx) part(e *crawl.Entry, p *crawl.Part) error {
	l := x.believed(e, p)
	if l == nil {
		return nil
	}
	l.Parts = p.No
	x.fx.Reported = append(x.fx.Reported, l.ID)
	x.fx.Facts = append(x.fx.Facts, learn.OfPart(x.worker(l), p, x.at)...)
	x.leases[l.ID] = l
	j, t := x.f.jobs[l.Job], x.f.tasks[l.Task]
	x.tasks[t.ID] = t
	s := x.site(l.Site)
	if p.Site != nil && l.ClosedAt == 0 { // before the outcomes: one of them may give the site another chance
		if err := x.change(t, l, s, p.Site); err != nil {
			return err
		}
	}
	x.showsOff(p)
	if err := x.showsCopies(j, t, p); err != nil {
		return err
	}
	for i := range p.Found {
		if err := x.found(j, t, &p.Found[i]); err != nil {
			return err
		}
	}
	for i := range p.Outcomes {
		if a := p.Outcomes[i].Answered; a != nil && t.Of != nil && l.ClosedAt == 0 {
			x.answered(j, t, l, &p.Outcomes[i])
			if p.Outcomes[i].State == crawl.Fetched {
				l.Collected++
			}
		} else if p.Outcomes[i].State == crawl.Fetched {
			if p.Outcomes[i].Status < 400 {
				l.Collected++
			}
			t.has(l, p.Outcomes[i].Status)
		}
		if err := x.outcome(j, t, l, &p.Outcomes[i]); err != nil {
			return err
		}
	}
	if l.ClosedAt > 0 {
		if p.Site != nil && p.Site.SinceStartMS >= 0 {
			polite.FoldFrom(s, &crawl.SiteChange{SinceStartMS: p.Site.SinceStartMS, Fails: polite.From(s, l.From).Fails}, x.at, l.From)
		}
		if !p.Final {
			x.fx.Late = append(x.fx.Late, l)
		}
		return nil
	}
	x.countRan(j)
	if t.Search > 0 && t.Of == nil && siteAnswered(p) {
		l.Answered = true
	}
	if t.getsOn(p) {
		t.Recalls = 0
	}
	if p.Progress(l.Resolve) {
		l.Progress = x.at
	}
	if p.Reason == crawl.EndFailed && !l.Resolve {
		x.failed(j, t, l)
	}
	if p.Final {
		return x.sealed(t, l, p.Reason)
	}
	if p.Want > 0 {
		if x.fx.Wants == nil {
			x.fx.Wants = map[uint64]int{}
		}
		x.fx.Wants[l.ID] = p.Want
	}
	if p.Starved {
		if x.fx.Starved == nil {
			x.fx.Starved = map[uint64]uint32{}
		}
		x.fx.Starved[l.ID] = p.Got
	}
	return nil
}

// change applies what a part says of its site.
func (x *tx) change(t *Task, l *Lease, s *crawl.Site, c *crawl.SiteChange) error {
	polite.FoldFrom(s, c, x.at, l.From)
	if c.CookiesSet {
		t.Cookies = c.Cookies
	}
	if c.Gates != nil {
		t.Gates = c.Gates
	}
	if c.Robots != nil {
		s.Robots = nil // they stand apart: they may be many
		return x.b.Set(robotsKey(s.Name), c.Robots.Rules, nil)
	}
	return nil
}

// outcome applies how a URL ended.
func (x *tx) outcome(j *Job, t *Task, l *Lease, o *crawl.Outcome) error {
	if o.State == crawl.Beside {
		return nil // the ledger's affair
	}
	r, err := x.record(t.space(), o.Key)
	if err != nil || r == nil || r.State != crawl.Pending || r.Task != t.ID || o.Layer() != t.space().Layer {
		return err
	}
	if o.State == crawl.Retry {
		if l.ClosedAt > 0 {
			return nil // the URL is somebody else's by now
		}
		if err := x.free(t, l, o.Key, r); err != nil {
			return err
		}
		if r.Tries < math.MaxUint8 {
			r.Tries++
		}
		return x.enqueue(t, o.Key, r)
	}
	if !o.State.Final() {
		return nil
	}
	if err := x.free(t, l, o.Key, r); err != nil {
		return err
	}
	l.Brought, r.State, r.Reason, r.dirty = true, o.State, o.Reason, true
	r.ETag, r.LastMod, r.Digest = o.ETag, o.LastMod, o.Digest
	t.count(o.State, o.Reason, 1)
	t.timed(j, o)
	t.Ended.Count(crawl.Page{Layer: o.Layer(), Key: o.Key}, o.State, o.Reason, 1)
	r.Bytes, r.Counted = max(0, o.Bytes), 0
	if o.State == crawl.Fetched && o.HTML && o.Status == 200 {
		r.Counted |= countedPage
	}
	r.Counted |= x.counted(j, o)
	if o.Revisit {
		r.Counted |= countedDuplicate
	}
	if o.State == crawl.Fetched && o.Redirect != "" {
		r.Counted |= countedMoved
		if err := x.leadsOn(t, o); err != nil {
			return err
		}
	}
	if j.Identity.Collect != nil {
		if err := x.collected(j, t, l, r, o); err != nil {
			return err
		}
	}
	t.weigh(r, 1)
	if o.Depth != r.Depth { // a shorter path was found while a lease had it
		if err := x.nearer(recKey{t.space(), o.Key}); err != nil {
			return err
		}
	}
	if o.State == crawl.Fetched && j.Identity.Collect == nil {
		if err := x.answer(t, r, o); err != nil {
			return err
		}
		if err := x.firstPage(t, o); err != nil {
			return err
		}
		if j.Identity.Topic != nil {
			r.Score = o.Score
			if err := x.learns(j, recKey{t.space(), o.Key}, r, o); err != nil {
				return err
			}
		}
	}
	if err := x.namesAgain(t, r, o); err != nil {
		return err
	}
	if r.Flags&crawl.FlagNoScheme != 0 && (o.Reason == crawl.ReasonNoHTTPS || o.State == crawl.Failed && o.Reason.NoHTTPS()) { // failed: from an agent of 0.1.0
		return x.insecure(j, t, r)
	}
	return nil
}

// found applies the links of a page.
func (x *tx) found(j *Job, t *Task, p *crawl.Found) error {
	if j.Identity.Collect != nil {
		return x.collects(j, t, p)
	}
	parent, err := x.record(t.space(), p.Parent)
	if err != nil {
		return err
	}
	if parent == nil {
		parent = &record{} // a site's robots.txt: its sitemaps start at depth 0
	}
	if err := x.omit(t, p); err != nil {
		return err
	}
	via, err := x.via(t, parent)
	if err != nil {
		return err
	}
	news, feeds := x.news, yield.Feeds{}
	watched := t.yield != nil && via != 0 && t.yield.Watches(via)
	feeding := watched || t.yield != nil && via != 0 && t.yield.Feeding(via)
	ahead := x.leads(t, via, watched, parent, p)
	children, redirect := []byte{}, []byte{redirectEdge}
	for i := range p.Links {
		u, err := crawl.Parse(p.Links[i].URL)
		if err != nil {
			continue // an agent sends canonical URLs only
		}
		r := x.child(parent, p.Parent, u, &p.Links[i])
		r.Via = via
		r.since = ahead.of(u)
		if j.Identity.Topic != nil {
			x.sign(j, r, parent, p, &p.Links[i])
		}
		if p.Links[i].Redirect && r.Flags&crawl.FlagSeed != 0 {
			if err := x.join(j, u); err != nil {
				return err
			}
		}
		k, before := u.Key(), x.news
		to, err := x.dealt(j, t, parent, k, &p.Links[i])
		if err == nil {
			err = x.add(j, to, p.Parent, u, r)
		}
		if err != nil {
			return err
		}
		if x.news > before && u.Site() != t.Site && !t.Host.Judged {
			t.Host.Named++
		}
		switch {
		case x.news == before:
		case !feeding:
			feeds.Own++
		case u.Site() == t.Site:
			t.yield.Feed(&feeds, u, via, parent.URL)
		}
		switch {
		case p.Links[i].Redirect:
			redirect = append(redirect, k[:]...)
		case !p.Links[i].Sitemap && !p.Links[i].NoFollow: // those stand at the top, and nothing brings them nearer
			children = append(children, k[:]...)
		}
	}
	x.notes(p.Parent, x.news-news, &feeds)
	if j.Limits.MaxDepth < 0 {
		return nil
	}
	for _, k := range p.Known {
		children = append(children, k[:]...)
		if err := x.shorten(j, recKey{t.space(), k}, parent.Depth+1); err != nil {
			return err
		}
	}
	if err := x.edge(recKey{t.space(), p.Parent}, children); err != nil || len(redirect) == 1 {
		return err
	}
	return x.edge(recKey{t.space(), p.Parent}, redirect)
}

// redirectEdge marks, as its first byte, a list of URLs that a page redirects to: they are as deep as the page itself.
const redirectEdge = 1

// edge keeps what a page leads to, so that a shorter path to it shortens theirs.
func (x *tx) edge(parent recKey, children []byte) error {
	if len(children) == 0 {
		return nil
	}
	x.edges++
	if x.fresh == nil {
		x.fresh = map[recKey][][]byte{}
	}
	x.fresh[parent] = append(x.fresh[parent], children)
	return x.b.Set(edgeKey(parent, x.edges), children, nil)
}

// add puts a URL into the frontier, or shortens the path to one that is there. t is the task whose page named it; r
// says how it was found.
func (x *tx) add(j *Job, t *Task, pk crawl.Key, u crawl.URL, r *record) error {
	in := t.names()
	k := recKey{in, u.Key()}
	old, err := x.record(in, k.key)
	if err != nil {
		return err
	}
	if old != nil {
		if r.Flags&crawl.FlagNoFollow != 0 {
			return nil // nobody follows it: it says nothing new
		}
		x.readAsSitemap(j, u, old, r)
		if old.State == crawl.Excluded && pathDependent(old.Reason) {
			return x.readmit(j, k, old, r)
		}
		if err := x.namedAgain(j, k, old, r); err != nil {
			return err
		}
		return x.shorten(j, k, r.Depth)
	}
	r.URL = u.String()
	name := taskName{in, t.Subset, u.Site(), t.Search, false}
	own := x.f.tasks[x.f.byName[name]]
	v, err := x.admit(j, t, own, u, r)
	if err != nil {
		return err
	}
	if !v.OK() {
		t = refuser(t, own, v.Reason)
		if t.Excluded-t.Omitted >= int64(j.Limits.MaxRefusals) {
			t.Overflow++
			x.tasks[t.ID] = t
			return nil
		}
		r.State, r.Reason, r.Task, r.dirty = crawl.Excluded, v.Reason, t.ID, true
		if v.Reason == crawl.ReasonRedirects {
			t.Chain = r.URL
		}
		t.Discovered++
		t.count(crawl.Excluded, v.Reason, 1)
		x.tasks[t.ID] = t
		x.remember(k, r)
		return nil
	}
	first := own == nil
	own = x.taskNamed(name)
	if first {
		own.Host.By = t.ID
		if r.Flags&crawl.FlagSeed == 0 {
			own.From = t.ID
		}
	}
	if r.Flags&crawl.FlagSeed != 0 {
		own.Seed = true
	}
	if own.Cuts > 0 {
		if waits, err := x.waits(j, own, k, u, r); waits || err != nil {
			return err
		}
	}
	x.news++
	r.State, r.Task, r.dirty = crawl.Pending, own.ID, true
	own.countSitemap(r)
	if err := x.score(j, in.Owner, own, r); err != nil {
		return err
	}
	x.remember(k, r)
	if err := x.enqueue(own, k.key, r); err != nil {
		return err
	}
	own.Discovered++
	return nil
}

// admit decides whether a URL is fetched. t is the task whose page names it, own its site's, nil if there is none yet.
func (x *tx) admit(j *Job, t, own *Task, u crawl.URL, r *record) (crawl.Verdict, error) {
	if v := x.admitted(j, own, u, r); !v.OK() {
		return v, nil
	}
	if skips, err := x.skips(j, t, own, r); skips || err != nil {
		return crawl.Verdict{Reason: crawl.ReasonPromise}, err
	}
	if waits, err := x.hostWaits(j, t, own, u, r); waits || err != nil {
		return crawl.Verdict{Reason: crawl.ReasonTrapHosts}, err
	}
	return crawl.Verdict{}, nil
}

// admitted decides whether a URL is fetched whatever its links promise.
func (x *tx) admitted(j *Job, own *Task, u crawl.URL, r *record) crawl.Verdict {
	if v := j.rules.Check(u, r.Flags); !v.OK() {
		return v
	}
	if v := x.admitSitemap(j, own, u, r); !v.OK() {
		return v
	}
	switch {
	case r.Flags&crawl.FlagNoFollow != 0:
		return crawl.Verdict{Reason: crawl.ReasonNoFollow}
	case j.Limits.MaxDepth >= 0 && int(r.Depth) > j.Limits.MaxDepth:
		return crawl.Verdict{Reason: crawl.ReasonDepth}
	case r.Hops > crawl.MaxRedirects:
		return crawl.Verdict{Reason: crawl.ReasonRedirects}
	case own != nil && own.State == crawl.TaskDropped:
		return crawl.Verdict{Reason: crawl.ReasonDropped}
	case j.Identity.Topic != nil && j.Identity.Tunnel >= 0 && int(r.Off) > j.Identity.Tunnel && r.Flags&crawl.FlagSeed == 0:
		return crawl.Verdict{Reason: crawl.ReasonTopic}
	case own != nil && j.At(own.Site).SitePages > 0 && x.f.claimed(j, own) >= j.At(own.Site).SitePages:
		return crawl.Verdict{Reason: crawl.ReasonSiteBudget}
	}
	return crawl.Verdict{}
}

// readmit looks at a refused URL again: by r, another path to it, or by new rules.
func (x *tx) readmit(j *Job, k recKey, old, r *record) error {
	if old.URL == "" {
		return nil
	}
	u, err := crawl.Parse(old.URL)
	if err != nil {
		return nil
	}
	way := better(old, r)
	t := x.f.tasks[old.Task]
	name := taskName{space: k.space, site: u.Site()}
	if t != nil {
		name.subset, name.search = t.Subset, t.Search
	}
	own := x.f.tasks[x.f.byName[name]]
	v, err := x.admit(j, t, own, u, &way)
	if err != nil {
		return err
	}
	if !v.OK() {
		if to := refuser(t, own, v.Reason); to != t && t != nil {
			x.refusedAt(t, old, -1)
			x.refusedAt(to, old, 1)
			old.Task, way.Task, old.dirty = to.ID, to.ID, true
		}
		x.stays(old, way, v.Reason)
		return nil
	}
	if t != nil {
		x.refusedAt(t, old, -1)
	}
	own = x.taskNamed(name)
	way.State, way.Reason, way.Task, way.dirty = crawl.Pending, "", own.ID, true
	if way.Flags&crawl.FlagSeed != 0 {
		own.Seed = true
	}
	own.countSitemap(&way)
	*old = way
	if err := x.score(j, k.Owner, own, old); err != nil {
		return err
	}
	if err := x.enqueue(own, k.key, old); err != nil {
		return err
	}
	own.Discovered++
	return nil
}

// shorten lowers a URL's depth, and with it that of what it leads to. Without a depth limit what pages lead to is not kept: then depth decides
// nothing, and what a page has named before it came nearer stays as deep as it was.
func (x *tx) shorten(j *Job, k recKey, depth uint16) error {
	type step struct {
		key   crawl.Key
		depth uint16
	}
	for work := []step{{k.key, depth}}; len(work) > 0; {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		at := recKey{k.space, s.key}
		r, err := x.record(k.space, s.key)
		if err != nil {
			return err
		}
		if r == nil || r.Depth <= s.depth {
			continue
		}
		if r.State == crawl.Excluded {
			if r.Reason == crawl.ReasonDepth {
				if err := x.readmit(j, at, r, &record{Depth: s.depth, Hops: r.Hops}); err != nil {
					return err
				}
			}
			if r.Reason != crawl.ReasonRobots && r.Reason != crawl.ReasonRobotsDown {
				continue
			}
		}
		r.Depth, r.dirty = s.depth, true
		if r.State == crawl.Pending {
			err = x.move(s.key, r)
		} else {
			err = x.nearer(at)
		}
		if err != nil {
			return err
		}
		follow := func(_, v []byte) error {
			depth := s.depth + 1
			if len(v)%16 == 1 && v[0] == redirectEdge {
				depth, v = s.depth, v[1:]
			}
			for ; len(v) >= 16; v = v[16:] {
				work = append(work, step{crawl.Key(v[:16]), depth})
			}
			return nil
		}
		if err := x.f.each(edgesOf(at), follow); err != nil {
			return err
		}
		for _, v := range x.fresh[at] { // of this very entry: not in the store yet
			if err := follow(nil, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// nearer notes that the ledger has another depth of a URL than the view.
func (x *tx) nearer(k recKey) error { return x.b.Set(nearerKey(k), nil, nil) }

// move puts a queued URL where its new depth belongs. A URL that a lease holds keeps its place until it comes back.
func (x *tx) move(k crawl.Key, r *record) error {
	t := x.f.tasks[r.Task]
	was := r.Place
	r.Place = x.f.jobs[t.Job].moved(r)
	if held, err := x.held(t, k, r); held || err != nil {
		return err
	}
	if err := x.dequeue(t, was); err != nil {
		return err
	}
	return x.queue(t, k, r.Place)
}

// join widens a job's scope by where a seed redirects, and looks again at what was refused for being outside.
func (x *tx) join(j *Job, u crawl.URL) error {
	if !j.rules.Join(u) {
		return nil
	}
	j.Joined = append(j.Joined, u.String())
	x.jobs[j.ID] = j
	return x.review(j, func(reason crawl.Kind) bool { return reason == crawl.ReasonScope })
}

// review looks again at the URLs that were refused for reasons that match, also in this entry.
func (x *tx) review(j *Job, match func(crawl.Kind) bool) error {
	var own []recKey // a walk through what is stored does not see them
	for k, r := range x.recs {
		if k.job == j.ID && r.State == crawl.Excluded {
			own = append(own, k)
		}
	}
	slices.SortFunc(own, recKey.compare)
	again := func(k recKey) error {
		r, err := x.record(k.space, k.key)
		if err != nil || r == nil || r.State != crawl.Excluded || !match(r.Reason) {
			return err
		}
		if err := x.readmit(j, k, r, r); err != nil {
			return err
		}
		return x.spill()
	}
	for _, k := range own {
		if err := again(k); err != nil {
			return err
		}
	}
	return x.f.each(jobURLs(j.ID), func(key, v []byte) error {
		if crawl.State(v[1]) != crawl.Excluded {
			return nil
		}
		k, ok := ofURLKey(key)
		if !ok {
			return errRecord
		}
		return again(k)
	})
}

package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/term"
)

const (
	maxUnsent  = 4 << 20   // bytes of a lease's items that wait to be reported; beyond, its workers wait
	maxCrowd   = 1 << 20   // beyond, the links of a page that has very many wait as the page has them
	maxFound   = 200 << 10 // bytes of links in one item: a page with more gives several
	partBudget = 300 << 10 // bytes of items in one part
	flushAge   = 300 * time.Millisecond
	flushTick  = 100 * time.Millisecond
	lowPace    = 20 * time.Millisecond // between messages that are sent for leases which have URLs, but few
)

// item is something to report, in the order in which it must be stored: a page's links, then its outcome.
type item struct {
	found   *crawl.Found
	outcome *crawl.Outcome
	keys    []crawl.Key // links that the filter may believe once this item is stored
	depth   uint16
	size    int
}

// report is what a lease has to say; the lease's mutex guards it.
type report struct {
	items     []item
	size      int
	links     int // new ones, in items
	change    crawl.SiteChange
	measures  []crawl.Measure
	bytes     int64
	lastStart time.Time
	since     time.Time // of the oldest unsent item
	no        uint32
	want      int // URLs the lease likes to hold
	last      int // URLs in the last of them, or in the grant
	sent      map[crawl.Key]uint16

	urgent bool // workers wait for what it brings
	low    bool // they will soon: it leaves with the next message, or lowPace after the last one
}

func (r *report) begin() {
	r.sent = map[crawl.Key]uint16{}
	r.want = 8
}

// addFound queues a page's links, in pieces that fit.
func (r *report) addFound(f crawl.Found, keys []crawl.Key, depth uint16) {
	piece := item{
		found: &crawl.Found{Parent: f.Parent, Known: f.Known, Omitted: f.Omitted, Score: f.Score}, depth: depth,
		size: 60 + 17*len(f.Known) + 20*len(f.Omitted),
	}
	from := 0 // links before it are in pieces; each is copied, in as much memory as it takes: a page's may wait for long
	for i := range f.Links {
		if piece.size > maxFound {
			piece.found.Links = slices.Clone(f.Links[from:i])
			r.add(piece)
			piece, from = item{found: &crawl.Found{Parent: f.Parent, Score: f.Score}, size: 60}, i
		}
		piece.size += linkSize(&f.Links[i])
	}
	piece.found.Links = slices.Clone(f.Links[from:])
	piece.keys = keys
	if len(piece.found.Links)+len(piece.found.Known)+len(piece.found.Omitted)+len(keys) > 0 {
		r.add(piece)
	}
}

// linkSize is how many bytes a link takes in a part, about.
func linkSize(l *crawl.Link) int { return len(l.URL) + len(l.Anchor) + len(l.Around) + 16 }

// maxDetail bounds what is kept of an error's text, in bytes.
const maxDetail = 1000

// detail makes of an error's text, which may hold what a server sent, text that can be reported.
func detail(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxDetail)], "\uFFFD") }

func (r *report) addOutcome(o *crawl.Outcome) {
	o.Detail = detail(o.Detail)
	r.add(item{outcome: o, size: 260 + len(o.URL) + len(o.Title) + len(o.Redirect) + len(o.Detail) + len(o.ETag)})
}

func (r *report) add(i item) {
	if len(r.items) == 0 {
		r.since = time.Now()
	}
	r.items = append(r.items, i)
	r.size += i.size
	r.links += i.links()
}

// links is how many links an item tells the coordinator of: there may be something to do behind them.
func (i *item) links() int {
	if i.found == nil {
		return 0
	}
	return len(i.found.Links)
}

// due reports whether a lease has something to say now.
func (l *lease) due(now time.Time) bool {
	r := &l.rep
	switch {
	case l.hold.End >= term.Sealed:
		return false
	case l.hold.End == term.Ending || r.urgent || r.size > partBudget || r.low && now.Sub(l.a.flushed) >= lowPace:
		return true
	case len(r.items) > 0:
		return now.Sub(r.since) >= l.flushAfter()
	}
	return l.hold.Quiet(now, l.starved())
}

// flushAfter is how long what a lease has to say may wait.
func (l *lease) flushAfter() time.Duration { return l.hold.Flush(l.a.cfg.Flush) }

// joins reports whether a lease says now what it would have to say soon, because a message is about to leave anyway.
func (l *lease) joins(now time.Time) bool {
	r := &l.rep
	return l.hold.End < term.Sealed && len(r.items) > 0 && (r.low || now.Sub(r.since) >= l.flushAfter()/2)
}

// starved tells whether the lease has nothing left to do. mu is held.
func (l *lease) starved() bool { return len(l.queue) == 0 && l.busy == 0 && !l.again }

// cut makes the lease's next part. It returns the part and the items in it: at most partBudget bytes of them and of the rules
// of a robots.txt. An item that is larger has a part of its own, and so have rules.
func (l *lease) cut(now time.Time) (crawl.Part, []item) {
	r := &l.rep
	n, size, rules := 0, 0, robotsSize(&r.change)
	for n < len(r.items) && (n == 0 && rules == 0 || size+r.items[n].size+rules <= partBudget) {
		size += r.items[n].size
		n++
	}
	items := r.items[:n:n]
	r.items = r.items[n:]
	r.size -= size
	for i := range items {
		r.links -= items[i].links()
	}
	r.since = now
	r.no++
	p := crawl.Part{
		Lease: l.l.ID, Attempt: l.l.Attempt, Epoch: l.l.Epoch, Secret: l.l.Secret, No: r.no, Bytes: r.bytes,
		Waiting: l.waits(now),
	}
	l.cutLoad(&p, now)
	for i := range items {
		if f := items[i].found; f != nil {
			p.Found = append(p.Found, *f)
		} else {
			o := items[i].outcome
			if p.Outcomes = append(p.Outcomes, *o); o.State.Final() {
				l.jar.release(o.Key)
			}
		}
	}
	p.Waiting = p.Waiting || len(p.Found) > 0 // the outcome comes behind the page's links, which may be many
	r.bytes = 0
	l.cutSite(&p, now)
	starved := l.starved()
	if l.hold.Repeat(now, starved) {
		p.Starved = len(r.items) == 0
	}
	p.Got = l.hold.Got()
	switch {
	case len(r.items) > 0: // more parts follow at once
	case l.hold.End == term.Ending:
		p.Final, p.Reason, p.Measures = true, l.ended, r.measures
		l.hold.End = term.Sealed
	case l.ended == "" && l.hold.Ask != term.Starves && len(l.queue) <= r.want/2:
		p.Want = r.want - len(l.queue)
		if l.l.Quota > 0 {
			p.Want = min(p.Want, l.l.Quota-l.given)
		}
		if starved && p.Want <= 0 {
			l.endLocked(crawl.EndQuota)
		}
		l.hold.Wish(starved)
	}
	r.urgent, r.low = len(r.items) > 0, false
	return p, items
}

// cutLoad puts into a part how long the lease has worked since the last one, and what that took of the node.
func (l *lease) cutLoad(p *crawl.Part, now time.Time) {
	worked, o := l.effort.take(now), &l.a.load
	o.work += worked
	o.bits += 8 * l.rep.bytes
	p.WorkedUS, p.Limited = worked.Microseconds(), o.limited
	if worked > 0 {
		p.CPU, p.Memory = o.cores, o.memory
	}
	for i := range l.rep.measures {
		l.rep.measures[i].Limited = o.limited
	}
}

// cutSite puts into a part what has changed about the site.
func (l *lease) cutSite(p *crawl.Part, now time.Time) {
	c := l.rep.change
	c.SinceStartMS = -1
	if !l.rep.lastStart.IsZero() {
		c.SinceStartMS = max(0, now.Sub(l.rep.lastStart).Milliseconds())
	}
	c.LatencyUS, c.Fails, c.Heard = l.latency.Microseconds(), l.fails, l.told
	if l.jar.changed {
		c.Cookies, c.CookiesSet = l.jar.told(), true
		l.jar.changed = false
	}
	if l.hold.End == term.Ending {
		l.tells()
	}
	if l.gates.changed {
		known := l.gates.Gates
		c.Gates, l.gates.changed = &known, false
	}
	p.Site = &c
	l.rep.change = crawl.SiteChange{}
}

// adapt sets how many URLs the lease likes to hold: five seconds' worth, or a few on a slow site.
func (l *lease) adapt(outcomes int, span time.Duration) {
	if l.delay() > 0 {
		l.rep.want = int(min(64, max(4, 10*time.Second/l.delay())))
		return
	}
	rate := float64(outcomes) / max(span.Seconds(), 0.05)
	l.rep.want = int(min(4096, max(float64(l.job.Limits.SiteConnections*8), 5*rate)))
}

// cutting is a part that has been cut, until it is stored.
type cutting struct {
	l     *lease
	items []item
	at    time.Time
	final bool
	moves bool // it shows progress
}

// report stores parts until ctx ends. While one message is on its way to the log the next one gathers, so that many
// leases share a message and a sync of the archive.
func (a *Agent) report(ctx context.Context) error {
	tick, low := time.NewTicker(flushTick), time.NewTimer(flushTick)
	defer tick.Stop()
	defer low.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-a.wake:
		case <-low.C:
		case <-tick.C:
		}
		for {
			more, err := a.flush(ctx)
			if err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return err
			}
			if !more {
				break
			}
		}
		if a.soon {
			low.Reset(lowPace - time.Since(a.flushed))
		}
	}
}

// flush stores one message with the parts of the leases that have something to say; more says whether others wait.
func (a *Agent) flush(ctx context.Context) (more bool, err error) {
	e := crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntryParts, Node: a.cfg.Info.Node, Incarnation: a.cfg.Info.Incarnation}
	var cuts []cutting
	size := 0
	now := time.Now()
	leases := a.running()
	a.load.sample(now, a.cfg.Usage, a.cfg.Info.Offer, len(leases))
	for _, l := range leases {
		if l.givesUp(now) {
			a.cfg.Logger.Info("no progress: given up before it is recalled", "lease", l.l.ID, "site", l.l.Site)
			l.abandon()
		}
	}
	due := false
	a.soon = false
	for _, l := range leases {
		l.mu.Lock()
		due, a.soon = due || l.due(now), a.soon || l.rep.low && l.hold.End < term.Sealed
		l.mu.Unlock()
	}
	if !due {
		return false, nil
	}
	for _, l := range leases {
		l.mu.Lock()
		if l.due(now) || l.joins(now) {
			if size > 0 && size+min(l.rep.size, partBudget)+robotsSize(&l.rep.change) > a.cfg.MaxPart-(64<<10) {
				l.mu.Unlock()
				more = true
				continue
			}
			p, items := l.cut(now)
			for i := range items {
				size += items[i].size
			}
			size += 200 + robotsSize(p.Site)
			e.Parts = append(e.Parts, p)
			cuts = append(cuts, cutting{l, items, now, p.Final, p.Progress(l.l.Resolve)})
			more = more || l.rep.urgent
		}
		l.mu.Unlock()
	}
	if len(cuts) == 0 {
		return false, nil
	}
	a.flushed, a.soon = now, false
	if err := a.warc.Sync(); err != nil {
		return false, err
	}
	b, err := crawl.Marshal(&e)
	if err != nil {
		return false, fmt.Errorf("encode parts: %w", err)
	}
	if err := a.out.Report(ctx, a.cfg.Info.Node, b); err != nil {
		a.filters.drop()
		return false, err
	}
	for _, c := range cuts {
		a.stored(c)
	}
	return more, nil
}

func robotsSize(c *crawl.SiteChange) int {
	if c == nil || c.Robots == nil {
		return 0
	}
	return len(c.Robots.Rules)
}

// stored believes what a stored part said.
func (a *Agent) stored(c cutting) {
	l := c.l
	l.mu.Lock()
	late := l.hold.Late(time.Now()) // it may have come too late to be believed
	l.mu.Unlock()
	outcomes := 0
	for i := range c.items {
		if !late {
			l.known.promote(c.items[i].keys, c.items[i].depth)
		}
		if c.items[i].outcome != nil {
			outcomes++
		}
	}
	l.mu.Lock()
	for i := range c.items {
		for _, k := range c.items[i].keys {
			delete(l.rep.sent, k)
		}
	}
	if len(l.rep.sent) == 0 {
		l.rep.sent = map[crawl.Key]uint16{} // one that had much keeps its room
	}
	l.adapt(outcomes, c.at.Sub(l.hold.Stored()))
	if late {
		l.hold.StoreLate(c.at)
		l.endLocked(crawl.EndStale)
	} else {
		l.hold.Store(c.at, c.moves)
	}
	l.more.Broadcast()
	l.mu.Unlock()
	if c.final {
		a.remove(l)
	}
}

// running returns the leases, in no particular order.
func (a *Agent) running() []*lease {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := make([]*lease, 0, len(a.leases))
	for _, l := range a.leases {
		out = append(out, l)
	}
	return out
}

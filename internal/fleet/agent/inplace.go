package agent

import (
	"encoding/binary"
	"net/http"
	"slices"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
	"argosy/internal/page/polite"
)

// A wall may stand in the place of a page: a question for consent, say, of status 200 and at the page's address, that is gone once its reader comes back.
// Nothing in it says so. It is found out by asking again, which a site without such walls has to bear twice at most; from then on it is known by its text.

const (
	maxTrials = 2  // requests for nothing in a site's life by which such walls are looked for,
	manyTwins = 5  // and another one if so many URLs of a lease have shown the same
	maxKnown  = 4  // walls of a site that are known by their text
	sameOften = 2  // a page is asked again with the same cookies before a known wall
	maxShut   = 2  // leases that a site's known walls let none through, after which they are not tried any more
	fewLinks  = 8  // of a page that a second trial is made for
	maxSights = 64 // URLs of a lease that are remembered by the same bytes,
	maxTexts  = 32 // and by their texts
	maxBare   = 16 // URLs that the next lease is told of, as pages that
	bareLinks = 2  // name so many others at most
)

// veils are what a lease knows of such walls.
type veils struct {
	trying  int                    // pages that wait to be asked again because one may stand in their place, or are
	sights  map[uint64][]crawl.Key // URLs by sums of the bytes that they were answered with
	texts   []sight                // the last ones that came with a cookie
	stood   map[uint64]bool        // sums of the bytes of what was found to be a wall
	walled  []crawl.Key            // URLs that were answered by one before that was known: the next outcome tells of them
	instead uint64                 // the text that was shown behind the last one that was found out,
	forWhat uint64                 // and its own
	bare    []crawl.Bare           // the last pages that name hardly anything
}

// shown is what an answer shows.
type shown struct {
	crawl.Text
	links []crawl.Key // of its site that it names, without their queries
	named []crawl.URL // all that it names
}

// instead is what is known of a page that may have a wall in its place.
type instead struct {
	sum   uint64 // of its bytes; 0: it was not looked at
	shown *shown // by its last answer; nil: that is no page, or was not read
	known bool   // that answer is a wall that the site is known for
	twin  bool   // another URL has had the same bytes,
	alike bool   // or the same text
	shut  bool   // no asking again has helped
	tried bool   // it waits to be asked again, or is
	first *shown // what was taken for a wall a moment ago: if it comes back, what came between is the wall
}

// stands reports whether something may stand in the place of a page, which asking again once would show: a wall that is known; or a first answer that has
// brought a cookie, or shows what another URL has shown. Others of the lease wait for what comes of it.
func (l *lease) stands(p *page, sent, now string) bool {
	p.at = instead{}
	if l.l.Asked != nil || l.job.Identity.Collect != nil || p.wall == sendsBack || p.wall == silent {
		return false
	}
	if p.resp.Status == http.StatusServiceUnavailable {
		return l.stalled(p, sent, now)
	}
	if !paged(p) {
		return false
	}
	l.mu.Lock()
	known, lacks := len(l.gates.Texts) > 0, l.trying > 0 && names(now) != names(sent)
	p.at.twin = l.sees(p)
	open := l.gates.open(true) && l.vain[inPlace] < maxSelf
	may := (p.cookie || p.at.twin) && open
	l.mu.Unlock()
	if known || may || lacks || open && now != sent && l.a.marks.may(crawl.MarkMay, p.resp.Size) {
		if l.wallOf(p) == sendsBack {
			return false
		}
		p.at.shown = l.look(p)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.at.shown == nil {
		return false
	}
	if now != sent {
		p.at.alike = l.reads(p)
	}
	p.at.known = l.gates.knows(p.at.shown)
	if !p.at.known && !lacks && !l.mayTry(p) {
		return false
	}
	if p.at.known && !l.mayPass() {
		p.at.shut = true
		return false
	}
	p.wall, p.named, p.at.tried = inPlace, p.at.shown.named, true
	l.trying++
	return true
}

// mayTry reports whether a page is worth a trial. mu is held.
func (l *lease) mayTry(p *page) bool {
	if l.vain[inPlace] >= maxSelf || !l.gates.open(len(l.sights[p.at.sum]) >= manyTwins) {
		return false
	}
	return p.at.twin || p.at.alike || p.cookie && (l.gates.Vain == 0 || len(p.at.shown.named) <= fewLinks || l.robotsSum == p.at.sum)
}

// mayPass reports whether the known walls of the site are worth to be asked again. mu is held.
func (l *lease) mayPass() bool { return l.vain[inPlace] < maxSelf && l.gates.Shut < maxShut }

// stalled is stands of an answer that says that the site cannot answer now, and has brought a cookie: it may be for others.
func (l *lease) stalled(p *page, sent, now string) bool {
	wait := retryAfter(p.resp)
	l.mu.Lock()
	defer l.mu.Unlock()
	if now == sent || wait > polite.MaxWait || !l.mayStall() {
		return false
	}
	if n := time.Now().Add(wait); n.After(l.next) {
		l.next = n
	}
	p.wall, p.at.tried = stalls, true
	l.trying++
	return true
}

// mayStall reports whether such answers are worth to be asked again. mu is held.
func (l *lease) mayStall() bool {
	return l.vain[stalls] < maxSelf && (l.gates.seen(stalls) || l.gates.Vain < maxTrials)
}

// paged reports whether an answer is a page that may be looked at.
func paged(p *page) bool {
	mime := p.resp.Media()
	return p.resp.Status == http.StatusOK && p.resp.Size > 0 && p.resp.Size <= maxMarked && (parse.TypeOf(mime) == parse.HTML || parse.IsXHTML(mime))
}

// stillStands reports, once nobody else of the lease asks, whether the page is to be asked for again: another one may have found out meanwhile.
func (l *lease) stillStands(p *page) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case p.wall == stalls:
		return l.mayStall()
	case p.wall != inPlace:
		return true
	}
	if p.at.known = l.gates.knows(p.at.shown); p.at.known {
		p.at.shut = !l.mayPass()
		return !p.at.shut
	}
	return l.mayTry(p)
}

// tried notes that it is known what has come of asking for a page again.
func (l *lease) tried(p *page) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.at.tried {
		l.trying--
		p.at.tried = false
	}
}

// rulesFirst reports whether the rules of the site have to be asked for before a page that may have a wall in its place is asked for again.
func (l *lease) rulesFirst(p *page) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.again && (p.wall == inPlace || p.wall == stalls)
}

// kept takes in that a page's answer stays, since nothing better came of asking for it again. Where that led is followed.
func (l *lease) kept(p *page, err error) {
	if p.wall != inPlace {
		return
	}
	if p.resp != nil && err == nil {
		if to, leads := redirectOf(p); leads {
			p.also = append(p.also, to)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.at.shut = p.at.known; !p.at.known && err == nil {
		l.gates.triedInVain()
	}
}

// worseInPlace is worse where something may have stood in the place of the page: for all that is known the first answer was no wall, if there is another one
// now. Two URLs with the same bytes may lead elsewhere.
func (l *lease) worseInPlace(p *page) bool {
	switch {
	case p.resp == nil:
		return true
	case p.at.known:
		return false
	case p.resp.Status != http.StatusOK:
		to, leads := redirectOf(p)
		return !leads || !p.at.twin || to.String() == p.url.String()
	}
	named := p.named // by the answer before
	w := l.wallOf(p)
	if p.named = named; w == sendsBack || w == silent {
		return true
	}
	if !paged(p) {
		return false
	}
	now := l.look(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	if now != nil && p.at.first != nil && now.like(&p.at.first.Text) {
		l.gates.forgets(p.at.first.Sum)
		return false
	}
	return now != nil && (l.gates.knows(now) || now.lessThan(p.at.shown))
}

// lessThan reports whether a page says less than another one, and names so much less of its site, that it is more likely the wall: some show a page or two,
// and then ask for money.
func (s *shown) lessThan(was *shown) bool {
	return was != nil && len(was.links) > fewLinks && 2*len(s.links) < len(was.links) && len(s.Sample) < len(was.Sample)
}

// cameAgain takes in what a page answers that was asked for again because something may stand in its place, and reports whether it is to be asked for once more,
// after n times.
func (l *lease) cameAgain(p *page, before, sent, now string, n int) bool {
	if p.wall == stalls {
		return l.stalledAgain(p) && l.mayLead(p, before, sent, now, n)
	}
	was := p.at.shown
	if p.at.shown = nil; paged(p) {
		p.at.shown = l.look(p)
	}
	l.mu.Lock()
	still := p.at.known && p.at.shown != nil && l.gates.knows(p.at.shown)
	found := !p.at.known && (p.at.shown == nil || was.other(p.at.shown))
	if still || !p.at.known && !found {
		defer l.mu.Unlock()
		if !still { // at the only page that is known once more: all of the site may be behind it
			l.gates.triedInVain()
			return n == 1 && p.target.Depth == 0 && len(was.named) == 0 && l.gates.open(false)
		}
		p.at.shut, p.named = true, p.at.shown.named
		if l.vain[inPlace]++; l.vain[inPlace] == maxSelf {
			l.gates.Shut, l.gates.changed = min(l.gates.Shut+1, maxShut), true
		}
		return (now != sent || n <= sameOften) && n < maxSelf && l.mayPass()
	}
	if found {
		l.gates.stood(was)
		l.stoodFor(p, was)
	}
	if p.at.shut = false; l.gates.Shut > 0 {
		l.gates.Shut, l.gates.changed = 0, true
	}
	if p.at.sum = 0; p.at.shown != nil { // which may be found to be a wall itself
		l.sees(p)
	}
	l.mu.Unlock()
	l.passed(inPlace)
	if p.at.shown == nil || l.wallOf(p) != noWall {
		return l.mayLead(p, before, sent, now, n)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.fresh && n < maxSelf && len(p.at.shown.named) <= fewLinks && l.gates.open(false) { // there may be another one behind it
		p.at.known, p.at.twin, p.at.alike, p.at.first, p.named = false, false, false, was, p.at.shown.named
		return true
	}
	if found {
		l.instead, l.forWhat = p.at.shown.Sum, was.Sum
	}
	return false
}

// stalledAgain takes in what a page answers that was asked for again because the site could not answer, and reports whether it can.
func (l *lease) stalledAgain(p *page) bool {
	if !busy(p.resp) {
		l.passed(stalls)
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.vain[stalls]++
	if !l.gates.seen(stalls) {
		l.gates.triedInVain()
	}
	return false
}

// stoodFor has URLs asked for again whose answers were what is known for a wall now. mu is held.
func (l *lease) stoodFor(p *page, was *shown) {
	own := p.url.Key()
	if l.instead == was.Sum { // it came when a page was asked for again, as it does in the middle of a session: that was no wall
		l.gates.forgets(l.forWhat)
	}
	if l.stood == nil || len(l.stood) >= maxLed {
		l.stood = map[uint64]bool{}
	}
	l.stood[p.at.sum] = true
	before := l.sights[p.at.sum]
	delete(l.sights, p.at.sum)
	for i := range l.texts {
		if was.like(&l.texts[i].Text) {
			before = append(before, l.texts[i].key)
		}
	}
	for _, k := range before {
		if k != own && !slices.Contains(l.walled, k) && len(l.walled) < crawl.MaxAgain {
			l.walled = append(l.walled, k)
		}
	}
}

// stoodBefore reports whether a page whose answer was read and archived meanwhile has a wall in its place that has become known. mu is held.
func (l *lease) stoodBefore(p *page) bool {
	return p.outcome.State == crawl.Fetched && p.wall != inPlace && p.at.sum != 0 && (l.stood[p.at.sum] || p.at.shown != nil && l.gates.knows(p.at.shown))
}

// sees remembers the bytes of a page, where the site has given cookies. It reports whether another URL has had the same. mu is held.
func (l *lease) sees(p *page) (twin bool) {
	own, sum := p.url.Key(), bytesSum(p)
	if p.at.sum = sum; len(l.jar.cookies) == 0 {
		return false
	}
	of := l.sights[sum]
	twin = slices.ContainsFunc(of, func(k crawl.Key) bool { return k != own })
	if slices.Contains(of, own) || len(of) >= maxSights {
		return twin
	}
	if l.sights == nil || len(l.sights) >= maxLed {
		l.sights = map[uint64][]crawl.Key{}
	}
	l.sights[sum] = append(of, own)
	return twin
}

// isBare remembers a page that names hardly anything, as walls do, for the next lease. mu is held.
func (l *lease) isBare(p *page) {
	if o := p.outcome; p.at.sum == 0 || o.State != crawl.Fetched || o.Links > bareLinks || len(l.jar.cookies) == 0 || l.stood[p.at.sum] {
		return
	}
	if len(l.bare) >= maxBare {
		l.bare = slices.Delete(l.bare, 0, 1)
	}
	l.bare = append(l.bare, crawl.Bare{Key: p.url.Key(), Sum: p.at.sum})
}

// recalls takes in what an earlier lease has told of.
func (l *lease) recalls(of []crawl.Bare) {
	l.bare = slices.Clone(of)
	l.sights = map[uint64][]crawl.Key{}
	for _, b := range of {
		l.sights[b.Sum] = append(l.sights[b.Sum], b.Key)
	}
}

// tells has the next lease told of pages that name hardly anything. mu is held.
func (l *lease) tells() {
	if l.gates.open(true) && !slices.Equal(l.bare, l.gates.Bare) {
		l.gates.Bare, l.gates.changed = slices.Clone(l.bare), true
	}
}

// sight is a URL, and what it has shown.
type sight struct {
	crawl.Text
	key crawl.Key
}

// reads remembers what a page shows that came with a cookie, and reports whether another such URL has shown the same lately. mu is held.
func (l *lease) reads(p *page) (twin bool) {
	own := p.url.Key()
	for i := range l.texts {
		twin = twin || l.texts[i].key != own && p.at.shown.like(&l.texts[i].Text)
	}
	if len(l.texts) >= maxTexts {
		l.texts = slices.Delete(l.texts, 0, 1)
	}
	l.texts = append(l.texts, sight{p.at.shown.Text, own})
	return twin
}

// bytesSum is a sum of an answer's bytes.
func bytesSum(p *page) uint64 {
	sum := p.resp.Sum()
	return binary.BigEndian.Uint64(sum[:])
}

// open reports whether walls in the place of pages may be looked for: once more where many URLs have shown the same. mu is held.
func (g *gates) open(many bool) bool {
	return (g.Vain < maxTrials || many && g.Vain == maxTrials) && len(g.Texts) < maxKnown
}

// triedInVain notes that walls in the place of pages were looked for where there was none. mu is held.
func (g *gates) triedInVain() { g.Vain, g.changed = min(g.Vain+1, maxTrials+1), true }

// stood takes in what a wall shows. mu is held.
func (g *gates) stood(s *shown) {
	if len(g.Texts) >= maxKnown || g.knows(s) {
		return
	}
	g.Texts, g.changed = append(slices.Clip(g.Texts), s.Text), true
}

// forgets takes back that a text is a wall's. mu is held.
func (g *gates) forgets(sum uint64) {
	g.Texts, g.changed = slices.DeleteFunc(slices.Clone(g.Texts), func(t crawl.Text) bool { return t.Sum == sum }), true
}

// knows reports whether an answer shows a wall that the site is known for. mu is held.
func (g *gates) knows(s *shown) bool {
	return slices.ContainsFunc(g.Texts, func(t crawl.Text) bool { return s.like(&t) })
}

// look reads what a page shows; nil if it cannot be read.
func (l *lease) look(p *page) (s *shown) {
	body, err := p.resp.Decoded(maxOpened)
	if err != nil {
		return nil
	}
	fault := l.readSafely(p.url, func(doc *parse.Page) {
		text, charset := parse.ReadEncoded(parse.HTML, body, p.resp.Type(), parse.Options{}, doc)
		mark := parse.MarkPage(text[:min(len(text), maxMarked)], p.url.String(), doc, false)
		s = &shown{Text: crawl.Text{Sum: mark.Text, Sample: mark.Sample}}
		base := baseOf(p.url, doc, charset)
		doc.Each(func(links []parse.Link) bool {
			for i := range links {
				to, err := base.Resolve(parse.DecodeRef(links[i].Ref, charset))
				if err != nil || to.String() == p.url.String() || links[i].Kind == parse.Resource {
					continue
				}
				if s.named = append(s.named, to); to.Site() == p.url.Site() {
					if k := pathKey(to); !slices.Contains(s.links, k) && len(s.links) < crawl.MaxAgain {
						s.links = append(s.links, k)
					}
				}
			}
			return true
		})
		if doc.NoFollow && l.obeysNofollow() {
			s.named = nil
		}
	})
	if fault != "" {
		return nil
	}
	return s
}

// pathKey is the key of a URL without its query and sessions.
func pathKey(u crawl.URL) crawl.Key {
	if bare, err := crawl.Parse(u.StripSession().Origin() + u.StripSession().Path()); err == nil {
		return bare.Key()
	}
	return u.Key()
}

// other reports whether an answer shows something quite else than an earlier one: most of its phrases are others, or most of what it names on its site.
// Digits do not count, nor do words of addresses.
func (s *shown) other(now *shown) bool {
	if s.Sum == now.Sum {
		return false
	}
	if len(now.Sample) == 0 && len(s.Sample) > 0 {
		return true
	}
	fresh, of := news(s.Sample, now.Sample)
	if 2*fresh > of {
		return true
	}
	others := 0
	for _, k := range now.links {
		if !slices.Contains(s.links, k) {
			others++
		}
	}
	return others > 1 && 2*others > len(now.links)
}

// news returns how many marks of a sample are not in another one, of those that both samples can have.
func news(before, now crawl.Marks) (fresh, of int) {
	for _, mark := range now {
		if len(before) == parse.MaxPhrases && mark > before[len(before)-1] {
			break
		}
		if of++; !slices.Contains(before, mark) {
			fresh++
		}
	}
	return fresh, of
}

// like reports whether an answer shows what another did, but for a word here and there.
func (s *shown) like(t *crawl.Text) bool {
	if s.Sum == t.Sum {
		return true
	}
	one, of := news(t.Sample, s.Sample)
	two, all := news(s.Sample, t.Sample)
	return of > 0 && all > 0 && 4*one <= of && 4*two <= all
}

package agent

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
)

// partBase is what a part of a page is relative to, and the seed of its references.
type partBase struct {
	url  crawl.URL
	seed uint64
}

// finder turns the references of one page into links that are new.
type finder struct {
	l       *lease
	base    crawl.URL
	charset string
	bases   []partBase
	self    bool // the base is the page's own URL
	depth   uint16
	limited bool // the job has a depth limit: known links are reported too, by key
	all     bool // the page is on the topic: what it names is told of again, because how many such pages name a URL says much of it
	refused bool // the page asks not to follow its links: they are reported as such
	fresh   map[crawl.Key]bool

	seedOrigin, seedDir, seedPath uint64

	found crawl.Found
	keys  []crawl.Key
	size  int   // of found and keys, in bytes, about
	new   []int // of the links that are looked at: what is to be resolved
}

const (
	maxLooked = 1024         // links of a page that are looked at together
	maxHeld   = 2 * maxFound // bytes of links and keys that are held of a page: what is beyond is sent before the rest is looked at
)

func newFinder(l *lease, t *crawl.Target, base crawl.URL, charset string) *finder {
	seed := func(s string) uint64 { return refSeed(s, charset) }
	return &finder{
		l: l, base: base, charset: charset, self: base.String() == t.URL, depth: t.Depth + 1, limited: l.job.Limits.MaxDepth >= 0,
		found: crawl.Found{Parent: t.Key}, fresh: map[crawl.Key]bool{},
		seedOrigin: seed(base.Origin()), seedDir: seed(base.Dir()), seedPath: seed(base.String()),
	}
}

// refSeed returns the seed of references relative to base on a page in an encoding.
func refSeed(base, charset string) uint64 {
	if charset != "utf-8" {
		base += " " + charset // the same bytes are another reference there
	}
	return xxh3.HashString(base)
}

// rawKey is the key of a reference as it stands: with what it is relative to as the seed. ok is false for a reference
// to the page itself.
func (f *finder) rawKey(link *parse.Link) (k crawl.Key, ok bool) {
	ref := link.Ref
	if link.Base > 0 {
		return xxh3.Hash128Seed(ref, f.bases[link.Base-1].seed).Bytes(), true
	}
	if i := bytes.IndexByte(ref, '#'); i >= 0 {
		ref = ref[:i]
	}
	seed := f.seedDir
	switch {
	case len(ref) == 0:
		if f.self {
			return k, false
		}
		seed = f.seedPath
	case ref[0] == '/':
		seed = f.seedOrigin
	case ref[0] == '?':
		seed = f.seedPath
	}
	return xxh3.Hash128Seed(ref, seed).Bytes(), true
}

// redirect takes in where a redirect leads; "": nowhere.
func (f *finder) redirect(to string) {
	if to != "" {
		f.found.Links = append(f.found.Links, crawl.Link{URL: to, Redirect: true})
	}
}

// leads takes in where a page redirects to. A redirect that leads nowhere may have an address that is too long to be one, which is counted.
func (f *finder) leads(p *page, to string) {
	if f.redirect(to); to == "" && p.resp.Redirects() && f.l.l.Asked == nil {
		f.resolve(p.url, location(p.resp))
	}
}

// add takes in the links of a page. However many it has, few are in memory at once: the others wait as the page has them, until those before
// them are reported.
func (f *finder) add(page *parse.Page) {
	f.resolveBases(page)
	page.Each(func(links []parse.Link) bool {
		for some := range slices.Chunk(links, maxLooked) {
			if f.size > maxHeld {
				f.send()
			}
			f.some(page, some)
		}
		return true
	})
}

// some takes in some links of a page: first it drops, under one lock, those whose raw form is known.
func (f *finder) some(page *parse.Page, links []parse.Link) {
	raw := make([]crawl.Key, len(links)) // the zero key is of the page itself
	for i := range links {
		if k, ok := f.rawKey(&links[i]); ok {
			raw[i] = f.sentKey(f.kindKey(k, links[i].Kind))
		}
	}
	f.dropKnown(raw)
	f.dropPending(raw)
	for _, i := range f.new {
		if f.fresh[raw[i]] {
			continue
		}
		f.fresh[raw[i]] = true
		f.addKey(raw[i])
		base := f.base
		if b := links[i].Base; b > 0 {
			base = f.bases[b-1].url
		}
		if u, ok := f.resolve(base, parse.DecodeRef(links[i].Ref, f.charset)); ok {
			f.one(u, links[i], page)
		}
	}
}

// addKey takes in a key that the filter may believe once the links so far are stored.
func (f *finder) addKey(k crawl.Key) {
	f.keys = append(f.keys, k)
	f.size += len(k)
}

// send queues the links so far for the next part, once there is room. What is omitted waits for the last links: it is counted for the page as
// a whole.
func (f *finder) send() {
	omitted := f.found.Omitted
	f.found.Omitted = nil
	f.l.linksInTurn(f)
	f.found.Links, f.found.Known, f.found.Omitted = f.found.Links[:0], nil, omitted // the links were copied
	f.keys, f.size = nil, 0
	if !f.limited && !f.all { // then the lease does not know them by what it has sent
		clear(f.fresh)
	}
}

// resolveBases resolves what the parts of a page are relative to; a base that is not a URL is the one outside of it.
func (f *finder) resolveBases(page *parse.Page) {
	f.bases = f.bases[:0]
	for _, b := range page.Bases {
		outer := f.base
		if b.Outer > 0 {
			outer = f.bases[b.Outer-1].url
		}
		if u, err := outer.Resolve(parse.DecodeRef(b.Ref, f.charset)); err == nil {
			outer = u
		}
		f.bases = append(f.bases, partBase{outer, refSeed(outer.String(), f.charset)})
	}
}

// resolve returns the URL of a reference. One that is too long to be a URL is counted.
func (f *finder) resolve(base crawl.URL, ref string) (crawl.URL, bool) {
	u, err := base.Resolve(ref)
	if errors.Is(err, crawl.ErrLength) && !foreignScheme(ref) {
		f.omit(crawl.ReasonTrapLength, 1)
	}
	return u, err == nil
}

// foreignScheme reports whether a reference begins with a scheme that is not http or https, such as data.
func foreignScheme(ref string) bool {
	ref = strings.TrimLeftFunc(ref, func(r rune) bool { return r <= ' ' })
	for i := range min(len(ref), 64) {
		switch c := ref[i]; {
		case c|0x20 >= 'a' && c|0x20 <= 'z', i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		case c == ':' && i > 0:
			scheme := strings.ToLower(ref[:i])
			return scheme != "http" && scheme != "https"
		default:
			return false
		}
	}
	return false
}

// dropKnown leaves in f.new those links that the node does not know to be sent, by their raw forms.
func (f *finder) dropKnown(raw []crawl.Key) {
	f.new = f.new[:0]
	fl := f.l.known
	fl.mu.RLock()
	defer fl.mu.RUnlock()
	fl.touch(raw)
	for i, k := range raw {
		if k == (crawl.Key{}) {
			continue
		}
		if d, seen := fl.depth(k); seen && d <= f.depth && !f.limited && !f.all {
			continue
		}
		f.new = append(f.new, i)
	}
}

// dropPending drops from new what this very lease has sent in a part that is not stored yet: parts of a lease are
// stored in order, so that one is stored before this page's.
func (f *finder) dropPending(raw []crawl.Key) {
	if f.limited || f.all {
		return
	}
	l := f.l
	l.mu.Lock()
	defer l.mu.Unlock()
	out := f.new[:0]
	for _, i := range f.new {
		if d, sent := l.rep.sent[raw[i]]; !sent || d > f.depth {
			out = append(out, i)
		}
	}
	f.new = out
}

// one takes in a resolved link.
func (f *finder) one(u crawl.URL, link parse.Link, page *parse.Page) {
	if f.l.job.Identity.StripSession {
		u = u.StripSession()
	}
	k, resource := u.Key(), link.Kind == parse.Resource
	as := f.kindKey(k, link.Kind)
	if f.fresh[as] {
		return
	}
	f.fresh[as] = true
	if (!f.all || resource || f.refused) && f.known(as, resource) {
		if f.limited && !f.refused && !resource {
			f.found.Known = append(f.found.Known, k)
			f.size += len(k)
		}
		return
	}
	if f.refused {
		if as = f.sentKey(as); f.known(as, resource) {
			return
		}
	}
	f.addKey(as)
	anchor, around := "", ""
	if page != nil {
		if anchor = page.AnchorText(link, f.charset); f.l.judge != nil {
			around = page.AroundText(link, f.charset)
		}
	}
	named := crawl.Link{URL: u.String(), Anchor: anchor, Around: around, Resource: resource, NoFollow: f.refused}
	f.found.Links = append(f.found.Links, named)
	f.size += linkSize(&named)
}

// sentKey is the key by which the filter knows a link: another one where it is not to be followed, because another page may
// name it that says nothing of the kind.
func (f *finder) sentKey(k crawl.Key) crawl.Key {
	if f.refused {
		k[len(k)-2] ^= 0xff // not among the first bytes, which the filter leaves out
	}
	return k
}

// omit counts n links that the page has and that are too long, too many or otherwise not worth a record each: they stand
// in the totals as discovered and excluded, by reason.
func (f *finder) omit(reason crawl.Kind, n int) {
	if n <= 0 {
		return
	}
	if f.found.Omitted == nil {
		f.found.Omitted = map[crawl.Kind]int64{}
	}
	f.found.Omitted[reason] += int64(n)
}

// kindKey is the key under which a link is remembered. What a page needs is another link than one to the same URL: it is as deep as the
// page, not deeper, and may lie outside the scope.
func (f *finder) kindKey(k crawl.Key, kind parse.Kind) crawl.Key {
	if kind == parse.Resource {
		k[len(k)-1] ^= 0x80
	}
	return k
}

// known reports whether a link has been sent, by this lease or in a part that is stored. One to a page counts under a depth
// limit also if it was sent from deeper, because the frontier learns of the shorter path by its key.
func (f *finder) known(k crawl.Key, resource bool) bool {
	anyDepth := f.limited && !resource
	if d, ok := f.l.known.depthOf(k); ok && (anyDepth || d <= f.depth) {
		return true
	}
	f.l.mu.Lock()
	defer f.l.mu.Unlock()
	d, ok := f.l.rep.sent[k]
	return ok && (anyDepth || d <= f.depth)
}

// payloads remembers the payloads that this agent has archived, for revisit records; the older half is forgotten when
// it is full.
type payloads struct {
	max int

	mu       sync.Mutex
	new, old map[string]capture
}

type capture struct {
	id     string // of its record
	url    string
	date   int64 // Unix ms
	beside bool  // it is not one of the job's pages
}

// stands reports whether a capture can stand for a later one of the same bytes. What is beside a page does not stand for that page itself, which
// would count as a duplicate.
func (c capture) stands(later capture) bool { return !c.beside || later.beside || c.url != later.url }

func newPayloads(max int) *payloads {
	return &payloads{max: max, new: map[string]capture{}, old: map[string]capture{}}
}

// first returns the earlier capture of a payload; if there is none, or it may be lost, c becomes it.
func (p *payloads) first(digest string, c capture, lost bool) (capture, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was, ok := p.new[digest]
	if !ok {
		was, ok = p.old[digest]
	}
	if ok && !lost && was.stands(c) {
		return was, true
	}
	if len(p.new) >= p.max/2 {
		p.old, p.new = p.new, make(map[string]capture, p.max/2)
	}
	p.new[digest] = c
	return capture{}, false
}

package yield

import "argosy/internal/crawl"

// Of what differs in a part only that makes no difference a few URLs are tried all the same: what a repository's file was at each commit is mostly
// as before, and now and then new. A session makes no difference wherever it stands, which each template would have to find out by itself. The two
// are told apart by what pages do with the value that their own URLs have: the id of a commit is handed on to the views of the same commit, and a
// session of which there is no end is drawn anew by each page.

const (
	triesOfPart = strangers + rounds*trialSize // URLs of a template that differ in a part only which are tried
	triesLeast  = 2                            // where a part is drawn anew, and more were tried in vain in other templates
	triesInVain = newPays                      // than this: at 3 each they have cost more than a new one in 22 would pay back, 19 times in 20
	handedFrom  = 16                           // pages whose links have a part, after which it is known whether it is drawn anew:
	handedOne   = 16                           // fewer than one in so many hand their own value on
)

// handed counts what pages do with the values of a part, in all templates, and what its pairs showed.
type handed struct {
	with, on            int64
	agree, urls, differ int64
	alike               int64
	vouches             vouches
}

// handing is the value of a part in a page's URL.
type handing struct {
	of       *guess
	value    string
	with, on bool // a link of the page has such a part, and this value
}

// handsOn notes what a page of a template does with the values of its own URL that look random. The URL of its link is in m.pieces.
func (m *Model) handsOn(f *Feeds, v *Template, page string) {
	if v == nil {
		return
	}
	if !f.split {
		f.split, f.values = true, m.handings(v, page)
	}
	for i := range f.values {
		h := &f.values[i]
		value, ok := h.of.Part.value(&m.pieces)
		if !ok || h.of.Part.Kind != partDrawn && classify(value) != opaque {
			continue
		}
		all := m.handedOf(h.of)
		if !h.with {
			h.with, h.of.With, all.with = true, h.of.With+1, all.with+1
			h.of.dirty, m.changed = true, true
		}
		if !h.on && value == h.value {
			h.on, h.of.On, all.on = true, h.of.On+1, all.on+1
			h.of.dirty, m.changed = true, true
		}
	}
}

// handings returns the values of a page's URL that look random.
func (m *Model) handings(v *Template, page string) (out []handing) {
	u, err := crawl.Parse(page)
	if err != nil {
		return nil
	}
	var p pieces
	p.split(u)
	for _, part := range candidates(v.ID, &p, !v.bag(), false) {
		if g := m.guesses[part.hash()]; g != nil && part.random(&p) {
			if value, ok := part.value(&p); ok {
				out = append(out, handing{of: g, value: value})
			}
		}
	}
	return out
}

func (m *Model) handedOf(g *guess) *handed {
	name := g.Part.named()
	if m.handed[name] == nil {
		m.handed[name] = &handed{}
	}
	return m.handed[name]
}

// drawnAnew reports whether the values of a part are drawn by each page.
func (m *Model) drawnAnew(p Part) bool {
	h := m.handed[p.named()]
	return h != nil && h.with >= handedFrom && h.on*handedOne < h.with
}

// paired takes in what a guess has become: the pairs of all templates count together.
func (m *Model) paired(g, was *guess) {
	if g.Agree == was.Agree && g.Differ == was.Differ && g.URLs == was.URLs && g.Alike == was.Alike {
		return
	}
	all := m.handedOf(g)
	all.agree, all.urls, all.differ = all.agree+g.Agree-was.Agree, all.urls+g.URLs-was.URLs, all.differ+g.Differ-was.Differ
	all.alike += g.Alike - was.Alike
}

// sessions reports whether a part is a session: each page draws it anew, and pairs of several things in all templates together showed the same. Of the
// articles that are a template each none has two URLs that differ in more than the session.
func (m *Model) sessions(p Part) bool {
	if !m.drawnAnew(p) {
		return false
	}
	all := m.handed[p.named()]
	return all.agree >= agreeOpaque && all.urls >= urlsOpaque && all.differ*agreeOne <= all.agree
}

// drawnDirs are the segments of a URL of paths of many kinds that are drawn anew by each page, and make no difference in other templates. Of such paths
// no other segment is held to make none: what a repository's files were at each commit is one of them.
func (m *Model) drawnDirs(t uint32, p *pieces) (out []Part) {
	for i, s := range p.segs {
		if classify(s) != opaque {
			continue
		}
		if part := p.dir(t, i); m.named[part.named()] > 0 && m.drawnAnew(part) {
			out = append(out, part)
		}
	}
	return out
}

// tries returns how many more URLs of a cut group may be tried: any number, but for what differs in a part that is drawn anew, of which as many have
// been tried in other templates as brought nothing since one did.
func (m *Model) tries(g *Group) int64 {
	if g.Part == nil || !m.drawnAnew(*g.Part) {
		return triesOfPart
	}
	elsewhere := m.vain[g.Part.named()] - g.Vain
	return max(triesLeast, triesOfPart*(triesInVain-elsewhere)/triesInVain) - g.Vain
}

// tried notes that so many URLs of a cut group are tried.
func (m *Model) tried(g *Group, n int) {
	if g.Part != nil {
		g.Vain += int64(n)
		m.vain[g.Part.named()] += int64(n)
	}
	g.dirty, m.changed = true, true
}

// worth notes that something was new although it differs in a part only: the part is tried further in all templates.
func (m *Model) worth(p Part) {
	if m.vain[p.named()] == 0 {
		return
	}
	delete(m.vain, p.named())
	for _, g := range m.groups {
		if g.Part != nil && g.Vain > 0 && g.Part.named() == p.named() {
			g.Vain, g.dirty = 0, true
		}
	}
	m.changed = true
}

package yield

import (
	"cmp"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
)

// without holds an answer against those whose URLs have one part more, which makes no difference: its URL may be one more way to
// write theirs.
func (m *Model) without(t *Template, p *pieces, a *Answer) (event Event) {
	if len(m.learned) == 0 || len(m.learned[t.ID]) > 0 {
		return Nothing
	}
	for _, g := range m.allLearned() {
		for _, part := range g.Part.missing(t.ID) {
			text, ok := m.rests.get(xxh3.HashStringSeed(m.strip(t.ID, p, &part), g.Part.hash()))
			if !ok || g.Part.Template == t.ID {
				continue
			}
			q := m.guessOf(part)
			if q == nil {
				continue
			}
			q.dirty, m.changed = true, true
			if text>>32 == a.Text>>32 {
				q.Agree++
				q.URLs++
			} else {
				q.Differ++
			}
			event = max(event, m.weigh(q))
		}
	}
	return event
}

// bare is where the text of a URL is kept.
func bare(url string) uint64 { return xxh3.HashStringSeed(url, 1) }

// extra holds an answer against that of the URL that lacks one of its parameters, or all: a vote for an article leads to the article; and
// against that of the URL that lacks a directory: an archive may lie within itself. uri is its path and its query.
func (m *Model) extra(t *Template, p *pieces, a *Answer, uri string) (event Event) {
	for i, q := range p.params {
		if !slices.ContainsFunc(p.params[:i], func(o param) bool { return o.name == q.name }) {
			event = max(event, m.lacks(p, a, Part{Kind: partExtra, Name: q.name, Template: t.ID}))
		}
	}
	if len(p.params) > 1 {
		event = max(event, m.lacks(p, a, Part{Kind: partExtra, Template: t.ID}))
	}
	dirs := p.segs[:min(len(p.segs)-1, maxCandidates)]
	for i, s := range dirs {
		if s != "" && classify(s) != opaque && !slices.Contains(dirs[:i], s) {
			event = max(event, m.lacks(p, a, Part{Kind: partAlias, Name: s, Template: t.ID}))
		}
	}
	if !p.query && len(a.Sample) >= minAlike {
		m.rests.add(bare(uri)^likeSeed, sketch(a.Sample)&^1)
	}
	at := bare(uri)
	if was, ok := m.rests.get(at); !ok || was&^1 != a.Text&^1 { // the lowest bit is that of older versions
		m.rests.add(at, a.Text&^1)
	}
	if a.bare != "" {
		m.markBare(a)
	}
	return event
}

// markAll has all answers of the template marked that has shown a text: what others show is held against it.
func (m *Model) markAll(text uint64) {
	by, _ := m.marks.get(text)
	if o := m.byID[uint32(by)]; o != nil && !o.All {
		o.All, o.dirty, m.changed = true, true, true
	}
}

// guessOf returns what is thought of a part, nil if there is nothing yet and no room for it.
func (m *Model) guessOf(part Part) *guess {
	g := m.guesses[part.hash()]
	if g == nil && len(m.guesses) < maxGuesses {
		g = &guess{Part: part}
		m.keepGuess(part.hash(), g)
	}
	return g
}

// guessAt is what is thought of a part, and where it is kept.
type guessAt struct {
	at uint64
	*guess
}

func (m *Model) keepGuess(at uint64, g *guess) {
	m.guesses[at] = g
	m.guessed = append(m.guessed, guessAt{at, g})
}

// lacks holds an answer against that of the URL without a part.
func (m *Model) lacks(p *pieces, a *Answer, part Part) Event {
	at := bare(m.strip(0, p, &part))
	text, ok := m.rests.get(at)
	if !ok {
		return Nothing
	}
	m.rests.add(at, text) // what is used is kept
	g := m.guessOf(part)
	if g == nil {
		return Nothing
	}
	was := *g
	g.dirty, m.changed = true, true
	if value, _ := part.value(p); part.Kind == partExtra {
		switch classify(value) {
		case number:
			g.numbered(value)
		case word, mixed:
			g.Plain++
		}
	}
	switch same := text&^1 == a.Text&^1; {
	case same && (a.Found <= a.Led || part.Kind == partAlias): // links of a copy lead to copies, which may have a template of their own each
		g.Agree++
		m.vouch(g, part.worded(p), true)
		if own := at ^ part.hash(); part.Kind == partAlias && !m.rests.has(own) { // a page may have many aliases
			g.URLs++
			m.rests.add(own, 0)
			m.markAll(a.Text)
		} else if part.Kind == partExtra && !m.rests.has(own) { // and be named with each value of a parameter, which is a template of its own
			g.URLs++
			m.rests.add(own, 0)
		}
	case same:
	case part.Kind == partExtra && m.near(at, a):
		a.near = append(a.near, besides{g, at, part.worded(p)})
	default:
		g.Differ++
		m.vouch(g, part.worded(p), false)
	}
	if part.Kind == partAlias {
		m.everywhere(g, &was)
	}
	if part.Kind == partExtra && g.Agree == likelyExtra && was.Agree < likelyExtra {
		a.bare = m.strip(0, p, &part)
	}
	return m.weigh(g)
}

// markBare has all answers of the template marked of a URL without a parameter that may make no difference: what comes with it is held against them.
func (m *Model) markBare(a *Answer) {
	u, err := crawl.Parse("http://bare" + a.bare)
	if err != nil {
		return
	}
	if t, _ := m.find(u); t != nil && !t.All {
		t.All, t.dirty, m.changed = true, true, true
	}
	m.pieces.split(a.URL) // they were those of u
}

// besides is a parameter without which a URL's text is nearly the same, where that is kept, and what it says in a word.
type besides struct {
	g     *guess
	at    uint64
	value string
}

// near reports whether an answer says nearly the same as the URL without query does whose text is kept at a place.
func (m *Model) near(at uint64, a *Answer) bool {
	was, ok := m.rests.get(at ^ likeSeed)
	return ok && len(a.Sample) >= minAlike && common(sketch(a.Sample), was) >= alike
}

// resembles takes in what is new in an answer that says nearly the same as the URL without a parameter: if nothing is, neither words nor figures,
// pictures, names or numbers, nor where it leads, the parameter shows nothing of its own. The form to answer a comment, or a calendar's month beside
// an article, is a few words that are known.
func (m *Model) resembles(a *Answer, of kind) (event Event) {
	const one = 1 // there was a URL with more that was nearly the same
	for _, b := range a.near {
		switch {
		case of.brings() && of != isCombined || a.Found > a.Led:
			b.g.Differ++
			m.vouch(b.g, b.value, false)
		case of == isFaint, of == isCombined:
			b.g.Alike++
			m.vouch(b.g, b.value, true)
			if was, _ := m.rests.get(b.at ^ likeSeed); was&one == 0 {
				b.g.AlikeURLs++
				m.rests.add(b.at^likeSeed, was|one)
			}
		}
		event = max(event, m.weigh(b.g))
	}
	return event
}

// extra reports whether so many URLs with a parameter were nearly the same as those without it that all are.
func (g *guess) extra(named bool) bool {
	if named {
		return g.Alike >= nearNamed && g.Differ*agreeOne <= g.Alike
	}
	return g.Alike >= agreeNumber && g.AlikeURLs >= urlsAlias && g.Differ*numberOne <= g.Alike
}

// extraAnywhere reports whether that holds of a parameter of one name in all templates together, each of which may be one page.
func (m *Model) extraAnywhere(p Part) bool {
	all := guess{}
	for _, g := range m.guesses {
		if g.Part.Kind == partExtra && g.Part.Name == p.Name {
			all.Alike, all.AlikeURLs, all.Differ = all.Alike+g.Alike, all.AlikeURLs+g.AlikeURLs, all.Differ+g.Differ
		}
	}
	return all.extra(false)
}

// numbered takes in a number that a parameter has: one of several numbers may be that of a page, of which most things have but one.
func (g *guess) numbered(value string) {
	at := xxh3.HashString(value) | 1
	if g.Number = g.Number || g.Last != 0 && g.Last != at; g.Number {
		g.Plain++
	}
	g.Last = at
}

// despite notes that a page was new although its URL differs from one that was had only in parts that make no difference: such URLs
// are tried further where a productive template names them, as a change to a file names what it made of it.
func (m *Model) despite(t *Template) Event {
	for _, q := range m.learned[t.ID] {
		m.worth(q.Part)
		g := m.groups[q.Group]
		g.Strangers += strangerOK
		g.dirty, m.changed = true, true
	}
	return Lifted
}

// Spare says whether a URL that the template via has named is asked for although one is there that differs in a group's part
// only: a few are that come from a template that brings something. What it has let through is counted.
func (m *Model) Spare(group, via uint32) Verdict {
	g := m.groups[group]
	v := m.byID[via]
	if g == nil || !m.fruitful(v) || len(m.learned[via]) > 0 {
		return Verdict{Wait: true, Group: group}
	}
	if g.Strangers <= 0 || m.tries(g) <= 0 {
		return Verdict{Wait: true, Group: group, Hopeful: !v.mixed()}
	}
	g.Strangers--
	m.tried(g, 1)
	return Verdict{Try: true, Group: group}
}

// missing returns how a part may be missing in URLs of another template: a parameter without its value, a segment alone or with the
// one before, which names it.
func (p Part) missing(t uint32) []Part {
	switch p.Kind {
	case partInner, partParam:
		return []Part{{Kind: partNone, Name: p.Name, Template: t}}
	case partDir:
		out := []Part{{Kind: partNoDir, Name: "*", Seg: p.Seg, Template: t}}
		if name := p.Name[strings.LastIndexByte(p.Name, '/')+1:]; p.Seg > 0 && !strings.ContainsAny(name, "#*") {
			out = append(out, Part{Kind: partNoDir, Name: name + "/*", Seg: p.Seg - 1, Template: t})
		}
		return out
	}
	return nil
}

// allLearned returns the parts that make no difference, by groups and templates.
func (m *Model) allLearned() (out []*guess) {
	for _, list := range m.learned {
		out = append(out, list...)
	}
	slices.SortFunc(out, func(x, y *guess) int {
		return cmp.Or(cmp.Compare(x.Group, y.Group), cmp.Compare(x.Part.Template, y.Part.Template), cmp.Compare(x.Part.Seg, y.Part.Seg), cmp.Compare(x.Part.Name, y.Part.Name))
	})
	return out
}

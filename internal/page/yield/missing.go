package yield

import (
	"cmp"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
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
			q := m.guesses[part.hash()]
			if q == nil {
				if len(m.guesses) >= maxGuesses {
					continue
				}
				q = &guess{Part: part}
				m.guesses[part.hash()] = q
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

// extra holds an answer against that of the URL that lacks one of its parameters, or all: a vote for an article leads to the article.
func (m *Model) extra(t *Template, p *pieces, a *Answer) (event Event) {
	const one = 1 // there was a URL with more that gave the same
	for i, q := range p.params {
		if !slices.ContainsFunc(p.params[:i], func(o param) bool { return o.name == q.name }) {
			event = max(event, m.lacks(t, p, a, q.name))
		}
	}
	if len(p.params) > 1 {
		event = max(event, m.lacks(t, p, a, ""))
	}
	at := bare(m.strip(0, p, nil))
	if was, ok := m.rests.get(at); !ok || was&^one != a.Text&^one {
		m.rests.add(at, a.Text&^one)
	}
	return event
}

// lacks holds an answer against that of the URL without a parameter.
func (m *Model) lacks(t *Template, p *pieces, a *Answer, name string) Event {
	const one = 1
	part := Part{Kind: partExtra, Name: name, Template: t.ID}
	at := bare(m.strip(0, p, &part))
	text, ok := m.rests.get(at)
	if !ok {
		return Nothing
	}
	g := m.guesses[part.hash()]
	if g == nil {
		if len(m.guesses) >= maxGuesses {
			return Nothing
		}
		g = &guess{Part: part}
		m.guesses[part.hash()] = g
	}
	g.dirty, m.changed = true, true
	switch same := text&^one == a.Text&^one; {
	case same && a.Found <= a.Led:
		g.Agree++
		if text&one == 0 {
			g.URLs++
			m.rests.add(at, text|one)
		}
	case !same:
		g.Differ++
	}
	return m.weigh(g)
}

// despite notes that a page was new although its URL differs from one that was had only in parts that make no difference: such URLs
// are tried further where a productive template names them, as a change to a file names what it made of it.
func (m *Model) despite(t *Template) Event {
	for _, q := range m.learned[t.ID] {
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
	if g.Strangers <= 0 {
		return Verdict{Wait: true, Group: group, Hopeful: !v.mixed()}
	}
	g.Strangers--
	g.dirty, m.changed = true, true
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

// allLearned returns the parts that make no difference, in the order in which they were learned.
func (m *Model) allLearned() (out []*guess) {
	for _, list := range m.learned {
		out = append(out, list...)
	}
	slices.SortFunc(out, func(x, y *guess) int { return cmp.Compare(x.Group, y.Group) })
	return out
}

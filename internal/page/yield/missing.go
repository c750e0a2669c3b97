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

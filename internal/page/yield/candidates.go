package yield

import "slices"

// Which parts of a URL may make no difference.

// dir is a segment of a URL as a part.
func (p *pieces) dir(t uint32, seg int) Part {
	var b []byte
	for j, q := range p.segs[:seg] {
		if j > 0 {
			b = append(b, '/')
		}
		b = appendClass(b, q, classify(q))
	}
	return Part{Kind: partDir, Name: string(b), Seg: seg, Template: t}
}

// candidates are the parts of a URL that may make no difference.
func candidates(t uint32, p *pieces, dirs, grows bool) []Part {
	var out []Part
	random := 0
	add := func(part Part, value string) {
		if classify(value) == opaque {
			random++
		}
		if len(out) < maxCandidates && !slices.Contains(out, part) {
			out = append(out, part)
		}
	}
	for _, q := range p.inner {
		add(Part{Kind: partInner, Name: q.name, Template: t}, q.value)
	}
	for _, q := range p.params {
		add(Part{Kind: partParam, Name: q.name, Template: t}, q.value)
	}
	for i, s := range p.segs {
		if dirs && classify(s) != word {
			add(p.dir(t, i), s)
		}
	}
	if p.empty() > 0 {
		out = append(out, Part{Kind: partSlash, Template: t})
	}
	if dirs && p.tokens() {
		out = append(out, Part{Kind: partToken, Template: t})
	}
	if p.upper {
		out = append(out, Part{Kind: partCase, Template: t})
	}
	if p.named {
		out = append(out, Part{Kind: partNames, Template: t})
	}
	if p.valued {
		out = append(out, Part{Kind: partValues, Template: t})
	}
	if p.again {
		out = append(out, Part{Kind: partAgain, Template: t})
	}
	if dirs && p.slugs() {
		out = append(out, Part{Kind: partSlug, Template: t})
	}
	if !dirs && grows && len(p.segs) > 2 {
		out = append(out, Part{Kind: partLead, Template: t})
	}
	if random > 1 || slices.ContainsFunc(p.params, func(q param) bool { return classify(q.name) == opaque }) {
		out = append(out, Part{Kind: partRandom, Template: t})
	}
	if p.draws() {
		out = append(out, Part{Kind: partDrawn, Template: t})
	}
	if p.lists() {
		out = append(out, Part{Kind: partItems, Template: t})
	}
	if len(p.params) > 1 {
		out = append(out, Part{Kind: partOrder, Template: t}, Part{Kind: partFirst, Template: t}, Part{Kind: partLast, Template: t})
	}
	return out
}

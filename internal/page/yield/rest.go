package yield

import (
	"slices"
	"strconv"
	"strings"

	"argosy/internal/crawl"
)

// What is left of URLs without the parts that make no difference.

// Rest is a URL without the parts that make no difference.
type Rest struct {
	Key  crawl.Key
	Part uint32    // group that stands for them
	Bare crawl.Key // of the URL that it may be by itself; zero if it is none
}

// Rest returns what is left of a URL without the parts that make no difference; changed says that it has some. Of two URLs with
// equal rests one is enough.
func (m *Model) Rest(u crawl.URL) (r Rest, changed bool) {
	if len(m.learned) == 0 {
		return r, false
	}
	t, _ := m.find(u)
	if t == nil || len(m.learned[t.ID]) == 0 {
		return r, false
	}
	p := &m.pieces
	p.split(u)
	bare := false
	r.Part = m.learned[t.ID][0].Group
	for _, g := range m.learned[t.ID] {
		r.Part = min(r.Part, g.Group)
		bare = bare || g.Part.Kind == partExtra || g.Part.Kind == partAlias || g.Part.letters()
	}
	rest := m.strip(t.ID, p, nil)
	r.Key = crawl.KeyOf(u.Site(), rest)
	if bare {
		r.Bare = crawl.KeyOf(u.Site(), strings.TrimSuffix(u.String(), u.RequestURI())+rest)
	}
	return r, true
}

// less is what is left out of a URL: the parts of its template that make no difference, and maybe one more.
type less []left

// left is such a part, and what is known of it.
type left struct {
	Part
	of *guess // nil of one that is left out whatever is known
}

// less returns these parts, until it is called again; more may be nil.
func (m *Model) less(t uint32, more *Part) less {
	out := m.leaves[:0]
	for _, g := range m.learned[t] {
		out = append(out, left{g.Part, g})
	}
	if more != nil {
		out = append(out, left{Part: *more})
	}
	m.leaves = out
	return out
}

// has reports whether there is a part of a kind.
func (l less) has(kind byte) bool {
	return slices.ContainsFunc(l, func(q left) bool { return q.Kind == kind })
}

// alias reports whether directories of a name are left out.
func (l less) alias(name string) bool {
	return slices.ContainsFunc(l, func(q left) bool { return q.Kind == partAlias && q.Name == name })
}

// dir reports whether a segment is left out.
func (l less) dir(seg int, value string) bool {
	return slices.ContainsFunc(l, func(q left) bool {
		return q.Kind == partDir && q.Seg == seg || q.Kind == partRandom && classify(value) == opaque
	})
}

// inner reports whether a parameter of a segment is left out.
func (l less) inner(q param) bool {
	return slices.ContainsFunc(l, func(p left) bool {
		return p.Kind == partInner && p.Name == q.name || p.Kind == partRandom && classify(q.value) == opaque
	})
}

// param reports whether a parameter of the query is left out.
func (m *Model) param(l less, q param) bool {
	random := classify(q.value) == opaque || classify(q.name) == opaque
	return slices.ContainsFunc(l, func(p left) bool {
		named := p.Name == q.name || p.Name == q.written // directories of earlier versions have it as it was written
		return p.Kind == partRandom && random || p.Kind == partDrawn && (random || q.long()) || p.Kind == partExtra && p.Name == "" ||
			(p.Kind == partParam || p.Kind == partExtra) && named && (p.of == nil || m.vouched(p.of, q.value))
	})
}

// value returns what a URL has for a part; ok reports whether it has one, and that is a value.
func (p Part) value(u *pieces) (value string, ok bool) {
	switch p.Kind {
	case partInner:
		for _, v := range u.inner {
			if v.name == p.Name {
				value, ok = v.value, true
			}
		}
	case partParam, partExtra:
		for _, v := range u.params {
			if v.name == p.Name {
				value, ok = v.value, true
			}
		}
	case partDir:
		if ok = p.Seg < len(u.segs); ok {
			value = u.segs[p.Seg]
		}
	case partDrawn:
		for _, v := range u.params {
			if v.long() || classify(v.value) == opaque {
				value, ok = value+v.value+",", true
			}
		}
	case partLead:
		value, ok = strings.Join(u.segs[:u.lead()], "/"), true
	case partSlug:
		value, ok = u.wording(), true
	}
	return value, ok
}

// stripSize is what a path and a query are seldom longer than: a string that grows is copied each time.
const stripSize = 96

// strip writes path and query of a URL without the parts of its template that make no difference, and without one more.
func (m *Model) strip(t uint32, p *pieces, more *Part) string {
	var b strings.Builder
	b.Grow(stripSize)
	l := m.less(t, more)
	items := func(s string) string { return s }
	if l.has(partItems) {
		items = sortItems
	}
	token, lowers, slug, names := l.has(partToken), l.has(partCase), l.has(partSlug), l.has(partNames)
	again, values := l.has(partAgain), l.has(partValues)
	l.path(&b, p, func(i int, s string) string {
		if again {
			s = once(s)
		}
		if token {
			s, _ = maskTokens(s)
		}
		if lowers {
			s = lower(s)
		}
		if slug && i == p.lead() {
			s, _ = p.wordless(i, s)
		}
		return items(s)
	})
	params := make([]param, 0, len(p.params))
	for _, q := range p.params {
		if !m.param(l, q) {
			params = append(params, q)
		}
	}
	sort := byte(0)
	for _, q := range l {
		if q.sort() {
			sort = max(sort, q.Kind)
		}
	}
	if more != nil && more.sort() {
		sort = more.Kind
	}
	for i, q := range order(params, sort) {
		if i == 0 {
			b.WriteByte('?')
		} else {
			b.WriteByte(p.sep)
		}
		value := q.value
		if l.setting(q) {
			value = ""
		}
		if again {
			value = once(value)
		}
		if values {
			value = lower(value)
		}
		if slug {
			value, _ = wordless(value)
		}
		name := q.written
		if names {
			name = q.name
		}
		b.WriteString(name + "=" + items(value))
	}
	return b.String()
}

// path writes the path of a URL.
func (l less) path(b *strings.Builder, p *pieces, name func(int, string) string) {
	segs := p.segs
	if _, ok := p.steps(0); ok && l.has(partSteps) {
		segs = inOrder(segs)
	}
	next, middle := 0, 0 // segments from the second to this one say nothing
	if l.has(partLead) {
		middle = p.lead()
	}
	var missing Part
	for _, q := range l {
		if q.Kind == partNoDir {
			missing = q.Part
		}
	}
	for i, s := range segs {
		from := next
		for next < len(p.inner) && p.inner[next].seg == i {
			next++
		}
		if i < len(p.segs)-1 && (l.alias(s) || s == "" && l.has(partSlash)) {
			continue
		}
		if missing.Kind != 0 && missing.Seg == i {
			b.WriteString("/" + missing.Name)
		}
		if 0 < i && i < middle {
			continue
		}
		b.WriteByte('/')
		if !l.dir(i, s) && !l.place(i) {
			b.WriteString(name(i, s))
		} else {
			b.WriteByte('*')
		}
		for _, q := range p.inner[from:next] {
			if !l.inner(q.param) {
				b.WriteString(";" + q.name + "=" + name(-1, q.value))
			}
		}
	}
}

// lead is how many segments stand before the last one that has a name, which is where that one stands.
func (p *pieces) lead() int {
	if n := len(p.segs) - 1; n == 0 || p.segs[n] != "" {
		return n
	}
	return len(p.segs) - 2
}

// order sorts parameters, and drops those that are there twice, by a kind of part; 0 leaves them as they are.
func order(params []param, kind byte) []param {
	switch kind {
	case 0:
		return params
	case partLast:
		slices.Reverse(params)
	}
	slices.SortStableFunc(params, func(x, y param) int {
		if c := strings.Compare(x.name, y.name); c != 0 || kind != partOrder {
			return c
		}
		return strings.Compare(x.value, y.value)
	})
	return slices.CompactFunc(params, func(x, y param) bool { return x.name == y.name && (kind != partOrder || x.value == y.value) })
}

// separators stand between the items of a list in a value or a segment.
var separators = []string{",", "%2C", "%2c", "|", "%7C", "%7c", "+", "%20", "%2B", "%2b", "~"}

// separator returns what stands between the items of a list, "" if there is none.
func separator(s string) string {
	if !strings.ContainsAny(s, ",|+%~") || coordinates(s) { // that is all of them begin with
		return ""
	}
	for _, sep := range separators {
		if strings.Contains(s, sep) {
			return sep
		}
	}
	return ""
}

// coordinates reports whether a segment or a value is a place on the earth: its latitude and longitude, in degrees with decimals.
func coordinates(s string) bool {
	north, east, two := strings.Cut(s, ",")
	degrees := func(s string, most float64) bool {
		v, err := strconv.ParseFloat(s, 64)
		return err == nil && strings.Contains(s, ".") && -most <= v && v <= most
	}
	return two && degrees(north, 90) && degrees(east, 180)
}

// sortItems puts the items of a list in order.
func sortItems(s string) string {
	sep := separator(s)
	if sep == "" {
		return s
	}
	all := strings.Split(s, sep)
	slices.Sort(all)
	return strings.Join(all, sep)
}

// chooses reports whether a URL is one of the sets of a few things, of which there are two to the power of their number: it lists some,
// in a template where their order makes no difference.
func (m *Model) chooses(t *Template, p *pieces) bool {
	return m.combination(t) || p.lists() && slices.ContainsFunc(m.learned[t.ID], func(g *guess) bool { return g.Part.Kind == partItems })
}

// combines reports whether a template's URLs are choices, one or more: an order in them is known to make no difference.
func (m *Model) combines(t *Template) bool {
	return m.permutes(t) || slices.ContainsFunc(m.learned[t.ID], func(g *guess) bool { return g.Part.orders() })
}

// sorts reports whether the order of a template's parameters is known to make no difference.
func (m *Model) sorts(t *Template) bool {
	return slices.ContainsFunc(m.learned[t.ID], func(g *guess) bool { return g.Part.sort() })
}

// filters reports whether templates of a template's path are known for choices in any order.
func (m *Model) filters(t *Template) bool {
	path, _, asks := strings.Cut(t.Pattern, "?")
	if !asks {
		return false
	}
	for _, o := range m.byID {
		if other, _, _ := strings.Cut(o.Pattern, "?"); path == other && m.sorts(o) {
			return true
		}
	}
	return false
}

// lists reports whether a value or a segment of a URL is a list. A segment with a number beside its words is what a thing is called.
func (p *pieces) lists() bool {
	return slices.ContainsFunc(p.segs, func(s string) bool { return separator(s) != "" && !titled(s) }) ||
		slices.ContainsFunc(p.params, func(q param) bool { return separator(q.value) != "" }) ||
		slices.ContainsFunc(p.inner, func(q innerParam) bool { return separator(q.value) != "" })
}

// tokens reports whether a segment of a URL has tokens that look random, and others.
func (p *pieces) tokens() bool {
	return slices.ContainsFunc(p.segs, func(s string) bool {
		_, ok := maskTokens(s)
		return ok
	})
}

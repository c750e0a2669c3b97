package yield

import (
	"cmp"

	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
)

// What stands beside a page, such as a calendar's month beside an article, shows the page's own text. If the page was not marked, as most of a
// productive template are not, that text looks new. Those whose page was marked say what it is worth.

const (
	tookMark  = 1 << 36   // of pages that were marked: they stand in one set with what they show, and are forgotten with it
	pairsFrom = 8         // answers whose page was marked, after which they say what the others are worth:
	pairsNew  = 16        // nothing, if fewer than one in so many of them was new
	besideOne = 4         // one answer in so many of a template brings nothing: then it matters,
	besideAt  = sameAfter // after so many
)

// Pairs reports whether it matters by which page one of a template was named, since it may show what that page does.
func (m *Model) Pairs(template, via uint32) bool {
	t := m.byID[template]
	if t == nil || via == 0 || via == template {
		return false
	}
	doubtful := t.Barren + t.Little // what is new by little may show what the page does
	return doubtful >= besideAt && besideOne*doubtful >= t.Marked
}

// besides takes in an answer that may stand beside a page, and returns what is new in it: isUntold if it stands beside one that was not marked, and
// those beside pages that were had nothing new.
func (m *Model) besides(t, via *Template, a *Answer, of kind) kind {
	took := func(u crawl.URL) uint64 { return tookMark | xxh3.HashString(u.String())>>32 }
	m.marks.add(took(a.URL), 0)
	if via == nil || of == isNeutral || !m.Pairs(t.ID, via.ID) || !stands(a.URL, a.Parent, via) {
		return of
	}
	if of == isCombined && !m.pieces.within() {
		of = isFaint // the phrases of that page, and those that all such answers have
	}
	found := of == isNew || of == isPartly
	if !m.marks.has(took(a.Parent)) {
		if found && t.Paired >= pairsFrom && t.Told*pairsNew < t.Paired {
			return isUntold
		}
		return of
	}
	t.Paired++
	if found {
		t.Told++
	}
	return of
}

// within reports whether a URL ends in a number, as that of an hour of a day or of a page of a book does: one that stands beside the page of a thing, and
// shows it, ends in a name or has a parameter.
func (p *pieces) within() bool {
	last := ""
	for _, s := range p.segs {
		last = cmp.Or(s, last)
	}
	return len(p.params) == 0 && classify(last) == number
}

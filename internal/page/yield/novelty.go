package yield

import "argosy/internal/crawl"

// What is new in an answer.

type kind uint8

const (
	isNeutral kind = iota
	isNew
	isFaint
	isKnown
	isCopy // of a page in another corner of the site
	isPartly
	isTable  // only its figures are new,
	isReport // which are those of sentences, or only a picture
)

// figureMark is set in marks of figures: they stand in one set with those of phrases.
const figureMark = 1 << 32

// bagMark is set in marks of texts whose words may stand in any order.
const bagMark = 1 << 33

// novelty says what is new in an answer, and remembers it.
func (m *Model) novelty(a *Answer) kind {
	was, known := m.marks.get(a.Text)
	by := uint32(was)
	if !known || m.byID[by] == nil {
		by = a.Template
	}
	m.marks.add(a.Text, uint64(by))
	fresh := 0
	for _, f := range a.Sample {
		if !m.marks.has(uint64(f)) {
			fresh++
		}
		m.marks.add(uint64(f), 0)
	}
	all, figures, said, pictures := 0, 0, 0, 0
	for _, f := range a.Figures {
		at := figureMark | uint64(f)
		isNew := 0
		if !m.marks.has(at) {
			isNew = 1
		}
		m.marks.add(at, 0)
		if crawl.IsPicture(f) {
			pictures += isNew
			continue
		}
		all, said, figures = all+1, said+int(f&1), figures+isNew
	}
	bag := bagMark | a.Text>>32
	shuffled := a.Page && m.marks.has(bag)
	m.marks.add(bag, 0)
	m.pays = newPays
	if n := len(a.Sample); n > 0 && 2*fresh < n { // what is new by half pays in full, by a quarter a quarter of that
		m.pays = int64(newPays * 4 * fresh * fresh / (n * n))
	}
	switch {
	case known && m.unrelated(m.byID[a.Template], m.byID[by]):
		return isCopy
	case known:
		return isKnown
	case a.Moved && a.Via == a.Template && m.byID[a.Template].dry():
		return isFaint // one more step of what leads on to its own kind
	case a.Moved:
		return isNeutral
	case !a.Page:
		return isNew
	case shuffled:
		return isFaint
	case fresh*newShare >= len(a.Sample) && fresh > 0:
		return isNew
	case fresh >= partPhrases:
		return isPartly
	case pictures > 0 && !m.pieces.dated():
		return isReport
	case figures*figureShare < all:
	case 2*said <= all && all >= someFigures:
		return isTable
	case 2*said > all && said >= someSaid && !m.pieces.dated():
		return isReport
	}
	return isFaint
}

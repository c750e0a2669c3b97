package yield

import (
	"encoding/binary"
	"strings"

	"github.com/zeebo/xxh3"

	"argosy/internal/page/parse"
)

// What is new in an answer.

type kind uint8

const (
	isNeutral kind = iota
	isNew
	isFaint
	isKnown
	isCopy // of a page in another corner of the site
	isPartly
	isUntold   // it seems new, but may be what the page shows that it stands beside
	isTable    // only its figures are new,
	isReport   // which are those of sentences,
	isShown    // or only a picture,
	isNamed    // or only what its title calls it, a short text or a code,
	isEchoed   // or only what its title calls it, in words that stand in addresses, too
	isNumbered // or only numbers that do not follow from those of its address,
	isCombined // or only which of the known phrases stand on it
)

// figureMark is set in marks of figures: they stand in one set with those of phrases.
const figureMark = 1 << 32

// pictureMark is set in marks of pictures.
const pictureMark = 1 << 34

// nameMark is set in marks of names.
const nameMark = 1 << 35

// bagMark is set in marks of texts whose words may stand in any order.
const bagMark = 1 << 33

// fresh remembers marks of a kind, and returns how many of them were not there.
func (m *Model) fresh(of uint64, marks []uint32) (n int) {
	for _, mark := range marks {
		if !m.marks.add(of|uint64(mark), 0) {
			n++
		}
	}
	return n
}

// freshPictures is fresh for pictures; strange are those whose names say more than the address of their page.
func (m *Model) freshPictures(marks []uint32) (n, strange int) {
	for i := range marks {
		k := m.fresh(pictureMark, marks[i:i+1])
		n, strange = n+k, strange+k*int(marks[i]&1)
	}
	return n, strange
}

// noName is a kind beside those of parse.
const noName = parse.NameKinds

// freshName is fresh for names. It returns of which kind there is one that was not there; noName if there is none. Of a sentence several phrases
// must be: a key in it changes some.
func (m *Model) freshName(marks []uint32) uint32 {
	kind, said := uint32(noName), 0
	for i, mark := range marks {
		if m.fresh(nameMark, marks[i:i+1]) == 0 {
			continue
		}
		if mark&3 == parse.NameSaid {
			if said++; said < partPhrases {
				continue
			}
		}
		if kind == noName || kind == parse.NameOwn {
			kind = mark & 3
		}
	}
	return kind
}

// brings reports whether something is new in an answer.
func (k kind) brings() bool {
	return k == isNew || k == isPartly || k == isTable || k == isReport || k == isShown || k == isNamed || k == isEchoed || k == isNumbered || k == isCombined
}

// mixed reports whether more of a template's answers brought nothing than brought something.
func (t *Template) mixed() bool { return 2*(t.finds()+t.Spared) < t.Marked }

// wavers reports whether so many of a template's answers brought nothing, or little, that it may be about to run dry.
func (t *Template) wavers() bool { return wavering*(t.Barren+t.Partly) > t.Marked }

// single reports whether one thing varies in a template's URLs, a number with any words behind it or one of the two: its pages are of one kind of things,
// not of all combinations of several.
func (t *Template) single() bool {
	return !t.bag() && t.Params <= 1 && t.varies() == 1
}

// called reports whether the URL in m.pieces is of one thing: its template's are, or end with a number and any words, whatever stands before these. Or it
// ends with the coordinates of a place.
func (m *Model) called(t *Template) bool {
	return t.single() || t.Params == 0 && coordinates(m.pieces.segs[len(m.pieces.segs)-1]) || !t.bag() && t.Params <= 1 && t.ends() && titled(m.pieces.segs[len(m.pieces.segs)-1])
}

// coded reports whether the URL in m.pieces ends with a code of letters and two digits or more, in whatever directory: its page is of what the code stands for.
func (m *Model) coded(t *Template) bool {
	end, digits := m.pieces.segs[len(m.pieces.segs)-1], 0
	for i := range len(end) {
		if '0' <= end[i] && end[i] <= '9' {
			digits++
		}
	}
	return t.bag() && t.Params == 0 && digits > 1 && classify(end) == mixed
}

// ends reports whether any words may stand at the end of a template's paths.
func (t *Template) ends() bool {
	path, _, _ := strings.Cut(t.Pattern, "?")
	return strings.HasSuffix(path, "/*")
}

// varies is how many things vary in the paths of a template, names behind a number left out.
func (t *Template) varies() int {
	return strings.Count(t.Pattern, "#") + strings.Count(t.Pattern, "*") - strings.Count(t.Pattern, "#/*")
}

// finds is how many of a template's answers were new by more than figures or a picture.
func (t *Template) finds() int64 { return t.New - t.Little }

// drawn reports whether what a template's pages show is drawn anew for each reader: of those that were asked for twice many showed
// something else then, and hardly one something new both times.
func (t *Template) drawn() bool { return t.Changed >= drawnFrom && t.Stable*drawnRare < t.Changed }

// bears reports whether a template has brought something. Of one that is drawn what was new by little was drawn, too, and the rest must be one in 65.
func (t *Template) bears() bool {
	if t.drawn() {
		return newPays*(t.finds()-t.Partly) >= t.Marked
	}
	return t.New > 0
}

// twice counts an answer that was asked for twice.
func (t *Template) twice(changed bool, of kind) {
	t.Twice++
	if changed {
		t.Changed++
	}
	if of.brings() {
		t.Stable++
	}
}

// states reports whether the figures that a template's pages say are what each is about: others have named it, and those that were asked for twice said the
// same both times.
func (t *Template) states(via *Template) bool {
	return via != nil && via.Group != t.Group && t.constant()
}

// constant reports whether those of a template's pages that were asked for twice said the same both times.
func (t *Template) constant() bool { return t.Twice >= drawnEnough && t.Changed == 0 }

// uncertain reports whether a template's pages may be drawn: much of what they bring is pictures, and not enough of them were asked
// for twice. Where words are new it does not suspect that: no page of an ordinary site is asked for twice.
func (t *Template) uncertain() bool {
	open := t.Twice < drawnEnough || t.Twice < drawnMost && drawnFew*t.Stable < t.Changed && !t.drawn()
	if 0 < t.Twice && t.Twice < drawnFrom && t.Changed == t.Twice {
		return true // a few more will tell
	}
	return open && t.Shown >= drawnFrom && 2*t.Shown >= t.Marked
}

// novelty says what is new in an answer, and remembers it.
func (m *Model) novelty(a *Answer) kind {
	was, known := m.marks.get(a.Text)
	by := uint32(was)
	if !known || m.byID[by] == nil {
		by = a.Template
	}
	m.marks.add(a.Text, uint64(by))
	fresh, of, all := m.freshPhrases(a)
	figures, said := m.fresh(figureMark, a.Figures), 0
	pictures, strange := m.freshPictures(a.Pictures)
	for _, f := range a.Figures {
		said += int(f & 1)
	}
	name := m.freshName(a.Names)
	steps := m.freshNumbers(a, !known && all < partPhrases)
	bag := bagMark | a.Text>>32
	shuffled := m.marks.add(bag, 0) && a.Page
	combined := m.combinable(a) && m.freshCombination(a)
	m.pays, m.behind = newPays, fresh == 0
	if of > 0 && 2*fresh < of { // what is new by half pays in full, by a quarter a quarter of that
		m.pays = int64(newPays * 4 * fresh * fresh / (of * of))
	}
	switch {
	case known && pictures > 0: // what they are called is not in the text
		return isShown
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
	case fresh*newShare >= of && fresh > 0:
		return isNew
	case all >= partPhrases:
		return isPartly
	case name != noName && !m.pieces.dated() && (m.called(m.byID[a.Template]) || name == parse.NamePlain && m.coded(m.byID[a.Template])) && (name != parse.NameOwn || !m.pieces.lists()):
		if name == parse.NameOwn {
			return isEchoed
		}
		return isNamed
	case pictures > 0 && name != noName && name != parse.NameOwn && !m.pieces.dated():
		return isNamed // a thing with a picture and a name of its own, whatever its address is made of
	case strange > 0, pictures > 0 && !m.pieces.dated():
		return isShown
	case figures*figureShare < len(a.Figures):
	case 2*said <= len(a.Figures) && len(a.Figures) >= someFigures, said >= someFigures && !m.pieces.dated():
		return isTable
	case 2*said > len(a.Figures) && said >= someSaid && !m.pieces.dated():
		return isReport
	}
	switch {
	case steps:
		return isNumbered
	case combined && !a.Changed:
		return isCombined
	}
	return isFaint
}

// freshCombination remembers which phrases a page has beside those of its links, and reports whether none had the same. The page before it of its
// template must have had others by a fifth: those of a calendar differ in the names of a day and of a month.
func (m *Model) freshCombination(a *Answer) bool {
	var hashed []byte
	var said []uint32
	for _, mark := range a.Sample {
		if mark&1 == 0 {
			said, hashed = append(said, mark), binary.LittleEndian.AppendUint32(hashed, mark)
		}
	}
	if len(said) < minAlike {
		return false
	}
	t, now := m.byID[a.Template], sketch(said)
	apart := t.Said != 0 && common(now, t.Said) <= sketchBins-combinedBins
	t.Said = now
	return !m.marks.add(xxh3.Hash(hashed)>>32, 0) && apart
}

// combinable reports whether a page of phrases that are all known says something as long as none has the same of them: songs of an hour, dishes of a
// day. A number, a date or one parameter varies in its address, and nothing in it looks random: what choices and filters leave of a list, and
// what a file was at each commit, are combinations of what is known, too, and as many as one likes.
func (m *Model) combinable(a *Answer) bool {
	t := m.byID[a.Template]
	return (t.single() || m.pieces.dated() && t.Params <= 1) && !t.bag() && strings.ContainsAny(t.Pattern, "#?") && !m.pieces.lists() && m.pieces.plain()
}

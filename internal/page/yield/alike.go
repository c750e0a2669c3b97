package yield

import "math"

// Texts that are nearly the same.

// alike holds the phrases of an answer against those of the last one under a key of a set, of the same rest, if pair says that this was
// another URL, and against those of the last one of another rest. If the part makes a difference, neither is nearer than the other.
func (m *Model) alike(g *guess, in *set, key uint64, sample []uint32, pair bool) {
	const one = 1 // it was nearer before
	now := sketch(sample)
	was, known := in.get(key)
	first := was&one == 0
	if last := m.otherText(g, key, known && pair); last != 0 {
		same, other := common(now, was), common(now, last)
		switch {
		case same < unlike || other >= same+nearer:
			g.Unlike++
		case same >= alike && same >= other+nearer:
			g.Alike++
			if same < sketchBins {
				g.Worded++
			}
			if first {
				g.AlikeURLs++
			}
			was |= one
			m.likely = m.likely || g.likely()
		default:
			g.Vague++
		}
	}
	in.add(key, now|was&one)
	if g.OtherRest != key || pair || g.Other == 0 {
		g.Other, g.OtherRest = now, key
	}
}

// otherText returns the sketch of the last text of another rest than that of a key, if there is a pair: 0 if there is none. An article that is a template
// of its own has no other; where each page draws a session anew it is held against those of other templates that have the session.
func (m *Model) otherText(g *guess, key uint64, pair bool) (last uint64) {
	switch {
	case !pair:
		return 0
	case g.Other != 0 && g.OtherRest != key:
		return g.Other
	case !m.drawnAnew(g.Part):
		return 0
	}
	by, name := uint32(math.MaxUint32), g.Part.named()
	for _, o := range m.guesses {
		if o.Other != 0 && o.OtherRest != key && o.Part.Template < by && o.Part.named() == name {
			by, last = o.Part.Template, o.Other
		}
	}
	return last
}

// sketch is a mark of a text by which its likeness to others is told: four bits of the least phrase in each of 15 bins (b-bit
// minwise hashing: Li and König 2010).
func sketch(sample []uint32) (s uint64) {
	for i := len(sample) - 1; i >= 0; i-- { // the least comes last
		at := 4 + 4*(sample[i]%sketchBins)
		s = s&^(15<<at) | uint64(1+sample[i]/sketchBins%15)<<at
	}
	return s
}

// common is how many bins of two sketches are equal.
func common(x, y uint64) (n int) {
	for at := 4; at < 64; at += 4 {
		if x>>at&15 == y>>at&15 {
			n++
		}
	}
	return n
}

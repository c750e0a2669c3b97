package yield

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
)

// Whether the numbers that a page says follow from those of its address. What counts on, a calendar or the pages of a list, changes from one
// address to its neighbour in few ways; the years of people change in many. So each number's change is held against those that there were
// between other neighbours, and its surprise is the logarithm of how rare it is.

const (
	addressed    = 4             // numbers of an address that count, the last ones
	mostVaried   = 2             // numbers of an address, or parameters: the page of a book, but not all combinations of choices
	numberSteps  = 16            // so many steps apart are the addresses of neighbours at most, in one of their numbers
	derivedRest  = 3             // so many times as many pages whose numbers follow from their address are all but a rest
	numbersKept  = 7             // of a page, the first ones;
	numberBits   = 8             // of each: how it changes is told by them
	surpriseEach = 3             // bits of each of three numbers of a date,
	dateless     = 1_000_000_000 // which is less than this: it is a moment else
	surprise     = 7             // bits of the two numbers together that changed most surprisingly: one page in 11 of what has as few as 11 ways to change both
)

// Marks of numbers: what the pages of an address say, how these change, and what is remembered of all addresses.
const (
	numberMark = 1 << 36
	stepMark   = 1 << 37
)

// stand is where a page stands among those whose addresses differ in numbers only.
type stand struct {
	seed uint64 // of the template, and of all else in their addresses
	at   [addressed]uint64
	n    int
}

// standOf takes an address apart. Words beside a number may be any: a person's name, after the number that stands for the person; and so may those before
// them: the town of a restaurant.
func standOf(u crawl.URL, p *pieces, t *Template) (s stand) {
	uri := p.wordlessURI(u.RequestURI(), t.ends()) + "/"
	rest := make([]byte, 0, len(uri))
	value, digits := uint64(0), false
	for i := range len(uri) {
		c := uri[i]
		switch {
		case c >= '0' && c <= '9':
			value, digits = value*10+uint64(c-'0'), true
			continue
		case digits:
			if s.n == addressed {
				copy(s.at[:], s.at[1:])
				s.n--
			}
			s.at[s.n], s.n = value, s.n+1
			rest = append(rest, '#')
		}
		rest = append(rest, c)
		value, digits = 0, false
	}
	s.seed = xxh3.HashSeed(rest, uint64(t.ID))
	return s
}

// key is where the numbers of the page are kept that stands there.
func (s *stand) key() uint64 {
	b := make([]byte, 0, 8*addressed)
	for _, v := range s.at[:s.n] {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return xxh3.HashSeed(b, s.seed) | numberMark
}

// mark is where something of all pages of a kind is kept.
func (s *stand) mark(what ...uint64) uint64 {
	b := make([]byte, 0, 32)
	for _, v := range what {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return xxh3.HashSeed(b, s.seed) | stepMark
}

// freshNumbers remembers the numbers that a page says, and reports whether they do not follow from its address. alone says that hardly any words
// of the page are new: of others it does not matter what tells their numbers.
func (m *Model) freshNumbers(a *Answer, alone bool) bool {
	if len(a.Numbers) == 0 {
		return false
	}
	t := m.byID[a.Template]
	says := said(a.Numbers)
	s := standOf(a.URL, &m.pieces, t)
	was, apart, known := m.neighbour(&s)
	m.marks.add(s.key(), says)
	m.marks.add(s.mark(), says)
	if t.Params <= mostVaried && !t.bag() && !m.pieces.lists() {
		if untold, both := m.crossed(a); both && alone {
			if untold {
				t.Strange++
			} else {
				t.Derived++
			}
			return untold
		}
	}
	if !known && alone && !t.bag() && !t.dated() && !m.pieces.lists() && t.Params <= 1 && t.varies() <= mostVaried {
		return m.unseenNumbers(t, says)
	}
	if !known || apart.varied > t.mostVaried() || t.Params > mostVaried || t.bag() && s.n > 1 || m.pieces.lists() {
		return false
	}
	told := false
	if alone && apart.varied > 1 && says&15 > 1 {
		told, a.crossed = m.told(&s, apart.in, says)
		a.again = a.again || a.crossed && t.crosses()
	}
	if apart.down {
		says, was = was, says
	}
	most, next, third, changed := 0, 0, 0, false // bits of the most surprising changes
	single := says&15 == 1 && was&15 == 1
	for i := range min(says&15, was&15) {
		at := 4 + numberBits*i
		step := (says>>at - was>>at) & (1<<numberBits - 1)
		unchanged := s.mark(apart.at, apart.steps, i, 0)
		switch {
		case step == 0 && single:
			m.counted(unchanged)
			continue
		case step == 0:
			continue
		}
		all, of := m.counted(s.mark(apart.at, apart.steps, i)), m.counted(s.mark(apart.at, apart.steps, i, step))
		changed = true
		b := bits.Len64(all/of) - 1
		most, next, third = max(most, b), max(next, min(most, b)), max(third, min(next, b))
		if single { // it surprises as far as it changes seldom, too, but a year that counts on does not
			same, _ := m.marks.get(unchanged)
			most, next = bits.Len64((all+same)/of)-1, b
		}
	}
	switch {
	case !changed:
		return false
	case t.dated() && (third < surpriseEach || slices.Max(s.at[:]) >= dateless): // a day says of which week and month it is, a moment anything
		return false
	case most+next >= surprise && !told:
		t.Strange++
		return true
	}
	t.Derived++
	return false
}

// mostVaried is in how many numbers a template's addresses may differ for what their pages say to be held against them; a date has three.
func (t *Template) mostVaried() int {
	if t.dated() {
		return mostVaried + 1
	}
	return mostVaried
}

// unseenNumbers reports whether a page that has no neighbours, as its address is made of names, says several numbers that no other one of its template
// has said: none follow from a name. If they are drawn anew for each reader, that is known once pages were asked for twice.
func (m *Model) unseenNumbers(t *Template, says uint64) bool {
	of := stand{seed: uint64(t.ID)}
	fresh := !m.marks.add(of.mark(says, numberSteps+2), 0)
	if fresh = fresh && says&15 > 1; fresh {
		t.Strange++
	}
	return fresh
}

// told reports whether each of the numbers that a page says stood in its place on a page whose address has one of the same two numbers, and
// remembers them for the next such page: what shows two things side by side says of each what is said of it beside any other. crossed says that
// either number of the address tells something that the other one does not.
func (m *Model) told(s *stand, in [addressed]bool, says uint64) (told, crossed bool) {
	all, first, second := uint64(1)<<(says&15)-1, uint64(0), uint64(0) // a bit for each number that is told
	for i := range s.n {
		if !in[i] {
			continue
		}
		mark := s.mark(uint64(i), numberSteps+1, s.at[i]) // no neighbour is so many steps apart
		was, _ := m.marks.get(mark)
		m.marks.add(mark, says)
		first, second = second, 0
		for k := range min(says&15, was&15) {
			if at := 4 + numberBits*k; (says>>at^was>>at)&(1<<numberBits-1) == 0 {
				second |= 1 << k
			}
		}
	}
	told = first|second == all
	return told, told && first&^second != 0 && second&^first != 0
}

// crosses reports whether most of a template's pages that brought nothing show two things side by side, of each what is said of it elsewhere:
// there are as many as pairs of these things.
func (t *Template) crosses() bool { return 2*t.Crossed > t.Barren }

// follows reports whether the numbers of a template's pages follow from their addresses.
func (t *Template) follows() bool { return t.Derived > derivedRest*t.Strange+newPays }

// said is what numbers are remembered as: how many they are, without those that are drawn, and the last bits of the first ones.
func said(numbers []uint32) uint64 {
	says, n := uint64(0), uint64(0)
	for _, v := range numbers {
		if v != crawl.Drawn && n < numbersKept {
			says |= uint64(v) & (1<<numberBits - 1) << (4 + numberBits*n)
			n++
		}
	}
	return says | n
}

// counted counts one more of a mark.
func (m *Model) counted(mark uint64) uint64 {
	n, _ := m.marks.get(mark)
	m.marks.add(mark, n+1)
	return n + 1
}

// distance is how two neighbours stand to each other.
type distance struct {
	at, steps uint64 // in which number their addresses differ, from 1 on, and in how many steps; 0 of the last page, if there is no neighbour
	down      bool   // the neighbour stands behind
	varied    int    // in so many numbers addresses differ,
	in        [addressed]bool
}

// neighbour returns the numbers of the page whose address differs least in one of its numbers, in steps of what all that were seen differ by.
func (m *Model) neighbour(s *stand) (says uint64, d distance, known bool) {
	var unit [addressed]uint64
	for i := range s.n {
		last, gcd := s.mark(uint64(i), 1), s.mark(uint64(i), 2)
		was, had := m.marks.get(last)
		unit[i], _ = m.marks.get(gcd)
		if diff := max(was, s.at[i]) - min(was, s.at[i]); had && diff > 0 {
			if to := divisor(unit[i], diff); to != unit[i] {
				unit[i] = to
				m.marks.add(gcd, to)
			}
		}
		m.marks.add(last, s.at[i])
		if unit[i] > 0 {
			d.varied, d.in[i] = d.varied+1, true
		}
	}
	for d.steps = 1; d.steps <= numberSteps; d.steps++ {
		for i := s.n - 1; i >= 0; i-- {
			if unit[i] == 0 {
				continue
			}
			at := s.at[i]
			d.at = uint64(i + 1)
			for _, d.down = range [...]bool{false, true} {
				if s.at[i] = at - d.steps*unit[i]; d.down {
					s.at[i] = at + d.steps*unit[i]
				}
				if says, known = m.marks.get(s.key()); known {
					s.at[i] = at
					return says, d, true
				}
			}
			s.at[i] = at
		}
	}
	says, known = m.marks.get(s.mark())
	return says, distance{varied: d.varied, in: d.in}, known
}

// divisor is the greatest common one of two numbers.
func divisor(x, y uint64) uint64 {
	for y != 0 {
		x, y = y, x%y
	}
	return x
}

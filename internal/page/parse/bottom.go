package parse

import "math"

// bottom are the smallest marks of a page's phrases. Many phrases stand on a page more than once.
type bottom struct {
	least [64]uint32  // in their order; the largest number stands where there is none. A power of two is searched by halves
	n     int         // how many there are
	most  uint32      // marks from here on are not among them
	had   [256]uint32 // marks that were taken in, each at the place that its low bits say
}

// begin forgets all marks.
func (s *bottom) begin() {
	s.n, s.most = 0, math.MaxUint32
	for i := range s.least {
		s.least[i] = math.MaxUint32
	}
	clear(s.had[:])
}

// take takes in a mark.
func (s *bottom) take(mark uint32) {
	slot := &s.had[uint8(mark>>1^mark<<7)]
	if *slot == mark && mark != 0 {
		return
	}
	*slot = mark
	at := 0
	for step := len(s.least) / 2; step > 0; step /= 2 {
		if s.least[(at+step-1)&63] < mark {
			at += step
		}
	}
	if at >= MaxPhrases || at < s.n && s.least[at] == mark {
		return
	}
	copy(s.least[at+1:MaxPhrases], s.least[at:])
	s.least[at] = mark
	if s.n < MaxPhrases {
		s.n++
	}
	s.most = s.least[MaxPhrases-1]
}

// sample returns the marks in their order.
func (s *bottom) sample() []uint32 { return append(make([]uint32, 0, s.n), s.least[:s.n]...) }

package yield

import (
	"fmt"
	"testing"
)

// Log-in pages beside things say how many readers there are, which is drawn anew for each answer: what was new in them before that was known is none of
// their own, and they end as those do that are the same to the word. Pages that say the same when they are asked for again are had.
func TestWhatIsDrawnIsNothing(t *testing.T) {
	const things, early = 4 * limit, 16
	for name, drawn := range map[string]bool{"drawn": true, "said": false} {
		m, asked := New(), 0
		for i := range things {
			u := parsed(t, fmt.Sprintf("http://h.test/thing/%d", i))
			thing := m.Template(u)
			m.Take(&Answer{URL: u, Template: thing, Page: true, Marked: true, Text: uint64(i+10) << 32, Sample: sorted([]uint32{xx(uint32(i)) &^ 1, xx(uint32(i)+1_000_000) &^ 1, xx(uint32(i)+2_000_000) &^ 1})})
			u = parsed(t, fmt.Sprintf("http://h.test/reply?do=new&p=%d", i))
			if m.Judge(u, thing, false).Wait {
				continue
			}
			asked++
			a := Answer{URL: u, Template: m.Template(u), Via: thing, Page: true, Marked: true, Text: uint64(1_000_000+i) << 32, Sample: []uint32{2, 4, 6, 8}, Links: 4}
			if asked < early || !drawn { // figures of sentences
				for k := range uint32(someFigures) {
					a.Figures = append(a.Figures, xx(uint32(i)*64+k)|1)
				}
			}
			if a.Twice = asked%drawnSoon == 0; a.Twice && drawn {
				a.Changed, a.Figures = true, nil // what both answers showed
			}
			m.Take(&a)
		}
		if most := limit + limit/2; drawn && asked > most || !drawn && asked < things {
			t.Errorf("%s: %d of %d asked for", name, asked, things)
		}
	}
}

// Where all of the few answers that were asked for twice showed something else, a few more are, whatever the rest brings: then it is known.
func TestDrawnIsFoundOut(t *testing.T) {
	for twice, want := range map[int64]bool{0: false, 1: true, drawnFrom - 1: true, drawnFrom: false} {
		if got := (&Template{Marked: 1000, Twice: twice, Changed: twice}).uncertain(); got != want {
			t.Errorf("%d were asked for twice: more are %v", twice, got)
		}
	}
	if (&Template{Marked: 1000, Twice: 3, Changed: 2}).uncertain() {
		t.Error("more are asked for where one has shown the same")
	}
}

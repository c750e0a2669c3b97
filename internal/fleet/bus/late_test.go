package bus

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A bus whose answers take as long as they take is asked again for what it has got a few times at most, and never again as long as they take
// no longer; one that is quick again is soon not waited for longer than at first.
func TestLate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := &late{}
		answer := time.Duration(rapid.Int64Range(0, int64(2*tryTime)-1).Draw(t, "answer"))
		repeats := 0
		for l.wait() <= answer {
			l.took(l.wait())
			repeats++
		}
		if repeats > 3 {
			t.Fatalf("%v: asked %d times again", answer, repeats)
		}
		for range 100 {
			l.took(answer)
			if l.wait() <= answer {
				t.Fatalf("%v: waited for %v only, although the last one took as long", answer, l.wait())
			}
		}
		for range 30 {
			l.took(0)
		}
		if l.wait() != tryTime/4 {
			t.Fatalf("a quick bus is waited for %v", l.wait())
		}
	})
}

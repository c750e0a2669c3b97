package topic

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Words that all pages of a site have say nothing of a topic, however much its examples use them: with one example and other pages of its
// site, most pages on the topic are told from most others; by the example alone they are not.
func TestSetApart(t *testing.T) {
	own := strings.Fields("enzyme protein catalyst substrate inhibitor molecule binding kinetics")
	site := strings.Fields("chapter version example reader figure section table reference")
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		page := func(words []string, share float64) string {
			var b strings.Builder
			for range 200 + rng.IntN(200) {
				switch x := rng.Float64(); {
				case x < share:
					b.WriteString(words[rng.IntN(len(words))])
				case x < share+0.4:
					b.WriteString(site[rng.IntN(len(site))])
				default:
					fmt.Fprintf(&b, "w%d", int(3000*rng.Float64()*rng.Float64()))
				}
				b.WriteByte(' ')
			}
			return b.String()
		}
		doc := func(text string) *Doc { return NewDoc([]byte(text), false, "en") }
		var off []*Doc
		for range Beside {
			off = append(off, doc(page(nil, 0)))
		}
		off[0] = doc(page(own, 0.1)) // one of them is on the topic: nobody has looked
		about, err := Examples("enzymes", []*Doc{doc(page(own, 0.1))}, off)
		if err != nil {
			t.Fatal(err)
		}
		j, on, wrong := NewJudge(about), 0, 0
		for range 100 {
			if j.Text([]byte(page(own, 0.1))) >= about.Threshold {
				on++
			}
			if j.Text([]byte(page(nil, 0))) >= about.Threshold {
				wrong++
			}
		}
		if on < 90 || wrong > 10 {
			t.Errorf("seed %d: %d of 100 pages on the topic are found, and %d of 100 others; %+v", seed, on, wrong, about.Terms)
		}
	}
	same := []*Doc{NewDoc([]byte(strings.Join(site, " ")), false, "en")}
	if _, err := Examples("x", same, []*Doc{same[0], same[0], same[0]}); err == nil {
		t.Error("a topic of an example that nothing sets apart")
	}
}

// A walk chooses each page once and never an example, and what an example names only when nothing else is left.
func TestWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		links := rapid.Map(rapid.SliceOfN(rapid.IntRange(0, 30), 0, 12), func(of []int) (out []string) {
			for _, i := range of {
				out = append(out, fmt.Sprint("/", i))
			}
			return out
		})
		w, near := NewWalk(), map[string]bool{}
		for _, at := range links.Draw(t, "examples") {
			named := links.Draw(t, "named by "+at)
			for _, l := range named {
				near[l] = true
			}
			w.Example(at, named)
		}
		examples, seen, first := map[string]bool{}, map[string]bool{}, map[string]bool{}
		for at := range w.had {
			if !near[at] {
				examples[at] = true
			}
		}
		for range 50 {
			named := links.Draw(t, "named")
			for _, l := range named {
				if !near[l] && !seen[l] && !examples[l] && l != "/7" {
					first[l] = true
				}
			}
			w.Named(named, func(l string) bool { return l == "/7" })
			l, ok := w.Next()
			if ok && (seen[l] || examples[l]) {
				t.Fatalf("%s was had", l)
			}
			if ok && len(first) > 0 && !first[l] {
				t.Fatalf("%s, while %v wait", l, first)
			}
			if !ok && len(first) > 0 {
				t.Fatalf("nothing, while %v wait", first)
			}
			seen[l] = true
			delete(first, l)
		}
	})
}

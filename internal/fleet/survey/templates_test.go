package survey

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/testkit/seeds"
)

// An expression that a report may propose matches every URL of its template.
func TestCandidatesMatchTheirTemplate(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 2))
	words := []string{"a", "news", "2024", "x-y", "a+b", "(c)", "p%20q", "index.html", "v1.2", "", "img.png", "12", "日", "a.b*c"}
	pick := func() string { return words[rng.IntN(len(words))] }
	for range seeds.Of(2_000, 20_000) {
		var b strings.Builder
		b.WriteString("http://site.example:8080")
		for range rng.IntN(6) {
			b.WriteString("/" + pick())
		}
		for i := range rng.IntN(4) {
			b.WriteString(string("?&&&"[i]) + pick())
			if rng.IntN(2) == 0 {
				b.WriteString("=" + pick())
			}
		}
		u, err := crawl.Parse(b.String())
		if err != nil {
			continue
		}
		for _, shape := range []string{Shape(u), namedShape(u, Shape(u))} {
			for _, c := range candidates(u.Site(), shape) {
				if !c.re.MatchString(u.String()) {
					t.Fatalf("%s has the template %s, and %s does not match it", u, shape, c.re)
				}
			}
		}
	}
}

// A report says the same of the same crawl: which template gives the example for those that are merged does not depend on chance, nor which
// broken redirects are noted where there are more than may be.
func TestSameReportOfSameCrawl(t *testing.T) {
	once := func() (example string, broken []string) {
		g := &gatherer{r: &Report{}, templates: map[string]*Template{}, named: map[string]int{}, broken: map[string]*Broken{"http://a.test/gone": {URL: "http://a.test/gone"}}, to: map[string]string{}}
		for i := range 40 {
			u, err := crawl.Parse(fmt.Sprintf("http://a.test/%c%c.cgi?q=%d", 'a'+i%26, 'a'+i/26, i))
			if err != nil {
				t.Fatal(err)
			}
			g.of(u).URLs++
		}
		for i := range 3 * maxBroken {
			g.to[fmt.Sprintf("http://a.test/%d", i)] = "http://a.test/gone"
		}
		g.merge()
		g.misled()
		for _, tpl := range g.templates {
			example = tpl.Example
		}
		return example, slices.Sorted(maps.Keys(g.broken))
	}
	example, broken := once()
	for range 5 {
		if again, others := once(); again != example || !slices.Equal(others, broken) {
			t.Fatalf("the example is %s, and was %s; %d of the broken are others", again, example, len(others))
		}
	}
}

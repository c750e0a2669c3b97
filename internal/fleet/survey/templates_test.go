package survey

import (
	"math/rand/v2"
	"strings"
	"testing"

	"argosy/internal/crawl"
)

// An expression that a report may propose matches every URL of its template.
func TestCandidatesMatchTheirTemplate(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 2))
	words := []string{"a", "news", "2024", "x-y", "a+b", "(c)", "p%20q", "index.html", "v1.2", "", "img.png", "12", "日", "a.b*c"}
	pick := func() string { return words[rng.IntN(len(words))] }
	for range 20_000 {
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

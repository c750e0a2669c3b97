package robots

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jimsmart/grobotstxt"
)

// A port of Google's parser decides alike where the two mean the same: it does not know that "%2A" is a star (RFC 9309,
// section 2.2.3) nor that "%2F" in a query is a slash (2.2.2), keeps unreserved characters encoded, takes "/index.html" for
// "/", and encodes what is not ASCII wrongly where a rule has it encoded as well.
func TestAgainstGooglesParser(t *testing.T) {
	kinds := [2][]string{
		strings.Fields(`/ / / a b ab * * $ = & : %2F %3A %21 %C3%A9 ~ . - + ; , @ !`),
		strings.Fields(`/ / / a b ab * * $ ? ? = & : %21 %26 %C3%A9 ~ . - + ; , @ !`),
	}
	path := func(rng *rand.Rand, n int, words []string) string {
		var b strings.Builder
		b.WriteByte('/')
		for range rng.IntN(n) {
			b.WriteString(words[rng.IntN(len(words))])
		}
		return b.String()
	}
	var plain [2][]string // what paths are made of
	for i, words := range kinds {
		for _, w := range words {
			if !strings.ContainsAny(w, "*$") {
				plain[i] = append(plain[i], w)
			}
		}
	}
	line := func(rng *rand.Rand, words []string) string {
		switch rng.IntN(5) {
		case 0:
			return "Disallow: " + path(rng, 6, words)
		case 1:
			return "Disallow:" + path(rng, 6, words) + " # remark"
		case 2:
			return "allow : " + path(rng, 6, words)
		case 3:
			return "User-agent: " + []string{"*", "argosy", "other", "* and all", "Argosy"}[rng.IntN(5)]
		}
		return []string{"", "Disallow:", "Sitemap: http://a.test/s.xml", "Foo: bar", "Crawl-delay: 1", "# remark"}[rng.IntN(6)]
	}
	allowed := 0
	const files, paths = 8_000, 20
	for seed := range uint64(files) {
		rng := rand.New(rand.NewPCG(seed, 7))
		file := "user-agent: *\n"
		for range rng.IntN(12) {
			file += line(rng, kinds[seed%2]) + []string{"\n", "\r\n", "\r"}[rng.IntN(3)]
		}
		r := Parse([]byte(file), "argosy")
		for range paths {
			p := path(rng, 8, plain[seed%2])
			want := grobotstxt.AgentAllowed(file, "argosy", "http://a.test"+p)
			if got := r.Allowed(p); got != want {
				t.Fatalf("seed %d: %q: %s is allowed: %v, Google's parser says %v", seed, file, p, got, want)
			}
			if want {
				allowed++
			}
		}
	}
	if share := float64(allowed) / (files * paths); share < 0.2 || share > 0.95 {
		t.Errorf("%.2f of the paths are allowed: the files say too little", share)
	}
}

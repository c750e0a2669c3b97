package parse

import (
	"slices"
	"testing"
)

func TestMark(t *testing.T) {
	mark := func(body, url string) Phrases {
		var p Page
		Scan([]byte(body), Options{}, &p)
		return Mark([]byte(body), url, p.Links)
	}
	const a = "http://a.test/x/one-two"
	base := mark("<h1>Sorry</h1><p>There is no /x/one-two here</p>", a)
	for name, c := range map[string]struct {
		body, url         string
		sameText, sameAll bool // the text, and its phrases
	}{
		"itself":                    {"<h1>Sorry</h1><p>There is no /x/one-two here</p>", a, true, true},
		"markup":                    {"<div><h1 class=y>Sorry</h1></div><script>var x</script><!-- no --><p>There is no /x/one-two here", a, true, true},
		"its own address":           {"<h1>Sorry</h1><p>There is no /y/red-blue here</p>", "http://a.test/y/red-blue", false, true},
		"encoded address":           {"<h1>Sorry</h1><p>There is no /y/red blue here</p>", "http://a.test/y/red%20blue", false, true},
		"another word":              {"<h1>Sorry</h1><p>There is a /x/one-two here</p>", a, false, false},
		"words of what it links to": {"<h1>Sorry</h1><p>There is no /x/one-two here</p><a href=/far/away>far away</a>", a, false, false},
	} {
		m := mark(c.body, c.url)
		if (m.Text == base.Text) != c.sameText || slices.Equal(m.Sample, base.Sample) != c.sameAll {
			t.Errorf("%s: same text %v, same phrases %v", name, m.Text == base.Text, slices.Equal(m.Sample, base.Sample))
		}
	}
	if x, y := mark("<p>post 17</p>", a), mark("<p>post 18</p>", a); x.Text == y.Text || !slices.Equal(x.Sample, y.Sample) {
		t.Error("texts that differ in a number differ, and their phrases do not")
	}
}

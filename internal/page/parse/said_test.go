package parse

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// What a page says that only its scripts show counts, wherever it stands in them; numbers, keys, labels and words of addresses do not.
func TestSaid(t *testing.T) {
	const (
		one, two = "The river was quiet on that morning and nobody came", "A letter had arrived before the others were awake that day"
		long     = "This sentence stands on all pages of the site, and it is a good deal longer than what any of them says by itself."
	)
	escaped := func(s string) (out string) {
		for _, c := range s {
			out += fmt.Sprintf(`\u%04x`, c)
		}
		return out
	}
	for name, c := range map[string]struct {
		page     string // with X where the two differ
		one, two string
		same     bool
	}{
		"JSON":                  {`<script type="application/json">{"a":1,"body":"X"}</script>`, one, two, false},
		"JSON-LD":               {`<script type='application/ld+json'>{"@type":"Article","articleBody":"X","url":"/7"}</script>`, one, two, false},
		"assigned":              {`<script>window.state={a:'X',b:[1]};</script>`, one, two, false},
		"behind an apostrophe":  {"<script>// it's here\nvar a = \"X\";</script>", one, two, false},
		"with quotes":           {`<script>var a = "\"X\" she said";</script>`, one, two, false},
		"a field":               {`<input type=hidden value="X">`, one, two, false},
		"beside a longer one":   {`<script>var f="` + long + `", a="X"</script>`, one, two, false},
		"characters by numbers": {`<script>var a="X"</script>`, escaped("今天天气很好我们去山上看花"), escaped("昨天晚上下了大雨路都不能走"), false},
		"without spaces":        {`<script>var a="X"</script>`, "今天天气很好我们去山上看花", "昨天晚上下了大雨路都不能走", false},
		"numbers":               {`<script>var a="There were X readers here on this day, of X"</script>`, "17", "2903", true},
		"a key":                 {`<script>var a="X"</script><input value=X>`, "f81d4fae7dec11d0a76500a0c91e6bf6", "7c9e66797425a40de944be07fc1f9079", true},
		"an address":            {`<script>var a="X"</script>`, "https://h/a/b/c/d/e/f/g/one", "https://h/a/b/c/d/e/f/g/two", true},
		"labels":                {`<script>var a={"next":"X"}</script>`, "the next page", "the last page", true},
		"what was asked for":    {`<script>var a="There is no page that is called X here"</script><a href=/X>`, "foo", "bar", true},
		"a comment":             {`<!-- "X" -->`, one, two, true},
	} {
		mark := func(x string) Phrases {
			body := strings.ReplaceAll(c.page, "X", x) + "<p>Loading"
			var page Page
			Scan([]byte(body), Options{}, &page)
			return Mark([]byte(body), "http://h/7", page.Links, false)
		}
		a, b := mark(c.one), mark(c.two)
		if got := a.Text == b.Text && slices.Equal(a.Names, b.Names); got != c.same {
			t.Errorf("%s: the same: %v, want %v: %v and %v", name, got, c.same, a.Names, b.Names)
		}
		if !slices.Equal(a.Sample, b.Sample) {
			t.Errorf("%s: it is a text that is seen", name)
		}
	}
}

// A string of a script ends at the quote that is not escaped, and with its line if there is none.
func TestStringsOfScripts(t *testing.T) {
	for in, want := range map[string]int{`"a"`: 2, `"`: 1, `""`: 1, `"\""`: 3, `"\\"`: 3, `"\\\""`: 5, "\"a\nb\"": 2, `'a"b'`: 4, `"a'b`: 4, `"\"\"`: 5} {
		end, ok := endOfString([]byte(in), 0)
		if whole := want < len(in) && in[want] == in[0]; end != want || ok != whole {
			t.Errorf("%s ends at %d, %v, want %d", in, end, ok, want)
		}
	}
}

// A text says the same however its characters are written, and so does what a shadow root shows.
func TestSpelled(t *testing.T) {
	const text = "Река была тихой в то утро, и никто не пришёл. 今天天气很好我们去山上看花。"
	plain := Mark([]byte("<title>a & b</title><p>"+text+" 1 < 2 &#60;"), "http://h/7", nil, false)
	for _, as := range []string{"&#%d;", "&#x%x;", "&#X%X;"} {
		var b strings.Builder
		for _, c := range text {
			if c < 0x80 {
				b.WriteRune(c)
			} else {
				fmt.Fprintf(&b, as, c)
			}
		}
		if got := Mark([]byte("<title>a & b</title><p>"+b.String()+" 1 < 2 &#60;"), "http://h/7", nil, false); !reflect.DeepEqual(got, plain) {
			t.Errorf("%s: %+v, want %+v", as, got, plain)
		}
	}
	for in, want := range map[string]string{"&#": "&#", "&#x": "&#x", "&#xg": "&#xg", "&#39;": "&#39;", "&#233": "é", "&#xe9;x": "éx", "&#233;&#60;": "é&#60;", "&#99999999999": "\ufffd"} {
		if got := string(spelled([]byte(strings.Repeat("&#60;", enoughRefs) + in))); got != strings.Repeat("&#60;", enoughRefs)+want {
			t.Errorf("%q becomes %q", in, got)
		}
	}
	hidden, shown := Mark([]byte("<template><p>Words that are seen"), "http://h/7", nil, false), Mark([]byte("<template shadowrootmode=open><p>Words that are seen"), "http://h/7", nil, false)
	if len(hidden.Sample) > 0 || len(shown.Sample) == 0 {
		t.Errorf("a template shows %v, a shadow root %v", hidden.Sample, shown.Sample)
	}
}

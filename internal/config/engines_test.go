package config

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"argosy/internal/page/engine"
)

// A mistake in a file of engines is said with the file and the line of its key.
func TestEngineMistakesHaveAPlace(t *testing.T) {
	const good = "# mine\nengines:\n- name: a\n  url: http://a.example/?q={query}\n  results:\n    item: {css: li}\n    link:\n      css: a\n      attr: href\n"
	if _, err := Catalogue(Source{"f", []byte(good)}); err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		strings.Replace(good, "css: a\n", "css: 'a['\n", 1):               "f: line 8: engine a: results.link: css",
		strings.Replace(good, "{css: li}", "{xpath: '//['}", 1):           "f: line 6: engine a: results.item: xpath",
		strings.Replace(good, "q={query}", "q=", 1):                       "f: line 4: engine a: url:",
		good + "  encoding: klingon\n":                                    "f: line 10: engine a: encoding:",
		good + "  like: moon\n":                                           `f: line 10: engine a: like: there is no engine "moon"`,
		good + "  blocked:\n  - {status: 1}\n  - says: x\n":               "f: line 12: engine a: blocked[1]:",
		good + "  colour: red\n":                                          `f: line 10: unknown field "colour"`,
		good + "- name: a\n":                                              "engine a: name: another engine",
		good + "- name: wikipedia\n  base: nowhere\n":                     "f: line 11: engine wikipedia: base:",
		good + "- url: http://b.example/{query}\n":                        "f: engine number 2: name:",
		strings.Replace(good, "    link:", "    length: 1\n    link:", 1): "f: line 7: unknown field",
		"engines: 3": "f: line 1",
	} {
		if _, err := Catalogue(Source{"f", []byte(in)}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// An engine is written as it is read, and added to a file without touching what is there.
func TestAddEngine(t *testing.T) {
	e := engine.Engine{
		Name: "b", URL: "http://b.example/?q={query}&p={page}", First: new(1), Query: "{words} on:{site}", And: " AND ", Encoding: "gbk",
		Results: engine.Results{Item: engine.Selector{XPath: "//li[@class='x: y']"}, Link: engine.Selector{XPath: "a/@href", Match: `(?i)"([^"]+)" #`}, Unwrap: []engine.Unwrap{{Match: "u=(.*)", Decode: "percent"}}},
		Blocked: []engine.Sign{{Status: 418, Says: "- a teapot"}},
	}
	text, err := WriteEngines(e)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Read[engine.File]("f", text)
	if err != nil || !cmp.Equal(back.Engines, []engine.Engine{e}) {
		t.Errorf("%v\n%s", err, cmp.Diff(back.Engines, []engine.Engine{e}))
	}
	for _, old := range []string{"", "\n", "# mine\nengines:\n- name: a # first\n  like: wikipedia\n\n\n", "engines:\n  # mine\n\n    - {name: a, like: wikipedia}\n", string(text[:0])} {
		out, err := AddEngine(Source{"f", []byte(old)}, e)
		if err != nil || !strings.HasPrefix(string(out), strings.TrimRight(old, "\n")) {
			t.Errorf("%q: %v\n%s", old, err, out)
			continue
		}
		got, err := Read[engine.File]("f", out)
		if err != nil || !cmp.Equal(got.Engines[len(got.Engines)-1], e) {
			t.Errorf("%q: %v\n%s", old, err, out)
		}
		if _, err := AddEngine(Source{"f", out}, e); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("added twice: %v", err)
		}
	}
	for _, old := range []string{"engines: [{name: a, like: wikipedia}]\n", "engines:\n- name: a\n  like: moon\n", "engines: x"} {
		if out, err := AddEngine(Source{"f", []byte(old)}, e); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v\n%s", old, err, out)
		}
	}
}

// The example's engines are known to the catalogue, with the keys that it adds.
func TestExampleEngines(t *testing.T) {
	b, err := os.ReadFile("../../examples/dairy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	j, err := ReadJob(strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	if e := j.Virtual.Engines[2]; e.Name != "microblog" || e.Type != "1" || e.And != "&" || len(e.Sites) != 1 {
		t.Errorf("%+v", e)
	}
	if n := LineOf(b, "$.virtual", "engines[2].results.link"); n < 20 || !strings.Contains(strings.Split(string(b), "\n")[n-1], "results") {
		t.Errorf("line %d", n)
	}
	schema, err := Schema()
	if err != nil || !strings.Contains(string(schema), "a WHATWG label") {
		t.Errorf("the schema does not have an engine's keys: %v", err)
	}
}

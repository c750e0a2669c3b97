package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"argosy/internal/crawl"
)

func TestReadJob(t *testing.T) {
	j, err := ReadJob(strings.NewReader("name: milk\nvirtual:\n  products: [{name: a, keywords: {e: [b]}}]\n  engines: [{name: e, url: 'http://x/?q={query}'}]\n"))
	if err != nil || j.Name != "milk" || len(j.Virtual.Products) != 1 || j.Virtual.Products[0].Keywords["e"][0] != "b" {
		t.Errorf("%+v, %v", j, err)
	}
}

func TestMistakesHaveAPlace(t *testing.T) {
	for in, want := range map[string]string{
		"name: a\nnmae: b\n":           "line 2: unknown field \"nmae\"",
		"virtual:\n  products: 3\n":    "line 2",
		"name: [\n":                    "line 1",
		"":                             "nothing in it",
		strings.Repeat("#", MaxFile+1): "more than",
		"virtual:\n  subset: many\n":   "line 2: a text stands where a whole number is wanted",
		"virtual:\n  seed: -1\n":       "line 2: -1 is out of range",
		"virtual:\n  sites: a.test\n":  "line 2: a text stands where a list is wanted",
		"virtual:\n  engines: [bing, {name: e, urll: x}]\n":                      "line 2: unknown field \"urll\"",
		"virtual:\n  products: [[x]]\n":                                          "line 2: a list stands where",
		"virtual:\n  aliases: [x]\n":                                             "line 2: a list stands where keys, such as {name: …} are wanted",
		"virtual:\n  seed: 1\n  pages: -3":                                       "line 3: virtual.pages: -3: the minimum is 0",
		"virtual:\n  policies:\n    assignment: maybe":                           `line 3: virtual.policies.assignment: "maybe": allowed are on, off`,
		"virtual:\n  engines:\n  - name: a\n    step: -1":                        "line 4: virtual.engines[0].step: -1: the minimum is 0",
		"engines:\n- name: a\n  first: 10000000000":                              "line 3: engines[0].first: 10000000000: the maximum is 1000000",
		"engines:\n- name: a\n  blocked:\n  - {status: 404}\n  - {status: 9999}": "line 5: engines[0].blocked[1].status: 9999: the maximum is 999",
		"name: a\nplacing: {need: {cpu: -0.5}}":                                  "line 2: placing.need.cpu: -0.5: the minimum is 0",
		"virtual:\n  engines:\n  - urn: x":                                       "line 3",

		"virtual:\n  pages: 1.5\n":                                     "line 2: 1.5: want a whole number",
		"name: a\nmarket: {alpha: 1.5}\n":                              "line 2: 1.5: want a whole number",
		"engines:\n- name: a\n  blocked: [{status: 403.9}]\n":          "line 3: 403.9: want a whole number",
		"virtual:\n  engines:\n  - {name: a, first: 1, step: 2.5e0}\n": "line 3: 2.5e0: want a whole number",

		"limits:\n  delay: 5\n":                               `line 2: delay: "5" is not a span; allowed are such as 500ms`,
		"limits:\n  delay: 1s\n  dealy: 1s\n":                 "line 3: dealy: there is no limit of this name; argosy submit --schema names all",
		"limits: {max_depth: -2}":                             "line 1: max_depth: -2: allowed are -1 to 60000",
		"limits:\n  recycle_after: 20ms\n":                    "line 2: recycle_after: 20ms: allowed are 1s and more",
		"limits:\n  max_pages: 99999999999999999999\n":        "line 2: max_pages: 99999999999999999999: allowed are 0 to 9223372036854775807",
		"limits:\n  max_body: 1\n":                            "line 2: max_body: 1: allowed are 1K and more",
		"limits:\n  max_body: many\n":                         `line 2: max_body: "many" is not a size`,
		"limits:\n  delay: [1s]\n":                            "line 2: delay: want one value",
		"sites:\n- hosts: a.test\n  delay: 5\n":               `line 3: delay: "5" is not a span`,
		"sites:\n- hosts: a.test\n- delay: 5s\n":              "line 3: hosts: name at least one",
		"sites:\n- hosts: a.test\n  max_pages: 5\n":           "max_pages: allowed are hosts, headers, include, exclude, delay",
		"sites:\n- hosts: a.test\n  headers: {Cookie: a=b}\n": "secrets are not for jobs",
		"sites: a.test\n":                                     "line 1",
		"sites:\n- hosts: a.test\n  include:\n  - '('\n":      `line 3: include: "(": missing closing`,
		"sites:\n- host: a.test\n":                            "line 2: host: allowed are hosts, headers",
		"sites:\n- hosts: a.test\n  headers: [a]\n":           "line 3: want names and values",
		"limits: [delay]\n":                                   "line 1: want names and values",
		"sites:\n- hosts: a.test\n  exclude: '('\n":           "line 3: exclude: \"(\": missing closing )",
	} {
		if _, err := ReadJob(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || strings.Count(err.Error(), "line ") > 1 {
			t.Errorf("%.30q: %v, want %q", in, err, want)
		}
	}
}

// What a crawl refuses of a virtual task is refused when it is split, too.
func TestSplitRefuses(t *testing.T) {
	const head = "virtual: {products: [{name: foo}], sites: [a.test], engines: [{name: bing}]"
	for tail, want := range map[string]string{
		", rest: -1s}": `rest: "-1s": want a span`, ", rest: 5}": `rest: "5"`, ", rest: 48h}": "at most a day", ", aliases: {bar: [x]}}": "aliases.bar: there is no product bar", ", aliases: {foo: []}}": "aliases.foo: no words",
		"}\nseeds: [http://a.test/]": "give no others", "}\ntopic: {words: x}": "for jobs that follow links", "}\nlimits: {max_depth: 2}": "limits.max_depth", "}\nfetch: {sitemaps: true}": "fetch.sitemaps:", "}": "",
	} {
		j, err := ReadJob(strings.NewReader(head + tail))
		if err != nil {
			t.Fatalf("%s: %v", tail, err)
		}
		_, split := j.Split()
		_, crawl := j.Crawl(nil, nil)
		for _, err := range []error{split, crawl} {
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", tail, err, want)
			}
		}
	}
}

// What a job file says of placing and limits is what the job has; what it does not say has the defaults.
func TestCrawl(t *testing.T) {
	file, err := ReadJob(strings.NewReader(`
name: one
seeds: [a.example, "http://b.example/x"]
scope: domain
limits: {delay: 250ms, max_bytes: 2G, per_domain: 3, max_body: 1M}
sites:
- hosts: [a.example, "*.C.example"]
  delay: 5s
  site_pages: 7
  headers: {Accept-Language: de}
- {hosts: b.example, exclude: [x, y], include: z}
placing:
  strategy: nearest,top=1
  probe: few
  type: web
  store: s3://bucket/x
  need: {cpu: 0.5, memory: 64M, bandwidth: 2M}
  places: {a.example: {lat: 48.9, lon: 2.3, region: eu}}
  landmarks: [n1, n2]
`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := file.Submitted("agent/1")
	if err != nil {
		t.Fatal(err)
	}
	want := crawl.Job{Name: "one", Limits: crawl.DefaultLimits()}
	want.Identity = crawl.Identity{Seeds: []string{"https://a.example/", "http://b.example/x"}, NoScheme: []bool{true, false}, Scope: crawl.ScopeDomain, UserAgent: "agent/1"}
	want.Limits.Delay, want.Limits.MaxBytes, want.Limits.PerDomain = 250*time.Millisecond, 2<<30, 3
	want.Limits.Fetch.MaxBody, want.Limits.Fetch.MaxDecoded = 1<<20, 4<<20
	want.Sites = []crawl.SiteRule{
		{
			Hosts: []string{"a.example", "*.c.example"}, Limits: map[string]int64{"delay": int64(5 * time.Second), "site_pages": 7},
			Headers: []crawl.Header{{Name: "Accept-Language", Value: "de"}},
		},
		{Hosts: []string{"b.example"}, Include: []string{"z"}, Exclude: []string{"x", "y"}},
	}
	want.Placing = crawl.Placing{
		Strategy: "nearest,top=1", Probe: "few", Type: "web", Store: "s3://bucket/x", Need: [3]float64{0.5, 64 << 20, 2 << 20},
		Places: map[string]crawl.Place{"a.example": {Lat: 48.9, Lon: 2.3, Region: "eu"}}, Landmarks: []string{"n1", "n2"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A file in another encoding is refused with the line: what would be read of it is something else than what was written.
func TestFilesAreInUTF8(t *testing.T) {
	for file, want := range map[string]string{
		"seeds: [a.example]\nname: caf\xe9\n":               "line 2: not UTF-8",
		"seeds: [a.example]\ntopic: {words: \"caf\xe9\"}\n": "line 2: not UTF-8",
		"\xff\xfen\x00a\x00":                                "it is in UTF-16; want UTF-8",
	} {
		if _, err := ReadJob(strings.NewReader(file)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", file, err, want)
		}
	}
	if _, err := (&Topic{Words: "caf\xe9"}).Made(); err == nil || err.Error() != "topic: words: not UTF-8" {
		t.Error(err)
	}
}

// A file that begins with a byte order mark, as editors of Windows write it, is what it is without it.
func TestByteOrderMark(t *testing.T) {
	plain := "name: a\nseeds: [http://a.test/]\n"
	want, err := ReadJob(strings.NewReader(plain))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ReadJob(strings.NewReader("\ufeff" + plain)); err != nil || got.Name != want.Name || len(got.Seeds) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// What changes a job is what may be changed, and something.
func TestWhatChangesAJob(t *testing.T) {
	for in, want := range map[string]string{
		"limits: {delay: 5ms}":                "",
		"sites: []":                           "",
		"placing: {strategy: random}":         "",
		`{"limits": null}`:                    "nothing is changed",
		"placing: {}":                         "nothing is changed",
		"limits: {delay: 5ms}\nname: x":       "only limits, sites and placing",
		"limits: {delay: 5ms}\nseeds: [a]":    "only limits, sites and placing",
		"topic: {words: milk}":                "only limits, sites and placing",
		"fetch: {text: true}\nsites: []":      "only limits, sites and placing",
		"dictionary: [milk]\nplacing: {}":     "only limits, sites and placing",
		"market: {crawlers: 3}\nlimits: null": "only limits, sites and placing",
	} {
		j, err := ReadJob(strings.NewReader(in))
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		switch err := j.Changeable(); {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

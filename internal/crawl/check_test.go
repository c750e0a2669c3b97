package crawl

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// reported is an entry as a busy node sends it: of 8 leases, five pages a part, six links a page.
func reported(tb testing.TB) []byte {
	e := Entry{Version: WireVersion, Kind: EntryParts, Node: "n", Incarnation: "20261122054019-2bc74f"}
	for lease := range 8 {
		p := Part{Lease: uint64(lease), Attempt: 1, Epoch: 1, Secret: strings.Repeat("s", 32), No: 1, Bytes: 9, Site: &SiteChange{SinceStartMS: 5, LatencyUS: 9}}
		for page := range 5 {
			u := fmt.Sprintf("http://site-%d.test/some/page/%d.html", lease, page)
			f := Found{Parent: KeyOf("s", u)}
			for link := range 6 {
				f.Links = append(f.Links, Link{URL: fmt.Sprintf("%s?link=%d", u, link), Anchor: "some words"})
			}
			p.Found = append(p.Found, f)
			p.Outcomes = append(p.Outcomes, Outcome{
				Key: f.Parent, URL: u, State: Fetched, Status: 200, Mime: "text/html", Charset: "utf-8", Title: "The title of a page, as they are", Bytes: 30_000,
				Digest: "sha1:ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", Record: Location{"argosy-n-20261122054019-2bc74f-00001.warc.gz", 1 << 20, 9000}, HTML: true,
				IP: "192.0.2.1", ETag: `"abc"`, LastMod: "Mon, 01 Jan 2024 00:00:00 GMT", Date: 1.7e12, Timing: [6]int32{1, 2, 3, 4, 5, 6}, Opened: 7, Links: 60, Proto: "HTTP/1.1",
			})
		}
		e.Parts = append(e.Parts, p)
	}
	b, err := Marshal(&e)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// BenchmarkDecodeOfNode measures what checking costs beside decoding, by the page.
func BenchmarkDecodeOfNode(b *testing.B) {
	data := reported(b)
	b.Run("decoded", func(b *testing.B) {
		for b.Loop() {
			if _, err := DecodeEntry(data); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(40*b.N), "ns/page")
	})
	e, err := DecodeEntry(data)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("checked", func(b *testing.B) {
		for b.Loop() {
			if _, refused := e.strip(); refused != nil {
				b.Fatal(refused)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(40*b.N), "ns/page")
	})
}

// What is refused of an entry does not take the rest of it along.
func TestStripKeepsTheRest(t *testing.T) {
	e := Entry{Version: WireVersion, Kind: EntryParts, Node: "n", Incarnation: "i", Job: &Job{}, Parts: []Part{
		{Lease: 1, No: 1}, {Lease: 2, No: 1, CPU: math.NaN()}, {Lease: 3, No: 1}, {Lease: 4, No: 0}, {Lease: 5, No: 1},
	}}
	b, err := Marshal(&e)
	if err != nil {
		t.Fatal(err)
	}
	got, refused := DecodeOfNode(b, "n")
	if got == nil || got.Job != nil || len(got.Parts) != 3 || got.Parts[0].Lease != 1 || got.Parts[1].Lease != 3 || got.Parts[2].Lease != 5 {
		t.Fatalf("%+v", got)
	}
	if len(refused) != 2 || refused[0].Lease != 2 || refused[0].Fault.Error() != "cpu: number" || refused[1].Fault.Error() != "no: range" {
		t.Errorf("%v", refused)
	}
}

// What is not an entry of the node on whose subject it stands is refused as a whole.
func TestOnlyItsOwn(t *testing.T) {
	for name, e := range map[string]Entry{
		"another node's":   {Kind: EntryMeasures, Node: "m", Incarnation: "i"},
		"a leader's":       {Kind: EntryTerm, Node: "n", Incarnation: "i", Epoch: 9},
		"without a life":   {Kind: EntryMeasures, Node: "n"},
		"of a later wire":  {Version: WireVersion + 1, Kind: EntryMeasures, Node: "n", Incarnation: "i"},
		"too many figures": {Kind: EntryMeasures, Node: "n", Incarnation: "i", Measures: make([]Measure, maxMeasures+1)},
	} {
		if e.Version == 0 {
			e.Version = WireVersion
		}
		b, err := Marshal(&e)
		if err != nil {
			t.Fatal(err)
		}
		if got, refused := DecodeOfNode(b, "n"); got != nil || len(refused) != 1 {
			t.Errorf("%s: %+v, %v", name, got, refused)
		}
	}
	if got, refused := DecodeOfNode([]byte("no entry"), "n"); got != nil || refused[0].Fault.Rule != RuleFormat {
		t.Errorf("%+v, %v", got, refused)
	}
}

// By itself a node measures its store and the delay to other nodes. What it says of sites that it was not sent to is refused.
func TestMeasuresThatNoLeaseAskedFor(t *testing.T) {
	for _, c := range []struct {
		m    Measure
		want string
	}{
		{Measure{Kind: MeasureBS, Store: "file:///x", Bits: 1, Seconds: 1}, ""},
		{Measure{Kind: MeasurePing, URL: "http://h:1/", Node: "m", MS: []float64{1, 2, 3}}, ""},
		{Measure{Kind: MeasureConn, URL: "http://h:1/", Node: "m", MS: []float64{1}}, ""},
		{Measure{Kind: MeasureBC, URL: "http://bank.example/", Bits: 1 << 40, Seconds: 1}, "kind: name"},
		{Measure{Kind: MeasureBS, URL: "http://bank.example/", Bits: 1, Seconds: 1}, "url: length"},
		{Measure{Kind: MeasurePing, URL: "http://bank.example/", MS: []float64{1}}, "node: length"},
		{Measure{Kind: "made-up", Node: "m"}, "kind: name"},
		{Measure{Kind: MeasurePing, Node: "m", MS: make([]float64, maxTries+1)}, "ms: count"},
	} {
		b, err := Marshal(&Entry{Version: WireVersion, Kind: EntryMeasures, Node: "n", Incarnation: "i", Measures: []Measure{c.m}})
		if err != nil {
			t.Fatal(err)
		}
		e, refused := DecodeOfNode(b, "n")
		got := ""
		if len(refused) > 0 {
			got = refused[0].Fault.Error()
		}
		if e == nil || got != c.want || len(e.Measures)+len(refused) != 1 {
			t.Errorf("%+v: %q, want %q", c.m, got, c.want)
		}
	}
}

func TestValidNode(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "Node_1-x": true, strings.Repeat("n", 64): true, strings.Repeat("n", 65): false, "": false, "a.b": false, "a b": false, "*": false, "?": false, "é": false,
	} {
		if ValidNode(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

// An echo is a host and a port: it says nothing about what is asked for there.
func TestPlainEcho(t *testing.T) {
	for echo, want := range map[string]bool{
		"http://node:8490/": true, "https://192.0.2.1/": true, "http://[2001:db8::1]:8490/": true,
		"": false, "http://node:8490": false, "http://node/admin/delete?all=1": false, "http://node/?x": false, "http://u:p@node/": false,
		"ftp://node/": false, "http://node/#x": false, "HTTP://node/": false, "http://node/../": false,
	} {
		if PlainEcho(echo) != want {
			t.Errorf("%q: %v", echo, !want)
		}
	}
}

// A job whose figures are none, or that is too large for a message, is refused before anybody sends it.
func TestCheckJob(t *testing.T) {
	good := func() *Job {
		return &Job{Identity: Identity{Seeds: []string{"http://a.test/"}, UserAgent: "t"}, Limits: DefaultLimits()}
	}
	if f := good().Check(); f != nil {
		t.Fatal(f)
	}
	for want, change := range map[string]func(*Job){
		"placing.need.cpu: number":      func(j *Job) { j.Placing.Need[0] = math.NaN() },
		"placing.need.bandwidth: range": func(j *Job) { j.Placing.Need[2] = -1 },
		"placing.places: lat: number":   func(j *Job) { j.Placing.Places = map[string]Place{"a": {Lat: math.Inf(1)}} },
		"placing.places: lon: range":    func(j *Job) { j.Placing.Places = map[string]Place{"a": {Lon: 181}} },
		"limits.delay: range":           func(j *Job) { j.Limits.Delay = -1 },
		"limits.max_depth: range":       func(j *Job) { j.Limits.MaxDepth = -2 },
		"fetch.user_agent: name":        func(j *Job) { j.Identity.UserAgent = "x\r\nHost: y" },
		"seeds: length":                 func(j *Job) { j.Identity.Seeds = append(j.Identity.Seeds, "") },
		"job and seeds: length": func(j *Job) {
			j.Identity.Seeds = make([]string, 40_000)
			for i := range j.Identity.Seeds {
				j.Identity.Seeds[i] = "http://site.test/a/path/to/it"
			}
		},
	} {
		j := good()
		change(j)
		if f := j.Check(); f == nil || f.Error() != want {
			t.Errorf("%v, want %s", f, want)
		}
	}
}

// What people would not see in a label is refused: it steers their terminals.
func TestLabelsArePrintable(t *testing.T) {
	for text, good := range map[string]bool{"Köln 光明": true, "": true, "a b": true, "\x1b[31mred": false, "a\nb": false, "gnp\u202eexe": false, "a\x00": false, "\u009b": false} {
		for _, labels := range []map[string]string{{"city": text}, {text: "x"}} {
			n := NodeInfo{Node: "n", Incarnation: "i", Labels: labels}
			f := n.Check()
			if _, empty := labels[""]; !empty && (f == nil) != good {
				t.Errorf("%q: %v, want allowed %v", labels, f, good)
			}
		}
	}
}

// A text of a job that is too long is named with what is allowed, and not with what is about seeds.
func TestNameTooLongSaysWhatIsAllowed(t *testing.T) {
	j := Job{Name: strings.Repeat("x", 200_000), Limits: DefaultLimits(), Identity: Identity{Seeds: []string{"http://a.test/"}, Scope: ScopeSite}}
	if err := CheckWords(&j); err == nil || err.Error() != "name: it is too short, or too long; allowed are 0 to 200 bytes" {
		t.Error(err)
	}
}

// A job's name may be of any script and have marks that join letters, but none that turn what stands beside it.
func TestNamesOfJobs(t *testing.T) {
	for name, passes := range map[string]bool{"a crawl": true, "新闻": true, "\u0645\u06cc\u200c\u062e": true, "evil\u202egpj": false, "\u2066x": false, "\u061c": false, "a\x1b[2J": false} {
		job := Job{Name: name}
		f := job.Check()
		if refused := f != nil && f.Field == "name"; refused == passes {
			t.Errorf("%q: %v", name, f)
		}
	}
}

package agent

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/archive"
)

// answers serves a connection: to each path the bytes that are given for it, after which the connection ends if they do
// not say how long they are. How often each was asked for is counted.
type answers map[string]*answer

type answer struct {
	bytes []byte
	ends  bool // the connection, behind it
	stall bool // it ends when the other side has had enough
	asked atomic.Int64
}

func (a answers) serve(c net.Conn) {
	defer c.Close()
	br := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		w := a[r.URL.Path]
		w.asked.Add(1)
		if _, err := c.Write(w.bytes); err != nil {
			return
		}
		if w.stall {
			_, _ = io.Copy(io.Discard, br)
		}
		if w.ends {
			return
		}
	}
}

func (a answers) paths() (out []string) {
	for p := range a {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// kept is a record that was read from an archive.
type kept struct {
	at    crawl.Location
	head  map[string][]string
	block []byte
}

// records reads a test's archives: the responses by path, revisits among them.
func (b *bench) records(t *testing.T) map[string][]kept {
	t.Helper()
	out := map[string][]kept{}
	files, err := filepath.Glob(filepath.Join(b.dir, "*.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		rd := archive.NewReader(f)
		for {
			rec, err := rd.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			block, err := io.ReadAll(rec)
			if err != nil || !rec.BlockOK() {
				t.Errorf("%s: %v, digest right: %v", rec.URI(), err, rec.BlockOK())
			}
			if rec.Type() == "response" || rec.Type() == "revisit" {
				path := strings.TrimPrefix(rec.URI(), "http://site.test")
				at := crawl.Location{File: filepath.Base(name), Offset: rec.Offset, Length: rec.Length}
				out[path] = append(out[path], kept{at, rec.Header, block})
			}
		}
		_ = f.Close()
	}
	return out
}

// of returns the final outcome of a path, and whether a link was found that ends so.
func (b *bench) of(path, link string) (o crawl.Outcome, linked bool) {
	for i := range b.outcomes {
		if b.outcomes[i].URL == "http://site.test"+path && b.outcomes[i].State != crawl.Retry {
			o = b.outcomes[i]
		}
	}
	for _, f := range b.found {
		for _, l := range f.Links {
			linked = linked || f.Parent == o.Key && strings.HasSuffix(l.URL, link)
		}
	}
	return o, linked
}

func head(fields ...string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + strings.Join(fields, "\r\n") + strings.Repeat("\r\n", min(1, len(fields))) + "\r\n"
}

// long is an HTML page of n bytes with a link at its beginning and one at its end; chunks frame it.
func long(rng *rand.Rand, n int) []byte {
	b := []byte(`<a href="/first">x</a>`)
	for len(b) < n-len(`<a href="/last">x</a>`) {
		b = append(b, "abcdefgh \n"[rng.IntN(10)])
	}
	return append(b, `<a href="/last">x</a>`...)
}

func chunks(rng *rand.Rand, b []byte) (out []byte) {
	for len(b) > 0 {
		k := min(len(b), 1+rng.IntN(400_000))
		out = append(append(fmt.Appendf(out, "%x\r\n", k), b[:k]...), "\r\n"...)
		b = b[k:]
	}
	return append(out, "0\r\n\r\n"...)
}

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}

func with(head string, body []byte) []byte { return append([]byte(head), body...) }

// Bodies of any length and framing are archived as they came, with their digests, and read to their end: also those that
// were spooled, and those that are large only once they are decompressed. An equal one is a revisit.
func TestLongBodiesOfAnyLength(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 4))
	web := answers{}
	payload := map[string][]byte{}
	for _, n := range []int{100, 70_000, 900_000, 1_048_576, 1_048_577, 5_000_000} {
		page := long(rng, n)
		web[fmt.Sprintf("/length/%d", n)] = &answer{bytes: with(head(fmt.Sprintf("Content-Length: %d", len(page))), page)}
		payload[fmt.Sprintf("/length/%d", n)] = page
		page = append(page, '\n')
		web[fmt.Sprintf("/chunked/%d", n)] = &answer{bytes: with(head("Transfer-Encoding: chunked"), chunks(rng, page))}
		payload[fmt.Sprintf("/chunked/%d", n)] = page
		page = append(page, '\n')
		web[fmt.Sprintf("/close/%d", n)] = &answer{bytes: with(head(), page), ends: true}
		payload[fmt.Sprintf("/close/%d", n)] = page
		z := gzipped(append(page, '\n'))
		web[fmt.Sprintf("/gzip/%d", n)] = &answer{bytes: with(head("Content-Encoding: gzip", fmt.Sprintf("Content-Length: %d", len(z))), z)}
		payload[fmt.Sprintf("/gzip/%d", n)] = z
	}
	web["/again"] = &answer{bytes: web["/length/5000000"].bytes}
	payload["/again"] = nil
	synctest.Test(t, func(t *testing.T) {
		paths := append(slices.DeleteFunc(web.paths(), func(p string) bool { return p == "/again" }), "/again")
		b, _ := runLease(t, paths, func(j *crawl.Job) { j.Limits.Delay = time.Second }, web.serve)
		records := b.records(t)
		for path, body := range payload {
			o, _ := b.of(path, "")
			rs := records[path]
			if o.State != crawl.Fetched || o.Truncated != "" || len(rs) != 1 || o.Record != rs[0].at {
				t.Errorf("%s: %v (%s), %d records", path, o.State, o.Detail, len(rs))
				continue
			}
			if path == "/again" {
				if !o.Revisit || len(rs[0].block) > 200 {
					t.Errorf("%s: revisit %v, a block of %d bytes", path, o.Revisit, len(rs[0].block))
				}
				continue
			}
			if !bytes.Equal(rs[0].block, web[path].bytes) || o.Digest != archive.Digest(body) || o.Bytes != int64(len(body)) {
				t.Errorf("%s: %d bytes are archived and %d were sent; %d of the body, %d are reported", path, len(rs[0].block), len(web[path].bytes), len(body), o.Bytes)
			}
			if o.Links != 2 { // they are reported once
				t.Errorf("%s: %d links, want 2", path, o.Links)
			}
		}
	})
}

// A body that is longer than the limit, or cut off, counts as failed: what has come of the last try is archived and says
// so, and its links are followed.
func TestCutShort(t *testing.T) {
	const most = 1_500_000
	rng := rand.New(rand.NewPCG(2, 4))
	small, large := long(rng, 5000), long(rng, 2_000_000)
	z := gzipped(large)
	half := func(b []byte) []byte { return b[:len(b)/2] }
	for _, c := range []struct {
		name      string
		head      string
		body      []byte
		stall     bool
		kind      crawl.Kind
		truncated string
		keeps     int // bytes
		asked     int64
	}{
		{"length over the limit", head("Content-Length: 2000000"), large, false, crawl.KindBodyLarge, "length", most, 1},
		{"too long", head(), large, false, crawl.KindBodyLarge, "length", most, 1},
		{"too long, and cut", head("Content-Length: 2000000"), half(large), false, crawl.KindBodyLarge, "disconnect", 1_000_000, 1},
		{"cut", head("Content-Length: 5000"), half(small), false, crawl.KindReset, "disconnect", 2500, 3},
		{"cut at the head", head("Content-Length: 5000"), nil, false, crawl.KindReset, "disconnect", 0, 3},
		{"cut late", head("Content-Length: 1400000"), large[:1_300_000], false, crawl.KindReset, "disconnect", 1_300_000, 3},
		{"chunks cut", head("Transfer-Encoding: chunked"), half(chunks(rng, small)), false, crawl.KindReset, "disconnect", -1, 3},
		{"chunks cut late", head("Transfer-Encoding: chunked"), chunks(rng, large)[:1_300_000], false, crawl.KindReset, "disconnect", -1, 3},
		{"no more comes", head("Content-Length: 5000"), half(small), true, crawl.KindSlow, "time", 2500, 3},
		{"gzip cut", head("Content-Encoding: gzip", fmt.Sprintf("Content-Length: %d", len(z))), half(z), false, crawl.KindReset, "disconnect", len(z) / 2, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			web := answers{"/": &answer{bytes: with(c.head, c.body), ends: true, stall: c.stall}}
			limits := func(j *crawl.Job) {
				j.Limits.Fetch.MaxBody, j.Limits.Retries, j.Limits.Delay, j.Limits.RecycleAfter = most, 2, time.Second, time.Hour
			}
			b, _ := runLease(t, []string{"/"}, limits, web.serve)
			o, linked := b.of("/", "/first")
			for tries := uint8(1); o.State == 0 && tries <= 2; tries++ { // another lease's
				b, _ = runTargets(t, crawl.Target{Tries: tries}, []string{"/"}, limits, web.serve)
				o, linked = b.of("/", "/first")
			}
			if o.State != crawl.Failed || o.Reason != c.kind || o.Truncated != c.truncated {
				t.Errorf("%s: %v, %q, truncated %q: %s", c.name, o.State, o.Reason, o.Truncated, o.Detail)
			}
			if asked := web["/"].asked.Load(); asked != c.asked {
				t.Errorf("%s: asked %d times, want %d", c.name, asked, c.asked)
			}
			if !linked && c.keeps != 0 {
				t.Errorf("%s: its first link was not found", c.name)
			}
			rs := b.records(t)["/"]
			if len(rs) != 1 || rs[0].at != o.Record {
				t.Fatalf("%s: %d records", c.name, len(rs))
			}
			keeps := c.keeps
			if keeps < 0 {
				keeps = len(c.body)
			}
			want := with(c.head, c.body[:keeps])
			if got := rs[0].head["Warc-Truncated"]; !bytes.Equal(rs[0].block, want) || len(got) != 1 || got[0] != c.truncated {
				t.Errorf("%s: %d bytes are archived, want %d; WARC-Truncated %q", c.name, len(rs[0].block), len(want), got)
			}
			if payload := archive.Digest(c.body[:keeps]); c.keeps >= 0 && o.Digest != payload {
				t.Errorf("%s: digest %s, want %s", c.name, o.Digest, payload)
			}
		})
	}
}

// Answers whose coding is wrong or unknown are archived as they came, and the outcome says why. Links are followed as far
// as the body can be read: all of a text that has no coding, what comes before the damage, none of compressed bytes.
func TestWrongCodings(t *testing.T) {
	page := []byte(`<a href="/first">x</a>`)
	damaged := gzipped(append(page, make([]byte, 100)...))
	damaged[len(damaged)-8]++ // of its checksum
	for _, c := range []struct {
		name, coding string
		body         []byte
		reason       crawl.Kind
		linked       bool
	}{
		{"gzip that is not", "gzip", page, crawl.KindEncoding, true},
		{"brotli that is not", "br", page, crawl.KindEncoding, true},
		{"unknown", "utf-8", page, crawl.KindEncoding, true},
		{"unknown and compressed", "compress", gzipped(page), crawl.KindEncoding, false},
		{"too many", "gzip, gzip, gzip, gzip", page, crawl.KindEncoding, true},
		{"cut at once", "gzip", gzipped(page)[:12], crawl.KindEncoding, false},
		{"damaged", "gzip", damaged, crawl.KindEncoding, true},
		{"more behind it", "gzip", append(gzipped(page), "more"...), "", true},
		{"right", "gzip", gzipped(page), "", true},
		{"identity", "identity", page, "", true},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := head("Content-Encoding: "+c.coding, "Link: </header>; rel=next", fmt.Sprintf("Content-Length: %d", len(c.body)))
			web := answers{"/": &answer{bytes: with(h, c.body)}}
			b, _ := runLease(t, []string{"/"}, func(*crawl.Job) {}, web.serve)
			o, linked := b.of("/", "/first")
			if o.State != crawl.Fetched || o.Reason != c.reason || (o.Detail == "") != (c.reason == "") {
				t.Errorf("%s: %v, reason %q, %q", c.name, o.State, o.Reason, o.Detail)
			}
			if _, header := b.of("/", "/header"); linked != c.linked || !header {
				t.Errorf("%s: its link was found: %v; that of its header: %v", c.name, linked, header)
			}
			rs := b.records(t)["/"]
			if len(rs) != 1 || !bytes.Equal(rs[0].block, web["/"].bytes) || rs[0].at != o.Record {
				t.Errorf("%s: %d records", c.name, len(rs))
			}
		})
	}
}

// What inflates beyond the limit has failed, and is archived as it came; the links of what lies within are followed.
func TestInflates(t *testing.T) {
	body := gzipped(append([]byte(`<a href="/first">x</a>`), make([]byte, 3<<20)...))
	synctest.Test(t, func(t *testing.T) {
		web := answers{"/": &answer{bytes: with(head("Content-Encoding: gzip", fmt.Sprintf("Content-Length: %d", len(body))), body)}}
		b, _ := runLease(t, []string{"/"}, func(j *crawl.Job) { j.Limits.Fetch.MaxDecoded = 1 << 20 }, web.serve)
		o, linked := b.of("/", "/first")
		if o.State != crawl.Failed || o.Reason != crawl.KindBomb || !linked || o.Record.File == "" || web["/"].asked.Load() != 1 {
			t.Errorf("%v, reason %q, link found %v, record %+v", o.State, o.Reason, linked, o.Record)
		}
	})
}

// robots.txt and answers to what is asked again are archived beside the pages, and say where they lie.
func TestArchivedBeside(t *testing.T) {
	busy := "HTTP/1.1 503 Busy\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\nbusy"
	rules := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 27\r\n\r\nUser-agent: *\nDisallow: /x\n"
	for _, c := range []struct {
		name  string
		web   answers
		state map[string]crawl.State
	}{
		{"rules", answers{"/robots.txt": {bytes: []byte(rules)}, "/busy": {bytes: []byte(busy)}}, map[string]crawl.State{"/robots.txt": crawl.Beside, "/busy": crawl.Retry}},
		{"none", answers{"/robots.txt": {bytes: []byte("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")}, "/busy": {bytes: []byte(busy)}}, map[string]crawl.State{"/robots.txt": crawl.Beside, "/busy": crawl.Retry}},
		{"down", answers{"/robots.txt": {bytes: []byte(busy)}, "/busy": {bytes: []byte(busy)}}, map[string]crawl.State{"/robots.txt": crawl.Beside}},
		{"cut", answers{"/robots.txt": {bytes: []byte(rules[:len(rules)-5]), ends: true}, "/busy": {bytes: []byte(busy)}}, map[string]crawl.State{"/robots.txt": crawl.Beside}},
	} {
		synctest.Test(t, func(t *testing.T) {
			b, _ := runLease(t, []string{"/busy"}, func(j *crawl.Job) { j.Identity.IgnoreRobots = false }, c.web.serve)
			records := b.records(t)
			if len(records) != len(c.state) {
				t.Errorf("%s: %d records, want %d", c.name, len(records), len(c.state))
			}
			for path, state := range c.state {
				var o crawl.Outcome
				for i := range b.outcomes {
					if b.outcomes[i].URL == "http://site.test"+path {
						o = b.outcomes[i]
					}
				}
				rs := records[path]
				if len(rs) != 1 || o.State != state || o.Record != rs[0].at || !bytes.Equal(rs[0].block, c.web[path].bytes) {
					t.Errorf("%s: %s: %v, %d records, %+v", c.name, path, o.State, len(rs), o.Record)
				}
				if (o.Truncated != "") != (c.name == "cut") {
					t.Errorf("%s: %s: truncated %q", c.name, path, o.Truncated)
				}
			}
		})
	}
}

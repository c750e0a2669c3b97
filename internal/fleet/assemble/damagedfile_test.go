package assemble_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/verify"
	"argosy/internal/page/archive"
	"argosy/internal/webs"
)

// bigWeb has pages of some kilobytes, two of which are the same, and images, whose records are stored; it notes what is asked.
func bigWeb(asked func(url string)) *webs.Web {
	one := http.NewServeMux()
	one.HandleFunc("/{$}", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		for i := range 14 {
			_, _ = fmt.Fprintf(rw, `<a href="/page/%d">p</a> <a href="/image/%d">i</a>`, i, i)
		}
	})
	noise := func(seed uint64, n int) []byte {
		b := make([]byte, n)
		rng := rand.New(rand.NewPCG(seed, 1))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	one.HandleFunc("/page/{n}", func(rw http.ResponseWriter, r *http.Request) {
		var n uint64
		_, _ = fmt.Sscan(r.PathValue("n"), &n)
		rw.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(rw, "<title>%d</title><p>%s", n/2*2, hex.EncodeToString(noise(n/2, 1500+int(n/2)*400))) // two are the same
	})
	one.HandleFunc("/image/{n}", func(rw http.ResponseWriter, r *http.Request) {
		var n uint64
		_, _ = fmt.Sscan(r.PathValue("n"), &n)
		rw.Header().Set("Content-Type", "image/png")
		_, _ = rw.Write(noise(100+n, 3000))
	})
	w := webs.New()
	w.Sites["one.test"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked("http://" + r.Host + r.URL.Path)
		one.ServeHTTP(rw, r)
	})
	w.Sites["two.test"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked("http://" + r.Host + r.URL.Path)
		http.NotFound(rw, r)
	})
	return w
}

// lies is where a record lies that has been read from a whole file.
type lies struct {
	at, end              int64
	kind, url, id, refer string
}

// layOut reads a whole file.
func layOut(t *testing.T, file []byte) (out []lies) {
	t.Helper()
	for rd := archive.NewReader(bytes.NewReader(file)); ; {
		rec, err := rd.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err == nil {
			err = rec.Discard()
		}
		if err != nil {
			t.Fatal(err)
		}
		h := rec.Header
		out = append(out, lies{rec.Offset, rec.Offset + rec.Length, rec.Type(), rec.URI(), h.Get("WARC-Record-ID"), h.Get("WARC-Refers-To")})
	}
}

// lostWith returns the URLs that bytes [from, to) of a file cost, in order: those of the records that they hit, and of revisits
// of these.
func lostWith(records []lies, from, to int64) []string {
	urls, ids := map[string]bool{}, map[string]bool{}
	for _, r := range records {
		if r.at < to && from < r.end && r.kind != "warcinfo" {
			urls[r.url] = true
			ids[r.id] = r.kind == "response"
		}
	}
	for _, r := range records {
		if r.kind == "revisit" && ids[r.refer] {
			urls[r.url] = true
		}
	}
	return slices.Sorted(maps.Keys(urls))
}

// hurt is damage to a file: bytes [from, to) are inverted, made zero, or cut off.
type hurt struct {
	how      string
	from, to int64
}

func (h hurt) apply(file []byte) []byte {
	b := bytes.Clone(file)
	switch h.how {
	case "invert":
		for i := h.from; i < h.to; i++ {
			b[i] ^= 0xFF
		}
	case "zeros":
		clear(b[h.from:h.to])
	case "cut":
		b = b[:h.from]
	}
	return b
}

// bigCrawl crawls bigWeb, and returns its only archive.
func bigCrawl(t *testing.T, dir string) (path string, file []byte, records []lies) {
	t.Helper()
	crawlFixture(t, bigWeb(func(string) {}), dir, 0)
	files, err := filepath.Glob(filepath.Join(dir, outdir.WARCDir, "*.warc.gz"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if file, err = os.ReadFile(files[0]); err != nil {
		t.Fatal(err)
	}
	return files[0], file, layOut(t, file)
}

// judgeHurt verifies a damaged directory: lost is exactly what is wanted, and the rest of the file is whole.
func judgeHurt(t *testing.T, dir string, h hurt, records []lies, want []string) *verify.Report {
	t.Helper()
	r, err := verify.Dir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.OK != (len(want) == 0) || r.Lost != len(want) || len(r.LostKeys[1]) != len(want) || !slices.Equal(r.LostPages, want) {
		t.Errorf("%+v: lost are %d, %q, want %q: %q", h, r.Lost, r.LostPages, want, r.Details)
	}
	named := 0
	for _, x := range records {
		if x.kind == "response" || x.kind == "revisit" || x.kind == "conversion" {
			named++
		}
	}
	if len(want) > 0 && (len(r.Hurt) != 1 || r.Hurt[0].Lost < len(want) || r.Hurt[0].Whole+r.Hurt[0].Lost != named) {
		t.Errorf("%+v: of %d captures and texts are left: %+v", h, named, r.Hurt)
	}
	return r
}

// Wherever a file is damaged, exactly the pages whose records are hit are lost, and those that refer to these.
func TestLongDamageAnywhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, file, records := bigCrawl(t, dir)
	size, rng := int64(len(file)), rand.New(rand.NewPCG(7, 7))
	var hurts []hurt
	for _, r := range records { // cut between two, and headers
		hurts = append(hurts, hurt{"cut", r.end, size})
		if rng.IntN(8) == 0 {
			at := r.at + rng.Int64N(4) // magic number, method, flags
			hurts = append(hurts, hurt{"invert", at, at + 1})
		}
	}
	for range of(10, 30) {
		at := rng.Int64N(size - 10)
		hurts = append(hurts, hurt{"invert", at, at + 1}, hurt{"cut", at, size}, hurt{"zeros", at, min(size, at+1+rng.Int64N(6000))})
	}
	for _, h := range hurts {
		if slices.ContainsFunc(records, func(r lies) bool { return h.how == "invert" && h.from >= r.at+4 && h.from < r.at+10 }) {
			continue // a gzip header's time and system, which mean nothing
		}
		if h.how == "zeros" && bytes.Equal(h.apply(file), file) {
			continue
		}
		if err := os.WriteFile(path, h.apply(file), 0o644); err != nil {
			t.Fatal(err)
		}
		judgeHurt(t, dir, h, records, lostWith(records, h.from, h.to))
	}
}

// What damage costs is had again, and nothing else; then nothing is lost.
func TestDamageIsMended(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]func(records []lies, size int64) hurt{
		"data": func(records []lies, _ int64) hurt {
			r := records[len(records)/2]
			return hurt{"invert", (r.at + r.end) / 2, (r.at+r.end)/2 + 1}
		},
		"gzip header": func(records []lies, _ int64) hurt {
			r := records[len(records)/3]
			return hurt{"invert", r.at + 1, r.at + 2}
		},
		"4 KB of zeros": func(records []lies, _ int64) hurt {
			i := slices.IndexFunc(records, func(r lies) bool { return r.kind == "response" && r.end-r.at > 2100 })
			return hurt{"zeros", records[i].end - 2048, records[i].end + 2048}
		},
		"cut by 1 KB": func(_ []lies, size int64) hurt { return hurt{"cut", size - 1024, size} },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, file, records := bigCrawl(t, dir)
			h := place(records, int64(len(file)))
			if err := os.WriteFile(path, h.apply(file), 0o644); err != nil {
				t.Fatal(err)
			}
			want := lostWith(records, h.from, h.to)
			r := judgeHurt(t, dir, h, records, want)
			var mu sync.Mutex
			again := map[string]int{}
			retry(t, dir, r.Again(1))
			crawlFixture(t, bigWeb(func(url string) {
				mu.Lock()
				defer mu.Unlock()
				if !strings.HasSuffix(url, "/robots.txt") {
					again[url]++
				}
			}), dir, 0)
			want = slices.DeleteFunc(want, func(url string) bool { return strings.HasSuffix(url, "/robots.txt") })
			if got := slices.Sorted(maps.Keys(again)); len(want) == 0 || !slices.Equal(got, want) {
				t.Errorf("fetched again are %q, want %q", got, want)
			}
			if r, err := verify.Dir(t.Context(), dir); err != nil || !r.OK || r.Lost != 0 {
				t.Errorf("when what was lost is had again: %+v, %v", r, err)
			}
		})
	}
}

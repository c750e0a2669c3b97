package verify

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/archive"
)

// Of pages that name one place, all but the one whose record lies there are lost, in whatever order the ledger has them.
func TestPlaceThatSeveralPagesName(t *testing.T) {
	dir := t.TempDir()
	at := oneRecord(t, dir, "http://s.test/a")
	urls := []string{"http://s.test/a", "http://s.test/b", "http://s.test/c"}
	for turn := range urls {
		r := newReport()
		wants := wanted{}
		for i := range urls {
			u, err := crawl.Parse(urls[(turn+i)%len(urls)])
			if err != nil {
				t.Fatal(err)
			}
			w := &want{url: u.String(), length: at.Length, page: crawl.Page{Key: u.Key()}, job: 1}
			wants.add(at.File, at.Offset, w)
			wants.add("gone.warc.gz", 0, &want{url: u.String() + "?gone", page: crawl.Page{Key: u.Key(), Layer: crawl.Layer{Gen: 1}}, job: 1})
		}
		if err := r.archives(context.Background(), archive.Dir(dir), wants); err != nil {
			t.Fatal(err)
		}
		r.missing(wants)
		want := []string{"http://s.test/a?gone", "http://s.test/b", "http://s.test/b?gone", "http://s.test/c", "http://s.test/c?gone"}
		if !slices.Equal(r.LostPages, want) || len(r.LostKeys[1]) != len(want) {
			t.Errorf("lost are %v, want %v", r.LostPages, want)
		}
	}
}

// oneRecord writes an archive of one exchange, and says where its response lies.
func oneRecord(t *testing.T, dir, url string) crawl.Location {
	t.Helper()
	w := archive.NewWriter(archive.WriterConfig{Dir: dir, Prefix: "test", MaxSize: 1 << 30})
	response := archive.Record{Type: "response", ID: archive.NewID(), Date: time.UnixMilli(0), URI: url, ContentType: archive.TypeResponse, Blocks: [][]byte{[]byte("HTTP/1.1 200 OK\r\n\r\na page")}}
	request := archive.Record{Type: "request", ID: archive.NewID(), Date: time.UnixMilli(0), URI: url, ContentType: archive.TypeRequest, Blocks: [][]byte{[]byte("GET / HTTP/1.1\r\n\r\n")}}
	at, err := w.Append(response.Encode(nil), request.Encode(nil))
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return at[0]
}

package assemble_test

import (
	"net/textproto"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"argosy/internal/fleet/outdir"
	"argosy/internal/page/archive"
)

// Records say what they come from: of a conversion and of a revisit the record they refer to is there, every record names a
// warcinfo record that is there, and exchanges say by which protocol they came.
func TestRecordsReferToEachOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	crawlFixture(t, fixtureWeb(), dir, 0)
	headers := map[string]textproto.MIMEHeader{} // by id
	of := map[string][]textproto.MIMEHeader{}    // by type
	store := archive.Dir(filepath.Join(dir, outdir.WARCDir))
	files, err := store.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		in, err := store.Open(t.Context(), f, 0)
		if err != nil {
			t.Fatal(err)
		}
		r := archive.NewReader(in)
		for rec, err := r.Next(); err == nil; rec, err = r.Next() {
			if headers[rec.Header.Get("WARC-Record-ID")] != nil {
				t.Errorf("%s stands twice", rec.Header.Get("WARC-Record-ID"))
			}
			headers[rec.Header.Get("WARC-Record-ID")] = rec.Header
			of[rec.Type()] = append(of[rec.Type()], rec.Header)
		}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []string{"warcinfo", "request", "response", "revisit", "conversion"} {
		if len(of[kind]) == 0 {
			t.Errorf("no %s record", kind)
		}
		for _, h := range of[kind] {
			info := headers[h.Get("WARC-Warcinfo-ID")]
			if kind != "warcinfo" && info.Get("WARC-Type") != "warcinfo" {
				t.Errorf("%s record %s: warcinfo %q is not there", kind, h.Get("WARC-Record-ID"), h.Get("WARC-Warcinfo-ID"))
			}
			exchange := slices.Contains([]string{"request", "response", "revisit"}, kind)
			if p := h.Values("WARC-Protocol"); exchange && strings.Join(p, " ") != "http/1.1" || !exchange && len(p) > 0 {
				t.Errorf("%s record: protocols %v", kind, p)
			}
		}
	}
	for _, h := range of["conversion"] {
		if from := headers[h.Get("WARC-Refers-To")]; from.Get("WARC-Target-URI") != h.Get("WARC-Target-URI") || from.Get("WARC-Type") == "request" {
			t.Errorf("conversion of %s refers to %v", h.Get("WARC-Target-URI"), from)
		}
	}
	for _, h := range of["revisit"] {
		first := headers[h.Get("WARC-Refers-To")]
		if first.Get("WARC-Type") != "response" || first.Get("WARC-Target-URI") != h.Get("WARC-Refers-To-Target-URI") ||
			first.Get("WARC-Date") != h.Get("WARC-Refers-To-Date") || first.Get("WARC-Payload-Digest") != h.Get("WARC-Payload-Digest") {
			t.Errorf("revisit %v refers to %v", h, first)
		}
	}
}

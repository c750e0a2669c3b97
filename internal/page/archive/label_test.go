package archive

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// infos reads a directory: the id of each file's warcinfo record by name, and of each other record its file and the id of the
// warcinfo record that it names.
func infos(t *testing.T, dir string) (heads map[string]string, named [][2]string) {
	t.Helper()
	files, err := Dir(dir).List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	heads = map[string]string{}
	ids := map[string]bool{}
	for _, f := range files {
		in, err := Dir(dir).Open(t.Context(), f, 0)
		if err != nil {
			t.Fatal(err)
		}
		r := NewReader(in)
		for rec, err := r.Next(); err == nil; rec, err = r.Next() {
			if rec.Type() != "warcinfo" {
				named = append(named, [2]string{f, rec.Header.Get("WARC-Warcinfo-ID")})
				continue
			}
			id := rec.Header.Get("WARC-Record-ID")
			if heads[f] = id; ids[id] {
				t.Errorf("two files begin with the record %s", id)
			}
			ids[id] = true
			if got := rec.Header.Get("WARC-Filename"); got != f {
				t.Errorf("%s says that it is %q", f, got)
			}
		}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return heads, named
}

// Every record names the warcinfo record at the head of its file, across files; with many writers at once some name that of
// the file before, never one that is nowhere.
func TestRecordsNameTheirWarcinfo(t *testing.T) {
	for _, writers := range []int{1, 8} {
		dir := t.TempDir()
		w := NewWriter(WriterConfig{Dir: dir, Prefix: "x", MaxSize: 20_000})
		var all sync.WaitGroup
		for range writers {
			all.Go(func() {
				for i := range 100 {
					r := record(i, bytes.Repeat([]byte{byte(i)}, 3000), true)
					r.Warcinfo = w.Warcinfo(nil)
					if _, err := w.Append(r.Encode(nil)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		heads, named := infos(t, dir)
		known := map[string]bool{}
		for _, id := range heads {
			known[id] = true
		}
		if len(known) < 3 || len(known) != len(heads) || len(named) != 100*writers {
			t.Errorf("%d files, %d ids, %d records", len(heads), len(known), len(named))
		}
		for _, n := range named {
			if !known[n[1]] || writers == 1 && heads[n[0]] != n[1] {
				t.Errorf("%d writers: a record in %s names %q, the file is %q", writers, n[0], n[1], heads[n[0]])
			}
		}
	}
}

// What follows a block of its own file names a warcinfo record that is there, also where no file comes after it.
func TestSpoolAtTheEndNamesItsWarcinfo(t *testing.T) {
	dir := t.TempDir()
	w := NewWriter(WriterConfig{Dir: dir, Prefix: "x", MaxSize: 1})
	spools, err := OpenSpools(filepath.Join(dir, "spool"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := spools.Create()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(noise(ownFile + 1)); err != nil {
		t.Fatal(err)
	}
	first, request := record(1, nil, true), record(2, nil, true)
	first.Warcinfo = w.Warcinfo(s)
	request.Warcinfo = first.Warcinfo
	if _, err := w.AppendSpooled(&first, s, request.Encode(nil)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	twoNameTheirFile(t, dir)
}

// What follows a block of its own file names the warcinfo record of that file, which is durable at once: that of another file may be
// lost with the process.
func TestSpoolsNameTheirWarcinfoAfterACrash(t *testing.T) {
	dir := t.TempDir()
	w := NewWriter(WriterConfig{Dir: dir, Prefix: "x", MaxSize: 1 << 30})
	before := record(1, nil, true)
	before.Warcinfo = w.Warcinfo(nil)
	if _, err := w.Append(before.Encode(nil)); err != nil {
		t.Fatal(err)
	}
	spools, err := OpenSpools(filepath.Join(dir, "spool"))
	if err != nil {
		t.Fatal(err)
	}
	s := spooled(t, spools, rand.New(rand.NewPCG(1, 2)), noise(ownFile+1))
	r, request := record(2, nil, true), record(3, nil, true)
	r.Warcinfo = w.Warcinfo(s)
	request.Warcinfo = r.Warcinfo
	if _, err := w.AppendSpooled(&r, s, request.Encode(nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := Recover(dir); err != nil { // the writer is not closed: what it has in memory is lost
		t.Fatal(err)
	}
	twoNameTheirFile(t, dir)
}

// twoNameTheirFile fails a test unless there is one file of two records, which name its warcinfo record.
func twoNameTheirFile(t *testing.T, dir string) {
	t.Helper()
	heads, named := infos(t, dir)
	if len(heads) != 1 || len(named) != 2 {
		t.Errorf("%d files, %d records", len(heads), len(named))
	}
	for _, n := range named {
		if heads[n[0]] != n[1] {
			t.Errorf("a record in %s names %q, the file is %q", n[0], n[1], heads[n[0]])
		}
	}
}

// noise returns bytes that do not compress.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

// A block of its own file is of that file; what follows a shorter one is of the file it is in.
func TestSpoolsNameTheirWarcinfo(t *testing.T) {
	dir := t.TempDir()
	w := NewWriter(WriterConfig{Dir: dir, Prefix: "x", MaxSize: 1 << 30})
	spools, err := OpenSpools(filepath.Join(dir, "spool"))
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1 << 20, ownFile + 1} {
		s, err := spools.Create()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write(noise(size)); err != nil {
			t.Fatal(err)
		}
		r := record(1, nil, true)
		r.Warcinfo = w.Warcinfo(s)
		if _, err := w.AppendSpooled(&r, s); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	heads, named := infos(t, dir)
	if len(heads) != 2 || len(named) != 2 {
		t.Errorf("%d files, %d records", len(heads), len(named))
	}
	for _, n := range named {
		if heads[n[0]] != n[1] {
			t.Errorf("a record in %s names %q, the file is %q", n[0], n[1], heads[n[0]])
		}
	}
}

// The fields of a record's header stand as the standard and the community's draft have them, each where there is something to say.
func TestHeaderFields(t *testing.T) {
	date := time.Date(2026, 11, 1, 2, 3, 4, 5_000_000, time.UTC)
	for want, r := range map[string]Record{
		"WARC/1.1\r\nWARC-Type: revisit\r\nWARC-Record-ID: <id>\r\nWARC-Date: 2026-11-01T02:03:04.005Z\r\nWARC-Target-URI: http://a.test/\r\n" +
			"WARC-Protocol: h2\r\nWARC-Protocol: tls/1.3\r\nWARC-Cipher-Suite: TLS_AES_128_GCM_SHA256\r\nWARC-Warcinfo-ID: <info>\r\nWARC-Refers-To: <first>\r\n" +
			"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\nWARC-Refers-To-Target-URI: http://b.test/\r\n" +
			"WARC-Refers-To-Date: 2026-11-01T02:03:04.005Z\r\nWARC-Block-Digest: sha1:X\r\nContent-Length: 7\r\n\r\n": {
			Type: "revisit", ID: "<id>", Date: date, URI: "http://a.test/", Protocol: []string{"h2", "tls/1.3"}, Cipher: "TLS_AES_128_GCM_SHA256",
			Warcinfo: "<info>", RefersTo: Ref{ID: "<first>", URI: "http://b.test/", Date: date},
		},
		"WARC/1.1\r\nWARC-Type: conversion\r\nWARC-Record-ID: <id>\r\nWARC-Date: 2026-11-01T02:03:04.005Z\r\nWARC-Warcinfo-ID: <info>\r\n" +
			"WARC-Refers-To: <first>\r\nWARC-Block-Digest: sha1:X\r\nContent-Length: 7\r\n\r\n": {
			Type: "conversion", ID: "<id>", Date: date, Warcinfo: "<info>", RefersTo: Ref{ID: "<first>"},
		},
		"WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <id>\r\nWARC-Date: 2026-11-01T02:03:04.005Z\r\nWARC-Filename: x.warc.gz\r\n" +
			"WARC-Block-Digest: sha1:X\r\nContent-Length: 7\r\n\r\n": {Type: "warcinfo", ID: "<id>", Date: date, Filename: "x.warc.gz"},
	} {
		if got := string(r.header(7, "sha1:X")); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

func TestLabels(t *testing.T) {
	for s, ok := range map[string]bool{
		"argosy": true, "a": true, "_x-1.2": true, "NL-2026": true, strings.Repeat("a", 64): true,
		"": false, strings.Repeat("a", 65): false, ".x": false, "-x": false, "a/b": false, "..": false, "a b": false, "é": false, "a\nb": false, "a\x00": false,
	} {
		if err := CheckPrefix(s); (err == nil) != ok || err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("prefix %q: %v", s, err)
		}
	}
	for s, ok := range map[string]bool{
		"": true, "A. Librarian <a@example.org>, +49 30 1": true, "Bücherei": true, strings.Repeat("a", 256): true,
		strings.Repeat("a", 257): false, "a\r\nrobots: ignore": false, "a\tb": false, " a": false, "a ": false, "\xff": false, "a\u0085b": false,
	} {
		if err := CheckLabel(s); (err == nil) != ok || err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("label %q: %v", s, err)
		}
	}
}

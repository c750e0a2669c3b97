package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"argosy/internal/page/archive"
)

// Archives are called, cut and labelled as the flags say.
func TestArchiveFlags(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		noise := make([]byte, 20_000)
		rng := rand.NewChaCha8([32]byte([]byte(fmt.Sprintf("%32s", r.URL.Path)[:32])))
		_, _ = rng.Read(noise)
		if r.URL.Path != "/" {
			rw.Header().Set("Content-Type", "image/png")
			_, _ = rw.Write(noise)
			return
		}
		rw.Header().Set("Content-Type", "text/html")
		for i := range 20 {
			_, _ = fmt.Fprintf(rw, "<a href=/%d>x</a>", i)
		}
	}))
	defer srv.Close()
	dir := filepath.Join(t.TempDir(), "out")
	code, _, errs := apart(t, "crawl", srv.URL, "-o", dir, "--allow-private", "--delay", "0", "--quiet",
		"--warc-size", "64K", "--warc-prefix", "library_1", "--operator", "A. Librarian <a@example.org>", "--user-agent", "tester/1")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		if info, err := os.Stat(path); err != nil || info.Size() > 64<<10+22_000 || !strings.HasPrefix(filepath.Base(path), "library_1-") {
			t.Errorf("%s: %v, %v", path, info, err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := archive.NewReader(f).Next()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(rec)
		if err != nil {
			t.Fatal(err)
		}
		want := "conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\nformat: WARC File Format 1.1\r\n" +
			"http-header-user-agent: tester/1\r\noperator: A. Librarian <a@example.org>\r\nrobots: obey\r\nsoftware: argosy/" + version + "\r\n"
		if string(b) != want {
			t.Errorf("%s says\n%s\nwant\n%s", path, b, want)
		}
		_ = f.Close()
	}
	if code, out, _ := apart(t, "verify", "-o", dir); code != 0 {
		t.Errorf("verify: %d, %s", code, out)
	}
	if err := os.Rename(files[0], filepath.Join(dir, "warc", "other.warc.gz")); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := apart(t, "verify", "-o", dir); code != exitFailed || !strings.Contains(out, "the file says that it is") {
		t.Errorf("verify of a renamed file: %d, %s", code, out)
	}
}

// Every command refuses a directory of a newer version in one line, with exit code 2, and leaves it as it is.
func TestNewerDirectory(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"argosy.db": "", "argosy.json": `{"format":999,"version":"7.1.0"}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"crawl", "http://127.0.0.1:1/", "-o", dir}, {"verify", "-o", dir}, {"export", "-o", dir}, {"tasks", "-o", dir}, {"retry", "-o", dir},
		{"retry", "-o", dir, "--lost"}, {"drop", "-o", dir, "x.example"}, {"serve", "-o", dir, "--listen", "127.0.0.1:0", "--bus-listen", "127.0.0.1:0"},
	} {
		code, _, errs := apart(t, args...)
		if code != exitUsage || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, `argosy "7.1.0" made it`) {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "argosy.db")); err != nil || info.Size() != 0 {
		t.Errorf("the ledger was touched: %v, %v", info, err)
	}
}

func TestVersion(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--version"}} {
		if code, out, _ := apart(t, args...); code != 0 || out != "argosy 0.1.0\n" {
			t.Errorf("%v: exit %d, %q", args, code, out)
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A job file may begin with a byte order mark; what does not go with a virtual task is named with its line, and a password is not printed.
func TestSplitReadsFiles(t *testing.T) {
	const job = "name: x\nvirtual:\n  products: [{name: a, words: [a]}]\n  sites: [a.test]\n  engines: [{name: e, url: 'http://e.test/?q={query}', results: {any: true}}]\n"
	for _, c := range []struct {
		text string
		code int
		want string
	}{
		{"\ufeff" + job, 0, "http://e.test/?q="},
		{"\ufeff" + strings.Replace(job, "a.test", "'*.a.test'", 1), 2, `line 4: virtual.sites[0]: site "*.a.test": want it without "*."`},
		{job + "seeds: [http://a.test/]\n", 2, "line 6: seeds: the searches"},
		{job + "fetch: {sitemaps: true}\n", 2, "line 6: fetch.sitemaps: a virtual task"},
		{strings.Replace(job, "//e.test", "//user:secret@e.test", 1), 2, "line 5: virtual.engines[0].url: there is a user"},
	} {
		path := filepath.Join(t.TempDir(), "job.yaml")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, errs := apart(t, "split", path)
		if code != c.code || !strings.Contains(out+errs, c.want) || strings.Contains(out+errs, "secret") || c.code == 2 && strings.Count(errs, "\n") != 1 {
			t.Errorf("%q: exit %d, %s%s", c.text, code, out, errs)
		}
	}
}

package assemble_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/verify"
)

// Damage costs what it hits, and what refers to that: records behind it are read, a revisit is lost with the record that has
// its body, a page with its text.
func TestDamageCostsWhatItHits(t *testing.T) {
	for _, c := range []struct {
		name string
		hit  func(p *ledger.Page) (at, n int64) // 0: not this page
		lost func(p *ledger.Page) bool
	}{
		{
			"a response with revisits",
			func(p *ledger.Page) (int64, int64) {
				if p.Title != "copy" || p.Revisit {
					return 0, 0
				}
				return p.Offset, p.Length
			},
			func(p *ledger.Page) bool { return p.Title == "copy" },
		},
		{
			"a text",
			func(p *ledger.Page) (int64, int64) {
				if p.Title != "page 3" {
					return 0, 0
				}
				return p.TextAt, p.TextLen
			},
			func(p *ledger.Page) bool { return p.Title == "page 3" },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			crawlFixture(t, fixtureWeb(), dir, 0)
			l, err := ledger.Open(t.Context(), filepath.Join(dir, assemble.LedgerFile))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			hits, want := 0, []string(nil)
			err = l.Pages(t.Context(), 1, func(p *ledger.Page) error {
				if c.lost(p) {
					want = append(want, p.URL)
				}
				if at, n := c.hit(p); n > 0 {
					hits++
					return damage(filepath.Join(dir, assemble.WARCDir, p.WARC), at+n/2)
				}
				return nil
			})
			if err != nil || hits != 1 {
				t.Fatalf("%d records damaged, %v", hits, err)
			}
			r, err := verify.Dir(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(want)
			slices.Sort(r.LostPages)
			if r.OK || !slices.Equal(r.LostPages, want) {
				t.Errorf("lost are %q, want %q: %q", r.LostPages, want, r.Details)
			}
		})
	}
}

// damage inverts a byte of a file.
func damage(path string, at int64) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	b[at] ^= 0xFF
	return os.WriteFile(path, b, 0o644)
}

package yield

import (
	"fmt"
	"testing"
)

// files has a Model judge the files of a directory that a productive list names, with bytes of their own from first on.
func files(t *testing.T, m *Model, dir string, n int, first uint64, marked bool) {
	t.Helper()
	list := parsed(t, "http://h.test/"+dir+"/")
	via := m.Template(list)
	m.Take(&Answer{URL: list, Template: via, Page: true, Marked: true, Text: uint64(via) << 32, Sample: []uint32{2 * via}, Links: n, Found: n})
	for i := range n {
		u := parsed(t, fmt.Sprintf("http://h.test/%s/file-%d.html", dir, i))
		a := Answer{URL: u, Template: m.Template(u), Via: via, Page: true, Body: first + uint64(i), Marked: marked}
		if marked {
			a.Text = xx64(first + uint64(i))
			for k := range uint32(20) {
				a.Sample = append(a.Sample, xx(uint32(first)+20*uint32(i)+k)&^1)
			}
		}
		m.Take(&a)
	}

}

func xx64(n uint64) uint64 { return uint64(xx(uint32(n)))<<32 | 1 }

// Files that were had unmarked are known where they stand under another name, marked or not, also after a restart.
func TestBytesThatWereThere(t *testing.T) {
	for _, marked := range []bool{true, false} {
		m := New()
		files(t, m, "plain", 100, 1000, false)
		kept := map[string][]byte{}
		m = restarted(t, m, kept)
		files(t, m, "copy", 100, 1000, marked)
		u := m.byID[m.Template(parsed(t, "http://h.test/copy/file-1.html"))]
		if u.New != 0 || u.Barren != 100 || u.Marked != 100 {
			t.Errorf("marked %v: %d new, %d brought nothing, %d were judged, want 0, 100, 100", marked, u.New, u.Barren, u.Marked)
		}
		if m.Had(1000) == m.Had(5000) || m.Had(0) {
			t.Error("what was there is told apart by its bytes")
		}
	}
	m := New()
	files(t, m, "plain", 100, 1000, false)
	files(t, m, "other", 100, 5000, true)
	if u := m.byID[m.Template(parsed(t, "http://h.test/other/file-1.html"))]; u.New != 100 {
		t.Errorf("other files: %d are new, want 100", u.New)
	}
}

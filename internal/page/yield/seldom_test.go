package yield

import (
	"fmt"
	"testing"
)

// Of pages beside things that say all the same, or redirect to where one logs in, one in 20 names or redirects to a file, which is had some
// time later. All of them are asked for, as they go on naming something.
func TestSeldom(t *testing.T) {
	const things, later = 4 * limit, 30
	for name, moved := range map[string]bool{"redirects": true, "links": false} {
		m, asked := New(), 0
		take := func(a Answer, format string, i int) uint32 {
			a.URL, a.Marked = parsed(t, fmt.Sprintf("http://h.test"+format, i)), true
			a.Template = m.Template(a.URL)
			m.Take(&a)
			return a.Template
		}
		for i := range things {
			thing := take(Answer{Page: true, Text: uint64(i+10) << 32, Sample: []uint32{xx(uint32(i)), xx(uint32(i)) + 2}}, "/thing/%d", i)
			beside := parsed(t, fmt.Sprintf("http://h.test/more?thing=%d", i))
			if m.Judge(beside, thing, false).Wait {
				continue
			}
			asked++
			a := Answer{Via: thing, Parent: parsed(t, fmt.Sprintf("http://h.test/thing/%d", i)), Page: !moved, Moved: moved, Text: 2 << 32, Links: 1}
			if !moved {
				a.Sample = []uint32{2, 4, 6, 8}
			}
			if i%20 == 7 {
				if a.Found, a.Own = 1, 1; moved {
					a.Text = uint64(1_000_000+i) << 32
				}
			}
			via := take(a, "/more?thing=%d", i)
			if i%20 == 7+later%20 && i > later {
				take(Answer{Via: via, Text: uint64(2_000_000+i) << 32}, "/file/%d.pdf", i-later)
			}
		}
		if asked < things {
			t.Errorf("%s: %d of %d asked for", name, asked, things)
		}
	}
}

package yield

import (
	"fmt"
	"testing"
)

// The entries of a directory that lists name each have a link to one log-in page under an address of their own. The entries come whole: what
// the log-in pages cost is none of theirs.
func TestEntriesBesideLogins(t *testing.T) {
	const entries, each = 900, 10
	m := New()
	answer := func(url string, via uint32, text int, sample []uint32, named ...string) uint32 {
		u := parsed(t, url)
		if m.Judge(u, via, false).Wait {
			return 0
		}
		id := m.Template(u)
		f := Feeds{Own: len(named)}
		if m.Watches(id) {
			f.Own = 0
			for _, to := range named {
				m.Feed(&f, parsed(t, to), id, url)
			}
		}
		m.Take(&Answer{URL: u, Template: id, Via: via, Page: true, Marked: true, Text: uint64(text) << 32, Sample: sample, Links: 20, Found: len(named), Feeds: f})
		return id
	}
	list, firm, missing := uint32(0), uint32(0), 0
	for i := range entries {
		if i%each == 0 {
			var firms []string
			for k := range each {
				firms = append(firms, fmt.Sprintf("http://h.test/firm/%d", i+k))
			}
			list = answer(fmt.Sprintf("http://h.test/list?page=%d", i/each), list, i+1, []uint32{uint32(100 + 4*i), uint32(102 + 4*i), 2}, firms...)
		}
		login := fmt.Sprintf("http://h.test/claim?firm=%d", i)
		if id := answer(fmt.Sprintf("http://h.test/firm/%d", i), list, 1e6+i, []uint32{2, 4, 6}, login); id == 0 {
			missing++
		} else if firm = id; i > 0 {
			answer(fmt.Sprintf("http://h.test/claim?firm=%d", i-1), firm, 1, []uint32{8, 10})
		}
	}
	if missing > 0 {
		t.Errorf("%d of %d entries wait", missing, entries)
	}
}
